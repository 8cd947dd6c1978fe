"""Every figure of published tables that can be had again without a model, and the linter on all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Final

import numpy as np
import openpyxl
import pandas as pd
import pytest
from pydantic import ValidationError

from mihakk.evaluation.lint import Grid, lint, read_grids
from mihakk.evaluation.lint.checks import inferred_sizes
from mihakk.evaluation.lint.grid import Cell
from mihakk.evaluation.metrics.metric import METRICS
from mihakk.evaluation.published import FOLDER, figures_of
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.evaluation.running.suites import load_suite
from mihakk.evaluation.statistics.cluster import plain_se
from mihakk.evaluation.table.column import column_of
from mihakk.evaluation.table.overall import Averaging, averages
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT
from mihakk.schemas.suite import Averaging as Scheme
from mihakk.schemas.suite import PublishedFigures
from tests.evaluation.material import reply_to, score_answers, worded

TABLES: Final = sorted(path.stem for path in FOLDER.glob("*.csv"))


def grid(name: str) -> Grid:
    (found,) = read_grids(FOLDER / f"{name}.csv")
    return found


def cell(table: Grid, row: int, place: int) -> Cell:
    found = table.cells[row][place]
    assert found is not None
    return found


def prose_of(shared: Path, system: str) -> list[tuple[str, str]]:
    """The reference of every couplet, and the system's prose."""
    file = shared / "ghazalbench" / f"prose_{system}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    return [(row["reference"], row["reply"]) for row in rows]


def paraphrases(shared: Path) -> list[tuple[str, str]]:
    """The prose of every couplet, and the paraphrase of it that is shown."""
    sheet = openpyxl.load_workbook(shared / "ghazalbench" / "completionQsHafez.xlsx", read_only=True).active
    head, *rows = (row for row in sheet.iter_rows(values_only=True) if any(row))
    pairs = []
    for cells in rows:
        row = dict(zip(head, cells, strict=False))
        shown = re.findall(r"<couplet_prose>(.*?)</couplet_prose>", row["Question (Name + Para)"], re.DOTALL)
        pairs.append((row["Prose"].strip(), shown[-1].strip()))
    return pairs


def corpus(pairs: Sequence[tuple[str, str]], *metrics: str) -> list[float]:
    """Figures of references and what was written, through our own rows."""
    facts = {"language": "fa", "task": "couplet_prose", "config": "fa_couplet_prose", "ability": "skill"}
    questions = {f"g{n}": worded(f"g{n}", gold, **facts) for n, (gold, _) in enumerate(pairs)}
    answers = [reply_to(questions[f"g{n}"], f"<answer>{said}</answer>") for n, (_, said) in enumerate(pairs)]
    found = []
    for name in metrics:
        metric = METRICS.get(name)
        counts = [json.loads(row.detail)["statistics"] for row in score_answers(answers, questions, [metric])]
        assert metric.total is not None
        found.append(metric.total(np.sum(counts, axis=0, dtype=float), metric.options))
    return found


KINAYAT: Final[Mapping[str, Mapping[str, int]]] = {
    "kn_03": {"": 150},
    "kn_06": {"": 198},
    "kn_07": {"Kinayat": 325, "Jawaher": 198},
    "kn_08": {"MAPS": 394, "Jawaher": 198},
    "kn_09": {"MAPS": 394, "MAPS + Context": 394, "Jawaher": 198, "Kinayat": 325},
    "kn_10": {"Jawaher (General)": 198, "Jawaher (SRL)": 198, "Kinayat (General)": 325, "Kinayat (SRL)": 325},
    "kn_12": {"": 104},
}
"""Items of each column of accuracies: the sizes of the data sets, as the paper gives them but for table 12."""


@pytest.mark.parametrize("name", KINAYAT)
def test_the_linter_finds_the_sizes_of_kinayats_columns_by_itself(name: str) -> None:
    found = inferred_sizes(grid(name))
    sizes = KINAYAT[name]
    for column, size in found.items():
        assert size == (sizes.get(column, sizes.get("", 0)), 1.0)
    assert len(found) == len(grid(name).columns)


