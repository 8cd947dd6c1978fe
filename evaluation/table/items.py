"""What the systems' scores say about the items."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.statistics.items import item_statistics
from evaluation.table.column import Column


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
            "release": column.release,
            "config": column.config,
            "metric": column.metric.name,
            "method": column.method,
            "item": str(item),
            "systems": len(able),
            "right": float(right),
            "rest": None if np.isnan(rest) else float(rest),
            "inverted": float(inverted),
        }
        for item, right, rest, inverted in zip(column.items, *found, strict=True)
    ]
    return sorted(rows, key=lambda row: (column.sign * row["right"], row["item"]))
