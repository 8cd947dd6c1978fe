"""QU01: what a question points at is there."""

import re

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.lexicon import referring_cues
from mihakk.validators.checks.texts import Texts, excerpt

PERIODIC = "الدوري"
_ANATOMY = (
    "ضلع ضلوع الضلوع الاضلاع العمود الفقري الفقرى فقري القص عظم عظام عظمه العظام العظميه النتوء "
    "النتواءات العنقيه الظهريه القطنيه العجزيه العصعصيه عنقيه ظهريه قطنيه الحوض الجمجمه الراس "
    "الغضاريف غضروف الحبل الشوكي"
)
ANATOMY = frozenset(_ANATOMY.split())
"""Words among which a `فقرة` is a vertebra, not a paragraph."""
LONG = 32
"""Words of a question that may hold the passage it speaks of without any sign."""
CELLS = 3
"""Numbers of a question that are a table in one line."""
_SENTENCE = re.compile(r"(?<=[.!?؟؛\n])\s+")
_QUOTED = re.compile(r"[«\"“({\[]([^»\"”)}\]]{0,200}+)[»\"”)}\]]|[:؟?\n](.*)", re.DOTALL)


@check(
    "QU01", severity="flag", on=QuestionItem, needs=("cues",), title="what the question points at is there"
)
def missing_reference(item: QuestionItem, texts: Texts) -> Objections:
    """No question without context points at a table, passage, picture or figure.

    The phrases are those that point (`the table below`), not the nouns (`the periodic table`). A passage or
    marked word may stand in the question: in quotation marks, behind a colon, or on a line of its own. Of a
    question that brings its passage the last sentence asks; what the passage speaks of is not asked for.
    """
    cues = referring_cues(item.language)
    if item.context or cues.anchors.isdisjoint(texts.vocabulary):
        return
    question = texts.folded(item.question)
    if question.count(" ") >= LONG:
        question = texts.folded(_SENTENCE.split(item.question.strip())[-1])
    named: set[str] = set()
    for kind, phrase in cues.spoken(question.split(), question):
        if kind in named or f"{phrase} {PERIODIC}" in question:
            continue
        if kind == "passage" and phrase.startswith("الفقره") and not ANATOMY.isdisjoint(texts.vocabulary):
            continue
        if kind == "table" and _tabular(item.question):
            continue
        if kind in ("passage", "line", "marked") and _inside(item.question, texts):
            continue
        named.add(kind)
        yield Objection(f"points at a {kind} that is not there: {excerpt(phrase)}", "question")


def _tabular(question: str) -> bool:
    """Whether the question holds cells of a table, perhaps in one line."""
    return not {"|", "\t", "\n"}.isdisjoint(question) or sum(map(str.isdecimal, question.split())) >= CELLS


def _inside(question: str, texts: Texts) -> bool:
    """Whether the question holds a text of its own to speak of."""
    parts = ("".join(filter(None, match)) for match in _QUOTED.findall(question))
    return any(len(texts.words(part)) >= 3 for part in parts) or len(texts.words(question)) >= LONG
