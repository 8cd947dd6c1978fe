"""Rows of somebody's table into poems and idioms, by a map of columns."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

import orjson
from pydantic import Field, ValidationError

from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.ids import digest
from mihakk.machinery.languages import language_named
from mihakk.machinery.text.encoding import repair_mojibake
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem, Section
from mihakk.schemas.record import Form, Language, Provenance
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.boundary import MALFORMED, explain
from mihakk.scrapers.labels import number as stated_number
from mihakk.scrapers.labels import with_country
from mihakk.scrapers.source import Entry, LocalOptions
from mihakk.scrapers.table_signs import Sign
from mihakk.scrapers.verse import Arrangement, arrange, as_lines, poem

Kind = Literal["poem", "idiom"]

_TERMS = ("licence", "attribution", "url")
_SHARED = ("id", "language", *_TERMS, "explanation")
_LABELS = ("era", "genre", "metre", "form", "theme", "country")
FIELDS: dict[Kind, tuple[str, ...]] = {
    "poem": (
        *_SHARED,
        *_LABELS,
        *(
            "title",
            "poet",
            "rhyme",
            "declared_couplets",
            "prose",
            "explanations",
            "couplets",
            "hemistichs",
            "lines",
            "first",
            "second",
        ),
    ),
    "idiom": (*_SHARED, "phrase", "genre", "dialect", "connotation", "sensitive", "examples"),
}
"""What a column can stand for, per kind of record."""

ALIASES: dict[Kind, dict[str, str]] = {
    "poem": {
        "author": "poet",
        "meter": "metre",
        "verses": "couplets",
        "verse_count": "declared_couplets",
        **dict.fromkeys(("الشاعر", "اسم الشاعر", "شاعر"), "poet"),
        **dict.fromkeys(("العنوان", "عنوان القصيدة", "عنوان"), "title"),
        **dict.fromkeys(("البحر", "بحر", "وزن"), "metre"),
        **dict.fromkeys(("القافية", "قافیه"), "rhyme"),
        **dict.fromkeys(("الصدر", "الشطر الأول", "صدر", "مصرع اول"), "first"),
        **dict.fromkeys(("العجز", "الشطر الثاني", "عجز", "مصرع دوم"), "second"),
        "العصر": "era",
        "قالب": "form",
    },
    "idiom": {
        "text": "phrase",
        "idiom": "phrase",
        "proverb": "phrase",
        "meaning": "explanation",
        "kind": "genre",
        **dict.fromkeys(
            ("المثل", "الكناية", "العبارة", "التعبير", "مثل", "كناية", "کنایه", "اصطلاح"), "phrase"
        ),
        **dict.fromkeys(("ضرب‌المثل", "ضرب المثل"), "phrase"),
        **dict.fromkeys(
            ("الشرح", "المعنى", "التفسير", "شرح", "معنى", "معنی", "معناه", "معناها", "توضیح"), "explanation"
        ),
        "اللهجة": "dialect",
    },
}
"""Usual names of columns that need no map."""


BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
"""What ends a line in a cell that was copied from a page."""
_NAMELESS = (
    "; '' is a column without a name: a header of merged cells leaves one, so give each its own in one row"
)


class RowOptions(LocalOptions):
    """What the rows of a table are and what its columns mean."""

    kind: Kind
    language: Language
    """Of every row that has no `language` column."""
    licence: str
    """Of every row that has no `licence` column."""
    attribution: str = ""
    columns: dict[str, str] = Field(default_factory=dict)
    """Field of the record to column; columns with a field's name need no entry. `hemistichs: misra *` are all
    columns numbered so, `sadr * + ajuz *` those of two kinds, in the order of the table (files only)."""
    ignore: tuple[str, ...] = ()
    """Columns left out on purpose."""
    accept: tuple[Sign, ...] = ()
    """Signs of a misreading that were looked at in these rows and are right, by the names in the refusal."""
    fields: dict[str, str] = Field(default_factory=dict)
    """Field of the record to the value of every row that leaves it empty: `{poet: حافظ}`."""
    ids: Literal["content", "rows"] = "content"
    """What names a record that has no `id` column: its text, so that a row may come or go without renaming
    the others, or the number of its row."""


_NAMING: dict[Kind, tuple[str, ...]] = {
    "poem": ("poet", "title", "couplets", "hemistichs", "lines", "first", "second"),
    "idiom": ("phrase", "dialect"),
}
"""Fields that name a record: a corrected explanation leaves its id."""


class RowIds:
    """Ids of the records of one source, in the order of its rows."""

    def __init__(self, options: RowOptions) -> None:
        self._options = options
        self._met: Counter[str] = Counter()
        self._before: dict[str, str] = {}
        self._here: dict[str, str] = {}

    def next_table(self) -> None:
        """Another table begins, which may count its own ids: one that stands before it is taken."""
        self._before |= self._here
        self._here = {}

    def numbered(self, row: int) -> str:
        """By the number of its row: for rows that can't be read."""
        return f"{self._options.prefix}-{row}"

    def of(self, row: int, values: Mapping[str, Any]) -> str:
        """Of one row: by its `id`, else as the options have it; a text met before gets a number.

        An `id` that another text of an earlier table bears is followed by the text's digest. The same text
        keeps it: a row that two tables hold is one record.
        """
        named = digest([str(values.get(field) or "") for field in _NAMING[self._options.kind]])[:12]
        if values.get("id") not in (None, ""):
            name = f"{self._options.prefix}-{values['id']}"
            if self._before.get(name, named) != named:
                return f"{name}-{named}"
            self._here.setdefault(name, named)
            return name
        if self._options.ids == "rows":
            return self.numbered(row)
        self._met[named] += 1
        again = f"-{self._met[named]}" if self._met[named] > 1 else ""
        return f"{self._options.prefix}-{named}{again}"


