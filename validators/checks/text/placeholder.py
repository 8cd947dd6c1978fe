"""TX02 and TX23: no field waits to be filled in, and no answer reads as if it did."""

from functools import cache

from mihakk.machinery.languages import languages, pack
from mihakk.machinery.text import words_key
from mihakk.schemas.item import ChoiceItem, QuestionItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Checked, Objection, Objections, check
from mihakk.validators.checks.lexicon import placeholders
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts, answers, excerpt, is_outside, wrong

LONGEST = 24
WORDY = 0.95
"""Share of a task's right answers that are texts of three words or more from which a short one stands out."""
LEAST_WORDS = 3


@cache
def natural(language: Language) -> frozenset[str]:
    """Words that can well be the answer to a question: `none`, `unknown`, `Na` for sodium."""
    of = {language, *languages("items")}
    return frozenset(words_key(word, one) for one in of for word in pack(one).natural)


@check("TX02", severity="flag", needs=("placeholders",), title="no placeholder in place of a text")
def placeholder(subject: Checked, texts: Texts) -> Objections:
    """No field that holds a placeholder and nothing else (`null`, `N/A`, `TODO`, `---`).

    An option or answer may be a word like `none`, and a sign where other options are signs as well.
    """
    signs = (
        isinstance(subject, ChoiceItem) and sum(not texts.folded(option) for option in subject.options) > 1
    )
    for mine in texts.by_language():
        yield from _placeholders(mine, asked=isinstance(subject, QuestionItem), signs=signs)


def _placeholders(texts: Texts, *, asked: bool, signs: bool) -> Objections:
    known = placeholders(texts.language)
    if known.words.isdisjoint(texts.folds) and all(texts.folds):
        return
    for where, text in texts.parts:
        if len(text) > LONGEST or where == "title":
            continue
        folded = texts.folded(text)
        is_answer = asked and where not in ("question", "context")
        word = folded in known.words and not (is_answer and folded in natural(texts.language))
        sign = not folded and not (is_answer and signs) and known.symbolic(text)
        if word or sign:
            yield Objection(f"a placeholder: {excerpt(text)}", where)


@check(
    "TX23",
    severity="flag",
    on=QuestionItem,
    needs=("natural",),
    title="no answer reads like a missing value among longer ones",
)
def placeholder_answer(item: QuestionItem, texts: Texts, index: SetIndex) -> Objections:
    """No right answer is a word like `none` where the other answers are texts of several words.

    The others are the wrong options of the item, or the right answers of its task: among names and numbers
    such a word may well be the answer. In generated choices it never is; in outside ones it mostly was, so
    that it is only counted.
    """
    for answer in answers(item):
        if texts.folded(answer) not in natural(item.language_of("gold")):
            continue
        others = wrong(item)
        made = not is_outside(item) and isinstance(item, ChoiceItem)
        beside = bool(others) and all(len(texts.words(other)) >= LEAST_WORDS for other in others)
        if made or beside or index.wordy.get(item.task, 0.0) >= WORDY:
            yield Objection(f"reads like a missing value: {excerpt(answer)}", "gold", is_outside(item))
