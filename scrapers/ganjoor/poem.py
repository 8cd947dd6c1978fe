"""One poem of Ganjoor, as its API and its public export give it, to a record.

The two differ in the case of keys and in enums (numbers against names) and are brought to one shape first.
Verses are taken from `verses`, which alone carry harakat and ZWNJ. Summaries are machine-written and are
never read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import orjson

from mihakk.machinery.errors import RecordRejected, SourceChanged
from mihakk.schemas.poem import Couplet, CoupletKind, Poem, Section
from mihakk.schemas.record import Form, Language, Provenance
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.shape import check_fields
from mihakk.scrapers.source import Entry

POSITIONS = {
    **{0: "Right", 1: "Left", 2: "CenteredVerse1", 3: "CenteredVerse2", 4: "Single", 5: "Comment"},
    -1: "Paragraph",
}
FORMATS = {
    **{0: "Unknown", 1: "Ghazal", 2: "Ghaside", 3: "Masnavi", 4: "Ghete", 5: "Robaee", 6: "Dobeyti"},
    **{
        7: "Generic",
        8: "TarkibBand",
        10: "Takbeyt",
        11: "Nimaee",
        16: "TarjeeBand",
        176: "Sepeed",
        187: "New",
    },
}
_MOSAMMAT = 32
"""First of the numbers of the API's kinds of mosammat, one for each way of rhyming."""
FORMS = {
    **{"Ghazal": "ghazal", "Ghaside": "qasida", "Masnavi": "masnavi", "Ghete": "qita", "Robaee": "rubai"},
    **{"Dobeyti": "dobayti", "TarkibBand": "tarkib_band", "TarjeeBand": "tarji_band", "Takbeyt": "takbayt"},
    **{"Nimaee": "nimai", "Sepeed": "sepid", "New": "new", "Mosammat": "mosammat"},
}
"""Ganjoor's names of forms to ours; `Generic` and `Unknown` say nothing."""
LANGUAGE_IDS = {None: "", 1: "fa", 2: "ar", 3: "azb", 4: "ckb", 5: "mzn", 6: "glk", 7: "esf-pah", 8: "other"}
LANGUAGES: dict[str, Language] = {"": "fa", "fa": "fa", "fa-IR": "fa", "ar": "ar"}

_POEM_USED = ("id", "title", "fullTitle", "fullUrl", "sections", "verses")
_POEM_OPTIONAL = ("language", "category", "metre")
_POEM_IGNORED = (
    *(
        "catId",
        "sourceName",
        "sourceUrlSlug",
        "rhymeLetters",
        "poemSummary",
        "urlSlug",
        "plainText",
        "htmlText",
    ),
    *("oldTag", "oldTagPageUrl", "mixedModeOrder", "published", "next", "previous", "recitations", "images"),
    *("songs", "comments", "geoDateTags", "top6QuotedPoems", "sectionIndex", "claimedByMultiplePoets"),
    *("coupletsCount", "top6RelatedPoems", "quotedPoems", "relatedPoems", "top6RelatedSections"),
)
_SECTION_USED = ("index", "sectionType", "verseType")
_SECTION_OPTIONAL = (
    *("rhymeLetters", "poemFormat", "language", "coupletsCount", "ganjoorMetre", "ganjoorMetreId"),
    "ganjoorMetreRefSectionIndex",
)
_SECTION_IGNORED = (
    *("id", "poemId", "poetId", "number", "plainText", "htmlText", "cachedFirstCoupletIndex", "modified"),
    *("poem", "poet", "excerpt", "oldGanjoorMetreId", "oldRhymeLetters", "top6RelatedSections"),
)
_VERSE_USED = ("vOrder", "position", "text")
_VERSE_OPTIONAL = ("coupletIndex", "sectionIndex1", "sectionIndex2", "languageId")
_VERSE_IGNORED = ("id", "coupletSummary", "originalText", "sectionIndex3", "sectionIndex4")
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);")
_TAG = re.compile(r"</?[a-zA-Z]")
_FIRST = (0, "First")


@dataclass(frozen=True)
class Poet:
    """What a poem's own file does not say about its poet."""

    name: str = ""
    death_hijri: int | None = None
    """Year of death in lunar years."""
    death_sure: bool = True
    """Ganjoor calls the year valid; of half the poets it does not."""


@dataclass
class _Shape:
    """A poem's sections as Ganjoor has them and as the record will."""

    sections: dict[int, dict[str, Any]]
    metre: dict[str, Any] | None
    """Of the poem as a whole, which only the export gives."""
    made: list[Section] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """Metre of each section in Ganjoor's words."""
    last: tuple[Any, ...] = ()


