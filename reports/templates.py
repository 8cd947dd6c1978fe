"""Templates of pages for people: all is escaped, one stylesheet is inside, a missing value is an error."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from mihakk.machinery.languages import pack
from mihakk.schemas.audit import AUDIT_STATES

SHARED = Path(__file__).parent / "dashboard" / "templates"
"""Where the frame of all pages lies, and what several of them show."""


@cache
def style() -> str:
    """The stylesheet."""
    return (SHARED / "style.css").read_text(encoding="utf-8")


@cache
def policy() -> str:
    """Content-Security-Policy: our stylesheet, told by its digest, and nothing else at all."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'self'"
    )


def direction(language: str) -> str:
    """`rtl`, `ltr` or, where that is not known, `auto`, for `dir` attributes."""
    return pack(language).direction


def templates(folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None) -> Environment:
    """The templates of a folder, which may extend `base.html.jinja` and use `parts.html.jinja`.

    They have `direction`, `number` (with thousands set apart) and `svg` as filters.

    Args:
        folder: Where they lie.
        filters: Further filters by name.
    """
    environment = Environment(
        loader=FileSystemLoader([folder, SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "audit_states": AUDIT_STATES,
        "style": Markup(style()),  # nosec B704 # our own sheet
        "policy": policy(),
        "live": False,
    }
    environment.filters |= {
        "direction": direction,
        "number": "{:,}".format,
        "svg": Markup,  # charts escape what they are given
        **(filters or {}),
    }
    return environment


def write_page(page: Template, path: Path, **values: Any) -> Path:
    """Writes a page as one file that opens offline and may say when it was `made`; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    path.write_text(page.render(made=made, **values), encoding="utf-8")
    return path
