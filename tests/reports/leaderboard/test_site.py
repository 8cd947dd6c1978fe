"""The leaderboard's folder: what its data say, what they keep to themselves, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from mihakk.evaluation.questions import question_of_row, questions_of_release
from mihakk.evaluation.report import score_files
from mihakk.evaluation.table import load_scores, results
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import assemble
from mihakk.releases.content.apart import CHANGED, CLOSED
from mihakk.releases.content.blind import find_answers, opened_rows, read_answers
from mihakk.releases.content.placement import LIKE_TEST
from mihakk.reports.leaderboard.site import FILES, HERE, LANGUAGES, Board, words, write_site
from mihakk.schemas.review import DiscardReason
from tests.releases.release_material import hafez_items, release_arguments
from tests.reports.leaderboard.material import (
    DAY,
    SKILL,
    SYSTEMS,
    answered,
    board,
    older,
    on_disk,
    suite,
    system,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Board]:
    folder = tmp_path_factory.mktemp("leaderboard")
    assemble(folder=folder / "release", **release_arguments(hafez_items(20)))
    found = board(folder / "release", folder / "runs", (*SYSTEMS, system("never-run", kind="persian")))
    write_site(found, folder / "site")
    return folder / "site", found


def data(site: Path, name: str) -> Any:
    text = (site / "data" / f"{name}.js").read_text("utf-8")
    assert text.startswith("mihakk(")
    given, _, value = text.removeprefix("mihakk(").removesuffix(");\n").partition(",")
    assert json.loads(given) == name
    return json.loads(value)


def column(site: Path, name: str) -> Any:
    return next(one for one in data(site, "board")["columns"] if f"{one['name']} {one['metric']}" == name)


def test_every_figure_is_the_tables_and_has_its_interval_and_rank_range(made: tuple[Path, Board]) -> None:
    site, given = made
    found = results(load_scores(score_files(given.folder, given.systems)))
    told = column(site, "fa_continuation_choice accuracy")
    cells = found.cells[
        (found.cells["config"] == "fa_continuation_choice") & (found.cells["metric"] == "accuracy")
    ]
    assert len(told["rows"]) == len(cells) == len(SYSTEMS)
    for row in told["rows"]:
        cell = cells[cells["model"] == given.systems[row["system"]].name].iloc[0]
        assert row["figure"] == pytest.approx(cell["figure"], abs=1e-4)
        assert (row["low"], row["high"]) == pytest.approx((cell["ci_low"], cell["ci_high"]), abs=1e-4)
        assert row["ranks"] == [cell["rank_low"], cell["rank_high"]]
        assert row["low"] < row["figure"] < row["high"]


def test_an_item_has_prompt_gold_and_every_systems_reply_as_it_was_read(made: tuple[Path, Board]) -> None:
    site, given = made
    told = column(site, "fa_continuation_choice accuracy")
    index = data(site, f"{told['id']}-items")
    assert len(index["items"]) == told["items"] == len(index["scores"])
    questions = questions_of_release(Path(given.suite.parts[0].release))
    right = [0.0] * len(SYSTEMS)
    for number, (item, scores) in enumerate(zip(index["items"], index["scores"], strict=True)):
        one = data(site, f"{told['pages']}/{number // 25}")[number % 25]
        gold = questions[item]
        assert one["gold"] == [f"{gold.labels[gold.gold[0]]}) {gold.options[gold.gold[0]]}"]
        assert gold.options[0] in one["prompt"]
        for place, reply in one["replies"].items():
            assert reply["rule"].startswith(("answer_line/", "label_named/"))
            assert (reply["read"] == gold.labels[gold.gold[0]]) == (scores[int(place)] == "9")
            right[int(place)] += scores[int(place)] == "9"
        assert scores[len(SYSTEMS) :] == "-"
    shares = {row["system"]: row["figure"] for row in told["rows"]}
    assert [round(count / len(index["items"]), 4) for count in right] == [
        shares[n] for n in range(len(SYSTEMS))
    ]


def test_published_figures_stand_beside_and_are_in_no_rank(made: tuple[Path, Board]) -> None:
    facts = data(made[0], "board")
    assert facts["published"][0]["figures"]["Some model"] == 0.71
    assert "Some model" not in json.dumps(facts["columns"]) + json.dumps(facts["systems"])


def test_what_was_not_run_is_said(made: tuple[Path, Board], tmp_path: Path) -> None:
    gaps = data(made[0], "board")["not_run"]
    assert {"why": "not_asked", "system": "never-run"} in gaps
    release = Path(made[1].suite.parts[0].release)
    questions = questions_of_release(release)
    answered(tmp_path / "runs", questions, SYSTEMS[:2], SKILL[:2])
    less = dict(list(questions.items())[7:])
    answered(tmp_path / "runs", less, SYSTEMS[2:3], SKILL[2:3])
    given = Board(suite(release), SYSTEMS[:3], tmp_path / "runs", made[1].fetch, DAY)
    write_site(given, tmp_path / "site")
    missing = [one for one in data(tmp_path / "site", "board")["not_run"] if one["why"] == "items_missing"]
    assert {one["system"] for one in missing} == {"closed-one"}
    assert sum(one["items"] for one in missing) == 7
    notes = {
        note[0]
        for column in data(tmp_path / "site", "board")["columns"]
        for row in column["rows"]
        for note in row.get("notes", [])
        if SYSTEMS[row["system"]].name == "closed-one"
    }
    assert notes == {"note_missing", "note_part"}


def test_of_a_blind_split_nothing_is_said_item_by_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "a secret of enough characters")
    settings.cache_clear()
    release = tmp_path / "release"
    assemble(folder=release, **release_arguments(hafez_items(20), blind="repository"))
    golds = read_answers(find_answers(tmp_path / "release.answers"))
    questions = {
        row["id"]: question_of_row(row, release="touchstone", digest="d" * 64, config=config)
        for config, split, row in opened_rows(release, golds)
        if split == "test"
    }
    answered(tmp_path / "runs", questions, SYSTEMS[:2], SKILL[:2])
    answered(tmp_path / "before", older(questions, "fa_continuation_choice"), SYSTEMS[:2], SKILL[:2])
    given = Board(
        *(suite(release, published=[]), SYSTEMS[:2], tmp_path / "runs", lambda name: (Path(name), ""), DAY),
        before=tmp_path / "before",
    )
    written = write_site(given, tmp_path / "site")
    assert (written.sealed, written.items) == (len(golds), 0)
    everything = "".join(path.read_text("utf-8") for path in (tmp_path / "site").rglob("*") if path.is_file())
    answers = [one.answer for one in questions.values() if one.answer]
    options = [option for one in questions.values() for option in one.options]
    assert answers
    assert not [text for text in (*golds, *answers, *options) if text in everything]
    assert all(one["sealed"] for one in data(tmp_path / "site", "board")["columns"] if one["drill"])
    for path in (tmp_path / "site" / "data").glob("*-slices.js"):
        parts = data(tmp_path / "site", path.stem)["slices"]
        assert all(value["groups"] >= 50 for part in parts for value in part["values"])


def test_moves_since_the_version_before_name_the_items_and_agree_with_both_tables(
    made: tuple[Path, Board], tmp_path: Path
) -> None:
    _, given = made
    questions = questions_of_release(Path(given.suite.parts[0].release), split="test")
    config = "fa_continuation_choice"
    own = [one.item for one in questions.values() if one.config == config]
    answered(tmp_path / "before", older(questions, config), SYSTEMS, SKILL)
    write_site(given._replace(before=tmp_path / "before"), tmp_path / "site")
    facts = data(tmp_path / "site", "board")
    told = facts["moves"]["sets"][column(tmp_path / "site", f"{config} accuracy")["id"]]
    assert {(one["item"], one["what"]) for one in told["items"]} == {
        (own[0], "changed"), (own[1], "added"), ("gone-item", "removed"),
    }  # fmt: skip
    tables = [
        results(load_scores(score_files(folder, SYSTEMS))).cells.query(
            f"config == '{config}' and metric == 'accuracy'"
        )
        for folder in (tmp_path / "before", given.folder)
    ]
    assert len(told["systems"]) == len(SYSTEMS)
    for row in told["systems"]:
        old, new = (table[table["model"] == SYSTEMS[row["system"]].name].iloc[0] for table in tables)
        assert (row["before"], row["after"]) == pytest.approx((old["figure"], new["figure"]), abs=1e-4)
        ends = [(int(cell["rank_low"]), int(cell["rank_high"])) for cell in (old, new)]
        assert row["ranks"] == [f"{low}" if low == high else f"{low}–{high}" for low, high in ends]
        difference = row["after"] - row["before"]
        assert row["low"] <= difference <= row["high"]
        parts = sum(row[name] for name in ("answers", "removed", "changed", "added"))
        assert parts == pytest.approx(difference, abs=4e-4)
    assert "items that are not what they were" in (tmp_path / "site" / "tables.html").read_text("utf-8")
    with pytest.raises(UsageError, match="none of the systems has scores in"):
        write_site(given._replace(before=tmp_path / "nowhere"), tmp_path / "site")


def test_pages_name_no_address_outside_their_folder(made: tuple[Path, Board]) -> None:
    site, _ = made
    for path in [*site.glob("*.html"), *site.glob("*.js"), *site.glob("*.css")]:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(?:https?:)?//[a-z]", text), path
    assert not list(site.rglob("*.tmp"))


def test_the_same_rows_give_the_same_bytes(made: tuple[Path, Board], tmp_path: Path) -> None:
    site, given = made
    write_site(given, tmp_path / "again")
    names = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert names == sorted(
        path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*") if path.is_file()
    )
    assert all((site / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in names)


def test_every_word_is_there_in_three_languages() -> None:
    used = set(
        re.findall(
            r"\bwords\.(\w+)",
            (HERE / "board.js").read_text("utf-8") + (HERE / "board.html.jinja").read_text("utf-8"),
        )
    )
    used |= set(re.findall(r'"(note_\w+)"', (HERE.parent / "figures.py").read_text("utf-8")))
    used |= {f"discarded_{reason}" for reason in get_args(DiscardReason)} | {
        LIKE_TEST,
        "blind_told_by_frequency",  # of releases of older versions
        CHANGED,
        CLOSED,
    }
    used |= {"blocked", "unresolved", "other_order", "not_generated"}
    used |= set(re.findall(r'told\("(\w+)"', (HERE / "board.js").read_text("utf-8")))
    holes = {
        language: {name: set(re.findall(r"\{\w+\}", text)) for name, text in words(language).items()}
        for language in LANGUAGES
    }
    for language in LANGUAGES:
        assert not used - words(language).keys()
        assert all(words(language).values())
        assert holes[language] == holes["en"]
    assert set(FILES) == set(LANGUAGES)


def test_a_folder_that_holds_something_else_is_left_alone(made: tuple[Path, Board], tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds something other than a leaderboard"):
        write_site(made[1], tmp_path / "thesis")
    (tmp_path / "board.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match=r"not a board\.json"):
        write_site(made[1]._replace(blind=tmp_path / "board.json"), tmp_path / "site")


def test_the_command_writes_it_over_itself_and_says_what_to_open(
    made: tuple[Path, Board], tmp_path: Path
) -> None:
    given = made[1]
    file, models = on_disk(tmp_path, given.suite, SYSTEMS)
    arguments = ["evaluate", "site", file, "--out", str(tmp_path / "site"), "--folder", str(given.folder)]
    for _ in range(2):
        done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*arguments, "--model", models])
        assert done.exit_code == 0, done.output
        assert f"open {tmp_path}/site/index.html" in done.stdout
    tables = (tmp_path / "site" / "tables.html").read_text("utf-8")
    assert "fa_continuation_choice · accuracy · written" in tables
    count = pq.read_table(given.folder / SYSTEMS[0].name / "answers.parquet").num_rows
    assert f"{len(SYSTEMS)} systems, {count} items" in done.stdout
