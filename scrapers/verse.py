"""Hemistichs into couplets, the same way for every source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mihakk.errors import RecordRejected
from schemas.poem import Couplet, CoupletKind
from schemas.record import Form
from schemas.rejection import Rejection


def pairs(hemistichs: Sequence[str]) -> list[tuple[str, str]]:
    """Hemistichs two by two.

    Raises:
        RecordRejected: `odd_hemistichs`: one is missing or too many, so no pairing can be trusted.
    """
    if len(hemistichs) % 2:
        raise RecordRejected("odd_hemistichs", f"{len(hemistichs)} hemistichs can't be paired")
    return list(zip(hemistichs[::2], hemistichs[1::2], strict=True))


def couplets(
    poem: str, source: str, units: Iterable[tuple[str, str | None]], kind: CoupletKind = "couplet"
) -> Iterator[Couplet | Rejection]:
    """Numbered couplets of a poem; one with an empty hemistich is rejected and leaves its place free.

    Args:
        poem: Id of the poem.
        source: Name of the source, for rejections.
        units: Two hemistichs each, or one line and None.
        kind: What every unit is.
    """
    for position, (first, second) in enumerate(units):
        identifier = f"{poem}:{position}"
        if not first.strip() or (second is not None and not second.strip()):
            yield Rejection(
                record=identifier,
                source=source,
                reason="hemistich_empty",
                detail=f"couplet {position + 1} has an empty hemistich",
                body=f"{first}\n{second or ''}",
            )
            continue
        yield Couplet(
            id=identifier,
            position=position,
            kind=kind if second is not None or kind != "couplet" else "line",
            first=Form(raw=first),
            second=None if second is None else Form(raw=second),
        )


def split(entries: Iterable[Couplet | Rejection]) -> tuple[tuple[Couplet, ...], tuple[Rejection, ...]]:
    """Couplets and rejections apart, each in order."""
    kept: list[Couplet] = []
    rejected: list[Rejection] = []
    for entry in entries:
        if isinstance(entry, Rejection):
            rejected.append(entry)
        else:
            kept.append(entry)
    return tuple(kept), tuple(rejected)
