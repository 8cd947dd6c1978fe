"""Everything people's work says about a benchmark, as one record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from mihakk.annotation.campaigns.figures import CampaignProgress, figures, needed_votes, progress
from mihakk.annotation.decisions.first_votes import last_answers, withdrawn
from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.resolution import resolve, votes_needed
from mihakk.annotation.decisions.store import decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import OWN_ANSWER, TEMPLATE, answerable, question_hash
from mihakk.annotation.statistics.agreement import (
    PeopleAgreement,
    agreement,
    label_judgements,
    review_judgements,
)
from mihakk.annotation.statistics.auditor_errors import Annotator, Overturn, annotators, overturns
from mihakk.annotation.statistics.human_accuracy import answered_items, human_accuracy, wrong_answers
from mihakk.annotation.statistics.miss_rate import MissRate, miss_rates
from mihakk.annotation.statistics.sampling import Queued
from mihakk.annotation.statistics.vote_rows import judged as judged_items
from mihakk.annotation.statistics.vote_rows import scored_contents
from mihakk.annotation.teaching.state import calibration_state, withheld
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import Audit
from mihakk.schemas.calibration import Standing
from mihakk.schemas.campaign import Campaign, CampaignFigure, Drawn
from mihakk.schemas.item import Item
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import HumanAccuracy, Review


class ReviewReport(Record):
    """The state of a benchmark's review."""

    outcomes: dict[str, int]
    """Items per outcome of the decisions on the content people saw last."""
    stale: int
    """Of those, not fixed ones whose content has changed since: their decisions no longer bind."""
    settled_by: dict[str, int]
    discards: dict[str, int]
    """Discarded items per reason."""
    agreement: tuple[PeopleAgreement, ...]
    overturns: tuple[Overturn, ...]
    miss_rates: tuple[MissRate, ...]
    annotators: tuple[Annotator, ...]
    rejected: dict[str, int]
    """Annotations that could not be used, per reason."""
    campaigns: tuple[CampaignProgress, ...] = ()
    campaign_figures: tuple[CampaignFigure, ...] = ()
    calibration: tuple[Standing, ...] = ()
    """Where each person stands with each round of calibration."""
    human_accuracy: tuple[HumanAccuracy, ...] = ()
    """Of own answers given before the reference was shown (`review.hide_gold`)."""
    doubted: dict[str, list[str]] = Field(default_factory=dict)
    """By item, who answered its question otherwise than the reference, in English."""
    withheld: dict[str, int] = Field(default_factory=dict)
    """By person, answers that are kept and don't count: made before passing."""


def review_report(
    stores: Stores,
    items: Sequence[Item],
    audits: Iterable[Audit],
    *,
    seed: int,
    sizes: Mapping[str, int] | None = None,
    overlap: int = 2,
    adjudicators: Collection[str] = (),
    campaigns: Sequence[Campaign] = (),
) -> ReviewReport:
    """The report over everything in the stores; `sizes`, unflagged items per stratum, weigh the miss rate."""
    reviews = decisions(stores)
    queued = stored(stores.queued, Queued)
    real = judged_items(reviews, queued)
    now = {item.id: content_hash(item) for item in items}
    judged_content = {review.item: review.content_hash for review in real}
    resolutions = resolve(real, judged_content, overlap, adjudicators=adjudicators)
    scores = scored_contents(audits, queued, items)
    drawn, ratings = stored(stores.campaigns, Drawn), labels(stores)
    work = Work(stores, items, queued, real, drawn, ratings, campaigns, overlap, adjudicators)
    back = withdrawn(stores)
    own = own_answers(ratings, reviews)
    needs = {row.item: votes_needed([row], overlap) for row in real}
    return ReviewReport(
        outcomes=_tally(row.outcome for row in resolutions),
        stale=sum(
            row.outcome != "fix" and now.get(row.item, judged_content[row.item]) != judged_content[row.item]
            for row in resolutions
        ),
        settled_by=_tally(row.by for row in resolutions if row.by),
        discards=_tally(row.reason or "other" for row in resolutions if row.outcome == "discard"),
        agreement=tuple(work.agreements(seed)),
        overturns=tuple(overturns(real, scores, overlap)),
        miss_rates=tuple(miss_rates(queued, real, overlap, adjudicators, sizes=sizes, now=now)),
        annotators=tuple(annotators(reviews, queued)),
        rejected=_tally(row.reason for row in stored(stores.rejected, Rejection)),
        campaigns=tuple(progress(drawn, ratings, campaigns, overlap, adjudicators)),
        campaign_figures=tuple(figures(drawn, ratings, campaigns, overlap, adjudicators, withdrawn=back)),
        calibration=tuple(calibration_state(stores)),
        human_accuracy=tuple(human_accuracy(items, own, queued, lambda item: needs.get(item, overlap))),
        doubted=wrong_answers(answered_items(items, own), "en"),
        withheld=dict(sorted(withheld(stores).items())),
    )