def test_proverbs_were_scored_on_104_items_and_not_105() -> None:
    findings = lint(grid("kn_12"), {"Proverb": 105, "Proverb Explanation": 105, "Idiom": 104})
    assert [(one.check, one.where) for one in findings] == [
        ("RT03", "Proverb"),
        ("RT03", "Proverb Explanation"),
    ]
    assert findings[0].detail == "0 of 20 figures fit 105 items; 104 items fit those of the column"
    assert lint(grid("kn_12"), {"": 104}) == []


def test_kinayats_order_gap_is_the_difference_of_the_two_orders() -> None:
    table = grid("kn_06")
    for row in table.plain_rows:
        first, second = (round(cell(table, row, place).value * 198) for place in (0, 1))
        assert round((first - second) / 198, 4) == cell(table, row, 2).value


SIZES: Final[Mapping[str, float]] = {
    "Llama-3.1-8B-Instruct": 8,
    "Gemma-2-9B-it": 9,
    "Gemma-2-27b-it": 27,
    "Qwen2.5-7B-Instruct": 7,
    "Qwen2.5-14B-Instruct": 14,
    "Qwen2.5-32B-Instruct": 32,
    "Aya-expanse-8b": 8,
    "Aya-expanse-32b": 32,
    "Mistral-7B-Instruct-v0.3": 7,
    "Jais-family-6p7b-chat": 6.7,
    "Jais-family-13b-chat": 13,
    "Fanar-1-9B-Instruct": 9,
    "SILMA-9B-Instruct-v1.0": 9,
    "ALLaM-7B-Instruct-preview": 7,
    "AceGPT-v2-8B-Chat": 8,
}
"""Billions of parameters of the open models from 6.7 to 32."""


DOMAINS: Final[Mapping[str, tuple[str, ...]]] = {
    "Cultural": ("AraDiCE", "ArabCulture", "PalmX"),
    "STEM": ("ArabicMMLU", "GAT", "3LM-STEM"),
    "Legal": ("MizanQA", "ArabLegalQA"),
    "Medical": ("MedArabiQ", "MedAraBench"),
    "Safety": ("AraTrust",),
    "Coding": ("HumanEval+", "MBPP+"),
    "Poetry": ("FannOrFlop",),
}


@pytest.mark.parametrize(
    ("scheme", "first", "figure"),
    [
        ("sets", "inceptionai/Jais-2-70B-Chat", 65.81),
        ("tasks", "inceptionai/Jais-2-70B-Chat", 65.81),
        ("categories", "Qwen/Qwen2.5-72B-Instruct", 65.80),
        ("hierarchy", "Qwen/Qwen2.5-72B-Instruct", 65.80),
    ],
)
def test_qimmas_first_is_first_only_if_benchmarks_and_not_domains_are_averaged(
    scheme: Scheme, first: str, figure: float
) -> None:
    table = grid("qm_03")
    columns = [
        column_of(
            pd.DataFrame(
                {
                    **{
                        "release": "qimma",
                        "config": name,
                        "task": name,
                        "ability": "skill",
                        "kind": "answer",
                    },
                    **{"metric": "printed", "method": "written", "scorer": "", "low": 0.0, "high": 100.0},
                    **{"higher_is_better": True, "item": "i", "group": "g"},
                    "model": table.rows,
                    "value": [cell(table, row, place).value for row in range(len(table.rows))],
                }
            )
        )
        for place, name in enumerate(table.columns)
        if name != "Avg"
    ]
    averaging = Averaging(DOMAINS, dict.fromkeys(table.columns, "printed"), scheme=scheme)
    overall = averages(columns, averaging)[-1]
    best = int(np.argmax(overall.figures))
    assert (overall.models[best], round(100 * overall.figures[best], 2)) == (first, figure)


