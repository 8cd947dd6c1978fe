"""Texts that are the same but for a letter, a word or an edition's spelling."""

from mihakk.machinery.dedup._near import (
    Group,
    Pair,
    groups,
    half_key,
    near_duplicates,
    of_halves,
    shared_halves,
)

__all__ = ["Group", "Pair", "groups", "half_key", "near_duplicates", "of_halves", "shared_halves"]
