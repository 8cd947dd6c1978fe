"""How often the scanner of metres is right, on real verse: the table of docs/curation.md.

    python -m performance.metres [FOLDER OF REAL DATA [HELD-OUT FILE]]

4,000 couplets of MetRec are scanned and compared with the labels of their sites, by how fully they are
vocalised and by how sure the scanner is. A held-out file (MetRec's `test.txt`, which nothing was tuned to)
gives the sure ones alone, with intervals, also of several couplets of one metre scanned together.
"""

from __future__ import annotations

import random
import sys
import time
from collections import defaultdict
from collections.abc import Sequence, Set
from pathlib import Path

from mihakk.machinery.prosody import SURE, scan
from mihakk.machinery.prosody.letters import vocalised
from mihakk.machinery.stats import clopper_pearson
from mihakk.machinery.text import canonical
from performance._measure import data_folder, metrec

SEED = 7
COUPLETS = 4_000
METRES = {
    **{"saree": "sari", "kamel": "kamil", "mutakareb": "mutaqarib", "mutadarak": "mutadarik"},
    **{"hazaj": "hazaj", "munsareh": "munsarih", "madeed": "madid", "mujtath": "mujtathth", "ramal": "ramal"},
    **{"baseet": "basit", "khafeef": "khafif", "taweel": "tawil", "wafer": "wafir", "rajaz": "rajaz"},
}
"""MetRec's names of metres, and ours."""
SIGNS = (("bare", 0, 0.1), ("few", 0.1, 0.4), ("half", 0.4, 0.8), ("full", 0.8, 2), ("all", 0, 2))
"""Name, and bounds of the share of letters that carry a sign."""


def main() -> None:
    """Prints the table."""
    data = data_folder(*sys.argv[1:2])
    labels = (data / "metrec" / "labels.txt").read_text("utf-8").split()
    if len(sys.argv) > 2:
        held_out(Path(sys.argv[2]), labels, {"".join(halves).replace(" ", "") for _, *halves in metrec(data)})
        return
    sample = random.Random(SEED).sample(metrec(data), COUPLETS)
    start = time.process_time()
    results = []
    for label, *halves in sample:
        first, second = (canonical(half, "ar") for half in halves)
        found = scan((first, second))
        signs = (vocalised(first) + vocalised(second)) / 2
        results.append((signs, found.confidence, found.metre_id == METRES[labels[label]]))
    seconds = time.process_time() - start
    print(f"Metres of {COUPLETS:,} couplets of MetRec: {COUPLETS / seconds:,.0f} couplets/s")
    print(f"  {'signs':<12} {'couplets':>8} {'right':>6}   of those at least so sure: share, right")
    for name, least, most in SIGNS:
        some = [(sure, right) for signs, sure, right in results if least <= signs < most]
        row = f"  {name:<12} {len(some):>8,} {share([right for _, right in some]):>6.3f}"
        for level in (0.8, SURE, 0.99):
            spoke = [right for sure, right in some if sure >= level]
            row += f"   {level:g}: {len(spoke) / max(1, len(some)):.2f}, {share(spoke):.3f}"
        print(row)


def held_out(file: Path, labels: Sequence[str], seen: Set[str]) -> None:
    """Prints how often sure scansions of couplets that are not `seen` are right, one to four at a time."""
    rows = [line.split(" ", 1) for line in file.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row[1].replace("#", "").replace(" ", "") not in seen]
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for label, couplet in random.Random(SEED).sample(rows, len(rows)):
        first, second = (canonical(half, "ar") for half in couplet.split(" # "))
        signs = (vocalised(first) + vocalised(second)) / 2
        name = next(name for name, least, most in SIGNS if least <= signs < most)
        groups[METRES[labels[int(label)]], name].append((first, second))
    for size in (1, 2, 4):
        for name, *_ in SIGNS[:-1]:
            found = [
                (metre, scan(*couplets[place : place + size]))
                for (metre, signs), couplets in sorted(groups.items())
                if signs == name
                for place in range(0, min(len(couplets), 100 * size) - size + 1, size)
            ]
            sure = [metre == one.metre_id for metre, one in found if one.confidence >= SURE]
            low, high = clopper_pearson(sum(sure), len(sure))
            print(
                f"  {size} together, {name:<5} {len(sure):>5} of {len(found):>5} sure, "
                f"right {share(sure):.3f} [{low:.3f}, {high:.3f}]"
            )


def share(rights: Sequence[bool]) -> float:
    """Share of what is right."""
    return sum(rights) / max(1, len(rights))


if __name__ == "__main__":
    main()
