"""The rules of a season: fixed when its first file is scored, with what earlier seasons told counted in."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Final

import orjson

from mihakk.evaluation.blind.disclosure import (
    FINALS,
    LEAST_NOISE,
    Keyed,
    most_gain,
    most_nats,
    noise_for,
)
from mihakk.evaluation.blind.log import SubmissionLog, heads
from mihakk.machinery.errors import MihakkWarning, UsageError
from mihakk.machinery.whole import write_whole
from mihakk.schemas.blind import BlindBoard, EarlierSeason, PartSize, Season

PUBLIC: Final = "public"
"""The half whose figures are told during the season."""
OTHER: Final = "other"
"""The half that final ranks rest on: of it only final figures of earlier seasons said anything before."""
TOLD: Final = "told.json"
"""In a season's folder: the questions of its public half."""


def drawn_for(release: str, board: str) -> str:
    """What a season's halves are drawn for: each has halves of its own."""
    return f"half {release} {board}"


def rules_of(
    config: BlindBoard, asked: tuple[str, str, str], parts: Mapping[str, PartSize], drawn: str, halves: str
) -> Season:
    """The rules that a board's file and its release give, before noise and earlier seasons.

    Args:
        config: The file.
        asked: Release, version and digest of its manifest.
        parts: Both halves, and the slices.
        drawn: What the halves were drawn for.
        halves: Keyed digest of the public half.
    """
    release, version, digest = asked
    return Season(
        board=config.name,
        release=release,
        version=version,
        digest=digest,
        opens=config.opens,
        closes=config.closes,
        per_week=config.per_week,
        gain=config.gain,
        places=config.places or len(config.teams),
        parts=dict(parts),
        noise=LEAST_NOISE,
        drawn=drawn,
        draw=3,
        slices=tuple(sorted(set(config.slices))),
        halves=halves,
    )


def most_told(season: Season, half: str) -> float:
    """What all figures of a half may tell, in nats."""
    return most_nats(season.gain, season.parts[half])


def begin(rules: Season, earlier: Sequence[EarlierSeason]) -> Season:
    """A season with the noise by which each place can use its whole quota.

    Raises:
        UsageError: Earlier seasons left nothing to tell.
    """
    rules = rules.model_copy(update={"earlier": tuple(earlier)})
    for half in (PUBLIC, OTHER):
        if (carried := rules.carried(half)) >= most_told(rules, half):
            raise UsageError(
                f"{rules.board}: earlier seasons over {rules.release} told up to "
                f"{most_gain(carried, rules.parts[half]):.3f} of its golds, so that `gain: {rules.gain}` "
                "leaves nothing to tell: raise it, or seal new questions"
            )
    replies = rules.per_week * ceil((rules.closes - rules.opens) / timedelta(days=7))
    most = (most_told(rules, PUBLIC) - rules.carried(PUBLIC)) * (1 - FINALS) / rules.places / replies
    told = [size for name, size in rules.parts.items() if name != OTHER]
    return rules.model_copy(update={"noise": noise_for(told, most, LEAST_NOISE)})


def keep_told(folder: Path, items: Collection[str], keyed: Keyed) -> None:
    """Notes in a season's folder of which questions its figures speak, with their digest by the secret.

    Their ids last; their groups are called otherwise in a version that adds what is like them.
    """
    named = sorted(items)
    data = orjson.dumps({"items": named, "mac": _told_mac(keyed, folder.name, named)})
    path = folder / TOLD
    if not path.is_file() or path.read_bytes() != data:
        write_whole(path, data, 0o600)


def told_before(store: Path, earlier: Sequence[EarlierSeason], keyed: Keyed) -> set[str]:
    """The questions of which earlier seasons told figures before their end.

    Raises:
        UsageError: A season's are not noted, or not by a board with this secret.
    """
    found: set[str] = set()
    for one in earlier:
        path = store / one.board / TOLD
        if one.other is None:
            continue
        try:
            noted = orjson.loads(path.read_bytes())
            if noted["mac"] != _told_mac(keyed, one.board, noted["items"]):
                raise ValueError("other questions than those that were noted")
            found.update(noted["items"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(
                f"{path} is missing or damaged, so that it is not known of which questions {one.board} told "
                "figures: run `mihakk evaluate score --close --board` with that season's file once, which "
                "notes them"
            ) from error
    return found


def _told_mac(keyed: Keyed, board: str, items: Sequence[str]) -> str:
    return keyed("told", orjson.dumps([board, *items]).decode())


def keep_rules(rules: Season, begun: Season, teams: Collection[str], places: int | None) -> None:
    """Refuses other rules than those that a season began with.

    Its end may change, which is said: what a team is told is limited by its share, however long it lasts.

    Args:
        rules: What the board's file says now.
        begun: What its log says.
        teams: All that are named or were scored.
        places: As the file says them; None where it says none.

    Raises:
        UsageError: They differ, or there are more teams than places.
    """
    names = ["release", "version", "digest", "opens", "per_week", "gain", "slices", "parts", "halves"]
    now, was = rules.model_dump(mode="json"), begun.model_dump(mode="json")
    if rules.slices != begun.slices:
        names.remove("parts")
    if places is not None:
        names.append("places")
    if changed := [name for name in names if now[name] != was[name]]:
        told = "; ".join(f"began with {name} {was[name]}, and now it is {now[name]}" for name in changed)
        raise UsageError(
            f"{begun.board} {told}: the rules of a season stay as they are, and so does the secret; a new "
            "season has a name of its own"
        )
    if rules.closes != begun.closes:
        warnings.warn(
            f"{begun.board} began with closes {begun.closes}, and now it is {rules.closes}, which holds: "
            "noise and each team's share stay as they were",
            MihakkWarning,
            stacklevel=2,
        )
    if len(teams) > begun.places:
        raise UsageError(
            f"{begun.board} began with places for {begun.places} teams, and {len(teams)} are named or were "
            "scored: its noise rests on that number. Take further teams into the next season"
        )


def earlier_seasons(store: Path, board: str, release: str, keyed: Keyed) -> tuple[EarlierSeason, ...]:
    """What the other seasons over the same release, in any version, told.

    Args:
        store: The private folder of all boards.
        board: The season that begins.
        release: Name of what it asks.
        keyed: Digests by the secret.

    Raises:
        UsageError: One of them is not closed, or began under rules that hold no more.
        ExternalFailure: A log was rewritten, or is lost and its head is there.
    """
    found = []
    logs = {*store.glob("*/log.jsonl"), *(store / name / "log.jsonl" for name in heads(store))}
    for path in sorted(logs):
        if path.parent.name == board:  # it is held, and empty
            continue
        log = SubmissionLog(path, keyed)
        with log.held():
            log.check_head()
            if log.season is None or log.season.release != release:
                continue
        if log.closing is None:
            raise UsageError(
                f"{log.season.board} over {release} is not closed, and what it tells counts for "
                f"{board} too. Close it first: `mihakk evaluate score --close --board BOARD.yaml`"
            )
        # A submission that was held got its only figure at the end.
        figures = len(log.told) + sum(one.shown is None for one in log.closing.finals)
        other = log.closing.nats.get(OTHER, 0.0) if figures else None
        name = log.season.board
        found.append(EarlierSeason(board=name, nats=log.nats, other=other, figures=figures, last=log.last))
    return tuple(found)
