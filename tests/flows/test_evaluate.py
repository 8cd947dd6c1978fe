"""`mihakk evaluate`, from a release and a file of replies to a table."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from mihakk.evaluation.questions import questions_of_release
from mihakk.evaluation.rows import read_rows
from mihakk.flows.cli import app
from mihakk.releases.assemble import assemble
from mihakk.schemas.evaluation import Question, Score
from tests.releases.release_material import hafez_items, release_arguments

RUNNER = CliRunner(env={"COLUMNS": "200"})
PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "reference" / "published"


def call(*arguments: str | Path) -> Result:
    return RUNNER.invoke(app, ["evaluate", *map(str, arguments)])


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(20)))
    return folder


@pytest.fixture(scope="module")
def questions(release: Path) -> dict[str, Question]:
    return questions_of_release(release)


def replies(path: Path, questions: dict[str, Question], every: int) -> Path:
    """Right answers to all but each so-many-th question."""
    lines = []
    for number, one in enumerate(questions.values()):
        right = number % every != 0
        if one.kind == "choice":
            reply = one.labels[one.gold[0]] if right else one.labels[one.gold[0] - 1]
        elif one.kind == "answer":
            reply = f"<answer>{one.answer if right else 'نمی‌دانم'}</answer>"
        else:
            reply = "\n".join(f"{place}. {text}" for place, text in enumerate(one.explanations, 1))
        lines.append(json.dumps({"item": one.item, "reply": reply}, ensure_ascii=False))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_questions_of_a_release_keep_what_scores_need(release: Path, questions: dict[str, Question]) -> None:
    kinds = {one.kind for one in questions.values()}
    assert kinds == {"choice", "answer", "explanation"}
    one = next(one for one in questions.values() if one.kind == "choice" and one.pair_id)
    other = next(two for two in questions.values() if two.pair_id == one.pair_id and two.order != one.order)
    assert one.group == other.group
    assert one.options[one.gold[0]] == other.options[other.gold[0]]
    assert (one.release, one.version, len(one.digest)) == ("touchstone", "0.1.0", 64)
    assert {two.ability for two in questions.values()} == {"recall", "skill"}


def test_from_replies_to_a_table_and_again_without_a_reply(
    release: Path, questions: dict[str, Question], tmp_path: Path
) -> None:
    for name, every in (("often", 9), ("seldom", 2)):
        file = replies(tmp_path / f"{name}.jsonl", questions, every)
        done = call(
            "import",
            file,
            "--release",
            release,
            "--model",
            name,
            "--prompt",
            "own@1",
            "--out",
            tmp_path / name,
        )
        assert done.exit_code == 0, done.output
        assert f"{len(questions):,} answers ({len(questions):,} read" in done.stdout
    scores = tmp_path / "often" / "scores.parquet"
    before = scores.read_bytes()
    assert {row.model for row in read_rows(scores, Score)} == {"often"}
    assert call("rescore", tmp_path / "often", "--release", release).exit_code == 0
    assert scores.read_bytes() == before
    shown = call("table", tmp_path / "often", tmp_path / "seldom", "--out", tmp_path / "tables")
    assert shown.exit_code == 0, shown.output
    assert "touchstone/fa_continuation_choice · accuracy · written" in shown.stdout
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {
        "cells.parquet", "pairs.parquet", "averages.parquet", "average_pairs.parquet", "items.parquet",
    }  # fmt: skip
    page = call("table", tmp_path / "often", tmp_path / "seldom", "--format", "markdown").stdout
    assert page == call("table", tmp_path / "seldom", scores, "--format", "markdown").stdout
    assert page == call("table", tmp_path, "--format", "markdown").stdout, (
        "a suite's folder, as runs leave it"
    )
    asked = [
        number for number, one in enumerate(questions.values()) if one.config == "fa_continuation_choice"
    ]
    assert f"| often | {sum(number % 9 != 0 for number in asked) / len(asked):.3f} [" in page
    assert call("table", tmp_path / "often", "--format", "latex").stdout.count(r"\toprule") > 2
    by = call("table", tmp_path / "often", "--by", "poet", "--format", "markdown").stdout
    assert "poet=own" in by


def test_a_suites_name_in_place_of_its_folder_is_answered_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "evaluate" / "demo").mkdir(parents=True)
    done = call("table", "demo")
    assert done.exit_code == 2
    assert "there are no scores in demo: name runs/evaluate/demo" in " ".join(done.output.split())


def test_results_come_as_json(release: Path, questions: dict[str, Question], tmp_path: Path) -> None:
    for name, every in (("often", 9), ("seldom", 2)):
        part = dict(list(questions.items())[2:])
        file = replies(tmp_path / f"{name}.jsonl", part, every)
        done = call("import", file, "--release", release, "--model", name, "--out", tmp_path / name, "--json")
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert (told["answers"], told["read"], told["missing"]) == (len(part), len(part), list(questions)[:2])
        assert told["rejected"] == {}
    of_the_file = {"missing", "rejected", "joined_by", "beside"}
    again = json.loads(call("rescore", tmp_path / "often", "--release", release, "--json").stdout)
    assert again == {name: told[name] for name in told if name not in of_the_file} | {
        "folder": str(tmp_path / "often")
    }
    shown = json.loads(call("table", tmp_path / "often", tmp_path / "seldom", "--json").stdout)
    frames = tmp_path / "frames"
    assert call("table", tmp_path / "often", tmp_path / "seldom", "--out", frames).exit_code == 0
    for name in ("cells", "pairs", "averages", "average_pairs"):
        rows = pq.read_table(frames / f"{name}.parquet").to_pylist()
        assert [list(row) for row in shown[name]] == [list(row) for row in rows]
    assert {row["model"] for row in shown["cells"]} == {"often", "seldom"}
    assert all(
        0 <= row["figure"] <= 1
        for row in shown["cells"]
        if row["metric"] == "accuracy" and row["figure"] is not None
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--release", "nowhere"), "there is no folder nowhere; a release on a Hub is written NAME@VERSION"),
        (("--release", "."), "is not a release: it has no MANIFEST.sha256"),
        (("--metric", "acuracy"), "did you mean accuracy"),
        (("--split", "train"), "has no items in a split 'train'"),
        (("--config", "fa_none"), "has no config 'fa_none' with a split 'test'"),
    ],
)
def test_a_mistake_is_named_with_its_fix(
    release: Path, questions: dict[str, Question], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    file = replies(tmp_path / "r.jsonl", questions, 3)
    with_release = () if "--release" in arguments else ("--release", str(release))
    done = call("import", file, "--model", "m", "--out", tmp_path / "m", *with_release, *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_lint_says_what_is_wrong_and_where_and_leaves_with_one() -> None:
    done = call("lint", PUBLISHED / "kn_10.csv")
    assert done.exit_code == 1
    assert (
        "RT01 Llama-3.1-70B-Instruct, Kinayat (General): 0.8990±0.0215 is no whole number of 325"
        in done.stdout
    )
    assert "the same stands under Jawaher (General)" in done.stdout
    assert call("lint", PUBLISHED / "kn_03.csv", "--n", "150").exit_code == 0
    wrong = call("lint", PUBLISHED / "kn_12.csv", "--n", "Proverb=105", "--json")
    (table,) = json.loads(wrong.stdout)
    assert [finding["check"] for finding in table["findings"]] == ["RT03"]
    assert call("lint", PUBLISHED / "kn_03.csv", "--n", "many").exit_code == 2


def test_a_malformed_line_is_told_with_its_share_and_kept_beside_the_answers(
    release: Path, questions: dict[str, Question], tmp_path: Path
) -> None:
    file = replies(tmp_path / "r.jsonl", questions, 9)
    lines = file.read_text(encoding="utf-8").split("\n")
    file.write_text("\n".join([lines[0][:-5], *lines[1:]]), encoding="utf-8")
    words = ("import", file, "--release", release, "--model", "m", "--out", tmp_path / "out")
    told = call(*words)
    assert told.exit_code == 0, told.output
    assert "1 lines (" in told.output
    assert "1 not_json" in told.output
    assert f"1 of {len(questions):,} questions have no answer" in told.output
    assert pq.read_table(tmp_path / "out" / "answers.parquet").num_rows == len(lines) - 1
    (kept,) = pq.read_table(tmp_path / "out" / "rejected.parquet").to_pylist()
    assert (kept["record"], kept["body"]) == ("line 1", lines[0][:-5])
    assert json.loads(call(*words, "--json").stdout)["rejected"] == {"not_json": 1}
