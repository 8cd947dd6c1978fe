"""How often the scanner of metres is right, on real verse: the table of docs/curation.md.

    python -m performance.metres [FOLDER OF REAL DATA]

4,000 couplets of MetRec are scanned and compared with the labels of their sites, by how fully they are
vocalised and by how sure the scanner is.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence

from mihakk.machinery.prosody import SURE, scan
from mihakk.machinery.prosody.letters import vocalised
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


def share(rights: Sequence[bool]) -> float:
    """Share of what is right."""
    return sum(rights) / max(1, len(rights))


if __name__ == "__main__":
    main()
