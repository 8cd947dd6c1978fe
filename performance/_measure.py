"""What these scripts share."""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import linear_regression
from typing import Any

BESIDE = Path(os.environ.get("MIHAKK_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
"""Real data, where somebody has it."""


def data_folder(named: Path | str | None = None) -> Path:
    """The folder of real data: the one named, MIHAKK_SHARED_DATA, or beside the checkout.

    Without one the script ends well: `make bench` goes on with the next.
    """
    data = Path(named or BESIDE)
    if not data.is_dir():
        print(f"skipped: the texts come from a folder of real data, and there is none at {data}")
        sys.exit(0)
    return data


def ganjoor(data: Path) -> Iterator[list[str]]:
    """Hemistichs of each poem of Hafez, from Ganjoor's export."""
    with tarfile.open(data / "ganjoor" / "hafez_ghazals_raw.tar.gz") as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(".json") else None
            poem = json.load(file) if file else None
            if isinstance(poem, dict) and poem.get("Verses"):
                yield [verse["Text"] or "" for verse in poem["Verses"]]


def hafez() -> list[Any]:
    """The ghazals of the package `hafez`, with their metres, normalised."""
    from mihakk.curation.normalization import normalize
    from mihakk.schemas.poem import Poem
    from mihakk.scrapers.hafez import HafezOptions, scrape
    from mihakk.scrapers.raw import RawStore

    with tempfile.TemporaryDirectory() as folder:
        poems = [entry for entry in scrape(HafezOptions(), RawStore(folder)) if isinstance(entry, Poem)]
    return list(normalize(poems).tables["poems"][1])


def metrec(data: Path) -> list[tuple[int, str, str]]:
    """Metre, as a place in labels.txt, and both hemistichs of every couplet of MetRec."""
    found = []
    with gzip.open(data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            label, couplet = line.rstrip("\n").split(" ", 1)
            first, second = couplet.split(" # ")
            found.append((int(label), first, second))
    return found


def in_own_process(module: str, *arguments: object) -> dict[str, Any]:
    """The JSON that a script prints last, run in a process of its own for its peak of memory."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


@contextmanager
def model_server(latency: float, slots: int | None, *replies: str) -> Iterator[str]:
    """Base URL of a server in a process of its own, which answers each call after so many seconds.

    Args:
        latency: Seconds.
        slots: Calls answered at once; None: all.
        replies: What it answers; which of them, the prompt decides.
    """
    command = [
        sys.executable,
        "-m",
        "mihakk.machinery.llm.scripted",
        "--latency",
        str(latency),
        "--reply",
        *replies,
    ]
    if slots:
        command += ["--slots", str(slots)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.stdin.close()  # which ends it


def choice_item(name: str, question: str, options: Sequence[str], gold: int) -> Any:
    """A choice item as the audit of somebody's benchmark makes it of a row."""
    from mihakk.schemas.item import ChoiceItem, Origin

    return ChoiceItem(
        id=name,
        task="external_choice",
        language="ar",
        question=question,
        options=tuple(options),
        gold=(gold,),
        origin=Origin(records=(name,), generator="external", generator_version="1"),
        licence="CC-BY-SA-4.0",
    )


def forget_peak() -> None:
    """The most memory that was held counts anew from here (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mb() -> float:
    """Most memory that this process held since it started or forgot, MB."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Of cost against size on logarithmic axes: 1 is linear. Not a number for a single size."""
    if len(sizes) < 2:
        return math.nan
    return linear_regression([*map(math.log, sizes)], [*map(math.log, costs)]).slope


def verdict(is_met: bool) -> str:
    """Whether a goal was met, in a word."""
    return "met" if is_met else "MISSED"
