"""Texts that are the same but for a letter, a word or an edition's spelling."""

from mihakk.machinery.dedup._clusters import Group, groups
from mihakk.machinery.dedup._halves import half_key, of_halves, shared_halves
from mihakk.machinery.dedup._near import Pair, near_duplicates

__all__ = ["Group", "Pair", "groups", "half_key", "near_duplicates", "of_halves", "shared_halves"]
