"""What papers make of tables of figures: size, groups, agreement with people, errors, wrong picks.

All work on two frames: `model`, `column`, `figure` (printed tables have no more), and score rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

from mihakk.evaluation.table.column import columns_of
from mihakk.evaluation.table.scores import COLUMN
from mihakk.evaluation.table.sheets import Sheet
from mihakk.machinery.stats import fisher_mean, t_p_value

if TYPE_CHECKING:
    import pandas as pd

MOST: Final = 8
"""Records shown that most systems miss."""


def figures_of_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """`model`, `column`, `figure` of score rows."""
    import pandas as pd

    return pd.DataFrame(
        [
            (model, column.name, float(figure))
            for column in columns_of(scores, COLUMN)
            for model, figure in zip(column.models, column.figures, strict=True)
        ],
        columns=["model", "column", "figure"],
    )


def size_effects(figures: pd.DataFrame, parameters: Mapping[str, float]) -> pd.DataFrame:
    """Each column's figures on the systems' parameters (thousand millions), by least squares.

    `best_for_size`: the system with the largest figure per parameter.
    """
    import pandas as pd

    sized = figures.dropna().assign(size=figures["model"].map(parameters)).dropna()
    rows = []
    for column, own in sized.groupby("column", sort=False):
        if own["size"].nunique() > 2:
            slope, r = np.polyfit(own["size"], own["figure"], 1)[0], own["size"].corr(own["figure"])
            free = len(own) - 2
            p = t_p_value(r, sqrt((1 - r * r) / free), free)
            best = str(own["model"].iloc[int((own["figure"] / own["size"]).argmax())])
            rows.append((column, len(own), float(slope), r * r, p, best))
    return pd.DataFrame(rows, columns=["column", "systems", "slope", "r2", "p", "best_for_size"])


def group_means(figures: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """Each column's mean over the systems of a group."""
    named = figures.dropna().assign(group=figures["model"].map(groups)).dropna()
    told = named.groupby(["column", "group"], sort=False)["figure"].agg(["size", "mean"])
    return told.reset_index().rename(columns={"size": "systems", "mean": "figure"})


def with_people(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pearson's correlation of `figure` and `people` in each `column`, then its two means over columns.

    The arithmetic mean is what papers print; Fisher's z does not shrink correlations near 1.
    """
    import pandas as pd

    rows = []
    for column, own in pairs.dropna().groupby("column", sort=False):
        if min(own["figure"].nunique(), own["people"].nunique()) > 1 and len(own) > 2:
            rows.append((column, len(own), float(own["figure"].corr(own["people"]))))
    if len(rows) > 1:
        values, total = [row[2] for row in rows], sum(row[1] for row in rows)
        rows += [
            ("mean, arithmetic", total, float(np.mean(values))),
            ("mean, Fisher's z", total, fisher_mean(values)),
        ]
    return pd.DataFrame(rows, columns=["column", "pairs", "pearson"])


def error_overlap(scores: pd.DataFrame) -> pd.DataFrame:
    """Of two data sets by one metric of right and wrong: how far systems miss the same records in both.

    `missed`: record to how many systems miss it in the first and in the second, the most missed first.
    """
    import pandas as pd

    records = scores["slices"].map(lambda facts: dict(facts).get("record"))
    known = scores.assign(record=records, config=scores["config"].astype(str))[
        records.notna() & scores["value"].isin((0.0, 1.0))
    ]
    rows = []
    for (release, metric, method), own in known.groupby(["release", "metric", "method"], observed=True):
        missed = own.assign(missed=own["value"] == 0).groupby(["config", "record"], observed=True)
        counts = missed.apply(lambda part: part.loc[part["missed"], "model"].nunique()).unstack("config")
        for first, second in combinations(counts.columns, 2):
            both = counts[[first, second]].dropna().astype(int).sort_index()
            if len(both) > 2:
                worst = both.sort_values([first, second], ascending=False, kind="stable").head(MOST)
                told = [(str(name), *map(int, row)) for name, *row in worst.itertuples()]
                varies = min(both[first].nunique(), both[second].nunique()) > 1
                pearson = float(both[first].corr(both[second])) if varies else float("nan")
                name = f"{release} {metric} {method}"
                rows.append((name, first, second, len(both), pearson, told))
    columns = ["column", "first", "second", "records", "pearson", "missed"]
    return pd.DataFrame(rows, columns=columns)


def wrong_origins(scores: pd.DataFrame) -> pd.DataFrame:
    """Share of each kind of wrong option among a system's wrong picks."""
    import pandas as pd

    own = scores[scores["metric"] == "accuracy"]
    kinds = own["detail"].map(lambda text: orjson.loads(text).get("kind"))
    picked = own.assign(kind=kinds)[kinds.notna()]
    rows = []
    for (config, model), part in picked.groupby(["config", "model"], observed=True):
        for kind, count in part["kind"].value_counts().sort_index().items():
            rows.append((str(config), str(model), kind, count / len(part), len(part)))
    return pd.DataFrame(rows, columns=["column", "model", "kind", "share", "picks"])


HEADS: Final = {
    "size": ("Size of systems", "Least squares on thousand millions of parameters."),
    "groups": ("Groups of systems", "Unweighted means over systems."),
    "people": (
        "With people",
        "Pearson's correlation; the mean that papers print, and the one through Fisher's z.",
    ),
    "overlap": ("The same records missed", "Correlation of how many systems miss a record in each data set."),
    "origins": ("Where wrong picks come from", "Share of each kind of wrong option among the wrong picks."),
}


def analysis_sheets(found: Mapping[str, pd.DataFrame]) -> list[Sheet]:
    """Every analysis that has rows, as a sheet."""
    shown = []
    for name, frame in found.items():
        if len(frame):
            rows = tuple(tuple(map(_text, row)) for row in frame.itertuples(index=False))
            shown.append(Sheet(*HEADS[name], tuple(map(str, frame.columns)), rows))
    return shown


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"{name} {first} → {second}" for name, first, second in value)
    return f"{value:.4f}" if isinstance(value, float) else str(value)
