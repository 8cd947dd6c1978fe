"""The summary of a suite of audited benchmarks: page, LaTeX and terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.table import Table

from mihakk.pipeline.external_suite import SourceRow, SuiteRow, SuiteRun, SuiteSummary, run_suite
from mihakk.reports.external.page import audit_to_page, percent, size_against_rate
from mihakk.reports.templates import templates, write_page
from mihakk.reports.terminal import shown_path
from mihakk.validators.checks.check import check_titles

HEAD = (
    *("Samples", "Blocked", "Checks", "Auditors", "Merged", "Waiting", "Overturned", "Discarded", "Fixed"),
    *("Kept", "Unseen", "Rate"),
)
INVENTORY = ("Type", "Subsets")
"""What the table by source tells before its figures."""
ON_TERMINAL = ("Samples", "Blocked", "Waiting", "Merged", "Kept", "Rate")
"""Of these, what a terminal of 80 columns has room for."""


def suite_to_page(
    run: SuiteRun, tick: Callable[[int], None], said: Callable[[str], None] = lambda _: None
) -> SuiteSummary:
    """Runs a suite and writes its page and its LaTeX tables beside its tables."""
    summary = run_suite(run, lambda job: audit_to_page(job, tick), said)
    write_suite_page(summary, Path(summary.files["page"]))
    Path(summary.files["latex"]).write_text(latex(summary), encoding="utf-8")
    return summary


def figures(row: SuiteRow) -> tuple[str, ...]:
    """The figures of a row, in the order of `HEAD`."""
    flagged = (row.flagged_by_checks, row.flagged_by_auditors)
    people = (row.overturned, row.discarded, row.fixed)
    counts = (row.samples, row.blocked, *flagged, row.merged, row.waiting, *people, row.kept, row.kept_unseen)
    return (*(f"{count:,}" for count in counts), "–" if row.rate is None else f"{row.rate:.2%}")


def inventory(row: SourceRow) -> tuple[str, ...]:
    """A source's cells in the order of `INVENTORY`."""
    return row.task_type, f"{row.subsets:,}"


def write_suite_page(summary: SuiteSummary, path: Path) -> Path:
    """Writes the page, which opens offline."""
    environment = templates(Path(__file__).parent, {"percent": percent})
    points = [
        (f"{row.source} {row.name}", row.samples, 100 * row.rate)
        for row in summary.subsets
        if row.rate is not None
    ]
    kinds: dict[str, dict[str, int]] = defaultdict(dict)
    for kind in summary.kinds:
        if kind.severity != "report":
            kinds[kind.check][kind.source] = kind.items
    return write_page(
        environment.get_template("suite.html.jinja"),
        path,
        summary=summary,
        head=HEAD,
        figures=figures,
        sources=[((row.name, *inventory(row), row.domain), row) for row in summary.sources],
        inventory=("Source", *INVENTORY, "Domain"),
        chart=size_against_rate(points) if points else "",
        kinds=sorted(kinds.items()),
        titles=check_titles(),
        files={name: Path(file).name for name, file in summary.files.items() if name != "page"},
    )


def latex(summary: SuiteSummary) -> str:
    """The tables per source, domain and subset, for a paper that loads `booktabs` and `longtable`."""
    import pandas as pd

    def table(title: str, rows: Sequence[tuple[Sequence[str], SuiteRow]], told: Sequence[str] = ()) -> str:
        frame = pd.DataFrame([(*names, *figures(row)) for names, row in rows], columns=["", *told, *HEAD])
        places = "l" * (len(told) + 1) + "r" * len(HEAD)
        return frame.to_latex(index=False, escape=True, longtable=True, caption=title, column_format=places)

    parts = [
        table("Sources", [((row.name, *inventory(row)), row) for row in summary.sources], INVENTORY),
        table("Domains", [((row.name,), row) for row in summary.domains]),
        table("Subsets", [((f"{row.source}: {row.name}",), row) for row in summary.subsets]),
    ]
    return f"% {summary.title}: made by Mihakk, policy {summary.policy}\n" + "\n".join(parts)


def show_suite(summary: SuiteSummary) -> Group:
    """The account as tables on the terminal."""
    shown = [place for place, name in enumerate(HEAD) if name in ON_TERMINAL]
    head = ("Source", *(HEAD[place] for place in shown))
    table = Table(*head, title=escape(summary.title), title_justify="left")
    for row in summary.sources:
        cells = figures(row)
        table.add_row(row.name, *(cells[place] for place in shown))
    lines: list[Any] = []
    for state in summary.states:
        if state.status == "failed":
            lines.append(escape(f"Not audited: {state.name}: {state.problem}"))
        elif state.status == "unchanged":
            lines.append(f"{state.name}: unchanged since the last run.")
        if state.basis == "inferred":
            lines.append(escape(f"{state.name}: its mapping is inferred, not tried. {state.note}".rstrip()))
    if len(summary.sources) > 1:
        other = sum(not one.same_answer for one in summary.across)
        said = f"{len(summary.across):,} questions stand in several sources"
        lines.append(f"{said}, {other:,} with other options or golds.")
    lines += [escape(f"{name}: {shown_path(Path(path))}") for name, path in summary.files.items()]
    return Group(table, *lines)
