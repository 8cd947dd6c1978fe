"""Cells of a table, each a figure with its interval and all that qualifies it; and what they say of items."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from mihakk.evaluation.metrics.figures import FIGURES, Scores
from mihakk.evaluation.statistics.cluster import LEAST_CLUSTERS, clustered, codes_of, plain_se
from mihakk.evaluation.statistics.items import item_statistics, share_within
from mihakk.evaluation.table.column import Column
from mihakk.evaluation.table.scores import NOTES

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("unparsed", "empty", "refused", "error")
DIGITS = 6
"""Of every number handed out: sums in another order must not change a byte."""


def cells_of(column: Column) -> list[dict[str, Any]]:
    """One row per system."""
    return [
        {
            "release": column.release,
            "config": column.config,
            "task": column.task,
            "ability": column.ability,
            **column.row,
            "model": model,
            **_figure(column, place),
            **_answers(column.frames[place]),
            **_wordings(column, place),
            **_figures(column, place),
        }
        for place, model in enumerate(column.models)
    ]


def _figure(column: Column, place: int) -> dict[str, Any]:
    """The figure and how sure it is; nothing but the gap where the system lacks items."""
    figure = column.figures[place]
    told: dict[str, Any] = {
        "figure": None if np.isnan(figure) else float(figure),
        **dict.fromkeys(("sd", "se", "ci_low", "ci_high", "plain_se", "effective")),
        "items": len(column.items) - column.missing[place],
        "missing": column.missing[place],
        "clusters": 0,
        "note": "",
    }
    if column.missing[place]:
        return told | {"note": f"no answer to {column.missing[place]:,} of {len(column.items):,} items"}
    values = column.values[place]
    there = ~np.isnan(values)
    if np.isnan(figure):
        return told | {"note": "no answer has a value"}
    groups = codes_of(column.groups[there])
    told["clusters"] = int(groups.max()) + 1
    notes = []
    if not there.all():
        notes.append(f"{int((~there).sum()):,} answers have no value and are left out")
    if told["clusters"] < LEAST_CLUSTERS:
        notes.append(f"{told['clusters']} cluster(s): too few for an interval")
    if column.statistics is None:
        found = clustered(values[there], groups, bounds=column.bounds)
        told["sd"] = float(values[there].std(ddof=1)) if there.sum() > 1 else None
        told |= {"se": found.se, "ci_low": found.low, "ci_high": found.high, "effective": found.effective}
        if told["clusters"] >= LEAST_CLUSTERS and found.low is None:
            notes.append(f"{found.clusters} clusters, of which one or two hold nearly all items: no interval")
        elif found.effective < found.clusters / 2 and found.low is not None:
            notes.append(f"{found.clusters} clusters of unlike size tell as much as {found.effective:.0f}")
        if np.isin(values[there], (0.0, 1.0)).all():
            told["plain_se"] = plain_se(found.mean, found.items)
    told["note"] = "; ".join(notes)
    return told


def _answers(rows: pd.DataFrame) -> dict[str, Any]:
    """Shares of answers that were not read, of cut ones, and of what the reader noted."""
    statuses = rows["status"].astype(str)
    shares = {name: float((statuses == name).mean()) for name in STATUSES}
    return {
        "answers": len(rows),
        **shares,
        "cut": float(rows["cut"].mean()),
        **{note: float(rows[note].mean()) for note in NOTES},
    }


def _wordings(column: Column, place: int) -> dict[str, Any]:
    """Spread over wordings of the prompt, and how much of all spread comes from asking again."""
    rows = column.frames[place]
    told: dict[str, Any] = {"wordings": rows["variant"].nunique(), "repeats": rows["repeat"].nunique()}
    told |= dict.fromkeys(("wording_low", "wording_high", "share_within"))
    if told["wordings"] > 1:
        means = rows.groupby("variant")["value"].mean()
        told |= {"wording_low": float(means.min()), "wording_high": float(means.max())}
    if told["repeats"] > 1:
        table = rows.pivot_table(index=["item", "variant"], columns="repeat", values="value", observed=True)
        whole = table.dropna().to_numpy()
        if len(whole) > 1:
            told["share_within"] = share_within(whole)
    return told


def _figures(column: Column, place: int) -> dict[str, Any]:
    """Every figure over many answers that is made of this metric."""
    wanted = FIGURES.get(column.metric.name, ())
    if not wanted or column.missing[place]:
        return {}
    scores = _scores(column, place)
    told: dict[str, Any] = {}
    for measure in wanted:
        found, name = measure(scores), measure.__name__
        if found is None:
            continue
        told[name] = found.value
        if found.low is not None:
            told |= {f"{name}_low": found.low, f"{name}_high": found.high}
        more = {key: _rounded(value) for key, value in found.detail.items() if key != "se"}
        told[f"{name}_units"] = found.units
        if more:
            told[f"{name}_detail"] = json.dumps(more, sort_keys=True)
    return told


def _scores(column: Column, place: int) -> Scores:
    rows = column.frames[place]
    joined = (
        rows["pair_id"].astype(str)
        + "\x1f"
        + rows["variant"].astype(str)
        + "\x1f"
        + rows["repeat"].astype(str)
    )
    return Scores(
        values=rows["value"].to_numpy(dtype=np.float64),
        clusters=codes_of(rows["group"].astype(str).to_numpy()),
        items=rows["item"].astype(str).tolist(),
        pairs=joined.where(rows["pair_id"].astype(str) != "", "").tolist(),
        orders=rows["order"].tolist(),
        details=[orjson.loads(one) for one in rows["detail"]],
    )


def _rounded(value: Any) -> Any:
    """A detail with rounded numbers, as all that is handed out."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return value


def item_rows(column: Column) -> list[dict[str, Any]]:
    """One row per item, the hardest first; none where fewer than two systems answered all of them.

    `right`: mean score over systems. `rest`: its correlation with the systems' scores on all other items;
    below 0, those who know the others miss it. `inverted`: the weaker half's mean less the stronger half's.
    Items that most systems miss, or weak ones solve and strong ones don't, are worth a look at their gold.
    """
    able = [place for place in range(len(column.models)) if not np.isnan(column.values[place]).any()]
    if len(able) < 2 or len(column.items) < 2:
        return []
    found = item_statistics(column.values[able])
    rows = [
        {
            **column.row,
            "item": str(item),
            "systems": len(able),
            "right": float(right),
            "rest": None if np.isnan(rest) else float(rest),
            "inverted": float(inverted),
        }
        for item, right, rest, inverted in zip(column.items, *found, strict=True)
    ]
    return sorted(rows, key=lambda row: (column.sign * row["right"], row["item"]))
