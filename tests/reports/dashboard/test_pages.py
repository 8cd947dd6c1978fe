"""What the pages say of a lake, above all when things are wrong or missing, and how over HTTP."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markupsafe import escape
from starlette.testclient import TestClient
from typer.testing import CliRunner

from mihakk.annotation.screens.evidence import finding_sentence
from mihakk.annotation.statistics.sampling import Why
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.pipeline.history import SILENT_AFTER, RunRecord, meter_of, recorded, runs
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.steps.order import step_of
from mihakk.reports.dashboard.app import dashboard_app
from mihakk.reports.dashboard.health import ago, health, source_states, stage_state
from mihakk.reports.dashboard.items import Filter, explore, rejected
from mihakk.reports.dashboard.overview import Gatherer, OverviewFacts
from mihakk.reports.dashboard.page import write_report
from mihakk.reports.dashboard.story import story
from mihakk.reports.dashboard.tables import Tables
from mihakk.reports.dashboard.versions import changes_of
from mihakk.reports.templates import SHARED
from mihakk.schemas.audit import AUDIT_STATES, Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ITEM_ROWS
from tests.reports.dashboard.conftest import Made


def facts(made: Made) -> OverviewFacts:
    return Gatherer(made.build).facts()


def said(found: OverviewFacts) -> str:
    return "\n".join(f"{note.level}: {note.text}" for note in found.notes)


def test_every_run_leaves_its_timings_tokens_and_yields(made: Made) -> None:
    (last, first), unreadable = runs(made.build.lake)
    assert unreadable == 0
    assert [run.state() for run in (last, first)] == ["finished", "finished"]
    assert first.sources["hafez"].records == 6
    assert [stage.stage for stage in first.stages][-1] == "8_released"
    assert (first.release, last.release) == ("0.1.0", "0.2.0")
    assert first.usage["audit/first"].calls == 24
    assert first.usage["audit/first"].prompt_tokens > 0
    used = first.usage["audit/first"]
    assert first.costs == {"USD": pytest.approx((3 * used.prompt_tokens + 12 * used.completion_tokens) / 1e6)}
    assert first.usage["audit/second"].cost is None, "its price is not known"
    assert last.usage["audit/first"].calls <= 2, "only the corrected item was asked about again"
    generated = {stage.stage: stage for stage in last.stages}["4_generated"]
    assert generated.reused == generated.shards


def test_a_run_that_fails_or_is_stopped_says_so(own: Made) -> None:
    with pytest.raises(UsageError), recorded(own.build, Silent()):
        raise UsageError("the disk is gone")
    with pytest.raises(KeyboardInterrupt), recorded(own.build, Silent()):
        raise KeyboardInterrupt
    (stopped, failed, *_), _ = runs(own.build.lake)
    assert (stopped.state(), failed.state(), failed.error) == ("stopped", "failed", "the disk is gone")
    path = Path(own.build.lake.storage.path("runs", f"{stopped.run}.json"))
    path.unlink()
    found = facts(own)
    assert found.level == "bad"
    assert "the disk is gone" in said(found)


def test_a_killed_run_is_known_by_its_silence() -> None:
    now = datetime.now(UTC)
    here = RunRecord(
        run="r", benchmark="b", started=now, seen=now, host=socket.gethostname(), pid=os.getpid()
    )
    assert here.state(now) == "running"
    assert here.state(now + SILENT_AFTER + timedelta(seconds=1)) == "lost"
    assert replace_pid(here).state(now) == "lost", "its process is gone"
    elsewhere = here.model_copy(update={"host": "another", "pid": 2**22 - 1})
    assert elsewhere.state(now) == "running"


def replace_pid(record: RunRecord) -> RunRecord:
    """A process id that no process bears."""
    free = next(pid for pid in range(2**22 - 2, 1, -1) if not Path(f"/proc/{pid}").exists())
    return record.model_copy(update={"pid": free})


def test_the_meter_counts_whole_lines_once(own: Made) -> None:
    meter = meter_of(own.build)
    assert meter.read() == {}
    journal = own.build.lake.folder("journals", "audit") / "audit.jsonl"
    line = json.dumps({"model": "m", "latency": 0.5, "prompt_tokens": 7, "completion_tokens": 2})
    with journal.open("a") as out:
        out.write(f"{line}\nnot json\n{line[:20]}")
    assert meter.read()["audit/m"].calls == 1
    with journal.open("a") as out:
        out.write(line[20:] + "\n")
    assert meter.read()["audit/m"].prompt_tokens == 14


def test_nothing_is_green_where_nothing_is_known(made: Made, tmp_path: Path) -> None:
    empty = replace(made.build, lake_root=str(tmp_path / "empty"))
    found = Gatherer(empty).facts()
    assert found.level == "bad"
    for words in ("unknown: no run is recorded", "bad: stages 1_scraped", "never finished", "never read"):
        assert words in said(found)
    assert {state.level for state in found.health.stages} == {"bad"}
    assert {source.level for source in found.health.sources} == {"bad"}
    assert found.people.miss_rate is None
    assert found.opinions.agreed is None


def test_a_good_lake_says_what_is_still_open(made: Made) -> None:
    found = facts(made)
    assert [state.said for state in found.health.stages] == ["up to date"] * 8
    assert "too small to be a judge" in said(found)
    assert "items wait for people" in said(found)
    assert "stale" not in said(found)
    assert found.people.miss_rate is not None
    assert found.people.miss_rate.upper == pytest.approx(1 - 0.05 * 11 / 14), (
        "0.95 of 11, and all of the 3 that nobody drew from"
    )
    assert found.people.report.outcomes == {"discard": 1, "fix": 1, "keep": 1}
    assert sum(count for _, count in found.people.by_day) == 3
    assert found.opinions.agreed is not None
    assert found.opinions.agreed.observed == 1.0
    assert [row.version for row in found.versions.rows] == ["0.2.0", "0.1.0"]
    assert found.versions.rows[0].changes["gold_changed"] == 1


def test_an_old_run_is_stale(made: Made) -> None:
    unscheduled = replace(made.build, config=made.build.config.model_copy(update={"schedule": ()}))
    last = runs(made.build.lake)[0][0].seen
    notes = [note.text for note in health(unscheduled, last + timedelta(hours=37)).notes]
    assert "no run has finished for 37 hours (operations: mihakk build small)" in notes
    assert "no run has finished" not in str(health(unscheduled, last + timedelta(hours=35)).notes)
    assert ago(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 4, tzinfo=UTC)) == "3 days"


def test_a_changed_config_makes_what_depends_on_it_stale(made: Made) -> None:
    review = made.build.config.review.model_copy(update={"overlap": 2})
    changed = replace(made.build, config=made.build.config.model_copy(update={"review": review}))
    assert stage_state(changed, "4_generated").said == "up to date"
    assert stage_state(changed, "7_reviewed").said == "stale: config changed"


def test_a_source_that_gives_too_little_is_named(made: Made) -> None:
    scraped = made.build.stage("1_scraped").manifest()
    uses = list(made.build.config.sources)
    uses[1] = uses[1].model_copy(update={"options": {**uses[1].options, "least_yield": 50}})
    asking = replace(made.build, config=made.build.config.model_copy(update={"sources": tuple(uses)}))
    hafez, sayings = source_states(asking, scraped, [])
    assert (hafez.level, hafez.least, hafez.limit) == ("good", None, 6)
    assert (sayings.level, sayings.said) == ("bad", "6 records, fewer than the 50 expected")


def test_the_explorer_filters_and_pages(made: Made) -> None:
    with Tables(made.build) as tables:
        everything = explore(made.build, tables, Filter())
        assert everything.total == made.build.stage("5_checked").manifest().counts.written
        last = explore(made.build, tables, Filter(page=10**6))
        assert last.asked.page == everything.pages
        seen: list[str] = []
        for page in range(1, everything.pages + 1):
            seen += [row["id"] for row in explore(made.build, tables, Filter(page=page)).rows]
        assert len(set(seen)) == len(seen) == everything.total
        waiting = explore(made.build, tables, Filter(state="waiting", verdict="flag"))
        assert {row["state"] for row in waiting.rows} == {"waiting"}
        arabic = explore(made.build, tables, Filter(source="sayings", text="دَمُّه"))
        assert arabic.total, "marks in the question do not keep it from finding"
        assert {row["language"] for row in arabic.rows} == {"ar"}
        assert explore(made.build, tables, Filter(text="' OR 1=1 --")).total == 0
        gone = rejected(tables, "7_reviewed", "", 1)
        assert gone.total == sum(gone.reasons.values()) > 0


def test_what_no_auditor_looked_at_is_never_shown_as_good(made: Made, client: TestClient) -> None:
    """Held against the auditors' replies themselves, counted item by item."""
    stage = made.build.stage("6_audited")
    usable = Counter(audit.item for audit in stage.read_all("audits", Audit) if audit.scores)
    asked = {audit.item for audit in stage.read_all("audits", Audit)}
    items = [item.id for item in stage.read_all("items", ITEM_ROWS)]
    expected = {
        item: "both" if usable[item] == 2 else "short" if item in asked else "checks" for item in items
    }
    assert Counter(expected.values())["checks"] > 9, "the limit leaves items out"
    assert {one.item: one.audit_state for one in stage.read_all("verdicts", Verdict)} == expected
    for state, words in AUDIT_STATES.items():
        mine = {item for item in items if expected[item] == state}
        with Tables(made.build) as tables:
            page = explore(made.build, tables, Filter(audit=state))
        assert page.total == len(mine)
        assert {row["id"] for row in page.rows} <= mine
        shown = client.get(f"/small/items?audit={state}").text
        marks = re.findall(r'<span class="mark (\w+)">(pass|flag|block) · ([^<]*)</span>', shown)
        assert len(marks) == len(page.rows)
        assert {said for _, _, said in marks} <= {words}
        green = {level for level, verdict, _ in marks if verdict == "pass"}
        assert green <= {"good" if state == "both" else "unknown"}
    unseen = next(
        one.item for one in stage.read_all("verdicts", Verdict) if one.status == "pass" and not one.audited
    )
    story_page = client.get(f"/small/items/{unseen}").text
    assert story_page.count('<span class="mark unknown">pass · checks only</span>') == 2
    assert '<span class="mark good">pass' not in story_page


