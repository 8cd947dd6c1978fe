"""What somebody's own files are: proposals for a config's sources, each with what speaks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, pairwise, product
from pathlib import Path
from statistics import median
from typing import Any

import regex

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.taxonomy import vocabulary
from mihakk.machinery.text import canonicalize, key, poem_rhyme
from mihakk.machinery.text.digits import convert
from mihakk.machinery.text.language import LANGUAGE_NAMES, LanguageEvidence, language_evidence
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.record import LANGUAGES
from mihakk.scrapers.labels import number as stated_number
from mihakk.scrapers.mapping import FIELDS, Kind, field_of
from mihakk.scrapers.place import inside
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.tables import FORMATS, Layout, Row, read_rows, sheets_of, text_lines
from mihakk.scrapers.trial import OTHER, Trial, attempt
from mihakk.scrapers.verse import Arrangement, arrange
from mihakk.scrapers.verse_text import SUFFIXES, VerseText, label_of, read_poems

LOOKED = 2_000
"""Rows of a table from which its columns are told."""
_TITLES = 10
"""Rows at the top among which the header is looked for."""
_VERSE_SHARE = 0.5
"""Share of rhymed poems from which texts are taken for verse: prose cut into pieces has hardly any."""
_NAME_WORDS = 6
"""Most words of a column's name."""
_SHARE = 0.9
_TIE = 0.03
"""Readings whose figures differ by less fit alike, and are asked about."""
_LETTER = regex.compile(r"\p{L}")
_WORD = regex.compile(r"[\p{L}\p{M}\N{ZERO WIDTH NON-JOINER}]+")
_PART = regex.compile(r"[\p{L}\p{M}\N{ZERO WIDTH NON-JOINER}]+|\d+")
_INTEGER = regex.compile(r"\s*\p{Nd}{1,9}(?:\.0)?\s*")
POET = "Whose poems are they? (empty: nobody's in particular)"
_VERSES = ("couplets", "hemistichs", "lines", "first", "second")


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
            if given:
                self.options.setdefault("fields", {})[question.key.removeprefix("fields.")] = given
        else:
            self.options[question.key] = given

    def trial(self, raw: RawStore) -> Trial:
        """What a build would read."""
        options = {name: value for name, value in self.options.items() if value not in ("", [], {})}
        return attempt(SourceUse(use="files", name="own", options=options), raw)


def look(paths: Sequence[Path]) -> list[Found]:
    """A source for each kind of file among files and folders.

    Raises:
        UsageError: Nothing there can be read, or one file can't, with what to do.
    """
    files = [
        file for path in paths for file in ([path] if path.is_file() else _readable(inside(path, "*"), path))
    ]
    texts = [file for file in files if file.suffix.lower() in SUFFIXES]
    tables = [file for file in files if file.suffix.lower() in FORMATS]
    if not texts and not tables:
        names = ", ".join(sorted({file.suffix or file.name for file in files})) or "no file"
        fix = {OTHER.get(file.suffix.lower()) for file in files} - {None}
        raise UsageError(
            f"{', '.join(map(str, paths))}: {names}: no table and no plain text"
            + (f"; save as {' or '.join(sorted(map(str, fix)))}" if fix else f" ({', '.join(FORMATS)}, .txt)")
        )
    where = paths[0] if len(paths) == 1 and paths[0].is_dir() else None
    found = [_of_texts(texts, where)] if texts else []
    by_header: dict[tuple[str, ...], list[Path]] = {}
    for file in tables:
        by_header.setdefault(tuple(_layout(file)[1]), []).append(file)
    for group in by_header.values():
        whole = where is not None and len(by_header) == 1 and len(group) > 1
        for file in group[:1] if whole else group:
            found.append(_of_table(file, where if whole else None))
    return found


def _readable(files: Iterable[Path], folder: Path) -> list[Path]:
    """Files of a folder that may hold texts; notes about the folder and hidden files are none."""
    return [
        file
        for file in files
        if not any(part.startswith((".", "~$")) for part in file.relative_to(folder).parts)
        and file.stem.casefold() not in ("readme", "license", "licence", "copying")
    ]


