"""What an aldiwan poem says, whatever form it was read from, and the checks it must pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mihakk.machinery.errors import RecordRejected
from mihakk.schemas.poem import Section
from mihakk.schemas.record import Provenance
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.source import Entry
from mihakk.scrapers.verse import Arrangement, arrange, as_lines, poem


@dataclass
class Read:
    """A poem as one of the readers found it."""

    number: str
    title: str
    poet: str
    hemistichs: list[str] = field(default_factory=list)
    """Of a poem in two columns."""
    lines: list[str] = field(default_factory=list)
    """Of free verse and prose poems."""
    units: list[tuple[str, str | None]] = field(default_factory=list)
    """Couplets that the page itself holds together."""
    labels: dict[str, str] = field(default_factory=dict)
    rhyme: str = ""
    declared: int | None = None


def record(read: Read, provenance: Provenance) -> Iterator[Entry]:
    """The poem, or the reason why it can't be used."""
    identifier = f"aldiwan-{read.number}"
    rows = [*read.hemistichs, *read.lines, *(f"{a}\n{b or ''}" for a, b in read.units)]
    yield from rejecting(identifier, _record(read, identifier, provenance), "\n".join(rows))


def _record(read: Read, identifier: str, provenance: Provenance) -> Iterator[Entry]:
    if read.units:
        found = Arrangement(read.units)
    elif read.hemistichs:
        found = arrange(read.hemistichs, "ar", read.declared)
    else:
        found = as_lines(read.lines)
    units = found.units
    if not units:
        raise RecordRejected("verses_missing", "the page holds no verse")
    # A site may count the rows of a note as verse.
    counts = range(len(units), len(units) + (len(found.dropped) + 1) // 2 + 1)
    if found.kind == "couplet" and read.declared is not None and read.declared not in counts:
        raise RecordRejected(
            "count_differs", f"the page declares {read.declared} couplets and holds {len(units)}"
        )
    form = read.labels.get("form") or found.labels.get("form_found", "")
    yield from poem(
        identifier,
        found,
        language="ar",
        title=read.title,
        poet=read.poet,
        sections=(Section(index=0, rhyme=read.rhyme, form=form),),
        declared_couplets=read.declared,
        source_labels=read.labels | found.labels,
        provenance=provenance,
    )
