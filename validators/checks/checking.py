"""Runs the checks over shards; what they object to becomes rows of the findings table."""

from collections.abc import Iterable, Sequence

from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import BaseItem, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Active, Check, Checked, Objection, active
from mihakk.validators.checks.effect import effect
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts


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
    return _findings(
        None, [(one, found) for one in running.whole for found in one.run(None, None, index)], running
    )


def _about(subject: Checked, running: Active, index: SetIndex | None) -> list[Finding]:
    plan = running.plans[type(subject)]
    texts = Texts.of(subject)
    called = plan.always + plan.triggers.by(texts.written) + (() if index is None else plan.compared)
    whole, each = (texts,), tuple(texts.by_language())
    found = [
        (one, found)
        for one in called
        for mine in (each if one.apart else whole)
        for found in one.run(subject, mine, index)
    ]
    return _findings(subject, found, running)


def _findings(
    subject: Checked | None, found: list[tuple[Check, Objection]], running: Active
) -> list[Finding]:
    """Objections as rows of the findings table, in order of the checks' ids; without a subject of the set."""
    return [
        Finding(
            check=one.id,
            severity=running.severity.get(one.id)
            or effect(one, _language(subject, objection.where), note=objection.note),
            subject="*" if subject is None else subject.id,
            detail=objection.detail,
            where=objection.where,
        )
        for one, objection in sorted(found, key=lambda pair: pair[0].id)
    ]


def _language(subject: Checked | None, where: str) -> Language | None:
    if isinstance(subject, BaseItem):
        return subject.language_of(where)
    return None if subject is None else subject.language
