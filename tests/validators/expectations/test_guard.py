"""Suites accept the tables that stages write and name what breaks a contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mihakk.machinery.lake.columns import to_table
from mihakk.machinery.settings import settings
from mihakk.schemas.audit import CRITERIA, Audit, Issue, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Form
from mihakk.schemas.rejection import Rejection
from mihakk.validators.expectations import (
    CONTRACTS,
    TableViolation,
    data_docs,
    examine,
    keep_contract,
    require,
)
from tests.validators.checks.check_samples import PROVENANCE, subject

pytestmark = pytest.mark.usefixtures("pages_of_suites")


def _poem(**changes: Any) -> Poem:
    made: Poem = subject(**{"kind": "poem", "id": "p", "couplets": [["نور", "نور"]], **changes})
    return made


def _idiom(explanation: Any = "نور") -> Idiom:
    made: Idiom = subject(kind="idiom", id="i", phrase="نور", explanation=explanation)
    return made


def _choice(name: str = "c0", order: int = 0, gold: tuple[int, ...] = (0,)) -> Item:
    question = {"question": "ما البحر؟", "options": ("الطويل", "الكامل"), "gold": gold}
    made: Item = subject(kind="choice", id=name, pair_id="p", order=order, **question)
    return made


ANSWER = subject(kind="answer", id="a0", question="أكمل", answer="نور")


def _frame(rows: list[Any], row: Any) -> pd.DataFrame:
    frame: pd.DataFrame = to_table(rows, row).to_pandas()
    return frame


PAIR = [_choice("c0", 0), _choice("c1", 1, gold=(1,))]
ZERO = {name: int(name != "answer_quality") for name in CRITERIA}
AUDIT = Audit(
    item="c0",
    auditor="one",
    status="valid",
    scores=ZERO,
    issues=(Issue(criterion="answer_quality", explanation="فارغ."),),
    reply_key="k",
)
VERDICT = Verdict(item="c0", status="flag", audited=True, policy="strict", reasons=("critical",))
FINDING = Finding(check="CH03", severity="block", subject="c0", detail="options 0 and 1 read the same")
REJECTION = Rejection(record="p9", reason="poet_unknown", detail="no poet")
ACCOUNT = {"stage": "3_curated", "shard": "s0", "read": 10, "kept": 7, "rejected": 2, "merged": 1}
ITEMS = {"items": {"c0", "c1", "a0"}}

GOOD: list[tuple[Any, pd.DataFrame, dict[str, set[str]]]] = [
    ("poems", _frame([_poem()], Poem), {}),
    ("poems", _frame([_poem(title="", poet="")], Poem), {}),
    ("idioms", _frame([_idiom()], Idiom), {}),
    ("items", _frame([*PAIR, ANSWER], ITEM_ROWS), {}),
    ("findings", _frame([FINDING], Finding), ITEMS),
    ("audits", _frame([AUDIT], Audit), ITEMS),
    ("verdicts", _frame([VERDICT], Verdict), ITEMS),
    ("rejected", _frame([REJECTION, REJECTION.model_copy(update={"reason": "check_TX01"})], Rejection), {}),
    ("accounting", pd.DataFrame([ACCOUNT]), {}),
]
BAD: list[tuple[str, Any, Any, dict[str, set[str]], str]] = [
    ("a poem twice", "poems", ([_poem(), _poem()], Poem), {}, "id"),
    ("an address of spaces", "poems", ([_poem(provenance={**PROVENANCE, "url": " "})], Poem), {}, "url"),
    ("a foreign couplet", "poems", ([_poem().model_copy(update={"id": "q"})], Poem), {}, "couplet ids are the poem's"),
    ("a hemistich without key", "poems", ([_poem(couplets=[{"first": {"raw": "نور"}}])], Poem), {}, "every hemistich"),
    ("a section that is not there", "poems", ([_poem(sections=())], Poem), {}, "couplets point at sections"),
    ("a digest that is none", "poems", ([_poem(provenance={**PROVENANCE, "sha256": "x"})], Poem), {}, "sha256"),
    ("an idiom without explanation", "idioms", ([_idiom(explanation=Form(raw="نور"))], Idiom), {}, "explanation"),
    ("a gold beyond the options", "items", ([PAIR[0], _choice("c1", 1, gold=(2,))], ITEM_ROWS), {}, "golds are options"),
    ("one order alone", "items", ([PAIR[0]], ITEM_ROWS), {}, "both orders"),
    ("an item twice", "items", ([*PAIR, PAIR[0]], ITEM_ROWS), {}, "id"),
    ("a finding about nobody", "findings", ([FINDING], Finding), {"items": {"other"}}, "subject is an item"),
    ("a finding twice", "findings", ([FINDING, FINDING], Finding), ITEMS, "check, subject"),
    ("a check without number", "findings", ([FINDING.model_copy(update={"check": "CH"})], Finding), ITEMS, "check"),
    ("an audit twice", "audits", ([AUDIT, AUDIT], Audit), ITEMS, "item, auditor"),
    ("nine scores", "audits", ([AUDIT.model_copy(update={"scores": {k: v for k, v in ZERO.items() if k != "text_readability"}})], Audit), ITEMS, "ten scores"),
    ("a zero without issue", "audits", ([AUDIT.model_copy(update={"issues": ()})], Audit), ITEMS, "issues name the zeros"),
    ("a flag without reason", "verdicts", ([VERDICT.model_copy(update={"reasons": ()})], Verdict), ITEMS, "flags and blocks have reasons"),
    ("a verdict on nobody", "verdicts", ([VERDICT], Verdict), {"items": set()}, "item is an item"),
    ("a reason in prose", "rejected", ([REJECTION.model_copy(update={"reason": "No poet!"})], Rejection), {}, "reason"),
    ("a record lost", "accounting", pd.DataFrame([{**ACCOUNT, "kept": 6}]), {}, "read = kept"),
    ("a shard twice", "accounting", pd.DataFrame([ACCOUNT, ACCOUNT]), {}, "stage, shard"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "frame", "references"), GOOD, ids=[f"{n} {row[0]}" for n, row in enumerate(GOOD)]
)
def test_tables_that_keep_their_contract_pass(
    table: Any, frame: pd.DataFrame, references: dict[str, set[str]]
) -> None:
    assert examine(table, [frame], references).violations == ()


def test_what_keeps_its_contract_is_written_and_raw_texts_have_no_keys_yet() -> None:
    keep_contract("5_checked", "items", [*PAIR, ANSWER])
    keep_contract("1_scraped", "poems", [_poem(couplets=[{"first": {"raw": "نور"}}])])
    keep_contract("6_audited", "audits", [AUDIT])


def test_every_suite_is_tried() -> None:
    assert {row[0] for row in GOOD} == set(CONTRACTS)
    assert {row[1] for row in BAD} == set(CONTRACTS)


@pytest.mark.parametrize(
    ("table", "rows", "references", "named"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_what_breaks_a_contract_is_named(
    table: Any, rows: Any, references: dict[str, set[str]], named: str
) -> None:
    frame = rows if isinstance(rows, pd.DataFrame) else _frame(*rows)
    violations = examine(table, [frame], references).violations
    assert len(violations) == 1
    assert violations[0].startswith(named)


@pytest.mark.parametrize(
    ("table", "rows", "references"),
    [*((table, frame, references) for table, frame, references in GOOD), *(row[1:4] for row in BAD)],
)
def test_without_great_expectations_the_same_is_found_and_has_no_pages(
    table: Any, rows: Any, references: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = rows if isinstance(rows, pd.DataFrame) else _frame(*rows)
    with_it = examine(table, [frame], references)
    monkeypatch.setenv("MIHAKK_DATA_DOCS", "false")
    settings.cache_clear()
    without = examine(table, [frame], references)
    assert (without.violations, without.rows) == (with_it.violations, with_it.rows)
    assert without.outcome is None


@pytest.mark.parametrize(
    ("table", "rows", "named"),
    [(row[1], row[2][0], row[4]) for row in BAD if isinstance(row[2], tuple) and "nobody" not in row[0]],
    ids=[row[0] for row in BAD if isinstance(row[2], tuple) and "nobody" not in row[0]],
)
def test_a_stage_writes_no_row_that_breaks_its_contract(table: Any, rows: list[Any], named: str) -> None:
    with pytest.raises(TableViolation, match=f"6_audited made {table} .*\n  row .*{named}"):
        keep_contract("6_audited", table, rows)


class _Asked(set[str]):
    """Ids that may be asked for, never gone through."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("a row cost as much as all ids")


