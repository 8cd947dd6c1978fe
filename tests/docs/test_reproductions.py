"""What the pages say was redone is computed anew here, to the digit they show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

from mihakk.evaluation.adapters.adapter import ADAPTERS
from mihakk.evaluation.lint import lint
from mihakk.evaluation.published import FOLDER
from mihakk.evaluation.statistics.cluster import plain_se
from mihakk.evaluation.table.analyses import group_means, size_effects
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.settings import ROOT
from mihakk.schemas.evaluation import Question
from tests.evaluation.test_published import DOMAINS, KINAYAT, SIZES, cell, corpus, grid, paraphrases, prose_of
from tools.docs_reproductions import Entry, pages, papers

ENTRIES: Final = [one for paper in papers() for one in paper.entries if one.measured]
Shared = Path
"""Folder of the public files."""
Measure = Callable[[Shared], str]


def values(table: str, column: str, *, items: int = 0) -> list[float]:
    """A column's figures without its mean; as shares of so many items where they are counts of these."""
    found = grid(table)
    place = found.columns.index(column)
    printed = [cell(found, row, place).value for row in found.plain_rows]
    return [round(one * items) / items if items else one for one in printed]


def digits(*figures: float, places: int = 4) -> str:
    return ", ".join(f"{one:.{places}f}".removeprefix("0") for one in figures)


def whole(*figures: float) -> str:
    return ", ".join(f"{one:,}" for one in figures)


def percent(*figures: float, places: int = 2) -> str:
    return ", ".join(f"{100 * one:.{places}f} %" for one in figures)


@cache
def asked(shared: Shared) -> Sequence[Question]:
    """What the public workbooks ask."""
    return [one.question for one in ADAPTERS.get("ghazalbench").read(shared / "ghazalbench", "d")]


def sizes(shared: Shared, language: str) -> str:
    groups = [one.group for one in asked(shared) if one.config == f"{language}_continuation"]
    return whole(len(groups), len(set(groups)))


def prose(shared: Shared, system: str) -> str:
    return digits(*corpus(prose_of(shared, system), "chrf", "bleu"), places=1)


def self_bleu(shared: Shared) -> str:
    return digits(*corpus(paraphrases(shared), "bleu"), places=2)


def option_kinds(shared: Shared) -> str:
    own = [one for one in asked(shared) if one.config == "fa_continuation_choice"]
    kinds = Counter(kind for one in own for kind in one.option_kinds)
    return whole(kinds["right"], kinds["same_poem"], kinds["other_poem"])


def kinayat_errors(_: Shared) -> str:
    fits = cells = 0
    for name, items in KINAYAT.items():
        table = grid(name)
        for row in table.plain_rows:
            for place, column in enumerate(table.columns):
                figure = table.cells[row][place]
                if figure is not None and figure.error is not None:
                    n = items.get(column, items.get("", 0))
                    share = round(figure.value * n) / n
                    cells += 1
                    fits += (round(share, 4), round(plain_se(share, n) or 0, 4)) == (
                        figure.value,
                        figure.error,
                    )
    return f"{fits} of {cells}"


def averages(*columns: tuple[str, str, int]) -> str:
    return digits(*(float(np.mean(values(table, name, items=n))) for table, name, n in columns))


TASKS: Final = {
    "MAPS MCQ": ("kn_09", "MAPS", 394),
    "MAPS MCQ Context": ("kn_09", "MAPS + Context", 394),
    "MAPS Completion": ("kn_08", "MAPS", 394),
    "Jawaher MCQ (general)": ("kn_09", "Jawaher", 198),
    "Jawaher MCQ (SRL)": ("kn_10", "Jawaher (SRL)", 198),
    "Jawaher MCQ Negation": ("kn_07", "Jawaher", 198),
    "Jawaher Completion": ("kn_08", "Jawaher", 198),
    "Kinayat MCQ (general)": ("kn_09", "Kinayat", 325),
    "Kinayat MCQ (SRL)": ("kn_10", "Kinayat (SRL)", 325),
    "Kinayat MCQ Negation": ("kn_07", "Kinayat", 325),
    "Kinayat Pragmatic Use": ("kn_03", "Pragmatic Use", 150),
    "Kinayat MCQ (150 samples)": ("kn_03", "Understanding", 150),
    "Kinayat MCQ Context (150 samples)": ("kn_03", "Contextual Understanding", 150),
    "Jawaher Generation BERTScore-F1": ("kn_11", "Jawaher BERT-F1", 0),
    "Kinayat Generation BERTScore-F1": ("kn_11", "Kinayat BERT-F1", 0),
    "Jawaher Generation LLM-Judge": ("kn_11", "Jawaher LLM-Judge", 198),
    "Kinayat Generation LLM-Judge": ("kn_11", "Kinayat LLM-Judge", 325),
}


