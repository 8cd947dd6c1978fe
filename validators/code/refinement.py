"""What a refined docstring may change, whoever wrote it (QIMMA, section 4.2)."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from html import escape
from pathlib import Path
from typing import Final, Literal, get_args

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.text.stem import stems
from mihakk.schemas.record import Record
from mihakk.validators.code.docstring import (
    Docstring,
    arabic_words,
    docstring_of,
    has_arabic,
    kept_tokens,
    line_kinds,
    marks,
    replaced,
    sentences,
)
from mihakk.validators.code.problem import Problem, parsed
from mihakk.validators.code.terms import hint_words, logic_words, off_glossary

ChangeKind = Literal["linguistic", "clarity", "consistency", "structural", "semantic"]
CHANGE_KINDS: Final[tuple[ChangeKind, ...]] = get_args(ChangeKind)
Status = Literal["unchanged", "proposed", "refused", "for_people"]
MOST_WORDS = 2
"""So many words more or fewer may a line have."""
LEAST_KEPT = 0.4
"""Share of a line's words that stay, by their stems: less is another sentence."""
PAPER: Final = {"HumanEval+": (145, 164), "MBPP+": (308, 378)}
"""Prompts changed, and prompts in all, of 3LM's Arabic sets (QIMMA, table 2b)."""
_QUOTED: Final = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|«[^«»\n]*»|“[^“”\n]*”|`[^`\n]*`')


class Refinement(Record):
    """What became of one problem's docstring."""

    problem: str
    line: int
    """Of the file."""
    status: Status
    """unchanged: it is right as it stands; proposed: a change that keeps every rule; refused: no reply of the
    model does; for_people: no model may touch it, or the model asks for people."""
    before: str
    """The docstring; the whole prompt where that does not parse."""
    after: str
    kinds: tuple[ChangeKind, ...] = ()
    needs_human: bool = False
    """The model is not sure, and says so."""
    reason: str = ""
    model: str = ""


def objection(problem: Problem, docstring: Docstring, text: str, *, needs_human: bool) -> str:
    """Why a refined docstring can't be taken, as the model is told; empty where every rule is kept.

    Args:
        problem: Whose docstring it is.
        docstring: As it stands.
        text: Instead of it.
        needs_human: Words of logic may change where people are asked to confirm it.
    """
    before, after = docstring.text.split("\n"), text.split("\n")
    if len(before) != len(after):
        return f"it has {len(after)} lines, not {len(before)}: keep every line break"
    for number, (old, new, kind) in enumerate(zip(before, after, line_kinds(docstring.text), strict=True), 1):
        if told := _line_objection(old, new, prose=kind == "prose"):
            return f"line {number}: {told}"
    if line_kinds(text) != line_kinds(docstring.text):
        return "a sentence became code, or code a sentence"
    if sentences(text) != sentences(docstring.text):
        return "add no sentence and leave none out"
    if new_hints := hint_words(text) - hint_words(docstring.text):
        return f"{min(new_hints)!r} says how to solve the task: only what is asked may stand there"
    if not needs_human and Counter(logic_words(text)) != Counter(logic_words(docstring.text)):
        return "a word of number, negation, comparison or order changed: keep it, or set needs_human"
    return _code_objection(problem, docstring, text)


def _line_objection(old: str, new: str, *, prose: bool) -> str:
    if not prose:
        return "" if old == new else "it is code, an example, its output or English: keep it as it is"
    if _margins(old) != _margins(new):
        return "keep the spaces at its beginning and end"
    if {char for char in new if char.isspace()} - {" ", *old}:
        return "write plain spaces alone"
    if kept_tokens(old) != kept_tokens(new):
        return f"keep {kept_tokens(old)} as they are and in this order; it has {kept_tokens(new)}"
    if _quoted_arabic(old) != _quoted_arabic(new):
        return "keep what stands in quotes: programs may print it"
    words, now = arabic_words(old), arabic_words(new)
    if abs(len(now) - len(words)) > MOST_WORDS:
        return f"it has {len(now)} Arabic words, not about {len(words)}: add and leave out nothing"
    stay = (Counter(stems(" ".join(words), "ar")) & Counter(stems(" ".join(now), "ar"))).total()
    if stay < LEAST_KEPT * len(words):
        return "too few of its words are left: correct the sentence, write no other one"
    return ""


def _code_objection(problem: Problem, docstring: Docstring, text: str) -> str:
    """The program behind the words: the syntax tree without the docstring, and the docstring read back."""
    prompt = replaced(problem.prompt, docstring, text)
    there = docstring_of(prompt, problem.entry_point)
    if there is None or there.text != text:
        return "it does not stay one docstring: leave quotes and backslashes as they are"
    if _tree(prompt) != _tree(problem.prompt):
        return "the program around it changed"
    return ""


def _tree(prompt: str) -> str:
    tree = parsed(prompt)
    if tree is None:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body[0] = ast.Expr(ast.Constant("docstring"))
    return ast.dump(tree)


def _margins(line: str) -> tuple[str, str]:
    return line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]


def _quoted_arabic(line: str) -> list[str]:
    return [one[1:-1] for one in _QUOTED.findall(line) if has_arabic(one)]


def change_kinds(before: str, after: str) -> tuple[ChangeKind, ...]:
    """Which of the paper's kinds a change is of, by what differs: more than one may be.

    semantic: a word of logic; consistency: marks between words, or a term of the glossary; clarity: words
    added, left out or moved; linguistic: a word in place of another, or spelt otherwise.
    """
    found: set[ChangeKind] = set()
    if Counter(logic_words(before)) != Counter(logic_words(after)):
        found.add("semantic")
    if len(list(off_glossary(before))) > len(list(off_glossary(after))):
        found.add("consistency")
    for old, new in zip(before.split("\n"), after.split("\n"), strict=False):
        if marks(old) != marks(new):
            found.add("consistency")
        matcher = SequenceMatcher(None, arabic_words(old), arabic_words(new), autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag != "equal":
                found.add("linguistic" if j - i == m - k else "clarity")
    if before != after and not found:
        found.add("consistency")  # spaces between words
    return tuple(kind for kind in CHANGE_KINDS if kind in found)


def word_diff(before: str, after: str) -> list[tuple[Literal["span", "del", "ins"], str]]:
    """Both texts word by word, spaces between them being words of their own: joined, each text is whole.

    Every piece comes with the tag of HTML that says whether it stays, goes or comes.
    """
    old, new = (re.findall(r"\s+|[^\s]+", text) for text in (before, after))
    found: list[tuple[Literal["span", "del", "ins"], str]] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = "".join(old[i:j]), "".join(new[k:m])
        found += [("span", gone)] if tag == "equal" else [("del", gone), ("ins", come)]
    return [(tag, text) for tag, text in found if text]


def marked_diff(before: str, after: str, escaped: Callable[[str], str] = escape) -> str:
    """`word_diff` as HTML; `escaped` makes text of texts, so that nothing they say can run."""
    return "".join(f"<{tag}>{escaped(text)}</{tag}>" for tag, text in word_diff(before, after))


class RefinedSet(Record):
    """Which file a folder of refinements belongs to."""

    file: str
    digest: str
    """SHA-256 of its bytes."""
    mapping: str = ""


def write_refinements(out: Path, file: Path, mapping: str, results: Sequence[Refinement]) -> None:
    """Writes `refinements.jsonl`, a line a problem, and `set.json`."""
    lines = "".join(f"{one.model_dump_json()}\n" for one in results)
    (out / "refinements.jsonl").write_text(lines, encoding="utf-8")
    said = RefinedSet(file=str(file.resolve()), digest=sha256(file.read_bytes()), mapping=mapping)
    (out / "set.json").write_text(f"{said.model_dump_json(indent=2)}\n", encoding="utf-8")


def read_refinements(out: Path) -> tuple[RefinedSet, list[Refinement]]:
    """What `write_refinements` wrote.

    Raises:
        UsageError: The folder holds none, or the file of problems has changed since.
    """
    try:
        said = RefinedSet.model_validate_json((out / "set.json").read_bytes())
        lines = (out / "refinements.jsonl").read_text(encoding="utf-8").splitlines()
        found = [Refinement.model_validate_json(line) for line in lines]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{out} holds no refinements ({type(error).__name__}): run `mihakk code refine`"
        ) from error
    file = Path(said.file)
    if not file.is_file() or sha256(file.read_bytes()) != said.digest:
        raise UsageError(f"{file} is not as it was refined: restore it, or run `mihakk code refine` again")
    return said, found


class Decided(Record):
    """What people decided about one refinement."""

    problem: str
    verdict: Literal["accept", "edit", "reject", "disputed"]
    """A change of meaning is a rejection, whatever else was answered."""
    text: str = ""
    """The docstring as people edited it; the whole prompt where that did not parse."""
    people: int
