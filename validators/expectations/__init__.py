"""Great Expectations suites that guard the tables between stages."""

from validators.expectations.guard import (
    TableResult,
    TableViolation,
    data_docs,
    examine,
    require,
)
from validators.expectations.suites import SUITES, TableName

__all__ = [
    "SUITES",
    "TableName",
    "TableResult",
    "TableViolation",
    "data_docs",
    "examine",
    "require",
]
