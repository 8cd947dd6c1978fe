"""Drawing a balanced part of a set by hashes of names: what comes or goes moves nothing but itself."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

T = TypeVar("T")


def lot(name: str) -> str:
    """The place of a name in a draw: always the same, and by chance."""
    return hashlib.blake2b(name.encode(), digest_size=16, person=b"mihakk-core").hexdigest()


def split_of(group: str, test_share: float) -> Literal["dev", "test"]:
    """`test` or `dev` for a group of works: its name's hash alone decides, so other groups never move it."""
    place = int.from_bytes(
        hashlib.blake2b(group.encode(), digest_size=8, person=b"mihakk-split").digest(), "big"
    )
    return "test" if place < test_share * 2**64 else "dev"


def in_turns(members: Sequence[T], strata: Callable[[T], Sequence[str]], level: int = 0) -> list[T]:
    """The members in the order of a draw: the first stratum's values take turns, each with its own line.

    Within the last stratum they stand as they were given. A prefix of any length is as balanced as the set
    allows, and one member less takes its own place alone with it.
    """
    if not members or level == len(strata(members[0])):
        return list(members)
    inside: dict[str, list[T]] = defaultdict(list)
    for member in members:
        inside[strata(member)[level]].append(member)
    turns = [
        (turn, lot(f"{level} {value}"), member)
        for value, some in inside.items()
        for turn, member in enumerate(in_turns(some, strata, level + 1))
    ]
    return [member for _, _, member in sorted(turns, key=lambda one: one[:2])]
