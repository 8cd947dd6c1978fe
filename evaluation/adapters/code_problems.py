"""Code benchmarks in the columns of HumanEval or MBPP: 3LM's Arabic sets, a refined release, one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts
from mihakk.machinery.errors import SourceChanged
from mihakk.machinery.languages import pack
from mihakk.machinery.sandbox import require_sandbox
from mihakk.machinery.text import arabic_share
from mihakk.schemas.record import Language
from mihakk.validators.code.problem import Problem, read_problems


def _files(folder: Path) -> list[Path]:
    """The files of problems, a config each; a release's list of changes is none."""
    return sorted(path for path in folder.glob("*.jsonl") if path.name != "changes.jsonl")


def _rows(folder: Path) -> Iterator[tuple[str, tuple[str, Problem]]]:
    """Every problem with the name of its file; what can't be run is refused before anything is asked."""
    tables = {path: read_problems(path) for path in _files(folder)}
    for path, found in tables.items():
        if found.findings:
            first = found.findings[0]
            raise SourceChanged(f"{path}, line {first.line}: {first.kind}: {first.detail}")
    require_sandbox()
    for path, found in tables.items():
        yield from ((str(path), (path.stem, problem)) for problem in found.problems)


def _ask(row: tuple[str, Problem]) -> Iterator[Facts]:
    table, problem = row
    language: Language = "ar" if arabic_share(problem.prompt) else "en"
    code = f"```python\n{problem.prompt.rstrip()}\n```\n"
    yield {
        "shown": pack(language).made_with.complete_code.format(entry_point=problem.entry_point) + code,
        "content": [problem.prompt, problem.entry_point, problem.tests],
        "item": f"{table}-{problem.id}",
        "release": table,
        "config": f"{language}_{table}",
        "task": "code",
        "kind": "code",
        "language": language,
        "prompt": problem.prompt,
        "entry_point": problem.entry_point,
        "tests": problem.tests,
    }


ADAPTERS.add("code_problems", Adapter("code problems", _files, _rows, _ask))
