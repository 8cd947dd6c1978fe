"""A source's words for poet, era, genre and metre, matched to the taxonomy."""

from __future__ import annotations

from functools import lru_cache

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.prosody import sure_metres
from mihakk.machinery.taxonomy import Kind, vocabulary
from mihakk.machinery.text import key
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.poem import Poem, Section
from mihakk.schemas.record import Language


def match_metadata(poem: Poem, config: CurateConfig, *, contradicted: bool = True) -> Poem:
    """The poem with era, genre and metre as identifiers of the reference tables.

    What the source called them stays in `source_labels`. A label the config does not require and the
    taxonomy does not know becomes empty; an era the source lacks is taken from the table of poets where
    that knows it, and the metres of an Arabic poem for which it names none from scansion where that is sure:
    `source_labels["era_from"]` and `["metre_from"]` say so. An era that the table contradicts stays, because
    poets share names: `source_labels["era_of_poet"]` says the table's. A metre that sure scansion contradicts
    stays likewise, beside `source_labels["metre_by_scansion"]`.

    Args:
        poem: As normalised.
        config: Which labels are required.
        contradicted: Whether metres that the source names are held against scansion, which takes longest.

    Raises:
        RecordRejected: A required label is missing, unknown or ambiguous: the reason says which and why.
    """
    labels = dict(poem.source_labels)
    if "poet" in config.required and not key(poem.poet, poem.language):
        raise RecordRejected("poet_missing", "the source names no poet")
    era_label = poem.era or labels.get("era", "")
    known = _era_of_poet(poem)
    if not era_label and known:
        era_label = known
        labels["era_from"] = "table of poets"
    era = _match("era", era_label, poem, config)
    if era and known and not _compatible(era, known, poem):
        labels["era_of_poet"] = known
    genre = _match("genre", poem.genre or labels.get("genre", ""), poem, config)
    named = labels.get("metre") or any(section.metre for section in poem.sections)
    sure = {} if named and not contradicted else sure_metres(poem)
    scanned = {place: metre for place, (metre, _) in sure.items()}
    found = {} if named else scanned
    if found:
        labels["metre_from"] = "scansion"
    sections = tuple(
        section.model_copy(update={"metre": found[section.index]})
        if section.index in found
        else _section(section, poem, config)
        for section in poem.sections
    )
    heard = (scanned.get(one.index, "") for one in sections if one.metre not in ("", scanned.get(one.index)))
    if other := [metre for metre in heard if metre]:
        labels["metre_by_scansion"] = ", ".join(other)
    for name, label in (("era", poem.era), ("genre", poem.genre), ("metre", poem.sections[0].metre)):
        if label:
            labels.setdefault(name, label)
    return poem.model_copy(update={"era": era, "genre": genre, "sections": sections, "source_labels": labels})


def _section(section: Section, poem: Poem, config: CurateConfig) -> Section:
    label = section.metre or (poem.source_labels.get("metre", "") if len(poem.sections) == 1 else "")
    metre = _match("metre", label, poem, config)
    return section if metre == section.metre else section.model_copy(update={"metre": metre})


def _match(kind: Kind, label: str, poem: Poem, config: CurateConfig) -> str:
    table = vocabulary(kind, poem.language)
    if table and kind in config.required and config.unknown_metadata != "keep":
        return table.match(label)
    return _known(kind, label, poem)


def _known(kind: Kind, label: str, poem: Poem) -> str:
    """The identifier, or nothing where the taxonomy has none."""
    return _identifier(kind, label, poem.language)


@lru_cache(1 << 16)
def _identifier(kind: Kind, label: str, language: Language) -> str:
    """As `_known`: a set has few labels, each many times over."""
    table = vocabulary(kind, language)
    try:
        return table.match(label) if table else label
    except RecordRejected:
        return ""


def _compatible(era: str, other: str, poem: Poem) -> bool:
    """Two eras are one, or overlap by the table (a poet who lived in both, a dynasty beside another)."""
    table = vocabulary("era", poem.language)
    return era == other or table is None or other in (table.entries[era].get("overlaps") or ())


def _era_of_poet(poem: Poem) -> str:
    """Era that the table of poets gives; empty for a poet it does not know."""
    table = vocabulary("poet", poem.language)
    if table is None or vocabulary("era", poem.language) is None:
        return ""
    poet = _known("poet", poem.poet, poem)
    return str(table.entries[poet].get("era") or "") if poet else ""
