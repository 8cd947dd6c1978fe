"""Answers of systems that ran elsewhere, from a file of replies or from lm-eval's samples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from mihakk.configs import misfits
from mihakk.errors import UsageError, no_file
from schemas.evaluation import Answer, AnsweredBy, AskedItem, Question

_FIELDS: Final = (
    *("reply", "reasoning", "finish_reason", "likelihoods", "error", "variant", "repeat"),
    *("tokens_in", "tokens_out", "cost", "prompt_digest"),
)
"""What a line of replies may say besides the item's id."""


class Imported(NamedTuple):
    """Answers, and the items that have none."""

    answers: list[Answer]
    missing: list[str]


def import_answers(path: Path, questions: Mapping[str, Question], by: AnsweredBy) -> Imported:
    """Replies from JSON lines: `item` (or `id`) and `reply`, with anything else an answer holds.

    Raises:
        UsageError: A line is no JSON object, names an unknown item or field, or answers one twice.
    """
    answers = []
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        item = line.pop("item", None) or line.pop("id", None)
        unknown = sorted(line.keys() - set(_FIELDS))
        if unknown:
            raise UsageError(f"{where}: unknown field {unknown[0]!r}; there are: item, {', '.join(_FIELDS)}")
        if "reply" not in line and "likelihoods" not in line and "error" not in line:
            raise UsageError(
                f"{where}: neither reply, likelihoods nor error; an empty reply is written as one"
            )
        answers.append(_answer(str(item), line, questions, by, where))
    return _complete(answers, questions, path)


def import_lm_eval(path: Path, questions: Mapping[str, Question], by: AnsweredBy) -> Imported:
    """Answers from lm-eval's `samples_<task>_<time>.jsonl` over the task files of a release.

    A sample with one likelihood per label is taken as `likelihood`, any other as `written`. Where lm-eval
    filtered the replies in several ways, the first one's lines are taken.

    Raises:
        UsageError: The file is no such file, its items are not those of the questions, or labels were
            compared behind another delimiter.
    """
    answers = []
    first = None
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            item, replies, name = str(line["doc"]["id"]), line["resps"], line.get("filter")
        except (KeyError, TypeError) as error:
            raise UsageError(f"{where}: not a sample of lm-eval over a release of ours ({error})") from error
        first = first or name
        if name != first:
            continue
        found = _lm_eval_reply(replies, where)
        method = "likelihood" if "likelihoods" in found else "written"
        own = by.model_copy(update={"method": method})
        content = line["doc"].get("content_hash")
        question = questions.get(item)
        if question and content and content != question.content_hash:
            raise UsageError(f"{where}: {item} was asked from another version of {question.release}")
        if question and method == "likelihood":
            _same_delimiter(line.get("arguments"), question, where)
        answers.append(_answer(item, found, questions, own, where))
    return _complete(answers, questions, path)


def _same_delimiter(arguments: Any, question: Question, where: str) -> None:
    """Refuses labels that stood behind another delimiter: a space alone moves accuracies by ten points."""
    if not isinstance(arguments, dict):
        return
    pairs = (arguments.get(f"gen_args_{place}") for place in range(len(question.labels)))
    given = [pair.get("arg_1") if isinstance(pair, dict) else None for pair in pairs]
    for text, label in zip(given, question.labels, strict=True):
        if isinstance(text, str) and text != label:
            raise UsageError(
                f"{where}: the likelihood of {text!r} was asked for, and the release asks for {label!r}: "
                "run its own task files, with their `target_delimiter`, as they are"
            )


def _lm_eval_reply(replies: Any, where: str) -> dict[str, Any]:
    try:
        if replies and all(isinstance(one[0], list) for one in replies):
            return {"likelihoods": tuple(float(one[0][0]) for one in replies)}
        return {"reply": str(replies[0][0])}
    except (IndexError, TypeError, ValueError) as error:
        raise UsageError(f"{where}: `resps` holds neither likelihoods nor a reply") from error


def _answer(
    item: str, line: Mapping[str, Any], questions: Mapping[str, Question], by: AnsweredBy, where: str
) -> Answer:
    question = questions.get(item)
    if question is None:
        raise UsageError(f"{where}: there is no item {item!r} among the {len(questions):,} questions")
    likelihoods = line.get("likelihoods")
    if likelihoods and len(likelihoods) != len(question.labels):
        raise UsageError(
            f"{where}: {len(likelihoods)} likelihoods for {len(question.labels)} options of {item}"
        )
    facts = {name: getattr(question, name) for name in AskedItem.model_fields}
    try:
        return Answer.model_validate(facts | by.model_dump() | dict(line))
    except ValidationError as error:
        raise UsageError(f"{where}: {misfits(error, Answer)}") from error


def _complete(answers: list[Answer], questions: Mapping[str, Question], path: Path) -> Imported:
    keys = Counter((one.item, one.method, one.variant, one.repeat) for one in answers)
    if twice := [key[0] for key, count in keys.items() if count > 1]:
        raise UsageError(
            f"{path} answers {twice[0]} twice: number repeats by `repeat`, other wordings by `variant`"
        )
    answered = {one.item for one in answers}
    return Imported(answers, [item for item in questions if item not in answered])


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise no_file(path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read as UTF-8 text: {error}; name another file") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:  # too many digits or levels too
            raise UsageError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(value, dict):
            raise UsageError(f"{path}, line {number}: not a JSON object")
        yield number, value
