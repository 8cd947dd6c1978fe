"""MD04: a poet's era is that of the handbooks."""

from mihakk.errors import RecordRejected
from mihakk.taxonomy import vocabulary
from schemas.poem import Poem
from validators.checks.check import Objection, Objections, check
from validators.checks.known_poets import Described, labels


@check("MD04", severity="flag", on=Described, title="the era fits the poet")
def poet_table(subject: Described) -> Objections:
    """The era is the one the table of poets gives, or one that overlaps it; unknown poets say nothing."""
    if not isinstance(subject, Poem) and "era" not in subject.metadata:
        return
    said = {kind: (label, where) for kind, label, where in labels(subject)}
    poets, eras = vocabulary("poet", subject.language), vocabulary("era", subject.language)
    if "poet" not in said or "era" not in said or poets is None or eras is None:
        return
    try:
        known = poets.entries[poets.match(said["poet"][0])].get("era", "")
    except RecordRejected:
        return
    era, where = said["era"]
    if known and era in eras.entries and era != known and era not in eras.entries[known].get("overlaps", ()):
        yield Objection(f"{said['poet'][0]} is of the era {known!r}, not {era!r}", where)