# Tables


def _layout(path: Path) -> tuple[Layout, list[str], list[Row]]:
    """Where a table's header stands, the names in it, and the first rows below.

    Raises:
        UsageError: No row can be the header.
    """
    best: tuple[tuple[float, ...], Layout, list[str], list[Row]] | None = None
    told = f"{path} has no rows"
    sheet = "*" if path.suffix.lower() == ".xlsx" and _alike_sheets(path) else ""
    for row in range(_TITLES if path.suffix.lower() in (".csv", ".tsv", ".xlsx") else 1):
        layout = Layout(sheet="" if sheet == "*" else sheet, header_row=row + 1 if row else 0)
        try:
            rows = list(islice(read_rows(path, layout), LOOKED))
        except UsageError as error:
            told = told if row else str(error)
            continue
        names = list(next((one.fields for one in rows if one.fields), {}))
        if not names:
            continue
        short = [name for name in names if len(_WORD.findall(name)) <= _NAME_WORDS]
        known = sum(bool(guess_field(kind, name)) for kind in FIELDS for name in short)
        whole = sum(one.problem is None for one in rows) / len(rows)
        named = len(names) > 1 and all(names) and len(short) == len(names)
        score = (float(known > 1), float(named) * whole, float(known), -row)
        if best is None or score > best[0]:
            best = (score, layout._replace(sheet=sheet), names, rows)
    if best is None:
        raise UsageError(told)
    return best[1:]


def _alike_sheets(path: Path) -> bool:
    """Several sheets, all of whose first rows are the same."""
    names = sheets_of(path)
    tops = []
    for name in names:
        try:
            row = next(read_rows(path, Layout(sheet=name)), None)
        except UsageError:
            return False
        tops.append(tuple(row.fields) if row else ())
    return len(names) > 1 and len(set(tops)) == 1 and bool(tops[0])


@cache
def _words() -> dict[str, Any]:
    return load_yaml(REFERENCE / "column_words.yaml")  # type: ignore[no-any-return]


def _plain(name: str) -> list[str]:
    """The words of a header as they are compared: no case, marks, article; `meaning_ar` is two words."""
    found = [key(word, "ar") for word in _PART.findall(convert(name, "western").casefold())]
    return [word.removeprefix("ال") if len(word) > 4 else word for word in found]


def guess_field(kind: Kind, name: str) -> str:
    """The field that a column's name speaks for; empty where it speaks for none or two."""
    if sure := field_of(kind, name):
        return sure
    held = _plain(name)
    hits: dict[str, int] = {}
    for field_name, words in _words()[kind].items():
        for word in words:
            parts = _plain(str(word))
            if parts and any(held[at : at + len(parts)] == parts for at in range(len(held))):
                hits[field_name] = max(hits.get(field_name, 0), len(parts))
    best = [name for name, length in hits.items() if length == max(hits.values())]
    return best[0] if len(best) == 1 else ""


@dataclass
class _Column:
    """What the cells of one column are like."""

    name: str
    values: list[str]

    @property
    def full(self) -> list[str]:
        return [value for value in self.values if value.strip()]

    @property
    def letters(self) -> float:
        return median([len(_LETTER.findall(value)) for value in self.full] or [0])

    @property
    def words(self) -> float:
        return median([len(_WORD.findall(value)) for value in self.full] or [0])

    @property
    def numbered(self) -> bool:
        return bool(self.full) and all(map(_INTEGER.fullmatch, self.full))

    @property
    def is_text(self) -> bool:
        distinct = len(set(self.full))
        return (
            self.letters >= 4
            and distinct >= 0.5 * len(self.full)
            and len(self.full) >= 0.5 * len(self.values)
        )


def _columns_of(rows: Sequence[Row]) -> list[_Column]:
    read = [row.fields for row in rows if row.problem is None]
    names = list(dict.fromkeys(name for fields in read for name in fields))
    return [_Column(name, [_cell(fields.get(name)) for fields in read]) for name in names]


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(_cell(one) for one in value)
    return "" if value is None else str(value)


