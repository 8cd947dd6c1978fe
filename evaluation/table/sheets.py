"""Results as sheets of short text, the same for a terminal, Markdown and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mihakk.evaluation.metrics.metric import known_metric
from mihakk.evaluation.table.results import Results, Row, grouped
from mihakk.evaluation.table.scores import COLUMN

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
    tables = found.rows()
    return [*_averages(tables), *_columns(tables)]


def _columns(tables: Mapping[str, list[Row]]) -> Iterator[Sheet]:
    pairs = dict(grouped(tables["pairs"], COLUMN))
    for key, cells in grouped(tables["cells"], COLUMN):
        release, config, metric, method = key
        title = f"{release}/{config} · {metric} · {method}"
        decimals = _decimals(metric)
        rows = _best_first(cells, metric)
        yield _sheet(title, _smallest(rows[0], decimals), _cell_columns(decimals), rows)
        yield from _pairs(pairs.get(key, []), f"{title}: pairs", decimals)


def _cell_columns(decimals: int) -> dict[str, Callable[[Row], str]]:
    return {
        "system": lambda row: str(row["model"]),
        "figure [95 %]": lambda row: _interval(row, "figure", "ci_low", "ci_high", decimals),
        "SD": lambda row: _number(row.get("sd"), 3) if row["metric"].startswith("judged_") else GAP,
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
        "ran on": lambda row: _share(row, ("run_on",)),
        "changed answer": lambda row: _share(row, ("changed_answer",)),
        "wordings": lambda row: _wordings(row, decimals),
        "items": lambda row: f"{row['items']:,}",
        "note": lambda row: str(row["note"]),
    }


def _pairs(pairs: Sequence[Row], title: str, decimals: int) -> Iterator[Sheet]:
    if not pairs:
        return
    rows = sorted(pairs, key=lambda row: (row["p_holm"], row["p"], row["first"], row["second"]))
    more = len(rows) - MOST_PAIRS
    yield _sheet(
        title,
        f"{more} more pairs are in the file." if more > 0 else "",
        {
            "first": lambda row: str(row["first"]),
            "second": lambda row: str(row["second"]),
            "first − second [95 %]": lambda row: _interval(row, "difference", "ci_low", "ci_high", decimals),
            "p": lambda row: _p(row["p"]),
            "p (Holm)": lambda row: _p(row["p_holm"]),
            "alike": lambda row: _number(row.get("alike"), 3),
            "test": lambda row: str(row.get("test", "bootstrap")),
        },
        rows[:MOST_PAIRS],
    )


def _averages(tables: Mapping[str, list[Row]]) -> Iterator[Sheet]:
    pairs = dict(grouped(tables["average_pairs"], ("ability", "method")))
    for key, own in grouped(tables["averages"], ("ability", "method", "level", "name")):
        ability, method, level, name = key
        rows = _best_first(own)
        if rows[0]["parts"] == 1:
            continue  # the same figures as in the only column
        called = "overall" if level == "overall" else f"category {name}"
        scale = "on the rubric's scale" if level == "judged" else "scaled from 0 to 1"
        yield _sheet(
            f"{called} · {ability} · choices {method}",
            f"Unweighted mean of {rows[0]['parts']} data sets, {scale}.",
            {
                "system": lambda row: str(row["model"]),
                "figure [95 %]": lambda row: _interval(row, "figure", "ci_low", "ci_high", 3),
                "SD": lambda row: _number(row.get("sd"), 3),
                "rank": _rank,
                "items": lambda row: GAP if row.get("items") is None else f"{int(row['items']):,}",
                "note": lambda row: str(row["note"]),
            },
            rows,
        )
        if level == "overall":
            between = pairs.get((ability, method), [])
            yield from _pairs(between, f"{called} · {ability} · choices {method}: pairs", 3)


def _sheet(title: str, above: str, columns: Mapping[str, Callable[[Row], str]], rows: list[Any]) -> Sheet:
    """The columns that say anything."""
    texts = {name: [text(row) for row in rows] for name, text in columns.items()}
    shown = [name for name, values in texts.items() if any(value not in (GAP, "") for value in values)]
    lines = tuple(zip(*(texts[name] for name in shown), strict=True))
    return Sheet(title, above, tuple(shown), lines)


def _best_first(rows: Sequence[Row], metric: str = "") -> list[Row]:
    """Those without a figure last."""
    known = known_metric(metric)
    sign = 1 if known and not known.higher_is_better else -1
    return sorted(rows, key=lambda row: (row["figure"] is None, sign * (row["figure"] or 0.0), row["model"]))


def _decimals(metric: str) -> int:
    """Digits behind the point: thousandths of the range."""
    known = known_metric(metric)
    return 1 if known and known.high is not None and known.high > 1 else 3


def _smallest(row: Row, decimals: int) -> str:
    if row.get("smallest_difference") is None:
        return ""
    value = row["smallest_difference"]
    return f"Smallest difference that is found four times in five: {value:.{decimals}f}."


def _interval(row: Row, name: str, low: str, high: str, decimals: int) -> str:
    if row.get(name) is None:
        return GAP
    value = _fixed(row[name], decimals)
    if row.get(low) is None:
        return f"{value} [no interval]"
    # The ends keep their sign where they round to nothing: it says on which side of 0 they lie.
    return f"{value} [{row[low]:.{decimals}f}, {row[high]:.{decimals}f}]"


def _wordings(row: Row, decimals: int) -> str:
    if row.get("wording_low") is None:
        return GAP
    return f"{row['wordings']}: {row['wording_low']:.{decimals}f} to {row['wording_high']:.{decimals}f}"


def _rank(row: Row) -> str:
    if row.get("rank_low") is None:
        return GAP
    star = "*" if row["top"] else ""
    return ranks_text(row["rank_low"], row["rank_high"]) + star


def ranks_text(low: float | None, high: float | None) -> str:
    """An interval of ranks, or the one rank that it holds."""
    if low is None or high is None:
        return GAP
    return f"{int(low)}" if low == high else f"{int(low)}–{int(high)}"


def signed(value: Any, low: Any, high: Any, without: str = "") -> str:
    """A difference and its interval; `without` follows it where it has none."""
    if value is None:
        return GAP
    return f"{value:+.3f}" + (f" [{low:+.3f}, {high:+.3f}]" if low is not None else without)


def _position(row: Row) -> str:
    if row.get("position_preference") is None:
        return GAP
    detail = json.loads(row["position_preference_detail"])
    place = detail["place"] + 1
    flag = "!" if detail["flagged"] else ""
    return f"{row['position_preference']:+.3f} for {place}{flag}"


def _wrong(row: Row) -> str:
    if row.get("wrong_picks") is None:
        return GAP
    shares = json.loads(row["wrong_picks_detail"])["shares"]
    return ", ".join(f"{kind} {share:.0%}".replace("%", " %") for kind, share in shares.items())


def _share(row: Row, names: tuple[str, ...]) -> str:
    value = sum(float(row[name]) for name in names)
    return f"{100 * value:.1f} %" if value else GAP


def _p(value: Any) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _number(value: Any, decimals: int) -> str:
    return _fixed(value, decimals) if value is not None else GAP


def _fixed(value: float, decimals: int) -> str:
    """So many digits behind the point; what rounds to nothing has no sign."""
    return f"{value:z.{decimals}f}"
