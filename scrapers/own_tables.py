"""What somebody's own table is: where its header stands, what its columns mean, how rows make poems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path

from mihakk.machinery.errors import UsageError
from mihakk.machinery.text import canonicalize, poem_rhyme
from mihakk.scrapers.labels import number as stated_number
from mihakk.scrapers.mapping import FIELDS, Kind, field_of
from mihakk.scrapers.own_columns import (
    VERSES,
    WORD,
    Column,
    cell_text,
    column_words,
    columns_of,
    doubt,
    guess_field,
    may_be,
    plain,
)
from mihakk.scrapers.own_proposal import LOOKED, POET, Found, Question, tell_language
from mihakk.scrapers.table_signs import NUMBER, over_rows
from mihakk.scrapers.tables import Layout, Row, read_rows, sheets_of
from mihakk.scrapers.wide_table import joined, pattern_of, series

_TITLES = 10
"""Rows at the top among which the header is looked for."""
_NAME_WORDS = 6
"""Most words of a column's name."""
_PLAIN_WORDS = 3
"""The same where no second name says what its column holds: a line of verse is as short as a long name."""
_MOST = 0.9
"""Share of the rows or poems that counts as all of them, slips apart."""


def sheets_to_read(path: Path) -> list[str]:
    """What `sheet` names for each source that a file makes: nothing, `*`, or sheets of different headers."""
    if path.suffix.lower() != ".xlsx" or len(names := sheets_of(path)) == 1:
        return [""]
    return ["*"] if _alike_sheets(path) else names


def layout_of(path: Path, sheet: str = "") -> tuple[Layout, list[str], list[Row]]:
    """Where a table's header stands, the names in it, and the first rows below.

    Raises:
        UsageError: No row can be the header.
    """
    best: tuple[tuple[float, ...], Layout, list[str], list[Row]] | None = None
    told = f"{path}{f', sheet {sheet!r}' if sheet else ''} has no rows"
    for row in range(_TITLES if path.suffix.lower() in (".csv", ".tsv", ".xlsx") else 1):
        layout = Layout(sheet="" if sheet == "*" else sheet, header_row=row + 1 if row else 0)
        try:
            rows = list(islice(read_rows(path, layout), LOOKED))
        except UsageError as error:
            told = told if row else str(error)
            continue
        if rows and not row and all(one.problem for one in rows):
            detail = (rows[0].problem or ("", ""))[1]
            told = f"{path}, row {rows[0].number}: {detail}; give each row as many cells as there are names"
        names = list(next((one.fields for one in rows if one.fields), {}))
        if not names:
            continue
        short = [name for name in names if len(WORD.findall(name)) <= _NAME_WORDS]
        known = sum(bool(guess_field(kind, name)) for kind in FIELDS for name in short)
        if len(rows) > 1 and _names_again(rows[0], names):
            continue
        whole = sum(one.problem is None for one in rows) / len(rows)
        named = len(names) > 1 and all(names) and len(short) == len(names)
        score = (float(known > 1), float(named) * whole, float(known), -row)
        if row and not known and told:
            continue
        same = best is not None and best[1].header_row > 0 and names == best[2]  # from an empty row above it
        if best is None or same or score > best[0]:
            best = (score, layout._replace(sheet=sheet), names, rows)
    if best is None:
        raise UsageError(told)
    return best[1:]


def _names_again(row: Row, names: Sequence[str]) -> bool:
    """Whether the first row below names the columns once more, in another language."""
    for kind in FIELDS:
        above = {name: guess_field(kind, name) for name in names}
        cells = {name: cell_text(row.fields.get(name)) for name in names if above[name]}
        short = all(len(WORD.findall(cell)) <= 3 for cell in cells.values())
        if len(cells) > 1 and short and all(guess_field(kind, cells[name]) == above[name] for name in cells):
            return True
    return False


def _alike_sheets(path: Path) -> bool:
    """Several sheets, all of whose first rows are the same."""
    try:
        rows = [next(read_rows(path, Layout(sheet=name)), None) for name in sheets_of(path)]
    except UsageError:
        return False
    tops = {tuple(row.fields) if row else () for row in rows}
    return len(rows) > 1 == len(tops) and tops != {()}


