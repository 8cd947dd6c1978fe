"""Records worth making items of: metadata in one vocabulary, each text once (stage 3)."""

from mihakk.curation.curating import curate
from mihakk.curation.duplicates import Duplicates, find_duplicates

__all__ = ["Duplicates", "curate", "find_duplicates"]
