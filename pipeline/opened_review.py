"""A review of a benchmark or an audited set: its items, and what people decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mihakk.annotation.decisions.first_votes import withdrawn
from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.store import decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.evidence import auditor_sentences, finding_sentence, isolated, sentences
from mihakk.annotation.statistics.auditor_accuracy import AuditorAccuracy, auditor_accuracy
from mihakk.annotation.statistics.human_accuracy import answered_items, wrong_answers
from mihakk.annotation.statistics.review_report import ReviewReport, review_report
from mihakk.annotation.statistics.sampling import Queued, stratum, unflagged, wanted_changed
from mihakk.annotation.statistics.vote_rows import scored_contents, vote_rows
from mihakk.machinery.lake import Lake
from mihakk.pipeline.build import Build, open_build
from mihakk.pipeline.external_people import is_audited_set, open_set, queue_rows, set_stores, sets_in
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.rows import ROWS
from mihakk.pipeline.suspects import evidence
from mihakk.releases.content.packed import PackedItems
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item
from mihakk.schemas.record import Language
from mihakk.schemas.review import ReviewedContent, Vote
from mihakk.schemas.stages import AUDITED
from mihakk.schemas.suspect import Suspect

if TYPE_CHECKING:
    # Not before a server is spoken to: an audit by rules has none of its packages.
    from mihakk.annotation.label_studio.connection import Connection
    from mihakk.annotation.label_studio.exchange import ReviewPulled
    from mihakk.annotation.label_studio.offline import Offline
    from mihakk.annotation.label_studio.push import Pushed

T = TypeVar("T")


@dataclass(frozen=True)
class OpenReview:
    """The review of a benchmark, or of an externally audited set: what people decided, and how it counts."""

    name: str
    """Of its projects on the labelling server."""
    label: str
    """What the person who asked calls it: the name of a benchmark, the folder of a set."""
    stores: Stores
    config: ReviewConfig
    seed: int
    locked: Callable[..., AbstractContextManager[object]]
    """Keeps builds and pulls off the decisions while something is added; takes the seconds to wait."""
    rows: Callable[[str], Iterable[Any]]
    """Rows of `items`, `verdicts`, `findings` or `audits`. Raises UsageError before the first audit."""
    build: Build | None = None
    """None for a set."""

    @cached_property
    def items(self) -> Sequence[Item]:
        """The items as they stand."""
        return PackedItems(self.rows("items"))

    @property
    def verdicts(self) -> Iterable[Verdict]:
        """What becomes of them; copies in a set that were merged have none."""
        return self.rows("verdicts")

    @cached_property
    def asked(self) -> list[Item]:
        """Those that people were asked about or judged: all that reports speak of, and few of many."""
        known = {row.item for row in decisions(self.stores)}
        known |= {row.item for row in stored(self.stores.queued, Queued)}
        known |= {row.subject.partition("#")[0] for row in labels(self.stores)}
        return [item for item in self.rows("items") if item.id in known] if known else []

    def having(self, *statuses: str) -> list[Item]:
        """Items with a verdict of these statuses."""
        wanted = {verdict.item for verdict in self.verdicts if verdict.status in statuses}
        return [item for item in self.items if item.id in wanted]

    def evidence(self, items: Collection[str], screen: Language | None) -> dict[str, list[str]]:
        """What checks, auditors and answers of systems and people say of some items; no annotator sees it.

        A sentence each, in the language named or in each item's own.
        """
        screens = {item: language for item, language in self.screens(screen).items() if item in items}
        if not screens:
            return {}
        lines = evidence_lines(screens, self.rows("findings"), self.rows("audits"))
        for item, told in evidence(self.stores, self.items).items():
            if item in screens:
                said = f"{sentences(screens[item])['suspect']}: {isolated(told)}"
                lines.setdefault(item, []).append(said)
        own = own_answers(labels(self.stores), decisions(self.stores))
        asked = answered_items((row for row in self.items if row.id in screens), own)
        for item, wrong in wrong_answers(asked, screen).items():
            lines.setdefault(item, []).extend(wrong)
        return lines

    def screens(self, language: Language | None) -> dict[str, Language]:
        """The language that each item is shown in: the one named, or its own; none before the first audit."""
        if self.build is not None and not self.build.stage(AUDITED).finished():
            return {}
        return {row.id: language or row.language for row in self.items}

    def auditor_accuracy(self, found: Iterable[Suspect]) -> list[AuditorAccuracy]:
        """How often auditors were right, by people's decisions and what systems' answers say of each item."""
        queued = stored(self.stores.queued, Queued)
        kept = stored(self.stores.suspects, Suspect)
        return auditor_accuracy(
            self.items,
            self.verdicts,
            scored_contents(self.rows("audits"), queued, self.items),
            queued,
            decisions(self.stores),
            odds={content: one.odds for one in (*kept, *found) for content in one.contents},
            suspects={content for one in kept for content in one.contents},
            overlap=self.config.overlap,
            adjudicators=self.config.adjudicators,
        )

    def report(self) -> ReviewReport:
        """Agreement, overturned auditors, misses and annotators over everything decided so far."""
        return review_report(
            self.stores,
            self.asked,
            self._audits_of_asked,
            seed=self.seed,
            sizes=self._unflagged_sizes,
            overlap=self.config.overlap,
            adjudicators=self.config.adjudicators,
            campaigns=self.config.campaigns,
        )

    def published_votes(self) -> tuple[tuple[ReviewedContent, ...], tuple[Vote, ...]]:
        """What people judged and how they voted, as a release publishes it: without who and when."""
        queued = stored(self.stores.queued, Queued)
        return vote_rows(
            decisions(self.stores),
            queued,
            scored_contents(self._audits_of_asked, queued, self.asked),
            sizes=self._unflagged_sizes,
            overlap=self.config.overlap,
            adjudicators=self.config.adjudicators,
            now={item.id for item in self.asked},
            withdrawn=withdrawn(self.stores),
        )

    def push_queue(self, connection: Connection) -> dict[str, Pushed]:
        """Brings the items that wait for people onto the server; what changed there, by language.

        One push at a time: two that find no project would make two, and draw two samples.
        """
        from mihakk.annotation.label_studio.benchmark_push import push_review

        with self.locked():
            return self._with_queue(push_review, connection, self.name)

    def offline(self, person: str) -> Offline:
        """The review of one person without a server, as a push would bring its queue."""
        from mihakk.annotation.label_studio.benchmark_push import queue_tasks
        from mihakk.annotation.label_studio.offline import Offline

        tasks, entries = self._with_queue(queue_tasks)
        return Offline(tasks, (entry.item for entry in entries), self.stores, self.config, person)

    def _with_queue(self, use: Callable[..., T], *first: Any) -> T:
        """What `use` makes of all that the queue of this review is chosen from, after its first arguments."""
        return use(
            *first,
            self.items,
            self.verdicts,
            self.rows("findings"),
            audits=self.rows("audits"),
            stores=self.stores,
            seed=self.seed,
            config=self.config,
            suspects=evidence(self.stores, self.items),
        )

    def pull(self, connection: Connection, wait: float = 0) -> ReviewPulled:
        """Fetches what people decided; the next build, or audit into the folder, applies that.

        It waits up to this many seconds for a running build, whose steps have to see the same decisions.
        """
        from mihakk.annotation.label_studio.exchange import pull_review

        with self.locked(wait):
            return pull_review(connection, self.name, stores=self.stores, config=self.config)

    @cached_property
    def _audits_of_asked(self) -> list[Audit]:
        known = {item.id for item in self.asked}
        return [audit for audit in self.rows("audits") if audit.item in known] if known else []

    @cached_property
    def _unflagged_sizes(self) -> Counter[str]:
        """Items per stratum that neither rules, auditors nor people's corrections touched.

        None before people were asked: all of a large set would be read, to weigh what nobody looked at.
        """
        if not self.asked:
            return Counter()
        corrected = wanted_changed(decisions(self.stores))
        return Counter(map(stratum, unflagged(self.rows("items"), self.rows("verdicts"), corrected)))


def review_of(build: Build) -> OpenReview:
    """The review of a benchmark."""

    def rows(table: str) -> Iterable[Any]:
        return build.stage(AUDITED).read_all(table, ROWS[table])

    name, config, locked = build.config.name, build.config, build.lake.locked
    return OpenReview(name, name, review_stores(build), config.review, config.seed, locked, rows, build)


def open_review(config: Path, lake: str | None = None) -> OpenReview:
    """The review of a benchmark's config, or of the folder of an external audit."""
    if not is_audited_set(config):
        return review_of(open_build(config, lake=lake))
    known = open_set(config)

    def rows(table: str) -> Iterable[Any]:
        return queue_rows(config, table)

    locked = Lake(str(config), "people").locked
    return OpenReview(known.name, str(config), set_stores(config), known.review, 0, locked, rows)


def open_reviews(config: Path, lake: str | None = None) -> list[OpenReview]:
    """The same; of a folder with the results of a suite, the review of each of its sets."""
    return [open_review(one, lake) for one in sets_in(config) or [config]]


def evidence_lines(
    screens: Mapping[str, Language], findings: Iterable[Finding], audits: Iterable[Audit]
) -> dict[str, list[str]]:
    """What findings and audits say, a sentence each in the language named, by the item they speak of."""
    lines: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.subject in screens:
            lines[finding.subject].append(finding_sentence(finding, screens[finding.subject]))
    for audit in audits:
        if audit.item in screens:
            lines[audit.item] += auditor_sentences(audit, screens[audit.item])
    return {item: told for item, told in lines.items() if told}