def test_a_row_costs_the_same_whatever_the_number_of_ids() -> None:
    frame = _frame([VERDICT, VERDICT.model_copy(update={"item": "c1"})], Verdict)
    assert examine("verdicts", [frame], {"items": _Asked({"c0", "c1"})}).violations == ()
    assert examine("items", [_frame(PAIR, ITEM_ROWS)], {"items": _Asked()}).violations == ()


def test_an_empty_table_breaks_nothing() -> None:
    assert examine("findings", [_frame([], Finding)]).violations == ()


def test_a_broken_contract_stops_the_run_and_says_where() -> None:
    result = examine("verdicts", [_frame([VERDICT.model_copy(update={"reasons": ()})], Verdict)], ITEMS)
    with pytest.raises(TableViolation, match="verdicts: flags and blocks have reasons"):
        require([result])
    require([examine("verdicts", [_frame([VERDICT], Verdict)], ITEMS)])


def test_data_docs_are_built_offline_and_show_every_table(tmp_path: Path) -> None:
    results = [examine(table, [frame], references) for table, frame, references in GOOD[:3]]
    page = data_docs(tmp_path / "docs", results)
    index = page.read_text(encoding="utf-8")
    for result in results:
        assert result.table in index
        assert list((tmp_path / "docs").rglob(f"{result.table}.html"))
