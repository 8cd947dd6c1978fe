"""Answers drawn for people to score, and what they scored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from mihakk.evaluation import rows as stored
from mihakk.evaluation.judges.asking import Judged
from mihakk.evaluation.judges.prompt import material
from mihakk.machinery.draw import in_turns, lot
from mihakk.machinery.errors import UsageError, no_file
from mihakk.schemas.record import Language, Record
from mihakk.schemas.rubric import SUM, Rubric
from mihakk.scrapers.tables import read_rows

DRAWN: Final = "drawn.parquet"
TEMPLATES: Final = {"answer_correctness": "answer", "interpretive_depth": "interpretive_depth"}
"""Template that people rate in to the rubric with the same fields."""
WHOLE: Final = "depth"
"""Label that holds the sum of a template's parts."""
UNUSABLE: Final = "unusable"


class Drawn(Record):
    """An answer that people are to score."""

    answer: str
    """Its key, which names no system."""
    rubric: str
    stratum: str
    """Task, system and third of the judges' scores."""
    size: int
    """Answers of the stratum, drawn or not."""


class Shown(Record):
    """What people see of it: nothing that names the system or the judges' scores."""

    id: str
    rubric: str
    language: Language
    question: str
    text: str
    reference: str
    reply: str


class PeopleScores(NamedTuple):
    """One answer's scores by people."""

    by: Mapping[str, float]
    """Pseudonym to total, as given first: before anything was discussed or changed."""
    after: Mapping[str, float]
    """Pseudonym to total, as given last."""

    @property
    def mean(self) -> float:
        """Over people."""
        return sum(self.by.values()) / len(self.by)


NOBODY: Final = PeopleScores({}, {})
"""Of an answer that was drawn and that nobody scored."""


