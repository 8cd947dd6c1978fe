"""A refined code benchmark as a release: its own rows with the prompts that people accepted."""

from __future__ import annotations

import html
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from mihakk.machinery.sandbox import run_trials
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.checksum import write_manifest
from mihakk.releases.versions.diff import REFINED
from mihakk.validators.code.docstring import docstring_of, replaced
from mihakk.validators.code.problem import Problem, ProblemSet, parsed
from mihakk.validators.code.refinement import (
    CHANGE_KINDS,
    PAPER,
    ChangeKind,
    Decided,
    Refinement,
    change_kinds,
    marked_diff,
    objection,
)

PROBLEMS: Final = "problems.jsonl"
CHANGES: Final = "changes.jsonl"
_STYLE: Final = (
    "body{font:18px/1.9 'Noto Naskh Arabic',Amiri,serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "color:#1f1f1f;background:#fff}article{border-top:1px solid #ccc;padding:1em 0}p{white-space:pre-wrap;"
    "unicode-bidi:plaintext}h2,small{direction:ltr;text-align:left;font-family:sans-serif}h2{font-size:1em}"
    "del{color:#a8071a;background:#fff1f0}ins{color:#135200;background:#f6ffed}"
)


class Change(NamedTuple):
    """One prompt that differs from the benchmark's."""

    problem: Problem
    before: str
    """The docstring; the whole prompt where that did not parse."""
    after: str
    prompt: str
    """The whole prompt as released."""
    kinds: tuple[ChangeKind, ...]
    model: str
    people: int


class Refused(NamedTuple):
    """A text of people's that can't be released."""

    problem: str
    reason: str


class RefinedRelease(NamedTuple):
    """A release folder, and what is in it."""

    release: AssembledRelease
    changes: tuple[Change, ...]
    refused: tuple[Refused, ...]

    @property
    def kinds(self) -> Counter[str]:
        """Changes by kind; one may be of several."""
        return Counter(kind for one in self.changes for kind in one.kinds)


def assemble_refined(
    found: ProblemSet,
    refinements: Sequence[Refinement],
    decisions: Mapping[str, Decided],
    *,
    folder: Path,
    name: str,
    version: str,
) -> RefinedRelease:
    """Writes the release into a folder: problems, changes with their diff, card and manifest.

    What nobody decided, and what people rejected or dispute, stays as the benchmark has it. What people
    wrote is held to the same rules, and each changed prompt's reference passes its tests in the sandbox.

    Raises:
        UsageError: No sandbox can be had here.
        ExternalFailure: A sandbox could not be started.
    """
    problems = {one.id: one for one in found.problems}
    wanted: list[Change] = []
    refused: list[Refused] = []
    for one in refinements:
        made = _change(problems[one.problem], one, decisions.get(one.problem))
        if isinstance(made, Refused):
            refused.append(made)
        elif made is not None:
            wanted.append(made)
    outcomes = run_trials(one.problem.asking(one.prompt).trial for one in wanted)
    changes = []
    for change, outcome in zip(wanted, outcomes, strict=True):
        if outcome.passed:
            changes.append(change)
        else:
            reason = f"the reference does not pass with it ({outcome.status} {outcome.detail})"
            refused.append(Refused(change.problem.id, reason))
    digests = _write(folder, found, changes, name, version)
    rows = {"code": {"test": len(problems)}}
    release = AssembledRelease(name, version, folder, rows, digests, diff=None)
    return RefinedRelease(release, tuple(changes), tuple(refused))


def _change(problem: Problem, one: Refinement, decision: Decided | None) -> Change | Refused | None:
    if decision is None or decision.verdict not in ("accept", "edit"):
        return None
    after = decision.text if decision.verdict == "edit" else one.after
    if after == one.before:
        return None
    docstring = docstring_of(problem.prompt, problem.entry_point)
    if docstring is None:
        if parsed(after) is None:
            return Refused(problem.id, "the prompt that people wrote does not parse")
        kinds: tuple[ChangeKind, ...] = ("structural",)
        return Change(problem, one.before, after, after, kinds, "", decision.people)
    if told := objection(problem, docstring, after, needs_human=True):
        return Refused(problem.id, told)
    model = one.model if decision.verdict == "accept" else ""
    prompt = replaced(problem.prompt, docstring, after)
    return Change(problem, one.before, after, prompt, change_kinds(one.before, after), model, decision.people)


def _write(
    folder: Path, found: ProblemSet, changes: Sequence[Change], name: str, version: str
) -> dict[str, str]:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    prompts = {one.problem.id: one.prompt for one in changes}
    rows = [{**one.row, found.columns["prompt"]: prompts.get(one.id, one.prompt)} for one in found.problems]
    (folder / PROBLEMS).write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    told = [
        {
            "problem": one.problem.id,
            "before": one.before,
            "after": one.after,
            "kinds": one.kinds,
            "model": one.model,
            "people": one.people,
        }
        for one in changes
    ]
    (folder / CHANGES).write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in told))
    (folder / "changes.html").write_text(changes_page(changes, f"{name} {version}"), encoding="utf-8")
    counts = {"name": name, "version": version, "problems": len(rows), "changed": len(changes)}
    (folder / REFINED).write_bytes(orjson.dumps(counts, option=orjson.OPT_INDENT_2) + b"\n")
    card = card_of(name, version, len(found.problems), changes)
    (folder / "README.md").write_text(card, encoding="utf-8")
    return write_manifest(folder)


def changes_page(changes: Sequence[Change], title: str) -> str:
    """Every change word by word, right to left; nothing that a prompt says can run."""
    articles = [
        f'<article><h2 dir="ltr">{html.escape(one.problem.id)}</h2><p dir="rtl" lang="ar">'
        f"{marked_diff(one.before, one.after)}</p>"
        f'<small dir="ltr" lang="en">{html.escape(", ".join(one.kinds))}</small></article>'
        for one in changes
    ]
    name, body = html.escape(title), "".join(articles)
    return (
        f'<!doctype html><html lang="ar" dir="rtl"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1>{body}</body></html>\n"
    )


def card_of(name: str, version: str, problems: int, changes: Sequence[Change]) -> str:
    """README.md: what changed, by kind, beside the paper's counts."""
    kinds = Counter(kind for one in changes for kind in one.kinds)
    share = len(changes) / problems if problems else 0.0
    lines = [
        f"# {name} {version}",
        "",
        "Programming problems with the Arabic of their prompts refined. Reference solutions, tests and ids",
        "are as they were; each changed prompt was accepted by people, and its reference passes its tests.",
        "",
        "| set | prompts changed | of | share |",
        "|---|---:|---:|---:|",
        f"| this one | {len(changes)} | {problems} | {share:.0%} |",
        *(
            f"| {other}, as QIMMA refined it (table 2b) | {done} | {whole} | {done / whole:.0%} |"
            for other, (done, whole) in PAPER.items()
        ),
        "",
        "| kind of change (one may be of several) | prompts |",
        "|---|---:|",
        *(f"| {kind} | {kinds[kind]} |" for kind in CHANGE_KINDS),
        "",
        f"`{PROBLEMS}` holds the rows, `{CHANGES}` and `changes.html` each change.",
        "",
    ]
    return "\n".join(lines)
