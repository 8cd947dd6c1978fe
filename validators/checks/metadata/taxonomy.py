"""MD01: labels come from the taxonomies."""

from mihakk.errors import RecordRejected
from mihakk.taxonomy import vocabulary
from validators.checks.check import Objection, Objections, check
from validators.checks.known_poets import Described, labels


@check("MD01", severity="flag", on=Described, title="era, genre and metre are in the taxonomy")
def taxonomy(subject: Described) -> Objections:
    """Every era, genre and metre is an entry of its language's reference table, under its identifier."""
    for kind, label, where in labels(subject):
        table = vocabulary(kind, subject.language) if kind != "poet" else None
        if table is None or label in table.entries:
            continue
        try:
            yield Objection(f"{kind} {label!r} is {table.match(label)!r} in the reference table", where)
        except RecordRejected as error:
            yield Objection(error.detail, where)