def test_an_auditor_of_the_family_that_wrote_a_part_is_named(made: Made, tmp_path: Path) -> None:
    """The lake's items are rewritten as if a model of the first auditor's family had written some."""
    shutil.copytree(made.build.lake_root, tmp_path / "lake")
    build = replace(made.build, lake_root=str(tmp_path / "lake"))
    seen = {audit.item for audit in build.stage("6_audited").read_all("audits", Audit)}
    family, wrote = build.auditors().auditors[0].family, 0
    for path in (tmp_path / "lake").glob("*/5_checked/items/*.parquet"):
        table = pq.read_table(path)
        rows = table.to_pylist()
        for row in rows:
            if row["id"] in seen and row["kind"] == "choice":
                row["origin"]["model_family"] = family.upper()
                wrote += 1
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    assert wrote
    name = build.auditors().auditors[0].name
    assert f"look: auditor {name} judged {wrote} items that its own family wrote a part of" in said(
        Gatherer(build).facts()
    )
    assert "its own family wrote" not in said(facts(made))


def test_a_story_runs_from_raw_text_to_releases(made: Made) -> None:
    with Tables(made.build) as tables:
        told = story(made.build, tables, made.fixed)
        assert told is not None
        assert told.generated is not None
        assert told.item.answer == told.generated.answer + " أبدا"
        assert told.origins[0].lines[0].raw
        assert [binds for _, binds in told.reviews] == [False], "the correction changed what was judged"
        assert {opinion.audit.auditor for opinion in told.opinions} == {"first", "second"}
        assert all('"scores"' in opinion.reply for opinion in told.opinions)
        assert dict(told.versions) == {"0.2.0": "gold changed", "0.1.0": "in it"}
        out = story(made.build, tables, made.discarded)
        assert out is not None
        assert [(stage, row.reason) for stage, row in out.rejections] == [
            ("7_reviewed", "discarded_wrong_gold")
        ]
        assert story(made.build, tables, "no-such-item") is None


