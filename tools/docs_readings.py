"""Writes what was read of findings into `docs/checks.md`: by rule, and by set."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mihakk.machinery.settings import ROOT
from mihakk.validators.checks import CHECKS
from mihakk.validators.checks.effect import BY_DEFINITION, Precision, Reading, precision, read_sets, readings

PAGE = ROOT / "docs" / "checks.md"
UNREAD = {
    "CH06": "needs `--embeddings`: found nothing in 300 rows of ArabicMMLU",
    "MD05": "says what the audit was told of the licence",
    "PO07": "found nothing; 50 of 60 in an earlier reading without a sheet",
}
"""What is known of rules without a reading, other than that they found nothing."""
SECTIONS = re.compile(
    r"(?s)(?<=### Facts of shape\n\n).*?(?=\nFor any other)|(?<=### By rule\n\n).*?(?=\n### By set)"
    r"|(?<=### By set\n\n).*?(?=\nRead with)"
)


def page(text: str) -> str:
    """The page with its three tables as code and sheets have them."""
    tables = iter((_definitions(), _rules(), _sets()))
    return SECTIONS.sub(lambda _: next(tables), text)


def _definitions() -> str:
    return _table("| check | the fault |", (f"| {name} | {why} |" for name, why in BY_DEFINITION.items()))


def _rules() -> str:
    read = {one.rule for one in readings()}
    return _table(
        "| check | right on sets nobody tuned to | on all sets read |",
        (
            f"| {rule} | {_figures(rule) if rule in read else _unread(rule)} |"
            for rule in sorted(CHECKS.names())
        ),
    )


def _figures(rule: str) -> str:
    return f"{precision(rule)} | {precision(rule, tuned=True)}"


def _unread(rule: str) -> str:
    return f"not read | {UNREAD.get(rule, 'found nothing')}"


def _sets() -> str:
    rows = []
    for name, one in read_sets().items():
        mine = [reading for reading in readings() if reading.set == name]
        told = " | ".join(str(_right(mine, effect)) for effect in ("block", "flag"))
        rows.append(
            f"| {one.title} ({one.rows:,} rows) | {one.language} | {'yes' if one.tuned else 'no'} | {told} |"
        )
    return _table("| set | language | tuned to | of what blocks | of what flags |", rows)


def _right(found: Iterable[Reading], effect: str) -> Precision:
    mine = [one.verdict == "right" for one in found if one.effect == effect]
    return Precision(sum(mine), len(mine))


def _table(head: str, rows: Iterable[str]) -> str:
    return "\n".join((head, "|---" * (head.count("|") - 1) + "|", *rows, ""))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
