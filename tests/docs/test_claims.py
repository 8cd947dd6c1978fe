"""What Mihakk says of itself is in the ledger, stands where the ledger says, and has a test that can refute it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from mihakk.machinery.settings import ROOT
from tools.docs_claims import MARKED, PAGE, Claim, claims, page, pages, words

CLAIMS = list(claims().values())


@cache
def functions(path: Path) -> dict[str, str]:
    """Tests of a file with the lines of each."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    return {
        node.name: "".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda one: one.id)
def test_a_claim_stands_where_it_says_and_has_its_tests(claim: Claim) -> None:
    for place in claim.stands_in:
        found = [
            words(one[2]) for one in MARKED.finditer((ROOT / place).read_text("utf-8")) if one[1] == claim.id
        ]
        assert found == [words(claim.claim)], f"{place}: run `python -m tools.docs_claims`"
    sources = []
    for test in claim.tests:
        file, _, name = test.partition("::")
        known = functions(ROOT / file)
        assert name in known or (not name and known), f"there is no test {test}"
        sources.append(known.get(name, ""))
    if claim.figure is not None:
        wanted = f'measured("{claim.id}"'
        assert any(wanted in one for one in sources), f"no test of {claim.id} measures its figure"


def test_no_page_marks_a_claim_that_the_ledger_does_not_have() -> None:
    known = claims()
    for path in pages():
        for found in MARKED.finditer(path.read_text("utf-8")):
            assert found[1] in known, f"{path}: no claim {found[1]}"
            assert path.relative_to(ROOT).as_posix() in known[found[1]].stands_in


def test_the_list_of_claims_is_up_to_date() -> None:
    assert len(CLAIMS) == len({one.id for one in CLAIMS}) >= 15
    assert PAGE.read_text("utf-8") == page(), "run `python -m tools.docs_claims`"
