"""A board over sealed golds: signed submissions in, noisy figures out, final ones when it is over."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
from filelock import FileLock

from mihakk.evaluation.blind.answers import KEPT, Answers, forget_values
from mihakk.evaluation.blind.disclosure import (
    FINALS,
    LEAST_NOISE,
    SLICE_GROUPS,
    Half,
    Keyed,
    ToldFigure,
    blurred,
    chosen_interval,
    difference,
    half_of,
    halves,
    interval,
    largest_error,
    most_gain,
    nats,
    noise_for,
    rank_ranges,
)
from mihakk.evaluation.blind.keys import REGISTER, Register, private_store
from mihakk.evaluation.blind.log import SubmissionLog
from mihakk.evaluation.blind.season import (
    OTHER,
    PUBLIC,
    begin,
    drawn_for,
    earlier_seasons,
    keep_rules,
    keep_told,
    most_told,
    rules_of,
    told_before,
)
from mihakk.evaluation.blind.submission import (
    Submission,
    check_replies,
    ranked_questions,
    require_groups,
    same_revision,
)
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.groups import components
from mihakk.machinery.ids import digest
from mihakk.schemas.blind import (
    BlindBoard,
    BlindReply,
    Closing,
    FinalFigure,
    LoggedSubmission,
    Season,
    SubmissionCard,
)
from mihakk.schemas.evaluation import Question

WEEK: Final = timedelta(days=7)
CLOCK: Final = timedelta(hours=1)
"""How far a clock may have been set back since a file was scored."""
COPIES: Final = 20
"""Files of a team in any seven days whose answers were told before: they cost nothing, and fill the log."""
_NAME = "overall"
_SLACK = 1e-9
"""Of sums of equal costs."""


class Board:
    """One season of a blind release.

    Args:
        config: Its rules.
        questions: The release's questions with their golds, by item.
        store: The private folder of all boards: the register of keys, each log's head, and a folder for each
            season with its log and what was read in every submission, right or wrong unsaid.
        keyed: Digests by the release's secret.
        sets: Question about a label to the name of those that are asked together, each label right once
            among them: what is known of one tells of the others, so that they share a half and count as one.

    Raises:
        UsageError: The release has no ranked question, or too few for a half; the rules are not those that
            the season began with, or earlier seasons left nothing to tell.
    """

    def __init__(
        self,
        config: BlindBoard,
        questions: Mapping[str, Question],
        store: Path,
        keyed: Keyed,
        sets: Mapping[str, str] | None = None,
    ) -> None:
        self.config = config
        self.questions = ranked_questions(questions, config.release)
        ordered = list(self.questions.values())
        self.release, self.version = ordered[0].release, ordered[0].version
        sets = sets or {}
        # Near copies of a work share its label and stand in other sets: these are one, too.
        self.groups = components((one.group, sets.get(one.item, one.group)) for one in ordered)
        require_groups(len(set(self.groups)), config.release)
        self.units = [
            group if one.item in sets else one.pair_id or one.item
            for one, group in zip(ordered, self.groups, strict=True)
        ]
        self.keyed = keyed
        private_store(store)
        self.store, self.folder = store, store / config.name
        self.register = Register(store / REGISTER)
        self.log = SubmissionLog(self.folder / "log.jsonl", keyed)
        self.answers = Answers(self.questions, self.folder / KEPT, keyed)
        forget_values(store)
        with self.log.held():
            self.season = self._agreed(self.log.season)
            self.log.check_head()

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
        # A value that all share is the total again.
        parts = {
            name: half_of(items, self.groups, self.units)
            for name, items in sorted(found.items())
            if len(items) < len(self.public.items)
        }
        return {name: half for name, half in parts.items() if half.size.groups >= SLICE_GROUPS}

    @property
    def cost(self) -> float:
        """What one reply tells at most, in nats: each figure at the rate of its own part."""
        return sum(nats(half.size, self.season.noise) for half in (self.public, *self.slices.values()))

    @property
    def share(self) -> float:
        """What a team may be told in the season, in nats."""
        most = most_told(self.season, PUBLIC) - self.season.carried(PUBLIC)
        return most * (1 - FINALS) / self.season.places

    @property
    def gain_before(self) -> float:
        """What earlier seasons' final figures may add to the share known of the golds that ranks rest on."""
        return most_gain(self.season.carried(OTHER), self.season.parts[OTHER])

    @property
    def figures(self) -> int:
        """Among how many answers figures that anybody was told, in earlier seasons too, may have chosen."""
        return len(self.log.told) + self.season.figures_before

    def receive(
        self, submission: Submission, *, now: datetime | None = None, arrived: datetime | None = None
    ) -> BlindReply:
        """Scores one submission by the season's rules; the log has it before this returns.

        Args:
            submission: As it was read.
            now: The time; the clock's when None.
            arrived: When it came in, where it waited since: quotas and the season's end go by that.

        Raises:
            UsageError: It is refused; the message says why and what to do. The log names refused files too,
                if their team signed them.
            ExternalFailure: The clock was set back.
        """
        run, card = now or datetime.now(UTC), submission.card
        self.check_key(submission, run, arrived)
        with self._begun(lambda: self._admit(submission, self._counted_from(run, arrived, card.team))):
            self._ready(submission, run, arrived)
        # Meanwhile others may look at the log: long replies take minutes.
        marked = self.answers.read(submission.replies)
        name = self.answers.name(marked.tokens)
        with self._begun():
            at = self._ready(submission, run, arrived)
            told = [one.reply for one in self.log.entries if one.answers == name and one.reply]
            known = next((reply for reply in told if reply.figure is not None), None)
            try:
                self._allow(card, at, copied=known is not None)
            except UsageError as refusal:
                self._log(submission, at, answers=name, refused=str(refusal))
                raise
            self.answers.keep(name, marked)
            if known is not None:
                # The very same answers, whoever sent them: their figure was told, nothing new is.
                reply, cost = known.model_copy(update={"told": "known"}), 0.0
            else:
                reply, cost = self._reply(card.team, name)
            self._log(submission, at, answers=name, reply=reply, nats=cost)
            return reply

    def check_key(
        self, submission: Submission, at: datetime | None = None, arrived: datetime | None = None
    ) -> None:
        """Refuses a file that no key of its team signed; its answers may be yet to be read.

        Raises:
            UsageError: With the reason and what to do.
        """
        now, team = at or datetime.now(UTC), submission.card.team
        self.register.check(submission.signature, submission.digest, team, now, arrived)

    def received(self, submission: Submission) -> LoggedSubmission | None:
        """The line of the log about this very file, if there is one."""
        signed = submission.signature and submission.signature.signed
        for entry in self.log.entries:
            if entry.file == submission.digest and entry.signature.signed == signed:
                return entry
        return None

    def again(self, submission: Submission) -> LoggedSubmission | None:
        """The line of the log about this very file, whose answers are kept again if they were lost.

        A copy under another signature is not this file.
        """
        found = self.received(submission)
        if found is None or found.signature != submission.signature:
            return None
        if submission.replies and found.reply and self.answers.lost([found.answers]):
            marked = self.answers.read(submission.replies)
            if self.answers.name(marked.tokens) == found.answers:
                self.answers.keep(found.answers, marked)
        return found

    def standing(self) -> dict[str, Any]:
        """What the public board shows: a line a team, the rules, and what all figures can tell.

        While the season runs, each team's best figure, which may be fitted to the figures before: nobody is
        ranked by it. When it is over, the final figures with their ranks.
        """
        with self.log.held():
            entries = [entry for entry in self.log.entries if entry.reply]
            closing = self.log.closing
        spent = sum(entry.nats for entry in entries)
        final = closing.nats if closing else {}
        teams = {team: [one for one in entries if one.card.team == team] for team in _teams(entries)}
        if closing:
            rows = [_final_row(one, teams[one.team]) for one in closing.finals]
        else:
            rows = [self._row(own, self.figures) for own in teams.values()]
        told = {
            PUBLIC: self.season.carried(PUBLIC) + spent + final.get(PUBLIC, 0.0),
            OTHER: self.season.carried(OTHER) + final.get(OTHER, 0.0),
        }
        gains = {half: most_gain(told[half], self.season.parts[half]) for half in told}
        return {
            "board": self.config.name,
            "title": self.config.title,
            "release": self.release,
            "version": self.version,
            "digest": self.season.digest,
            "opens": str(self.config.opens),
            "closes": str(self.config.closes),
            "closed": closing is not None,
            "questions": len(self.questions),
            "public": {"questions": len(self.public.items), "groups": self.public.size.groups},
            "standard_error": round(self.public.size.se, 6),
            "noise": round(self.season.noise * self.public.size.se, 6),
            "nats": {"told": round(told[PUBLIC], 4), "carried": round(self.season.carried(PUBLIC), 4)},
            "gain": {
                "so_far": round(gains[PUBLIC], 4),
                "other_half": round(gains[OTHER], 4),
                "other_half_before": round(self.gain_before, 4),
                "most": self.season.gain,
            },
            "submissions": len(entries),
            "held": sum(entry.reply is not None and entry.reply.told == "held" for entry in entries),
            "earlier": [one.board for one in self.season.earlier],
            "entries": sorted(rows, key=_order),
        }

    def close(self, *, now: datetime | None = None) -> list[FinalFigure]:
        """Final figures of both halves, once the season is over; asking again gives the same.

        Those of the other half, by which nothing was chosen, rank the teams.
        Of each team the submission with the best figure, and its last one that was held. Their noise shares
        out what `gain` has left for either half.

        Raises:
            UsageError: It is not over.
        """
        at = now or datetime.now(UTC)
        if at.date() < self.config.closes:
            raise UsageError(
                f"{self.config.name} is open until {self.config.closes}: nothing is opened before"
            )
        with self._begun():
            if self.log.closing:
                return list(self.log.closing.finals)
            scored = [entry for entry in self.log.entries if entry.reply]
            chosen = []
            for team in _teams(scored):
                own = [entry for entry in scored if entry.card.team == team]
                told = [entry for entry in own if entry.figure is not None]
                held = [entry for entry in own if entry.figure is None]
                best = max(told, key=self._unclipped, default=None)
                chosen += [one for one in (best, held[-1] if held else None) if one]
            closing = self._closing(chosen, at, sum(entry.nats for entry in scored))
            self.log.add(closing)
            return list(closing.finals)

    def _agreed(self, begun: Season | None) -> Season:
        """The rules of the season as it began, or with which it will begin."""
        drawn = drawn_for(self.release, self.config.name)
        if begun is None:
            earlier = earlier_seasons(self.store, self.config.name, self.release, self.keyed)
        else:
            earlier = begun.earlier
        items = told_before(self.store, earlier, self.keyed)
        told = {group for group, item in zip(self.groups, self.questions, strict=True) if item in items}
        self.public, self.other = halves(self.groups, self.units, self.keyed, drawn, told)
        self.__dict__.pop("slices", None)
        parts = {PUBLIC: self.public.size, OTHER: self.other.size}
        parts |= {name: half.size for name, half in self.slices.items()}
        members = self.keyed("halves", digest(self._told()))
        one = next(iter(self.questions.values()))
        rules = rules_of(self.config, (one.release, one.version, one.digest), parts, drawn, members)
        if begun is None:
            return begin(rules, earlier)
        scored = {entry.card.team for entry in self.log.entries if entry.reply}
        keep_rules(rules, begun, {*self.config.teams, *scored}, self.config.places)
        self._keep_told()
        self._warn_of_lost_answers()
        return begun

    def _keep_told(self) -> None:
        """A later season's final figures keep away from what this one's figures speak of."""
        keep_told(self.folder, self._told(), self.keyed)

    def _told(self) -> list[str]:
        """The questions of the public half, in their order."""
        names = list(self.questions)
        return [names[place] for place in self.public.items]

    def _warn_of_lost_answers(self) -> None:
        """Says whose answers the final figures will miss, while they can still be put back or sent again."""
        scored = {one.answers: one.card.team for one in self.log.entries if one.reply}
        lost = self.answers.lost(scored)
        if lost and self.log.closing is None:
            teams = ", ".join(sorted({scored[name] for name in lost}))
            warnings.warn(
                f"{self.answers.folder}: answers of {len(lost)} scored files are missing or damaged "
                f"({lost[0]}.json): final figures need them. Put them back from a copy, move the files from "
                f"`scored/` back into the inbox, or have {teams} sign the same answers anew and send them",
                MihakkWarning,
                stacklevel=2,
            )

    @contextmanager
    def _begun(self, admit: Callable[[], None] = lambda: None) -> Iterator[None]:
        """The log, held, with its first line written: what earlier seasons told is fixed then.

        Args:
            admit: Called before that line is written, so that no file for another season or day begins one.
        """
        with self.log.held():
            self.log.check_head()
            if self.log.season is None:
                admit()
                with FileLock(self.store / "seasons.lock", timeout=60):
                    season = self._agreed(None)
                    self._keep_told()
                    self.log.add(season)
            assert self.log.season is not None
            self.season = self.log.season
            yield

    def _ready(self, submission: Submission, at: datetime, arrived: datetime | None) -> datetime:
        """The time as of which a file counts whose answers may be read; the log names one that is refused.

        Raises:
            UsageError: It was received before, or is refused.
            ExternalFailure: The clock was set back.
        """
        team = submission.card.team
        self._check_clock(at)
        if earlier := self.received(submission):
            raise UsageError(
                f"{team}'s file was received on {earlier.received:%Y-%m-%d %H:%M} UTC and "
                f"{_outcome(earlier)}: a signed file counts once. Sign the answers anew to send them"
            )
        counted = self._counted_from(at, arrived, team)
        try:
            self._admit(submission, counted)
            self._allow_reading(team, counted)
        except UsageError as refusal:
            self._log(submission, counted, refused=str(refusal))
            raise
        return counted

    def _check_clock(self, at: datetime) -> None:
        last = max((one.received for one in self.log.entries if one.reply), default=at)
        if at < last - CLOCK:
            raise ExternalFailure(
                f"this machine's clock says {at:%Y-%m-%d %H:%M} UTC, and a file was scored at "
                f"{last:%Y-%m-%d %H:%M} ({self.log.path}): set the clock, and run again. If the clock was "
                "wrong then, wait until that time: quotas count from it"
            )

    def _counted_from(self, at: datetime, arrived: datetime | None, team: str) -> datetime:
        """The time of a file: when it came in, but not before the season or the team's last scored one.

        What others sent, and when it was scored, takes nothing of a team's quota.
        """
        begins = datetime.combine(self.config.opens, time(), UTC)
        own = (one.received for one in self.log.entries if one.reply and one.card.team == team)
        last = max(own, default=begins)
        return at if arrived is None else min(at, max(arrived, begins, last))

    def _admit(self, submission: Submission, at: datetime) -> None:
        card, config = submission.card, self.config
        if card.board != config.name:
            raise UsageError(f"the answers are for {card.board}, and this is {config.name}: correct `board`")
        if self.log.closing:
            raise UsageError(f"{config.name} was closed at {self.log.closing.at:%Y-%m-%d %H:%M} UTC for good")
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

    def _allow_reading(self, team: str, at: datetime) -> None:
        """Quotas of a week, before any reply is read: that takes the time of all whose files wait."""
        own = [one for one in self.log.entries if one.card.team == team and one.answers]
        late = [one for one in own if one.received > at - WEEK]
        new = [one for one in late if one.is_new]
        for files, most in ((new, self.config.per_week), (late, self.config.per_week + COPIES)):
            if len(files) >= most:
                again = sorted(one.received for one in files)[-most] + WEEK
                raise UsageError(
                    f"{team} has had its {most} submissions of the last seven days: sign the file again and "
                    f"send it from {again:%Y-%m-%d %H:%M} UTC"
                )

    def _allow(self, card: SubmissionCard, at: datetime, *, copied: bool) -> None:
        """Copies of answers that were scored before have a quota of their own; others are one a revision."""
        own = [entry for entry in self.log.entries if entry.card.team == card.team and entry.reply]
        if copied:
            late = sorted(one.received for one in own if not one.is_new and one.received > at - WEEK)
            if len(late) >= COPIES:
                raise UsageError(
                    f"{card.team} has sent {COPIES} files in seven days of answers that were told before: "
                    f"their figure stays the same. Sign others from {late[-COPIES] + WEEK:%Y-%m-%d %H:%M} UTC"
                )
            return
        if any(same_revision(entry.card, card) for entry in own if entry.is_new):
            raise UsageError(
                f"{card.model} at revision {card.revision} was scored before, with other answers: "
                "one submission per revision"
            )

    def _reply(self, team: str, name: str) -> tuple[BlindReply, float]:
        spent = sum(entry.nats for entry in self.log.entries if entry.card.team == team)
        if spent + self.cost > self.share + _SLACK:
            return BlindReply(told="held"), 0.0
        figure = self._blurred(_NAME, self.public, name)
        parts = {part: self._blurred(part, half, name) for part, half in self.slices.items()}
        return BlindReply(told="shown", figure=figure, slices=parts), self.cost

    def _blurred(
        self,
        part: str,
        half: Half,
        name: str,
        noise: float | None = None,
        *,
        clipped: bool = True,
    ) -> float:
        exact = float(self.answers.values(name)[half.items].mean())
        size = self.season.noise if noise is None else noise
        # Two sizes of one draw would tell the exact figure: other rules, and other sizes, draw anew.
        by = f"{self.log.first}\x1f{size!r}\x1f{part}\x1f{name}"
        return blurred(exact, size * half.size.se, self.keyed, by, clipped=clipped)

    def _unclipped(self, entry: LoggedSubmission) -> float:
        """By which a team's best is chosen: of several figures cut off at 1 the first is no better."""
        if entry.figure != 1.0:
            return entry.figure or 0.0
        return self._blurred(_NAME, self.public, entry.answers, clipped=False)

    def _row(self, own: Sequence[LoggedSubmission], figures: int) -> dict[str, Any]:
        """A team's line while the season runs: its best figure, chosen by any of those told.

        Args:
            own: Its submissions.
            figures: How many were told to anybody, in earlier seasons too: teams may work together.
        """
        told = [entry for entry in own if entry.figure is not None]
        best = max(told, key=lambda one: one.figure or 0.0, default=own[-1])
        size = self.public.size
        low, high = 0.0, 1.0
        if best.figure is not None:
            low, high = chosen_interval(best.figure, size.se, self.season.noise * size.se, figures)
        left = max(0.0, self.share - sum(entry.nats for entry in own))
        return _about(best) | {
            "low": round(low, 6),
            "high": round(high, 6),
            "figures": figures if told else 0,
            "slices": best.reply.slices if best.reply else {},
            "submissions": len(own),
            "figures_left": int((left + _SLACK) / self.cost),
        }

    def _closing(self, chosen: Sequence[LoggedSubmission], at: datetime, spent: float) -> Closing:
        """The last line of the log: final figures, whose noise takes no more than what is left of `gain`."""
        noise, cost = {}, {}
        for name, half, told in ((PUBLIC, self.public, spent), (OTHER, self.other, 0.0)):
            left = most_told(self.season, name) - self.season.carried(name) - told
            noise[name] = noise_for([half.size] * len(chosen), left, LEAST_NOISE)
            cost[name] = len(chosen) * nats(half.size, noise[name])
        rows = [self._final(entry, noise) for entry in chosen]
        errors = self._errors([entry.answers for entry in chosen])
        ranks = rank_ranges([told for _, told in rows], errors, self.gain_before)
        finals = [
            FinalFigure.model_validate(row | {"rank_low": low, "rank_high": high})
            for (row, _), (low, high) in zip(rows, ranks, strict=True)
        ]
        return Closing(at=at, ranked=OTHER, noise=noise, nats=cost, finals=tuple(finals))

    def _errors(self, names: Sequence[str]) -> list[list[float]]:
        """Largest standard error of the difference of each two final figures."""
        # Numbers in place of texts, of which one may be so long that a table of all fills the memory.
        numbers = defaultdict[str, int](count().__next__)
        read = [np.array([numbers[one] for one in self.answers.tokens(name)]) for name in names]
        return [[largest_error(one != two, self.other, self.groups) for two in read] for one in read]

    def _final(
        self, entry: LoggedSubmission, noise: Mapping[str, float]
    ) -> tuple[dict[str, Any], ToldFigure]:
        """A line of the closing without ranks, and the figure that those go by.

        It was chosen, and may have been fitted, by figures of the public half: the other half alone ranks it,
        with what earlier final figures told of that allowed for, and the gap allows for the choice.
        """
        figures = max(1, self.figures)

        def told(name: str, half: Half) -> ToldFigure:
            figure = self._blurred(f"final {name}", half, entry.answers, noise[name])
            return ToldFigure(figure, half.size.se, noise[name] * half.size.se)

        public, other = told(PUBLIC, self.public), told(OTHER, self.other)
        chosen, beside = (interval(*one, figures) for one in (public, other))
        alone = interval(*other, gain=self.gain_before)
        spans = {
            "": alone,
            "public_": chosen,
            "other_": alone,
            "gap_": difference(public.figure, chosen, other.figure, beside),
        }
        found = {"figure": other.figure, PUBLIC: public.figure, OTHER: other.figure}
        found["gap"] = public.figure - other.figure
        for name, (low, high) in spans.items():
            found |= {f"{name}low": low, f"{name}high": high}
        card = entry.card.model_dump(include={"team", "model", "revision"})
        row = {**card, "shown": entry.figure, **{name: round(one, 6) for name, one in found.items()}}
        return row | {"figures": figures, "answers": entry.answers}, other

    def _log(self, submission: Submission, at: datetime, **facts: Any) -> None:
        card = submission.card.model_copy(update={"contact": ""})
        known: dict[str, Any] = {"file": submission.digest, "signature": submission.signature, "answers": ""}
        self.log.add(LoggedSubmission(received=at, card=card, **(known | facts)))


