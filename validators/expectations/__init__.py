"""Contracts of the tables between stages, kept as rows are written and examined whole before a release."""

from mihakk.validators.expectations.contracts import CONTRACTS, TableName, TableViolation, keep_contract
from mihakk.validators.expectations.guard import TableResult, data_docs, examine, require

__all__ = [
    "CONTRACTS",
    "TableName",
    "TableResult",
    "TableViolation",
    "data_docs",
    "examine",
    "keep_contract",
    "require",
]