def kinayat_groups(_: Shared) -> str:
    facts = pd.read_csv(FOLDER / "systems" / "kinayat.csv").set_index("model")["group"]
    printed = grid("kn_13")
    fits = cells = 0
    for task, (table, column, items) in TASKS.items():
        names = [grid(table).rows[row].replace("expense", "expanse") for row in grid(table).plain_rows]
        figures = pd.DataFrame({"model": names, "column": task, "figure": values(table, column, items=items)})
        found = group_means(figures, facts.to_dict()).set_index("group")["figure"]
        for place, name in enumerate(printed.columns):
            cells += 1
            off = abs(found[name.lower()] - cell(printed, printed.rows.index(task), place).value)
            fits += off <= (0.00005 if items else 0.0001) + 1e-9
    return f"{fits} of {cells}"


def kinayat_sizes(_: Shared) -> str:
    fits = 0
    for table, figures in (("kn_17", "kn_09"), ("kn_18", "kn_03")):
        effects = grid(table)
        for row, task in enumerate(effects.rows):
            own = grid(figures)
            place = own.columns.index(task)
            points = [cell(own, own.rows.index(model), place).value for model in SIZES]
            found = linregress(list(SIZES.values()), points)
            printed = (cell(effects, row, 0).value, cell(effects, row, 2).value)
            fits += (round(found.rvalue**2, 3), round(found.pvalue, 4)) == printed
    return f"{fits} of 7"


def kinayat_slip(_: Shared) -> str:
    """The one choice of the 16 open systems whose means are the four printed figures."""
    names = [name for kind in ("BERT", "Judge") for name in grid("kn_11").columns if kind in name]
    cells = np.array([values("kn_11", name)[:16] for name in names])
    chosen = (np.arange(1, 1 << 16)[:, None] >> np.arange(16)) & 1
    means = chosen @ cells.T / chosen.sum(axis=1, keepdims=True)
    arabic = grid("kn_13").columns.index("Arabic")
    rows = [
        f"{name.partition(' ')[0]} Generation {kind}"
        for kind in ("BERTScore-F1", "LLM-Judge")
        for name in names[:2]
    ]
    printed = [cell(grid("kn_13"), grid("kn_13").rows.index(row), arabic).value for row in rows]
    (one,) = np.flatnonzero((np.abs(means - printed) <= 0.00005 + 1e-9).all(axis=1))
    assert chosen[one].nonzero()[0].tolist() == list(range(1, 11))
    return digits(*means[one])


def kinayat_margins(_: Shared) -> str:
    printed = grid("kn_13")
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for row, task in enumerate(printed.rows):
        if "Generation" not in task:
            gaps[task.startswith("MAPS")].append(cell(printed, row, 0).value - cell(printed, row, 1).value)
    return percent(*(float(np.mean(own)) for own in gaps.values()))


def kinayat_gaps(_: Shared) -> str:
    use, meaning, context = (
        round(float(np.mean(values("kn_03", name, items=150))), 4)
        for name in ("Pragmatic Use", "Understanding", "Contextual Understanding")
    )
    return percent(meaning - use, context - meaning)


def kinayat_explained(_: Shared) -> str:
    means = {
        name: round(float(np.mean(values("kn_12", name, items=104))), 4) for name in grid("kn_12").columns
    }
    return percent(*(means[f"{name} Explanation"] - means[name] for name in ("Idiom", "Proverb")))


def kinayat_efficient(_: Shared) -> str:
    told = []
    for table, columns in (
        ("kn_09", ["MAPS"]),
        ("kn_09", ["Jawaher", "Kinayat"]),
        ("kn_03", ["Pragmatic Use"]),
    ):
        found = grid(table)
        rows = [
            (name, column, cell(found, found.rows.index(name), found.columns.index(column)).value)
            for column in columns
            for name in SIZES
        ]
        (best,) = set(
            size_effects(pd.DataFrame(rows, columns=["model", "column", "figure"]), SIZES)["best_for_size"]
        )
        told.append("-".join(best.split("-")[:2]))
    return ", ".join(told)