def _of_table(path: Path, folder: Path | None) -> Found:
    layout, names, rows = _layout(path)
    columns = {column.name: column for column in _columns_of(rows)}
    if any(len(_WORD.findall(name)) > _NAME_WORDS for name in columns):
        raise UsageError(
            f"{path}: no row names the columns ({', '.join(columns)[:80]!r} stands first): write names above,"
            " such as phrase and explanation, or title, poet, first and second"
        )
    found = Found({"path": str(folder or path)})
    kind, named = _kind_and_fields(columns, found, path)
    found.options["kind"] = kind
    if layout.header_row:
        found.options["header_row"] = layout.header_row
        found.evidence.append(f"row {layout.header_row} names the columns: {', '.join(names)}")
    if layout.sheet:
        found.options["sheet"] = layout.sheet
        found.evidence.append("all sheets have the same columns")
    if kind == "poem":
        _group(rows, columns, named, found)
    said = {name: column for name, column in named.items() if field_of(kind, column) != name}
    taken = {*named.values(), *found.options.get("group_by", ()), found.options.get("order", "")}
    ignored = [name for name in columns if name not in taken]
    found.options |= {"columns": said, "ignore": ignored}
    if ignored:
        found.evidence.append(f"left out: {', '.join(ignored)}")
    _language(found, [column.values for name, column in columns.items() if name in named.values()])
    if kind == "poem" and "poet" not in named:
        found.questions.append(Question("fields.poet", POET))
    if kind == "idiom":
        _idiom_labels(found, path, [*names, *(rows[0].fields if rows else ())], named)
    return found


def _kind_and_fields(columns: Mapping[str, _Column], found: Found, path: Path) -> tuple[Kind, dict[str, str]]:
    """What the rows are, and field to column: by names, or by what cells hold where names say nothing."""
    by_name: dict[Kind, dict[str, str]] = {"idiom": {}, "poem": {}}
    for kind, fields in by_name.items():
        for name, column in columns.items():
            if (guess := guess_field(kind, name)) and guess not in fields and _may_be(guess, column):
                fields[guess] = name
    if {"phrase", "explanation"} <= set(by_name["idiom"]):
        return "idiom", _without_verse(by_name["idiom"])
    if set(_VERSES) & set(by_name["poem"]):
        return "poem", _one_verse(by_name["poem"])
    texts = sorted((one for one in columns.values() if one.is_text), key=lambda one: one.letters)
    if "phrase" in by_name["idiom"] or "explanation" in by_name["idiom"]:
        return "idiom", _with_the_other(by_name["idiom"], texts, found)
    if len(texts) >= 2 and texts[-2].letters >= 8 and texts[-1].letters <= 1.5 * texts[-2].letters <= 150:
        first, second = sorted(texts[-2:], key=lambda one: list(columns).index(one.name))
        found.evidence.append(f"{first.name!r} and {second.name!r} hold texts of one length: two hemistichs")
        return "poem", {**by_name["poem"], "first": first.name, "second": second.name}
    if len(texts) == 2 and texts[0].words <= 8 < texts[1].words:
        found.evidence.append(
            f"{texts[0].name!r} holds {texts[0].words:g} words and {texts[1].name!r} {texts[1].words:g}: an "
            "expression and its explanation"
        )
        return "idiom", {"phrase": texts[0].name, "explanation": texts[1].name}
    names = [one.name for one in texts] or list(columns)
    raise UsageError(
        f"{path}: its columns {', '.join(map(repr, columns))} don't say which holds an expression and which "
        f"its meaning, or which holds verse: name them so in the header (texts are in {', '.join(names)})"
    )


def _may_be(field_name: str, column: _Column) -> bool:
    """Whether the cells can be that field: verse and phrases hold letters, counts hold numbers."""
    if field_name in (*_VERSES, "phrase", "explanation", "title", "poet"):
        return column.letters >= 1 and not column.numbered
    return field_name == "id" or bool(column.full)


def _without_verse(fields: dict[str, str]) -> dict[str, str]:
    return {name: column for name, column in fields.items() if name not in _VERSES}


