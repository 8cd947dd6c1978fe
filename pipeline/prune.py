"""What can be removed from a lake: files that only save time, and records of old runs."""

from __future__ import annotations

from mihakk.machinery.lake import Lake
from mihakk.schemas.record import Record

RUNS_KEPT = 120


class Prunable(Record):
    """One file or folder that may go."""

    path: str
    files: int
    bytes: int
    why: str


def prunable(lake: Lake) -> list[Prunable]:
    """What `prune` would remove: never tables, raw bytes, answered calls or people's decisions."""
    storage = lake.storage
    found = []
    for stage in storage.list(storage.path("scratch")):
        folder = storage.path("scratch", stage)
        sizes = [storage.size(f"{folder}/{name}") for name in storage.list(folder)]
        found.append(
            Prunable(
                path=f"scratch/{stage}",
                files=len(sizes),
                bytes=sum(sizes),
                why="work between passes; made again when it is needed",
            )
        )
    names = sorted(name for name in storage.list(storage.path("runs")) if name.endswith(".json"))
    for name in names[: max(0, len(names) - RUNS_KEPT)]:
        size = storage.size(storage.path("runs", name))
        found.append(
            Prunable(path=f"runs/{name}", files=1, bytes=size, why=f"older than the {RUNS_KEPT} newest runs")
        )
    return found


def prune(lake: Lake, found: list[Prunable]) -> None:
    """Removes what was found; use it inside the lake's lock."""
    for one in found:
        lake.storage.remove(lake.storage.path(*one.path.split("/")))
