"""How poems stand in somebody's own plain texts: the reading that gives whole poems with a rhyme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from statistics import median
from typing import Any

from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.taxonomy import vocabulary
from mihakk.schemas.record import Language
from mihakk.scrapers.own_columns import LETTER
from mihakk.scrapers.own_proposal import LOOKED, POET, Found, Question, rhyme_shared, tell_language
from mihakk.scrapers.tables import text_lines
from mihakk.scrapers.trial import has_header
from mihakk.scrapers.verse import Arrangement, arrange
from mihakk.scrapers.verse_text import VerseText, is_heading, label_of, read_poems

_POEMS = 60
"""Poems of a text by which a reading is judged."""
_VERSE_SHARE = 0.5
"""Share of rhymed poems from which texts are taken for verse: prose cut into pieces has hardly any."""
_FIT = 0.9
"""Figure from which a reading is so good that no line is looked for that names a poet."""
_TIE = 0.03
"""Readings whose figures differ by less fit alike, and are asked about."""
_FEW_TEXTS = 3
_RUNNING = 0.1
"""Texts, and share of them, in which the same line is no verse of each."""
_SEPARATORS = ("  ", " - ", " – ", " — ", "--", "؛", "،", ";", ",", ":")


def of_texts(files: Sequence[Path], folder: Path | None) -> Found:
    """The reading of plain texts that gives whole poems with a rhyme, asked about where two do."""
    found = Found({"path": str(folder or files[0]), "kind": "poem"})
    if folder is None and len(files) > 1:
        raise UsageError("name the folder of several texts, or one text")
    sample = files[:200]
    _refuse_books(found, sample)
    tell_language(found, [["".join(text_lines(file, "auto")) for file in sample]])
    if drop := _running(sample):
        found.evidence.append(f"no verse, as they stand in several texts: {', '.join(map(repr, drop))}")
    _poet(found, files, folder)
    language: Language = found.options.get("language") or "fa"
    ways = [
        VerseText(poems=poems, title=title, between=between, drop=drop)  # type: ignore[arg-type]
        for poems, title, between in product(
            ("file", "blank_lines", "two_blank_lines", "marks", "headings"),
            ("none", "first_line", "line_above", "heading"),
            _between(sample[:_POEMS]),
        )
        if (title != "line_above" or poems not in ("file", "headings"))
        and (title != "heading" or poems == "file")
    ]
    scored = [(_fitness(sample[:_POEMS], how, language), how) for how in ways]
    best = max(score for score, _ in scored)
    if best.figure < _FIT:
        named = [how.model_copy(update={"poet": at}) for how in ways for at in ("above_title", "below_title")]
        scored += [(_fitness(sample[:_POEMS], how, language), how) for how in named if how.title != "none"]
        best = max(score for score, _ in scored)
    if best.figure <= 0 or best.rhymed < _VERSE_SHARE * best.poems:
        raise UsageError(
            f"{found.options['path']}: no verse with a rhyme in any reading ({best}): put an empty line "
            "between poems, and titles in a line above; of a book of sayings `mihakk source try "
            f"{files[0]} --suggest` proposes how to read it; free verse needs its `verse` declared "
            "(docs/sources.md)"
        )
    near = [(score, how) for score, how in scored if score.figure >= best.figure - _TIE]
    most: dict[tuple[int, int], int] = {}
    for score, _ in near:
        same = (score.poems, score.rhymed)
        most[same] = max(score.titles, most.get(same, 0))
    alike: dict[tuple[int, int], VerseText] = {}
    for score, how in near:
        if score.titles == most[score.poems, score.rhymed]:
            alike.setdefault((score.poems, score.titles), how)
    readings: list[dict[str, Any]] = []
    for how in alike.values():
        readings.append({"verse": {"poems": how.poems} | how.model_dump(exclude_defaults=True)})
        whole = how.title == "none" and how.poems == "file" and len(files) > 1
        if whole and "file_gives" not in found.options:
            readings[-1]["file_gives"] = "title"
    if len(readings) == 1:
        found.options |= readings[0]
        if near[0][1].poet != "none":
            found.questions = [one for one in found.questions if one.key != "fields.poet"]
        found.evidence.append(f"{best}" + (f" (of the first {_POEMS})" if best.poems >= _POEMS else ""))
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


def _refuse_books(found: Found, sample: Sequence[Path]) -> None:
    if not any(LETTER.search(line) for file in sample for line in text_lines(file, "auto")):
        raise UsageError(f"{found.options['path']} holds no text")
    if book := next(filter(has_header, sample), None):
        raise UsageError(
            f"{book} is a book of OpenITI's: `mihakk source try {book} --suggest` proposes how its sayings "
            "are read; of a diwan keep the verse alone, two hemistichs a line, an empty line between poems"
        )


def _running(files: Sequence[Path]) -> tuple[str, ...]:
    """Lines that stand alike in several texts, as the name of a poet or a source below each poem does."""
    texts = Counter(
        line
        for file in files
        for line in dict.fromkeys(map(str.strip, text_lines(file, "auto")))
        if LETTER.search(line)
    )
    return tuple(line for line, count in texts.items() if count >= max(_FEW_TEXTS, _RUNNING * len(files)))


def _between(files: Sequence[Path]) -> list[str]:
    """What may part hemistichs: nothing of its own, or what stands once in most lines."""
    lines = [line.strip() for file in files for line in islice(text_lines(file, "auto"), LOOKED)]
    lines = [line for line in lines if LETTER.search(line)]
    once = [sep for sep in _SEPARATORS if sum(line.count(sep) == 1 for line in lines) > 0.5 * len(lines)]
    return ["", *once]


def _poet(found: Found, files: Sequence[Path], folder: Path | None) -> None:
    """By the folders that the files lie in, where these bear poets' names; else asked."""
    language = found.options.get("language")
    known = vocabulary("poet", language) if language else None
    names = {file.stem for file in files}
    if known and folder is not None and sum(bool(known.find(name)) for name in names) >= 0.5 * len(names):
        found.options["file_gives"] = "poet"
        found.evidence.append(f"files bear the names of poets: {', '.join(sorted(names)[:5])}")
        return
    names = {file.resolve().parent.name for file in files}
    told = sum(bool(known and known.find(name)) for name in names)
    if folder is not None and told >= max(1, 0.5 * len(names)):
        found.options["folder_gives"] = "poet"
        found.evidence.append(f"folders bear the names of poets: {', '.join(sorted(names)[:5])}")
        return
    if len(names) > 1:
        choices = ["the poet", "nothing that a poem is to bear"]
        text = f"What do the names of the folders say ({', '.join(sorted(names)[:5])})?"
        found.questions.append(Question("reading", text, choices, [{"folder_gives": "poet"}, {}]))
        return
    if "poet" in {label[0] for line in text_lines(files[0], "auto") if (label := label_of(line))}:
        return
    top = next((line.strip() for line in text_lines(files[0], "auto") if line.strip()), "")
    if len(files) == 1 and known and known.find(top):
        found.options["fields"] = {"poet": top}
        found.evidence.append(f"its first line is the name of a poet: {top}")
    else:
        found.questions.append(Question("fields.poet", POET))


