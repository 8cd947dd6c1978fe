"""A season that began before files were signed, carried over to the rules that hold now.

Its halves and its noise stay. What it told is counted at the rate of each figure's own part; files that got
the figure of a near copy were never scored, and may be sent again. Final figures that were published were
exact, and count as such: the season is closed then.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from math import ceil, hypot
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from filelock import FileLock

from mihakk.evaluation.blind.board import Board
from mihakk.evaluation.blind.disclosure import (
    FINALS,
    LEAST_NOISE,
    Keyed,
    ToldFigure,
    nats,
    rank_ranges,
)
from mihakk.evaluation.blind.log import SubmissionLog
from mihakk.evaluation.blind.season import OTHER, PUBLIC, most_told
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.schemas.blind import BlindBoard, BlindReply, Closing, FinalFigure, LoggedSubmission, Season
from mihakk.schemas.evaluation import Question

KEPT = "log-unsigned.jsonl"
"""The log as it was."""
_SEND_AGAIN = "a near copy got the figure of earlier answers then: sign the file and send it, to get its own"


def migrate(
    config: BlindBoard,
    questions: Mapping[str, Question],
    store: Path,
    keyed: Keyed,
    published: list[dict[str, Any]] | None = None,
) -> SubmissionLog:
    """Writes the log of such a season anew; the old one is kept beside it.

    Args:
        config: The board's file.
        questions: The release's questions with their golds, by item.
        store: The private folder of all boards.
        keyed: Digests by the release's secret.
        published: The rows of `final.json`, where the season was closed.

    Raises:
        UsageError: There is no such log, or it told more than `gain` says.
        ExternalFailure: It was rewritten.
    """
    folder = store / config.name
    path, written = folder / "log.jsonl", folder / ".log.jsonl.new"
    if not path.is_file():
        raise UsageError(f"there is no {path}: nothing to migrate")
    with FileLock(f"{path}.lock", timeout=60), TemporaryDirectory() as empty:
        lines = _lines(path)
        release = next(iter(questions.values())).release
        board = Board(config, questions, Path(empty), keyed, drawn=f"half {release}")
        season = board.season.model_copy(update={"noise": LEAST_NOISE, "draw": 1})
        shown = {line["answers"] for line in lines if (line["reply"] or {}).get("told") == "shown"}
        entries = [_entry(line, season, shown) for line in lines]
        if published is None:
            _within_gain(season, sum(entry.nats for entry in entries), config)
        written.unlink(missing_ok=True)
        log = SubmissionLog(written)
        log.add(season)
        for entry in entries:
            log.add(entry)
        if published is not None:
            log.add(_closing(season, published))
        shutil.copyfile(path, folder / KEPT)
        written.replace(path)
    return log


def _lines(path: Path) -> list[dict[str, Any]]:
    found, last = [], ""
    for number, raw in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        try:
            line = orjson.loads(raw)
            before = line["before"]
        except (ValueError, KeyError, TypeError) as error:
            raise ExternalFailure(
                f"{path}, line {number}: not a line of the log: put it back from a copy"
            ) from error
        if "kind" in line:
            raise UsageError(f"{path} was migrated before, or never needed it: nothing to do")
        if before != last:
            raise ExternalFailure(
                f"{path}, line {number} does not follow the line before it: it was rewritten"
            )
        last = sha256(raw)
        found.append(line)
    return found


def _entry(line: dict[str, Any], season: Season, shown: Collection[str]) -> LoggedSubmission:
    reply, told, refused = None, 0.0, line["refused"]
    figures = line.get("figures", 0)
    if line["reply"] is not None:
        was = line["reply"]
        if was["told"] == "shown" or (was["told"] == "known" and line["answers"] in shown):
            reply = BlindReply.model_validate(was)
        elif was["told"] == "known":
            refused = _SEND_AGAIN
        else:
            reply = BlindReply(told="held")
        if figures and reply:
            told = sum(nats(season.parts[part], season.noise) for part in (PUBLIC, *reply.slices))
    return LoggedSubmission.model_validate(
        {
            **{"received": line["received"], "file": line["file"], "signature": None},
            **{"card": line["card"] | {"board": season.board, "contact": ""}},
            **{"answers": "" if refused else line["answers"], "refused": refused},
            **{"reply": reply, "nats": told},
        }
    )


def _within_gain(season: Season, told: float, config: BlindBoard) -> None:
    public = season.parts[PUBLIC]
    if told > most_told(season, PUBLIC) * (1 - FINALS):
        least = ceil((told / (1 - FINALS) / (2 * public.units)) ** 0.5 * 1000) / 1000
        raise UsageError(
            f"what {config.name} told, counted at the rate of each figure's own part, leaves no room for "
            f"final figures within `gain: {config.gain}`: write `gain: {least}` in its file and run again"
        )


def _closing(season: Season, published: list[dict[str, Any]]) -> Closing:
    sizes = season.parts[PUBLIC], season.parts[OTHER]
    total = sum(size.questions for size in sizes)
    errors = [size.se * size.questions / total for size in sizes]

    def both(row: dict[str, Any], end: str, missing: float) -> float:
        values = [row.get(f"{half}{end}") for half in (PUBLIC, OTHER)]
        return sum(
            (missing if value is None else value) * size.questions / total
            for value, size in zip(values, sizes, strict=True)
        )

    try:
        rows: list[dict[str, Any]] = []
        for row in published:
            ends = {
                f"{half}_{end}": row.get(f"{half}_{end}")
                for half in (PUBLIC, OTHER, "gap")
                for end in ("low", "high")
            }
            widest = {"low": 0.0, "high": 1.0}
            filled = {
                name: widest[name.rpartition("_")[2]] if end is None else end for name, end in ends.items()
            }
            whole = {
                "figure": both(row, "", 0.0),
                "low": both(row, "_low", 0.0),
                "high": both(row, "_high", 1.0),
            }
            rows.append(row | filled | whole)
        ranks = rank_ranges([ToldFigure(row["figure"], hypot(*errors), 0.0) for row in rows])
        finals = tuple(
            FinalFigure.model_validate(row | {"rank_low": low, "rank_high": high})
            for row, (low, high) in zip(rows, ranks, strict=True)
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"the published final figures are not those of `score --close`: {error}") from error
    cost = {half: len(rows) * nats(season.parts[half], 0.0) for half in (PUBLIC, OTHER)}
    return Closing(at=datetime.now(UTC), noise={PUBLIC: 0.0, OTHER: 0.0}, nats=cost, finals=finals)