def kinayat_lengths(shared: Shared) -> str:
    """Words of every idiom of the book, as the bundled source reads it."""
    source = load_yaml(ROOT / "configs" / "sources" / "kinayat_openiti.yaml")["options"]
    text = next((shared / "kinayat").glob("*.txt")).read_text(encoding="utf-8")
    body = text[re.search(source["sections"], text, re.MULTILINE).start() :]  # type: ignore[union-attr]
    pattern = source["entry"].replace("(?P<head>", "(")
    words = [len("".join(found).split()) for found in re.findall(pattern, body, re.MULTILINE)]
    assert len(words) == source["entries"]
    shown = f"{np.mean(words):.2f}, {np.median(words):.0f}, {np.std(words):.2f}"
    return f"{shown}, {min(words)} to {max(words)}"


def ghazal_counts(_: Shared) -> str:
    fits = cells = 0
    for table, couplets in (("gb_02", 438), ("gb_03", 438), ("gb_04", 350)):
        printed = {round(100 * count / couplets, 1) for count in range(couplets + 1)}
        for column in grid(table).columns:
            found = values(table, column)
            cells += len(found)
            fits += sum(one in printed for one in found)
    return f"{fits} of {cells}"


POEMS: Final = {
    **{"Pre-Islamic": 374, "Transitional": 383, "Early Islamic": 294, "Umayyad": 568, "Abbasid": 2342},
    **{"Fatimid": 409, "Andalusian": 446, "Ayyubid": 413, "Mamluk": 408, "Between Dynasties": 321},
    **{"Ottoman": 326, "Modern": 700},
}
"""Totals of Fann or Flop's tables 5 to 16."""


def fann_eras(table: str, column: str) -> str:
    eras, printed = grid(table), grid("fof_03")
    weights = [POEMS[era] for era in eras.columns]
    fits = 0
    for row, name in enumerate(eras.rows):
        own = [cell(eras, row, place).value for place in range(len(weights))]
        told = cell(printed, printed.rows.index(name), printed.columns.index(column)).value
        fits += abs(float(np.average(own, weights=weights)) - told) <= 0.0001  # of rounded cells
    return f"{fits} of {len(eras.rows)}"


def fann_repeats(_: Shared) -> str:
    counts = Counter(values("fof_03", "BLEU"))
    value, rows = counts.most_common(1)[0]
    return f"{digits(value)} in {rows} of {counts.total()} rows"


def qimma_means(row: int) -> tuple[float, float]:
    """Means of a system's benchmarks and of its domains."""
    table = grid("qm_03")
    own = {name: cell(table, row, place).value for place, name in enumerate(table.columns) if name != "Avg"}
    return float(np.mean(list(own.values()))), float(
        np.mean([np.mean([own[one] for one in names]) for names in DOMAINS.values()])
    )


def qimma_first(_: Shared) -> str:
    table = grid("qm_03")
    means = [qimma_means(row)[0] for row in range(len(table.rows))]
    best = int(np.argmax(means))
    return f"{table.rows[best].partition('/')[2]} {means[best]:.2f}"


def qimma_averages(_: Shared) -> str:
    table = grid("qm_03")
    place, rows = table.columns.index("Avg"), range(len(table.rows))
    fits = sum(abs(qimma_means(row)[0] - cell(table, row, place).value) <= 0.00501 for row in rows)
    return f"{fits} of {len(rows)}"


def qimma_domains(_: Shared) -> str:
    table, domains = grid("qm_03"), grid("qm_04")
    fits = 0
    for row in range(len(table.rows)):
        for place, name in enumerate(domains.columns):
            parts = [cell(table, row, table.columns.index(one)).value for one in DOMAINS[name]]
            fits += abs(np.mean(parts) - cell(domains, row, place).value) <= 0.00501
    return f"{fits} of {len(table.rows) * len(domains.columns)}"


def qimma_points(_: Shared) -> str:
    points = sorted(
        zip(
            (
                kept + gone
                for kept, gone in zip(values("qm_02", "Kept"), values("qm_02", "Discarded"), strict=True)
            ),
            values("qm_02", "Discarded"),
            strict=True,
        ),
        reverse=True,
    )
    shown = ", ".join(f"{size:,.0f} at {100 * gone / size:.1f} %" for size, gone in points[:2])
    return f"{len(points)} points; {shown}"


