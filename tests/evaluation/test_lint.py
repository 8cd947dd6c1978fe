"""The linter on tables made wrong on purpose, and on the forms people publish tables in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mihakk.evaluation.lint import Grid, lint, read_grids
from mihakk.evaluation.lint.checks import inferred_sizes
from mihakk.evaluation.lint.grid import cell_of, grid_of
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError

SYSTEMS = [f"system {n}" for n in range(12)]
RIGHT = [[93, 141], [61, 99], [77, 123], [45, 180], [88, 155], [52, 160], [99, 133], [110, 147], [71, 111], [64, 101], [83, 166], [58, 121]]  # fmt: skip
SIZES = (120, 200)


def sound(**changed: str) -> Grid:
    """Accuracies of 120 and 200 items with errors and a mean row; `changed` replaces cells by `r3c1`."""
    rows = [["", "one", "two"]]
    for number, counts in enumerate(RIGHT):
        shares = [count / size for count, size in zip(counts, SIZES, strict=True)]
        rows.append([SYSTEMS[number], *(f"{p:.4f} ± {(p * (1 - p) / (n - 1)) ** 0.5:.4f}" for p, n in zip(shares, SIZES, strict=True))])  # fmt: skip
    means = np.mean(np.array(RIGHT) / SIZES, axis=0)
    rows.append(["Average", *(f"{mean:.4f}" for mean in means)])
    for place, text in changed.items():
        row, column = map(int, place.removeprefix("r").split("c"))
        rows[row][column] = text
    found = grid_of("t", rows)
    assert found is not None
    return found


def test_a_sound_table_has_no_findings_and_gives_its_sizes_away() -> None:
    assert lint(sound()) == []
    assert {name: size.items for name, size in inferred_sizes(sound()).items()} == {"one": 120, "two": 200}


@pytest.mark.parametrize(
    ("changed", "checks", "where"),
    [
        ({"r4c1": "0.3752 ± 0.0444"}, ["RT01"], "system 3, one"),
        ({"r4c1": "0.3750 ± 0.0544"}, ["RT02"], "system 3, one"),
        ({"r13c2": "0.6950"}, ["RT04"], "Average, two"),
        ({"r13c1": "0.6257 ± 0.0000"}, ["RT09"], "Average, one"),
    ],
)
def test_one_wrong_cell_is_found_where_it_is(changed: dict[str, str], checks: list[str], where: str) -> None:
    findings = lint(sound(**changed))
    assert [one.check for one in findings] == checks
    assert {one.where for one in findings} == {where}


def test_a_stated_size_is_believed_until_another_fits() -> None:
    assert [one.check for one in lint(sound(), {"one": 119})] == ["RT03"]
    assert lint(sound(), {"one": 120, "two": 200}) == []
    with pytest.raises(UsageError, match="no column 'three'"):
        lint(sound(), {"three": 5})


def test_random_figures_give_no_size_away() -> None:
    draws = np.random.default_rng(1)
    for _ in range(20):
        rows = [["", "x"], *([name, f"{draws.random():.4f}"] for name in SYSTEMS)]
        found = grid_of("t", rows)
        assert found is not None
        assert inferred_sizes(found) == {}


def test_accuracies_of_few_items_repeat_without_a_finding() -> None:
    draws = np.random.default_rng(2)
    for _ in range(20):
        counts = draws.integers(60, 100, size=(20, 4))
        rows = [
            ["", "a", "b", "c", "d"],
            *([f"s{n}", *(f"{one / 104:.4f}" for one in row)] for n, row in enumerate(counts)),
        ]
        found = grid_of("t", rows)
        assert found is not None
        assert lint(found) == []


def test_columns_that_are_one_column() -> None:
    rows = [
        ["", "one", "two", "three"],
        *(
            [name, f".{n * 37 % 100:02}", f".{n * 37 % 100:02}", f".{n}"]
            for n, name in enumerate(SYSTEMS[:8])
        ),
    ]
    found = grid_of("t", rows)
    assert found is not None
    assert [(one.check, one.where) for one in lint(found)] == [("RT07", "one and two")]


def test_a_mean_over_what_is_there_is_told() -> None:
    rows = [["", "a", "b", "c", "Avg"]]
    rows += [[name, f"{n}.10", f"{n}.30", f"{n}.80", f"{n}.40"] for n, name in enumerate(SYSTEMS[:6])]
    rows += [["gap", "1.00", "–", "2.00", "1.50"], ["slip", "1.00", "2.00", "3.00", "2.30"]]
    found = grid_of("t", rows)
    assert found is not None
    assert [(one.check, one.where) for one in lint(found)] == [("RT05", "slip, Avg"), ("RT06", "gap, Avg")]


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("0.8533", 0.8533, None),
        ("**85.33 %**", 85.33, None),
        ("<b>.85</b> ± .03", 0.85, 0.03),
        ("$0.5400 \\pm 0.0408$", 0.54, 0.0408),
        ("3.92 (± 0.99)", 3.92, 0.99),
        ("٠٫٨٥".replace("٫", "."), 0.85, None),
        ("۸۵,۳۳", 85.33, None),
        ("−0.197", -0.197, None),
        ("–", None, None),
        ("n/a", None, None),
        ("7B", None, None),
        ("12-2024", None, None),
    ],
)
def test_figures_are_read_as_people_print_them(text: str, value: float | None, error: float | None) -> None:
    found = cell_of(text)
    assert (found.value, found.error) == (value, error) if found else value is None


CSV = "Model,kind,A,B\nx,open,0.50,–\ny,closed,0.25,0.75\n"
MARKDOWN = "# First\n\n| Model | kind | A | B |\n|---|---|---:|---:|\n| x | open | 0.50 | – |\n| y | closed | **0.25** | 0.75 |\n\nWords.\n\n| | C |\n|---|---|\n| z | 1 |\n"  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", CSV),
        ("t.csv", CSV.replace(",", ";")),
        ("t.tsv", CSV.replace(",", "\t")),
        ("t.md", MARKDOWN),
        ("t.json", json.dumps([{"Model": "x", "kind": "open", "A": 0.5, "B": None}, {"Model": "y", "kind": "closed", "A": 0.25, "B": 0.75}])),
        ("t.json", json.dumps({"x": {"A": 0.5, "B": None}, "y": {"A": 0.25, "B": 0.75}})),
    ],
)  # fmt: skip
def test_a_table_reads_the_same_in_every_form(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = read_grids(tmp_path / name)[0]
    assert (found.columns, found.rows) == (("A", "B"), ("x", "y"))
    assert [[one.value if one else None for one in row] for row in found.cells] == [[0.5, None], [0.25, 0.75]]


def test_all_tables_of_a_page_are_read_with_their_headings(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(MARKDOWN, encoding="utf-8")
    assert [found.title for found in read_grids(tmp_path / "t.md")] == ["First", "Words."]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "only words\nmore words\n", "no table of figures"),
        ("t.json", "{", "not JSON"),
        ("t.json", "[1, 2]", "list of objects"),
        ("t.xlsx", "x", "ends in .csv"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_grids(tmp_path / name)
    with pytest.raises(UsageError, match="there is no file"):
        read_grids(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "model,a,Average\nx,1.0,1.0\ny,2.0,2.0\n"),
        ("t.csv", "model,a,b\nx," + "9" * 400 + ",1\ny,2,3\n"),
        ("t.csv", "model,a,b\nx,0." + "9" * 400 + ",1\ny,2,3\n"),
        ("t.md", "# [/bold] [red\n| m | a | b |\n|---|---|---|\n| [/x] | 1 | 2 |\n| y | 2 | 3 |\n"),
        ("t.json", '[{"m":"x","a":1,"b":2},{"m":"y","a":NaN,"b":1e999}]'),
        ("t.json", '{"x":{"a":1},"x":{"a":2}}'),
    ],
)
def test_a_table_of_three_lines_ends_in_findings_or_in_none(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    told = CliRunner().invoke(app, ["evaluate", "lint", str(tmp_path / name)])
    assert told.exit_code in (0, 1), told.output
    assert isinstance(told.exception, SystemExit | None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", "[" * 5000),
        ("t.json", '[{"m":"x","a":' + "9" * 5000 + "}]"),
        ("t.csv", "m,a\n" + "x" * 200_000 + ',"1'),
        ("t.csv", ""),
        ("t.md", "\0"),
    ],
)
def test_what_is_no_table_is_said_to_be_none(tmp_path: Path, name: str, text: str) -> None:
    import mihakk.scrapers.tables  # noqa: F401 - raises the limit of the module `csv` in the whole process

    (tmp_path / name).write_text(text, encoding="utf-8")
    told = CliRunner().invoke(app, ["evaluate", "lint", str(tmp_path / name)])
    assert told.exit_code == 2, told.output
    assert name in told.output


def test_a_stated_number_of_items_has_digits_that_a_benchmark_can_have(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("m,a,b\nx,1,2\n", encoding="utf-8")
    told = CliRunner().invoke(app, ["evaluate", "lint", str(tmp_path / "t.csv"), "--n", "9" * 5000])
    assert told.exit_code == 2


def codes(rows: list[list[str]]) -> list[tuple[str, str]]:
    found = grid_of("t", rows)
    assert found is not None
    return [(one.check, one.where) for one in lint(found)]


LM_EVAL = """
|    Tasks    |Version|Filter          |n-shot| Metric |   |Value |   |Stderr|
|-------------|------:|----------------|-----:|--------|---|-----:|---|-----:|
|arc_challenge|      1|none            |     0|acc     |↑  |0.4360|±  |0.0145|
|             |       |none            |     0|acc_norm|↑  |0.4480|±  |0.0145|
|gsm8k        |      3|flexible-extract|     5|exact_match|↑|0.8430|±  |0.0115|
|             |       |strict-match    |     5|exact_match|↑|0.8000|±  |0.0127|
|ruler        |      1|none            |      |    4096|↑  |0.9527|±  |   N/A|
|flores       |      1|none            |      |bleu    |↑  |0.6000|±  |0.0000|
"""


def test_lm_evals_own_table_is_figures_with_their_errors(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(LM_EVAL, encoding="utf-8")
    (found,) = read_grids(tmp_path / "t.md")
    assert found.columns == ("Value",)
    assert found.rows[:4] == (
        "arc_challenge, acc", "arc_challenge, acc_norm",
        "gsm8k, flexible-extract, exact_match", "gsm8k, strict-match, exact_match",
    )  # fmt: skip
    cells = [row[0] for row in found.cells if row[0]]
    assert [(one.value, one.error) for one in cells[:2]] == [(0.436, 0.0145), (0.448, 0.0145)]
    assert cells[4].error is None
    assert [(one.check, one.where) for one in lint(found)] == [("RT09", "flores, bleu, Value")]


def test_a_column_of_errors_belongs_to_the_column_before_it() -> None:
    found = grid_of("t", [["m", "Size (B)", "acc", "acc_stderr", "f1"], ["x", "7", "0.5", "0.02", "0.4"]])
    assert found is not None
    assert found.columns == ("acc", "f1")
    assert found.cells[0][0] is not None
    assert found.cells[0][0].error == 0.02


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("0.6 ± 0.0", False),
        ("62 ± 0", False),
        ("0.6257 ± 0.0000", True),
        ("62.6 ± 0.0", True),
        ("100.0 ± 0.0", False),
    ],
)
def test_an_error_that_rounds_to_zero_is_no_finding(text: str, is_found: bool) -> None:
    found = codes([["m", "a"], ["x", text], ["y", "0.5 ± 0.1" if text.startswith("0") else "50.0 ± 1.1"]])
    assert ("RT09" in dict(found)) == is_found


@pytest.mark.parametrize("name", ["Average ⬆️", "**Avg. ↑**", "Mean ⬇", "المتوسط"])
def test_a_mean_is_known_with_an_arrow_behind_it(name: str) -> None:
    rows = [["m", "a", "b", name]] + [[f"s{n}", f"{n}.0", f"{n}.4", f"{n}.2"] for n in range(1, 6)]
    assert codes(rows) == []
    rows[3][3] = "9.9"
    assert codes(rows) == [("RT05", f"s3, {name.replace('**', '')}")]


def test_a_system_that_stands_there_twice_is_told_with_its_other_figure() -> None:
    rows = [
        ["m", "a", "b"],
        ["One-7B", "51.2", "40.3"],
        ["two", "47.9", "41.8"],
        ["**one-7b**", "51.2", "44.3"],
    ]
    found = grid_of("t", rows)
    assert found is not None
    assert [(one.check, one.where, one.detail) for one in lint(found)] == [
        ("RT10", "one-7b", "stands in the table twice, with other figures: b 40.3 and 44.3")
    ]


def bold_table(*columns: tuple[int, int]) -> list[list[str]]:
    """Four columns, the best of each in bold, but for those that are named with the place of theirs."""
    values = [
        ["51.1", "60.2", "70.3", "12.4"],
        ["55.5", "58.1", "74.7", "10.1"],
        ["43.9", "66.6", "71.2", "11.3"],
    ]
    rows = [["m", "a", "b", "c", "ppl ↓"], *([f"s{n}", *row] for n, row in enumerate(values))]
    for column, best in enumerate((1, 2, 1, 1)):
        row = rows[dict(columns).get(column, best) + 1]
        row[column + 1] = f"**{row[column + 1]}**"
    return rows


def test_a_bold_that_is_not_the_best_is_found_where_bold_marks_the_best() -> None:
    assert codes(bold_table()) == []
    assert codes(bold_table((1, 0))) == [("RT11", "s0, b")]
    across = [list(row) for row in zip(*bold_table((1, 0)), strict=True)]
    assert codes(across) == [("RT11", "b, s0")]


def test_a_system_set_in_bold_throughout_marks_nothing() -> None:
    assert codes(bold_table((0, 2), (1, 2), (2, 2), (3, 2))) == []


def test_columns_of_languages_are_no_ids_and_no_errors() -> None:
    heads = ["system", "en", "se", "id", "no"]
    found = grid_of(
        "t", [heads, ["a", "61.2", "58.1", "55.0", "57.5"], ["b", "64.9", "60.2", "54.1", "58.3"]]
    )
    assert found is not None
    assert list(found.columns) == heads[1:]
    errors = grid_of(
        "t", [["task", "acc", "se", "id"], ["a", ".612", ".011", "7"], ["b", ".649", ".012", "8"]]
    )
    assert errors is not None
    assert list(errors.columns) == ["acc"]