def _teams(entries: Sequence[LoggedSubmission]) -> list[str]:
    return sorted({entry.card.team for entry in entries})


def _about(entry: LoggedSubmission) -> dict[str, Any]:
    card = {"team", "model", "revision", "open", "kind", "parameters", "notes"}
    facts = entry.card.model_dump(mode="json", include=card)
    return facts | {"received": f"{entry.received:%Y-%m-%d}", "figure": entry.figure}


def _final_row(final: FinalFigure, own: Sequence[LoggedSubmission]) -> dict[str, Any]:
    """A team's line when the season is over."""
    entry = next(
        one
        for one in own
        if (one.card.model, one.card.revision) == (final.model, final.revision)
        and final.answers in {"", one.answers}
    )
    names = {
        "figure",
        "low",
        "high",
        "rank_low",
        "rank_high",
        "gap",
        "gap_low",
        "gap_high",
        "shown",
        "figures",
    }
    return _about(entry) | final.model_dump(mode="json", include=names) | {"submissions": len(own)}


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    figure = row["figure"]
    return (row.get("rank_low", 0), row.get("rank_high", 0), figure is None, -(figure or 0.0), row["team"])


def _outcome(entry: LoggedSubmission) -> str:
    if entry.reply is None:
        return "refused"
    return "held" if entry.figure is None else f"told {entry.figure}"
