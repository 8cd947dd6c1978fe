"""Templates of pages for people: everything is escaped, and a missing value is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from mihakk.schemas.audit import AUDIT_STATES
from mihakk.schemas.record import Language

RIGHT_TO_LEFT: frozenset[Language] = frozenset({"ar", "fa"})


def direction(language: str) -> str:
    """`rtl` or `ltr`, for `dir` attributes."""
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


def templates(folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None) -> Environment:
    """The templates of a folder, which may use `direction`, `number` (with thousands set apart) and more.

    Args:
        folder: Where they lie.
        filters: Further filters by name.
    """
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["audit_states"] = AUDIT_STATES
    environment.filters |= {"direction": direction, "number": "{:,}".format, **(filters or {})}
    return environment


def write_page(page: Template, path: Path, **values: Any) -> Path:
    """Writes a page as one file that opens offline and may say when it was `made`; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    path.write_text(page.render(made=made, **values), encoding="utf-8")
    return path
