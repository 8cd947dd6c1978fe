"""The page of error messages, taken from the code: the text to search for, exit code, what raises it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mihakk import errors
from mihakk.settings import ROOT
from tools.docs_map import PACKAGES

BLANK = "…"
"""Stands for what a message fills in."""
CODES = {
    name: kind.exit_code
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.MihakkError) and name != "RecordRejected"
}
"""Errors that end a command, and their exit codes; a rejected record ends none."""
LEAST_WORDS = 2


@dataclass(frozen=True)
class Message:
    """One place in the code that ends a command."""

    text: str
    code: int
    module: str


def messages() -> list[Message]:
    """All messages that the code itself words, in the order of module and line."""
    return [
        one for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) for one in _of(path)
    ]


def _of(path: Path) -> Iterator[Message]:
    module = path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in CODES
            and node.args
        ):
            text = " ".join(_template(node.args[0]).split())
            if sum(word.isalpha() for word in text.split()) >= LEAST_WORDS:
                yield Message(text, CODES[node.func.id], module)


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left) + _template(node.right)
    return BLANK


def page() -> str:
    """The messages by package, as Markdown tables."""
    lines = [
        "# Error messages",
        "",
        f"Taken from the code. {BLANK} stands for what the message fills in: a file, a name, a number. "
        "Exit codes: 2 you can fix it, and the message says how; 75 something outside failed, run the same "
        "command again later; 1 a source changed.",
    ]
    found = messages()
    for package in PACKAGES:
        mine = sorted({one for one in found if one.module.split(".")[0] == package}, key=lambda one: one.text)
        if not mine:
            continue
        lines += ["", f"## {package}", "", "| message | exit | raised in |", "|---|---|---|"]
        lines += [f"| {_cell(one.text)} | {one.code} | `{one.module}` |" for one in mine]
    return "\n".join(lines)


def _cell(text: str) -> str:
    for letter in "\\`*_[]|<>{}":
        text = text.replace(letter, f"&#{ord(letter)};")
    return text
