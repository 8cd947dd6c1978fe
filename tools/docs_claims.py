"""Puts the sentences of `docs/claims.yaml` where they stand, and lists them in `docs/claims.md`."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from mihakk.machinery.configs import load_config
from mihakk.machinery.settings import ROOT
from mihakk.schemas.record import Record

LEDGER = ROOT / "docs" / "claims.yaml"
PAGE = ROOT / "docs" / "claims.md"
MARKED = re.compile(r'<span id="claim-([\w-]+)">(.*?)</span>', re.DOTALL)
"""A span and no comment: a line that begins with a comment is no Markdown any more."""

HEAD = """# Claims and their tests

Mihakk's claims about trust, safety and repeatability. Each has an id, stands on the pages named, and has a
test that tries to refute it; a figure is compared with what that test measures. No claim is made without a
test. Made by `python -m tools.docs_claims` from `docs/claims.yaml`; a test compares.
"""


class Figure(Record):
    """What a test of a claim measures."""

    what: str
    value: float
    tolerance: float = Field(default=0.0, ge=0)
    """How far a measurement may be from the value, either way."""


class Claim(Record):
    """One sentence of ours about ourselves."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    claim: str
    """The sentence, or the part of one, as pages have it."""
    stands_in: tuple[str, ...] = Field(min_length=1)
    """Pages, from the repository's root."""
    tests: tuple[str, ...] = Field(min_length=1)
    """`file::function`, or a file whose tests are all about it."""
    figure: Figure | None = None


class Ledger(Record):
    """All claims."""

    claims: tuple[Claim, ...]


def claims() -> dict[str, Claim]:
    """The claims by id, in the ledger's order."""
    return {one.id: one for one in load_config(LEDGER, Ledger).claims}


def words(text: str) -> str:
    """A text on one line: where it wraps says nothing."""
    return " ".join(text.split())


def with_claims(text: str, known: dict[str, Claim]) -> str:
    """A page with each marked sentence as the ledger has it; one that only wraps otherwise stays."""

    def sentence(found: re.Match[str]) -> str:
        claim = known.get(found[1])
        if claim is None or words(found[2]) == words(claim.claim):
            return found[0]
        return f'<span id="claim-{found[1]}">{words(claim.claim)}</span>'

    return MARKED.sub(sentence, text)


def page() -> str:
    """The list of all claims."""
    lines = [HEAD, "| claim | stands in | tests | figure |", "|---|---|---|---|"]
    for one in claims().values():
        where = ", ".join(f"`{place}`" for place in one.stands_in)
        tests = "<br>".join(f"`{test}`" for test in one.tests)
        lines.append(f"| {_cell(one.claim)} | {where} | {tests} | {_figure(one.figure)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    bare = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", words(text))
    return bare.replace("|", "\\|")


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return ""
    around = f" ± {figure.tolerance:g}" if figure.tolerance else ""
    return f"{figure.what}: {figure.value:g}{around}"


def pages() -> list[Path]:
    """Pages that may make claims."""
    return [ROOT / "README.md", *(one for one in sorted((ROOT / "docs").rglob("*.md")) if one != PAGE)]


if __name__ == "__main__":
    found = claims()
    for path in pages():
        before = path.read_text(encoding="utf-8")
        after = with_claims(before, found)
        if after != before:
            path.write_text(after, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
