"""Scores to results: cells, paired differences, averages, ranks; byte-identical from the same scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mihakk.evaluation.adapters.adapter import whose
from mihakk.evaluation.declared_labels import declared_in
from mihakk.evaluation.metrics.figures import FIGURES, VERSION
from mihakk.evaluation.statistics.bootstrap import RESAMPLES
from mihakk.evaluation.statistics.comparison import POWER_80
from mihakk.evaluation.statistics.comparison import RESAMPLES as PERMUTATIONS
from mihakk.evaluation.table.cells import DIGITS, cells_of, item_rows
from mihakk.evaluation.table.column import NOT_VOUCHED_FOR, Column, columns_of
from mihakk.evaluation.table.draws import standing, with_draws
from mihakk.evaluation.table.overall import Averaging, average_pairs, average_rows, averages, statement
from mihakk.evaluation.table.pairs import pairs_of
from mihakk.evaluation.table.scores import COLUMN

if TYPE_CHECKING:
    import pandas as pd


Row = dict[str, Any]
"""Values of one row of a table by column name; None where there is none."""


@dataclass(frozen=True)
class Results:
    """Tables of one suite."""

    cells: pd.DataFrame
    """One row per system and column (release, config, metric, method): `figure`, its interval and rank,
    shares of answers that were not read or were cut, and every figure over many answers."""
    pairs: pd.DataFrame
    """One row per pair of systems and column: the first less the second."""
    averages: pd.DataFrame
    """One row per system and average: categories and overall, recall and skill apart."""
    average_pairs: pd.DataFrame
    """One row per pair of systems and overall average."""
    items: pd.DataFrame
    """One row per item and column that two systems or more answered in full: how many are right, and who."""
    notes: tuple[str, ...]
    """What has to stand beside the tables."""

    def rows(self) -> dict[str, Any]:
        """Every table but `items` as rows of plain values (None where a figure is missing), and the notes."""
        import json

        tables = ("cells", "pairs", "averages", "average_pairs")
        found = {
            name: json.loads(getattr(self, name).to_json(orient="records", double_precision=15))
            for name in tables
        }
        return found | {"notes": list(self.notes)}

    def figures_of(self, model: str) -> list[Row]:
        """The cells of a system that hold a figure, by release, config, metric and method."""
        return [row for row in self.rows()["cells"] if row["model"] == model and row["figure"] is not None]

    def write(self, folder: Path) -> list[Path]:
        """Writes each table as Parquet; the files."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name in ("cells", "pairs", "averages", "average_pairs", "items"):
            table = pa.Table.from_pandas(getattr(self, name), preserve_index=False)
            path = folder / f"{name}.parquet"
            pq.write_table(table.replace_schema_metadata(None), path, compression="zstd")
            written.append(path)
        return written