def of_table(path: Path, sheet: str, folder: Path | None = None) -> Found:
    """A source for one sheet or table, or for all tables of a folder that have its header.

    Args:
        path: The table that is looked at.
        sheet: Of a workbook; `*` for all of them, empty for the only one.
        folder: Where others like it lie.

    Raises:
        UsageError: Its columns can't be told, or no benchmark is built of its language.
    """
    layout, names, rows = layout_of(path, sheet)
    wide = series(names, {one: guess_field("poem", one) for one in map(pattern_of, names) if one})
    rows = list(joined(rows, [wide]))
    columns = {column.name: column for column in columns_of(rows)}
    told = sum(any(guess_field(kind, name) for kind in FIELDS) for name in columns)
    if any(len(WORD.findall(name)) > (_NAME_WORDS if told > 1 else _PLAIN_WORDS) for name in columns):
        where = f"{path}, sheet {sheet!r}" if sheet else str(path)
        raise UsageError(
            f"{where}: no row names the columns ({', '.join(columns)[:80]!r} stands first): write names "
            "above, such as phrase and explanation, or title, poet, first and second"
        )
    found = Found({"path": str(folder or path)})
    if sheet:
        found.options["sheet"] = sheet
        found.evidence.append("all sheets have the same columns" if sheet == "*" else f"sheet {sheet!r}")
    kind, named = _kind_and_fields(columns, found, wide)
    found.options["kind"] = kind
    if layout.header_row:
        found.options["header_row"] = layout.header_row
        found.evidence.append(f"row {layout.header_row} names the columns: {', '.join(names)}")
    tell_language(found, [column.values for name, column in columns.items() if name in named.values()])
    if kind == "poem":
        _group(rows, columns, named, found)
    said = {name: column for name, column in named.items() if field_of(kind, column) != name}
    taken = {*named.values(), *found.options.get("group_by", ()), found.options.get("order", "")}
    ignored = [name for name in columns if name not in taken - {""}]
    found.options |= {"columns": said, "ignore": ignored}
    if ignored:
        found.evidence.append(f"left out: {', '.join(ignored)}")
    if kind == "poem":
        _ask_for_halves(named, found)  # first: its answer gives all columns
    if kind == "poem" and "poet" not in named:
        found.questions.append(Question("fields.poet", POET + _or_column(ignored)))
    if kind == "idiom":
        _ask_for_merged(rows, named, found)
        phrases = columns[named["phrase"]].full if "phrase" in named else []
        numbers = [stated_number(match[0]) or 0 for one in phrases if (match := NUMBER.search(one))]
        rising = sum(a < b for a, b in pairwise(numbers))
        if phrases and rising >= _MOST * (len(phrases) - 1) > 0:
            found.options["numbered"] = True
            found.evidence.append(f"the numbers of phrases are dropped ({phrases[0][:20]!r})")
        _idiom_labels(found, path, [*names, *(rows[0].fields if rows else ())], named)
    return found


def _kind_and_fields(columns: Mapping[str, Column], found: Found, wide: str) -> tuple[Kind, dict[str, str]]:
    """What the rows are, and field to column: by names, or by what cells hold where names say nothing."""
    by_name: dict[Kind, dict[str, str]] = {"idiom": {}, "poem": {}}
    for kind, fields in by_name.items():
        for name, column in sorted(columns.items(), key=lambda one: doubt(kind, *one)):
            guess = guess_field(kind, name)
            if (guess == "couplets" and not column.nested) or (guess == "title" and column.holds_lines):
                guess = "hemistichs"
            first = columns[fields[guess]] if guess in fields else None
            longer = guess == "hemistichs" and first and column.letters > 2 * first.letters
            if guess and (first is None or longer) and may_be(guess, column):
                fields[guess] = name
    if wide:
        found.evidence.append(f"the columns {wide!r} hold a poem's lines side by side")
        return "poem", {**_without_verse(by_name["poem"]), "hemistichs": wide}
    if {"phrase", "explanation"} <= set(by_name["idiom"]):
        return "idiom", _without_verse(by_name["idiom"])
    if set(VERSES) & set(by_name["poem"]):
        return "poem", _both_halves(_one_verse(by_name["poem"]), columns)
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
        f"{_place(found)}: its columns {', '.join(map(repr, columns))} don't say which holds an expression "
        "and which its meaning, or which holds verse: name them so in the header (texts are in "
        f"{', '.join(names)})"
    )


def _place(found: Found) -> str:
    sheet = f", sheet {found.options['sheet']!r}" if "sheet" in found.options else ""
    return f"{found.options['path']}{sheet}"


def _without_verse(fields: dict[str, str]) -> dict[str, str]:
    return {name: column for name, column in fields.items() if name not in VERSES}


def _one_verse(fields: dict[str, str]) -> dict[str, str]:
    """Of several ways to give verse the most telling one."""
    kept = next(way for way in ("couplets", "first", "hemistichs", "lines", "second") if way in fields)
    keep = ("first", "second") if kept in ("first", "second") else (kept,)
    return {name: column for name, column in fields.items() if name not in VERSES or name in keep}