def field_of(kind: Kind, column: str) -> str:
    """The field that a column's name stands for without a map; empty where it stands for none."""
    name = " ".join(str(column).split()).casefold()
    return name if name in FIELDS[kind] else ALIASES[kind].get(name, "")


def resolve_columns(
    kind: Kind,
    columns: Mapping[str, str],
    ignore: Collection[str],
    present: Collection[str],
    where: str,
    *,
    partial: bool = False,
) -> dict[str, str]:
    """Field to column for rows with the same columns.

    Args:
        kind: What the rows are.
        columns: Field to column, as the config says; other columns are taken by their own or usual name.
        ignore: Columns left out on purpose.
        present: The columns of these rows.
        where: Names the table in messages.
        partial: Columns named in `columns` or `ignore` may be absent, as in later rows of a jsonl file.

    Raises:
        UsageError: A field or column that does not exist, or a column nobody has said anything about.
    """
    strange = sorted(set(columns) - set(FIELDS[kind]))
    if strange:
        raise UsageError(f"{where}: columns maps {', '.join(strange)}; fields are {', '.join(FIELDS[kind])}")
    absent = sorted({*columns.values(), *ignore} - {*present, ""})
    if absent and not partial:
        raise UsageError(f"{where} has no column {', '.join(absent)}; it has {', '.join(present)}")
    resolved = {field: column for field, column in columns.items() if column in present}
    unknown = []
    for column in present:
        if column in ignore or column in columns.values():
            continue
        field = field_of(kind, column)
        if not field or field in resolved:
            unknown.append(column)
        else:
            resolved[field] = column
    if unknown:
        raise UsageError(
            f"{where}: nothing says what {', '.join(map(repr, unknown))} in its header mean: map each under "
            f"`columns` (fields are {', '.join(FIELDS[kind])}) or name it under `ignore`; "
            f"the first row must hold the names of the columns{_NAMELESS if '' in unknown else ''}"
        )
    needed = ("phrase", "explanation") if kind == "idiom" else ()
    missing = [field for field in needed if field not in resolved]
    if kind == "poem" and not {"couplets", "hemistichs", "lines", "first"} & set(resolved):
        missing.append("couplets (or hemistichs, lines, first and second)")
    if missing:
        raise UsageError(f"{where}: no column gives {', '.join(missing)}: map one under `columns`")
    return resolved


