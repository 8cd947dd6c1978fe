"""What must hold of every stage table: what its records say of their fields, and a few rules besides."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from mihakk.machinery.errors import MihakkError
from mihakk.schemas.audit import CRITERIA, Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Provenance, Record
from mihakk.schemas.rejection import REASON, Rejection
from mihakk.schemas.stages import CURATED

if TYPE_CHECKING:
    import pandas as pd

TableName = Literal["poems", "idioms", "items", "findings", "audits", "verdicts", "rejected", "accounting"]
Row = Mapping[str, Any]
References = Mapping[str, AbstractSet[str]]
"""Ids of other tables by table name, e.g. `{"items": {...}}`, for the foreign keys; a table not named is not
checked against."""
Holds = Callable[[Row, References], bool]
SHOWN: Final = 5
"""Rows, or offending values, that an error names."""
_SHA256: Final = r"^[0-9a-f]{64}$"
_FILLED: Final = r"(?s)\S"


class Contract(NamedTuple):
    """The contract of one table; no Great Expectations is imported to read it."""

    records: tuple[type[Record], ...]
    """What a row may be: each text that it needs is filled, each `Literal` one of its words."""
    first: str = ""
    """The stage from which rows keep it; raw texts have no keys yet."""
    unique: tuple[str, ...] = ()
    """Columns that no two rows have alike."""
    inner: Mapping[str, str] = MappingProxyType({})
    """Further columns that are filled: name to the field and the field inside it, `provenance.url`."""
    blank: tuple[str, ...] = ()
    """Texts that may be blank all the same: that is a finding about the row, no fault of its stage."""
    like: Mapping[str, str] = MappingProxyType({})
    """Column to the pattern of its texts."""
    between: Mapping[str, tuple[int, int | None]] = MappingProxyType({})
    """Column to its least and greatest number."""
    holds: Mapping[str, Holds] = MappingProxyType({})
    """Rules over whole rows, by what they say."""

    def broken(self, rows: Sequence[Record]) -> Iterator[str]:
        """Row, field and cause of each break among rows of one shard, as a stage is about to write them.

        What needs all shards of a table stays with the suites.
        """
        view = [_Fields(row) for row in rows]
        pairs = _pairs(view)
        plain = {name: place.split(".") for name, place in self._filled().items()}
        like = {name: re.compile(pattern) for name, pattern in self.like.items()}
        met: set[tuple[Any, ...]] = set()
        for row in view:
            causes = [f"{name}: it is empty" for name, place in plain.items() if not _text_at(row, place)]
            causes += [
                f"{name}: {_at(row, self.inner.get(name, name))!r} is not like {pattern.pattern}"
                for name, pattern in like.items()
                if not pattern.search(_at(row, self.inner.get(name, name)))
            ]
            causes += [rule for rule, holds in self.holds.items() if not holds(row, pairs)]
            named = tuple(row.get(name) for name in self.unique)
            if self.unique and named in met:
                causes.append(f"{', '.join(self.unique)}: another row has the same")
            met.add(named)
            if causes:
                name = next((row[one] for one in ("id", "item", "subject", "record") if one in row), "?")
                yield f"row {name}: {'; '.join(causes)}"

    def _filled(self) -> dict[str, str]:
        """Column of a text that each row needs to the place where it stands."""
        needed = dict.fromkeys(name for record in self.records for name in record.needed_texts())
        return {name: name for name in needed if name not in self.blank} | dict(self.inner)

    def expectations(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each expectation: the Great Expectations class and its arguments."""
        filled = self._filled()
        for name in filled:
            yield "ExpectColumnValuesToNotBeNull", {"column": name}
        for name, pattern in (*dict.fromkeys(filled, _FILLED).items(), *self.like.items()):
            yield "ExpectColumnValuesToMatchRegex", {"column": name, "regex": pattern}
        if len(self.unique) == 1:
            yield "ExpectColumnValuesToBeUnique", {"column": self.unique[0]}
        elif self.unique:
            yield "ExpectCompoundColumnsToBeUnique", {"column_list": list(self.unique)}
        for name, (least, most) in self.between.items():
            yield "ExpectColumnValuesToBeBetween", {"column": name, "min_value": least, "max_value": most}
        words: dict[str, dict[Any, None]] = {name: {True: None} for name in self.holds}
        for name, kind in (pair for record in self.records for pair in record.model_fields.items()):
            inside = get_args(kind.annotation) if get_origin(kind.annotation) in (Union, UnionType) else ()
            for one in (kind.annotation, *inside):
                if get_origin(one) is Literal:
                    words.setdefault(name, {}).update(dict.fromkeys(get_args(one)))
        for name, allowed in words.items():
            yield "ExpectColumnValuesToBeInSet", {"column": name, "value_set": list(allowed)}

    def flat(self, frames: Iterable[pd.DataFrame], references: References) -> pd.DataFrame:
        """Frames as read from parquet as one, with one column for each that an expectation speaks of.

        Both orders of a question's options are in one frame.
        """
        import pandas as pd

        said = [*self.expectations()]
        named = {name for _, one in said for name in one.get("column_list", [one.get("column")])}
        columns: dict[str, list[Any]] = {
            name: [] for name in (*sorted(named - self.holds.keys()), *self.holds)
        }
        # Of a text that only has to be there, no more than that is kept: texts are most of a table.
        filled = self._filled().keys() - {
            name
            for kind, one in said
            if kind != "ExpectColumnValuesToNotBeNull" and one.get("regex") != _FILLED
            for name in one.get("column_list", [one.get("column")])
        }
        for frame in frames:
            rows = [
                {str(name): None if _missing(cell) else cell for name, cell in row.items()}
                for row in frame.to_dict(orient="records")
            ]
            known = {**references, **_pairs(rows)}
            for name in columns:
                rule, place = self.holds.get(name), self.inner.get(name, name)
                told = (rule(row, known) if rule else _at(row, place) for row in rows)
                columns[name] += map(_there, told) if name in filled else told
        return pd.DataFrame(columns if any(columns.values()) else None)


