"""The reference vocabularies (`data/reference/`): eras, genres, metres and poets, with their spellings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.text import key
from mihakk.schemas.record import Language

Kind = Literal["era", "genre", "metre", "poet"]
TABLES: dict[tuple[Kind, Language], tuple[str, str]] = {
    ("era", "ar"): ("eras", "eras"),
    ("genre", "ar"): ("genres", "genres"),
    ("metre", "ar"): ("arabic_metres", "metres"),
    ("metre", "fa"): ("persian_metres", "metres"),
    ("poet", "ar"): ("poets", "arabic"),
    ("poet", "fa"): ("poets", "persian"),
}
"""File and list that hold a kind of label; a language without one has no such taxonomy."""
NEVER = {
    "ambiguous": "ambiguous",
    "not_an_era": "not_{kind}",
    "not_a_genre": "not_{kind}",
    "not_a_metre": "not_{kind}",
    "outside": "outside_taxonomy",
}
"""Lists of labels that are known and never mapped, and the reason they give."""


@dataclass(frozen=True)
class Vocabulary:
    """One table: its entries, and every spelling that stands for one of them."""

    kind: Kind
    entries: Mapping[str, Mapping[str, Any]]
    """Identifier to the entry as the table has it, in the table's order."""
    spellings: Mapping[str, str]
    """Folded label to identifier."""
    patterns: Mapping[str, str]
    """Pattern of feet, alone or with the name in brackets, to identifier; spaces separate feet."""
    refused: Mapping[str, tuple[str, str]]
    """Folded label to (reason, explanation)."""
    prefixes: tuple[str, ...]
    """Folded words that a label may begin with and that mean nothing."""

    def match(self, label: str) -> str:
        """Identifier of a label in any known spelling.

        Raises:
            RecordRejected: `<kind>_missing`, `<kind>_unknown`, `<kind>_ambiguous`, `<kind>_not_<kind>` or
                `<kind>_outside_taxonomy`.
        """
        if label in self.entries:
            return label
        if (spaced := " ".join(label.split())) in self.patterns:
            return self.patterns[spaced]
        folded = fold(label)
        if not folded:
            raise RecordRejected(f"{self.kind}_missing", f"the source gives no {self.kind}")
        for form in (folded, *self._bare(folded)):
            if form in self.refused:
                reason, why = self.refused[form]
                raise RecordRejected(f"{self.kind}_{reason}", f"{label!r}: {why}")
            if form in self.spellings:
                return self.spellings[form]
        raise RecordRejected(f"{self.kind}_unknown", f"{label!r} is not in the table of {self.kind}s")

    def find(self, label: str) -> Mapping[str, Any]:
        """The entry of a label; an empty one where none or several are meant."""
        try:
            return self.entries[self.match(label)]
        except RecordRejected:
            return {}

    def _bare(self, folded: str) -> Iterable[str]:
        return (folded.removeprefix(p) for p in self.prefixes if folded.startswith(p) and folded != p)


def fold(label: str) -> str:
    """A label for lookup: marks, letter variants, case, spaces and punctuation do not matter."""
    return key(label, "ar").casefold()


def with_tables(language: Language) -> Language:
    """The language whose tables name the values of texts in a language: its own, else those of Arabic."""
    return language if any(of == language for _, of in TABLES) else "ar"


@cache
def vocabulary(kind: Kind, language: Language) -> Vocabulary | None:
    """The table of a kind for a language; None where the language has none.

    Raises:
        UsageError: The table is missing or contradicts itself.
    """
    if (kind, language) not in TABLES:
        return None
    name, field = TABLES[kind, language]
    path = REFERENCE / f"{name}.yaml"
    table = load_yaml(path, own=True)
    rows = table.get(field)
    if not isinstance(rows, list):
        raise UsageError(f"{path} holds no list {field!r}: restore the file from the repository")
    spellings: dict[str, str] = {}
    for row in rows:
        for spelling in _spellings(row):
            if spellings.setdefault(fold(spelling), row["id"]) != row["id"]:
                other = spellings[fold(spelling)]
                raise UsageError(f"{path}: {spelling!r} stands for both {other!r} and {row['id']!r}")
    return Vocabulary(
        kind=kind,
        entries={row["id"]: row for row in rows},
        spellings=spellings,
        patterns=dict(_patterns(rows)),
        refused=_refused(table, kind),
        prefixes=tuple(fold(prefix) for prefix in table.get("prefixes", ())),
    )


def _spellings(row: Mapping[str, Any]) -> Iterable[str]:
    """Every name of an entry, those of its variants included."""
    for field in ("id", "ar", "fa", "en", "name"):
        if isinstance(row.get(field), str):
            yield row[field]
    for field in ("names", "aliases"):
        yield from row.get(field) or ()
    # One pattern has several numbers at Ganjoor, and a record may have any of them.
    yield from (f"fa_{number}" for number in row.get("ganjoor") or ())
    for variant in row.get("variants") or ():
        yield from _spellings(variant)


def _patterns(rows: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for row in rows:
        if "pattern" in row:
            yield row["pattern"], row["id"]
            for names in (row.get("name", ""), " یا ".join([row.get("name", ""), *row.get("aliases", ())])):
                yield f"{row['pattern']} ({names})", row["id"]


def _refused(table: Mapping[str, Any], kind: Kind) -> dict[str, tuple[str, str]]:
    refused: dict[str, tuple[str, str]] = {}
    for field, reason in NEVER.items():
        for row in table.get(field) or ():
            entry = {"label": row} if isinstance(row, str) else row
            why = entry.get("reason") or entry.get("says") or "the taxonomy has no place for it"
            named = (entry.get("label"), entry.get("en"))
            labels = [*entry.get("labels", ()), *entry.get("aliases", ()), *named]
            refused |= {fold(label): (reason.format(kind=kind), str(why)) for label in labels if label}
    return refused
