"""The small benchmark and the scripted auditors of the end-to-end tests."""

from __future__ import annotations

from tests.drills.pager import pager
from tests.end_to_end.conftest import auditors, workshop

__all__ = ["auditors", "pager", "workshop"]
