"""MD01 and MD04: labels come from the taxonomies, and a poet's era is that of the handbooks."""

from collections.abc import Iterator
from typing import Literal

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.taxonomy import vocabulary
from mihakk.schemas.item import Item
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check

Described = Item | Poem
Label = Literal["era", "genre", "metre", "poet"]


@check("MD01", severity="flag", on=Described, title="era, genre and metre are in the taxonomy")
def taxonomy(subject: Described) -> Objections:
    """Every era, genre and metre is an entry of its language's reference table, under its identifier."""
    for kind, label, where in _labels(subject):
        table = vocabulary(kind, subject.language) if kind != "poet" else None
        if table is None or label in table.entries:
            continue
        try:
            yield Objection(f"{kind} {label!r} is {table.match(label)!r} in the reference table", where)
        except RecordRejected as error:
            yield Objection(error.detail, where)


@check("MD04", severity="flag", on=Described, title="the era fits the poet")
def poet_table(subject: Described) -> Objections:
    """The era is the one the table of poets gives, or one that overlaps it; unknown poets say nothing."""
    said = {kind: (label, where) for kind, label, where in _labels(subject)}
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


def _labels(subject: Described) -> Iterator[tuple[Label, str, str]]:
    """(kind, label, field) of each label given; of items only where they name a poet or a metre."""
    rows: list[tuple[Label, str, str]]
    if isinstance(subject, Poem):
        rows = [
            ("poet", subject.poet, "poet"),
            ("era", subject.era, "era"),
            ("genre", subject.genre, "genre"),
        ]
        rows += [("metre", one.metre, f"sections[{one.index}].metre") for one in subject.sections]
    # The genre of an idiom is `idiom` or `proverb`: another table.
    elif (facts := subject.metadata) and (facts.get("poet") or facts.get("metre")):
        kinds: tuple[Label, ...] = ("poet", "era", "genre", "metre")
        rows = [(kind, facts.get(kind, ""), f"metadata.{kind}") for kind in kinds]
    else:
        return
    yield from (row for row in rows if row[1])
