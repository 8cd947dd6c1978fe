"""LK01 and LK02: no answer stands in its own prompt."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from math import ceil

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, answers, excerpt, wrong

LEAST_WORDS = 3
"""Words of an answer that is no short one."""
SHARE = 0.75
"""Part of the answer's words that stand in one run in the prompt."""
LEAST_LETTERS = 4
"""Of a short one."""


@check(
    "LK01",
    severity="block",
    on=QuestionItem,
    title="an answer of several words does not stand in the question or context",
)
def long_answer(item: QuestionItem, texts: Texts) -> Objections:
    """No run of three quarters of the answer's words stands in the question or a generated item's context.

    A question that holds a wrong option as fully names what is on offer; the context of an outside
    benchmark may be the passage that the answer is to be found in.
    """
    for answer in answers(item):
        words = texts.words(answer)
        if len(words) < LEAST_WORDS:
            continue
        needed = max(LEAST_WORDS, ceil(SHARE * len(words)))
        # Words in the middle of the answer belong to every run that long.
        middle = " ".join(words[len(words) - needed : needed])
        for where, text in _prompts(item):
            if middle not in texts.folded(text):
                continue
            prompt = _unscrambled(words, text, texts)
            share = longest_run(words, prompt) / len(words)
            if share * len(words) < needed:
                continue
            if not any(_stands(texts.words(other), prompt, share) for other in wrong(item)):
                yield Objection(f"the answer {excerpt(answer)} stands in the {where}", where)


@check(
    "LK02",
    severity="flag",
    on=QuestionItem,
    title="an answer of one or two words does not stand in the question or context",
)
def short_answer(item: QuestionItem, texts: Texts) -> Objections:
    """No answer of one or two words, four letters at least, stands in the prompt where no wrong option does.

    People decide: a word may well return in the question that asks for it (`the capital of Kuwait`).
    """
    for answer in answers(item):
        folded = texts.folded(answer)
        if not folded or folded.count(" ") >= LEAST_WORDS - 1 or len(folded) < LEAST_LETTERS:
            continue
        for where, text in _prompts(item):
            prompt = texts.folded(text)
            if not contains(prompt, folded):
                continue
            if not any(contains(prompt, texts.folded(other)) for other in wrong(item)):
                yield Objection(f"the answer {excerpt(answer)} stands in the {where}", where)


def _prompts(item: QuestionItem) -> list[tuple[str, str]]:
    """(field, text) of the texts that must not hold the answer."""
    if item.context and item.origin.generator != "external":
        return [("question", item.question), ("context", item.context)]
    return [("question", item.question)]


def _unscrambled(words: list[str], text: str, texts: Texts) -> list[str]:
    """The text's words but for lines of the answer's in another order: the task is to put them right."""
    if "\n" not in text:
        return texts.words(text)
    lines = (texts.words(line) for line in text.splitlines())
    return [word for line in lines if line == words or sorted(line) != sorted(words) for word in line]


def _stands(words: list[str], prompt: list[str], share: float) -> bool:
    """Whether so much of the words stands in the prompt in one run."""
    return bool(words) and longest_run(words, prompt) >= share * len(words)


def longest_run(answer: Sequence[str], text: Sequence[str]) -> int:
    """Length in words of the longest run of `answer` that occurs in `text`."""
    return SequenceMatcher(None, text, answer, autojunk=False).find_longest_match().size


def contains(text: str, answer: str) -> bool:
    """Whether the folded `answer` stands in the folded `text` as whole words."""
    return bool(answer) and answer in text and f" {answer} " in f" {text} "
