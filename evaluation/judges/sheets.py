"""What people say of the judges, as sheets beside a suite's table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.judges.probes import PROBES_FILE, ProbeRow
from evaluation.judges.scores import load_vouched
from evaluation.judges.style import STYLE_FILE, STYLE_UNITS, StyleRow
from evaluation.judges.validation import GATE, AgreementWithPeople, CorrectedMean
from evaluation.judges.vouch import AGREEMENT, CORRECTED
from evaluation.rows import read_rows
from evaluation.table.sheets import GAP, Sheet, ranks_text


def judge_sheets(folder: Path) -> list[Sheet]:
    """The sheets there are, of a suite's folder; none where no people have scored."""
    found = []
    if (folder / CORRECTED).is_file():
        found += _corrected(read_rows(folder / CORRECTED, CorrectedMean))
    if (folder / AGREEMENT).is_file():
        found += _agreement(folder, read_rows(folder / AGREEMENT, AgreementWithPeople))
    if (folder / STYLE_FILE).is_file():
        found += _style(read_rows(folder / STYLE_FILE, StyleRow))
    if (folder / PROBES_FILE).is_file():
        found += probe_sheets(read_rows(folder / PROBES_FILE, ProbeRow))
    return found


def probe_sheets(rows: Sequence[ProbeRow]) -> list[Sheet]:
    """What moves the judges though the answer stays the same; a sheet per rubric."""
    head = ("judge", "probe", "answers", "shift [95 %]", "p (Holm)", "moved [95 %]", "", "unusable")
    found = []
    for rubric in sorted({row.rubric for row in rows}):
        lines = tuple(
            (
                row.judge,
                row.probe,
                f"{row.answers:,}",
                interval(row.shift, row.low, row.high, signed=True),
                GAP if row.p is None or row.probe == "again" else f"{row.p:.3f}",
                interval(row.moved, row.moved_low, row.moved_high),
                "caught" if row.caught else "",
                f"{row.unusable:,}" if row.unusable else GAP,
            )
            for row in rows
            if row.rubric == rubric
        )
        above = "Altered copies of the same answers: what moves a judge here is not what it was asked about."
        found.append(Sheet(f"{rubric}: what moves the judges", above, head, lines))
    return found


def _style(rows: Sequence[StyleRow]) -> list[Sheet]:
    """Raw and style-adjusted means, and what each feature is worth to the judges."""
    found = []
    for rubric in sorted({row.rubric for row in rows}):
        own = [row for row in rows if row.rubric == rubric]
        systems = sorted((row for row in own if row.what == "system"), key=lambda row: (-row.value, row.name))
        lines = [
            (row.name, number(row.raw), interval(row.value, row.low, row.high), f"{row.answers:,}")
            for row in systems
        ]
        lines += [
            (
                STYLE_UNITS[row.what],
                GAP,
                interval(row.value, row.low, row.high, signed=True),
                f"{row.answers:,}",
            )
            for row in own
            if row.what != "system"
        ]
        head = ("system, or what it is worth", "judges' mean", "style-adjusted [95 %]", "answers")
        above = "The judges' means as if all replies to an item had the same length and formatting."
        found.append(Sheet(f"{rubric}: style taken out", above, head, tuple(lines)))
    return found


def _corrected(rows: Sequence[CorrectedMean]) -> list[Sheet]:
    found = []
    for rubric in sorted({row.rubric for row in rows}):
        own = sorted(
            (row for row in rows if row.rubric == rubric),
            key=lambda row: (row.corrected is None, -(row.corrected or 0), row.model),
        )
        lines = tuple(
            (
                row.model,
                interval(row.corrected, row.low, row.high),
                ranks_text(row.rank_low, row.rank_high),
                number(row.judges),
                f"{row.scored:,} of {row.answers:,}",
                f"{row.without:,}" if row.without else GAP,
            )
            for row in own
        )
        head = (
            *("system", "corrected mean [95 %]", "rank", "judges alone"),
            *("scored by people", "without a score"),
        )
        above = "The judges' mean over all answers, plus people less judges on those that people scored."
        found.append(Sheet(f"{rubric}: corrected by people's scores", above, head, lines))
    return found


def _agreement(folder: Path, rows: Sequence[AgreementWithPeople]) -> list[Sheet]:
    vouched = {one.rubric: one for one in load_vouched(folder)}
    head = (
        *(
            "of",
            "judge",
            "answers",
            "unanswered",
            "kappa [95 %]",
            "after discussion",
            "linear",
            "same",
            "over",
            "under",
            "judge − people [95 %]",
        ),
        *("Pearson [95 %]", "between people", "by system [95 %]", "without the weakest 3"),
        "twice as long [95 %]",
    )
    found = []
    for rubric in sorted({row.rubric for row in rows}):
        one = vouched.get(rubric)
        stands = one is not None and one.vouched
        word = "vouched for" if stands else "not vouched for"
        above = (
            f"These judges are {word}: kappa's lower end has to be {GATE} or more, over at least 50 answers."
        )
        lines = tuple(
            (
                row.group,
                row.judge,
                f"{row.answers:,}",
                f"{row.unanswered:,}",
                interval(row.kappa, row.kappa_low, row.kappa_high),
                number(row.kappa_after),
                number(row.linear_kappa),
                *(f"{100 * share:.0f} %" for share in (row.exact, row.over, row.under)),
                interval(row.bias, row.bias_low, row.bias_high, signed=True),
                interval(row.pearson, row.pearson_low, row.pearson_high),
                number(row.between_people),
                interval(row.system_pearson, row.system_low, row.system_high),
                interval(row.without_weakest, row.without_low, row.without_high),
                interval(row.length_slope, row.length_low, row.length_high, signed=True),
            )
            for row in rows
            if row.rubric == rubric
        )
        found.append(Sheet(f"{rubric}: judges against people", above, head, lines))
    return found


def number(value: float | None) -> str:
    """A figure with two digits behind the point."""
    return GAP if value is None else f"{value:z.2f}"


def interval(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """A figure and its interval."""
    if value is None:
        return GAP
    shown = f"{value:+.2f}" if signed else number(value)
    return shown if low is None or high is None else f"{shown} [{low:.2f}, {high:.2f}]"
