"""Problems of a code benchmark: prompt, reference solution and tests, read through a map of columns."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mihakk.machinery.errors import UsageError
from mihakk.machinery.sandbox import Trial
from mihakk.schemas.record import Record
from mihakk.validators.external.table import read_tables

Kind = Literal[
    "incomplete_row",
    "prompt_does_not_parse",
    "doctest_contradicts_reference",
    "mixed_digits",
    "term_off_glossary",
    "untranslated_sentence",
    "reference_fails_tests",
]
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("task_id", "id"),
    "prompt": ("prompt",),
    "entry_point": ("entry_point",),
    "solution": ("canonical_solution", "solution", "code"),
    "tests": ("test", "tests", "test_list"),
}
"""What a problem needs, and the columns it is looked for in: HumanEval's names and those of MBPP."""


@dataclass(frozen=True)
class Problem:
    """One problem."""

    id: str
    line: int
    """Of the file, or the row of its table, counted from 1."""
    prompt: str
    entry_point: str
    solution: str
    """The function's body, or a whole program."""
    tests: str
    row: Mapping[str, Any]
    """As the file has it."""

    @property
    def program(self) -> str:
        """Prompt and reference solution as one program."""
        return completed(self.prompt, self.solution, self.entry_point)

    @property
    def trial(self) -> Trial:
        """The reference solution against the tests."""
        return Trial(self.program, self.tests, self.entry_point, self.prompt)

    def asking(self, prompt: str) -> Problem:
        """The problem with another prompt."""
        return replace(self, prompt=prompt)


class CodeFinding(Record):
    """What is wrong in one problem."""

    problem: str
    line: int
    """Of the file."""
    kind: Kind
    detail: str
    where: int = 0
    """Line of the prompt, counted from 1; 0 for all of it."""


class ProblemSet(NamedTuple):
    """What a file holds."""

    problems: tuple[Problem, ...]
    columns: Mapping[str, str]
    """What a problem needs -> column of the file."""
    findings: tuple[CodeFinding, ...]
    """Rows that are no problems."""


def completed(prompt: str, solution: str, entry_point: str) -> str:
    """A program of a prompt and what completes it: a body is appended, a whole function stands on its own."""
    if defines(solution, entry_point):
        # A prompt of its own may hold helper functions; where it can't be parsed, the solution goes alone.
        return f"{prompt}\n\n{solution}" if parsed(prompt) is not None else solution
    return prompt + solution


def defines(program: str, name: str) -> bool:
    """Whether a program parses and defines a function, or any at all where no name is given."""
    tree = parsed(program, stub=False)
    return tree is not None and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name in ("", node.name)
        for node in tree.body
    )


def parsed(program: str, *, stub: bool = True) -> ast.Module | None:
    """The syntax tree; None where it has none. A prompt may end in a signature, to which a body is added."""
    for text in (program, f"{program.rstrip()}\n    pass\n") if stub else (program,):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def read_problems(path: Path, mapping: str = "") -> ProblemSet:
    """The problems of a file: jsonl, json, csv, tsv, parquet or xlsx.

    Args:
        path: The file.
        mapping: `prompt=COLUMN,solution=COLUMN,...`; what it leaves out is looked for by its usual names.

    Raises:
        UsageError: No such file, no such column, or an id that two problems have.
    """
    tables = read_tables(path)
    rows = [(table.line(number) or number + 1, row) for table in tables for number, row in table.rows.items()]
    columns = _columns(mapping, {name for _, row in rows for name in row}, path)
    problems: dict[str, Problem] = {}
    findings = []
    for line, row in rows:
        found = _problem(line, row, columns)
        if isinstance(found, CodeFinding):
            findings.append(found)
            continue
        if found.id in problems:
            raise UsageError(
                f"{path}: lines {problems[found.id].line} and {line} are both {found.id!r}: "
                "give each problem its own id"
            )
        problems[found.id] = found
    for table in tables:
        findings += [
            CodeFinding(
                problem="", line=one.number + 1, kind="incomplete_row", detail=f"{one.reason}: {one.detail}"
            )
            for one in table.unreadable
        ]
    return ProblemSet(tuple(problems.values()), columns, tuple(findings))


def _columns(mapping: str, there: set[str], path: Path) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in mapping.split(","))):
        what, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or what not in COLUMNS:
            raise UsageError(f"--map {part!r}: write WHAT=COLUMN, where WHAT is one of {', '.join(COLUMNS)}")
        if column not in there:
            raise UsageError(f"{path} has no column {column!r}; it has: {', '.join(sorted(there))}")
        given[what] = column
    for what, usual in COLUMNS.items():
        if what not in given and (found := next((name for name in usual if name in there), "")):
            given[what] = found
    if missing := [what for what in ("prompt", "solution", "tests") if what not in given]:
        raise UsageError(
            f"{path}: no column for {missing[0]} (it has: {', '.join(sorted(there))}): "
            f"call it {' or '.join(COLUMNS[missing[0]])}; `mihakk code` also takes --map {missing[0]}=COLUMN"
        )
    return given


def _problem(line: int, row: Mapping[str, Any], columns: Mapping[str, str]) -> Problem | CodeFinding:
    values = {what: _text(row.get(column)) for what, column in columns.items()}
    name = values.get("id") or f"line-{line}"
    if empty := [what for what in ("prompt", "solution", "tests") if not values[what].strip()]:
        detail = f"{columns[empty[0]]} is empty"
        return CodeFinding(problem=name, line=line, kind="incomplete_row", detail=detail)
    entry = values.get("entry_point") or _entry_point(values["solution"], values["tests"])
    if not entry:
        detail = "no entry point is named, and the solution defines no function that the tests call"
        return CodeFinding(problem=name, line=line, kind="incomplete_row", detail=detail)
    return Problem(name, line, values["prompt"], entry, values["solution"], values["tests"], row)


def _text(value: Any) -> str:
    """A cell as text; a list of tests is one a line."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(map(str, value)) + "\n"
    return "" if value is None else str(value)


def _entry_point(solution: str, tests: str) -> str:
    tree = parsed(solution, stub=False)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
    return next((name for name in reversed(names) if name in tests), "")