def test_membership_of_releases_is_told_backwards(made: Made) -> None:
    assert dict(changes_of(made.build, made.discarded)) == {"0.2.0": "not in it", "0.1.0": "not in it"}
    assert dict(changes_of(made.build, "no-such-item")) == {"0.2.0": "not in it", "0.1.0": "not in it"}


def test_a_lake_on_an_object_store_is_read_where_it_lies(made: Made) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    store.put(made.build.lake_root, "/bucket/lake", recursive=True)
    remote = replace(made.build, lake_root="memory://bucket/lake")
    with Tables(remote) as tables:
        assert explore(remote, tables, Filter()).total > 0


PAGES = ("/", "/small", "/small/items", "/small/items?state=waiting", "/small/rejected")


@pytest.fixture
def client(made: Made) -> Iterator[TestClient]:
    with TestClient(dashboard_app([made.build]), base_url="http://127.0.0.1:8092") as opened:
        yield opened


def test_every_page_is_there_escaped_and_sealed(client: TestClient, made: Made) -> None:
    for path in (*PAGES, f"/small/items/{made.hostile}", f"/small/items/{made.fixed}"):
        found = client.get(path)
        assert found.status_code == 200, path
        assert "Small &amp; &lt;b&gt;bold&lt;/b&gt;" in found.text
        assert "<script" not in found.text
        assert "<img" not in found.text
        assert "default-src 'none'" in found.headers["content-security-policy"]
        assert found.headers["x-content-type-options"] == "nosniff"
    assert "&lt;script&gt;window.__ran=1&lt;/script&gt;" in client.get(f"/small/items/{made.hostile}").text
    assert "{{ 7*7 }}" in client.get(f"/small/items/{made.hostile}").text


