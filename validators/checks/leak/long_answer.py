"""LK01: no long answer stands in its own prompt."""

from math import ceil

from schemas.item import QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.texts import Texts, answers, excerpt, wrong
from validators.checks.word_runs import longest_run

LEAST_WORDS = 3
SHARE = 0.75
"""Part of the answer's words that stand in one run in the prompt."""


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
        for where, text in prompts(item):
            if middle not in texts.folded(text):
                continue
            prompt = _unscrambled(words, text, texts)
            share = longest_run(words, prompt) / len(words)
            if share * len(words) < needed:
                continue
            if not any(_stands(texts.words(other), prompt, share) for other in wrong(item)):
                yield Objection(f"the answer {excerpt(answer)} stands in the {where}", where)


def _unscrambled(words: list[str], text: str, texts: Texts) -> list[str]:
    """The text's words but for lines of the answer's in another order: the task is to put them right."""
    if "\n" not in text:
        return texts.words(text)
    lines = (texts.words(line) for line in text.splitlines())
    return [word for line in lines if line == words or sorted(line) != sorted(words) for word in line]


def _stands(words: list[str], prompt: list[str], share: float) -> bool:
    """Whether so much of the words stands in the prompt in one run."""
    return bool(words) and longest_run(words, prompt) >= share * len(words)


def prompts(item: QuestionItem) -> list[tuple[str, str]]:
    """(field, text) of the texts that must not hold the answer."""
    if item.context and item.origin.generator != "external":
        return [("question", item.question), ("context", item.context)]
    return [("question", item.question)]