def record(
    kind: Kind,
    row: Mapping[str, Any],
    columns: Mapping[str, str],
    *,
    defaults: Mapping[str, Any],
    ids: RowIds,
    number: int,
    provenance: Provenance,
) -> Iterator[Entry]:
    """The record of one row, and rejections of what in it can't be used.

    Args:
        kind: What the row is.
        row: Column to value.
        columns: Field to column.
        defaults: Field to value, for fields that the row leaves empty.
        ids: Names the records of this source.
        number: Of the row.
        provenance: Of the row, unless it has columns that say otherwise.
    """
    # A field that is absent and one that is empty say the same; most rows leave most fields empty.
    values = {field: row[column] for field, column in columns.items() if not _blank(row.get(column))}
    values = {**defaults, **values}
    identifier = ids.numbered(number)
    try:
        values, repairs = _repaired(values)
        identifier = ids.of(number, values)
        updates = {name: str(values[name]) for name in _TERMS if values.get(name)}
        provenance = provenance.model_copy(update=updates) if updates else provenance
        made: Iterator[Entry] = _poem(values, identifier, provenance)
        if kind == "idiom":
            made = iter([_idiom(values, identifier, provenance)])
        for entry in made:
            yield entry if isinstance(entry, Rejection) or not repairs else _noted(entry, repairs)
    except RecordRejected as error:
        yield _rejection(identifier, provenance, error.reason, error.detail, row)
    except ValidationError as error:
        first = error.errors()[0]
        detail = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        yield _rejection(identifier, provenance, "row_invalid", detail, row)
    except MALFORMED as error:
        yield _rejection(identifier, provenance, "row_invalid", explain(error), row)


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _repaired(value: Any) -> tuple[Any, list[str]]:
    """A value whose wrongly decoded texts were read again, and how; others are left as they are."""
    if isinstance(value, str):
        repair = repair_mojibake(value)
        return (repair.text, list(repair.steps)) if repair else (value, [])
    if isinstance(value, dict):
        repaired: dict[str, Any] = {}
        steps: list[str] = []
        for name, entry in value.items():
            repaired[name], found = _repaired(entry)
            steps += found
        return repaired, steps
    if isinstance(value, (list, tuple)):
        both = [_repaired(entry) for entry in value]
        return [entry for entry, _ in both], [step for _, steps in both for step in steps]
    return value, []


def _noted(entry: Poem | Idiom, repairs: list[str]) -> Poem | Idiom:
    labels = entry.source_labels | {"repaired": "; ".join(dict.fromkeys(repairs))}
    return entry.model_copy(update={"source_labels": labels})


def _rejection(
    identifier: str, provenance: Provenance, reason: str, detail: str, row: Mapping[str, Any]
) -> Rejection:
    try:
        body = orjson.dumps(dict(row), default=str).decode()
    except orjson.JSONEncodeError:  # nested deeper than JSON goes
        body = ""
    return Rejection(
        record=identifier,
        source=provenance.source,
        reason=reason,
        detail=f"{provenance.url}: {detail}",
        body=body,
    )


def _text(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field, "")
    if isinstance(value, (dict, list, tuple)):
        raise RecordRejected(
            "row_invalid", f"{field} holds a {type(value).__name__}, not a text: {str(value)[:80]}"
        )
    return str(value)


def _needed(values: Mapping[str, Any], field: str) -> str:
    text = _text(values, field)
    if not text.strip():
        raise RecordRejected(f"{field}_missing", f"{field} is empty")
    return text


def _texts(value: Any, field: str) -> list[str]:
    """A list of texts from a list, or from one text with a line each."""
    if isinstance(value, str):
        found = listed(value)
        if not isinstance(found, list):
            return [line for line in BREAK.sub("\n", value).splitlines() if line.strip()]
        value = found
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return list(value)
    raise RecordRejected("row_invalid", f"{field} must be texts, not {type(value).__name__}")


