"""Deterministic checks: one file per rule, found by its folder, run before any model is asked."""

from mihakk.validators.checks.check import CHECKS
from mihakk.validators.checks.checking import check_items, check_records, check_set
from mihakk.validators.checks.gathering import gather
from mihakk.validators.checks.setindex import index, prepare

__all__ = ["CHECKS", "check_items", "check_records", "check_set", "gather", "index", "prepare"]
