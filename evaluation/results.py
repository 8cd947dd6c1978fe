"""Results that somebody has published: files of any known format, or a folder of imported ones."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from pydantic import ValidationError

from mihakk.evaluation.benchmarks import Benchmark, of_folder_or_file, of_results
from mihakk.evaluation.imported import imported_in, read_imported
from mihakk.evaluation.incoming.form import FORMS, Form, Records, UnknownForm, recognised
from mihakk.evaluation.incoming.forms.table import read_table
from mihakk.evaluation.incoming.given import Given, Refused
from mihakk.evaluation.incoming.head import Head
from mihakk.evaluation.joining import JoinBy, Joined, join
from mihakk.machinery.collection import no_collection
from mihakk.machinery.configs import misfits
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.schemas.evaluation import Answer, AnsweredBy, AskedItem, Question
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Rejection

if TYPE_CHECKING:
    import pandas as pd

_OTHERS: Final = ("audited", "published", "as shown")
"""Versions of benchmarks that are no release of ours, and may be asked behind any delimiter."""
_PERFECT: Final = 100
"""Answers from which one that is right on all of them is taken for the golds."""
_BEYOND: Final = 0.02
"""Share of the chosen places beyond the first from which they are counted otherwise than they seem."""


@dataclass(frozen=True)
class Reading:
    """How files of results are to be read, where the files themselves don't say it."""

    form: str = ""
    """Format of all files; told from each file if empty."""
    model: str = ""
    """Name of the one system that answered."""
    join: JoinBy = "auto"
    cells: str = ""
    """What a table's cells hold."""
    systems: tuple[str, ...] = ()
    """A table's columns of systems."""
    id: str = ""
    """A table's column of the items' names."""
    language: Language = "ar"
    mapping: str = ""
    """Columns of a benchmark as published."""


def open_results(
    paths: Sequence[Path], reading: Reading = Reading(), benchmark: Benchmark | None = None
) -> Joined:
    """The results in some files, joined to a benchmark; without one, to the questions that they show.

    Args:
        paths: Files and folders of files, or folders of imported results.
        reading: What the files don't say.
        benchmark: What was asked.

    Raises:
        UsageError: A file is of no known format, or nothing in it joins.
    """
    imported = [imported_in(path) for path in paths]
    if any(imported):
        folders = list(chain.from_iterable(imported))
        if benchmark is not None or not all(imported):
            raise UsageError(
                f"{folders[0]} was imported with its questions: give folders of imported results alone, "
                "without --benchmark, or import their files again"
            )
        return read_imported(folders)
    with no_collection():
        return _open(paths, reading, benchmark)


def _open(paths: Sequence[Path], reading: Reading, benchmark: Benchmark | None) -> Joined:
    files = _files(paths, reading.form)
    records = list(chain.from_iterable(_records(head, form, reading) for form, head in files))
    names = ", ".join(str(head.path) for _, head in files)
    if not any(isinstance(one, Given) for one in records):
        raise _none_of([one for one in records if isinstance(one, Refused)], names)
    if benchmark is None:
        benchmark = _shown_by(records, files, reading)
    try:
        joined = join(records, benchmark, reading.join)
    except UsageError as error:
        raise UsageError(f"{names}: {error}") from error
    if not joined.answers:
        raise _none_of(joined.refused, names)
    _require_meaning(joined, benchmark, reading, [form for form, _ in files])
    return joined


def _none_of(refused: Sequence[Refused], names: str) -> UsageError:
    if not refused:
        return UsageError(f"{names}: empty")
    first = f"{refused[0].asked.where}: {refused[0].problem.detail}"
    return UsageError(f"{names}: none of its {len(refused):,} lines is an answer; {first}")


def _require_meaning(joined: Joined, benchmark: Benchmark, reading: Reading, forms: Sequence[Form]) -> None:
    """Refuses cells of a table that mean one thing as well as another, where nobody said which."""
    if FORMS.get("table") not in forms:
        return
    if not reading.systems:
        _refuse_golds(joined)
    if reading.cells:
        return
    chosen = [(question, given) for question, given in joined.answers if (given.pick or 0) > 0]
    beyond = [
        (question, given)
        for question, given in chosen
        if question.options and not given.reply and (given.pick or 0) >= len(question.options)
    ]
    if len(beyond) > _BEYOND * len(chosen):
        question, given = beyond[0]
        raise UsageError(
            f"{len(beyond):,} of {len(chosen):,} answers choose an option that there is not, e.g. "
            f"{given.system} number {1 + (given.pick or 0)} of {len(question.options)} of {question.item}: "
            "if 0 stands for no answer and places count from 1, say --cells index1; else say what they hold"
        )
    asked = {question.item for question, given in joined.answers if given.correct is not None}
    if asked and all(len(benchmark.questions[item].options) == 2 for item in asked):
        raise UsageError(
            "the cells are 0 and 1 and every question has two options: say whether they are places of "
            "options, or right and wrong (--cells index0 or --cells correct)"
        )


