"""What people say of the judges, as sheets beside a suite's table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from mihakk.evaluation.judges.probes import PROBES_FILE, ProbeRow
from mihakk.evaluation.judges.scores import load_vouched
from mihakk.evaluation.judges.style import STYLE_FILE, STYLE_UNITS, StyleRow
from mihakk.evaluation.judges.validation import GATE, AgreementWithPeople, CorrectedMean
from mihakk.evaluation.judges.vouch import AGREEMENT, CORRECTED
from mihakk.evaluation.rows import read_rows
from mihakk.evaluation.table.sheets import GAP, Sheet, ranks_text
from mihakk.machinery.groups import grouped
from mihakk.machinery.markdown import Columns

R = TypeVar("R", AgreementWithPeople, CorrectedMean, ProbeRow, StyleRow)


def judge_sheets(folder: Path) -> list[Sheet]:
    """The sheets there are, of a suite's folder; none where no people have scored."""
    found = []
    if (folder / CORRECTED).is_file():
        found += _by_rubric(
            sorted(
                read_rows(folder / CORRECTED, CorrectedMean),
                key=lambda row: (row.corrected is None, -(row.corrected or 0), row.model),
            ),
            "corrected by people's scores",
            "The judges' mean over all answers, plus people less judges on those that people scored.",
            CORRECTED_MEANS,
        )
    if (folder / AGREEMENT).is_file():
        vouched = {one.rubric: one.vouched for one in load_vouched(folder)}
        for rubric, own in _rubrics(read_rows(folder / AGREEMENT, AgreementWithPeople)):
            word = "vouched for" if vouched.get(rubric) else "not vouched for"
            above = (
                f"These judges are {word}: kappa's lower end has to be {GATE} or more, over at least 50 "
                "answers."
            )
            found.append(_sheet(f"{rubric}: judges against people", above, WITH_PEOPLE, own))
    if (folder / STYLE_FILE).is_file():
        rows = read_rows(folder / STYLE_FILE, StyleRow)
        systems = sorted(
            (row for row in rows if row.what == "system"), key=lambda row: (-row.value, row.name)
        )
        found += _by_rubric(
            [*systems, *(row for row in rows if row.what != "system")],
            "style taken out",
            "The judges' means as if all replies to an item had the same length and formatting.",
            STYLE,
        )
    if (folder / PROBES_FILE).is_file():
        found += probe_sheets(read_rows(folder / PROBES_FILE, ProbeRow))
    return found


def probe_sheets(rows: Sequence[ProbeRow]) -> list[Sheet]:
    """What moves the judges though the answer stays the same; a sheet per rubric."""
    above = "Altered copies of the same answers: what moves a judge here is not what it was asked about."
    return _by_rubric(rows, "what moves the judges", above, PROBES)


def _by_rubric(rows: Sequence[R], title: str, above: str, columns: Columns[R]) -> list[Sheet]:
    return [_sheet(f"{rubric}: {title}", above, columns, own) for rubric, own in _rubrics(rows)]


def _rubrics(rows: Sequence[R]) -> list[tuple[str, list[R]]]:
    return sorted(grouped(rows, lambda row: row.rubric).items())


def _sheet(title: str, above: str, columns: Columns[R], rows: Sequence[R]) -> Sheet:
    lines = tuple(tuple(str(cell(row)) for cell in columns.values()) for row in rows)
    return Sheet(title, above, tuple(columns), lines)


def number(value: float | None) -> str:
    """A figure with two digits behind the point."""
    return GAP if value is None else f"{value:z.2f}"


def interval(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """A figure and its interval."""
    if value is None:
        return GAP
    shown = f"{value:+.2f}" if signed else number(value)
    return shown if low is None or high is None else f"{shown} [{low:.2f}, {high:.2f}]"


PROBES: Columns[ProbeRow] = {
    "judge": lambda row: row.judge,
    "probe": lambda row: row.probe,
    "answers": lambda row: f"{row.answers:,}",
    "shift [95 %]": lambda row: interval(row.shift, row.low, row.high, signed=True),
    "p (Holm)": lambda row: GAP if row.p is None or row.probe == "again" else f"{row.p:.3f}",
    "moved [95 %]": lambda row: interval(row.moved, row.moved_low, row.moved_high),
    "": lambda row: "caught" if row.caught else "",
    "unusable": lambda row: f"{row.unusable:,}" if row.unusable else GAP,
}
STYLE: Columns[StyleRow] = {
    "system, or what it is worth": lambda row: row.name or STYLE_UNITS[row.what],
    "judges' mean": lambda row: number(row.raw),
    "style-adjusted [95 %]": lambda row: interval(row.value, row.low, row.high, signed=row.what != "system"),
    "answers": lambda row: f"{row.answers:,}",
}
CORRECTED_MEANS: Columns[CorrectedMean] = {
    "system": lambda row: row.model,
    "corrected mean [95 %]": lambda row: interval(row.corrected, row.low, row.high),
    "rank": lambda row: ranks_text(row.rank_low, row.rank_high),
    "judges alone": lambda row: number(row.judges),
    "scored by people": lambda row: f"{row.scored:,} of {row.answers:,}",
    "without a score": lambda row: f"{row.without:,}" if row.without else GAP,
}
WITH_PEOPLE: Columns[AgreementWithPeople] = {
    "of": lambda row: row.group,
    "judge": lambda row: row.judge,
    "answers": lambda row: f"{row.answers:,}",
    "unanswered": lambda row: f"{row.unanswered:,}",
    "kappa [95 %]": lambda row: interval(row.kappa, row.kappa_low, row.kappa_high),
    "after discussion": lambda row: number(row.kappa_after),
    "linear": lambda row: number(row.linear_kappa),
    "same": lambda row: f"{100 * row.exact:.0f} %",
    "over": lambda row: f"{100 * row.over:.0f} %",
    "under": lambda row: f"{100 * row.under:.0f} %",
    "judge − people [95 %]": lambda row: interval(row.bias, row.bias_low, row.bias_high, signed=True),
    "Pearson [95 %]": lambda row: interval(row.pearson, row.pearson_low, row.pearson_high),
    "between people": lambda row: number(row.between_people),
    "by system [95 %]": lambda row: interval(row.system_pearson, row.system_low, row.system_high),
    "without the weakest 3": lambda row: interval(row.without_weakest, row.without_low, row.without_high),
    "twice as long [95 %]": lambda row: interval(
        row.length_slope, row.length_low, row.length_high, signed=True
    ),
}