def grouped(rows: Iterable[Row], by: Sequence[str]) -> list[tuple[tuple[str, ...], list[Row]]]:
    """The rows of each key, by the order of the keys."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(str(row[name]) for name in by), []).append(row)
    return sorted(found.items())


def results(
    frame: pd.DataFrame,
    averaging: Averaging | None = Averaging(),
    *,
    seed: int = 0,
    name: str = "suite",
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
) -> Results:
    """The tables of scores that compare (`load_scores`).

    Args:
        frame: All score rows.
        averaging: How data sets are averaged; None where they are slices of one.
        seed: Draws depend on it and on `name` and the columns' names alone.
        name: Of what is compared.
        resamples: Cluster bootstraps.
        permutations: Sign flips.

    Raises:
        UsageError: The averages asked for can't be made of these scores.
    """
    columns = with_draws(columns_of(frame, COLUMN), seed=seed, name=name, resamples=resamples)
    cells: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for column in columns:
        own = pairs_of(column, seed=seed, resamples=permutations)
        pairs += own
        cells += _with_ranks(column, cells_of(column), own)
    found = averages(columns, averaging) if averaging is not None else []
    of_averages = [row for one in found for row in average_rows(one)]
    between = [row for one in found if one.level == "overall" for row in average_pairs(one)]
    averaged = [statement(averaging.scheme)] if averaging is not None else []
    return Results(
        cells=_frame(cells),
        pairs=_frame(pairs),
        averages=_frame(of_averages),
        average_pairs=_frame(between),
        items=_frame([row for column in columns for row in item_rows(column)]),
        notes=tuple(_notes(frame, columns, averaged, (seed, resamples, permutations))),
    )


def _with_ranks(
    column: Column, cells: list[dict[str, Any]], pairs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rank intervals, and the smallest difference that the column's pairs could tell."""
    # Two systems whose difference is the same in every cluster tell nothing of its spread.
    errors = [row["se"] for row in pairs if row["se"]]
    smallest = POWER_80 * float(np.median(errors)) if errors else None
    standings = standing(column.figures, column.drawn, column.degrees, column.sign, column.bounds)
    for cell, told in zip(cells, standings, strict=True):
        cell |= {"smallest_difference": smallest, **dict.fromkeys(("rank_low", "rank_high", "top"))}
        if told and column.statistics is not None:
            cell |= {name: told[name] for name in ("se", "ci_low", "ci_high")}
            cell["effective"] = column.degrees + 1
        if told and column.metric.ranks:
            cell |= {name: told[name] for name in ("rank_low", "rank_high", "top")}
    return cells


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of rounded numbers; figures that no row has leave no column."""
    import pandas as pd

    frame = pd.DataFrame(list(rows))
    for name in frame.columns:
        if name == "top":
            frame[name] = frame[name].astype("boolean")
        elif frame[name].map(lambda one: isinstance(one, float) or one is None).all():
            frame[name] = frame[name].astype("float64").round(DIGITS)
    return frame


def _notes(
    frame: pd.DataFrame,
    columns: Sequence[Column],
    averaged: Sequence[str],
    draws: tuple[int, int, int],
) -> list[str]:
    """`averaged`: how averages were made; `draws`: seed, resamples and permutations."""
    seed, resamples, permutations = draws
    releases = frame[["release", "version", "digest"]].drop_duplicates().sort_values(["release", "version"])
    told = [
        f"{row.release} {row.version} (sha256 {str(row.digest)[:12]})"
        for row in releases.itertuples(index=False)
    ]
    signatures = frame[["signature", "reader"]].drop_duplicates().astype(str)
    read_by = sorted(f"{signature}, read by {reader}" for signature, reader in signatures.to_numpy())
    found = [
        f"Measured on {', '.join(told)}.",
        "An answer that failed, is empty or could not be read counts as the worst value and stays in the "
        "mean; a system without answers to some items has no figure.",
        "Intervals are 95 %, clustered by poem or idiom (Clopper and Pearson's of the effective number of "
        "items, with the degrees of freedom that clusters of unlike size leave); errors of figures that are "
        f"no means, of averages and ranks come from {resamples:,} cluster bootstraps (seed {seed}).",
        f"p: {permutations:,} sign flips of whole clusters (McNemar's exact test where each is one item), "
        "Holm over all pairs of a column. Smallest difference: 2.8 x the median paired standard error.",
        "Ranks are intervals that hold together (95 %), from all pairs of systems; the top group is what no "
        "system is better than beyond doubt.",
        *averaged,
        f"Metrics: {'; '.join(read_by)}.",
    ]
    prompts = frame[["model", "prompt", "prompt_version"]].drop_duplicates().astype(str)
    asked = prompts[["prompt", "prompt_version"]].drop_duplicates().sort_values(["prompt", "prompt_version"])
    # Results that were made elsewhere name no prompt.
    if told := [f"{name}/{version} ({whose(name)})" for name, version in asked.to_numpy() if name]:
        found.append(f"Prompts: {', '.join(told)}.")
    declared = sorted({labels for name in asked["prompt"] if (labels := declared_in(name))})
    if declared:
        shown_as = "; ".join(labels.replace(",", ", ") for labels in declared)
        found.append(f"Labels of options, where the suite declares them: {shown_as}.")
    if len(asked) > prompts.groupby("model").size().max():
        found.append("Not all systems were asked with the same prompts.")
    shown = {column.metric.name for column in columns}
    if unvouched := sorted(name for name in shown if name.endswith(NOT_VOUCHED_FOR)):
        found.append(
            f"Not vouched for: {', '.join(unvouched)}. People's scores don't agree with these judges well "
            "enough (lower end of kappa .6), or nobody has scored; nobody is ranked by them."
        )
    figures = sorted(figure.__name__ for name in shown for figure in FIGURES.get(name, ()))
    if figures:
        found.append("Figures: " + "; ".join(f"{name}/{VERSION}" for name in figures) + ".")
    return found