def _refuse_golds(joined: Joined) -> None:
    """Refuses a column of picks that is right on everything: the golds, and no system."""
    right: Counter[str] = Counter()
    wrong: set[str] = set()
    for question, given in joined.answers:
        if given.pick is not None and question.gold == (given.pick,):
            right[given.system] += 1
        else:
            wrong.add(given.system)
    golds = [system for system, count in right.items() if count >= _PERFECT and system not in wrong]
    if golds:
        raise UsageError(
            f"{golds[0]!r} is right on all {right[golds[0]]:,} questions, as a column of golds would be: "
            "name the columns of systems (--systems)"
        )


def _files(paths: Sequence[Path], named: str) -> list[tuple[Form, Head]]:
    """Every file with its format; of the files of one run in one folder only the fullest."""
    found: list[tuple[str, Form, Head]] = []
    for path in paths:
        if not path.is_dir():
            found.append(recognised(path, named))
            continue
        for inner in sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith(".")):
            with suppress(UnknownForm):  # a damaged file is not left out
                found.append(recognised(inner, named))
    if not found:
        raise UsageError(f"{', '.join(map(str, paths))}: no file of results lies there")
    there = {(head.path.parent, name) for name, _, head in found}
    table, named_folders = FORMS.get("table"), {path for path in paths if path.is_dir()}
    chosen = []
    for name, form, head in found:
        beside = {other for folder, other in there if folder == head.path.parent and other != name}
        fuller = any(name.startswith(f"{other}-") for other in beside)
        # Of a folder with logs, what is merely a table is something else that the program left.
        aside = form is table and beside and not named_folders.isdisjoint(head.path.parents)
        if not fuller and not aside:
            chosen.append((form, head))
    return chosen


def _records(head: Head, form: Form, reading: Reading) -> Records:
    told = {"cells": reading.cells, "systems": reading.systems, "id": reading.id}
    records = read_table(head, **told) if form is FORMS.get("table") else form.read(head)  # type: ignore[arg-type]
    known: set[str] = set()
    for one in records:
        if isinstance(one, Refused):
            yield one._replace(system=one.system or reading.model or head.path.stem)
            continue
        known.add(one.system)
        if reading.model and len(known) > 1:
            raise UsageError(
                f"{head.path} holds several systems ({', '.join(sorted(known))}): leave the name away"
            )
        system = reading.model or one.system or head.path.stem
        yield one if system == one.system else one._replace(system=system)


def _shown_by(
    records: Iterable[Given | Refused], files: Sequence[tuple[Form, Head]], reading: Reading
) -> Benchmark:
    """The benchmark that the results themselves show: of a table its own columns of questions and golds."""
    form, head = files[0]
    if len(files) == 1 and form is FORMS.get("table"):
        for record in records:
            record.asked.item = f"{head.path.name}#{record.asked.index}"  # as the benchmark calls its rows
        return of_folder_or_file(head.path, reading.mapping, language=reading.language)
    asked = {id(one.asked): one.asked for one in records if isinstance(one, Given)}.values()
    return of_results(asked, head.path.stem, reading.language)


class Said(NamedTuple):
    """An answer as far as readers and suspects look at it: a tenth of the time and memory of an `Answer`."""

    item: str
    content_hash: str
    model: str
    method: Any
    reply: str
    likelihoods: tuple[float, ...]
    finish_reason: str
    error: str


def said(joined: Joined) -> Iterator[Said]:
    """Every answer, light."""
    return (_light(question, given) for question, given in joined.answers)


def _light(question: Question, given: Given) -> Said:
    more = given.more
    chances = given.likelihoods or tuple(more.get("likelihoods") or ())
    return Said(
        question.item,
        question.content_hash,
        given.system,
        more.get("method") or ("likelihood" if chances else "written"),
        _reply(question, given),
        chances,
        more.get("finish_reason", ""),
        more.get("error", ""),
    )


def _reply(question: Question, given: Given) -> str:
    """What was replied; a chosen place stands as that option's label."""
    if given.pick is None:
        return given.reply or str(given.more.get("reply", ""))
    return question.labels[given.pick] if 0 <= given.pick < len(question.labels) else given.reply


def answers_of(joined: Joined, by: AnsweredBy | None = None) -> tuple[list[Answer], list[Refused]]:
    """Every answer in full, and those that can't be stored.

    Args:
        joined: Results.
        by: Which revision of the system answered, and to which prompt.
    """
    found: list[Answer] = []
    refused: list[Refused] = []
    for question, given in joined.answers:
        try:
            found.append(_answer(question, given, by))
        except RecordRejected as error:
            refused.append(Refused(given.asked, given.system, error))
    return found, refused


