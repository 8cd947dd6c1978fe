"""What the items of a data set are worth, by who solves them: all in a table, doubtful ones as sheets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mihakk.evaluation.statistics.items import item_statistics, item_worth, reliability
from mihakk.evaluation.table.column import Column, columns_of
from mihakk.evaluation.table.scores import COLUMN
from mihakk.evaluation.table.sheets import GAP, Sheet
from mihakk.machinery.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

METRICS: Final = ("accuracy", "exact_set", "exact", "solved", "recall")
"""Metrics of right and wrong."""
LEAST_SYSTEMS: Final = 3
"""Of so few the correlation has no interval."""
MOST: Final = 30
"""Items shown of one data set."""
NOTES: Final = (
    "Right: share of systems that are. Point-biserial: correlation with the systems' totals; rest: with the "
    "totals over all other items. KR-20 is the reliability with which these systems are told apart; an item "
    "without which it is higher adds only noise.",
    "inverted: even the upper end of the rest correlation's 95 % interval is below 0; of items that have "
    "nothing to do with the others chance makes 2.5 % so. redundant: exactly the systems that solve another "
    "item solve it, and their accuracies don't explain that.",
)


@dataclass(frozen=True)
class Worth:
    """Frames: a row an item, and a row a data set."""

    items: pd.DataFrame
    """`right`, `point_biserial`, `rest` with its interval, `kr20_without`, `verdict`, `like`."""
    columns: pd.DataFrame
    notes: tuple[str, ...]

    def rows(self) -> dict[str, Any]:
        """Plain values, None where a figure is not defined."""
        import json

        return {
            name: json.loads(frame.to_json(orient="records", double_precision=10))
            for name, frame in (("columns", self.columns), ("items", self.items))
        }


def worth(frame: pd.DataFrame, notes: tuple[str, ...] = ()) -> Worth:
    """What each item is worth, for every data set that two systems or more answered in full.

    Args:
        frame: Score rows.
        notes: What has to stand beside the table.

    Raises:
        UsageError: There is no such data set.
    """
    import pandas as pd

    items: list[dict[str, Any]] = []
    columns: list[dict[str, Any]] = []
    left_out: dict[str, None] = {}
    for column in columns_of(frame[frame["metric"].isin(METRICS)], COLUMN):
        able = [place for place in range(len(column.models)) if not np.isnan(column.values[place]).any()]
        left_out |= dict.fromkeys(name for place, name in enumerate(column.models) if place not in able)
        if len(able) > 1 and len(column.items) > 1:
            rows, told = _column(column, column.values[able])
            items += rows
            columns.append(told)
    if not columns:
        lacking = f" (answers are missing of {', '.join(left_out)})" if left_out else ""
        raise UsageError(
            f"no data set of right and wrong answers that two systems answered in full{lacking}: nothing "
            "tells what items are worth"
        )
    if left_out:
        notes += (f"Left out, as they lack answers: {', '.join(left_out)}.",)
    return Worth(pd.DataFrame(items), pd.DataFrame(columns), NOTES + notes)


def _column(column: Column, scores: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    found = item_statistics(scores)
    more = item_worth(scores, found.rest)
    kr20 = reliability(scores)
    rows = []
    for place, item in enumerate(column.items):
        like = int(more.like[place])
        right, high = float(found.right[place]), float(more.high[place])
        verdict = "never right" if right == 0 else "always right" if right == 1 else ""
        verdict = verdict or ("inverted" if high < 0 else "redundant" if like >= 0 else "")
        rows.append(
            {
                **column.row,
                **{"item": str(item), "systems": len(scores), "right": right},
                **{"point_biserial": float(more.total[place]), "rest": float(found.rest[place])},
                **{"rest_low": float(more.low[place]), "rest_high": high},
                **{"kr20_without": float(more.without[place]), "verdict": verdict},
                "like": str(column.items[like]) if like >= 0 else "",
            }
        )
    rows.sort(
        key=lambda row: (not row["verdict"], row["rest"] if row["rest"] == row["rest"] else 0.0, row["item"])
    )
    verdicts = [row["verdict"] for row in rows]
    varying = int((~np.isnan(found.rest)).sum())
    told = {
        **column.row,
        **{"systems": len(scores), "items": len(rows), "kr20": kr20, "right": float(found.right.mean())},
        "rest": float(np.nanmean(found.rest)) if not np.isnan(found.rest).all() else float("nan"),
        **{
            name.replace(" ", "_"): verdicts.count(name)
            for name in ("never right", "always right", "inverted", "redundant")
        },
        "inverted_by_chance": round(0.025 * varying, 1) if len(scores) > LEAST_SYSTEMS else 0.0,
    }
    return rows, told


def worth_sheets(found: Worth) -> list[Sheet]:
    """One sheet of all data sets, and one of each one's doubtful items."""
    head = (
        "data set",
        "systems",
        "items",
        "KR-20",
        "right",
        "rest",
        "never",
        "always",
        "inverted",
        "redundant",
    )
    names = ("never_right", "always_right", "inverted", "redundant")
    rows = tuple(
        (
            f"{row['release']}/{row['config']} · {row['metric']} · {row['method']}",
            *(f"{row['systems']:,}", f"{row['items']:,}"),
            *(_figure(row[name], 3) for name in ("kr20", "right", "rest")),
            *(f"{row[name]:,}" for name in names),
            f"{row['inverted_by_chance']:,.1f}",
        )
        for row in found.columns.to_dict("records")
    )
    shown = [Sheet("What the items are worth", "", head, rows)]
    for key, own in found.items.groupby(list(COLUMN), sort=False):
        doubtful = own[own["verdict"].isin(("inverted", "redundant", "never right"))]
        if len(doubtful):
            release, config, metric, method = key
            more = f"{len(doubtful) - MOST:,} more are in the CSV file." if len(doubtful) > MOST else ""
            shown.append(
                Sheet(
                    f"{release}/{config} · {metric} · {method}: doubtful items", more, _HEAD, _rows(doubtful)
                )
            )
    return shown


_HEAD: Final = ("item", "what", "right", "point-biserial", "rest [95 %]", "KR-20 without")


def _rows(frame: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            row["item"],
            f"redundant: as {row['like']}" if row["verdict"] == "redundant" else row["verdict"],
            _figure(row["right"], 2),
            _figure(row["point_biserial"], 2),
            f"{_figure(row['rest'], 2)} [{_figure(row['rest_low'], 2)}, {_figure(row['rest_high'], 2)}]"
            if row["rest"] == row["rest"]
            else GAP,
            _figure(row["kr20_without"], 3),
        )
        for row in frame.head(MOST).to_dict("records")
    )


def _figure(value: float, decimals: int) -> str:
    return GAP if np.isnan(value) else f"{value:.{decimals}f}"
