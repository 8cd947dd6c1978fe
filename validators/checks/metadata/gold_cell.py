"""MD08: a gold is written as all golds of its table are."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check


@check("MD08", severity="report", on=QuestionItem, title="the gold is written as its table writes it")
def gold_cell(item: QuestionItem) -> Objections:
    """No stray space around a gold, no bare alef among golds with a hamza: some compare to the letter."""
    cell = item.metadata.get("gold_cell", "")
    if cell:
        yield Objection(f"the gold cell holds {cell!r}; the table's others are written otherwise", "gold")
