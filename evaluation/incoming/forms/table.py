"""Tables of answers: a row an item and a column a system, or a row an answer.

Cells are labels (`B`, `ب`), places of options, right or wrong, likelihoods of all options, or words. Which
is told by all cells together; where counting from 0 and from 1 both fit, the caller has to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, get_args

from mihakk.evaluation.incoming.form import FORMS, Form, Records
from mihakk.evaluation.incoming.given import NOTHING, AskedThere, Given, Refused
from mihakk.evaluation.incoming.head import Head
from mihakk.machinery.errors import RecordRejected, UsageError, nearest
from mihakk.validators.external.cells import LETTERS, blank, listed, shown
from mihakk.validators.external.naming import WORDS, plain
from mihakk.validators.external.table import Table, read_tables

Cells = Literal["letter", "index0", "index1", "correct", "likelihoods", "text"]
"""What the cells of a table's systems hold."""
Row = Mapping[str, Any]
Read = Callable[[Any, AskedThere, str], Given]
"""A cell as an answer."""
_SYSTEM: Final = ("model", "system", "model name", "system name", "model id", "run")
_SAID: Final[dict[str, tuple[str, ...]]] = {
    "reply": ("reply", "response", "output", "model output", "completion", "generation"),
    "pick": (
        *("prediction", "pred", "predicted", "predicted answer", "model prediction", "choice", "picked"),
        *("model answer", "selected", "answer"),
    ),
    "correct": ("correct", "is correct", "acc", "accuracy", "right", "score"),
    "likelihoods": ("likelihoods", "logprobs", "log likelihoods", "loglikelihoods"),
}
_FACTS: Final[tuple[str, ...]] = (
    "finish_reason",
    "error",
    "variant",
    "repeat",
    "tokens_in",
    "tokens_out",
    "reasoning",
)
_TRUE: Final = frozenset({"1", "1.0", "true", "right", "correct", "yes"})
_FALSE: Final = frozenset({"0", "0.0", "false", "wrong", "incorrect", "no"})
_KEY: Final = tuple(
    name for name in WORDS["gold"] if name not in ("correct", "right", "output", "completion", "answers")
)
"""Names of columns that hold what is right, and not whether it was."""
_OPTION: Final = re.compile(r"(option|choice|opt|ending)?[\s_.-]*[a-j0-9ابتثجحخدذر]")
_FIT: Final = 0.98
"""Share of a column's cells that must be of one kind."""
_SAMPLE: Final = 2000
_MOST_PLACES: Final = 10


def _fits(head: Head) -> bool:
    if head.kind == "zip":
        return "[Content_Types].xml" in head.names
    if head.kind == "parquet" or head.is_list or head.kind == "lines":
        return True
    return head.kind == "text" and head.path.suffix.lower() in (".csv", ".tsv")


def _read(head: Head) -> Records:
    return read_table(head)


def read_table(head: Head, *, cells: str = "", systems: Sequence[str] = (), id: str = "") -> Records:
    """The answers in a table.

    Args:
        head: The file.
        cells: What the systems' cells hold, one of `Cells`; told by the cells if empty.
        systems: Columns of the systems; told by their cells if empty.
        id: Column of the items' names; told by its name if empty.

    Raises:
        UsageError: No column holds answers, one that is named is not there, or the cells can't be told.
    """
    if cells and cells not in get_args(Cells):
        raise UsageError(f"cells are {cells!r}: they must be one of {', '.join(get_args(Cells))}")
    for table in read_tables(head.path):
        names = {_folded(name): name for name in table.columns}
        for name in (*systems, *([id] if id else ())):
            if name not in table.columns:
                raise UsageError(
                    f"{table.name} has no column {name!r}; {nearest(name, table.columns, 'it has')}"
                )
        own = id or _named(names, WORDS["id"] + ("item", "item id"))
        model = _named(names, _SYSTEM)
        long = {role: _named(names, known) for role, known in _SAID.items()}
        if model and any(long.values()) and not systems:
            yield from _long(table, own, model, {role: name for role, name in long.items() if name}, cells)
        else:
            yield from _wide(table, own, tuple(systems), cells)


def _folded(name: str) -> str:
    return plain(re.sub(r"[.-]+", " ", name))


def _named(names: Mapping[str, str], known: Sequence[str]) -> str:
    return next((names[one] for one in known if one in names), "")


class _Columns(NamedTuple):
    """Columns that say what was asked; empty where there is none."""

    id: str
    text: str
    key: str

    @classmethod
    def of(cls, table: Table, id: str, systems: Iterable[str]) -> _Columns:
        names = {_folded(name): name for name in table.columns if name not in {*systems, id}}
        return cls(id, _named(names, WORDS["question"]), _named(names, _KEY))

    def asked(self, number: int, row: Row) -> AskedThere:
        item, text, key = (shown(row.get(name)) if name else "" for name in self)
        return AskedThere(f"row {number}", row, item=item, index=number, text=text, key=key)