def _one_verse(fields: dict[str, str]) -> dict[str, str]:
    """Of several ways to give verse the most telling one."""
    kept = next(way for way in ("couplets", "first", "hemistichs", "lines", "second") if way in fields)
    keep = ("first", "second") if kept in ("first", "second") else (kept,)
    return {name: column for name, column in fields.items() if name not in _VERSES or name in keep}


def _with_the_other(fields: dict[str, str], texts: Sequence[_Column], found: Found) -> dict[str, str]:
    """An idiom's two columns where the name of one says nothing; asked where several may be it."""
    missing = "explanation" if "phrase" in fields else "phrase"
    rest = [one.name for one in texts if one.name not in fields.values()]
    if len(rest) == 1:
        found.evidence.append(f"{rest[0]!r} is the {missing}: the only other column of texts")
        return fields | {missing: rest[0]}
    found.questions.append(Question(f"columns.{missing}", f"Which column holds the {missing}?", rest))
    return fields


def _group(rows: Sequence[Row], columns: Mapping[str, _Column], named: dict[str, str], found: Found) -> None:
    """`group_by` and `order` where a poem is many rows, by columns whose values stay for some rows."""
    verse = columns[named.get("first") or next(named[way] for way in _VERSES if way in named)]
    if sum("\n" in value.strip() for value in verse.full) > 0.1 * len(verse.full) or "couplets" in named:
        return
    _fill(rows, columns, named, found)
    size = len(verse.values)
    parted: dict[str, list[int]] = {}
    for name, column in columns.items():
        if name in (verse.name, named.get("second")) or not column.full:
            continue
        starts = [at for at in range(size) if not at or column.values[at] != column.values[at - 1]]
        distinct = len(set(column.values))
        if 1 < distinct <= 0.6 * size and len(starts) <= 1.05 * distinct:
            parted[name] = starts
    if not parted:
        return
    finest = max(len(starts) for starts in parted.values())
    best = [name for name, starts in parted.items() if len(starts) >= 0.98 * finest]
    by = next((name for name in best if name == named.get("title")), best[0])
    group_by = [by, *(named[more] for more in ("poet",) if more in named and by == named.get("title"))]
    found.options["group_by"] = group_by
    found.evidence.append(
        f"{size:,} rows are {len(parted[by]):,} poems, told apart by {', '.join(map(repr, group_by))}"
        + ("" if size < LOOKED else f" (of the first {LOOKED:,} rows)")
    )
    bounds = [*parted[by], size]
    if order := _order([one for name, one in columns.items() if name != by], bounds):
        found.options["order"] = order
        found.evidence.append(f"{order!r} counts the verses of each poem")
        if named.get("id") == order:
            del named["id"]
    for own in [own for own in ("id", "declared_couplets") if own in named and own not in parted]:
        if any(len(set(columns[named[own]].values[a:b])) > 1 for a, b in pairwise(bounds)):
            del named[own]


def _order(columns: Iterable[_Column], bounds: Sequence[int]) -> str:
    """The column whose numbers rise within each poem, one that begins anew rather than one that runs on."""
    rising: list[tuple[int, str]] = []
    for column in (one for one in columns if one.numbered):
        places = [[stated_number(one) or 0 for one in column.values[a:b]] for a, b in pairwise(bounds)]
        whole = all(len(set(one)) == len(one) for one in places)
        if whole and sum(one == sorted(one) for one in places) >= _SHARE * len(places):
            rising.append((max(one[0] for one in places), column.name))
    return min(rising)[1] if rising else ""


def _fill(
    rows: Sequence[Row], columns: Mapping[str, _Column], named: Mapping[str, str], found: Found
) -> None:
    """Labels that stand in the first row of a poem alone, or in a merged cell."""
    blank = [
        columns[named[label]]
        for label in ("title", "poet", "metre", "rhyme", "era")
        if label in named and columns[named[label]].values[:1] != [""]
    ]
    merged = {name for row in rows for name in row.merged}
    fill = [one for one in blank if len(one.full) <= 0.6 * len(one.values) or one.name in merged]
    for column in fill:
        for at in range(1, len(column.values)):
            column.values[at] = column.values[at] or column.values[at - 1]
    if fill:
        found.options["fill"] = [column.name for column in fill]
        found.evidence.append(f"blank cells repeat those above: {', '.join(one.name for one in fill)}")