def _idiom(values: Mapping[str, Any], identifier: str, provenance: Provenance) -> Idiom:
    genre = _text(values, "genre") or "idiom"
    optional: dict[str, Any] = {}
    if values.get("connotation"):
        optional["connotation"] = values["connotation"]
    if values.get("sensitive") not in (None, ""):
        optional["sensitive"] = values["sensitive"]
    if values.get("examples"):
        optional["examples"] = tuple(_texts(values["examples"], "examples"))
    return Idiom.model_validate(
        {
            "id": identifier,
            "language": _text(values, "language"),
            "dialect": _text(values, "dialect"),
            "genre": genre,
            "phrase": Form(raw=_needed(values, "phrase")),
            "explanation": Form(raw=_needed(values, "explanation")),
            "provenance": provenance,
            **optional,
        }
    )


def _poem(values: Mapping[str, Any], identifier: str, provenance: Provenance) -> Iterator[Entry]:
    declared = _declared(values.get("declared_couplets"))
    found = _arranged(values, declared)
    beside = {
        name: _beside(values[field], field, len(found.units))
        for field, name in (("prose", "prose"), ("explanations", "explanation"))
        if field in values
    }
    stated = {name: _text(values, name) for name in _LABELS if name in values}
    labels = with_country({name: text for name, text in stated.items() if text.strip()})
    form = _text(values, "form") or found.labels.get("form_found", "")
    yield from poem(
        identifier,
        found,
        beside,
        language=_text(values, "language"),
        title=_text(values, "title"),
        poet=_text(values, "poet"),
        sections=(Section(index=0, rhyme=_text(values, "rhyme"), form=form),),
        declared_couplets=declared,
        explanation=_text(values, "explanation"),
        source_labels=labels | found.labels,
        provenance=provenance,
    )


def _declared(value: Any) -> int | None:
    """The count that a cell states in figures or in a phrase; a phrase without a number states none."""
    if value is None:
        return None
    if not isinstance(value, (str, int, float)):
        raise RecordRejected("row_invalid", f"declared_couplets is a {type(value).__name__}, not a number")
    return stated_number(value)


def _beside(given: Any, field: str, units: int) -> list[str]:
    """A text for each unit of verse, empty where there is none for it.

    Raises:
        RecordRejected: `<field>_unaligned`: another number of texts than of units of verse.
    """
    texts = ["" if text is None else text for text in _list(given, field)]
    if not all(isinstance(text, str) for text in texts):
        raise RecordRejected("row_invalid", f"{field} must be texts")
    if len(texts) != units:
        raise RecordRejected(f"{field}_unaligned", f"{len(texts)} texts under {field} for {units} couplets")
    return texts


def _arranged(values: Mapping[str, Any], declared: int | None) -> Arrangement:
    if values.get("couplets"):
        return Arrangement([_unit(unit) for unit in _list(values["couplets"])])
    if values.get("hemistichs"):
        rows = _texts(values["hemistichs"], "hemistichs")
        return arrange(rows, language_named(_text(values, "language")) or "und", declared)
    if values.get("lines"):
        return as_lines(_texts(values["lines"], "lines"))
    if _text(values, "first").strip():
        return Arrangement([(_text(values, "first"), _text(values, "second"))])
    raise RecordRejected("verses_missing", "the row holds no verse")


def _list(value: Any, field: str = "couplets") -> list[Any]:
    if isinstance(value, str) and (value := listed(text := value)) is None:
        raise RecordRejected("row_invalid", f"{field} are no JSON list: {text[:40]!r}")
    if not isinstance(value, list):
        raise RecordRejected("row_invalid", f"{field} must be a list, not a {type(value).__name__}")
    return value


def listed(text: str) -> Any:
    """What a cell holds that pandas or JSON wrote as a list; None for any other text."""
    if not text.lstrip().startswith("["):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(text.strip())
    return None


def _unit(unit: Any) -> tuple[str, str | None]:
    """One couplet: `[sadr, ajuz]`, `[line]` or a line alone."""
    if isinstance(unit, str):
        return unit, None
    if isinstance(unit, list) and len(unit) in (1, 2) and all(isinstance(half, str) for half in unit):
        return unit[0], unit[1] if len(unit) == 2 else None
    raise RecordRejected("couplet_invalid", f"a couplet must be two hemistichs, not {unit!r}")
