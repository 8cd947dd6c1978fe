"""One system under two conditions: the difference on the records that were asked about in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mihakk.evaluation.metrics.metric import known_metric
from mihakk.evaluation.statistics.cluster import codes_of
from mihakk.evaluation.statistics.comparison import compare
from mihakk.evaluation.table.pairs import with_holm
from mihakk.evaluation.table.sheets import Sheet, signed
from mihakk.machinery.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["release", "model", "metric", "method"]


def conditions(
    frame: pd.DataFrame, pairs: Sequence[tuple[str, str]], *, seed: int = 0, all_shared: bool = True
) -> list[dict[str, Any]]:
    """The first data set less the second, for each system and metric that both have.

    Questions from one couplet or idiom are joined by the fact `record`; their orders, wordings and repeats
    are averaged first. Adjusted (Holm) over all rows.

    Args:
        frame: All score rows.
        pairs: Names of two configs each.
        seed: Draws depend on it and on the rows' names alone.
        all_shared: Refuse a pair that shares no record; else it has no row.

    Raises:
        UsageError: There is no such config, or two share no record.
    """
    rows: list[dict[str, Any]] = []
    for first, second in pairs:
        one, other = _of(frame, first), _of(frame, second)
        found = []
        for key, mine in one.groupby(_KEY, observed=True, sort=True):
            theirs = other[(other[_KEY] == list(key)).all(axis=1)]
            metric = known_metric(str(key[2]))
            if len(theirs) and (metric is None or metric.total is None):
                found.append(_row(dict(zip(_KEY, map(str, key), strict=True)), mine, theirs, seed))
        if all_shared and not any(row["records"] for row in found):
            raise UsageError(f"{first} and {second} share no record: nothing can be paired")
        rows += [{"first": first, "second": second, **row} for row in found if row["records"]]
    return with_holm(rows)


def condition_sheet(rows: Sequence[dict[str, Any]]) -> Sheet:
    """The differences as a table."""
    head = ("system", "first", "second", "metric", "first − second [95 %]", "p (Holm)", "records")
    return Sheet(
        "Conditions compared on the same records",
        "",
        head,
        tuple(
            (
                row["model"],
                row["first"],
                row["second"],
                f"{row['metric']} · {row['method']}",
                signed(row["difference"], row["low"], row["high"], " [no interval]"),
                f"{row['p_holm']:.3f}",
                f"{row['records']:,}",
            )
            for row in rows
        ),
    )


def _of(frame: pd.DataFrame, config: str) -> pd.DataFrame:
    found = frame[frame["config"] == config]
    if found.empty:
        known = sorted({str(one) for one in frame["config"]})
        raise UsageError(f"no scores of {config!r}; there are: {', '.join(known)}")
    records = found["slices"].map(lambda facts: dict(facts).get("record"))
    return found.assign(record=records)[records.notna() & found["value"].notna()]


def _row(key: dict[str, str], one: pd.DataFrame, other: pd.DataFrame, seed: int) -> dict[str, Any]:
    first = one.groupby("record", observed=True).agg(value=("value", "mean"), group=("group", "first"))
    second = other.groupby("record", observed=True)["value"].mean()
    both = first.join(second.rename("other"), how="inner").sort_index()
    row: dict[str, Any] = {**key, "records": len(both), "p": 1.0}
    if len(both) == 0:
        return row
    found = compare(
        both["value"].to_numpy(dtype=np.float64),
        both["other"].to_numpy(dtype=np.float64),
        codes_of(both["group"].astype(str).to_numpy()),
        seed=seed,
        name=" ".join(key.values()),
    )
    row |= {"difference": found.difference.mean, "low": found.difference.low, "high": found.difference.high}
    return row | {"p": found.p, "test": found.test, "alike": found.alike}
