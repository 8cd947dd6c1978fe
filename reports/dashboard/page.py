"""Templates to pages: everything escaped, no script, one stylesheet inside the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment

from mihakk.annotation.decisions.apply import WAITING
from mihakk.annotation.screens.evidence import finding_sentence
from mihakk.machinery.groups import grouped
from mihakk.pipeline.build import Build
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.reports.dashboard.overview import Gatherer, OverviewFacts
from mihakk.reports.templates import SHARED, templates, write_page
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.stages import AUDITED, REVIEWED, STAGES
from mihakk.validators.checks.texts import told_place


def render(template: str, *, live: bool, **values: object) -> str:
    """A page."""
    return _environment().get_template(f"{template}.html.jinja").render(live=live, **values)


def write_overview(facts: OverviewFacts, path: Path) -> Path:
    """Writes the benchmark's page as one file that needs no network."""
    return write_page(_environment().get_template("overview.html.jinja"), path, facts=facts, quotes=None)


def write_report(build: Build) -> Path:
    """Writes the page of a finished run: the benchmark's page as it stands then, with texts of items.

    Without texts where the benchmark is blind, or another one of the hub has sealed some: they, their golds
    and what findings quote of them are for those alone who may see the golds.
    """
    page = _environment().get_template("overview.html.jinja")
    path = build.run_folder / "report.html"
    config = build.config
    is_open = config.release.blind == "off" and not EmbeddedHub().standing_seals(config.name)
    return write_page(page, path, facts=Gatherer(build).facts(), quotes=quoted(build) if is_open else None)


@cache
def _environment() -> Environment:
    environment = templates(
        SHARED,
        {
            "moment": lambda when: f"{when:%Y-%m-%d %H:%M}",
            "took": took,
            "query": _query,
            "sentence": finding_sentence,
            "told_place": told_place,
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
    has_data_docs: bool
    """Whether Great Expectations' pages lie beside the report."""


def quoted(build: Build) -> Quoted:
    """The texts of a finished build."""
    audited, reviewed = build.stage(AUDITED), build.stage(REVIEWED)
    first: dict[tuple[str, str], str] = {}
    for item, language, task in reviewed.values("items", "id", "language", "task"):
        first.setdefault((language, task), item)
    samples = reviewed.read_all("items", ITEM_ROWS, ("id", list(first.values())))
    waits = [row.record for row in reviewed.rejections() if row.reason in WAITING][:QUEUE_SHOWN]
    verdicts = {one.item: one for one in audited.read_all("verdicts", Verdict, ("item", waits))}
    rejections = []
    for stage in STAGES:
        by_reason = grouped(build.stage(stage).rejections(), lambda row: row.reason)
        for reason, rows in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
            if reason not in WAITING:
                rejections.append((stage, reason, len(rows), rows[:EXAMPLES_PER_REASON]))
    return Quoted(
        samples=sorted(samples, key=lambda item: (item.language, item.task)),
        rejections=rejections,
        waiting=[(one, verdicts[one.id]) for one in audited.read_all("items", ITEM_ROWS, ("id", waits))],
        has_data_docs=(build.run_folder / "data_docs").is_dir(),
    )
