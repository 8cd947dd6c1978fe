"""One check explained: what it finds, what that does, how often it was right, an example."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rich.console import Group
from rich.text import Text

from mihakk.machinery.settings import CHECK_SAMPLES
from mihakk.schemas.finding import Severity
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import CHECKS
from mihakk.validators.checks.effect import BY_DEFINITION, effect, precision
from mihakk.validators.checks.texts import option_name

EFFECTS: dict[Severity, str] = {
    "block": "the item is not released and costs no model call",
    "flag": "the item goes to people",
    "report": "the finding is counted",
}
SHOWN = (
    "poet",
    "context",
    "question",
    "phrase",
    "explanation",
    "verses",
    "explanations",
    "answer",
    "couplets",
)
"""Fields of a sample that are shown, beside options and gold, in this order."""
MOST_SHOWN = 200
"""Characters of a field."""


@dataclass(frozen=True)
class Explained:
    """A check as a reader needs it."""

    id: str
    title: str
    """What holds where nothing is wrong."""
    looks: str
    """What it compares, and what it leaves."""
    severity: Severity
    blocks_in: tuple[Language, ...]
    """Languages in which its findings block, by what people read of them."""
    by_definition: str
    """The fact of shape that it states; empty for other rules."""
    right: int
    """Findings that were right, of those that people read on sets nobody tuned to."""
    read: int
    interval: tuple[float, float]
    """95 % of that share."""
    package: str
    """Package and version that bring it; empty for our own."""
    why: str
    """What is wrong with the example; empty without one."""
    example: dict[str, Any]
    """Fields of an item or record that the check objects to."""


def explain(identifier: str) -> Explained:
    """What is known of a check.

    Raises:
        UsageError: There is no such check; the message names the nearest.
    """
    check = CHECKS.get(identifier)
    rates = precision(identifier)
    why, example = _example(identifier)
    return Explained(
        id=check.id,
        title=check.title,
        looks=" ".join((check.function.__doc__ or "").split()),
        severity=check.severity,
        blocks_in=tuple(one for one in check.earned if effect(check, one) == "block"),
        by_definition=BY_DEFINITION.get(identifier, ""),
        right=rates.right,
        read=rates.read,
        interval=rates.interval,
        package=CHECKS.origin(identifier),
        why=why,
        example=example,
    )


def _example(identifier: str) -> tuple[str, dict[str, Any]]:
    """The smallest bad sample of a check: what is wrong, and a subject that is."""
    samples = sorted(
        (CHECK_SAMPLES / identifier).glob("bad_*.json"), key=lambda one: (one.stat().st_size, one.name)
    )
    if not samples:
        return "", {}
    sample = json.loads(samples[0].read_text(encoding="utf-8"))
    hit = next((one for one in sample.get("hit", ()) if one != "*"), 0)
    return sample["why"], sample["subjects"][hit]


def show_explanation(found: Explained) -> Group:
    """The explanation for a terminal."""
    effect_told = f"{found.severity}: {EFFECTS[found.severity]}"
    if found.blocks_in:
        effect_told += f"; block in {', '.join(found.blocks_in)}, as readings found it right there"
    if found.by_definition:
        effect_told += f" (a fact of shape: {found.by_definition})"
    low, high = found.interval
    measured = f"people read {found.read} findings, {found.right} were right, 95 % [{low:.2f}, {high:.2f}]"
    lines = [
        Text(f"{found.id}: {found.title}", style="bold"),
        Text(found.looks),
        Text(f"Effect: {effect_told}."),
        Text(f"Measured: {measured if found.read else 'nobody has read findings of it'}."),
    ]
    if found.package:
        lines.append(Text(f"From the package {found.package}."))
    if found.example:
        lines += [Text(f"Example: {found.why}."), *(Text(f"  {line}") for line in _fields(found.example))]
    lines.append(
        Text(
            f"Leave it out: --off {found.id}, or in a config `checks: {{off: [{found.id}]}}`; "
            f"only count it: `checks: {{severity: {{{found.id}: report}}}}`."
        )
    )
    return Group(*lines)


def _fields(example: dict[str, Any]) -> list[str]:
    """The fields of an example, options by place and letter."""
    lines = [f"{name}: {_cut(example[name])}" for name in SHOWN if example.get(name)]
    lines += [f"option {option_name(n)}: {_cut(one)}" for n, one in enumerate(example.get("options", ()))]
    if "gold" in example:
        lines.append(f"gold: {', '.join(map(option_name, example['gold'])) or 'none'}")
    return lines


def _cut(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
