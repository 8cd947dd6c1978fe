"""Stage tables as flat columns: nested fields become counts and yes-or-no columns a suite can speak of."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from schemas.idiom import Idiom
from schemas.poem import Poem
from schemas.record import Provenance
from schemas.rejection import Rejection
from validators.expectations.suites import TableName

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
References = Mapping[str, Collection[str]]
"""Ids of other tables by table name, e.g. `{"items": {...}}`, for the foreign keys."""


def flat(table: TableName, frame: pd.DataFrame, references: References) -> pd.DataFrame:
    """The frame with the columns its suite names.

    Args:
        table: Which table it is.
        frame: As read from parquet: structs as dicts, lists as arrays.
        references: Ids that foreign keys must be among; a table not named is not checked against.
    """
    import pandas as pd

    rows = [
        {str(name): None if _missing(cell) else cell for name, cell in row.items()}
        for row in frame.to_dict(orient="records")
    ]
    made = [_FLAT[table](row, references) for row in rows]
    if table == "items":
        orders = _orders(rows)
        for row, out in zip(rows, made, strict=True):
            pair = row.get("pair_id") or ""
            out["both orders of a pair are there"] = not pair or orders[pair] == {0, 1}
    return pd.DataFrame(made, columns=list(made[0]) if made else None)


def _poem(row: Row, _: References) -> dict[str, Any]:
    couplets, sections = _list(row["couplets"]), _list(row["sections"])
    halves = [form for couplet in couplets for form in (couplet["first"], couplet["second"]) if form]
    ids = [couplet["id"] for couplet in couplets]
    return {
        **_provenance(row),
        **{name: row[name] for name in (*Poem.needed_texts(), "language")},
        "couplets": len(couplets),
        "couplet ids are the poem's and differ": len(set(ids)) == len(ids)
        and all(one.startswith(f"{row['id']}:") for one in ids),
        "couplets point at sections that exist": all(
            0 <= couplet["section"] < len(sections) for couplet in couplets
        ),
        "every hemistich has text and key": all(form["text"] and form["key"] for form in halves),
    }


def _idiom(row: Row, _: References) -> dict[str, Any]:
    return {
        **_provenance(row),
        **{name: row[name] for name in (*Idiom.needed_texts(), "language", "genre", "connotation")},
        "phrase": row["phrase"]["text"],
        "explanation": row["explanation"]["text"],
    }


def _item(row: Row, _: References) -> dict[str, Any]:
    origin = row["origin"]
    options, gold = _list(row.get("options")), _list(row.get("gold"))
    in_range = bool(gold) and all(0 <= one < len(options) for one in gold)
    # An outside benchmark may have a gold out of range: that is a finding about it, not a fault of the table.
    return {
        **{name: row[name] for name in ("id", "task", "language", "kind", "split", "licence")},
        "generator": origin["generator"],
        "records": len(_list(origin["records"])),
        "order": row.get("order"),
        "golds are options": in_range or row["kind"] != "choice" or origin["generator"] == "external",
    }


def _finding(row: Row, references: References) -> dict[str, Any]:
    known = row["subject"] == "*" or _known(row["subject"], references)
    columns = ("check", "severity", "subject", "detail", "where")
    return {**{name: row[name] for name in columns}, "subject is an item of the table": known}


def _audit(row: Row, references: References) -> dict[str, Any]:
    scores, issues = _mapping(row["scores"]), _list(row["issues"])
    zeros = {name for name, score in scores.items() if score == 0}
    named = [issue["criterion"] for issue in issues]
    expected = 0 if row["status"] == "invalid" else 10
    return {
        **{name: row[name] for name in ("item", "auditor", "status", "reply_key")},
        "total": sum(scores.values()) if scores else None,
        "ten scores, or none of an invalid reply": len(scores) == expected,
        "issues name the zeros": not scores or (len(named) == len(set(named)) and set(named) == zeros),
        "item is an item of the table": _known(row["item"], references),
    }


def _verdict(row: Row, references: References) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("item", "status", "policy")},
        "flags and blocks have reasons": row["status"] == "pass" or bool(_list(row["reasons"])),
        "item is an item of the table": _known(row["item"], references),
    }


def _rejected(row: Row, _: References) -> dict[str, Any]:
    return {name: row[name] for name in Rejection.needed_texts()}


def _account(row: Row, _: References) -> dict[str, Any]:
    columns = ("stage", "shard", "read", "kept", "rejected", "merged")
    whole = row["kept"] + row["rejected"] + row["merged"]
    return {**{name: row[name] for name in columns}, "read = kept + rejected + merged": row["read"] == whole}


_FLAT: dict[TableName, Callable[[Row, References], dict[str, Any]]] = {
    "poems": _poem,
    "idioms": _idiom,
    "items": _item,
    "findings": _finding,
    "audits": _audit,
    "verdicts": _verdict,
    "rejected": _rejected,
    "accounting": _account,
}


def _provenance(row: Row) -> dict[str, Any]:
    return {name: row["provenance"][name] for name in Provenance.needed_texts()}


def _known(name: str, references: References) -> bool:
    return "items" not in references or name in references["items"]


def _orders(rows: list[dict[str, Any]]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for row in rows:
        if row.get("pair_id"):
            found.setdefault(row["pair_id"], set()).add(int(row["order"]))
    return found


def _missing(cell: Any) -> bool:
    """The not-a-number that pandas has for nothing."""
    return isinstance(cell, float) and math.isnan(cell)


def _list(value: Any) -> list[Any]:
    """A list column's cell: an array, a list, or nothing."""
    return [] if value is None else list(value)


def _mapping(value: Any) -> dict[str, Any]:
    """A map column's cell: a dict, a list of pairs, or nothing."""
    return dict(value) if isinstance(value, Mapping) else dict(_list(value))
