"""Decisions without a server: on a sheet or by keyboard, read by the rules of Label Studio's answers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from mihakk.annotation.decisions.apply import WAITING
from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.store import add, decision_id, decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.voiding import ORIGIN
from mihakk.annotation.decisions.words import add_split
from mihakk.annotation.label_studio.answers import Reader, may_object
from mihakk.annotation.label_studio.exchange import resolutions
from mihakk.annotation.label_studio.exported import Answer, Row, Task
from mihakk.annotation.label_studio.project import Project
from mihakk.annotation.label_studio.pull import ExportFile, Pulled, pull
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.tasks import TEMPLATE
from mihakk.annotation.teaching.state import gate
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.ids import digest
from mihakk.machinery.languages import pack
from mihakk.machinery.spreadsheet import guarded, may_run
from mihakk.machinery.workbook import open_workbook
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Voided

ASKED: Final = ("decision", "reason", "failed", "right", "confidence", "notes")
"""Columns that a person fills; the text itself is corrected where it stands."""
TOLD: Final = ("sample_id", "content_hash", "language", "task")
SUFFIXES: Final = (".csv", ".xlsx")
_CELL: Final = 32_767
"""Most characters of a cell of a workbook, which is cut off behind them without a word."""
Given = Mapping[str, str]
"""Column to cell of one row that a person filled: those of `ASKED`, and the boxes of the item's form."""


@dataclass
class Taken:
    """What became of the rows that a person filled."""

    decided: int = 0
    """New decisions."""
    skipped: int = 0
    unchanged: int = 0
    """Said before, in just these words."""
    unsaid: int = 0
    """Rows without a decision."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Sample and why its row can't be taken."""
    withheld: int = 0
    """Decisions kept that don't count: the person has not passed the calibration."""


class Offline:
    """The review of one person without a server.

    Args:
        tasks: The whole queue, as a push would bring it, with its items (`queue_tasks`).
        person: Address; kept as its pseudonym alone.

    Raises:
        UsageError: The config hides golds until people have answered, which only the server can.
    """

    def __init__(
        self,
        tasks: Iterable[dict[str, Any]],
        items: Iterable[Item],
        stores: Stores,
        config: ReviewConfig,
        person: str,
    ) -> None:
        if config.hide_gold:
            raise UsageError(
                "`review.hide_gold` has people answer before they see the gold, which a sheet can't: use "
                "`mihakk review serve`, or take the key out of the config"
            )
        if "@" not in person:
            raise UsageError(f"--person {person!r}: give an e-mail address; only its pseudonym is kept")
        self._tasks = {_key(task["data"]): task["data"] for task in tasks}
        self._items = {item.id: item for item in items}
        self._stores, self._config = stores, config
        self._address = person
        self.person = pseudonyms(stores.people, {1: person})[1]

    def open(self) -> list[dict[str, Any]]:
        """Task data of what this person may still judge, the most urgent first.

        An item is open to them while its votes are too few or split, they have not voted on it, and fewer
        people than `review.most_people` have; as on the server, an adjudicator is asked whatever is split.
        """
        mine = {_key_of(row) for row in decisions(self._stores) if row.annotator == self.person}
        told = resolutions(self._stores, self._config, alone=True)
        wanted = []
        for key, data in self._tasks.items():
            place = (data["language"], self._items[data["sample_id"]].dialect)
            if key in mine or not self._config.may_judge(self.person, *place):
                continue
            found = told.get(key)
            most = self._config.most_people(len(self._config.judges_of(*place)))
            if self.person in self._config.adjudicators:
                most = len(told) + 1
            if found is None or (found.outcome in WAITING and found.votes < most):
                wanted.append(data)
        return wanted

    def row(self, data: Mapping[str, Any]) -> dict[str, str]:
        """A task as a row of a sheet: what it is, its text, which options are right, and nothing said yet."""
        item = self._items[str(data["sample_id"])]
        right = ",".join(str(index + 1) for index in item.gold) if isinstance(item, ChoiceItem) else ""
        return {
            **{name: str(data[name]) for name in TOLD},
            **data["form"],
            "right": right,
        }

    def take(self, rows: Iterable[Given]) -> Taken:
        """Adds what a person filled in to the store, by the rules that answers on a server are read by."""
        taken = Taken()
        now = datetime.now(UTC)
        last = {_key_of(row): row for row in decisions(self._stores) if row.annotator == self.person}
        readers: dict[Language, Reader] = {}
        by_language: dict[Language, list[dict[str, Any]]] = {}
        for given in rows:
            data = self._tasks.get(_key(given))
            said, right = given.get("decision", "").strip().lower(), self.row(data)["right"] if data else ""
            result = _result(data["form"] if data else {}, given, said, right=right)
            changed = _changed(data, given, right) if data and said != "fix" else ""
            objects = bool(changed) or (said != "skip" and may_object(result))
            if not said and not objects:
                taken.unsaid += 1
                continue
            try:
                if changed:
                    what = f"{changed} was changed and the decision is {said or 'not given'}"
                    raise RecordRejected("changed_without_fix", f"{what}: write fix, or undo it")
                if data is None:
                    why = "since the sheet was written, or waits for nobody: write a new sheet"
                    raise RecordRejected("not_waiting", f"the item has changed {why}")
                if not said:
                    raise RecordRejected("incomplete", "something is ticked, and no decision is given")
                task, language = _task(data, given, said, now, result), data["language"]
                if language not in readers:
                    readers[language] = Reader(labelling(TEMPLATE, language))
                before = last.get(_key(data))
                if said != "skip" and _said_before(task, readers[language], before, self.person):
                    taken.unchanged += 1
                    continue
            except RecordRejected as error:
                self._refuse(given, error, last, taken, objects=objects)
                continue
            by_language.setdefault(language, []).append(task)
        for language, tasks in by_language.items():
            found = self._pull(language, tasks)
            taken.decided += len(found.reviews)
            taken.skipped += found.skipped
            taken.withheld += found.withheld
            taken.refused += [(reason, f"{count} rows") for reason, count in found.rejected.items()]
        return taken

    def _refuse(
        self,
        given: Given,
        error: RecordRejected,
        last: Mapping[tuple[str, str], Review],
        taken: Taken,
        *,
        objects: bool,
    ) -> None:
        """Says why a row can't be taken.

        An item that it may call wrong is in doubt (`store.doubted`), and an earlier keep counts no longer.
        """
        sample, content = _key(given)
        taken.refused.append((sample, f"{error.reason}: {error.detail}"))
        if not objects:
            return
        row = Rejection(
            record=sample,
            source=f"{ORIGIN}:{TEMPLATE}:{given.get('language', '')}",
            reason=error.reason,
            detail=error.detail,
            body=orjson.dumps(
                {"annotator": self.person, "content_hash": content}, option=orjson.OPT_SORT_KEYS
            ).decode(),
        )
        add_split(self._stores, self._stores.rejected, Rejection, [row])
        before = last.get((sample, content))
        if before is not None and not before.objects:
            why = "a later row of a sheet speaks against it and can't be taken"
            gone = Voided(decision=decision_id(before), by="deleted", why=why, voided_at=datetime.now(UTC))
            add(self._stores.voided, Voided, [gone])

    def _pull(self, language: Language, tasks: list[dict[str, Any]]) -> Pulled:
        members = _Members(orjson.dumps(tasks), {1: self._address})
        form = labelling(TEMPLATE, language)
        project = Project(members, 0, f"{ORIGIN}:{TEMPLATE}:{language}", form, 1, "", False, ORIGIN)
        return pull(project, self._stores, self._config, gate=gate(self._stores, self._config))