def _both_halves(fields: dict[str, str], columns: Mapping[str, Column]) -> dict[str, str]:
    """Two columns named for hemistichs alike (`شطر أ`, `شطر ب`), lines of one length, as two halves."""
    one = columns[fields["hemistichs"]] if "hemistichs" in fields else None
    alike = [
        column
        for name, column in columns.items()
        if one and guess_field("poem", name) == "hemistichs" and may_be("hemistichs", column)
        and not column.holds_lines and column.letters <= 1.5 * one.letters <= 2.25 * column.letters
    ]  # fmt: skip
    if len(alike) != 2:
        return fields
    return _without_verse(fields) | {"first": alike[0].name, "second": alike[1].name}


def _ask_for_halves(named: Mapping[str, str], found: Found) -> None:
    """What two columns are whose names say hemistich alike."""
    halves = [named.get(half, "") for half in ("first", "second")]
    if not all(guess_field("poem", half) == "hemistichs" for half in halves):
        return
    first, second = halves
    columns = {name: column for name, column in found.options["columns"].items() if name not in VERSES}
    found.questions.append(
        Question(
            "reading",
            f"{first!r} and {second!r} both hold hemistichs. What is a row?",
            [f"a couplet: {first!r}, then {second!r}", f"verse in {first!r} alone"],
            [{}, {"columns": {**columns, "hemistichs": first}, "ignore": [*found.options["ignore"], second]}],
        )
    )


def _ask_for_merged(rows: Sequence[Row], named: Mapping[str, str], found: Found) -> None:
    """What the rows hold whose expression stands in one cell merged over them."""
    phrase = named.get("phrase", "")
    merged = list(dict.fromkeys(row.merged[phrase] for row in rows if phrase in row.merged))
    over = [cells for cells in merged if over_rows(cells)]
    if over and "explanation" in named:
        text = f"{len(over)} cells of {phrase!r} are merged over rows, {over[0]} first. What are these rows?"
        choices = ["meanings of one expression, to be read together", "to be left out"]
        readings = [{"join": [named["explanation"]]}, {"accept": ["merged_cells"]}]
        found.questions.append(Question("reading", text, choices, readings))


def _with_the_other(fields: dict[str, str], texts: Sequence[Column], found: Found) -> dict[str, str]:
    """An idiom's two columns where the name of one says nothing; asked where several may be it."""
    missing = "explanation" if "phrase" in fields else "phrase"
    rest = [one.name for one in texts if one.name not in fields.values()]
    if not rest:
        raise UsageError(
            f"{_place(found)}: no column of texts can be the {missing} beside "
            f"{next(iter(fields.values()))!r}: give it a column of its own with a name in the header"
        )
    if len(rest) == 1:
        found.evidence.append(f"{rest[0]!r} is the {missing}: the only other column of texts")
        return fields | {missing: rest[0]}
    found.questions.append(Question(f"columns.{missing}", f"Which column holds the {missing}?", rest))
    return fields


def _group(rows: Sequence[Row], columns: Mapping[str, Column], named: dict[str, str], found: Found) -> None:
    """`group_by` and `order` where a poem is many rows, by columns whose values stay for some rows."""
    verse = columns[named.get("first") or next(named[way] for way in VERSES if way in named)]
    if sum("\n" in value.strip() for value in verse.full) > 0.1 * len(verse.full) or "couplets" in named:
        return
    _fill(rows, columns, named, found)
    size = len(verse.values)
    shared = [named.get(label) for label in ("second", "poet", "metre", "rhyme", "era", "theme")]
    parted: dict[str, list[int]] = {}
    for name, column in columns.items():
        if name in (verse.name, *shared) or not column.full:
            continue
        starts = [at for at in range(size) if not at or column.values[at] != column.values[at - 1]]
        distinct = len(set(column.values))
        if 1 < distinct <= 0.6 * size and len(starts) <= 1.05 * distinct:
            parted[name] = starts
    if not parted and {"title", "poet"} <= set(named):
        both = list(zip(*(columns[named[label]].values for label in ("title", "poet")), strict=True))
        starts = [at for at in range(size) if not at or both[at] != both[at - 1]]
        if 1 < len(set(both)) <= 0.6 * size and len(starts) <= 1.05 * len(set(both)):
            parted[named["title"]] = starts
    if not parted:
        _part(rows, columns, named, verse, found)
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
    for own in [own for own in named if own not in (*VERSES, "prose", "explanations")]:
        values = columns[named[own]].values
        differ = sum(len(set(values[a:b]) - {""}) > 1 for a, b in pairwise(bounds))
        if differ > (0 if own in ("id", "declared_couplets") else 0.1 * (len(bounds) - 1)):
            if own == "explanation" and "first" in named:
                named["explanations"] = named.pop(own)
                continue
            found.evidence.append(f"{named[own]!r} differs within {differ:,} poems and is left out")
            del named[own]


