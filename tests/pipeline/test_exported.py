"""What a suite asks, published benchmarks too, written as releases: every question comes back as it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from mihakk.evaluation.questions import rows_of_release
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.pipeline.exported import export_suite
from mihakk.releases.hub.load import named_folder
from mihakk.schemas.suite import Suite
from tests.evaluation.suite_rows import NAMES, REAL, bundled

RUNNER = CliRunner(env={"COLUMNS": "250"})


@pytest.mark.parametrize("name", NAMES)
def test_every_bundled_suite_comes_back_as_it_was_asked(name: str, tmp_path: Path) -> None:
    if name.startswith("ghazalbench") and not (REAL / "ghazalbench").is_dir():
        pytest.skip("needs the real data that is not part of the repository")
    told = bundled(name, tmp_path)
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    suite = Suite.model_validate(told)
    out = tmp_path / "out"
    call = ["evaluate", "export", str(tmp_path / "suite.yaml"), "--out", str(out), "--limit", "2", "--json"]
    done = RUNNER.invoke(app, call)
    assert done.exit_code == 0, done.output
    written = {Path(one["folder"]): one["rows"] for one in json.loads(done.stdout)}
    back = {}
    for folder in written:
        back |= {question.item: (question, row["prompt"]) for question, row in rows_of_release(folder)}
        assert (folder / "MANIFEST.sha256").is_file()
        assert list((folder / "eval" / "lm_eval").glob("*.yaml"))
    asked = {one.question.item: one for one in asked_of_suite(suite, named_folder, 2) if not one.wording}
    assert sum(written.values()) == len(back) == len(asked)
    for item, one in asked.items():
        question, prompt = back[item]
        assert prompt == one.prompt
        mixed = f"{one.question.config}_{one.question.kind}"
        assert question.config in {one.question.config, mixed}
        kept = {"digest": question.digest, "config": question.config, "release": question.release}
        assert question == one.question.model_copy(update=kept)
    assert RUNNER.invoke(app, call).exit_code == 2  # nothing is written over


def test_what_has_no_place_among_items_is_counted(tmp_path: Path) -> None:
    told = bundled("kinayat", tmp_path)
    told["parts"] = [{"release": told["parts"][0]["release"], "only": ["meaning_choice"], "wordings": 3}]
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    done = RUNNER.invoke(
        app, ["evaluate", "export", str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "out")]
    )
    (rows,) = (sum(1 for _ in rows_of_release(folder)) for folder in (tmp_path / "out").iterdir())
    assert f"{2 * rows} left out: programs, probes and further wordings" in done.output


def test_a_suite_of_nothing_that_can_be_an_item_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="programs alone"):
        export_suite([], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_exported_benchmark_is_audited_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(bundled("arabicmmlu", tmp_path), allow_unicode=True))
    call = ["evaluate", "export", str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "out")]
    assert RUNNER.invoke(app, [*call, "--licence", "CC-BY-4.0"]).exit_code == 0
    (folder,) = (tmp_path / "out").iterdir()
    mapping = "question=question,choices=options,gold=gold,id=id,gold_as=index0"
    done = RUNNER.invoke(
        app,
        ["audit", str(folder), "--rules-only", "--map", mapping, "--out", str(tmp_path / "audit")],
    )
    assert done.exit_code == 0, done.output
    items = pq.read_table(tmp_path / "audit" / "people" / "items.parquet").num_rows
    assert items == sum(1 for _ in rows_of_release(folder))