def test_qimmas_code_sets_have_164_and_378_problems() -> None:
    sizes = inferred_sizes(grid("qm_03"))
    assert (sizes["HumanEval+"], sizes["MBPP+"]) == ((164, 100.0), (378, 100.0))
    # So have the sets of choices whose size table 2 gives: kept items of AraDiCE and AraTrust.
    assert (sizes["AraDiCE"].items, sizes["AraTrust"].items) == (180, 522)


SLIPS: Final[Mapping[str, list[str]]] = {
    "bl_01": ["RT05", "RT05"],
    "fof_03": ["RT07", "RT08", "RT08", "RT08", "RT08"],
    "fof_18": ["RT07"] * 4,
    "kn_07": ["RT09", "RT09"],
    "kn_10": ["RT01", "RT02", "RT04"],
}
"""All that the linter says of the published tables; each was looked at by eye."""


@pytest.mark.parametrize("name", TABLES)
def test_the_linter_finds_the_slips_of_published_tables_and_nothing_else(name: str) -> None:
    assert [one.check for one in lint(grid(name))] == SLIPS.get(name, [])


SUITES: Final = sorted((ROOT / "configs" / "suites").glob("*.yaml"))
PAPERS: Final = {
    **{"Fann or Flop": "fof", "GhazalBench": "gb", "Kinayat": "kn", "QIMMA": "qm", "BALSAM": "bl"},
}


def test_figures_of_all_five_papers_stand_beside_ours_as_their_tables_print_them() -> None:
    met = set()
    for path in SUITES:
        for one in load_suite(str(path)).published:
            assert one.column is not None
            file, column = one.column
            met.add(one.paper)
            assert file.startswith(f"{PAPERS[one.paper]}_")
            assert one.table == f"table {int(file[-2:])}, {column}"
            found = figures_of(one)
            rows = [line.split(",") for line in (FOLDER / f"{file}.csv").read_text("utf-8").splitlines()]
            place = rows[0].index(column)
            printed = {row[0]: row[place].partition("±")[0] for row in rows[1:]}
            assert found
            assert {name: float(printed[name]) for name in found} == found
            assert not {"Average", "Avg", "Mean"} & set(found), "a mean is no system"
            # Per cent and scales are told apart by what is printed.
            assert one.percent == (max(found.values()) > 3)
    assert met == set(PAPERS)


@pytest.mark.parametrize(
    "path", [path for path in SUITES if load_suite(str(path)).published], ids=lambda path: path.stem
)
def test_published_figures_stand_beside_what_the_suite_asks(
    path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(shared_data))
    suite = load_suite(str(path))
    if suite.parts[0].adapter == "balsam":  # its files are not at hand: what is published is its average
        asked = set()
    elif suite.parts[0].adapter:
        asked = {one.question.config for one in asked_of_suite(suite, lambda name: (Path(name), ""))}
    else:
        asked = {f"ar_{task}" for part in suite.parts for task in part.only}
    for one in suite.published:
        if one.beside == "overall":
            continue
        config, metric = one.beside.split()
        assert config in asked
        assert metric in METRICS.names() or metric.startswith("judged_")
        assert not suite.metrics or metric in suite.metrics


@pytest.mark.parametrize(
    ("column", "says"), [(("kn_99", "X"), "there is no table 'kn_99'"), (("kn_03", "X"), "has no column 'X'")]
)
def test_a_table_or_column_that_is_not_there_is_refused(column: tuple[str, str], says: str) -> None:
    one = PublishedFigures(paper="K", table="t", beside="a b", differs="d", column=column)
    with pytest.raises(UsageError, match=says):
        figures_of(one)
    with pytest.raises(ValidationError, match="give either"):
        PublishedFigures(paper="K", table="t", beside="a b", differs="d")


def test_the_formula_of_the_errors_is_lm_evals() -> None:
    assert plain_se(0.25, 101) == pytest.approx(sqrt(0.25 * 0.75 / 100))
    assert plain_se(1.0, 1) is None