def _wide(table: Table, id: str, systems: tuple[str, ...], cells: str) -> Records:
    found = systems or _systems(table, id)
    read = reader(_values(table, found), cells, table.name)
    columns = _Columns.of(table, id, found)
    roles = {name for known in _SAID.values() for name in known}
    names = {name: name for name in found}
    if len(found) == 1 and _folded(found[0]) in roles:
        names[found[0]] = ""  # it says what the cells hold, not who answered
    yield from _unreadable(table)
    for number, row in table.rows.items():
        asked = columns.asked(number, row)
        for column, system in names.items():
            cell = row.get(column)
            if cell is None or (cell.__class__ is not str and blank(cell)) or cell == "":
                continue
            try:
                yield read(cell, asked, system)
            except RecordRejected as error:
                yield Refused(asked, system, error)


def _long(table: Table, id: str, model: str, said: Mapping[str, str], cells: str) -> Records:
    if len(said) > 1 and _folded(said.get("pick", "")) == "answer" and _is_gold(table, id, said):
        said = {role: name for role, name in said.items() if role != "pick"}
    role = next(one for one in ("likelihoods", "pick", "reply", "correct") if one in said)
    kinds = {"likelihoods": "likelihoods", "correct": "correct", "reply": "text", "pick": ""}
    read = reader(_values(table, (said[role],)), cells or kinds[role], table.name)
    columns = _Columns.of(table, id, said.values())
    known = [name for name in _FACTS if name in table.columns]
    judged = said.get("correct", "") if role == "pick" else ""
    yield from _unreadable(table)
    places: dict[str, int] = {}
    for number, row in table.rows.items():
        system = shown(row.get(model))
        asked = columns.asked(number, row)
        asked.index = places[system] = places.get(system, -1) + 1
        cell = row.get(said[role])
        more = {name: row[name] for name in known if not blank(row.get(name))}
        if role in ("likelihoods", "reply") and blank(cell):
            # Logs of both kinds of answer have an empty cell in the column of the other.
            cell = shown(row.get(said.get("reply", "")))
            yield Given(asked, system, cell, more=more)
            continue
        if blank(cell):
            continue
        theirs = _truth(row.get(judged)) if judged else None
        own = NOTHING if theirs is None else {judged: float(theirs)}
        for one in _answer(read, cell, asked, system):
            yield one._replace(more=more, own=own) if isinstance(one, Given) else one


def _is_gold(table: Table, id: str, said: Mapping[str, str]) -> bool:
    """Whether a column `answer` is the benchmark's: beside a reply, or the same whoever answers an item."""
    told: dict[str, set[str]] = {}
    rows = list(table.rows.values())
    for row in rows if id else ():
        told.setdefault(shown(row.get(id)), set()).add(shown(row.get(said["pick"])))
    return "reply" in said or (len(told) < len(rows) and all(len(one) == 1 for one in told.values()))


def _answer(read: Read, cell: Any, asked: AskedThere, system: str) -> Records:
    try:
        yield read(cell, asked, system)
    except RecordRejected as error:
        yield Refused(asked, system, error)


def _unreadable(table: Table) -> Iterator[Refused]:
    for bad in table.unreadable:
        asked = AskedThere(f"row {bad.number}", bad.body)
        yield Refused(asked, "", RecordRejected(bad.reason, bad.detail))


def _values(table: Table, columns: Sequence[str]) -> list[Any]:
    rows = list(table.rows.values())[:_SAMPLE]
    return [row[name] for row in rows for name in columns if not blank(row.get(name))]


_OF_SYSTEMS = ("prediction", "explanation", "wrong")


def _systems(table: Table, id: str) -> tuple[str, ...]:
    """Columns whose cells are all labels; if there is none, likelihoods, right and wrong, or places."""
    if all(re.fullmatch(r"(column )?\d+|unnamed.*", name, re.IGNORECASE) for name in table.columns):
        raise UsageError(
            f"{table.name}: its columns have no names ({', '.join(table.columns[:6])}): name that of the "
            "items `id`, and each other after its system"
        )
    # Columns of the benchmark itself; `llama` and its like are systems here.
    taken = {name for role, known in WORDS.items() if role not in _OF_SYSTEMS for name in known}
    free = [
        name
        for name in table.columns
        if name != id and _folded(name) not in taken and not _OPTION.fullmatch(_folded(name))
    ]
    kinds = {name: kind_of(_values(table, (name,))) for name in free}
    both = [next((name for name in free if kinds[name] == kind), "") for kind in ("correct", "index")]
    if all(both) and not {"letter", "likelihoods"} & set(kinds.values()):
        raise UsageError(
            f"{table.name}: {both[0]!r} holds 0 and 1 and {both[1]!r} larger numbers, so both or one of them "
            "may be a system's: name the systems' columns (--systems) and what they hold (--cells)"
        )
    for kind in ("letter", "likelihoods", "correct", "index"):
        if found := tuple(name for name in free if kinds[name] == kind):
            return found
    raise UsageError(
        f"{table.name}: no column holds labels of options, places, likelihoods or right and wrong; it has "
        f"{', '.join(table.columns[:12])}: name the systems' columns (`--systems`, in Python `systems=`)"
    )


