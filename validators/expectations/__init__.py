"""Great Expectations suites that guard the tables between stages."""

from mihakk.validators.expectations.contracts import CONTRACTS, TableName
from mihakk.validators.expectations.guard import TableResult, TableViolation, data_docs, examine, require

__all__ = [
    "CONTRACTS",
    "TableName",
    "TableResult",
    "TableViolation",
    "data_docs",
    "examine",
    "require",
]