# Texts


def _of_texts(files: Sequence[Path], folder: Path | None) -> Found:
    """The reading of plain texts that gives whole poems with a rhyme, asked about where two do."""
    found = Found({"path": str(folder or files[0]), "kind": "poem"})
    if folder is None and len(files) > 1:
        raise UsageError("name the folder of several texts, or one text")
    sample = files[:200]
    _language(found, [["".join(text_lines(file, "auto")) for file in sample]])
    _poet(found, files, folder)
    language = str(found.options.get("language") or "fa")
    scored = []
    for poems, title, between in product(
        ("file", "blank_lines", "marks"), ("none", "first_line", "line_above"), ("", "  ")
    ):
        if poems == "file" and title == "line_above":
            continue
        how = VerseText(poems=poems, title=title, between=between)  # type: ignore[arg-type]
        scored.append((_fitness(sample, how, language), how))
    best = max(score for score, _ in scored)
    if best.figure <= 0 or best.rhymed < _VERSE_SHARE * best.poems:
        raise UsageError(
            f"{found.options['path']}: no verse with a rhyme in any reading ({best}); of a book of sayings "
            f"`mihakk source try {files[0]} --suggest` proposes how to read it; free verse needs its `verse` "
            "declared (docs/sources.md)"
        )
    alike: dict[tuple[int, int], VerseText] = {}
    for score, how in scored:
        if score.figure >= best.figure - _TIE:
            alike.setdefault((score.poems, score.titles), how)
    readings = [
        {
            "verse": {"poems": how.poems} | how.model_dump(exclude_defaults=True),
            "file_gives": _file_gives(files, how),
        }
        for how in alike.values()
    ]
    if len(readings) == 1:
        found.options |= readings[0]
        found.evidence.append(f"{best}")
        return found
    shown = []
    for (count, titles), how in alike.items():
        first = next(read_poems(files[0], how)).fields
        verse = first.get("hemistichs") or ["\t".join(both) for both in first["couplets"]]
        shown.append(
            f"{count} poems, {titles} titles; the first: {first.get('title', 'untitled')!r}, "
            f"{len(verse)} rows, {' '.join(verse[0].split())[:60]!r}"
        )
    found.questions.append(Question("reading", "How do the poems stand in the texts?", shown, readings))
    return found


def _poet(found: Found, files: Sequence[Path], folder: Path | None) -> None:
    """By the folders that the files lie in, where these bear poets' names; else asked."""
    language = found.options.get("language")
    known = vocabulary("poet", language) if language else None
    names = {file.resolve().parent.name for file in files}
    told = sum(bool(known and known.find(name)) for name in names)
    if folder is not None and told >= max(1, 0.5 * len(names)):
        found.options["folder_gives"] = "poet"
        found.evidence.append(f"folders bear the names of poets: {', '.join(sorted(names)[:5])}")
    elif len(names) > 1:
        choices = ["the poet", "nothing that a poem is to bear"]
        text = f"What do the names of the folders say ({', '.join(sorted(names)[:5])})?"
        found.questions.append(Question("reading", text, choices, [{"folder_gives": "poet"}, {}]))
    elif not any(label_of(line) for file in files[:1] for line in text_lines(file, "auto")):
        found.questions.append(Question("fields.poet", POET))


def _file_gives(files: Sequence[Path], how: VerseText) -> str:
    return "title" if how.title == "none" and how.poems == "file" and len(files) > 1 else ""


@dataclass(order=True)
class _Fitness:
    """How well texts read in one way."""

    figure: float
    poems: int
    titles: int
    rhymed: int

    def __str__(self) -> str:
        return f"{self.poems:,} poems, {self.rhymed:,} of them rhymed, {self.titles:,} with a title"


