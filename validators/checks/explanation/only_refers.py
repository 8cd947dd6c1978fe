"""EX01: an explanation explains."""

import re
from collections.abc import Iterator

from schemas.idiom import Idiom
from schemas.item import AnswerItem, ExplanationItem
from schemas.poem import Poem
from validators.checks.check import Objection, check
from validators.checks.explanation.explained import explained
from validators.checks.texts import excerpt

# A pointer, what it points at in quotation marks or behind a colon, and nothing more than `etc.` and a place.
REFERS = re.compile(
    r"\s*[(«\"]?(?:و?انظره?|و?راجع|و?ينظر|و?يراجع|تقدم|سبق|رجوع شود به|رجوع کنید به|نگاه کنید به"
    r"|ن\.?ک\.?|رک\.?|[Ss]ee(?: also)?)\s*(?:في\s+\S+\s*)?"
    r"(?::\s*\S.{0,60}|[«\"“'(][^»\"”')]{1,60}[»\"”')](?:\s*(?:و|،|,|إلخ|الخ|…|\.|في)\s*[^\s]*){0,4})\s*",
    re.DOTALL,
)
_STARTS = (
    "انظر",
    "وانظر",
    "راجع",
    "وراجع",
    "ينظر",
    "يراجع",
    "تقدم",
    "سبق",
    "رجوع",
    "نگاه",
    "ن",
    "رک",
    "See",
    "see",
)


@check(
    "EX01",
    severity="flag",
    on=(Idiom, Poem, ExplanationItem, AnswerItem),
    title="no explanation that only points elsewhere",
)
def only_refers(subject: Idiom | Poem | ExplanationItem | AnswerItem) -> Iterator[Objection]:
    """No explanation made of nothing but a reference to another entry (`see: ...`)."""
    for where, _, explanation in explained(subject):
        if explanation.lstrip(' \t\n(«"').startswith(_STARTS) and REFERS.fullmatch(explanation):
            yield Objection(f"only points to another entry: {excerpt(explanation)}", where)
