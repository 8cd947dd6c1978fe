"""What items and poems say of a text, in one form."""

from collections.abc import Iterator
from typing import Literal

from schemas.item import Item
from schemas.poem import Poem

Described = Item | Poem
Label = Literal["era", "genre", "metre", "poet"]


def labels(subject: Described) -> Iterator[tuple[Label, str, str]]:
    """(kind, label, field) of each label given; of items only where they name a poet or a metre."""
    if isinstance(subject, Poem):
        yield from _filled(("poet", subject.poet, "poet"), ("era", subject.era, "era"))
        yield from _filled(("genre", subject.genre, "genre"))
        for section in subject.sections:
            yield from _filled(("metre", section.metre, f"sections[{section.index}].metre"))
        return
    facts = subject.metadata
    # The genre of an idiom is `idiom` or `proverb`: another table.
    if facts.get("poet") or facts.get("metre"):
        kinds: tuple[Label, ...] = ("poet", "era", "genre", "metre")
        for kind in kinds:
            yield from _filled((kind, facts.get(kind, ""), f"metadata.{kind}"))


def _filled(*rows: tuple[Label, str, str]) -> Iterator[tuple[Label, str, str]]:
    return (row for row in rows if row[1])
