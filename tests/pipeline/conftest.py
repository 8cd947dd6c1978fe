"""The lake that the dashboard's tests build."""

from __future__ import annotations

from tests.reports.dashboard.conftest import built

__all__ = ["built"]
