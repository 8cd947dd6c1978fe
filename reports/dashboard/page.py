"""Templates to pages: everything escaped, no script, one stylesheet inside the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment
from markupsafe import Markup

from mihakk.annotation.screens.evidence import finding_sentence
from mihakk.pipeline.build import Build
from mihakk.reports.dashboard.overview import Gatherer, OverviewFacts
from mihakk.reports.dashboard.quoted import quoted
from mihakk.reports.templates import templates

TEMPLATES = Path(__file__).parent / "templates"


@cache
def style() -> str:
    """The stylesheet."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


@cache
def policy() -> str:
    """Content-Security-Policy: our stylesheet, told by its digest, and nothing else at all."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'self'"
    )


def render(template: str, *, live: bool, **values: object) -> str:
    """A page."""
    known = {"style": Markup(style()), "policy": policy(), "live": live}  # nosec B704 # our own sheet
    return _environment().get_template(f"{template}.html.jinja").render(**known, **values)


def write_overview(facts: OverviewFacts, path: Path) -> Path:
    """Writes the benchmark's page as one file that needs no network."""
    return _write(path, render("overview", live=False, facts=facts, quotes=None))


def write_report(build: Build) -> Path:
    """Writes the page of a finished run: the benchmark's page as it stands then, with texts of items."""
    page = render("overview", live=False, facts=Gatherer(build).facts(), quotes=quoted(build))
    return _write(build.run_folder / "report.html", page)


def _write(path: Path, page: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


@cache
def _environment() -> Environment:
    environment = templates(
        TEMPLATES,
        {
            "moment": lambda when: f"{when:%Y-%m-%d %H:%M}",
            "took": took,
            "svg": Markup,  # charts escape what they are given
            "query": _query,
            "sentence": finding_sentence,
        },
    )
    environment.tests["starting"] = str.startswith
    return environment


def took(seconds: float) -> str:
    """Wall time as a person would say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _query(asked: Mapping[str, str], page: int) -> str:
    return urlencode({**asked, "page": page})
