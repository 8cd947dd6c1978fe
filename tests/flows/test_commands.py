"""The commands a person types, run in process on small real input."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.pipeline.history import RunRecord, SourceYield
from mihakk.schemas.schedule import Schedule

RUNNER = CliRunner()


def call(*arguments: str) -> Result:
    return RUNNER.invoke(app, list(arguments))


@pytest.mark.parametrize("listing", ["sources", "tasks", "checks"])
def test_listings_are_json_for_machines_and_tables_for_people(listing: str) -> None:
    rows = json.loads(call(listing, "--json").stdout)
    assert rows
    first = next(iter(rows[0].values()))
    assert str(first)[:8] in call(listing).stdout


def test_help_names_every_command() -> None:
    said = call("--help").stdout
    for command in ("build", "audit", "review", "release", "publish", "diff", "show", "doctor", "runs"):
        assert f" {command} " in said


def test_the_version_is_that_of_the_installed_package() -> None:
    assert call("--version").stdout == f"mihakk {version('mihakk')}\n"


def test_doctor_says_what_is_there_and_how_to_mend_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(call("doctor", "--json").stdout)
    by_subject = {row["subject"]: row for row in found}
    assert by_subject["git"]["state"] == "ok"
    assert by_subject["MIHAKK_HF_TOKEN"]["state"] == "optional"
    monkeypatch.setenv("PATH", "/nowhere")
    done = call("doctor", "--json")
    assert done.exit_code == 1
    git = next(row for row in json.loads(done.stdout) if row["subject"] == "git")
    assert git["state"] == "missing"
    assert "apt-get install git" in git["remedy"]


def test_doctor_names_what_is_older_than_its_schedule(tmp_path: Path) -> None:
    def recorded(benchmark: str, seen: datetime, *own: Schedule) -> None:
        run = RunRecord(
            run="r",
            benchmark=benchmark,
            status="finished",
            started=seen,
            seen=seen,
            host="h",
            pid=1,
            sources={"hafez": SourceYield(records=1, rejected=0)},
            release="0.1.0",
            schedule=own or None,
        )
        path = tmp_path / "lake" / benchmark / "runs" / "r.json"
        path.parent.mkdir(parents=True)
        path.write_text(run.model_dump_json())

    now = datetime.now(UTC)
    recorded("fresh", now)
    recorded("old", now - timedelta(days=3))
    recorded("yearly", now - timedelta(days=3), Schedule(job="nightly", cron="0 0 1 1 *"))
    done = call("doctor", "--json")
    by_subject = {row["subject"]: row for row in json.loads(done.stdout)}
    assert by_subject["benchmark fresh"]["state"] == by_subject["benchmark yearly"]["state"] == "ok"
    old = by_subject["benchmark old"]
    assert old["state"] == "late"
    assert "source hafez: last read" in old["detail"]
    assert "release: last released" in old["detail"]
    assert "30 3 * * * Asia/Dubai" in old["detail"]
    assert "mihakk build old" in old["remedy"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("build", "nowhere"), "nowhere.yaml"),
        (("show", "9_lost"), "8_released"),
        (("show", "scraped"), "mihakk build"),
        (("review", "person", "demo", "Layla"), "is not an e-mail address"),
        (("review", "push", "demo", "--template", "poem_rating"), "label_validation"),
        (("review", "push", "demo", "--size", "20"), "need --template"),
        (("review", "push", "demo", "--template", "interpretive_depth"), "--from"),
        (("audit", "nowhere.csv", "--map", "question=q,gold=a"), "nowhere.csv"),
        (("audit", "x.csv", "--map", "question"), "question=COLUMN"),
        (("audit", "x.csv", "--map", "question=q,gold=a", "--policy", "lenient"), "strict"),
    ],
)
def test_a_mistake_is_named_and_exits_with_two(arguments: tuple[str, ...], says: str) -> None:
    done = call(*arguments)
    assert done.exit_code == 2
    assert says in done.stderr


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    rows = [
        {"q": f"ما عاصمة البلد رقم {n}؟", "A": f"مدينة {n}", "B": f"قرية {n}", "gold": "A", "part": "geo"}
        for n in range(30)
    ]
    rows[3]["B"] = rows[3]["A"]
    rows[4]["q"] = "ما معنى هذا النص\ufffd المكسور؟"
    rows.append({**rows[5], "gold": "B"})
    path = tmp_path / "exam.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


def test_an_existing_benchmark_is_cleaned_in_its_own_columns(exam: Path, tmp_path: Path) -> None:
    mapping = "question=q,choices=A+B,gold=gold,subset=part"
    out = tmp_path / "out"
    done = call("audit", str(exam), "--map", mapping, "--rules-only", "--out", str(out), "--json")
    assert done.exit_code == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["items"], summary["gold_as"]) == (31, "letter")
    (subset,) = summary["subsets"]
    assert (subset["subset"], subset["items"]) == ("geo", 31)
    assert subset["blocked"] + subset["flagged"] + subset["passed"] == 31
    kept = [json.loads(line) for line in (out / "clean.jsonl").read_text("utf-8").splitlines()]
    original = [json.loads(line) for line in exam.read_text("utf-8").splitlines()]
    assert len(kept) == subset["passed"]
    assert all(row in original for row in kept)
    for bad in (3, 4, 5, 30):
        assert original[bad] not in kept


def test_a_person_is_named_once_and_by_address_alone(tmp_path: Path) -> None:
    def named(address: str) -> str:
        return call("review", "person", "demo", address, "--lake", str(tmp_path / "lake")).stdout

    assert named("Layla@example.org") == "annotator-01\n"
    assert named("omid@example.org") == "annotator-02\n"
    assert named("layla@example.org ") == "annotator-01\n"
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"layla" not in kept.lower()
