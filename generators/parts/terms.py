"""Eras, genres and metres as options: what they are called and which of them could both be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import inf
from typing import Any, Literal

from generators.corpus import Corpus, salt
from mihakk.errors import UsageError
from mihakk.taxonomy import vocabulary
from schemas.record import Language

Label = Literal["era", "genre", "metre"]


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of a reference table."""

    id: str
    name: str
    """As an option shows it."""
    kind: str = ""
    """Options of one item are of one kind: a pattern among names would stand out."""
    overlaps: frozenset[str] = frozenset()
    """Terms that could be right too: never options beside this one."""


@cache
def eras() -> dict[str, Term]:
    """Arabic eras in the order of time; those that share years overlap, whatever the table says beside."""
    rows = sorted(_entries("era", "ar"), key=lambda row: int(row["order"]))
    return _mutual(
        Term(
            row["id"],
            row["ar"],
            overlaps=frozenset(row.get("overlaps") or ())
            | {
                other["id"] for other in rows if other is not row and _share_years(row["span"], other["span"])
            },
        )
        for row in rows
    )


def _share_years(one: Sequence[int | None], other: Sequence[int | None]) -> bool:
    starts = [-inf if span[0] is None else span[0] for span in (one, other)]
    ends = [inf if span[1] is None else span[1] for span in (one, other)]
    return max(starts) < min(ends)


@cache
def genres() -> dict[str, Term]:
    """Arabic genres; the ones that one poem may well belong to both of overlap."""
    rows = _entries("genre", "ar")
    return _mutual(Term(row["id"], row["ar"], overlaps=frozenset(_ALIKE.get(row["id"], ()))) for row in rows)


# Editors file the same poem under one or the other of these.
_ALIKE = {
    "love": ("longing", "separation", "sadness", "reproach"),
    "longing": ("separation", "sadness", "nationalism"),
    "separation": ("sadness", "reproach", "elegy"),
    "sadness": ("elegy", "patience", "reproach"),
    "wisdom": ("patience", "religious"),
    "patience": ("religious",),
    "political": ("nationalism", "satire", "praise"),
    "nationalism": ("praise",),
    "reproach": ("apology", "satire"),
    "apology": ("praise",),
    "religious": ("praise",),
    "elegy": ("praise",),
}

# Pairs that one couplet can scan as: kamil with every foot lightened is rajaz, the short wafir with every
# foot lightened is hazaj, and sari is six feet of rajaz but for the close.
_SCAN_ALIKE = {"kamil": ("rajaz", "sari"), "wafir": ("hazaj",), "rajaz": ("sari",)}


@cache
def metres(language: Language) -> dict[str, Term]:
    """Metres of a language; an Arabic shortened form stands for its full metre, so that ids share a term.

    Raises:
        UsageError: No table of metres for the language.
    """
    rows = _entries("metre", language)
    return _arabic_metres(rows) if language == "ar" else _persian_metres(rows)


def _arabic_metres(rows: list[Mapping[str, Any]]) -> dict[str, Term]:
    full = _mutual(
        Term(
            row["id"],
            row["ar"],
            overlaps=frozenset(_SCAN_ALIKE.get(row["id"], ())),
        )
        for row in rows
    )
    short = {v["id"]: full[row["id"]] for row in rows for v in row.get("variants") or ()}
    return full | short


def _persian_metres(rows: list[Mapping[str, Any]]) -> dict[str, Term]:
    return {
        row["id"]: Term(
            row["id"],
            row.get("name") or row["pattern"],
            kind="name" if row.get("name") else "pattern",
        )
        for row in rows
    }


def wrong_terms(
    corpus: Corpus,
    item: str,
    known: Mapping[str, Term],
    right: Term,
    *,
    label: Label,
    language: Language,
    count: int,
) -> tuple[list[Term], list[str]]:
    """Wrong answers, as often each as it is right elsewhere, and the poems they were drawn from.

    Each is the label of a poem drawn by seed. Drawn any other way (nearest first, or all alike), the options
    alone would tell the answer: the commonest one, or the one the others are near to. No two options overlap.
    Where the corpus knows too few labels, the table fills up.
    """
    found, poems = [right], []
    for term, poem in chain(_drawn(corpus, item, known, label, language), _table(corpus, item, known)):
        if len(found) == count:
            break
        if any(term.name == one.name or not _apart(term, one) for one in found):
            continue
        found.append(term)
        poems += [poem] if poem else []
    return found[1:], poems


def _drawn(
    corpus: Corpus, item: str, known: Mapping[str, Term], label: Label, language: Language
) -> Iterator[tuple[Term, str]]:
    """Labels of the language's poems in seeded order, with the poems."""
    for n in corpus.drawn(item, "poems", corpus.in_language.get(language, ())):
        name = getattr(corpus.poems[n], label)
        if name in known:
            yield known[name], corpus.poems[n].id


def _table(corpus: Corpus, item: str, known: Mapping[str, Term]) -> Iterator[tuple[Term, str]]:
    """Every term in seeded order, from no poem."""
    names = sorted(known, key=lambda name: salt(corpus.build_seed, f"{item}\x1f{name}"))
    yield from ((known[name], "") for name in names)


def _apart(one: Term, other: Term) -> bool:
    return one.kind == other.kind and one.id not in other.overlaps and other.id not in one.overlaps


def _mutual(terms: Any) -> dict[str, Term]:
    """Terms by id, with overlaps that hold both ways."""
    found: dict[str, Term] = {term.id: term for term in terms}
    return {
        name: Term(
            term.id,
            term.name,
            term.kind,
            term.overlaps | {other.id for other in found.values() if name in other.overlaps},
        )
        for name, term in found.items()
    }


def _entries(label: Label, language: Language) -> list[Mapping[str, Any]]:
    """The table's rows, in its order.

    Raises:
        UsageError: No such table for the language.
    """
    table = vocabulary(label, language)
    if table is None:
        raise UsageError(f"there is no table of {label}s for {language!r}: leave the task out for it")
    return list(table.entries.values())