@dataclass(order=True)
class _Fitness:
    """How well texts read in one way."""

    figure: float
    poems: int
    titles: int
    rhymed: int

    def __str__(self) -> str:
        return f"{self.poems:,} poems, {self.rhymed:,} of them rhymed, {self.titles:,} with a title"


def _fitness(files: Sequence[Path], how: VerseText, language: Language) -> _Fitness:
    """Share of the poems that are whole and rhyme, less what looks like verse taken for titles."""
    read = [
        row.fields for file in files for row in islice(read_poems(file, how), _POEMS) if row.problem is None
    ]
    whole = titles = odd = alike = 0
    rhymed = 0.0
    for fields in read:
        lines = fields.get("hemistichs")
        try:
            arranged = (
                arrange(lines, language)
                if lines is not None
                else Arrangement([(a, b) for a, b in fields["couplets"]])
            )
        except RecordRejected:
            continue
        units = [unit for unit in arranged.units if unit[1]]
        dropped = [reason for reason, _ in arranged.dropped if reason not in ("footnote", "place_and_date")]
        whole += bool(units) and not dropped
        shared = rhyme_shared(units, language) if len(units) > 1 and not dropped else 0.0
        rhymed += shared
        alike += shared > 0
        lengths = [len(LETTER.findall(half)) for unit in arranged.units for half in unit if half]
        titles += "title" in fields
        heads = [fields[name] for name in ("title", "poet") if name in fields and how.title != "none"]
        opening = "".join(LETTER.findall("".join(arranged.units[0][:1]))) if arranged.units else ""
        # A line as long as a row of verse may be one; a longer one tells of the occasion.
        size = median(lengths or [0]) * (2 if lines is None or len(lines) < 2 * len(units) else 1)
        long = [one for one in heads if 0.75 * size < len(LETTER.findall(one)) < 1.5 * size]
        odd += len(units) > 1 and any("".join(LETTER.findall(one)) not in opening for one in long)
        rows = [half for unit in arranged.units for half in unit if half]
        odd += any(map(is_heading, [*rows, *(heads[1:] if how.poet != "none" else ())]))
    if not read:
        return _Fitness(0.0, 0, 0, 0)
    if how.poet != "none" and not _are_poets([str(one.get("poet", "")) for one in read], language):
        odd = len(read)
    figure = (whole + rhymed) / (2 * len(read)) - 0.5 * odd / len(read) - 0.01 * (how.between != "")
    return _Fitness(figure, len(read), titles, alike)


def _are_poets(names: Sequence[str], language: str) -> bool:
    """Lines above verse name its poets where some are known, or one stands above many poems."""
    known = vocabulary("poet", language)
    told = sum(bool(known and known.find(name)) for name in names)
    return told >= 0.3 * len(names) or 1 < 2 * len(set(names)) <= len(names)