def test_a_cost_that_is_not_all_says_so(client: TestClient) -> None:
    page = client.get("/small").text
    assert "0.06 USD" in page
    assert "1 without a price" in page


def test_items_run_from_right_to_left(client: TestClient, made: Made) -> None:
    text = client.get(f"/small/items/{made.fixed}").text
    assert re.search(r'class="item text" dir="rtl" lang="(ar|fa)"', text)


def test_what_a_rule_found_reads_in_the_language_of_the_item(client: TestClient, made: Made) -> None:
    checked = made.build.stage("5_checked")
    found = next(one for one in checked.read_all("findings", Finding) if one.subject.startswith("ar-"))
    page = client.get(f"/small/items/{found.subject}").text
    assert str(escape(finding_sentence(found, "ar"))) in page
    assert '<span class="why" lang="ar" dir="rtl">' in page


def test_only_reading_is_allowed_and_only_by_our_own_names(client: TestClient) -> None:
    assert client.post("/small").status_code == 405
    assert client.delete("/small/items/x").status_code == 405
    assert client.get("/small", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/small", headers={"host": "localhost:8092"}).status_code == 200


def test_what_is_not_there_is_said_plainly(client: TestClient) -> None:
    for path in ("/other", "/small/items/nothing", "/small/items/..%2f..%2fetc%2fpasswd", "/small/nothing"):
        assert client.get(path).status_code == 404, path
    for query in (
        "page=x",
        "page=-1",
        "page=99999999999999999999",
        "page=٣",
        "verdict='",
        "text=%00",
        "stage=../raw",
    ):
        assert client.get(f"/small/items?{query}").status_code == 200, query
        assert client.get(f"/small/rejected?{query}").status_code == 200, query


def test_state_is_there_for_machines(client: TestClient) -> None:
    state = client.get("/small/state.json").json()
    assert state["level"] == "look"
    assert {"level", "text"} == set(state["notes"][0])


def test_a_run_at_work_is_seen_at_work(own: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mihakk.pipeline.history.PROGRESS_SECONDS", -1)
    page = TestClient(dashboard_app([own.build]), base_url="http://localhost")
    with recorded(own.build, Silent()) as log:
        log.started(step_of("6_audited"), 24)
        log.tick(3)
        text = page.get("/small").text
    assert "in <b>6_audited</b>: 3 of 24 pieces" in text
    assert "a run is working since" in text
    assert "a run is working since" not in page.get("/small").text


def test_a_damaged_table_is_told_not_hidden(own: Made) -> None:
    part = next(Path(own.build.lake_root).glob("small/6_audited/items/*.parquet"))
    part.write_bytes(b"not parquet")
    with TestClient(dashboard_app([own.build]), base_url="http://localhost") as client:
        found = client.get("/small/items")
    assert found.status_code == 503
    assert "can&#39;t be read just now" in found.text or "can't be read just now" in found.text
    assert part.name in found.text


def test_the_report_is_one_file_that_quotes_no_item(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_LAKE", made.build.lake_root)
    config = Path(made.build.run_folder).parent / "small.yaml"
    out = tmp_path / "overview.html"
    done = CliRunner().invoke(app, ["report", str(config), "--out", str(out), "--lake", made.build.lake_root])
    assert done.exit_code == 0, done.output
    page = out.read_text("utf-8")
    assert "0.2.0" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page), "asks for nothing and leads nowhere"
    assert "<script" not in page
    assert made.fixed not in page
    assert "default-src &#39;none&#39;" in page


def test_the_page_of_a_run_is_the_same_page_with_its_texts(made: Made, tmp_path: Path) -> None:
    build = replace(made.build, run_folder=tmp_path)
    assert "data_docs" not in write_report(build).read_text("utf-8"), "no link to pages that are not there"
    (tmp_path / "data_docs").mkdir()
    page = write_report(build).read_text("utf-8")
    assert re.findall(r'(?:src|href)="(?!#|data:)([^"]+)"', page) == [
        "data_docs/index.html",
        "review_queue.json",
    ]
    assert "style=" not in page, "the policy would forbid it"
    assert "not judges" in page
    assert "One released item of each" in page
    assert "discarded_wrong_gold" in page
    for source in ("hafez · scraped", "sayings · generated"):
        assert source in page
    waiting = next(row for row in build.stage("7_reviewed").rejections() if row.reason == "unresolved")
    assert f"<code>{waiting.record}</code>" in page
    first = next(build.stage("5_checked").read_all("findings", Finding))
    assert str(escape(first.detail)) in page
    rows = Gatherer(build).facts().opinions.tasks
    assert sum(row["made"] for row in rows) == build.stage("5_checked").manifest().counts.written
    assert sum(row["kept"] for row in rows) == build.stage("8_released").manifest().counts.read


def test_a_host_that_others_reach_needs_a_name() -> None:
    done = CliRunner().invoke(app, ["dashboard", "demo", "--host", "0.0.0.0"])
    assert done.exit_code == 2


def test_what_the_schedule_has_missed_is_said_on_the_page_and_for_each_source(made: Made) -> None:
    """prefect.yaml runs the night at 23:30 UTC, and a night may take two hours."""
    last = runs(made.build.lake)[0][0].seen
    soon = health(made.build, last)
    assert "due" not in "".join(note.text for note in soon.notes)
    later = health(made.build, last + timedelta(hours=27))
    notes = [note.text for note in later.notes]
    read = f"last read {last:%Y-%m-%d %H:%M} UTC, due "
    assert any(note.startswith(f"sources hafez, sayings: {read}") for note in notes), notes
    assert any(note.startswith("the release is late: last released ") for note in notes), notes
    assert {one.level for one in later.sources} == {"look"}


@pytest.mark.parametrize("template", ["overview", "item"])
def test_every_reason_for_asking_people_has_its_words_on_the_pages(template: str) -> None:
    text = (SHARED / f"{template}.html.jinja").read_text(encoding="utf-8")
    (words,) = re.findall(r'{{ {("flagged": [^}]*)}\[', text)
    assert set(re.findall(r'"(\w+)": ', words)) == set(get_args(Why))