def _lowered(value: Any) -> Any:
    """Keys as the API spells them: `VOrder` becomes `vOrder`."""
    if isinstance(value, dict):
        return {key[:1].lower() + key[1:]: _lowered(entry) for key, entry in value.items()}
    return [_lowered(entry) for entry in value] if isinstance(value, list) else value


def parse(data: bytes, provenance: Provenance, poet: Poet | None = None) -> Iterator[Entry]:
    """The poem of one response or export file, after rejections of what in it can't be used.

    A file that a copy or an archive left damaged is one rejection.

    Raises:
        SourceChanged: The poem has another shape than the parser knows.
    """
    try:
        poem = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        reason = "file_truncated" if error.pos >= len(error.doc) else "not_json"
        yield Rejection(
            record=provenance.url,
            reason=reason,
            detail=f"{provenance.url} is damaged: {error}; get the file again",
            body=error.doc,
        )
        return
    if not isinstance(poem, dict):
        raise SourceChanged(f"{provenance.url}: a poem was expected, not a {type(poem).__name__}")
    poem = _lowered(poem)
    where = f"{provenance.url}, poem {poem.get('id', '?')}"
    check_fields(poem, required=_POEM_USED, optional=_POEM_OPTIONAL, ignored=_POEM_IGNORED, where=where)
    identifier = f"ganjoor-{poem['id']}"
    made = _poem(poem, identifier, where, provenance, poet or Poet())
    yield from rejecting(identifier, made, poem)


def _poem(
    poem: dict[str, Any], identifier: str, where: str, provenance: Provenance, poet: Poet
) -> Iterator[Entry]:
    language = poem.get("language") or ""
    if language not in LANGUAGES:
        raise RecordRejected("language_unsupported", f"the poem is in {language}")
    shape = _shape(poem, where)
    couplets: list[Couplet] = []
    for entry in _couplets(poem["verses"], identifier, language, shape, where):
        if isinstance(entry, Couplet):
            couplets.append(entry)
        else:
            yield entry
    if not couplets:
        raise RecordRejected("verses_missing", "no verse of the poem can be used")
    # Sections that start the poem count its couplets; the others count some of them again.
    first = [section for section in shape.sections.values() if section["verseType"] in _FIRST]
    declared: list[int | None] = [section.get("coupletsCount") for section in first]
    counted = [count for count in declared if count is not None]
    yield Poem(
        id=identifier,
        language=LANGUAGES[language],
        title=poem["title"],
        poet=poem["fullTitle"].split(" » ")[0].strip(),
        sections=tuple(shape.made) or (Section(index=0),),
        couplets=tuple(couplets),
        declared_couplets=sum(counted) if counted and len(counted) == len(declared) else None,
        source_labels=_labels(poem, shape, poet),
        provenance=provenance,
    )


def _labels(poem: dict[str, Any], shape: _Shape, poet: Poet) -> dict[str, str]:
    labels = {"page": f"https://ganjoor.net{poem['fullUrl']}", "category": poem["fullTitle"]}
    name = poet.name or ((poem.get("category") or {}).get("poet") or {}).get("name", "")
    if name:
        labels["poet"] = name
    if poet.death_hijri is not None:
        labels["poet_death_hijri"] = f"{poet.death_hijri}{'' if poet.death_sure else ' (unsure)'}"
    if len(set(shape.labels)) == 1 and shape.labels[0]:
        labels["metre"] = shape.labels[0]
    elif any(shape.labels):
        labels |= {f"metre.{index}": label for index, label in enumerate(shape.labels) if label}
    elif shape.metre:
        # Several sections start the poem and the export does not say which of them it means.
        labels["metre_of_a_section"] = shape.metre["rhythm"]
    return labels


def _shape(poem: dict[str, Any], where: str) -> _Shape:
    sections: dict[int, dict[str, Any]] = {}
    for section in poem["sections"]:
        check_fields(
            section,
            required=_SECTION_USED,
            optional=_SECTION_OPTIONAL,
            ignored=_SECTION_IGNORED,
            where=f"{where}, section {section.get('index', '?')}",
        )
        sections[section["index"]] = section
    metre = poem.get("metre")
    if metre:
        check_fields(metre, required=("id", "rhythm"), where=f"{where}, metre")
    return _Shape(sections=sections, metre=metre)