def draw(
    cases: Mapping[str, Sequence[Judged]], means: Mapping[str, float], rubric: Rubric, count: int
) -> list[tuple[Drawn, Judged]]:
    """So many answers of one rubric, spread evenly over task, system and third of the judges' scores.

    Those that no judge could score (not in `means`) come first: only people can score them.
    """
    everything = [case for own in cases.values() for case in own]
    ordered = sorted(means[case.name] for case in everything if case.name in means)
    ends = [ordered[len(ordered) * third // 3] for third in (1, 2)] if ordered else []

    def stratum(case: Judged) -> tuple[str, str, str]:
        if case.name not in means:
            return case.answer.task, case.answer.model, UNUSABLE
        third = sum(means[case.name] >= end for end in ends)
        return case.answer.task, case.answer.model, str(third)

    sizes = Counter(stratum(case) for case in everything)
    line = sorted(everything, key=lambda case: lot(case.name))
    unusable = [case for case in line if case.name not in means]
    rest = in_turns([case for case in line if case.name in means], stratum)
    chosen = [*unusable, *rest][:count]
    rows = [
        Drawn(
            answer=case.name, rubric=rubric.name, stratum=" ".join(stratum(case)), size=sizes[stratum(case)]
        )
        for case in chosen
    ]
    return list(zip(rows, chosen, strict=True))


def write_drawn(folder: Path, drawn: Sequence[tuple[Drawn, Judged]], rubrics: Mapping[str, Rubric]) -> Path:
    """Writes which answers are drawn, and the file that people's screens are made of; its path.

    The lines come in an order that tells nothing of task, system or score.
    """
    stored.write_rows(folder / DRAWN, sorted((row for row, _ in drawn), key=lambda row: row.answer), Drawn)
    path = folder / "for_people.jsonl"
    lines = sorted((lot(f"{row.rubric} {row.answer}"), row, case) for row, case in drawn)
    with path.open("w", encoding="utf-8") as out:
        for _, row, case in lines:
            parts = material(rubrics[row.rubric], case.asked, case.reply)
            shown = Shown(
                id=row.answer,
                rubric=row.rubric,
                language=case.asked.question.language,
                question=parts.get("question", ""),
                text="\n".join(parts.get("text", ())),
                reference="\n".join(parts["reference"]),
                reply=case.reply,
            )
            out.write(shown.model_dump_json() + "\n")
    return path


def read_shown(path: Path) -> list[Shown]:
    """What `write_drawn` wrote for people.

    Raises:
        UsageError: The file is missing or holds something else.
    """
    try:
        return [Shown.model_validate(row) for _, row in _rows(path)]
    except ValidationError as error:
        raise UsageError(
            f"{path} is not a for_people.jsonl ({error.error_count()} misfits): write it with "
            "`mihakk evaluate vouch SUITE --draw 200`"
        ) from error


def load_drawn(folder: Path) -> dict[tuple[str, str], Drawn]:
    """Rubric and answer to how it was drawn; nothing where none was drawn."""
    path = folder / DRAWN
    rows = stored.read_rows(path, Drawn) if path.is_file() else []
    return {(row.rubric, row.answer): row for row in rows}


def read_people(path: Path, rubrics: Mapping[str, Rubric]) -> dict[tuple[str, str], PeopleScores]:
    """People's scores from a table: rubric and answer to who gave what.

    A row says `answer`, `annotator`, `rubric`, `field` and `score`; or, as `mihakk review export --labels`
    writes it, `subject` (the answer's id, alone or behind `@`), `annotator`, `template`, `name`, `value`.
    A file ends in .csv, .jsonl, .tsv, .xlsx or .parquet. Of one person on one answer the first row counts, of
    those that the export calls `first` where it has this column: others were changed before they were stored,
    or come from adjudicators.

    Raises:
        UsageError: The file is missing, lacks a column, or holds a score outside its scale.
    """
    given: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    last: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for where, row in _rows(path):
        try:
            answer, person, name, field, text = _cells(row)
        except KeyError as error:
            raise UsageError(
                f"{where}: it has no column {error}; a table of people's scores has answer, "
                "annotator, rubric, field and score"
            ) from None
        rubric = rubrics.get(name)
        if rubric is None or ("template" in row and field not in {*rubric.fields, WHOLE}):
            continue  # an export holds notes and the labels of other templates too
        low, high = _scale(rubric, field, where)
        try:
            score = float(text)
        except ValueError:
            raise UsageError(f"{where}: {text!r} is not a score") from None
        if not low <= score <= high:
            raise UsageError(f"{where}: {field} is {text}; it goes from {low} to {high}")
        last[name, answer, person][field] = score
        if row.get("first", "True") == "True":
            given[name, answer, person].setdefault(field, score)
    first, after = _totals(rubrics, given), _totals(rubrics, last)
    return {place: PeopleScores(by, after[place]) for place, by in first.items()}


def _totals(
    rubrics: Mapping[str, Rubric], given: Mapping[tuple[str, str, str], Mapping[str, float]]
) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for (name, answer, person), fields in given.items():
        total = _total(rubrics[name], fields)
        if total is not None:
            found[name, answer][person] = total
    return dict(found)


def _total(rubric: Rubric, fields: Mapping[str, float]) -> float | None:
    """A person's total; None where a part is missing."""
    if rubric.total != SUM:
        return fields.get(rubric.total)
    if WHOLE in fields:
        return fields[WHOLE]
    return sum(fields.values()) if set(rubric.fields) <= set(fields) else None


def _scale(rubric: Rubric, field: str, where: str) -> tuple[int, int]:
    if field == WHOLE and rubric.total == SUM:
        return rubric.low, rubric.high
    if field not in rubric.fields:
        raise UsageError(
            f"{where}: the rubric {rubric.name!r} has no field {field!r}; it has: {', '.join(rubric.fields)}"
        )
    return rubric.fields[field].low, rubric.fields[field].high


def _cells(row: Mapping[str, str]) -> tuple[str, str, str, str, str]:
    if "template" in row:
        name = TEMPLATES.get(row["template"], row["template"])
        return row["subject"].rpartition("@")[2], row["annotator"], name, row["name"], row["value"]
    return row["answer"], row["annotator"], row["rubric"], row["field"], row["score"]


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a table, each with its place."""
    if not path.is_file():
        raise no_file(path)
    for row in read_rows(path):
        where = f"{path}, row {row.number}"
        if row.problem:
            raise UsageError(f"{where}: {': '.join(row.problem)}")
        yield where, {name: str(value) for name, value in row.fields.items()}
