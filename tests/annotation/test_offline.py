"""Decisions of people who have no server: on sheets and by keyboard, by the rules of answers on one."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml
from typer.testing import CliRunner, Result

from mihakk.annotation.decisions.store import decisions, doubted
from mihakk.annotation.label_studio.exchange import resolutions
from mihakk.annotation.label_studio.offline import write_sheet
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.pipeline.opened_review import OpenReview, open_review
from tests.archives import unpacked
from tests.end_to_end.test_older_lake import ARCHIVE
from tests.releases.overlay_sets import ROWS, audited, lines

SARA, REZA, OMAR = "sara@example.org", "reza@example.org", "omar@example.org"
Rows = list[dict[str, str]]


@pytest.fixture
def review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenReview:
    """A built benchmark whose items two of three people judge, twelve unflagged ones among them."""
    unpacked(ARCHIVE, tmp_path)
    monkeypatch.chdir(tmp_path)
    for store in ("decisions", "review"):  # nobody has judged anything yet
        shutil.rmtree(tmp_path / "lake" / "small" / store, ignore_errors=True)
    config = yaml.safe_load(Path("small.yaml").read_text("utf-8"))
    config["review"] = {"overlap": 2, "team": 3, "miss_rate_sample": 12}
    Path("small.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    return open_review(Path("small.yaml"), "lake")


def decide(person: str, *arguments: str, keys: str = "") -> Result:
    done = CliRunner().invoke(
        app, ["review", "decide", "small.yaml", "--lake", "lake", "--person", person, *arguments], input=keys
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def sheet(person: str, name: str = "sheet.csv") -> Rows:
    """What waits for a person."""
    done = decide(person, "--out", name)
    assert done.exit_code == 0, done.output
    if name.endswith(".xlsx"):
        header, *rows = openpyxl.load_workbook(name).active.values
        return [{str(key): str(cell or "") for key, cell in zip(header, row, strict=True)} for row in rows]
    with Path(name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def give(person: str, rows: Rows, name: str = "filled.csv") -> str:
    """Takes the rows back; what the screen said."""
    if name.endswith(".xlsx"):
        book = openpyxl.Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(name)
    else:
        with Path(name).open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
            writer.writeheader()
            writer.writerows(rows)
    done = decide(person, "--sheet", name)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.xlsx"])
def test_two_people_on_sheets_settle_items_as_on_a_server(name: str, review: OpenReview) -> None:
    rows = sheet(SARA, name)
    assert len(rows) >= 12
    choice = next(row for row in rows if row["right"] not in ("", "2") and row["fix_option_1"])
    choice |= {"decision": "fix", "fix_option_1": "نص آخر", "right": "2", "failed": "answer_alignment"}
    first, second, third, fourth = [row for row in rows if row is not choice][:4]
    first |= {"decision": "keep", "confidence": "4"}
    second |= {"decision": "discard", "reason": "ambiguous", "notes": "كلمة خاصة"}
    third |= {"decision": "skip"}
    fourth |= {"decision": "discard", "reason": "boring"}
    said = give(SARA, rows, name.replace("sheet", "filled"))
    assert "3 decisions taken, 0 said before, 1 skipped" in said
    assert "invalid_annotation" in said
    told = {row.item: row for row in decisions(review.stores)}
    assert {row.annotator for row in told.values()} == {"annotator-01"}
    assert told[choice["sample_id"]].corrections == {"options[1]": "نص آخر", "gold": "1"}
    assert told[choice["sample_id"]].failed == ("answer_alignment",)
    assert (told[first["sample_id"]].decision, told[first["sample_id"]].confidence) == ("keep", 4)
    assert told[second["sample_id"]].reason == "ambiguous"
    assert told[second["sample_id"]].notes == ""  # people's own words stand in a table of their own
    assert "كلمة خاصة" not in "".join(
        path.read_text("utf-8") for path in Path("lake").rglob("decisions/*.jsonl")
    )

    again = sheet(REZA, name)
    mine = {row["sample_id"]: row for row in again}
    assert {one["sample_id"] for one in (choice, first, second)} <= mine.keys()
    mine[first["sample_id"]] |= {"decision": "keep"}
    mine[second["sample_id"]] |= {"decision": "keep"}
    assert "2 decisions taken" in give(REZA, again, name.replace("sheet", "filled"))
    outcomes = {item: one.outcome for (item, _), one in resolutions(review.stores, review.config).items()}
    assert outcomes[first["sample_id"]] == "keep"
    assert outcomes[second["sample_id"]] == "unresolved"

    left = {row["sample_id"] for row in sheet(OMAR, name)}
    assert first["sample_id"] not in left  # two agree
    assert second["sample_id"] in left  # split: a third person is asked
    assert second["sample_id"] not in {row["sample_id"] for row in sheet(SARA, name)}


def test_a_sheet_taken_twice_adds_nothing_and_a_changed_word_counts(review: OpenReview) -> None:
    rows = sheet(SARA)
    rows[0] |= {"decision": "keep"}
    assert "1 decisions taken" in give(SARA, rows)
    assert "0 decisions taken, 1 said before" in give(SARA, rows)
    assert len(decisions(review.stores)) == 1


def test_what_is_no_longer_the_item_is_refused(review: OpenReview) -> None:
    rows = sheet(SARA)
    rows[0] |= {"decision": "discard", "content_hash": "0" * 64}
    rows[1] |= {"decision": "fix"}
    rows[2] |= {"decision": "maybe"}
    rows[3] |= {"decision": "fix", "right": "9"}
    box = next(name for name in rows[4] if name.startswith("fix_") and rows[4][name])
    rows[4] |= {"decision": "keep", box: "نص آخر"}
    rows[5] |= {box: "نص آخر"}
    said = give(SARA, rows)
    assert f"{box} was changed and the decision is keep: write fix" in said
    assert f"{box} was changed and the decision is not given" in said
    assert "0 decisions taken" in said
    assert f"{rows[0]['sample_id']}: not_waiting: the item has changed" in said
    for why in ("fix_changes_nothing", "invalid_annotation"):
        assert why in said
    assert decisions(review.stores) == []
    assert doubted(review.stores) == {(row["sample_id"], row["content_hash"]) for row in rows[:6]}
    rows[2] |= {"decision": "keep"}
    assert "1 decisions taken" in give(SARA, [rows[2]])
    assert [row.item for row in decisions(review.stores)] == [rows[2]["sample_id"]]


@pytest.mark.usefixtures("review")
def test_what_is_no_sheet_is_said() -> None:
    rows = sheet(SARA)
    cases: list[tuple[list[str], str]] = [
        (["--sheet", "small.yaml"], "a sheet is one of .csv, .xlsx"),
        (["--sheet", "sayings.csv"], "has no column sample_id, content_hash, decision"),
        (["--sheet", "twice.csv"], "in two rows"),
        (["--out", "a.csv", "--sheet", "b.csv"], "give one of them"),
        (["--out", "a.ods"], "a sheet is one of"),
        (["--out", "sayings.csv"], "has no column sample_id"),
        (["--out", "given.csv"], "holds decisions: take them with --sheet"),
    ]
    given = [rows[0] | {"decision": "keep"}]
    with Path("given.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(given)
    Path("sayings.csv").write_text("phrase,meaning\na,b\n", "utf-8")
    with Path("twice.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows([rows[0], rows[0]])
    for arguments, why in cases:
        done = decide(SARA, *arguments)
        assert done.exit_code == 2, arguments
        assert why in " ".join(done.output.split())
    assert decide("sara").exit_code == 2


def test_by_keyboard(review: OpenReview) -> None:
    keys = ["k", "e", "d", "2", "1 4", "f", *[""] * 20, "q", "q"]
    done = decide(SARA, keys="\n".join(keys) + "\n")
    assert done.exit_code == 0, done.output
    kept, dropped = decisions(review.stores)
    assert (kept.decision, kept.opened) == ("keep", ())
    assert (dropped.decision, dropped.reason) == ("discard", "ambiguous")
    assert dropped.failed == ("text_readability", "question_clarity")
    assert dropped.opened == ("source",)
    assert "fix_changes_nothing" in done.output
    assert "\N{RIGHT-TO-LEFT ISOLATE}" in done.output
    assert "mihakk build small.yaml" in done.output


def test_a_cell_that_would_run_comes_back_as_it_was(
    review: OpenReview,
) -> None:
    rows = sheet(SARA)
    choice = next(row for row in rows if row["right"] not in ("", "2") and row["fix_option_1"])
    choice |= {"decision": "fix", "fix_option_1": "'=1+1"}
    assert "1 decisions taken" in give(SARA, rows)
    (told,) = decisions(review.stores)
    assert told.corrections == {"options[1]": "=1+1"}


@pytest.mark.parametrize("text", ["ا" * 32_768, "a\x0b"])
def test_a_text_that_no_cell_takes_is_not_cut_off(text: str, tmp_path: Path) -> None:
    row = {"sample_id": "a", "content_hash": "b", "language": "ar", "task": "t", "fix_question": text}
    with pytest.raises(UsageError, match=r"a has a text that no cell of a workbook takes: write a \.csv"):
        write_sheet(tmp_path / "a.xlsx", [row])
    assert write_sheet(tmp_path / "a.csv", [row]) == 1


def test_decisions_on_an_audited_set_name_the_audit_that_applies_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bench.jsonl").write_bytes(lines(ROWS))
    folder = audited(Path("bench.jsonl"), Path("audit"), repair=False)
    words = ["review", "decide", str(folder), "--person", SARA]
    done = CliRunner().invoke(app, [*words, "--out", "sara.csv"])
    assert done.exit_code == 0, done.output
    with Path("sara.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row | {"decision": "keep"} for row in csv.DictReader(file)]
    with Path("sara.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = CliRunner().invoke(app, [*words, "--sheet", "sara.csv"])
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert f"{len(rows)} decisions taken" in told
    assert told.endswith("Apply them with the audit's own command and --out audit")


@pytest.mark.usefixtures("review")
def test_golds_hidden_until_answered_need_a_server() -> None:
    config: dict[str, Any] = yaml.safe_load(Path("small.yaml").read_text("utf-8"))
    config["review"]["hide_gold"] = True
    Path("small.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    done = decide(SARA, "--out", "a.csv")
    assert (done.exit_code, "review.hide_gold" in done.output) == (2, True)
