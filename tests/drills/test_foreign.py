"""Files of others never end a command with a traceback: real ones, altered, through the command line."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random

import orjson
import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT
from tests.drills.foreign import KINDS, Foreign
from tests.drills.mutations import json_text, some_changes

DESIGNED = (0, 1, 2, 75)
"""Exit codes that say what to do."""
SECONDS = 20
"""Of processor time, for one command."""
SHORT, WHOLE = 8, 20_000
FIRST = int(time.time())
"""Seed of the drill's first case: each drill has its own, and a fault names its seed."""


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    shared = Path(os.environ.get("MIHAKK_SHARED_DATA", ROOT.parent / "shared" / "data"))
    with pytest.MonkeyPatch.context() as patch:
        yield Foreign(tmp_path_factory.mktemp("foreign"), patch, shared if shared.is_dir() else None)


@pytest.mark.parametrize("kind", KINDS)
def test_altered_files_end_with_a_designed_code_and_the_files_name(foreign: Foreign, kind: str) -> None:
    assert not list(filter(None, (fault(foreign, kind, seed) for seed in range(SHORT))))


@pytest.mark.drill
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_thousand_altered_files_end_with_a_designed_code(foreign: Foreign, kind: str) -> None:
    seeds = range(FIRST, FIRST + -(-WHOLE // len(KINDS)))
    assert not list(filter(None, (fault(foreign, kind, seed) for seed in seeds)))


@pytest.mark.parametrize("seed", range(SHORT))
def test_one_malformed_line_of_replies_leaves_all_others(foreign: Foreign, seed: int) -> None:
    rng = Random(seed)
    lines = foreign.reply_lines.splitlines()
    place = rng.randrange(len(lines))
    lines[place] = json_text(some_changes(orjson.loads(lines[place]), rng))
    path = foreign.fresh() / "replies.jsonl"
    path.write_bytes(b"\n".join(lines))
    foreign.ok(*foreign.imported(path))
    answers, rejected = (
        pq.read_table(foreign.own / "out" / f"{one}.parquet") for one in ("answers", "rejected")
    )
    # A line may have come to repeat another's answer: both are rejected then.
    assert answers.num_rows + rejected.num_rows == len(lines)
    assert answers.num_rows >= len(lines) - 1 or set(rejected["reason"].to_pylist()) == {"answered_twice"}


def fault(foreign: Foreign, kind: str, seed: int) -> str:
    """What is wrong with how a command ended; empty where nothing is."""

    def late(*_: object) -> None:
        raise TimeoutError(f"over {SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        words, name, done = foreign.run(kind, seed)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    told = f"{kind} {seed}: {' '.join(words)}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return told + "\n" + "".join(traceback.format_exception(done.exception))
    if done.exit_code not in DESIGNED:
        return f"{told}: exit code {done.exit_code}\n{done.output[-2000:]}"
    if done.exit_code == 2 and name not in " ".join(done.output.split()):
        return f"{told}: exit code 2 without {name}\n{done.output[-2000:]}"
    return ""