def _tally(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


Units = dict[str, tuple[str, str]]
"""Unit of agreement to its language and task."""


@dataclass(frozen=True)
class Work:
    """What people were asked and answered."""

    stores: Stores
    items: Sequence[Item]
    queued: Sequence[Queued]
    reviews: Sequence[Review]
    """Those that count, on items of the benchmark."""
    drawn: Sequence[Drawn]
    labels: Sequence[Label]
    campaigns: Sequence[Campaign] = ()
    overlap: int = 2
    adjudicators: Collection[str] = ()

    def agreements(self, seed: int) -> Iterator[PeopleAgreement]:
        """Agreement over first answers, its interval whatever the missing ones are, and over last ones."""
        back = withdrawn(self.stores)
        languages: dict[str, str] = {item.id: item.language for item in self.items}
        tasks = {item.id: item.task for item in self.items}
        votes = review_judgements(self.reviews, languages, self.overlap, self.adjudicators, back)
        last = last_answers(self.reviews, self.adjudicators)
        after = review_judgements(last, languages, None)
        asked, decided = self._asked(), Counter[str]()
        for label, judged in votes.items():
            of = asked[TEMPLATE] if self.overlap > 1 else None
            for told in agreement(TEMPLATE, label, judged, asked=of, after=after[label], seed=seed):
                decided[told.group] += told.items if label == "decision" else 0
                share = told.items / decided[told.group] if decided[told.group] else None
                yield told if label == "decision" else told.model_copy(update={"judged": share})
        for row in self.drawn:
            name = row.subject.partition("#")[0]
            languages[name], tasks[name] = row.strata.get("language", ""), row.strata.get("task", "")
        for template, given in sorted(grouped(self.labels, lambda one: one.template).items()):
            people = max(
                map(self._needed, (row for row in self.drawn if row.template == template)),
                default=self.overlap,
            )
            answers = label_judgements(
                given, languages, tasks, people, adjudicators=self.adjudicators, withdrawn=back
            )
            later = label_judgements(last_answers(given, self.adjudicators), languages, tasks, None)
            for (_, label), judged in sorted(answers.items()):
                of = asked.get(template, {}) if people > 1 else None
                yield from agreement(
                    template, label, judged, asked=of, after=later[template, label], seed=seed
                )

    def _asked(self) -> Mapping[str, Units]:
        """By template, every unit that two people at least are to judge."""
        items = {item.id: item for item in self.items}
        found: dict[str, Units] = {TEMPLATE: {}, OWN_ANSWER: {}}
        for row in self.queued:
            item = items.get(row.item)
            if item is None or row.why == "attention":
                continue
            if row.content_hash == content_hash(item):
                found[TEMPLATE][f"{item.id}@{row.content_hash}"] = (item.language, "")
            if answerable(item):
                unit = f"{item.id}@{question_hash(item)}"
                found[OWN_ANSWER][unit] = (item.language, item.task)
        for one in self.drawn:
            if self._needed(one) > 1:
                place = (one.strata.get("language", ""), one.strata.get("task", ""))
                found.setdefault(one.template, {})[f"{one.subject}@{one.content_hash}"] = place
        return found

    def _needed(self, row: Drawn) -> int:
        return needed_votes(self.campaigns, self.overlap)(row)
