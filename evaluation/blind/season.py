"""The rules of a season: fixed when its first file is scored, with what earlier seasons told counted in."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from math import ceil, isclose
from pathlib import Path
from typing import Final

import orjson

from mihakk.evaluation.blind.disclosure import (
    FINALS,
    LEAST_NOISE,
    Keyed,
    most_gain,
    most_nats,
    nats,
    noise_for,
)
from mihakk.evaluation.blind.keys import Register, is_genuine
from mihakk.evaluation.blind.log import SubmissionLog, heads
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.whole import write_whole
from mihakk.schemas.blind import BlindBoard, EarlierSeason, PartSize, Season

PUBLIC: Final = "public"
"""The half whose figures are told during the season."""
OTHER: Final = "other"
"""The half that final ranks rest on: neither the season nor an earlier one said anything of it."""
TOLD_GROUPS: Final = "groups.json"
"""In a season's folder: the groups of its public half."""


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


def keep_groups(folder: Path, groups: Collection[str]) -> None:
    """Notes in a season's folder of which groups its figures speak."""
    data = orjson.dumps(sorted(groups))
    path = folder / TOLD_GROUPS
    if not path.is_file() or path.read_bytes() != data:
        write_whole(path, data, 0o600)


def groups_told(store: Path, earlier: Sequence[EarlierSeason]) -> set[str]:
    """The groups of which earlier seasons told figures before their end.

    Raises:
        UsageError: A season's are not noted.
    """
    found: set[str] = set()
    for one in earlier:
        path = store / one.board / TOLD_GROUPS
        if one.other is None:
            continue
        try:
            found.update(orjson.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"{path} is missing or damaged, so that it is not known of which questions {one.board} told "
                "figures: run `mihakk evaluate score --close --board` with that season's file once, which "
                "notes them"
            ) from error
    return found


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


def check_told(log: SubmissionLog, register: Register) -> None:
    """Refuses a log whose noise is not the one that its rules give, or costs that are less than figures tell.

    Each line's signature has to be its team's. Of a card it vouches for the digest of the file alone: whether
    a line's model and revision are the file's, only who has the file can see.

    Raises:
        ExternalFailure: It was edited.
    """
    season = log.season
    assert season is not None
    _check_signers(log, register)
    fits = isclose(season.noise, begin(season, season.earlier).noise)
    told: dict[str, float] = {}
    for entry in log.entries:
        reply = entry.reply
        if reply is None or reply.figure is None:
            continue
        if reply.told == "known":
            fits &= told.get(entry.answers) == reply.figure
        elif reply.told == "shown":
            least = sum(nats(part, season.noise) for name, part in season.parts.items() if name != OTHER)
            fits &= entry.nats >= least * (1 - 1e-9)
        told.setdefault(entry.answers, reply.figure)
    if closing := log.closing:
        for half, noise in closing.noise.items():
            least = len(closing.finals) * nats(season.parts[half], noise)
            fits &= closing.nats[half] >= least * (1 - 1e-9)
    if not fits:
        raise ExternalFailure(
            f"{log.path}: its noise or what its figures count is not what its own rules give: it was edited. "
            "Put back the file from a copy; nothing is scored on a log that was rewritten"
        )


def _check_signers(log: SubmissionLog, register: Register) -> None:
    keys = register.keys()
    unknown: set[str] = set()
    for number, entry in enumerate(log.entries, 1):
        signature = entry.signature
        known = keys.get(signature.key)
        if known is None:
            unknown.add(signature.key)
        if not is_genuine(signature, entry.file) or (known and known.team != entry.card.team):
            raise ExternalFailure(
                f"{log.path}: file {number}, of {entry.card.team}, is not signed by a key of that team: the "
                f"log was edited, or {register.path}. Put back the file from a copy"
            )
    if unknown:
        warnings.warn(
            f"{log.path}: {len(unknown)} keys that signed in it are not in {register.path} (one is "
            f"{min(unknown)}): whose files they signed can't be checked. Put back the register from a copy",
            MihakkWarning,
            stacklevel=2,
        )


def earlier_seasons(
    store: Path, board: str, release: str, keyed: Keyed, register: Register
) -> tuple[EarlierSeason, ...]:
    """What the other seasons over the same release, in any version, told.

    Args:
        store: The private folder of all boards.
        board: The season that begins.
        release: Name of what it asks.
        keyed: Digests by the secret.
        register: The keys of teams.

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
            check_told(log, register)
        if log.closing is None:
            raise UsageError(
                f"{log.season.board} over {release} is not closed, and what it tells counts for "
                f"{board} too. Close it first: `mihakk evaluate score --close --board BOARD.yaml`"
            )
        other = log.closing.nats.get(OTHER, 0.0)
        found.append(EarlierSeason(board=log.season.board, nats=log.nats, other=other, last=log.last))
    return tuple(found)