def kind_of(values: Sequence[Any]) -> str:
    """What cells hold: `letter`, `likelihoods`, `correct`, `index`, or empty where it is none of these."""
    tests: dict[str, Callable[[Any], bool]] = {
        "letter": lambda one: bool(_letter(one)),
        "likelihoods": lambda one: _chances(one) is not None,
        "correct": lambda one: _truth(one) is not None,
        "index": lambda one: _number(one) is not None,
    }
    return next(
        (name for name, test in tests.items() if values and sum(map(test, values)) >= _FIT * len(values)), ""
    )


def reader(values: Sequence[Any], cells: str, where: str) -> Read:
    """What reads cells of one kind.

    Raises:
        UsageError: They are places, and whether they count from 0 or from 1 can't be told.
    """
    kind = cells or kind_of(values) or "text"
    if kind == "index":
        places = [place for one in values if (place := _number(one)) is not None]
        if 0 not in places and not cells:
            raise UsageError(
                f"{where}: the systems' cells are whole numbers from {min(places)} to {max(places)}; say "
                "whether they count from 0 or from 1 (--cells index0 or index1), or are words (text)"
            )
        kind = "index0"
    if kind == "letter":
        letters = {letter for one in values if (letter := _letter(one))}
        alphabet = max(LETTERS, key=lambda known: (len(letters & set(known)), -LETTERS.index(known)))
        return partial(_labelled, {letter: place for place, letter in enumerate(alphabet)}, {})
    if kind in ("index0", "index1"):
        return partial(_placed, int(kind == "index1"))
    return {"correct": _judged, "likelihoods": _compared, "text": _worded}[kind]


def _labelled(
    places: Mapping[str, int], known: dict[Any, int], cell: Any, asked: AskedThere, system: str
) -> Given:
    if cell not in known:
        place = places.get(_letter(cell), -1)
        if place < 0:
            # A reply that names no label is an answer that can't be read, not a broken row.
            return Given(asked, system, shown(cell))
        known[cell] = place
    return Given(asked, system, cell, known[cell])


def _placed(first: int, cell: Any, asked: AskedThere, system: str) -> Given:
    place = _number(cell)
    if place is None:
        raise RecordRejected("malformed", f"{system}: {shown(cell)[:60]!r} is no place of an option")
    return Given(asked, system, "", max(-1, place - first))


def _judged(cell: Any, asked: AskedThere, system: str) -> Given:
    found = _truth(cell)
    if found is None:
        raise RecordRejected("malformed", f"{system}: {shown(cell)[:60]!r} is neither right nor wrong")
    return Given(asked, system, correct=found)


def _compared(cell: Any, asked: AskedThere, system: str) -> Given:
    found = _chances(cell)
    if found is None:
        raise RecordRejected("malformed", f"{system}: {shown(cell)[:60]!r} is no list of likelihoods")
    return Given(asked, system, likelihoods=found)


def _worded(cell: Any, asked: AskedThere, system: str) -> Given:
    return Given(asked, system, shown(cell))


def _letter(cell: Any) -> str:
    if not isinstance(cell, str) or len(cell) > 5:
        return ""
    text = cell.strip(" ().:[]").casefold().translate(str.maketrans("أإآة", "ااهه"))
    return text if len(text) == 1 and any(text in known for known in LETTERS) else ""


def _truth(cell: Any) -> bool | None:
    text = str(cell).strip().casefold()
    return True if text in _TRUE else False if text in _FALSE else None


def _number(cell: Any) -> int | None:
    text = shown(cell).strip().removesuffix(".0")
    return int(text) if re.fullmatch(r"-1|\d{1,2}", text) and int(text) <= _MOST_PLACES else None


def _chances(cell: Any) -> tuple[float, ...] | None:
    found = listed(cell)
    if not found or len(found) < 2 or not all(_is_finite(found)):
        return None
    return tuple(map(float, found))


def _is_finite(values: Iterable[Any]) -> Iterator[bool]:
    return (isinstance(one, int | float) and not math.isnan(one) for one in values)


FORMS.add("table", Form("a table of answers: csv, tsv, xlsx, parquet, JSON", _fits, _read, rank=9))