class _Fields(Mapping[str, Any]):
    """A record as the rules read rows: its fields by their names, records in it likewise."""

    __slots__ = ("_held",)

    def __init__(self, record: Record) -> None:
        self._held = record.__dict__

    def __getitem__(self, name: str) -> Any:
        found = self._held[name]
        if isinstance(found, Record):
            return _Fields(found)
        if isinstance(found, tuple) and found and isinstance(found[0], Record):
            return [_Fields(one) for one in found]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


def _pairs(rows: Sequence[Row]) -> References:
    """Which orders of each pair are among the rows."""
    return {"pairs": {f"{row['pair_id']} {row['order']:.0f}" for row in rows if row.get("pair_id")}}


def _text_at(row: Row, place: Sequence[str]) -> bool:
    """Whether a text stands there; fields of other kinds of rows than this one are none of it."""
    found: Any = row
    for name in place:
        if name not in found:
            return True
        found = found[name]
    return bool(found and found.strip())


def _couplet_ids(poem: Row, _: References) -> bool:
    ids = [couplet["id"] for couplet in _list(poem["couplets"])]
    return len(set(ids)) == len(ids) and all(one.startswith(f"{poem['id']}:") for one in ids)


def _sections_exist(poem: Row, _: References) -> bool:
    sections = len(_list(poem["sections"]))
    return all(0 <= couplet["section"] < sections for couplet in _list(poem["couplets"]))


def _halves_whole(poem: Row, _: References) -> bool:
    halves = [couplet[half] for couplet in _list(poem["couplets"]) for half in ("first", "second")]
    return all(form["text"] and form["key"] for form in halves if form)


def _golds_exist(item: Row, _: References) -> bool:
    # An outside benchmark may have a gold out of range: that is a finding about it, not a fault of the table.
    if item["kind"] != "choice" or item["origin"]["generator"] == "external":
        return True
    options, gold = _list(item.get("options")), _list(item.get("gold"))
    return bool(gold) and all(0 <= one < len(options) for one in gold)


def _both_orders(item: Row, references: References) -> bool:
    pair = item.get("pair_id")
    return not pair or all(f"{pair} {order}" in references["pairs"] for order in "01")


def _whole_reply(audit: Row, _: References) -> bool:
    return len(_mapping(audit["scores"])) == (0 if audit["status"] == "invalid" else len(CRITERIA))


def _zeros_named(audit: Row, _: References) -> bool:
    scores, named = _mapping(audit["scores"]), [issue["criterion"] for issue in _list(audit["issues"])]
    zeros = sorted(name for name, score in scores.items() if score == 0)
    return not scores or sorted(named) == zeros


