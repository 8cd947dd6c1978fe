"""MD06: a row is known by its id."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.gathering import split_of
from mihakk.validators.checks.setindex import SetIndex


@check("MD06", severity="report", on=QuestionItem, title="no other row has the same id")
def own_id(item: QuestionItem, index: SetIndex) -> Objections:
    """No other row of an outside benchmark's subset and split has the id that its own column gives."""
    name = item.metadata.get("id", "")
    if name and (item.subset, split_of(item), name) in index.repeated_ids:
        yield Objection(f"the id {name!r} stands at several rows", "metadata.id")