def _answer(question: Question, given: Given, by: AnsweredBy | None) -> Answer:
    facts: dict[str, Any] = {name: getattr(question, name) for name in AskedItem.model_fields}
    facts |= by.model_dump() if by else {}
    facts |= dict(given.more) | {"model": given.system}
    if given.likelihoods:
        facts["likelihoods"] = given.likelihoods
    if given.pick is not None or given.reply:
        facts["reply"] = _reply(question, given)
    if "method" not in given.more:
        facts["method"] = "likelihood" if facts.get("likelihoods") and not facts.get("reply") else "written"
    try:
        answer = Answer.model_validate(facts)
    except ValidationError as error:
        raise RecordRejected("malformed", misfits(error, Answer)) from error
    if answer.likelihoods and len(answer.likelihoods) != len(question.labels):
        detail = (
            f"{len(answer.likelihoods)} likelihoods for {len(question.labels)} options of {question.item}"
        )
        raise RecordRejected("malformed", detail)
    if answer.likelihoods and question.digest and given.asked.compared:
        _same_delimiter(given.asked.compared, question)
    if isnan(sum(answer.likelihoods)) or not isfinite(answer.cost or 0.0):
        raise RecordRejected("malformed", "a likelihood or the cost is no number")
    for name, value in answer:
        if isinstance(value, int) and abs(value) >= 2**63:
            raise RecordRejected("malformed", f"{name} takes more than 64 bits")
        if isinstance(value, str) and storable(value) != value:
            raise RecordRejected("malformed", f"{name} holds half of a surrogate pair, which is no text")
    return answer


def _same_delimiter(compared: Sequence[str], question: Question) -> None:
    """Refuses our own labels that stood behind another delimiter: a space moves accuracies by ten points."""
    if question.version in _OTHERS or not all(isinstance(one, str) for one in compared):
        return
    for text, label in zip(compared, question.labels, strict=False):
        if text and text != label:
            raise RecordRejected(
                "other_delimiter",
                f"the likelihood of {text!r} was asked for, and the release asks for {label!r}: "
                "run its own task files, with their `target_delimiter`, as they are",
            )


def storable(text: str) -> str:
    """The text with halves of surrogate pairs spelt out, which UTF-8 can't hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def rejection(refused: Refused, source: str) -> Rejection:
    """What is kept of a record that is no answer: all of it, under the item it names."""
    asked = refused.asked
    body = asked.body
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if not isinstance(text, str):
        text = orjson.dumps(text, default=str, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")
    return Rejection(
        record=storable(asked.item) or asked.where,
        source=source,
        reason=refused.problem.reason,
        detail=storable(f"{asked.where}: {refused.problem.detail}"),
        body=storable(text),
    )


def score_frame(joined: Joined) -> pd.DataFrame:
    """Accuracy and exact matches of all answers, as tables of results take them."""
    import pyarrow as pa

    from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_batch
    from mihakk.evaluation.table.scores import frame_of
    from mihakk.machinery.lake.columns import to_table

    answers, _ = answers_of(joined)
    metrics = metrics_named(DEFAULT)
    batches = [
        scored
        for batch in to_table(answers, Answer).to_batches(max_chunksize=20_000)
        for scored in score_batch(batch, joined.benchmark.questions, metrics)
    ]
    return frame_of(pa.Table.from_batches(batches))


class Beside(NamedTuple):
    """A file's own scores of a system, beside ours."""

    system: str
    score: str
    answers: int
    theirs: float
    ours: float
    differ: int
    """Answers that one of the two takes for right and the other does not."""
    example: str
    """An item of these."""


class OwnScore(NamedTuple):
    """One score that a file itself gives an answer, beside how right it is by our reading."""

    system: str
    item: str
    score: str
    theirs: float
    ours: float


def own_scores(joined: Joined) -> Iterator[OwnScore]:
    """Every score of the files themselves."""
    for question, given in joined.answers:
        if given.own and (ours := right_by_accuracy(question, given)) is not None:
            for name, theirs in given.own.items():
                yield OwnScore(given.system, question.item, name, theirs, ours)


def beside(scores: Iterable[OwnScore]) -> list[Beside]:
    """The files' own scores from 0 to 1 beside ours, by system and score."""
    groups: dict[tuple[str, str], list[tuple[str, float, float]]] = defaultdict(list)
    for one in scores:
        groups[one.system, one.score].append((one.item, one.theirs, one.ours))
    found = []
    for (system, name), own in sorted(groups.items()):
        if not all(0 <= theirs <= 1 for _, theirs, _ in own):
            continue
        unlike = [item for item, theirs, ours in own if (theirs >= 0.5) != (ours >= 0.5)]
        theirs = sum(one for _, one, _ in own) / len(own)
        ours = sum(one for *_, one in own) / len(own)
        found.append(Beside(system, name, len(own), theirs, ours, len(unlike), unlike[0] if unlike else ""))
    return found


def right_by_accuracy(question: Question, given: Given) -> float | None:
    """1 where an answer is right by our reading, 0 where it is not; None for explanations and programs."""
    from mihakk.evaluation.metrics.metric import METRICS, Case
    from mihakk.evaluation.reading import read

    name = {"choice": "exact_set" if question.multiple else "accuracy", "answer": "exact"}.get(question.kind)
    if name is None:
        return None
    one = _light(question, given)
    reading = read(question, one.method, one.reply, one.likelihoods, cut=one.finish_reason == "length")
    if one.error or not reading.found:
        return 0.0
    return METRICS.get(name).score([Case(question, reading, one.reply, one.likelihoods)])[0].value


def folder_name(system: str) -> str:
    """A system's name as a folder may be called."""
    return re.sub(r"[^\w.-]+", "-", system).strip(".") or "unknown"
