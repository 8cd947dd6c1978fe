"""A source proposed for somebody's own files: its options, what speaks for them, what is to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import languages, pack
from mihakk.machinery.text import canonicalize, poem_rhyme
from mihakk.machinery.text.language import LATIN, LanguageEvidence, language_evidence, name_of
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.trial import Trial, attempt

LOOKED = 2_000
"""Rows of a table, or lines of a text, that are looked at."""
POET = "Whose poems are they? (empty: nobody's in particular)"


@dataclass
class Question:
    """What the files can't tell."""

    key: str
    """Option of the source that the answer sets; for `reading`, the options of the reading chosen."""
    text: str
    choices: list[str] = field(default_factory=list)
    """Answers that can be given; empty: any text."""
    readings: list[dict[str, Any]] = field(default_factory=list)
    """Of `reading`: the options of each choice."""


@dataclass
class Found:
    """One source proposed."""

    options: dict[str, Any]
    evidence: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def answer(self, question: Question, given: str) -> None:
        """Takes an answer into the options.

        Raises:
            UsageError: It is none of the choices.
        """
        if question.choices and given not in question.choices:
            raise UsageError(f"{given!r}: the answers are {', '.join(question.choices)}")
        if question.readings:
            self.options |= question.readings[question.choices.index(given)]
        elif question.key.startswith("columns."):
            self.options.setdefault("columns", {})[question.key.removeprefix("columns.")] = given
            self.options["ignore"] = [name for name in self.options.get("ignore", []) if name != given]
        elif question.key.startswith("fields."):
            name = question.key.removeprefix("fields.")
            if given in self.options.get("ignore", ()):
                self.answer(Question(f"columns.{name}", question.text), given)
            elif given:
                self.options.setdefault("fields", {})[name] = given
        else:
            self.options[question.key] = given

    def trial(self, raw: RawStore) -> Trial:
        """What a build would read."""
        options = {name: value for name, value in self.options.items() if value not in ("", [], {})}
        return attempt(SourceUse(use="files", name="own", options=options), raw)


def those_that_can(tries: Iterable[Callable[[], list[Found]]], told: Sequence[str] = ()) -> list[Found]:
    """What can be read of a folder or workbook; what can't is left out, which the first says.

    Raises:
        UsageError: Nothing can.
    """
    found: list[Found] = []
    failed: list[UsageError] = []
    for one in tries:
        try:
            found += one()
        except UsageError as error:
            failed.append(error)
    if not found:
        raise failed[0]
    found[0].evidence[:0] = [f"LEFT OUT: {why}" for why in (*map(str, failed), *told)]
    return found


def rhyming(poems: Sequence[Poem]) -> tuple[int, int]:
    """Poems in which a rhyme can be looked for, and those that have one."""
    told = [
        rhyme_shared(
            [(one.first.raw, one.second.raw if one.second else None) for one in poem.couplets], poem.language
        )
        for poem in poems
        if pack(poem.language).script != pack(LATIN).script and len(poem.couplets) > 1
    ]
    return len(told), sum(share > 0 for share in told)


def rhyme_shared(units: Sequence[tuple[str, str | None]], language: Language) -> float:
    """How well couplets or lines rhyme as one poem: 1 for one rhyme of all second hemistichs, less the share
    of later couplets whose two hemistichs rhyme, as the first of a new poem do; .5 for couplets that all
    rhyme in themselves, which whole couplets read as hemistichs do too."""

    def rhyme(lines: Iterable[str]) -> bool:
        return bool(poem_rhyme([canonicalize(line, language).text for line in lines], language))

    inner = [second is not None and rhyme([first, second]) for first, second in units]
    if sum(inner) >= 0.8 * len(units):
        return 0.5
    ends = (first if second is None else second for first, second in units)
    return 1.0 - sum(inner[1:]) / len(units) if rhyme(ends) else 0.0


def tell_language(found: Found, texts: Iterable[Iterable[str]]) -> None:
    evidence = LanguageEvidence()
    for column in texts:
        for text in islice(column, LOOKED):
            evidence += language_evidence(text)
    told = evidence.language
    if told == LATIN:
        text = "Which language are they in? (Latin letters alone don't tell; of others none is built)"
        found.questions.append(Question("language", text, list(languages("items"))))
        return
    if told in languages("items"):
        found.options["language"] = told
        found.evidence.append(f"its language is {name_of(told)}: {evidence}")
        return
    if told:
        raise UsageError(
            f"{found.options['path']}: its language is {name_of(told)} ({evidence}), and no "
            "benchmark is built of it: take these texts out"
        )
    asked = f"Which language are they in? ({evidence})"
    found.questions.append(Question("language", asked, list(languages("items"))))