def _fitness(files: Sequence[Path], how: VerseText, language: str) -> _Fitness:
    """Share of the poems that are whole and rhyme, less what looks like verse taken for titles."""
    read = [row.fields for file in files for row in read_poems(file, how) if row.problem is None]
    whole = titles = odd = alike = 0
    rhymed = 0.0
    for fields in read:
        lines = fields.get("hemistichs")
        try:
            arranged = (
                arrange(lines, language)  # type: ignore[arg-type]
                if lines is not None
                else Arrangement([(a, b) for a, b in fields["couplets"]])
            )
        except RecordRejected:
            continue
        units = [unit for unit in arranged.units if unit[1]]
        dropped = len(arranged.dropped)
        whole += bool(units) and not dropped
        shared = _rhyme_shared(units, language) if len(units) > 1 and not dropped else 0.0
        rhymed += shared
        alike += shared > 0
        lengths = [len(_LETTER.findall(half)) for unit in arranged.units for half in unit if half]
        if title := fields.get("title"):
            titles += 1
            odd += len(units) > 1 and len(_LETTER.findall(str(title))) > 0.8 * median(lengths)
    if not read:
        return _Fitness(0.0, 0, 0, 0)
    figure = (whole + rhymed) / (2 * len(read)) - 0.5 * odd / len(read) - 0.01 * (how.between != "")
    return _Fitness(figure, len(read), titles, alike)


def _rhyme_shared(units: Sequence[tuple[str, str | None]], language: str) -> float:
    """How well couplets rhyme as one poem: 1 for one rhyme of all second hemistichs, less the share of later
    couplets whose two hemistichs rhyme, as the first of a new poem do; .5 for couplets that all rhyme in
    themselves, which whole couplets read as hemistichs do too."""

    def rhyme(lines: Iterable[str]) -> bool:
        return bool(poem_rhyme([canonicalize(line, language).text for line in lines], language))  # type: ignore[arg-type]

    inner = [rhyme([first, second or ""]) for first, second in units]
    if sum(inner) >= 0.8 * len(units):
        return 0.5
    return 1.0 - sum(inner[1:]) / len(units) if rhyme(unit[1] or "" for unit in units) else 0.0


# Both


def _language(found: Found, texts: Iterable[Iterable[str]]) -> None:
    evidence = LanguageEvidence()
    for column in texts:
        for text in islice(column, LOOKED):
            evidence += language_evidence(text)
    told = evidence.language
    if told in LANGUAGES:
        found.options["language"] = told
        found.evidence.append(f"its language is {LANGUAGE_NAMES[told]}: {evidence}")
        return
    if told:
        raise UsageError(
            f"{found.options['path']}: its language is {LANGUAGE_NAMES.get(told, told)} ({evidence}), and no "
            "benchmark is built of it: take these texts out"
        )
    found.questions.append(Question("language", f"Which language are they in? ({evidence})", list(LANGUAGES)))


def _idiom_labels(found: Found, path: Path, names: Sequence[str], named: Mapping[str, str]) -> None:
    """Genre by the word that heads the phrases; dialect by the names of file and folder."""
    words = _words()
    head = _plain(named.get("phrase", ""))
    proverbs = {_plain(str(one))[0] for one in words["proverbs"]}
    if proverbs & set(head) and "genre" not in named:
        found.options.setdefault("fields", {})["genre"] = "proverb"
        found.evidence.append(f"{named['phrase']!r} names proverbs")
    if "dialect" in named or found.options.get("language") != "ar":
        return
    about = [word for name in (path.stem, path.resolve().parent.name, *names) for word in _plain(name)]
    hits = Counter(
        dialect
        for dialect, signs in words["dialects"].items()
        for sign in signs
        if all(part in about for part in _plain(str(sign)))
    )
    if len(hits) == 1:
        (dialect,) = hits
        found.options.setdefault("fields", {})["dialect"] = dialect
        found.evidence.append(f"the names of the file and its columns say {dialect}")
    else:
        found.questions.append(
            Question("fields.dialect", "Which dialect are they in? (empty: the standard language)")
        )
