"""SE02: what a sentence says of a whole people or sex, people look at."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.lexicon import stereotypes
from mihakk.validators.checks.texts import Texts, excerpt, is_outside


@check(
    "SE02",
    severity="report",
    on=QuestionItem,
    needs=("stereotypes.groups",),
    title="nothing is said of a whole people or sex unseen by people",
)
def stereotype(item: QuestionItem, texts: Texts) -> Objections:
    """No rule, trait or habit of all women, men or members of a nation in a row of an outside benchmark.

    Counted, never a verdict: law, grammar, statistics and history say so with good reason (QIMMA, 4.1). The
    passage of a question says what its author thought.
    """
    if not is_outside(item):
        return
    for mine in texts.by_language():
        for _, phrase in stereotypes(mine.language).spoken(mine.vocabulary, mine.whole):
            yield Objection(f"said of a whole people or sex: {excerpt(phrase)}", "")
