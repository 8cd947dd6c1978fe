"""DU02: splits share nothing."""

from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.gathering import split_of
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import excerpt


@check("DU02", severity="block", on=Item, title="no copy and no source record in another split")
def across_splits(item: Item, index: SetIndex) -> Objections:
    """Neither this item nor a record it was taken from stands in another split as well."""
    split = split_of(item)
    if not split:
        return
    for name in index.equal.get(item.id, ()):
        other = index.prints[name]
        if other.split and other.split != split:
            yield Objection(f"{name} of split {other.split!r} is the same item: {excerpt(item.question)}")
    for record in item.origin.records:
        splits = index.split_of_records.get(record, ())
        if splits:
            yield Objection(f"record {record} stands behind items of the splits {', '.join(splits)}")
