"""Eras, genres and metres as options: what they are called and which of them could both be right."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from math import inf, log2
from typing import Any, Literal

import numpy as np

from mihakk.generators.corpus import Corpus, salt
from mihakk.generators.corpus_rows import CorpusFacts
from mihakk.generators.parts.together import companions
from mihakk.generators.task import Context, Skip
from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import pack
from mihakk.machinery.taxonomy import vocabulary
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language

Label = Literal["era", "genre", "metre"]
_CENTURY = 100


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
    near: frozenset[str] = frozenset()
    """Neighbours, which are easily taken for it and can't be right too."""


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
            near=frozenset(other["id"] for other in rows if _next_in_time(row["span"], other["span"])),
        )
        for row in rows
    )


def _share_years(one: Sequence[int | None], other: Sequence[int | None]) -> bool:
    starts = [-inf if span[0] is None else span[0] for span in (one, other)]
    ends = [inf if span[1] is None else span[1] for span in (one, other)]
    return max(starts) < min(ends)


def _next_in_time(one: Sequence[int | None], other: Sequence[int | None]) -> bool:
    """One ends a century or less before the other begins."""
    gaps = [
        later[0] - earlier[1]
        for earlier, later in ((one, other), (other, one))
        if earlier[1] is not None and later[0] is not None
    ]
    return any(0 <= gap <= _CENTURY for gap in gaps)


@cache
def genres() -> dict[str, Term]:
    """Arabic genres; the ones that one poem may well belong to both of overlap."""
    rows = _entries("genre", "ar")
    return _mutual(Term(row["id"], row["ar"], overlaps=frozenset(_ALIKE.get(row["id"], ()))) for row in rows)


