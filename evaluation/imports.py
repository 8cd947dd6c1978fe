"""Answers of systems that ran elsewhere, from a file of replies or from lm-eval's samples."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import isfinite, isnan
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from pydantic import ValidationError

from mihakk.evaluation.reading.run_on import up_to_stop
from mihakk.evaluation.stop_strings import stop_strings
from mihakk.machinery.configs import misfits, not_plain
from mihakk.machinery.errors import RecordRejected, UsageError, no_file
from mihakk.schemas.evaluation import Answer, AnsweredBy, AskedItem, Question
from mihakk.schemas.rejection import Rejection

_FIELDS: Final = (
    *("reply", "reasoning", "finish_reason", "likelihoods", "error", "variant", "repeat"),
    *("tokens_in", "tokens_out", "cost", "prompt_digest"),
)
"""What a line of replies may say besides the item's id."""


class Imported(NamedTuple):
    """Answers, lines that are none, and the items that have no answer."""

    answers: list[Answer]
    rejected: list[Rejection]
    """A line each, with its number, item and reason; every line is one of these or an answer."""
    missing: list[str]

    @property
    def share_rejected(self) -> float:
        """Share of the lines that are no answers, 0 to 1."""
        return len(self.rejected) / (len(self.answers) + len(self.rejected))


def import_answers(path: Path, questions: Mapping[str, Question], by: AnsweredBy) -> Imported:
    """Replies from JSON lines: `item` (or `id`) and `reply`, with anything else an answer holds.

    A line that is no JSON object, or names an unknown item or field, is rejected; so are all lines that give
    the same answer twice, for nobody can tell which one counts.

    Raises:
        UsageError: The file can't be read, or no line of it is an answer.
    """

    def read(line: dict[str, Any]) -> Answer:
        item = line.pop("item", None) or line.pop("id", None)
        unknown = sorted(line.keys() - set(_FIELDS))
        if unknown:
            known = ", ".join(_FIELDS)
            raise RecordRejected("unknown_field", f"unknown field {unknown[0]!r}; there are: item, {known}")
        if "reply" not in line and "likelihoods" not in line and "error" not in line:
            detail = "neither reply, likelihoods nor error; an empty reply is written as one"
            raise RecordRejected("no_reply", detail)
        return _answer(str(item), line, questions, by)

    return _read(path, questions, read)


def import_lm_eval(path: Path, questions: Mapping[str, Question], by: AnsweredBy) -> Imported:
    """Answers from lm-eval's `samples_<task>_<time>.jsonl` over the task files of a release.

    A sample with one likelihood per label is taken as `likelihood`, any other as `written`. Where lm-eval
    filtered the replies in several ways, the first one's lines are taken. A line of another form, about
    another version of an item, or whose labels were compared behind another delimiter is rejected. A reply
    ends at the first stop string that its sample logs: some servers never hear of them.

    Raises:
        UsageError: The file can't be read, or no line of it is an answer.
    """
    filters: list[Any] = []

    def read(line: dict[str, Any]) -> Answer | None:
        try:
            item, replies = str(line["doc"]["id"]), line["resps"]
        except (KeyError, TypeError) as error:
            detail = f"not a sample of lm-eval over a release of ours ({error})"
            raise RecordRejected("not_a_sample", detail) from error
        name = line.get("filter")
        if name is not None and not isinstance(name, str):
            raise RecordRejected("not_a_sample", "`filter` is no name")
        if filters and name != filters[0]:
            return None
        found = _lm_eval_reply(replies)
        if "reply" in found:
            found["reply"] = up_to_stop(found["reply"], stop_strings(line.get("arguments")))
        method = "likelihood" if "likelihoods" in found else "written"
        own = by.model_copy(update={"method": method})
        content = line["doc"].get("content_hash")
        question = questions.get(item)
        if question and content and content != question.content_hash:
            detail = f"{item} was asked from another version of {question.release}"
            raise RecordRejected("other_version", detail)
        if question and method == "likelihood":
            _same_delimiter(line.get("arguments"), question)
        answer = _answer(item, found, questions, own)
        filters.append(name)
        return answer

    return _read(path, questions, read)


