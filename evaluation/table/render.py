"""Sheets as Markdown, LaTeX and a terminal's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mihakk.evaluation.table.sheets import Sheet

if TYPE_CHECKING:
    from rich.console import Group

TOP = "* in the top group: nobody is better beyond doubt. ! the place takes 3 standard errors above its due."


def markdown(shown: Sequence[Sheet], notes: Sequence[str]) -> str:
    """All sheets under a heading each, notes at the end."""
    parts = []
    for sheet in shown:
        lines = [f"### {_escaped(sheet.title)}", ""]
        if sheet.above:
            lines += [sheet.above, ""]
        lines += [
            "| " + " | ".join(map(_escaped, sheet.head)) + " |",
            "|" + "|".join("---" if place == 0 else "---:" for place in range(len(sheet.head))) + "|",
            *("| " + " | ".join(map(_escaped, row)) + " |" for row in sheet.rows),
            "",
        ]
        parts.append("\n".join(lines))
    return "\n".join([*parts, *(f"- {_escaped(note)}" for note in (TOP, *notes))]) + "\n"


def latex(shown: Sequence[Sheet], notes: Sequence[str]) -> str:
    """All sheets as tables for the package booktabs, notes as comments at the end."""
    parts = []
    for sheet in shown:
        rows = [" & ".join(map(_tex, row)) + r" \\" for row in (sheet.head, *sheet.rows)]
        parts += [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(f'{sheet.title}. {sheet.above}'.strip())}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(sheet.head) - 1)}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    return "\n".join([*parts, *(f"% {note}" for note in (TOP, *notes))]) + "\n"


def terminal(shown: Sequence[Sheet], notes: Sequence[str]) -> Group:
    """All sheets as tables of rich."""
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    parts: list[Table | Text] = []
    for sheet in shown:
        parts += [Text(f"\n{sheet.title}", style="bold"), *([Text(sheet.above)] if sheet.above else [])]
        table = Table()
        for place, name in enumerate(sheet.head):
            table.add_column(escape(name), justify="left" if place == 0 else "right")
        for row in sheet.rows:
            table.add_row(*map(escape, row))
        parts.append(table)
    return Group(*parts, *(Text(f"- {note}", style="dim") for note in (TOP, *notes)))


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("\n", " ")
