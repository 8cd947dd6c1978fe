"""A board over sealed golds: submissions in, blurred figures out, and exact ones when the season is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from mihakk.evaluation.blind.disclosure import (
    SLICE_GROUPS,
    Half,
    Keyed,
    beats,
    blurred,
    figures_within,
    half_of,
    half_width,
    halves,
    interval,
    most_gain,
)
from mihakk.evaluation.blind.log import SubmissionLog
from mihakk.evaluation.blind.submission import RANKED, Submission, check_replies, is_ranked
from mihakk.evaluation.metrics.metric import METRICS, Case
from mihakk.evaluation.reading import read
from mihakk.evaluation.statistics.cluster import clustered, codes_of
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.machinery.text import key
from mihakk.schemas.blind import BlindBoard, BlindReply, FinalFigure, LoggedSubmission, SubmissionCard
from mihakk.schemas.evaluation import Question

ALIKE: Final = 0.05
"""Answers that differ from earlier ones in less than this share of the items get the earlier reply."""
WEEK: Final = timedelta(days=7)
_NAME = "overall"


class Marked(NamedTuple):
    """A submission as it was read."""

    tokens: list[str]
    """What was read in each reply, in the order of the questions; equal for replies that answer alike."""
    values: NDArray[np.float64]
    """1 or 0 an item. They never leave the private side."""


class Board:
    """One season of a blind release.

    Args:
        config: Its rules.
        questions: The release's questions with their golds, by item.
        folder: The private folder: the log, and what was read in every submission.
        keyed: Digests by the release's secret.

    Raises:
        UsageError: The release has no ranked question, or too few for a half.
    """

    def __init__(
        self, config: BlindBoard, questions: Mapping[str, Question], folder: Path, keyed: Keyed
    ) -> None:
        self.config = config
        self.questions = {name: questions[name] for name in sorted(questions) if is_ranked(questions[name])}
        if not self.questions:
            raise UsageError(
                f"{config.release} has no ranked question: a blind board ranks choices and short answers of "
                "tasks that are no recall"
            )
        ordered = list(self.questions.values())
        self.release, self.version = ordered[0].release, ordered[0].version
        self.groups = [one.group for one in ordered]
        self.units = [one.pair_id or one.item for one in ordered]
        self.keyed = keyed
        if len(set(self.groups)) < 4:
            raise UsageError(
                f"{config.release}: {len(set(self.groups))} groups can't be parted into two halves"
            )
        self.public, self.other = halves(self.groups, self.units, keyed, self.release)
        self.folder = folder
        self.log = SubmissionLog(folder / "log.jsonl")
        self._read_before: dict[str, Marked] = {}

    @cached_property
    def slices(self) -> dict[str, Half]:
        """`fact=value` to the part of the public half that it names, where that is large enough."""
        ordered = list(self.questions.values())
        found: dict[str, list[int]] = {}
        for fact in self.config.slices:
            for place in map(int, self.public.items):
                one = ordered[place]
                value = {"task": one.task, "language": one.language, **one.slices}.get(fact)
                if value:
                    found.setdefault(f"{fact}={value}", []).append(place)
        parts = {name: half_of(items, self.groups, self.units) for name, items in sorted(found.items())}
        return {name: half for name, half in parts.items() if half.groups >= SLICE_GROUPS}

    @property
    def figures(self) -> int:
        """How many figures the whole season may tell."""
        return figures_within(self.config.gain, self.public)

    def receive(self, submission: Submission, *, now: datetime | None = None) -> BlindReply:
        """Scores one submission by the season's rules; the log has it before this returns.

        Raises:
            UsageError: It is refused; the message says why and what to do.
        """
        at = now or datetime.now(UTC)
        with self.log.held():
            try:
                self._admit(submission, at)
                marked = self._marked(submission.replies)
                name = self.keyed("answers", digest(marked.tokens))
                earlier = self._alike(name, marked)
                if earlier is None:
                    self._allow(submission.card, at)
            except UsageError as refusal:
                self._log(submission, at, refused=str(refusal))
                raise
            if earlier is not None and earlier.reply is not None:
                # The reply to nearly the same answers, whoever sent them: nothing new is told.
                reply = earlier.reply.model_copy(update={"told": "known"})
                self._log(submission, at, answers=name, reply=reply)
                return reply
            self._keep(name, marked)
            reply, figures = self._reply(submission.card.team, name, marked)
            self._log(submission, at, answers=name, reply=reply, figures=figures)
            return reply

    def standing(self) -> dict[str, Any]:
        """What the public board shows: each team's best figure, the rules, and what all figures can tell."""
        with self.log.held():
            entries = list(self.log.entries)
        told = sum(entry.figures for entry in entries)
        best = {entry.card.team: entry for entry in entries if entry.told == "shown"}
        scored = [entry for entry in entries if not entry.refused]
        rows = [self._row(entry, best.values(), scored) for entry in best.values()]
        return {
            "board": self.config.name,
            "title": self.config.title,
            "release": self.release,
            "version": self.version,
            "digest": next(iter(self.questions.values())).digest,
            "opens": str(self.config.opens),
            "closes": str(self.config.closes),
            "questions": len(self.questions),
            "public": {"questions": len(self.public.items), "groups": self.public.groups},
            "standard_error": round(self.public.se, 6),
            "figures": {"told": told, "most": self.figures},
            "gain": {"so_far": round(most_gain(told, self.public), 4), "most": self.config.gain},
            "submissions": len(scored),
            "held": sum(entry.told == "held" for entry in scored),
            "entries": sorted(rows, key=lambda row: (row["rank_low"], row["team"])),
        }

    def close(self, *, now: datetime | None = None) -> list[FinalFigure]:
        """Exact figures of both halves for each team's best submission, once the season is over.

        Raises:
            UsageError: It is not over.
        """
        at = now or datetime.now(UTC)
        if at.date() < self.config.closes:
            raise UsageError(
                f"{self.config.name} is open until {self.config.closes}: nothing is opened before"
            )
        with self.log.held():
            scored = [entry for entry in self.log.entries if entry.is_new]
        values = {entry.answers: self._kept(entry.answers).values for entry in scored}
        finals = []
        for team in sorted({entry.card.team for entry in scored}):
            own = [entry for entry in scored if entry.card.team == team]
            shown = [entry for entry in own if entry.told == "shown"]
            # Held submissions were never told anything: which of a team's is the best, the public half says.
            held = [entry for entry in own if entry.told == "held"]
            offered = [*shown[-1:], *held] or own[:1]
            chosen = max(offered, key=lambda one: float(values[one.answers][self.public.items].mean()))
            finals.append(self._final(chosen, values[chosen.answers]))
        return finals

    def _admit(self, submission: Submission, at: datetime) -> None:
        card, config = submission.card, self.config
        if not config.opens <= at.date() < config.closes:
            raise UsageError(
                f"{config.name} takes submissions from {config.opens} until the day before {config.closes}"
            )
        if card.team not in config.teams:
            raise UsageError(f"team {card.team!r} is not registered with {config.name}: ask its maintainers")
        if (card.release, card.version) != (self.release, self.version):
            raise UsageError(
                f"the answers are to {card.release} {card.version}; {config.name} scores "
                f"{self.release} {self.version}"
            )
        check_replies(submission.replies, self.questions, f"{card.team}'s file")

    def _allow(self, card: SubmissionCard, at: datetime) -> None:
        """Quotas, of which answers that were scored before take nothing."""
        new = [entry for entry in self.log.entries if entry.card.team == card.team and entry.is_new]
        if any((entry.card.model, entry.card.revision) == (card.model, card.revision) for entry in new):
            raise UsageError(
                f"{card.model} at revision {card.revision} was scored before, with other answers: "
                "one submission per revision"
            )
        late = sorted(entry.received for entry in new if entry.received > at - WEEK)
        if len(late) >= self.config.per_week:
            again = late[-self.config.per_week] + WEEK
            raise UsageError(
                f"{card.team} has had its {self.config.per_week} submissions of the last seven days: "
                f"send the file again from {again:%Y-%m-%d %H:%M} UTC"
            )

    def _marked(self, replies: Mapping[str, str]) -> Marked:
        tokens, values = [], []
        for name, question in self.questions.items():
            reply = replies[name]
            reading = read(question, "written", reply)
            metric = METRICS.get("exact_set" if question.multiple else RANKED[question.kind])
            if not reading.found:
                tokens.append("")
                values.append(0.0)
                continue
            told = ",".join(map(str, reading.picks)) or key(reading.text, question.language)
            tokens.append(told)
            values.append(float(metric.score([Case(question, reading, reply)])[0].value or 0.0))
        return Marked(tokens, np.array(values))

    def _alike(self, name: str, marked: Marked) -> LoggedSubmission | None:
        """The first submission of the season, of any team, with the same answers or nearly the same."""
        tokens = np.array(marked.tokens, dtype=object)
        for entry in self.log.entries:
            if not entry.is_new:
                continue
            if entry.answers == name:
                return entry
            other = np.array(self._kept(entry.answers).tokens, dtype=object)
            if float((tokens != other).mean()) < ALIKE:
                return entry
        return None

    def _reply(self, team: str, name: str, marked: Marked) -> tuple[BlindReply, int]:
        told = sum(entry.figures for entry in self.log.entries)
        if told + 1 + len(self.slices) > self.figures:
            return BlindReply(told="held"), 0
        own = [entry for entry in self.log.entries if entry.card.team == team]
        best = [entry.reply for entry in own if entry.reply and entry.told == "shown"]
        figure = self._blurred(_NAME, self.public, name, marked)
        if not beats(figure, best[-1].figure if best else None, self.public.se):
            return best[-1].model_copy(update={"told": "not_above"}), 1
        parts = {part: self._blurred(part, half, name, marked) for part, half in self.slices.items()}
        return BlindReply(told="shown", figure=figure, slices=parts), 1 + len(parts)

    def _blurred(self, part: str, half: Half, name: str, marked: Marked) -> float:
        exact = float(marked.values[half.items].mean())
        return blurred(exact, half.se, self.keyed, f"{self.config.name}\x1f{part}\x1f{name}")

    def _row(self, entry: LoggedSubmission, best: Any, scored: Sequence[LoggedSubmission]) -> dict[str, Any]:
        figure = entry.figure
        low, high = interval(figure, self.public)
        # Two figures can't be told apart while their difference is within its own 95 % interval.
        reach = half_width(self.public) * 2**0.5
        others = [one.figure for one in best if one is not entry]
        card = {"team", "model", "revision", "open", "kind", "parameters", "notes"}
        return {
            **entry.card.model_dump(mode="json", include=card),
            "received": f"{entry.received:%Y-%m-%d}",
            "figure": figure,
            "low": round(low, 6),
            "high": round(high, 6),
            "rank_low": 1 + sum(one - figure > reach for one in others),
            "rank_high": 1 + sum(one - figure >= -reach for one in others),
            "slices": entry.reply.slices if entry.reply else {},
            "submissions": sum(one.card.team == entry.card.team for one in scored),
        }

    def _final(self, entry: LoggedSubmission, values: NDArray[np.float64]) -> FinalFigure:
        first, second = (
            clustered(values[half.items], codes_of([self.groups[place] for place in half.items]))
            for half in (self.public, self.other)
        )
        figures: dict[str, float | None] = dict.fromkeys(("gap_low", "gap_high"))
        for name, side in (("public", first), ("other", second)):
            figures |= {name: side.mean, f"{name}_low": side.low, f"{name}_high": side.high}
        figures["gap"] = gap = first.mean - second.mean
        if first.low is not None and second.low is not None:
            reach = 1.96 * float(np.hypot(first.se or 0.0, second.se or 0.0))
            figures |= {"gap_low": gap - reach, "gap_high": gap + reach}
        rounded = {name: None if figure is None else round(figure, 6) for name, figure in figures.items()}
        shown = entry.figure if entry.told == "shown" else None
        card = entry.card.model_dump(include={"team", "model", "revision"})
        return FinalFigure.model_validate({**card, "shown": shown, **rounded})

    def _log(self, submission: Submission, at: datetime, **facts: Any) -> None:
        entry = {"answers": "", **facts}
        self.log.add(LoggedSubmission(received=at, card=submission.card, file=submission.digest, **entry))

    def _keep(self, name: str, marked: Marked) -> None:
        path = self.folder / "read" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.tmp")
        unfinished.write_bytes(orjson.dumps({"tokens": marked.tokens, "values": marked.values.tolist()}))
        unfinished.replace(path)
        self._read_before[name] = marked

    def _kept(self, name: str) -> Marked:
        if name not in self._read_before:
            found = orjson.loads((self.folder / "read" / f"{name}.json").read_bytes())
            self._read_before[name] = Marked(found["tokens"], np.array(found["values"]))
        return self._read_before[name]
