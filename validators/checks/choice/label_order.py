"""CH10: labels that stand inside options agree with their places."""

import re

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check

LABEL = re.compile(r"\s*+[(\[]?\s*+([A-Ja-j]|[أابجدهوزحط]|[1-9١-٩])\s*[-.):\]–]\s*(?=[^\W\d])")
ORDERS = ("abcdefghij", "ابجدهوزحط", "123456789", "١٢٣٤٥٦٧٨٩")


@check("CH10", severity="flag", on=ChoiceItem, title="labels inside options agree with their places")
def label_order(item: ChoiceItem) -> Objections:
    """Where all options begin with a label of one list (`أ-`, `B.`), the first has the first, and so on.

    Options of a list that was shuffled with its labels read `D` where the question says `A`.
    """
    if len(item.options) < 3 or LABEL.match(item.options[0]) is None:
        return
    matches = [LABEL.match(option) for option in item.options]
    labels = [match[1].casefold().replace("أ", "ا") for match in matches if match]
    if len(labels) < len(matches):
        return
    for order in ORDERS:
        right = list(order[: len(labels)])
        if sorted(labels) == sorted(right) and labels != right:
            yield Objection(f"the options carry the labels {', '.join(labels)}", "options")
