"""Curated records a second, and how often the scanner of metres is right, on real texts.

    python -m performance.curation [FOLDER OF REAL DATA]

Poems are Hafez as Ganjoor's export has him, repeated under other names with a tenth of the words changed;
idioms are those of Taymur's book. Duplicates are found over the whole set, then shards of 200 records are
curated, as a build does. Metres are asked of 4,000 couplets of MetRec with the labels of their sites, by
how fully they are vocalised. Times are processor time of one core.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from curation import curate, find_duplicates
from curation.normalization import normalize
from mihakk.prosody import SURE, scan
from mihakk.prosody.letters import vocalised
from mihakk.text import canonical
from performance._measure import data_folder, metrec
from schemas.benchmark import CurateConfig
from schemas.idiom import Idiom
from schemas.poem import Poem
from schemas.record import Form

SEED = 7
COPIES = (1, 4, 16)
SHARD = 200
COUPLETS = 4_000
SLOPE_GOAL = 1.1
METRES = {
    **{"saree": "sari", "kamel": "kamil", "mutakareb": "mutaqarib", "mutadarak": "mutadarik"},
    **{"hazaj": "hazaj", "munsareh": "munsarih", "madeed": "madid", "mujtath": "mujtathth", "ramal": "ramal"},
    **{"baseet": "basit", "khafeef": "khafif", "taweel": "tawil", "wafer": "wafir", "rajaz": "rajaz"},
}
"""MetRec's names of metres, and ours."""


def main() -> int:
    """Print the tables; 1 when a goal is missed."""
    data = data_folder(*sys.argv[1:2])
    met = speed(data)
    metres(data)
    return 0 if met else 1


def speed(data: Path) -> bool:
    """Records a second by size; whether the cost grows no faster than it may."""
    hafez, idioms = records(data)
    config = CurateConfig(required=("poet",))
    print(f"Curation: {len(hafez)} poems and {len(idioms)} idioms, and more of their kind")
    print(f"  {'records':>8} {'couplets':>9} {'duplicates s':>13} {'curate s':>9} {'records/s':>10}  notes")
    points = []
    for copies in COPIES:
        whole = [*editions(hafez, copies), *idioms]
        start = time.process_time()
        found = find_duplicates(whole, config)
        between = time.process_time()
        notes: dict[str, int] = {}
        for place in range(0, len(whole), SHARD):
            counts = curate(whole[place : place + SHARD], found, config).counts
            for name, count in [*counts.notes.items(), *counts.reasons.items()]:
                notes[name] = notes.get(name, 0) + count
        end = time.process_time()
        couplets = sum(len(record.couplets) for record in whole if isinstance(record, Poem))
        points.append((couplets, end - start))
        said = ", ".join(f"{name} {count}" for name, count in sorted(notes.items()))
        print(
            f"  {len(whole):>8,} {couplets:>9,} {between - start:>13.2f} {end - between:>9.2f}"
            f" {len(whole) / (end - start):>10,.0f}  {said}"
        )
    return points[-1][1] / points[0][1] <= (points[-1][0] / points[0][0]) ** SLOPE_GOAL


def records(data: Path) -> tuple[list[Poem], list[Idiom]]:
    """Normalised poems of Hafez and idioms of Taymur."""
    from scrapers.ganjoor import GanjoorOptions
    from scrapers.ganjoor import scrape as ganjoor
    from scrapers.openiti import OpenitiOptions
    from scrapers.openiti import scrape as openiti
    from scrapers.raw import RawStore

    with tempfile.TemporaryDirectory() as folder:
        raw = RawStore(folder)
        export = GanjoorOptions(export=str((data / "ganjoor" / "hafez_ghazals_raw.tar.gz").resolve()))
        book = (data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt").resolve()
        poems = [entry for entry in ganjoor(export, raw) if isinstance(entry, Poem)]
        entries = openiti(OpenitiOptions(path=str(book), dialect="egyptian"), raw)
        idioms = [entry for entry in entries if isinstance(entry, Idiom)]
    tables = normalize([*poems, *idioms]).tables
    return list(tables["poems"][1]), list(tables["idioms"][1])  # type: ignore[arg-type]


def editions(poems: list[Poem], copies: int) -> Iterator[Poem]:
    """The poems, and as often again poems of the same words in other places, nine in ten."""
    draw = random.Random(SEED)
    pool = [word for poem in poems for couplet in poem.couplets for word in couplet.first.text.split()]

    def other(form: Form | None) -> Form | None:
        if form is None:
            return None
        words = [draw.choice(pool) if draw.random() < 0.9 else word for word in form.text.split()]
        return Form(raw=" ".join(words))

    for number in range(copies):
        for poem in poems:
            if not number:
                yield poem
                continue
            name = f"{poem.id}-{number}"
            couplets = [
                couplet.model_copy(
                    update={
                        "id": f"{name}:{couplet.position}",
                        "first": other(couplet.first),
                        "second": other(couplet.second),
                    }
                )
                for couplet in poem.couplets
            ]
            changed = poem.model_copy(update={"id": name, "couplets": tuple(couplets)})
            yield normalize([changed]).tables["poems"][1][0]  # type: ignore[misc]


def metres(data: Path) -> None:
    """How often the scanner speaks and is right, by confidence and by how fully the text is vocalised."""
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
    print(f"\nMetres of {COUPLETS:,} couplets of MetRec: {COUPLETS / seconds:,.0f} couplets/s")
    print(f"  {'signs':<12} {'couplets':>8} {'right':>6}   of those at least so sure: share, right")
    for name, least, most in (
        ("bare", 0, 0.1),
        ("few", 0.1, 0.4),
        ("half", 0.4, 0.8),
        ("full", 0.8, 2),
        ("all", 0, 2),
    ):
        some = [(sure, right) for signs, sure, right in results if least <= signs < most]
        row = f"  {name:<12} {len(some):>8,} {share([right for _, right in some]):>6.3f}"
        for level in (0.5, 0.8, 0.9, SURE, 0.99):
            spoke = [right for sure, right in some if sure >= level]
            row += f"   {level:g}: {len(spoke) / max(1, len(some)):.2f}, {share(spoke):.3f}"
        print(row)


def share(rights: list[bool]) -> float:
    return sum(rights) / max(1, len(rights))


if __name__ == "__main__":
    sys.exit(main())