# Editors file the same poem under one or the other of these. An apology opens with love (Kab ibn Zuhayr),
# mystics say love for God (Ibn al-Farid), laments are wisdom too (al-Rundi, Abu al-Atahiya), and patience is
# a lover's (Abu Firas).
_ALIKE = {
    "love": ("longing", "separation", "sadness", "reproach"),
    "longing": ("separation", "sadness", "nationalism"),
    "separation": ("sadness", "reproach", "elegy"),
    "sadness": ("elegy", "patience", "reproach", "wisdom"),
    "wisdom": ("patience", "religious"),
    "patience": ("religious", "love"),
    "political": ("nationalism", "satire", "praise"),
    "nationalism": ("praise",),
    "reproach": ("apology", "satire"),
    "apology": ("praise", "love"),
    "religious": ("praise", "love"),
    "elegy": ("praise", "wisdom"),
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
    if not pack(language).quantitative:
        kinds = {row["id"]: "name" if row.get("name") else "pattern" for row in rows}
        return {row["id"]: Term(row["id"], row[kinds[row["id"]]], kind=kinds[row["id"]]) for row in rows}
    full = _mutual(
        Term(row["id"], row["ar"], overlaps=frozenset(_SCAN_ALIKE.get(row["id"], ()))) for row in rows
    )
    short = {v["id"]: full[row["id"]] for row in rows for v in row.get("variants") or ()}
    return full | short


@dataclass(frozen=True)
class Draw:
    """What wrong labels are drawn from."""

    corpus: Corpus
    label: Label
    language: Language
    known: Mapping[str, Term]
    nearer: float = 1.0
    """How many times likelier a neighbour of a label is beside it than another one."""

    def weights(self) -> Mapping[str, float]:
        """How willingly each term is taken, at most 1, so that each pair is met as often either way round."""
        counts: Counter[str] = Counter()
        for name, count in self.corpus.label_counts[self.label, self.language]:
            if name in self.known:
                counts[self.known[name].id] += count
        terms = tuple(self.known[name] for name in sorted(counts))
        return _weights(terms, tuple(2 ** round(log2(counts[term.id])) for term in terms), self.nearer)


def wrong_terms(draw: Draw, item: str, right: Term, count: int) -> tuple[list[Term], list[str]]:
    """Wrong answers, as often each as it is right elsewhere, and the poems they were drawn from.

    Each is the label of a poem drawn by seed. Drawn any other way (nearest first, or all alike), the options
    alone would tell the answer: the commonest one, or the one the others are near to. No two options overlap.
    Terms that overlap with few others would be taken too often by those few, so a drawn one is taken with
    a chance that makes up for it. Where the corpus knows too few labels, the table fills up.
    """
    found, poems = [right], []
    # A term that leaves no room for the rest is passed over: the set would be short, and tell by it.
    kinds = list(dict.fromkeys(draw.known.values()))
    whole = _fills(found, kinds, count)
    weights = draw.weights()
    willing = (pair for pair in _drawn(draw, item) if _taken(draw, item, right, pair, weights))
    for term, poem in chain(willing, _drawn(draw, item), _table(draw, item)):
        if len(found) == count:
            break
        if not _beside(term, found) or (whole and not _fills([*found, term], kinds, count)):
            continue
        found.append(term)
        poems += [poem] if poem else []
    return found[1:], poems


def contested(poem: Poem, label: Label) -> bool:
    """Two editors of the poem differ about its label."""
    return label in poem.source_labels.get("contested", "").split(", ")


def wrong_labels(
    ctx: Context[Any], draw: Draw, poem: Poem, item: str, *, right: Term, count: int
) -> tuple[list[Term], list[str]]:
    """Wrong answers of a poem's question and the poems they come from; of a sealed one see `companions`.

    Raises:
        Skip: A sealed question is not asked, as it would tell by its labels.
    """
    if not ctx.corpus.sealed:
        return wrong_terms(draw, item, right, count)

    def term(row: CorpusFacts) -> Term | None:
        return None if draw.label in row.contested.split(", ") else draw.known.get(getattr(row, draw.label))

    rows = [ctx.corpus.poems[n] for n in ctx.corpus.in_language.get(draw.language, ())]
    beside = companions(ctx, poem.id, rows, count=count, label=term, apart=_beside_each)
    terms = [draw.known[getattr(row, draw.label)] for row in beside]
    if right in terms:
        raise Skip("other_label_than_poem")
    return terms, [row.id for row in beside]


def _taken(draw: Draw, item: str, right: Term, drawn: tuple[Term, str], weights: Mapping[str, float]) -> bool:
    term, poem = drawn
    if not _apart(term, right):
        return False
    chance = weights.get(term.id, 1.0) * (draw.nearer if term.id in right.near else 1.0) / draw.nearer
    return chance >= 1 or salt(draw.corpus.build_seed, f"{item}\x1f{poem}\x1ftaken") < chance * 2**64


@lru_cache(maxsize=64)
def _weights(terms: tuple[Term, ...], counts: tuple[int, ...], nearer: float) -> Mapping[str, float]:
    """A weight for each term such that the drawn pairs are symmetric.

    The wrong term b comes beside the right a with chance p(b) w(b) s(a, b) / Z(a), where s is 0 for terms
    that overlap and `nearer` for neighbours. Both ways round are alike where w(a) Z(a) is the same for all a:
    matrix balancing (Sinkhorn and Knopp, 1967) of a symmetric matrix. Counts come rounded to powers of two,
    so that one poem more or less hardly ever moves a weight.
    """
    shares = np.array(counts, dtype=float) / sum(counts)
    beside = np.array([[_side(one, other, nearer) for other in terms] for one in terms])
    weights = np.ones(len(terms))
    for _ in range(300):
        reach = beside @ (weights * shares)
        weights = np.where(reach > 0, np.sqrt(weights / np.where(reach > 0, reach, 1)), weights)
    alone = reach <= 0
    top = weights[~alone].max(initial=1e-12)
    return {
        term.id: 1.0 if single else float(w / top)
        for term, w, single in zip(terms, weights, alone, strict=True)
    }


def _side(one: Term, other: Term, nearer: float) -> float:
    if one.name == other.name or not _apart(one, other):
        return 0.0
    return nearer if other.id in one.near else 1.0


def _drawn(draw: Draw, item: str) -> Iterator[tuple[Term, str]]:
    """Labels of the language's poems in seeded order, with the poems."""
    corpus = draw.corpus
    for n in corpus.drawn(item, "poems", corpus.in_language.get(draw.language, ())):
        name = getattr(corpus.poems[n], draw.label)
        if name in draw.known:
            yield draw.known[name], corpus.poems[n].id


def _beside_each(one: Term, other: Term) -> bool:
    return _beside(one, [other])


def _table(draw: Draw, item: str) -> Iterator[tuple[Term, str]]:
    """Every term in seeded order, from no poem."""
    names = sorted(draw.known, key=lambda name: salt(draw.corpus.build_seed, f"{item}\x1f{name}"))
    yield from ((draw.known[name], "") for name in names)


def _beside(term: Term, found: Sequence[Term]) -> bool:
    return all(term.name != one.name and _apart(term, one) for one in found)


def _fills(found: Sequence[Term], known: Sequence[Term], count: int) -> bool:
    """Whether some of the known terms make up the number."""
    return len(found) >= count or any(
        _fills([*found, term], known, count) for term in known if _beside(term, found)
    )


def _apart(one: Term, other: Term) -> bool:
    return one.kind == other.kind and one.id not in other.overlaps and other.id not in one.overlaps


def _mutual(terms: Any) -> dict[str, Term]:
    """Terms by id, with overlaps that hold both ways."""
    found: dict[str, Term] = {term.id: term for term in terms}
    return {
        name: replace(
            term, overlaps=term.overlaps | {other.id for other in found.values() if name in other.overlaps}
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
