"""When a benchmark's jobs start by themselves, where its config says so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import field_validator

from mihakk.schemas.record import Record


class Schedule(Record):
    """One job at the times of one cron expression."""

    job: Literal["nightly", "ingest", "build", "review_push", "review_pull", "release", "digest"]
    cron: str
    """Five fields: minute, hour, day of the month, month, day of the week."""
    timezone: str = "UTC"
    """A name of the IANA database, such as Asia/Dubai."""

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, given: str) -> str:
        from cronsim import CronSim, CronSimError

        try:
            CronSim(given, datetime.now(UTC))
        except CronSimError as error:
            raise ValueError(
                f"{given!r} is no cron expression ({error}); write one such as '30 3 * * *'"
            ) from None
        return given

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, given: str) -> str:
        try:
            ZoneInfo(given)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"{given!r} is no time zone; write one such as Asia/Dubai") from None
        return given