def _known(column: str) -> Holds:
    """The column names an item of the table, or `*` for all of them."""
    return lambda row, given: row[column] == "*" or "items" not in given or row[column] in given["items"]


_PROVENANCE: Final = {name: f"provenance.{name}" for name in Provenance.needed_texts()}

CONTRACTS: Final[dict[TableName, Contract]] = {
    "poems": Contract(
        records=(Poem,),
        first=CURATED,
        unique=("id",),
        inner=_PROVENANCE,
        like={"sha256": _SHA256},
        holds={
            "couplet ids are the poem's and differ": _couplet_ids,
            "couplets point at sections that exist": _sections_exist,
            "every hemistich has text and key": _halves_whole,
        },
    ),
    "idioms": Contract(
        records=(Idiom,),
        first=CURATED,
        unique=("id",),
        inner={"phrase": "phrase.text", "explanation": "explanation.text", **_PROVENANCE},
        like={"sha256": _SHA256},
    ),
    "items": Contract(
        records=ITEM_ROWS,
        unique=("id",),
        inner={"generator": "origin.generator"},
        blank=("question", "answer"),
        between={"order": (0, 1)},
        holds={
            "an item comes from records": lambda item, _: len(_list(item["origin"]["records"])) > 0,
            "golds are options": _golds_exist,
            "both orders of a pair are there": _both_orders,
        },
    ),
    "findings": Contract(
        records=(Finding,),
        unique=("check", "subject", "where", "detail"),
        like={"check": r"^[A-Z]{2}\d{2}$"},
        holds={"subject is an item of the table": _known("subject")},
    ),
    "audits": Contract(
        records=(Audit,),
        unique=("item", "auditor"),
        holds={
            "scores are 0 or 1": lambda audit, _: {*_mapping(audit["scores"]).values()} <= {0, 1},
            "ten scores, or none of an invalid reply": _whole_reply,
            "issues name the zeros": _zeros_named,
            "item is an item of the table": _known("item"),
        },
    ),
    "verdicts": Contract(
        records=(Verdict,),
        unique=("item",),
        holds={
            "flags and blocks have reasons": lambda verdict, _: (
                verdict["status"] == "pass" or bool(_list(verdict["reasons"]))
            ),
            "item is an item of the table": _known("item"),
        },
    ),
    "rejected": Contract(records=(Rejection,), like={"reason": REASON}),
    "accounting": Contract(
        records=(),
        unique=("stage", "shard"),
        inner={"stage": "stage", "shard": "shard"},
        between=dict.fromkeys(("read", "kept", "rejected", "merged"), (0, None)),
        holds={
            "read = kept + rejected + merged": lambda row, _: (
                row["read"] == row["kept"] + row["rejected"] + row["merged"]
            )
        },
    ),
}
"""Contract of every table."""


class TableViolation(MihakkError):
    """A stage table does not hold what its contract says; a bug of the stage that wrote it."""


def keep_contract(stage: str, table: str, rows: Sequence[Record]) -> None:
    """Stops a stage before it writes rows that break the contract of their table.

    Raises:
        TableViolation: Names the first rows, their fields and what is wrong.
    """
    contract = CONTRACTS.get(table)  # type: ignore[call-overload]
    if contract is None or stage < contract.first:
        return
    if found := list(islice(contract.broken(rows), SHOWN + 1)):
        more = "\n  ..." if len(found) > SHOWN else ""
        told = "\n  ".join(found[:SHOWN])
        raise TableViolation(f"{stage} made {table} that break their contract:\n  {told}{more}")


def _at(row: Row, place: str) -> Any:
    """A cell, or a field of the record that it holds."""
    name, _, inner = place.partition(".")
    return row[name][inner] if inner else row.get(name)


def _there(cell: Any) -> Any:
    """One text for all that are not blank."""
    return "…" if isinstance(cell, str) and cell.strip() else cell


def _missing(cell: Any) -> bool:
    """The not-a-number that pandas has for nothing."""
    return isinstance(cell, float) and math.isnan(cell)


def _list(value: Any) -> list[Any]:
    """A list column's cell: an array, a list, or nothing."""
    return [] if value is None else list(value)


def _mapping(value: Any) -> dict[str, Any]:
    """A map column's cell: a dict, a list of pairs, or nothing."""
    return dict(value) if isinstance(value, Mapping) else dict(_list(value))
