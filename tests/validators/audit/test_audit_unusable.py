"""Auditors whose replies can't be used: by command line, and for the tables of a build."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.pipeline.steps.order import STEPS
from mihakk.schemas.audit import CRITERIA, Audit
from mihakk.schemas.stages import AUDITED
from tests.end_to_end.conftest import Workshop, make_workshop, opinion
from tests.foreign_sets import two_auditors, write_rows

SOUND = json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})
PLACES = ["بغداد", "دمشق", "تونس", "الرباط", "صنعاء", "مسقط"]
GARBAGE = {
    "garbage": "lorem ipsum",
    "nine criteria": json.dumps({"scores": dict.fromkeys(CRITERIA[:9], 1), "issues": []}),
    "not a number": SOUND.replace("1", "NaN"),
    "fenced": f"```json\n{SOUND}\n```",
}


@pytest.mark.parametrize("said", GARBAGE.values(), ids=GARBAGE)
def test_an_external_audit_by_a_broken_auditor_stops_and_asks_again_once_it_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    rows = [
        {
            "q": f"ما عاصمة البلد رقم {n} في القائمة؟",
            "A": place,
            "B": f"قرية قرب {place}",
            "gold": "AB"[n % 2],
        }
        for n, place in enumerate(PLACES)
    ]
    exam = write_rows(tmp_path / "exam.jsonl", rows)
    reply = said
    with (
        ScriptedServer(lambda _: Answer(text=reply)) as broken,
        ScriptedServer(lambda _: Answer(text=SOUND)) as well,
    ):
        config = two_auditors(tmp_path / "auditors.yaml", broken.url, well.url, names=("broken", "well"))
        command = ["audit", str(exam), "--map", "question=q,choices=A+B,gold=gold", "--auditors", config]
        command += ["--out", str(tmp_path / "out")]
        stopped = CliRunner().invoke(app, command)
        assert stopped.exit_code == 75, stopped.output
        assert "broken: 6 of its first 6 replies are unusable" in stopped.output
        assert not (tmp_path / "out" / "summary.json").exists(), "no rate is reported on garbage"
        reply, before = SOUND, len(well.calls)
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert "6 items: both auditors gave usable replies; 0: one auditor" in done.output
        assert "0: checks only, every reply usable" in done.output
        assert len(well.calls) == before, "usable replies are paid for once"
        asked = len(broken.calls)
        assert CliRunner().invoke(app, [*command, "--ask-again"]).exit_code == 0
        assert len(broken.calls) == asked


def build_to_audit(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> list[Audit]:
    build = shop.open("a", monkeypatch)
    engine = LocalEngine(1)
    try:
        run_pipeline(build, engine, Silent(), STEPS[:6])
    finally:
        engine.close()
    return list(build.stage(AUDITED).read_all("audits", Audit))


@pytest.mark.slow
def test_shards_written_before_the_stop_hold_no_unusable_reply_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: Callable[[Call], bool] = lambda call: True  # noqa: E731

    def script(call: Call) -> Answer:
        # Two calls in three fail at first: the stop comes after a shard of eight has been written.
        if call.body["model"] == "first" and broken(call):
            return Answer(text="no")
        return opinion(call)

    seen: list[str] = []

    def two_in_three(call: Call) -> bool:
        text = call.body["messages"][1]["content"]
        if text not in seen:
            seen.append(text)
        return seen.index(text) % 3 != 0

    broken = two_in_three
    with ScriptedServer(script) as server:
        shop = make_workshop(tmp_path, server.url)
        with pytest.raises(ExternalFailure, match=r"first: 11 of its first \d\d replies are unusable"):
            build_to_audit(shop, monkeypatch)
        written = list(shop.lake("a").rglob("6_audited/**/audits/*.parquet"))
        assert written, "the test means nothing unless a shard was finished before the stop"
        broken = lambda call: False  # noqa: E731
        audits = build_to_audit(shop, monkeypatch)
        assert {audit.status for audit in audits} == {"valid"}
        before, calls = shop.tables("a"), len(server.calls)
        assert build_to_audit(shop, monkeypatch) == audits
        assert (shop.tables("a"), len(server.calls)) == (before, calls)
