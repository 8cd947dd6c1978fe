"""TX25: a question begins with its first word."""

import re

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import excerpt

# A number alone opens a sum; behind it a letter, and before that a point or bracket, are a list's.
MARK = re.compile(
    r"\s*(?:س\s*[\d٠-٩]+\s*[:/.)-]|[.·•▪●*–-]\s*+[\d٠-٩]{0,3}\s*+(?=[ء-ي])|[(\[]?[\d٠-٩]{1,3}\s*[.)\]/–-]+\s*(?=[ء-ي])"
    r"|السؤال\s+[\d٠-٩]+\s*[:.-]|Q\d+\s*[:.)])"
)


@check("TX25", severity="report", on=QuestionItem, title="no list mark opens a question")
def list_mark(item: QuestionItem) -> Objections:
    """No question begins with its number or bullet in the paper it was taken from: `س3:`, `12-`, `•`."""
    found = MARK.match(item.question)
    if found and found[0].strip() and not _goes_on(found[0], item.question[found.end() :]):
        yield Objection(
            f"the question begins with a list's mark: {excerpt(item.question[: found.end() + 12])}",
            "question",
        )


def _goes_on(mark: str, rest: str) -> bool:
    """Whether the list that the question opens with is its own: `1) ... 2) ...`."""
    number = re.search(r"\d+", mark)
    return number is not None and re.search(rf"\b{int(number[0]) + 1}\s*[.)\]/–-]", rest) is not None
