"""Great Expectations suites that guard the tables between stages."""

from validators.expectations.contracts import CONTRACTS, TableName
from validators.expectations.guard import TableResult, TableViolation, data_docs, examine, require

__all__ = [
    "CONTRACTS",
    "TableName",
    "TableResult",
    "TableViolation",
    "data_docs",
    "examine",
    "require",
]