class _Members(ExportFile):
    """An export whose authors' addresses are known."""

    def __init__(self, text: bytes, people: dict[int, str]) -> None:
        super().__init__(text)
        self._people = people

    def users(self) -> dict[int, str]:
        """Address by number."""
        return self._people


def _key(data: Mapping[str, Any]) -> tuple[str, str]:
    return str(data.get("sample_id", "")), str(data.get("content_hash", ""))


def _key_of(row: Review) -> tuple[str, str]:
    return row.item, row.content_hash


def _said_before(task: dict[str, Any], reader: Reader, before: Review | None, person: str) -> bool:
    """Whether the last word of this person on the item is the same.

    Raises:
        RecordRejected: The row can't be read as a decision.
    """
    read, row = Task.model_validate(task), Row.model_validate(task["annotations"][0])
    (new,) = reader.read(Answer(read, row, ""), person)
    if not isinstance(new, Review):
        return False
    if new.decision == "fix" and not new.corrections:
        raise RecordRejected("fix_changes_nothing", "no text was changed, or not as it can be read")
    if new.decision == "discard" and not new.reason:
        raise RecordRejected("incomplete", "discarded without a reason")
    return before is not None and _words(before) == _words(new)


def _changed(data: Mapping[str, Any], given: Given, right: str) -> str:
    """The first column whose text is not the item's, other white space aside."""
    shown = {**data["form"], "right": right.replace(",", " ")}
    told = {name: given[name] for name in shown if name in given}
    told |= {"right": told.get("right", "").replace(",", " ").replace("،", " ")}
    return next((name for name, text in told.items() if text.split() not in ([], shown[name].split())), "")


def _words(review: Review) -> tuple[Any, ...]:
    return review.decision, review.reason, review.failed, review.corrections, review.confidence