def _part(
    rows: Sequence[Row],
    columns: Mapping[str, Column],
    named: dict[str, str],
    verse: Column,
    found: Found,
) -> None:
    """Where poems part in a table of verses whose columns don't tell them apart."""
    size = len(verse.values)
    if size < 4 or "title" in named:
        return
    read = [row for row in rows if row.problem is None]
    gaps = [at for at, row in enumerate(read) if row.gap and at]
    counts = {
        name: [stated_number(value) or 0 for value in column.values]
        for name, column in columns.items()
        if column.numbered and name not in named.values()
    }
    anew = {name: [at for at in range(1, size) if n[at] <= n[at - 1]] for name, n in counts.items()}
    anew = {
        name: starts
        for name, starts in anew.items()
        if 0 < len(starts) <= 0.5 * size and all(counts[name][at] == 1 for at in starts)
    }
    if anew:
        order, starts = min(anew.items(), key=lambda both: -len(both[1]))
        found.options |= {"poems_part_at": "order", "order": order}
        found.evidence.append(f"{size:,} rows are {len(starts) + 1:,} poems: {order!r} begins anew at each")
    elif 0 < len(gaps) <= 0.5 * size:
        found.options["poems_part_at"] = "blank_rows"
        found.evidence.append(f"{size:,} rows are {len(gaps) + 1:,} poems, parted by empty rows")
    elif (openings := _openings(columns, named, found)) == 0:
        found.options["poems_part_at"] = "file"
        found.evidence.append(f"all {size:,} rows share a rhyme: they are one poem")
    elif openings:
        text = f"All {size:,} rows share a rhyme, and {openings + 1:,} could begin a poem. What are they?"
        choices = ["each row is a poem of its own", "all rows are one poem"]
        found.questions.append(Question("reading", text, choices, [{}, {"poems_part_at": "file"}]))
    else:
        found.evidence.append(
            f"{size:,} rows are read as {size:,} poems of one row each: if many rows are one poem, give the "
            "table a column with the poem's number or title"
        )


def _openings(columns: Mapping[str, Column], named: Mapping[str, str], found: Found) -> int | None:
    """Rows behind the first whose hemistichs rhyme, as those that open poems do; None where the second
    hemistichs of all rows share no rhyme, or are by several poets."""
    language = found.options.get("language")
    several = "poet" in named and len(set(columns[named["poet"]].full)) > 1
    if not {"first", "second"} <= set(named) or not language or several:
        return None
    first, second = (
        [canonicalize(line, language).text for line in columns[named[half]].values]
        for half in ("first", "second")
    )
    if not poem_rhyme(second, language):
        return None
    return sum(bool(poem_rhyme([*both], language)) for both in zip(first[1:], second[1:], strict=True))


def _order(columns: Iterable[Column], bounds: Sequence[int]) -> str:
    """The column whose numbers rise within each poem, one that begins anew rather than one that runs on."""
    rising: list[tuple[int, str]] = []
    for column in (one for one in columns if one.numbered):
        places = [[stated_number(one) or 0 for one in column.values[a:b]] for a, b in pairwise(bounds)]
        whole = all(len(set(one)) == len(one) for one in places)
        if whole and sum(one == sorted(one) for one in places) >= _MOST * len(places):
            rising.append((max(one[0] for one in places), column.name))
    return min(rising)[1] if rising else ""


def _fill(rows: Sequence[Row], columns: Mapping[str, Column], named: Mapping[str, str], found: Found) -> None:
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


def _idiom_labels(found: Found, path: Path, names: Sequence[str], named: Mapping[str, str]) -> None:
    """Genre by the word that heads the phrases; dialect by the names of file and folder."""
    words = column_words()
    head = plain(named.get("phrase", ""))
    proverbs = {plain(str(one))[0] for one in words["proverbs"]}
    if proverbs & set(head) and "genre" not in named:
        found.options.setdefault("fields", {})["genre"] = "proverb"
        found.evidence.append(f"{named['phrase']!r} names proverbs")
    if "dialect" in named or found.options.get("language") != "ar":
        return
    about = [word for name in (path.stem, path.resolve().parent.name, *names) for word in plain(name)]
    hits = Counter(
        dialect
        for dialect, signs in words["dialects"].items()
        for sign in signs
        if all(part in about for part in plain(str(sign)))
    )
    if len(hits) == 1:
        (dialect,) = hits
        found.options.setdefault("fields", {})["dialect"] = dialect
        found.evidence.append(f"the names of the file and its columns say {dialect}")
    else:
        text = "Which dialect are they in? (empty: the standard language)"
        found.questions.append(Question("fields.dialect", text + _or_column(found.options["ignore"])))


def _or_column(ignored: Sequence[str]) -> str:
    """What a question adds where a column that is left out may hold the answer."""
    return f" A column that says it may be named: {', '.join(map(repr, ignored))}" if ignored else ""
