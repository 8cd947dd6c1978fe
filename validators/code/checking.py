"""Faults of code problems that no model is needed to find."""

import ast
import re
from collections.abc import Iterator, Sequence
from doctest import Example as DocExample
from typing import Final

from mihakk.machinery.sandbox import Limits, Outcome, run_examples, run_trials
from mihakk.validators.code.docstring import docstring_of, examples_of, line_kinds
from mihakk.validators.code.problem import CodeFinding, Kind, Problem, defines, parsed
from mihakk.validators.code.terms import off_glossary

_WESTERN: Final = re.compile("[0-9]")
_ARABIC_INDIC: Final = re.compile("[٠-٩۰-۹]")


def check_text(problem: Problem) -> Iterator[CodeFinding]:
    """What is wrong in one problem's prompt, found without running anything."""
    if parsed(problem.prompt) is None:
        yield _finding(problem, "prompt_does_not_parse", *_syntax_error(problem.prompt))
        return
    docstring = docstring_of(problem.prompt, problem.entry_point)
    if docstring is None:
        return
    lines = docstring.text.split("\n")
    kinds = line_kinds(docstring.text)
    numbered = [
        (docstring.line + place, line, kind)
        for place, (line, kind) in enumerate(zip(lines, kinds, strict=True))
    ]
    prose = [(number, line) for number, line, kind in numbered if kind == "prose"]
    if any(_WESTERN.search(line) for _, line in prose):
        for number, line in prose:
            if found := _ARABIC_INDIC.search(line):
                detail = f"{found[0]!r} beside digits 0-9 in other sentences: write one system"
                yield _finding(problem, "mixed_digits", detail, number)
    for number, line in prose:
        for written, term in off_glossary(line):
            detail = f"{written!r} for {term.english}: {term.cited} has {term.use!r}"
            yield _finding(problem, "term_off_glossary", detail, number)
    for number, line, kind in numbered:
        if kind == "english":
            yield _finding(problem, "untranslated_sentence", f"{line.strip()[:80]!r}", number)


def check_runs(problems: Sequence[Problem], limits: Limits | None = None) -> Iterator[CodeFinding]:
    """What the reference solutions do in the sandbox: tests they fail, examples they contradict.

    Raises:
        UsageError: No sandbox can be had here.
        ExternalFailure: A sandbox could not be started.
    """
    # A prompt that does not parse is a finding already: what is built on it fails by that alone.
    runnable = [one for one in problems if parsed(one.prompt) or defines(one.solution, one.entry_point)]
    for problem, outcome in zip(runnable, run_trials((one.trial for one in runnable), limits), strict=True):
        if not outcome.passed:
            yield _finding(problem, "reference_fails_tests", _told(outcome))
        yield from _check_examples(problem, limits)


def _check_examples(problem: Problem, limits: Limits | None) -> Iterator[CodeFinding]:
    docstring = docstring_of(problem.prompt, problem.entry_point)
    examples = examples_of(docstring.text) if docstring else []
    if docstring is None or not examples:
        return
    found = run_examples(problem.program, [one.source for one in examples], limits)
    if isinstance(found, str):
        return  # that the reference can't be loaded is found by its tests
    for wanted, did in zip(examples, found, strict=True):
        if not _agrees(wanted, did.printed, did.raised):
            source, said = wanted.source.strip(), (did.raised or did.printed.strip() or "nothing")[:80]
            detail = f"{source} gives {said}, the docstring says {wanted.want.strip()[:80] or 'nothing'}"
            line = docstring.line + wanted.lineno
            yield _finding(problem, "doctest_contradicts_reference", detail, line)


def _agrees(wanted: DocExample, printed: str, raised: str) -> bool:
    """Whether an example gives what stands below it: the same words, or the same value."""
    if wanted.exc_msg is not None or raised:
        return (
            wanted.exc_msg is not None
            and raised.partition(":")[0] == wanted.exc_msg.partition(":")[0].strip()
        )
    if wanted.want.split() == printed.split():
        return True
    if not wanted.want and printed.strip() == "True":
        return True  # HumanEval writes some examples as `f(x) == y`, and nothing below
    try:
        return bool(ast.literal_eval(wanted.want.strip()) == ast.literal_eval(printed.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _told(outcome: Outcome) -> str:
    return f"{outcome.status}: {outcome.detail}" if outcome.detail else outcome.status


def _syntax_error(prompt: str) -> tuple[str, int]:
    try:
        ast.parse(prompt)
    except SyntaxError as error:
        return error.msg, error.lineno or 0
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error), 0
    return "it can't be completed", 0


def _finding(problem: Problem, kind: Kind, detail: str, where: int = 0) -> CodeFinding:
    return CodeFinding(problem=problem.id, line=problem.line, kind=kind, detail=detail, where=where)
