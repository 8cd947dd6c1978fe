"""Who is queued beside the flagged items: a random sample for the miss rate, and attention checks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from annotation.corrections import AnyItem
from mihakk.ids import content_hash, item_id
from mihakk.seeds import rng
from schemas.audit import Audit, Criterion, Verdict
from schemas.item import AnswerItem, ChoiceItem
from schemas.record import Record

Why = Literal["flagged", "sample", "attention"]


class Queued(Record):
    """Why an item was put before people; kept at home, for the server must not know."""

    item: str
    content_hash: str
    why: Why
    stratum: str
    """`<language>/<task>`."""
    base: str = ""
    """For an attention check the sound item it was made from."""
    scores: dict[str, dict[Criterion, int]] = Field(default_factory=dict)
    """Auditor to what it said of this very content; a corrected item is audited anew."""


@dataclass(frozen=True)
class Entry:
    """One item for the queue and why it is there."""

    item: AnyItem
    why: Why
    base: str = ""

    def queued(self, audits: Iterable[Audit] = ()) -> Queued:
        """What the store keeps of it."""
        said = {audit.auditor: audit.scores for audit in audits if audit.scores}
        return Queued(
            item=self.item.id,
            content_hash=content_hash(self.item),
            why=self.why,
            stratum=stratum(self.item),
            base=self.base,
            scores={} if self.why == "attention" else {name: said[name] for name in sorted(said)},
        )


def choose(
    items: Sequence[AnyItem],
    verdicts: Iterable[Verdict],
    *,
    seed: int,
    sample: int = 0,
    attention_every: int = 20,
) -> list[Entry]:
    """All flagged items, `sample` unflagged ones by stratum, and one attention check per so many of both.

    An item's place in the draw depends on the seed and its own id alone, so a few items more or less change
    few draws.

    Args:
        items: Items of the benchmark.
        verdicts: One per item.
        seed: The build seed.
        sample: Unflagged items that people see too; all of them if there are fewer.
        attention_every: One attention check per so many other entries; 0 for none.
    """
    status = {verdict.item: verdict.status for verdict in verdicts}
    flagged = [Entry(item, "flagged") for item in items if status.get(item.id) == "flag"]
    passed = [item for item in items if status.get(item.id) == "pass"]
    strata: dict[str, list[AnyItem]] = defaultdict(list)
    for item in sorted(passed, key=lambda item: rng(seed, item.id, "miss_rate").random()):
        strata[stratum(item)].append(item)
    shares = allocate({name: len(group) for name, group in strata.items()}, sample)
    drawn = [Entry(item, "sample") for name in sorted(strata) for item in strata[name][: shares[name]]]
    wanted = math.ceil((len(flagged) + len(drawn)) / attention_every) if attention_every else 0
    bases = sorted(passed, key=lambda item: rng(seed, item.id, "attention").random())
    checks = [Entry(broken(item), "attention", item.id) for item in bases[:wanted]]
    return [*flagged, *drawn, *checks]


def allocate(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Shares of a sample by stratum: one each where the total allows it, the rest in proportion to size."""
    shares = dict.fromkeys(sorted(sizes), 0)
    total = min(total, sum(sizes.values()))
    for name in sorted(sizes, key=lambda name: (-sizes[name], name))[:total]:
        shares[name] = min(1, sizes[name])
    everything = sum(sizes.values())
    for _ in range(total - sum(shares.values())):
        open_strata = [name for name in shares if shares[name] < sizes[name]]
        behind = max(open_strata, key=lambda name: (total * sizes[name] / everything - shares[name], name))
        shares[behind] += 1
    return shares


def broken(item: AnyItem) -> AnyItem:
    """The item with a defect that nobody who reads it can miss: equal options, or garbled letters."""
    garbled = {"id": item_id(item.task, item.language, [item.id, "attention"])}
    if isinstance(item, ChoiceItem):
        return item.model_copy(update={**garbled, "options": (item.options[0],) * len(item.options)})
    if isinstance(item, AnswerItem):
        return item.model_copy(update={**garbled, "answer": mojibake(item.answer), "accepted": ()})
    return item.model_copy(update={**garbled, "explanations": tuple(map(mojibake, item.explanations))})


def mojibake(text: str) -> str:
    """UTF-8 read as Latin-1, as broken tools do."""
    return "".join(char if char.isprintable() else "?" for char in text.encode().decode("latin-1"))


def stratum(item: AnyItem) -> str:
    """Stratum of the sample: language and task."""
    return f"{item.language}/{item.task}"
