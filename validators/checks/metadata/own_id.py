"""MD06: a row is known by its id."""

from schemas.item import QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.gathering import split_of
from validators.checks.setindex import SetIndex


@check("MD06", severity="report", on=QuestionItem, title="no other row has the same id")
def own_id(item: QuestionItem, index: SetIndex) -> Objections:
    """No other row of an outside benchmark's subset and split has the id that its own column gives."""
    name = item.metadata.get("id", "")
    if name and (item.subset, split_of(item), name) in index.repeated_ids:
        yield Objection(f"the id {name!r} stands at several rows", "metadata.id")
