"""Code benchmarks in the columns of HumanEval or MBPP: 3LM's Arabic sets, a refined release, one's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final

from evaluation.adapters.adapter import ADAPTERS, Published, published
from mihakk.errors import SourceChanged
from mihakk.sandbox import require_sandbox
from mihakk.text import arabic_share
from schemas.record import Language
from validators.code.problem import Problem, read_problems

INSTRUCTIONS: Final[dict[Language, str]] = {
    "ar": "أكمل الدالة `{entry_point}` الآتية بلغة Python. "
    "اكتب البرنامج كاملا في كتلة واحدة تبدأ بـ ```python.\n\n",
    "en": "Complete the Python function `{entry_point}` below. "
    "Write the whole program in one ```python block.\n\n",
}


class CodeProblems:
    """Every `*.jsonl` of the folder, a config each; what can't be run is refused before anything is asked."""

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """The files of problems; a release's list of changes is none."""
        return sorted(path for path in folder.glob("*.jsonl") if path.name != "changes.jsonl")

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question per problem."""
        tables = {path: read_problems(path) for path in self.files(folder)}
        for path, found in tables.items():
            if found.findings:
                first = found.findings[0]
                raise SourceChanged(f"{path}, line {first.line}: {first.kind}: {first.detail}")
        require_sandbox()
        for path, found in tables.items():
            yield from (_question(problem, path.stem, digest) for problem in found.problems)


def _question(problem: Problem, table: str, digest: str) -> Published:
    language: Language = "ar" if arabic_share(problem.prompt) else "en"
    shown = f"```python\n{problem.prompt.rstrip()}\n```\n"
    return published(
        INSTRUCTIONS[language].format(entry_point=problem.entry_point) + shown,
        [problem.prompt, problem.entry_point, problem.tests],
        item=f"{table}-{problem.id}",
        release=table,
        digest=digest,
        config=f"{language}_{table}",
        task="code",
        kind="code",
        language=language,
        prompt=problem.prompt,
        entry_point=problem.entry_point,
        tests=problem.tests,
    )


ADAPTERS.add("code_problems", CodeProblems())
