"""The declared language of a source is compared with its text before anything rewrites a letter."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import MihakkWarning, SourceChanged, UsageError
from mihakk.pipeline.external_audit import AuditJob, run_audit
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import run
from mihakk.scrapers.trial import attempt, guess_use
from tests.machinery.text.test_language import ARABIC, ENGLISH, IRAQI, PERSIAN, URDU


def use(folder: Path, texts: Sequence[str], language: str, **more: Any) -> SourceUse:
    """A table of poems of one line each."""
    path = folder / "poems.jsonl"
    rows = [{"id": n, "poet": "شاعر", "lines": [text]} for n, text in enumerate(texts)]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    options = {"path": str(path), "kind": "poem", "language": language, "licence": "public-domain"}
    return SourceUse(use="files", name="g", options=options, **more)


@pytest.mark.parametrize(
    ("text", "declared", "told"),
    [
        (PERSIAN, "ar", "Persian, declared Arabic"),
        (ARABIC, "fa", "Arabic, declared Persian"),
        (URDU, "ar", "Urdu, declared Arabic"),
        (URDU, "fa", "Urdu, declared Persian"),
        (ENGLISH, "ar", "English (Latin letters), declared Arabic"),
        (PERSIAN, "en", "Persian, declared English"),
    ],
)
def test_another_language_than_declared_is_refused_with_share_and_examples(
    text: str, declared: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceChanged) as error:
        list(run(use(tmp_path, [text] * 3, declared), RawStore(tmp_path / "lake")))
    message = str(error.value)
    assert f"3 of the 3 texts whose language can be told are {told}" in message
    assert "g-0 «" in message
    assert "accept: {language: 1}" in message
    assert ("Take it out" if text == URDU else "`language: ") in message


def test_a_few_foreign_records_are_rejected_one_by_one(tmp_path: Path) -> None:
    found = list(
        run(use(tmp_path, [ARABIC, PERSIAN, *[ARABIC] * 8, IRAQI], "ar"), RawStore(tmp_path / "lake"))
    )
    rejected = [entry for entry in found if isinstance(entry, Rejection)]
    assert [(row.record, row.reason) for row in rejected] == [("g-1", "language_differs")]
    assert "its text is Persian" in rejected[0].detail
    assert len(found) == 11


def test_short_records_are_told_together(tmp_path: Path) -> None:
    lines = [
        "از ماست که بر ماست",
        "هر که بامش بیش برفش بیشتر",
        "نه سیخ بسوزد نه کباب",
        "کار نیکو کردن از پر کردن است",
    ]
    with pytest.raises(SourceChanged, match="all texts together are Persian, declared Arabic"):
        list(run(use(tmp_path, lines, "ar"), RawStore(tmp_path / "lake")))
    assert len(list(run(use(tmp_path, lines[:1], "ar"), RawStore(tmp_path / "lake")))) == 1


def test_a_share_accepted_by_name_keeps_every_record_and_no_larger_share(tmp_path: Path) -> None:
    texts = [ARABIC, PERSIAN, PERSIAN]
    kept = list(run(use(tmp_path, texts, "ar", accept={"language": 0.67}), RawStore(tmp_path / "lake")))
    assert [type(entry).__name__ for entry in kept] == ["Poem"] * 3
    with pytest.raises(SourceChanged, match="2 of the 3 texts"):
        list(run(use(tmp_path, texts, "ar", accept={"language": 0.5}), RawStore(tmp_path / "lake")))


def test_a_limit_bounds_what_is_read_in_another_language_too(tmp_path: Path) -> None:
    wanted = use(tmp_path, [PERSIAN] * 50, "ar", limit=4)
    with pytest.raises(SourceChanged, match="4 of the 4 texts"):
        list(run(wanted, RawStore(tmp_path / "lake")))


@pytest.mark.parametrize(("text", "language"), [(ARABIC, "ar"), (PERSIAN, "fa"), (ENGLISH * 2, "en")])
def test_trying_a_table_tells_its_language(text: str, language: str, tmp_path: Path) -> None:
    path = use(tmp_path, [text], "ar").options["path"]
    found = attempt(guess_use(path, {}), RawStore(tmp_path / "lake"))
    assert not found.problem
    assert found.language.startswith(f"{language}: of ")


@pytest.mark.parametrize(("text", "said"), [("من ذهب", "not told"), (URDU, "Urdu")])
def test_trying_a_table_asks_where_the_language_is_not_told(text: str, said: str, tmp_path: Path) -> None:
    path = use(tmp_path, [text], "ar").options["path"]
    with pytest.raises(UsageError, match=f"its language is {said}.*-o language=ar, -o language=fa"):
        guess_use(path, {})
    assert guess_use(path, {"language": "fa"}).options["language"] == "fa"


@pytest.mark.parametrize(("language", "warned"), [("ar", True), ("fa", False)])
def test_an_audit_warns_where_rows_are_in_another_language(
    language: Any, warned: bool, tmp_path: Path
) -> None:
    rows = [{"q": f"{PERSIAN} {n}؟", "a": f"گزینه {n}", "b": f"پاسخ {n}", "gold": "A"} for n in range(4)]
    path = tmp_path / "exam.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    mapping = "question=q,choices=a+b,gold=gold"
    job = AuditJob(source=str(path), mapping=mapping, folder=tmp_path / "out", language=language)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", MihakkWarning)
        run_audit(job, lambda _: None)
    told = [str(one.message) for one in said if one.category is MihakkWarning]
    assert [text.startswith("4 of the 4 texts whose language can be told are Persian") for text in told] == [
        True
    ] * warned
