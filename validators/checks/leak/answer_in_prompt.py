"""LK01 and LK02: no answer stands in its own prompt."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from math import ceil

from mihakk.machinery.text.comparison import holds_signs
from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.restated import stem
from mihakk.validators.checks.texts import Texts, answers, excerpt, is_outside, wrong

LEAST_WORDS = 3
"""Words of an answer that may stand there in part."""
SHARE = 0.75
"""Part of such an answer's words that stand in one run in the prompt."""
LEAST_IN_PART = 5
"""Such words in an outside benchmark: three of `the fallacy of accident` are what many questions hold."""
LEAST_LETTERS = 4
"""Of an answer of one word."""
PASSAGE = 40
"""Words of an outside question from which it brings the passage that it asks about."""


@check(
    "LK01",
    severity="flag",
    on=QuestionItem,
    title="an answer of several words does not stand in the question or context",
)
def long_answer(item: QuestionItem, texts: Texts) -> Objections:
    """No answer of two words, nor three quarters of a long one, stands in the question or a made context.

    A question that holds a wrong option as fully names what is on offer. In an outside benchmark the context
    or a long question may be the passage that the answer is to be found in; a quantity or formula is what the
    question starts from; and a question that holds half of a wrong option's words speaks of all options.
    """
    outside = is_outside(item)
    if outside and len(texts.words(item.question)) > PASSAGE:
        return
    for answer in answers(item):
        words = texts.words(answer)
        if len(words) < 2:
            continue
        whole = len(words) < LEAST_WORDS or (outside and len(words) < LEAST_IN_PART)
        needed = len(words) if whole else max(LEAST_WORDS, ceil(SHARE * len(words)))
        # Words in the middle of the answer belong to every run that long.
        middle = " ".join(words[len(words) - needed : needed])
        for where, text in _prompts(item):
            if middle not in texts.folded(text):
                continue
            if outside and holds_signs(answer, item.language_of("gold")):
                continue
            prompt = _unscrambled(words, text, texts)
            run = longest_run(words, prompt)
            if run < needed:
                continue
            share = run / len(words)
            if any(_stands(texts.words(other), prompt, share) for other in wrong(item)):
                continue
            if not outside or not any(_named(other, prompt, texts) for other in wrong(item)):
                held = " ".join(words) if run == len(words) else f"{run} of its {len(words)} words"
                yield Objection(f"the answer {excerpt(answer)} stands in the {where}: {excerpt(held)}", where)


@check(
    "LK02",
    severity="flag",
    on=QuestionItem,
    title="an answer of one word does not stand in the question or context",
)
def short_answer(item: QuestionItem, texts: Texts) -> Objections:
    """No answer of one word, four letters at least, stands in the prompt where no wrong option does.

    A word may well return in the question that asks for it (`the capital of Kuwait`): people decide, and in
    an outside benchmark it is only counted.
    """
    for answer in answers(item):
        folded = texts.folded(answer)
        if not folded or " " in folded or len(folded) < LEAST_LETTERS:
            continue
        for where, text in _prompts(item):
            prompt = texts.folded(text)
            if not contains(prompt, folded):
                continue
            if not any(contains(prompt, texts.folded(other)) for other in wrong(item)):
                yield Objection(
                    f"the answer {excerpt(answer)} stands in the {where}", where, is_outside(item)
                )


def _named(option: str, prompt: list[str], texts: Texts) -> bool:
    """Whether the prompt holds half of an option's words, wherever."""
    words = {stem(word) for word in texts.words(option)}
    return bool(words) and 2 * len(words.intersection(map(stem, prompt))) >= len(words)


def _prompts(item: QuestionItem) -> list[tuple[str, str]]:
    """(field, text) of the texts that must not hold the answer."""
    if item.context and not is_outside(item):
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
