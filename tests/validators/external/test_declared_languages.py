"""Parts of a row in another language than its question are read by their own language's pack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks import check_items, gather, prepare
from mihakk.validators.external.benchmark import read_benchmark
from mihakk.validators.external.clusters import clusters
from mihakk.validators.external.mapping import parse_languages, parse_mapping

CHOICES = "question=q,choices=options,gold=gold,gold_as=index0"
PERSIAN = {"q": "اسم هذه المدينة بالفارسية؟", "options": ["شیراز", "کرمان", "یزد"], "gold": 0}
"""An Arabic question, its options in Persian letters that are none of Arabic."""
ARABIC = {"q": "اسم هذه المدينة بالفارسية؟", "options": ["شيراز", "كرمان", "يزد"], "gold": 0}
"""The same with letters that are none of Persian."""


def read(
    folder: Path, rows: Sequence[Mapping[str, object]], mapping: str, language: str = "ar"
) -> list[QuestionItem]:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    return read_benchmark(str(path), parse_mapping(mapping), language=language).items


def found(items: list[QuestionItem]) -> list[Finding]:
    return check_items(items, ChecksConfig(), prepare([gather(items)]))


def named(items: list[QuestionItem], check: str) -> list[str]:
    return [one.where for one in found(items) if one.check == check]


def test_a_command_line_names_the_language_of_questions_and_of_parts() -> None:
    assert parse_languages("fa") == ("fa", "")
    assert parse_languages("question=fa, choices=en") == ("fa", "choices_in=en")
    assert parse_languages("fa,context=en,gold=tr") == ("fa", "context_in=en,gold_in=tr")
    assert parse_languages("choices=en") == ("ar", "choices_in=en")
    for wrong, told in (
        ("question_en=en", "'question_en' is no part of a row"),
        ("fa,question=en", "twice: fa, en"),
        ("fa,choices=English", "BCP 47"),
    ):
        with pytest.raises(UsageError, match=told):
            parse_languages(wrong)


def test_a_mapping_refuses_the_language_of_a_part_that_it_has_not() -> None:
    with pytest.raises(UsageError, match="context_in=en: the mapping names no column of the context"):
        parse_mapping(f"{CHOICES},context_in=en")
    with pytest.raises(UsageError, match="write choices_in"):
        parse_mapping(f"{CHOICES},gold_in=en")
    with pytest.raises(UsageError, match="BCP 47"):
        parse_mapping(f"{CHOICES},choices_in=Persian")


def test_letters_are_judged_by_the_language_that_was_declared_of_their_column(tmp_path: Path) -> None:
    assert named(read(tmp_path, [PERSIAN], CHOICES), "TX15") == ["options[0]", "options[1]", "options[2]"]
    declared = f"{CHOICES},choices_in=fa"
    assert named(read(tmp_path, [PERSIAN], declared), "TX15") == []
    assert named(read(tmp_path, [ARABIC], CHOICES), "TX15") == []
    assert named(read(tmp_path, [ARABIC], declared), "TX15") == ["options[0]", "options[1]", "options[2]"]


def test_copies_are_compared_as_the_options_language_writes_them(tmp_path: Path) -> None:
    asked = "ما معنى هذه الكلمة بالفيتنامية؟"
    rows = [{"q": asked, "options": ["má đỏ", "ma đỏ", "mà đỏ"], "gold": "ma đỏ"}]
    rows.append({"q": asked, "options": ["má đỏ", "mả đỏ", "mã đỏ"], "gold": "mả đỏ"})
    mapping = "question=q,choices=options,gold=gold,gold_as=text"
    plain, declared = read(tmp_path, rows, mapping), read(tmp_path, rows, f"{mapping},choices_in=vi")
    assert named(plain, "DU01") == ["", ""], "marks do not tell words apart in Arabic"
    assert named(declared, "DU01") == []


def test_each_part_has_its_language_and_a_script_where_no_pack_tells_one(tmp_path: Path) -> None:
    row = {"q": "ما معنى هذه الكلمة؟", "options": ["мајка", "отац"], "gold": 0, "text": "Mother is a word."}
    declared = f"{CHOICES},context=text,choices_in=sr,context_in=en"
    (item,) = read(tmp_path, [row], declared)
    spoken = [item.language_of(where) for where in ("question", "context", "options[1]", "gold")]
    assert spoken == ["ar", "en", "sr-Cyrl", "sr-Cyrl"]
    source = {"q": "Quelle est la capitale ?", "a": "PARIS", "text": "Paris is the capital."}
    (answer,) = read(tmp_path, [source], "question=q,gold=a,context=text,context_in=en,gold_in=fr", "fr")
    assert answer.metadata == {"context_in": "en"}, "what is the row's own language needs no name"


def test_a_column_of_languages_still_names_those_of_rows(tmp_path: Path) -> None:
    rows = [{**PERSIAN, "in": one} for one in ("ar", "fa")]
    items = read(tmp_path, rows, f"{CHOICES},language=in,choices_in=fa")
    assert [item.language for item in items] == ["ar", "fa"]
    assert [item.metadata for item in items] == [{"answers_in": "fa"}, {}]


def test_causes_name_the_language_of_the_texts_they_speak_of(tmp_path: Path) -> None:
    rows = [{**ARABIC, "q": "ایران کی ہے؟"}, ARABIC]
    items = read(tmp_path, rows, f"{CHOICES},choices_in=fa")
    told = clusters(items, found(items), prepare([gather(items)]))
    titles = [one.title for one in told if one.checks[0] == "TX15"]
    assert len(titles) == 2
    assert "2 rows fail TX15, in their texts in fa: each language in its own letters" in titles
    assert "1 row fails TX15: each language in its own letters" in titles


def test_the_audit_reads_and_notes_what_was_declared(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(PERSIAN, ensure_ascii=False) for _ in range(3)), "utf-8")
    job = ["audit", str(path), "--map", CHOICES, "--rules-only", "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, [*job, "--language", "question=ar,choices=fa"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert (
        "the options or answers of 3 rows are in fa, as declared, and checked by its pack" in summary["notes"]
    )
    assert "TX15" not in {one["check"] for one in summary["checks"]}
