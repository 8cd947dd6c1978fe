"""Makes `data/reference/hafez_metres.tsv`: metre and rhyme of each ghazal of the PyPI package `hafez`.

The package has no metres and Ganjoor's numbering and wording differ from it here and there, so ghazals are
paired by the keys of their hemistichs. Only facts (identifiers, metre, rhyme letters) are taken over. Run
from the repository root with a copy of Ganjoor's public export of Hafez:

    python -m tools.hafez_metres hafez_ghazals_raw.tar.gz > data/reference/hafez_metres.tsv
"""

from __future__ import annotations

import csv
import json
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TextIO

from mihakk.machinery.text import key

COLUMNS = ("ghazal", "ganjoor_id", "ganjoor_number", "metre_id", "metre", "rhyme", "matched")
FOLDER = "poets/hafez/ghazal/sh"
CONFIDENT = 0.5
"""Least share of matched couplets; the runner-up must stay under half of it."""


class Ghazal(NamedTuple):
    """What Ganjoor says of one ghazal."""

    id: int
    number: int
    rhythm_id: int
    rhythm: str
    rhyme: str
    hemistichs: frozenset[str]
    """Keys of its hemistichs."""


def ganjoor_ghazals(archive: Path) -> Iterator[Ghazal]:
    """Ghazals of Ganjoor's export, unpacked as it is in the archive."""
    with tarfile.open(archive) as tar:
        for member in tar:
            number = member.name.removeprefix(FOLDER).removesuffix(".json")
            if not number.isdecimal() or (file := tar.extractfile(member)) is None:
                continue
            poem = json.load(file)
            yield Ghazal(
                id=poem["Id"],
                number=int(number),
                rhythm_id=poem["Metre"]["Id"],
                rhythm=poem["Metre"]["Rhythm"],
                rhyme=poem["RhymeLetters"],
                hemistichs=frozenset(key(verse["Text"], "fa") for verse in poem["Verses"]),
            )


def package_ghazals() -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Number and couplets of each ghazal of the installed package, read without importing it."""
    spec = find_spec("hafez")
    if spec is None or spec.origin is None:
        raise SystemExit("the package `hafez` is not installed")
    for poem in json.loads((Path(spec.origin).parent / "data" / "hafez.json").read_text("utf-8")):
        lines = poem["poem"]
        yield poem["id"], list(zip(lines[::2], lines[1::2], strict=True))


def paired(couplets: list[tuple[str, str]], holders: dict[str, list[Ghazal]]) -> tuple[Ghazal | None, float]:
    """The Ghazal that holds most of the couplets, None when unsure, and the share of couplets it holds.

    A couplet counts as held when either hemistich's key occurs: editions often differ in one word.
    """
    votes: Counter[Ghazal] = Counter()
    for couplet in couplets:
        votes.update({ghazal for hemistich in couplet for ghazal in holders[key(hemistich, "fa")]})
    if not votes:
        return None, 0.0
    ranked = votes.most_common(2)
    best, count = ranked[0]
    share = count / len(couplets)
    runner_up = ranked[1][1] / len(couplets) if len(ranked) > 1 else 0.0
    return (best if share >= CONFIDENT and runner_up < share / 2 else None), share


def metre_name(rhythm: str) -> str:
    """The name in brackets after the pattern, less a second one (`یا ...`); the pattern where none is."""
    pattern, _, names = rhythm.partition("(")
    return names.partition(" یا ")[0].strip().removesuffix(")") or pattern.strip()


def rows(ghazals: Iterable[Ghazal]) -> Iterator[tuple[str | int, ...]]:
    """Rows of the table in the package's order."""
    holders: dict[str, list[Ghazal]] = defaultdict(list)
    for ghazal in ghazals:
        for hemistich in ghazal.hemistichs:
            holders[hemistich].append(ghazal)
    for number, couplets in package_ghazals():
        found, share = paired(couplets, holders)
        if found is None:
            yield number, "", "", "", "", "", f"{share:.2f}"
        else:
            metre = f"fa_{found.rhythm_id}", metre_name(found.rhythm)
            yield number, found.id, found.number, *metre, found.rhyme, f"{share:.2f}"


def write(archive: Path, out: TextIO) -> None:
    """Write the whole table, its source named in a comment line before the header."""
    out.write(
        f"# Paired by key: PyPI hafez {version('hafez')} with Ganjoor's public export, ganjoor/ganjoor-data. "
        "Metre and rhyme are Ganjoor's. Made by tools/hafez_metres.py.\n"
    )
    table = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
    table.writerow(COLUMNS)
    table.writerows(rows(ganjoor_ghazals(archive)))


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.stdout)