def _task(
    data: dict[str, Any], given: Given, said: str, now: datetime, result: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A filled row as the task of an export, with one annotation by member 1."""
    number = int(digest([*_key(data), dict(given), now.isoformat()])[:15], 16)
    seconds = given.get("seconds", "")
    annotation = {
        "id": number,
        "completed_by": 1,
        "was_cancelled": said == "skip",
        "updated_at": now.isoformat(),
        "created_at": now.isoformat(),
        "lead_time": float(seconds) if seconds else None,
        "result": result,
    }
    return {"id": number, "data": data, "annotations": [annotation]}


def _result(form: Mapping[str, str], given: Given, said: str, *, right: str) -> list[dict[str, Any]]:
    """What an annotation would hold that says what a row says; `right` is what stood there."""
    values: dict[str, tuple[str, list[str]]] = {}
    if said not in ("", "skip"):
        values["decision"] = ("choices", [said])
    for name, several in (("reason", False), ("failed", True)):
        if chosen := given.get(name, "").replace(",", " ").split():
            values[name] = ("choices", chosen if several else chosen[:1])
    if said == "fix":
        values |= {
            box: ("textarea", [given[box].replace("\r\n", "\n")])
            for box in form
            if box in given and given[box].strip()
        }
        chosen = given.get("right", "").replace(",", " ").replace("،", " ").split()
        if chosen and chosen != right.split(","):
            values["fix_gold"] = (
                "choices",
                [str(int(one) - 1) if one.isdecimal() else one for one in chosen],
            )
    if given.get("notes", "").strip():
        values["notes"] = ("textarea", [given["notes"].strip()])
    if given.get("opened"):
        values["opened"] = ("choices", given["opened"].split())
    result: list[dict[str, Any]] = [
        {
            "id": name,
            "from_name": name,
            "to_name": "item",
            "type": kind,
            "value": {"text" if kind == "textarea" else "choices": chosen},
        }
        for name, (kind, chosen) in values.items()
    ]
    if (sure := given.get("confidence", "").strip()).isdecimal():
        rating = {"id": "c", "from_name": "confidence", "to_name": "item", "type": "rating"}
        result.append(rating | {"value": {"rating": int(sure)}})
    return result


def write_sheet(path: Path, rows: Sequence[Given]) -> int:
    """Writes rows as they are to be filled in: the item's text is corrected in place, `right` names options.

    Raises:
        UsageError: The suffix is none of `SUFFIXES`; what stands there is no such sheet or holds decisions; a
            text is more than a cell of a workbook takes.
    """
    if path.exists() and any(row["decision"].strip() for row in read_sheet(path)):
        raise UsageError(f"{path} holds decisions: take them with --sheet, or name another file")
    boxes = dict.fromkeys(name for row in rows for name in row if name not in (*TOLD, *ASKED))
    header = [*TOLD, *boxes, *ASKED]
    table = [header, *([row.get(name, "") for name in header] for row in rows)]
    if path.suffix.lower() == ".csv":
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows([guarded(cell) for cell in row] for row in table)
        path.write_bytes(text.getvalue().encode("utf-8-sig"))
    elif path.suffix.lower() == ".xlsx":
        _write_workbook(
            path, table, rtl=sum(pack(row["language"]).direction == "rtl" for row in rows) * 2 > len(rows)
        )
    else:
        raise UsageError(f"{path}: a sheet is one of {', '.join(SUFFIXES)}")
    return len(rows)


def _write_workbook(path: Path, table: Sequence[Sequence[str]], *, rtl: bool) -> None:
    import openpyxl
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "decisions"
    sheet.sheet_view.rightToLeft = rtl
    sheet.freeze_panes = "A2"
    for number, row in enumerate(table, start=1):
        for column, text in enumerate(row, start=1):
            cell = sheet.cell(number, column)
            if len(text) > _CELL or ILLEGAL_CHARACTERS_RE.search(text):
                raise UsageError(
                    f"{path}: {row[0]} has a text that no cell of a workbook takes: write a .csv"
                )
            if text:
                cell.value, cell.data_type = text, "s"  # never a formula
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.font = Font(bold=number == 1)
    for column, name in enumerate(table[0], start=1):
        letter = get_column_letter(column)
        sheet.column_dimensions[letter].width = 10 if name in (*TOLD, "right", "confidence") else 32
        if name == "decision":
            choice = DataValidation(type="list", formula1='"keep,fix,discard,skip"', allow_blank=True)
            sheet.add_data_validation(choice)
            choice.add(f"{letter}2:{letter}{sheet.max_row + 1}")
    book.save(path)


def read_sheet(path: Path) -> list[dict[str, str]]:
    """Rows of a sheet that came back, column to cell.

    Raises:
        UsageError: It is no such sheet.
    """
    if path.suffix.lower() == ".csv":
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} can't be read: {error}; save it as CSV UTF-8") from error
        first = text.partition("\n")[0]
        delimiter = max(",;\t", key=first.count)
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        table = [
            [cell[1:] if cell.startswith("'") and may_run(cell[1:]) else cell for cell in row]
            for row in table
        ]
    elif path.suffix.lower() == ".xlsx":
        book = open_workbook(path)
        try:
            table = [["" if cell is None else str(cell) for cell in row] for row in book.worksheets[0].values]
        finally:
            book.close()
    else:
        raise UsageError(f"{path}: a sheet is one of {', '.join(SUFFIXES)}")
    header = table[0] if table else []
    if missing := [name for name in ("sample_id", "content_hash", "decision") if name not in header]:
        raise UsageError(
            f"{path} has no column {', '.join(missing)}: fill in what `--out` wrote, and keep its header"
        )
    rows = [dict(zip(header, row, strict=False)) for row in table[1:] if any(row)]
    twice = [key for key, count in Counter(map(_key, rows)).items() if count > 1 and any(key)]
    if twice:
        raise UsageError(f"{path} has {twice[0][0]} in two rows: keep one")
    return rows
