"""The page about somebody's benchmark, and the chart in it."""

from __future__ import annotations

import io
import json
import logging
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.pipeline.external_summary import AuditSummary, share_bad
from mihakk.reports.external.page import QIMMA, size_against_rate
from mihakk.reports.external.summary_table import show_summary
from mihakk.schemas.audit import CRITERIA
from mihakk.validators.external.merging import linked
from tests.foreign_sets import audit_set, two_auditors, write_rows

MAPPING = "question=q,choices=A+B,gold=gold"
PLACES = ["بغداد", "دمشق", "تونس", "الرباط", "صنعاء", "مسقط", "عمان", "بيروت", "الخرطوم", "نواكشوط"]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two subsets in two splits: one item in both splits, one question with two golds, one broken text."""
    folder = tmp_path / "exam"
    configs = []
    for subset in ("geo", "lang"):
        files = []
        for split in ("train", "test"):
            rows = [
                {
                    "q": f"ما اسم المدينة التي ذكرت في السطر {subset} {split} {n}؟",
                    "A": place,
                    "B": f"قرية قرب {place}",
                    "gold": "AB"[n % 2],
                }
                for n, place in enumerate(PLACES)
            ]
            if subset == "geo":
                rows.append({"q": "ما عاصمة الأردن؟", "A": "عمان", "B": "إربد", "gold": "A"})
            elif split == "test":
                rows += [
                    {"q": "ما جمع كلمة قلم في العربية؟", "A": "أقلام", "B": "قلوم", "gold": gold}
                    for gold in "AB"
                ]
                rows[0]["q"] = "ما معنى <b>هذا</b> النص\ufffd المكسور؟"
            path = folder / subset / f"{split}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(rows), path)
            files.append(f"  - split: {split}\n    path: {subset}/{split}.parquet")
        configs.append(f"- config_name: {subset}\n  data_files:\n" + "\n".join(files))
    (folder / "README.md").write_text("---\nconfigs:\n" + "\n".join(configs) + "\n---\n", encoding="utf-8")
    return folder


def audited(source: Path, out: Path) -> AuditSummary:
    return audit_set(source, MAPPING, out)[1]


def test_subsets_and_splits_of_a_dataset_come_into_summary_and_page(dataset: Path, tmp_path: Path) -> None:
    summary = audited(dataset, tmp_path / "out")
    assert [row.subset for row in summary.subsets] == ["geo", "lang"]
    assert summary.shared.across_splits == {"test in train": 1, "train in test": 1}
    assert summary.shared.conflicting == 2
    saved = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert saved["shared"]["conflicting"] == 2
    assert {p.name for p in (tmp_path / "out" / "clean").rglob("*.parquet")} == {
        "train.parquet",
        "test.parquet",
    }
    page = Path(summary.files["report"]).read_text(encoding="utf-8")
    assert "The same item in several splits" in page
    assert "The same question, different answers" in page
    assert "&lt;b&gt;هذا&lt;/b&gt;" in page, "text of a benchmark must not become markup"
    assert page.count("<circle") > len(QIMMA), "each subset beside those of QIMMA"
    assert "ar-external_choice-" not in page, "a reader knows rows, not our ids"
    assert 'dir="rtl"' in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page), "the page opens offline"
    for file in re.findall(r'href="(?!data:|#)([^"]+)"', page):
        assert (tmp_path / "out" / file).exists(), file


def test_a_split_of_any_name_is_a_split(dataset: Path, tmp_path: Path) -> None:
    rows = [
        {"q": "ما عاصمة الأردن؟", "A": "عمان", "B": "إربد", "gold": "A", "part": part}
        for part in ("round_one", "round_two")
    ]
    rows += [{**rows[0], "q": f"ما المدينة رقم {n} في هذا الكتاب؟", "part": "round_one"} for n in range(3)]
    path = write_rows(tmp_path / "rounds.jsonl", rows)
    _, summary = audit_set(path, f"{MAPPING},split=part", tmp_path / "out")
    assert summary.shared.across_splits == {"round_one in round_two": 1, "round_two in round_one": 1}
    assert "DU02" in {check.check for check in summary.checks}


@given(
    st.lists(st.tuples(st.text(max_size=30), st.integers(1, 10**6), st.floats(0, 1)), min_size=1, max_size=30)
)
def test_every_point_lies_inside_the_chart(rows: list[tuple[str, int, float]]) -> None:
    chart = size_against_rate([(name, items, 100 * rate) for name, items, rate in rows])
    circles = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', chart)
    assert len(circles) == len(rows) + len(QIMMA)
    assert all(0 < float(x) < 800 and 0 < float(y) < 340 for x, y in circles)


def test_what_is_linked_through_others_is_together() -> None:
    assert linked({"b": ["a"], "c": ["b"], "e": ["d"]}) == [["a", "b", "c"], ["d", "e"]]
    assert linked({}) == []


def test_two_auditors_come_into_the_page_and_their_keys_into_no_file(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = {"FIRST_KEY": "sk-first-4Tq9", "SECOND_KEY": "sk-second-8Wz2"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    caplog.set_level(logging.DEBUG)
    zero = {"criterion": "answer_alignment", "explanation": "The marked option is wrong."}
    sound = {"scores": dict.fromkeys(CRITERIA, 1), "issues": []}
    wrong = {"scores": {**dict.fromkeys(CRITERIA, 1), "answer_alignment": 0}, "issues": [zero]}

    def opinion(call: Call) -> Answer:
        assert call.headers["Authorization"].removeprefix("Bearer ") in secrets.values()
        if call.number == 0:
            return Answer(status=500, text=f"{call.headers['Authorization']} failed")
        return Answer(text=json.dumps(wrong if "geo test 3" in call.said else sound))

    with ScriptedServer(opinion) as server:
        serve = {"engine": "openai", "endpoints": [server.url]}
        judges = [
            {
                "name": name,
                "family": name,
                "model": name,
                "serve": {**serve, "api_key_env": key},
                "price": {"prompt": 3, "completion": 12},
            }
            for name, key in (("first", "FIRST_KEY"), ("second", "SECOND_KEY"))
        ]
        config = tmp_path / "auditors.yaml"
        config.write_text(json.dumps({"auditors": judges}), encoding="utf-8")
        _, summary = audit_set(dataset, MAPPING, tmp_path / "out", auditors=str(config))
    assert summary.auditors["first"]["valid"] == summary.auditors["second"]["valid"] == summary.audited > 30
    page = Path(summary.files["report"]).read_text(encoding="utf-8")
    assert "These auditors are not judges" in page
    assert "critical:answer_alignment" in page
    used = summary.usage["first"]
    assert used.calls == summary.audited
    assert used.cost == pytest.approx((3 * used.prompt_tokens + 12 * used.completion_tokens) / 1e6)
    assert f"first: {used.calls} calls answered in this run" in page
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any("journal" in path.parts for path in written)
    contents = [path.read_bytes() for path in written if path.suffix != ".parquet"]
    contents += [
        str(pq.read_table(path).to_pylist()).encode() for path in written if path.suffix == ".parquet"
    ]
    contents += [summary.model_dump_json().encode(), *(r.getMessage().encode() for r in caplog.records)]
    assert not [text[:200] for text in contents for secret in secrets.values() if secret.encode() in text]


def test_a_benchmark_of_which_nothing_passes_still_gets_its_report(tmp_path: Path) -> None:
    rows = [
        {"q": f"ما معنى النص\ufffd المكسور رقم {n}؟", "A": "أول", "B": "ثان", "gold": "A"} for n in range(3)
    ]
    source = write_rows(tmp_path / "broken.jsonl", rows)
    left = tmp_path / "out" / "clean.jsonl"
    left.parent.mkdir()
    left.write_text("of an earlier run")
    summary = audited(source, left.parent)
    assert [(row.items, row.passed) for row in summary.subsets] == [(3, 0)]
    assert "clean" not in summary.files
    assert not left.exists(), "a cleaned copy of an earlier run says what is no longer so"
    assert pq.read_table(summary.files["removed"]).num_rows == 3
    assert "0</b><span>in the cleaned copy" in Path(summary.files["report"]).read_text(encoding="utf-8")
    said = io.StringIO()
    Console(width=200, file=said).print(show_summary(summary))
    assert "there is no cleaned copy" in said.getvalue()


def test_an_item_without_a_usable_reply_waits_and_is_in_no_rate(dataset: Path, tmp_path: Path) -> None:
    sound = json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})

    def opinion(call: Call) -> Answer:
        unusable = "geo test 3" in json.dumps(call.body, ensure_ascii=False)
        return Answer(text="I would rather not say." if unusable else sound)

    with ScriptedServer(opinion) as server:
        config = two_auditors(tmp_path / "auditors.yaml", server.url)
        _, summary = audit_set(dataset, MAPPING, tmp_path / "out", auditors=config)
    geo = next(row for row in summary.subsets if row.subset == "geo")
    assert (geo.items, geo.merged, geo.flagged, geo.blocked, geo.unjudged) == (22, 1, 0, 0, 1)
    assert (geo.rate, geo.passed) == (0.0, 20)
    asked = sum(summary.auditors["first"].values())
    assert summary.auditors["first"]["invalid"] == 1
    assert summary.audited == asked - 1, "a reply that nobody can use is no look"
    assert summary.kept_unseen == 0
    changes = pq.read_table(summary.files["changes"]).to_pylist()
    assert [row["change"] for row in changes if row["evidence"] == ["no usable reply of an auditor"]] == [
        "waits"
    ]
    said = io.StringIO()
    Console(width=200, file=said).print(show_summary(summary))
    assert "1 items have no usable reply of an auditor" in said.getvalue()


def test_a_set_of_which_nothing_was_judged_has_no_rate() -> None:
    assert share_bad(Counter({"unjudged": 6})) is None
    assert share_bad(Counter({"unjudged": 6, "pass": 3, "flag": 1, "merged": 5})) == 0.25


def test_brackets_in_names_are_shown_and_break_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path("exam[b].jsonl")
    row = {"q": "ما ضد كلمة النور؟", "A": "الظلام", "B": "الضوء", "gold": "A", "part": "[/b]"}
    source.write_text(json.dumps(row, ensure_ascii=False) + "\n", "utf-8")
    mapping = "question=q,choices=A+B,gold=gold,subset=part"
    done = CliRunner().invoke(app, ["audit", str(source), "--rules-only", "--map", mapping, "--out", "a[i]"])
    assert done.exit_code == 0, done.output
    assert all(name in done.output for name in ("exam[b].jsonl", "[/b]", "a[i]"))
