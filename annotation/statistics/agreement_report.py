"""Agreement of people on everything that two or more were asked about, reviews and small questions alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.campaigns.figures import needed_votes
from annotation.decisions.first_votes import last_answers, withdrawn
from annotation.decisions.stores import Stores
from annotation.screens.ratings import Label
from annotation.screens.tasks import OWN_ANSWER, TEMPLATE, answerable, question_hash
from annotation.statistics.agreement import (
    PeopleAgreement,
    agreement,
    label_judgements,
    review_judgements,
)
from annotation.statistics.sampling import Queued
from mihakk.groups import grouped
from mihakk.ids import content_hash
from schemas.campaign import Campaign, Drawn
from schemas.item import Item
from schemas.review import Review

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
        back = withdrawn(self.stores.decisions, Review, self.stores.voided)
        languages: dict[str, str] = {item.id: item.language for item in self.items}
        tasks = {item.id: item.task for item in self.items}
        votes = review_judgements(self.reviews, languages, self.overlap, self.adjudicators, back)
        last = last_answers(self.reviews, self.adjudicators)
        after = review_judgements(last, languages, None)
        asked = self._asked()
        for label, judged in votes.items():
            of = asked[TEMPLATE] if self.overlap > 1 else None
            yield from agreement(TEMPLATE, label, judged, asked=of, after=after[label], seed=seed)
        for row in self.drawn:
            name = row.subject.partition("#")[0]
            languages[name], tasks[name] = row.strata.get("language", ""), row.strata.get("task", "")
        back = withdrawn(self.stores.labels, Label, self.stores.voided)
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