def qimma_leads(_: Shared) -> str:
    table = grid("qm_03")
    own = table.rows.index("inceptionai/Jais-2-70B-Chat")
    led = [name for name in table.columns if name != "Avg" and int(np.argmax(values("qm_03", name))) == own]
    return ", ".join(led)


def qimma_gaps(_: Shared) -> str:
    found = [sorted(values("qm_04", name))[-2:] for name in ("Cultural", "Coding")]
    return ", ".join(f"{first - second:.2f}" for second, first in found)


def qimma_sizes(_: Shared) -> str:
    facts = pd.read_csv(FOLDER / "systems" / "qimma.csv").set_index("model")["parameters"]
    table = grid("qm_03")
    place = table.columns.index("Avg")
    frame = pd.DataFrame(
        {"model": table.rows, "column": "Avg", "figure": [cell(table, row, place).value for row in range(14)]}
    )
    (found,) = size_effects(frame, facts.to_dict()).itertuples()
    return f"R² {digits(found.r2, places=3)}, p {digits(found.p, places=3)}"


def qimma_margin(_: Shared) -> str:
    table = grid("qm_03")
    found = sorted(cell(table, row, table.columns.index("Avg")).value for row in range(len(table.rows)))
    return f"{found[-1] - found[-2]:.2f}"


def qimma_samples(_: Shared) -> str:
    kept, gone = (sum(values("qm_02", name)) for name in ("Kept", "Discarded"))
    return whole(int(kept + gone), int(gone))


def qimma_discards(_: Shared) -> str:
    rates = pd.read_csv(FOLDER / "qm_02.csv").set_index("Benchmark")
    rates = rates["Discarded"] / rates.sum(axis=1)
    return f"{100 * rates.max():.1f} % ({rates.idxmax()})"


def balsam_people(_: Shared) -> str:
    table = grid("bl_03")
    fits = 0
    for row in table.plain_rows:
        *each, printed = (cell(table, row, place).value for place in range(4))
        fits += round(float(np.mean(each)) + 1e-9, 3) == printed
    return f"{fits} of {len(table.plain_rows)}"


def balsam_averages(_: Shared) -> str:
    told = []
    for name in ("bl_01", "bl_02", "bl_06"):
        table = grid(name)
        slips = sum(one.check == "RT05" for one in lint(table))
        rows = [row for row in table.plain_rows if table.cells[row][table.mean_columns[0]] is not None]
        told.append(f"{len(rows) - slips} of {len(rows)}")
    return ", ".join(told)


def balsam_silma(_: Shared) -> str:
    first = grid("bl_01").rows[0]
    table = grid("bl_06")
    return f"{1 + table.rows.index(first)} of {len(table.plain_rows)}"


def people_averages(table: str) -> str:
    found = grid(table)
    return digits(*(float(np.mean(values(table, name))) for name in found.columns), places=3)


