"""What a blind release tells beside its items: nothing that rests on a sealed one.

A figure over sealed items, printed in two versions, tells of a question that left between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mihakk.releases.auditor_agreement import auditor_agreement
from mihakk.releases.content.blind import Papers, public_votes
from mihakk.releases.content.secret import is_item_id, public_id
from mihakk.releases.content.split import work
from mihakk.releases.gates import Gate, gates
from mihakk.releases.release_facts import AuditorFact, ReleaseFacts
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import Item
from mihakk.schemas.rejection import Cluster
from mihakk.schemas.stages import STAGES

OF_THE_BUILD: Final = (
    *("code_version", "date", "sources"),
    *("sign_off", "overrides", "withdrawn", "card"),
)
"""Facts that speak of sources and records; any other is not told as it stands."""
OF_OPEN_ITEMS: Final = ("licences", "full_audit", "auditor_agreement")
"""Gates that are told with figures of the open items."""
UNTOLD: Final = ("agreement", "miss_rate", "baselines", "losses", "unresolved", "splits")
"""Gates that are told without figures: those of the open items alone would say something else, and the share
of all items that falls to test tells how many were made."""
OF_RECORDS: Final = STAGES[:3]
"""Stages that read texts and no golds. How many items are made or flagged tells of a copy of a sealed text
whether its label is the sealed one."""


def beside_seals(
    papers: Papers, facts: ReleaseFacts, released: frozenset[str]
) -> tuple[Papers, ReleaseFacts]:
    """What an open release of a hub may say where another benchmark keeps texts sealed.

    Of items that are not released it says only why: they may ask what is sealed, with the gold, and a content
    hash, the key of an auditor's prompt or its scores could be tried with each option.

    Args:
        released: Ids of its items.
    """

    def of_released(rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(one for one in rows if one.item in released)

    said = Papers(
        verdicts=of_released(papers.verdicts),
        audits=of_released(papers.audits),
        findings=tuple(
            one for one in papers.findings if one.subject in released or not is_item_id(one.subject)
        ),
        resolutions=of_released(papers.resolutions),
        removed=papers.removed,
    )
    judged = {"reviewed": of_released(facts.reviewed), "votes": of_released(facts.votes)}
    return said, facts.model_copy(update=judged)


def told_facts(facts: ReleaseFacts, items: Sequence[Item], papers: Papers, key: bytes) -> ReleaseFacts:
    """The facts of the build, and what auditors and people said of the open items.

    Args:
        items: The open items, as the pipeline calls them.
        papers: What may be said of them, under public ids.
    """
    told: dict[str, Any] = {name: getattr(facts, name) for name in OF_THE_BUILD}
    opened = frozenset(public_id(key, item.id) for item in items)
    told["funnel"] = tuple(one for one in facts.funnel if one.stage in OF_RECORDS)
    told["losses"] = tuple(one for one in facts.losses if one.kind == "source")
    told["unresolved"] = None
    told["clusters"] = tuple(one for one in facts.clusters if _is_open(one, facts.sides))
    told |= public_votes(facts.reviewed, facts.votes, key, opened)
    return ReleaseFacts(
        **told,
        auditors=tuple(_auditors(facts.auditors, items, papers, key)),
        auditor_agreement=auditor_agreement(papers.audits),
    )


def _is_open(cluster: Cluster, sides: Mapping[str, str]) -> bool:
    """Whether no work of it is sealed; what was merged away has the side of what was kept."""
    kept = sides.get(work(cluster.kept))
    return kept == "dev" and all(sides.get(work(name), kept) == "dev" for name in cluster.merged)


def _auditors(
    auditors: Iterable[AuditorFact], items: Iterable[Item], papers: Papers, key: bytes
) -> Iterator[AuditorFact]:
    """The auditors with what they replied about the open items."""
    wrote = {public_id(key, one.id): one.origin.model_family.casefold() for one in items}
    replies = Counter(one.auditor for one in papers.audits)
    invalid = Counter(one.auditor for one in papers.audits if one.status == "invalid")
    written = Counter((one.auditor, wrote[one.item]) for one in papers.audits if wrote[one.item])
    for one in auditors:
        own = written[one.name, one.family.casefold()]
        told = {"replies": replies[one.name], "invalid": invalid[one.name], "own_family": own}
        yield one.model_copy(update=told)


def told_gates(
    decided: Iterable[Gate],
    items: Sequence[Item],
    papers: Papers,
    config: BenchmarkConfig,
    told: ReleaseFacts,
) -> tuple[Gate, ...]:
    """The gates as they were decided over all items, in words that rest on the open ones.

    Args:
        items: The open items, under public ids.
        told: As `told_facts` gives them.
    """
    found = {one.name: one.found for one in gates(items, papers.verdicts, config, told)}
    found |= {name: f"Of the open items: {found[name]}" for name in OF_OPEN_ITEMS}
    found |= dict.fromkeys(UNTOLD, "Decided over all items; a blind release doesn't tell the figures.")
    return tuple(one.model_copy(update={"found": found[one.name]}) for one in decided)
