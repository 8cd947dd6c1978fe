"""The docstring of a prompt: its place, its lines of code, and what is not Arabic in its sentences."""

import ast
import doctest
import re
from typing import Final, Literal, NamedTuple

from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text import script_shares, tokens
from mihakk.validators.code.problem import parsed

LineKind = Literal["blank", "code", "prose", "english"]
_OPEN: Final = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')")
SENTENCE_MARKS: Final = "،؛؟.,:;!?«»“”\"'()"
"""Marks between words: they may change, as punctuation and quoting do, where no code stands inside them."""
_SPANS: Final = re.compile(
    r"`[^`\n]*`"  # in backticks
    r"|'[^'\n\u0600-\u06ff]*'|\"[^\"\n\u0600-\u06ff]*\""  # quoted, without Arabic letters
    r"|\[[^\[\]\n\u0600-\u06ff]*\]|\{[^{}\n\u0600-\u06ff]*\}|\((?=[^()\n]*[\w])[^()\n\u0600-\u06ff]*\)"
)
_END: Final = re.compile(r"(?<![.؟?!؛])[.؟?!؛]++(?=\s|$)")


class Docstring(NamedTuple):
    """One docstring of a prompt."""

    start: int
    """Index in the prompt of its first character behind the opening quotes."""
    end: int
    """Of the closing quotes."""
    text: str
    """As it is written there."""
    line: int
    """Line of the prompt that it begins in, counted from 1."""


def docstring_of(prompt: str, entry_point: str) -> Docstring | None:
    """The docstring of the function that is asked for, else that of the module; None where there is none.

    None, too, where it is written with escapes: what stands in the file is then not what a reader sees.
    """
    tree = parsed(prompt)
    if tree is None:
        return None
    functions: list[ast.Module | ast.FunctionDef] = [
        one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == entry_point
    ]
    for node in (*functions, tree):
        first = node.body[0] if node.body else None
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            return _located(prompt, first.value)
    return None


def _located(prompt: str, node: ast.Constant) -> Docstring | None:
    lines = prompt.splitlines(keepends=True)

    def index(line: int, column: int) -> int:
        before = sum(map(len, lines[: line - 1]))
        return before + len(lines[line - 1].encode()[:column].decode())

    begin, end = index(node.lineno, node.col_offset), index(node.end_lineno or 0, node.end_col_offset or 0)
    opened = _OPEN.match(prompt, begin)
    if opened is None:
        return None
    start, end = opened.end(), end - len(opened[1])
    text = prompt[start:end]
    return Docstring(start, end, text, node.lineno) if text == node.value else None


def replaced(prompt: str, docstring: Docstring, text: str) -> str:
    """The prompt with another docstring in the same quotes."""
    return prompt[: docstring.start] + text + prompt[docstring.end :]


def examples_of(text: str) -> list[doctest.Example]:
    """The examples of a docstring; none where it holds no well-formed one."""
    try:
        return doctest.DocTestParser().get_examples(text)
    except ValueError:
        return []


def line_kinds(text: str) -> list[LineKind]:
    """What each line of a docstring is: an example with its output and lines of code are `code`."""
    lines = text.split("\n")
    kinds: list[LineKind] = []
    in_output = False
    for line in lines:
        bare = line.strip()
        if bare.startswith((">>>", "...")) and not bare.startswith("...."):
            in_output = True
            kinds.append("code")
        elif not bare:
            in_output = False
            kinds.append("blank")
        elif in_output or (not has_arabic(bare) and _is_code(bare)):
            kinds.append("code")
        else:
            kinds.append("prose" if has_arabic(bare) else "english")
    return kinds


def has_arabic(text: str) -> bool:
    """Whether any letter is of the Arabic script."""
    return script_shares(text)["arabic"] > 0


def _is_code(line: str) -> bool:
    """Whether a line without Arabic is no sentence: it parses as Python, or has signs that sentences lack."""
    if len(re.findall(r"[A-Za-z]{2,}", line)) < 3:
        return True
    try:
        ast.parse(line)
    except (SyntaxError, ValueError):
        return bool(re.search(r"[=<>\[\]{}]|->|➞|=>|\w\(", line))
    return True


def kept_tokens(line: str) -> list[str]:
    """What of a line of prose has to stay, in order: code spans, English, digits, operators, other signs."""
    kept: list[str] = []
    place = 0
    for span in _SPANS.finditer(line):
        kept += _kept_between(line[place : span.start()])
        kept.append(span[0])
        place = span.end()
    return kept + _kept_between(line[place:])


def _kept_between(text: str) -> list[str]:
    kept = []
    for piece in text.split():
        rest = "".join(char for char in piece if not is_arabic_word_part(char)).strip(SENTENCE_MARKS)
        if rest:
            kept.append(rest)
    return kept


def is_arabic_word_part(char: str) -> bool:
    """A letter or mark of an Arabic word: neither digit nor sign."""
    return char in cp.MARKS or char == cp.TATWEEL or (char.isalpha() and script_shares(char)["arabic"] == 1)


def arabic_words(line: str) -> list[str]:
    """The Arabic words of a line, in order, as written."""
    return [word for word in tokens(_SPANS.sub(" ", line)) if has_arabic(word)]


def marks(line: str) -> list[str]:
    """The marks between words of a line, in order."""
    return [char for char in _SPANS.sub(" ", line) if char in SENTENCE_MARKS]


def sentences(text: str) -> int:
    """How many sentences the prose of a docstring holds; the last may lack its full stop."""
    lines = zip(text.split("\n"), line_kinds(text), strict=True)
    prose = " ".join(line.strip() for line, kind in lines if kind == "prose")
    return sum(1 for piece in _END.split(prose) if has_arabic(piece))