def _couplets(
    verses: Any, poem: str, language: str, shape: _Shape, where: str
) -> Iterator[Couplet | Rejection]:
    if not isinstance(verses, list):
        raise SourceChanged(f"{where}: verses are missing; ask the API with verseDetails=true")
    rows = []
    for verse in verses:
        if "versePosition" in verse:
            verse = verse | {"position": POSITIONS.get(verse["versePosition"])}  # noqa: PLW2901
            del verse["versePosition"]
        check_fields(
            verse,
            required=_VERSE_USED,
            optional=_VERSE_OPTIONAL,
            ignored=_VERSE_IGNORED,
            where=f"{where}, verse",
        )
        if verse["position"] not in POSITIONS.values():
            raise SourceChanged(f"{where}: the parser does not know the position {verse['position']!r}")
        if verse["position"] == "Comment" or verse.get("coupletIndex") is None:
            note = verse["position"] == "Comment"
            reason = "comment" if note else "couplet_index_missing"
            detail = (
                "an editor's note, not verse" if note else "the verse says of no couplet that it is its own"
            )
            yield _rejection(f"{poem}:v{verse['vOrder']}", reason, detail, verse)
        else:
            rows.append(verse)
    rows.sort(key=lambda verse: (verse["coupletIndex"], verse["vOrder"]))
    for position, group in groupby(rows, key=lambda verse: int(verse["coupletIndex"])):
        yield _couplet(list(group), f"{poem}:{position}", position, language, shape)


def _couplet(
    verses: list[dict[str, Any]], identifier: str, position: int, language: str, shape: _Shape
) -> Couplet | Rejection:
    positions = tuple(verse["position"] for verse in verses)
    units: Mapping[tuple[str, ...], CoupletKind] = {
        ("Right", "Left"): "couplet",
        ("CenteredVerse1",): "band",
        ("CenteredVerse1", "CenteredVerse2"): "band",
        ("Single",): "line",
        ("Paragraph",): "paragraph",
    }
    texts = [_text(verse["text"]) for verse in verses]
    index = verses[0].get("sectionIndex1")
    section = None if index is None else shape.sections.get(index)
    own = (section or {}).get("language") or LANGUAGE_IDS.get(verses[0].get("languageId")) or language
    reason = ""
    if positions not in units:
        reason, detail = "unpaired_hemistich", f"couplet {position + 1} is made of {', '.join(positions)}"
    elif any(not text.strip() for text in texts):
        reason, detail = "hemistich_empty", f"couplet {position + 1} has an empty part"
    elif any(_TAG.search(text) for text in texts):
        reason, detail = "markup_in_verse", f"couplet {position + 1} holds markup: {' / '.join(texts)}"
    elif LANGUAGES.get(own) != LANGUAGES[language]:
        reason, detail = "language_differs", f"couplet {position + 1} is in {own}, its poem is not"
    if reason:
        return _rejection(identifier, reason, detail, verses)
    kind = units[positions]
    return Couplet(
        id=identifier,
        position=position,
        kind=kind,
        first=Form(raw=texts[0]),
        second=Form(raw=texts[1]) if len(texts) > 1 else None,
        section=_section(section, verses[0], shape, prose=kind == "paragraph"),
    )


def _text(text: str) -> str:
    """Verse text; a few carry HTML entities from the forms they were typed into."""
    return html.unescape(text) if _ENTITY.search(text) else text


def _section(section: dict[str, Any] | None, verse: dict[str, Any], shape: _Shape, *, prose: bool) -> int:
    """Index of the record's section for a couplet; neighbours with one metre and one rhyme share it.

    A couplet of a masnavi or a band stands in a section that starts the poem and in one of its own, which
    alone says its rhyme.
    """
    inner = shape.sections.get(verse.get("sectionIndex2") or -1)
    name, label = ("", "") if prose or section is None else _metre(section, shape)
    rhyme = (section or {}).get("rhymeLetters") or (inner or {}).get("rhymeLetters") or ""
    form = (section or {}).get("poemFormat")
    if isinstance(form, int):
        form = FORMATS.get(form, "Mosammat" if form >= _MOSAMMAT else "")
    form = FORMS.get(str(form or ""), "")
    key = (verse.get("sectionIndex1"), verse.get("sectionIndex2"), name, rhyme, form)
    if key != shape.last or not shape.made:
        shape.made.append(Section(index=len(shape.made), metre=name, rhyme=rhyme, form=form))
        shape.labels.append(label)
        shape.last = key
    return len(shape.made) - 1


def _metre(section: dict[str, Any], shape: _Shape) -> tuple[str, str]:
    """Identifier and Ganjoor's words of a section's metre, both empty when it can't be told.

    The export gives one metre for the poem, which is the section's only where one section starts the poem.
    """
    reference = section.get("ganjoorMetreRefSectionIndex")
    metre = section.get("ganjoorMetre")
    if metre is None and reference is not None:
        metre = shape.sections.get(reference, {}).get("ganjoorMetre")
    if metre is None and shape.metre is not None:
        first = [entry for entry in shape.sections.values() if entry["verseType"] in _FIRST]
        metre = shape.metre if len(first) == 1 else None
    return (f"fa_{metre['id']}", metre["rhythm"]) if metre else ("", "")


def _rejection(record: str, reason: str, detail: str, body: Any) -> Rejection:
    return Rejection(record=record, reason=reason, detail=detail, body=orjson.dumps(body).decode())
