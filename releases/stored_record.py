"""Reading what a release folder says of itself, whichever record it is."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from mihakk.machinery.errors import ExternalFailure
from mihakk.schemas.record import Record

Stored = TypeVar("Stored", bound=Record)


def read_stored(path: Path, kind: type[Stored], remedy: str) -> Stored | None:
    """The record in a file; None where the release carries no such file.

    `ExternalFailure` where another version of Mihakk wrote it; `remedy` is what else helps than that version.
    """
    if not path.is_file():
        return None
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ExternalFailure(
            f"{path} can't be read by this version of Mihakk ({error.error_count()} fields differ): "
            f"use the version that made the release, or {remedy}"
        ) from error
