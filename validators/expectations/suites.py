"""What must hold of every stage table, as data; no Great Expectations is imported to read it."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from schemas.audit import ReplyStatus, VerdictStatus
from schemas.finding import Severity
from schemas.idiom import Connotation, Idiom
from schemas.item import Split
from schemas.poem import Poem
from schemas.record import Language, Provenance
from schemas.rejection import REASON, Rejection

TableName = Literal["poems", "idioms", "items", "findings", "audits", "verdicts", "rejected", "accounting"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One expectation: the Great Expectations class and its arguments."""

    kind: str
    arguments: dict[str, Any]


def _filled(*columns: str) -> list[Rule]:
    """Not null and, for texts, not blank."""
    rules = []
    for column in columns:
        rules.append(Rule("ExpectColumnValuesToNotBeNull", {"column": column}))
        rules.append(Rule("ExpectColumnValuesToMatchRegex", {"column": column, "regex": r"(?s)\S"}))
    return rules


def _one_of(column: str, values: Any) -> Rule:
    return Rule("ExpectColumnValuesToBeInSet", {"column": column, "value_set": list(values)})


def _unique(*columns: str) -> Rule:
    if len(columns) == 1:
        return Rule("ExpectColumnValuesToBeUnique", {"column": columns[0]})
    return Rule("ExpectCompoundColumnsToBeUnique", {"column_list": list(columns)})


def _like(column: str, pattern: str) -> Rule:
    return Rule("ExpectColumnValuesToMatchRegex", {"column": column, "regex": pattern})


def _between(column: str, least: float | None, most: float | None = None) -> Rule:
    return Rule("ExpectColumnValuesToBeBetween", {"column": column, "min_value": least, "max_value": most})


def _holds(column: str) -> Rule:
    """A column derived by `validators.expectations.columns`, true where the rule it is named after holds."""
    return Rule("ExpectColumnValuesToBeInSet", {"column": column, "value_set": [True]})


_LANGUAGES = get_args(Language)
_SHA256 = r"^[0-9a-f]{64}$"

SUITES: dict[TableName, tuple[Rule, ...]] = {
    "poems": (
        *_filled(*Poem.needed_texts(), *Provenance.needed_texts()),
        _unique("id"),
        _one_of("language", _LANGUAGES),
        _like("sha256", _SHA256),
        _between("couplets", 0),
        _holds("couplet ids are the poem's and differ"),
        _holds("couplets point at sections that exist"),
        _holds("every hemistich has text and key"),
    ),
    "idioms": (
        *_filled(*Idiom.needed_texts(), "phrase", "explanation", *Provenance.needed_texts()),
        _unique("id"),
        _one_of("language", _LANGUAGES),
        _one_of("genre", ("idiom", "proverb")),
        _one_of("connotation", get_args(Connotation)),
        _like("sha256", _SHA256),
    ),
    "items": (
        *_filled("id", "task", "generator", "licence"),
        _unique("id"),
        _one_of("language", _LANGUAGES),
        _one_of("kind", ("choice", "answer", "explanation")),
        _one_of("split", get_args(Split)),
        _between("records", 1),
        _between("order", 0, 1),
        _holds("golds are options"),
        _holds("both orders of a pair are there"),
    ),
    "findings": (
        *_filled("check", "subject", "detail"),
        _like("check", r"^[A-Z]{2}\d{2}$"),
        _one_of("severity", get_args(Severity)),
        _unique("check", "subject", "where", "detail"),
        _holds("subject is an item of the table"),
    ),
    "audits": (
        *_filled("item", "auditor", "reply_key"),
        _one_of("status", get_args(ReplyStatus)),
        _unique("item", "auditor"),
        _between("total", 0, 10),
        _holds("ten scores, or none of an invalid reply"),
        _holds("issues name the zeros"),
        _holds("item is an item of the table"),
    ),
    "verdicts": (
        *_filled("item", "policy"),
        _unique("item"),
        _one_of("status", get_args(VerdictStatus)),
        _holds("flags and blocks have reasons"),
        _holds("item is an item of the table"),
    ),
    "rejected": (
        *_filled(*Rejection.needed_texts()),
        _like("reason", REASON),
    ),
    "accounting": (
        *_filled("stage", "shard"),
        _unique("stage", "shard"),
        _between("read", 0),
        _between("kept", 0),
        _between("rejected", 0),
        _between("merged", 0),
        _holds("read = kept + rejected + merged"),
    ),
}
"""Expectations per table; columns are those that `columns.flat` gives."""
