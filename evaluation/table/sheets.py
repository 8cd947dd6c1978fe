"""Results as sheets of short text, the same for a terminal, Markdown and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evaluation.metrics.metric import METRICS
from evaluation.table.results import Results

if TYPE_CHECKING:
    import pandas as pd

Row = Any
"""A row of a frame: values by column name, some of them missing."""
GAP: Final = "–"
MOST_PAIRS: Final = 45
"""Pairs shown of one column; the Parquet file has them all."""


@dataclass(frozen=True)
class Sheet:
    """One table as it is shown."""

    title: str
    above: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sheets(found: Results) -> list[Sheet]:
    """Averages first, then every column with its pairs."""
    return [*_averages(found), *_columns(found)]


def _columns(found: Results) -> Iterator[Sheet]:
    keys = ["release", "config", "metric", "method"]
    for key, cells in found.cells.groupby(keys, sort=True):
        release, config, metric, method = map(str, key)
        title = f"{release}/{config} · {metric} · {method}"
        decimals = _decimals(metric)
        rows = [row for _, row in _best_first(cells, metric).iterrows()]
        yield _sheet(title, _smallest(rows[0], decimals), _cell_columns(decimals), rows)
        if len(found.pairs):
            own = found.pairs[(found.pairs[keys] == list(key)).all(axis=1)]
            yield from _pairs(own, f"{title}: pairs", decimals)


def _cell_columns(decimals: int) -> dict[str, Callable[[Row], str]]:
    return {
        "system": lambda row: str(row["model"]),
        "figure [95 %]": lambda row: _interval(row, "figure", "ci_low", "ci_high", decimals),
        "rank": _rank,
        "above chance": lambda row: _number(row.get("chance_adjusted"), 3),
        "pairs right": lambda row: _number(row.get("pair_accuracy"), 3),
        "consistent": lambda row: _number(row.get("consistency"), 3),
        "order gap": lambda row: signed(*(row.get(f"order_gap{end}") for end in ("", "_low", "_high"))),
        "position": _position,
        "wrong picks": _wrong,
        "unparsed": lambda row: _share(row, ("unparsed", "empty", "refused", "error")),
        "cut": lambda row: _share(row, ("cut",)),
        "other alphabet": lambda row: _share(row, ("other_alphabet",)),
        "wordings": lambda row: _wordings(row, decimals),
        "items": lambda row: f"{row['items']:,}",
        "note": lambda row: str(row["note"]),
    }


def _pairs(pairs: pd.DataFrame, title: str, decimals: int) -> Iterator[Sheet]:
    if pairs.empty:
        return
    ordered = pairs.sort_values(["p_holm", "p", "first", "second"])
    rows = [row for _, row in ordered.head(MOST_PAIRS).iterrows()]
    more = len(ordered) - len(rows)
    yield _sheet(
        title,
        f"{more} more pairs are in the file." if more else "",
        {
            "first": lambda row: str(row["first"]),
            "second": lambda row: str(row["second"]),
            "first − second [95 %]": lambda row: _interval(row, "difference", "ci_low", "ci_high", decimals),
            "p": lambda row: _p(row["p"]),
            "p (Holm)": lambda row: _p(row["p_holm"]),
            "alike": lambda row: _number(row.get("alike"), 3),
            "test": lambda row: str(row.get("test", "bootstrap")),
        },
        rows,
    )


def _averages(found: Results) -> Iterator[Sheet]:
    if found.averages.empty:
        return
    for key, own in found.averages.groupby(["ability", "method", "level", "name"], sort=True):
        ability, method, level, name = map(str, key)
        rows = [row for _, row in own.sort_values(["figure", "model"], ascending=[False, True]).iterrows()]
        if rows[0]["parts"] == 1:
            continue  # the same figures as in the only column
        called = "overall" if level == "overall" else f"category {name}"
        yield _sheet(
            f"{called} · {ability} · choices {method}",
            f"Unweighted mean of {rows[0]['parts']} data sets by task and category, scaled from 0 to 1.",
            {
                "system": lambda row: str(row["model"]),
                "figure [95 %]": lambda row: _interval(row, "figure", "ci_low", "ci_high", 3),
                "rank": _rank,
                "note": lambda row: str(row["note"]),
            },
            rows,
        )
        if level == "overall" and len(found.average_pairs):
            pairs = found.average_pairs
            mine = pairs[(pairs["ability"] == ability) & (pairs["method"] == method)]
            yield from _pairs(mine, f"{called} · {ability} · choices {method}: pairs", 3)


def _sheet(title: str, above: str, columns: Mapping[str, Callable[[Row], str]], rows: list[Any]) -> Sheet:
    """The columns that say anything."""
    texts = {name: [text(row) for row in rows] for name, text in columns.items()}
    shown = [name for name, values in texts.items() if any(value not in (GAP, "") for value in values)]
    lines = tuple(zip(*(texts[name] for name in shown), strict=True))
    return Sheet(title, above, tuple(shown), lines)


def _best_first(cells: pd.DataFrame, metric: str) -> pd.DataFrame:
    best = bool(METRICS.get(metric).higher_is_better) if metric in METRICS.names() else True
    return cells.sort_values(["figure", "model"], ascending=[not best, True], na_position="last")


def _decimals(metric: str) -> int:
    """Digits behind the point: thousandths of the range."""
    high = METRICS.get(metric).high if metric in METRICS.names() else 1.0
    return 1 if high is not None and high > 1 else 3


def _smallest(row: Row, decimals: int) -> str:
    if not _is_there(row.get("smallest_difference")):
        return ""
    value = row["smallest_difference"]
    return f"Smallest difference that is found four times in five: {value:.{decimals}f}."


def _interval(row: Row, name: str, low: str, high: str, decimals: int) -> str:
    if not _is_there(row.get(name)):
        return GAP
    value = _fixed(row[name], decimals)
    if not _is_there(row.get(low)):
        return f"{value} [no interval]"
    # The ends keep their sign where they round to nothing: it says on which side of 0 they lie.
    return f"{value} [{row[low]:.{decimals}f}, {row[high]:.{decimals}f}]"


def _wordings(row: Row, decimals: int) -> str:
    if not _is_there(row.get("wording_low")):
        return GAP
    return f"{row['wordings']}: {row['wording_low']:.{decimals}f} to {row['wording_high']:.{decimals}f}"


def _rank(row: Row) -> str:
    if not _is_there(row.get("rank_low")):
        return GAP
    star = "*" if row["top"] is True or row["top"] == 1 else ""
    return ranks_text(row["rank_low"], row["rank_high"]) + star


def ranks_text(low: float | None, high: float | None) -> str:
    """An interval of ranks, or the one rank that it holds."""
    if low is None or high is None or not _is_there(low):
        return GAP
    return f"{int(low)}" if low == high else f"{int(low)}–{int(high)}"


def signed(value: Any, low: Any, high: Any, without: str = "") -> str:
    """A difference and its interval; `without` follows it where it has none."""
    if not _is_there(value):
        return GAP
    return f"{value:+.3f}" + (f" [{low:+.3f}, {high:+.3f}]" if _is_there(low) else without)


def _position(row: Row) -> str:
    if not _is_there(row.get("position_preference")):
        return GAP
    detail = json.loads(row["position_preference_detail"])
    place = detail["place"] + 1
    flag = "!" if detail["flagged"] else ""
    return f"{row['position_preference']:+.3f} for {place}{flag}"


def _wrong(row: Row) -> str:
    if not _is_there(row.get("wrong_picks")):
        return GAP
    shares = json.loads(row["wrong_picks_detail"])["shares"]
    return ", ".join(f"{kind} {share:.0%}".replace("%", " %") for kind, share in shares.items())


def _share(row: Row, names: tuple[str, ...]) -> str:
    value = sum(float(row[name]) for name in names)
    return f"{100 * value:.1f} %" if value else GAP


def _p(value: Any) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _number(value: Any, decimals: int) -> str:
    return _fixed(value, decimals) if _is_there(value) else GAP


def _fixed(value: float, decimals: int) -> str:
    """So many digits behind the point; what rounds to nothing has no sign."""
    return f"{value:z.{decimals}f}"


def _is_there(value: Any) -> bool:
    return value is not None and value == value  # noqa: PLR0124 - NaN is not
