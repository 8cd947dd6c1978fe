"""The declared language of a source's records against their text, before anything rewrites its letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from mihakk.machinery.languages import languages
from mihakk.machinery.text.language import (
    LanguageEvidence,
    LanguageSum,
    language_evidence,
    name_of,
    words_of,
)
from mihakk.schemas.benchmark import MOST_LOST, shown_share
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language

_EXAMPLES = 3
_SHOWN = 60


class Told(NamedTuple):
    """Another language than the declared one."""

    language: str
    share: float
    """Of the texts whose language can be told."""
    sentence: str


class DeclaredLanguage:
    """What the records of one source have shown so far.

    Args:
        accepted: Share of the records told that a person saw to be told otherwise, and took for right: none
            of them is rejected then. None: each is.
    """

    def __init__(self, accepted: float | None = None) -> None:
        self._accepted = accepted
        self._whole: dict[str, LanguageSum] = {}
        """Declared language to what all its records show."""
        self._told = 0
        self._others: Counter[tuple[str, str]] = Counter()
        """(declared, told) to records."""
        self._examples: dict[tuple[str, str], list[str]] = {}

    def objection(self, record: Poem | Idiom) -> str:
        """Why the record has to be rejected; empty where its language is as declared or not told."""
        text, more = _texts(record)
        found = self.look(record.id, record.language, text, *more)
        return "" if self._accepted is not None else found

    def look(self, name: str, declared: Language, text: str, *more: str) -> str:
        """Notes one text, and texts beside it; what speaks against its declared language, or nothing."""
        found = language_evidence(text, *more)
        self._whole.setdefault(declared, LanguageSum()).add(found)
        other = found.other_than(declared)
        self._told += bool(found.language or other)
        if not other:
            return ""
        example = f"{name} «{' '.join(text.split())[:_SHOWN]}»"
        if known := words_of(other, " ".join((text, *more))):
            example += f" ({', '.join(known)})"
        self._others[declared, other] += 1
        self._examples.setdefault((declared, other), []).append(example)
        return f"declared {name_of(declared)}, its text is {name_of(other)}: {found}; {example}"

    def problem(self) -> str:
        """Why the whole source has to be refused, with the share, examples and what to write; else empty."""
        found = self.told()
        if found is None or found.share <= (MOST_LOST if self._accepted is None else self._accepted):
            return ""
        fix = "Take it out: no benchmark is built of it"
        if found.language in languages("items"):
            fix = f"Declare it: `language: {found.language}`"
        return (
            f"{found.sentence}. {fix}; give a table of several languages a column `language`. Where the "
            f"declared language is right, accept it beside `use`: `accept: {{language: {found.share:g}}}`"
        )

    def told(self) -> Told | None:
        """The language of most texts that differ; where none does by itself, that of all together."""
        if self._others:
            (declared, other), count = self._others.most_common(1)[0]
            examples = "; ".join(self._examples[declared, other][:_EXAMPLES])
            return Told(
                other,
                shown_share(self._others.total() / self._told),
                f"{count:,} of the {self._told:,} texts whose language can be told are "
                f"{name_of(other)}, declared {name_of(declared)}: {examples}",
            )
        for declared, one in self._whole.items():
            found = one.evidence
            if other := found.other_than(declared):
                names = f"{name_of(other)}, declared {name_of(declared)}"
                return Told(other, 1.0, f"all texts together are {names}: {found}")
        return None


def evidence_of(records: Iterable[Poem | Idiom]) -> LanguageEvidence:
    """What records show together."""
    found = (language_evidence(text, *more) for text, more in map(_texts, records))
    return sum(found, LanguageEvidence())


def _texts(record: Poem | Idiom) -> tuple[str, tuple[str, ...]]:
    """The text whose letters count, and texts beside it whose words count too."""
    if isinstance(record, Poem):
        return "\n".join(half.raw for couplet in record.couplets for half in couplet.halves), ()
    return record.phrase.raw, (record.explanation.raw, *record.examples)
