"""Writes docs/map.md: where each thing of the project lives, taken from the code."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from mihakk.generators.task import TASKS
from mihakk.machinery.settings import ROOT
from mihakk.pipeline.steps.order import STEPS
from mihakk.scrapers.source import SOURCES
from mihakk.validators.checks.check import CHECKS

PAGE = ROOT / "docs" / "map.md"
HEAD = """# Map of the code

Made by `python -m tools.docs_map` from the code itself; a test compares the two.

A record travels down this table. Each step is one file of `pipeline/steps/`: it reads the tables of the
stage before, calls the package that does the work, and writes its own tables into the lake. Packages and the
direction of imports stand in the README.

| stage | step | work done in |
|---|---|---|
"""
WORK = {
    "1_scraped": "`scrapers/`",
    "2_normalized": "`curation/normalization.py`, `machinery/text/`",
    "3_curated": "`curation/`, `machinery/dedup/`",
    "4_generated": "`generators/`",
    "5_checked": "`validators/checks/`; people's corrections from `annotation/decisions/`",
    "6_audited": "`validators/audit/`, `machinery/llm/`",
    "7_reviewed": "`annotation/decisions/`",
    "8_released": "`releases/`",
}


def page() -> str:
    """The whole page."""
    lines = [HEAD.rstrip()]
    lines += [f"| `{step.stage}` | `{_file(step.run)}` | {WORK[step.stage]} |" for step in STEPS]
    lines += ["", *_plugins()]
    return "\n".join(lines).rstrip() + "\n"


def _plugins() -> Iterator[str]:
    yield from ("## One file each", "", "| source | file | title |", "|---|---|---|")
    for name, source in SOURCES:
        yield f"| `{name}` | `{_file(source.scrape)}` | {_cell(source.title)} |"
    yield from ("", "| task | file | what is asked |", "|---|---|---|")
    for name, task in TASKS:
        yield f"| `{name}` | `{_file(task.generate)}` | {_cell(task.title)} |"
    yield from ("", "| check | file | what it guards |", "|---|---|---|")
    for _, check in sorted(CHECKS, key=lambda pair: pair[1].id):
        yield f"| {check.id} | `{_file(check.function)}` | {_cell(check.title)} |"


def _file(function: object) -> str:
    unwrapped = inspect.unwrap(function)  # type: ignore[arg-type]  # decorators keep what they wrap
    return str(Path(inspect.getfile(unwrapped)).relative_to(ROOT))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
