"""LK02: no short answer stands in its own prompt."""

from schemas.item import QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.leak.long_answer import LEAST_WORDS, prompts
from validators.checks.texts import Texts, answers, excerpt, wrong
from validators.checks.word_runs import contains

LEAST_LETTERS = 4


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
        for where, text in prompts(item):
            prompt = texts.folded(text)
            if not contains(prompt, folded):
                continue
            if not any(contains(prompt, texts.folded(other)) for other in wrong(item)):
                yield Objection(f"the answer {excerpt(answer)} stands in the {where}", where)
