"""Templates to pages: everything escaped, no script, one stylesheet inside the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment
from markupsafe import Markup

from mihakk.annotation.decisions.apply import WAITING
from mihakk.annotation.screens.evidence import finding_sentence
from mihakk.machinery.groups import grouped
from mihakk.pipeline.build import Build
from mihakk.reports.dashboard.overview import Gatherer, OverviewFacts
from mihakk.reports.templates import templates
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.stages import AUDITED, REVIEWED, STAGES

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


QUEUE_SHOWN = 30
EXAMPLES_PER_REASON = 3


@dataclass(frozen=True)
class Quoted:
    """Texts from a finished build."""

    samples: list[Item]
    """One released item of each task and language."""
    rejections: list[tuple[str, str, int, list[Rejection]]]
    """Stage, reason, count and a few examples; without what waits for people."""
    waiting: list[tuple[Item, Verdict]]
    """The first of them."""


def quoted(build: Build) -> Quoted:
    """The texts of a finished build."""
    audited, reviewed = build.stage(AUDITED), build.stage(REVIEWED)
    samples: dict[tuple[str, str], Item] = {}
    for item in reviewed.read_all("items", ITEM_ROWS):
        samples.setdefault((item.language, item.task), item)
    waits = [row.record for row in reviewed.rejections() if row.reason in WAITING][:QUEUE_SHOWN]
    verdicts = {one.item: one for one in audited.read_all("verdicts", Verdict, ("item", waits))}
    rejections = []
    for stage in STAGES:
        by_reason = grouped(build.stage(stage).rejections(), lambda row: row.reason)
        for reason, rows in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
            if reason not in WAITING:
                rejections.append((stage, reason, len(rows), rows[:EXAMPLES_PER_REASON]))
    return Quoted(
        samples=[samples[name] for name in sorted(samples)],
        rejections=rejections,
        waiting=[(one, verdicts[one.id]) for one in audited.read_all("items", ITEM_ROWS, ("id", waits))],
    )
