"""Deterministic checks: one file per rule, found by its folder, run before any model is asked."""

from validators.checks.check import CHECKS, Check, Objection, active, check
from validators.checks.checking import check_items, check_records, check_set
from validators.checks.gathering import Gathered, gather
from validators.checks.setindex import SetIndex, index, prepare

__all__ = [
    "CHECKS",
    "Check",
    "Gathered",
    "Objection",
    "SetIndex",
    "active",
    "check",
    "check_items",
    "check_records",
    "check_set",
    "gather",
    "index",
    "prepare",
]