def _read(
    path: Path, questions: Mapping[str, Question], read: Callable[[dict[str, Any]], Answer | None]
) -> Imported:
    """Every line of a file as an answer or a rejection; None from `read` is a line that was not wanted."""
    given: list[tuple[int, bytes, Answer]] = []
    rejected: list[Rejection] = []
    for number, data in _lines(path):
        try:
            answer = read(json_object(data))
        except RecordRejected as error:
            rejected.append(_rejection(path, number, data, error))
        else:
            given += [(number, data, answer)] if answer is not None else []
    keys = Counter(_key(answer) for *_, answer in given)
    for number, data, answer in given:
        if keys[_key(answer)] > 1:
            detail = f"{answer.item} is answered twice: number repeats by `repeat`, wordings by `variant`"
            rejected.append(_rejection(path, number, data, RecordRejected("answered_twice", detail)))
    answers = [answer for *_, answer in given if keys[_key(answer)] == 1]
    if not answers:
        told = (
            f"none of its {len(rejected):,} lines is an answer; {rejected[0].detail}" if rejected else "empty"
        )
        raise UsageError(f"{path}: {told}")
    answered = {one.item for one in answers}
    return Imported(answers, rejected, [item for item in questions if item not in answered])


def _key(answer: Answer) -> tuple[str, str, int, int]:
    return answer.item, answer.method, answer.variant, answer.repeat


def _rejection(path: Path, number: int, data: bytes, error: RecordRejected) -> Rejection:
    """What is kept of a line: all of it, under the item it names."""
    try:
        line = orjson.loads(data)
        doc = line.get("doc", line)
        item = str(doc.get("item") or doc.get("id") or "")
    except (orjson.JSONDecodeError, AttributeError):
        item = ""
    return Rejection(
        record=_storable(item) or f"line {number}",
        source=path.name,
        reason=error.reason,
        detail=_storable(f"line {number}: {error.detail}"),
        body=data.decode("utf-8", "replace"),
    )


def _same_delimiter(arguments: Any, question: Question) -> None:
    """Refuses labels that stood behind another delimiter: a space alone moves accuracies by ten points."""
    if not isinstance(arguments, dict):
        return
    pairs = (arguments.get(f"gen_args_{place}") for place in range(len(question.labels)))
    given = [pair.get("arg_1") if isinstance(pair, dict) else None for pair in pairs]
    for text, label in zip(given, question.labels, strict=True):
        if isinstance(text, str) and text != label:
            raise RecordRejected(
                "other_delimiter",
                f"the likelihood of {text!r} was asked for, and the release asks for {label!r}: "
                "run its own task files, with their `target_delimiter`, as they are",
            )


def _lm_eval_reply(replies: Any) -> dict[str, Any]:
    try:
        if not isinstance(replies, list):
            raise TypeError("no list")
        if replies and all(isinstance(one[0], list) for one in replies):
            return {"likelihoods": tuple(float(one[0][0]) for one in replies)}
        return {"reply": str(replies[0][0])}
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise RecordRejected("no_reply", "`resps` holds neither likelihoods nor a reply") from error


def _answer(item: str, line: Mapping[str, Any], questions: Mapping[str, Question], by: AnsweredBy) -> Answer:
    question = questions.get(item)
    if question is None:
        detail = f"there is no item {item!r} among the {len(questions):,} questions"
        raise RecordRejected("unknown_item", detail)
    facts = {name: getattr(question, name) for name in AskedItem.model_fields}
    try:
        answer = Answer.model_validate(facts | by.model_dump() | dict(line))
    except ValidationError as error:
        raise RecordRejected("malformed", misfits(error, Answer)) from error
    if answer.likelihoods and len(answer.likelihoods) != len(question.labels):
        detail = f"{len(answer.likelihoods)} likelihoods for {len(question.labels)} options of {item}"
        raise RecordRejected("malformed", detail)
    if isnan(sum(answer.likelihoods)) or not isfinite(answer.cost or 0.0):
        raise RecordRejected("malformed", "a likelihood or the cost is no number")
    for name, value in answer:
        if isinstance(value, int) and abs(value) >= 2**63:
            raise RecordRejected("malformed", f"{name} takes more than 64 bits")
        if isinstance(value, str) and _storable(value) != value:
            raise RecordRejected("malformed", f"{name} holds half of a surrogate pair, which is no text")
    return answer


def _storable(text: str) -> str:
    """The text with halves of surrogate pairs spelt out, which UTF-8 can't hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError as error:
        raise no_file(path) from error
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}; name another file") from error
    return ((number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip())


def json_object(data: bytes, constant: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """A line as one plain object, in which no key stands twice.

    Args:
        data: The line.
        constant: What `NaN` and `Infinity`, which are no JSON, stand for; the numbers when left out.

    Raises:
        RecordRejected: It is none.
    """
    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise RecordRejected("undecodable", f"not UTF-8 text: {error}") from error
    except (ValueError, RecursionError) as error:  # too many digits or levels too
        raise RecordRejected("not_json", f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RecordRejected("not_an_object", "not a JSON object")
    if told := not_plain(value):
        raise RecordRejected("not_plain", f"it holds {told}")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} stands twice in one object")
    return found
