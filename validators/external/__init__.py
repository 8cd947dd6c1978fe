"""Somebody's existing benchmark as items, and its cleaned copy in its own columns."""

from mihakk.validators.external.benchmark import ExternalBenchmark, read_benchmark
from mihakk.validators.external.clean import write_clean
from mihakk.validators.external.mapping import Mapping, parse_mapping

__all__ = [
    "ExternalBenchmark",
    "Mapping",
    "parse_mapping",
    "read_benchmark",
    "write_clean",
]
