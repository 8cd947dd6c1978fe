"""Records worth making items of: metadata in one vocabulary, each text once (stage 3)."""

from curation.curating import curate
from curation.duplicates import Duplicates, find_duplicates

__all__ = ["Duplicates", "curate", "find_duplicates"]
