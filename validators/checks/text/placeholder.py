"""TX02: no field waits to be filled in."""

from mihakk.text import words_key
from schemas.item import ChoiceItem, QuestionItem
from schemas.record import Language
from validators.checks.check import Checked, Objection, Objections, check
from validators.checks.lexicon import placeholders
from validators.checks.texts import Texts, excerpt

LONGEST = 24
_NATURAL: dict[Language, str] = {
    "ar": "لا يوجد|لا توجد|لا شيء|لا شئ|غير موجود|غير معروف|غير محدد|مجهول|فارغ|بدون|غير متاح|غير متوفر"
    "|غير مذكور|لم يذكر",
    "fa": "ندارد|وجود ندارد|موجود نیست|نامشخص|نامعلوم|ناشناس|خالی|تهی|ذکر نشده",
    "en": "none|nil|unknown|missing|empty|blank|na|test|string|untitled|no answer|not available|undefined",
}
NATURAL = frozenset(
    words_key(word, language) for language, words in _NATURAL.items() for word in words.split("|")
)
"""Words that can well be the answer to a question: `none`, `unknown`, `Na` for sodium."""


@check("TX02", severity="block", title="no placeholder in place of a text")
def placeholder(subject: Checked, texts: Texts) -> Objections:
    """No field that holds a placeholder and nothing else (`null`, `N/A`, `TODO`, `---`).

    An option or answer may be a word like `none`, and a sign where other options are signs as well.
    """
    known = placeholders(texts.language)
    if known.words.isdisjoint(texts.folds) and all(texts.folds):
        return
    answers = isinstance(subject, QuestionItem)
    signs = (
        isinstance(subject, ChoiceItem) and sum(not texts.folded(option) for option in subject.options) > 1
    )
    for where, text in texts.parts:
        if len(text) > LONGEST or where == "title":
            continue
        folded = texts.folded(text)
        is_answer = answers and where not in ("question", "context")
        word = folded in known.words and not (is_answer and folded in NATURAL)
        sign = not folded and not (is_answer and signs) and known.symbolic(text)
        if word or sign:
            yield Objection(f"a placeholder: {excerpt(text)}", where)
