"""Runs the checks over shards; what they object to becomes rows of the findings table."""

from collections.abc import Iterable, Sequence

from schemas.benchmark import ChecksConfig
from schemas.finding import Finding
from schemas.idiom import Idiom
from schemas.item import Item
from schemas.poem import Poem
from validators.checks.check import Active, Checked, active
from validators.checks.setindex import SetIndex
from validators.checks.texts import Texts


def check_items(items: Sequence[Item], config: ChecksConfig, index: SetIndex | None) -> list[Finding]:
    """Findings about the items of one shard, in order of the items and of the checks' ids.

    Without an index of the set, checks that compare items with each other are left out.

    Raises:
        UsageError: The config names a check that does not exist.
    """
    running = active(config)
    return [finding for item in items for finding in _about(item, running, index)]


def check_records(records: Iterable[Poem | Idiom], config: ChecksConfig) -> list[Finding]:
    """Findings about curated poems and idioms, in order of the records and of the checks' ids."""
    running = active(config)
    return [finding for record in records for finding in _about(record, running, None)]


def check_set(index: SetIndex, config: ChecksConfig) -> list[Finding]:
    """Findings about the set as a whole, all with the subject `*`."""
    running = active(config)
    return [
        one.finding(running.severity[one.id], "*", objection)
        for one in running.whole
        for objection in one.run(None, None, index)
    ]


def _about(subject: Checked, running: Active, index: SetIndex | None) -> list[Finding]:
    plan = running.plans[type(subject)]
    texts = Texts.of(subject)
    found = [(one, objection) for one in plan.of_subject for objection in one.function(subject)]
    found += [(one, objection) for one in plan.of_texts for objection in one.function(texts)]
    found += [(one, objection) for one in plan.of_both for objection in one.function(subject, texts)]
    if triggered := plan.triggered(frozenset(map(plan.reasons, texts.written))):
        found += [(one, objection) for one in triggered for objection in one.function(texts)]
    if index is not None:
        found += [(one, objection) for one in plan.compared for objection in one.run(subject, texts, index)]
    if not found:
        return []
    found.sort(key=lambda pair: pair[0].id)
    return [one.finding(running.severity[one.id], subject.id, objection) for one, objection in found]