MEASURES: Final[dict[str, Measure]] = {
    "hafez_sizes": lambda shared: sizes(shared, "fa"),
    "shakespeare_sizes": lambda shared: sizes(shared, "en"),
    "prose_of_deepseek": lambda shared: prose(shared, "deepseek_v3_2"),
    "prose_of_gemma": lambda shared: prose(shared, "gemma_3_12b_instruct"),
    "option_kinds": option_kinds,
    "self_bleu": self_bleu,
    "kinayat_systems": lambda _: str(len(values("kn_09", "MAPS"))),
    "kinayat_errors": kinayat_errors,
    "kinayat_orders": lambda _: averages(("kn_06", "MCQ A", 198), ("kn_06", "MCQ B", 198)),
    "kinayat_averages": lambda _: "; ".join(
        (
            averages(
                *(TASKS[f"{name}"] for name in ("MAPS MCQ", "MAPS MCQ Context", "Jawaher MCQ (general)")),
                ("kn_09", "Kinayat", 325),
            ),
            averages(("kn_08", "MAPS", 394), ("kn_08", "Jawaher", 198)),
        )
    ),
    "kinayat_negation": lambda _: averages(("kn_07", "Kinayat", 325), ("kn_07", "Jawaher", 198)),
    "kinayat_use": lambda _: averages(
        *(("kn_03", name, 150) for name in ("Pragmatic Use", "Understanding", "Contextual Understanding"))
    ),
    "kinayat_groups": kinayat_groups,
    "kinayat_slip": kinayat_slip,
    "kinayat_margins": kinayat_margins,
    "kinayat_gaps": kinayat_gaps,
    "kinayat_explained": kinayat_explained,
    "kinayat_efficient": kinayat_efficient,
    "kinayat_lengths": kinayat_lengths,
    "ghazal_counts": ghazal_counts,
    "fann_poems": lambda _: whole(sum(POEMS.values())),
    "fann_eras": lambda _: fann_eras("fof_04", "BERTScore"),
    "fann_eras_entailment": lambda _: fann_eras("fof_18", "Textual Entailment"),
    "qimma_points": qimma_points,
    "qimma_leads": qimma_leads,
    "qimma_gaps": qimma_gaps,
    "qimma_sizes": qimma_sizes,
    "kinayat_sizes": kinayat_sizes,
    "kinayat_judge": lambda _: percent(137 / 220, 64 / 220, 19 / 220),
    "kinayat_connotation": lambda _: f"{percent(105 / 198)}, {percent(104 / 150, places=1)}",
    "fann_repeats": fann_repeats,
    "fann_equal": lambda _: (
        f"{sum(one.check == 'RT07' for one in lint(grid('fof_18')))} pairs of systems in table 18"
    ),
    "qimma_samples": qimma_samples,
    "qimma_modified": lambda _: percent(145 / 164, 308 / 378, places=0),
    "qimma_discards": qimma_discards,
    "qimma_subsets": lambda _: str(6 + 13 + 2 + 40 + 9 + 2 + 1 + 1 + 3 + 2 + 26 + 1 + 1 + 2),
    "qimma_averages": qimma_averages,
    "qimma_first": qimma_first,
    "qimma_domains": qimma_domains,
    "qimma_margin": qimma_margin,
    "balsam_sizes": lambda _: whole(13_121 + 24_298, 6_434 + 9_308),
    "balsam_judgements": lambda _: whole(254 * 22 * 3),
    "balsam_people": balsam_people,
    "balsam_people_averages": lambda _: people_averages("bl_03"),
    "balsam_metrics": lambda _: people_averages("bl_05"),
    "balsam_averages": balsam_averages,
    "balsam_silma": balsam_silma,
}
PUBLIC: Final = {
    "hafez_sizes",
    "shakespeare_sizes",
    "prose_of_deepseek",
    "prose_of_gemma",
    "option_kinds",
    "self_bleu",
    "kinayat_lengths",
}
"""Measured on the authors' public files; all others on printed tables."""


@pytest.mark.parametrize(
    "entry", [one for one in ENTRIES if one.measured not in PUBLIC], ids=lambda one: one.measured
)
def test_a_figure_that_printed_tables_determine_comes_out(entry: Entry) -> None:
    assert MEASURES[entry.measured](Path()) == entry.ours


@pytest.mark.parametrize(
    "entry", [one for one in ENTRIES if one.measured in PUBLIC], ids=lambda one: one.measured
)
def test_a_figure_that_public_files_determine_comes_out(entry: Entry, shared_data: Path) -> None:
    assert MEASURES[entry.measured](shared_data) == entry.ours


def test_every_paper_has_a_page_that_is_up_to_date() -> None:
    assert [one.id for one in papers()] == ["ghazalbench", "kinayat", "fannorflop", "qimma", "balsam"]
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, "run `python -m tools.docs_reproductions`"


def test_a_status_says_what_was_done() -> None:
    """Redone is what public files give; what only printed figures give, or nothing was measured of, is not."""
    for entry in (one for paper in papers() for one in paper.entries):
        told = f"{entry.of}: {entry.what}"
        if entry.status in ("redone", "printed"):
            assert (entry.measured in PUBLIC) == (entry.status == "redone"), told
        assert bool(entry.measured) == (entry.status in ("redone", "printed", "differs")), told
        assert bool(entry.measured) == bool(entry.ours) == bool(entry.theirs), told
        assert bool(entry.command) or entry.status != "run", told
        assert entry.why or entry.ours == entry.theirs != "", told
        assert entry.ours != entry.theirs or entry.status != "differs", told
