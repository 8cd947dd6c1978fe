"""Every regular expression of the product with the ways it is used, and texts that a slow one is slow on."""

from __future__ import annotations

import ast
import itertools
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from re import _constants as op
from re import _parser as parser
from types import ModuleType
from typing import Any, Final, NamedTuple

from tests.packages import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
LENGTH = 2**16
_SHORT = 2**11
LONGEST = 0.25
"""Seconds of processor time for one text; a linear search of 64 kB takes a tenth of it, a quadratic one ten times."""
_WHOLE = {"match", "fullmatch"}
_MODULE = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_COMMON = [
    "ـ",
    "\u064b",
    "1",
    "٣",
    " ",
    "a",
    "ا",
    "\n",
    '"',
    "'",
    "(",
    "[",
    "<",
    "{",
    ".",
    "-",
    "_",
    "*",
    "\u200c",
]


_MADE: Final[dict[str, Callable[[], Iterable[re.Pattern[str]]]]] = {
    "machinery/text/references.py": lambda: [
        re.compile(rf"({parts})\s*[:：]\s*[^.\n]{{1,60}}", re.IGNORECASE)
        for parts in import_module("mihakk.machinery.text.references")._SEE.values()
    ],
    "machinery/text/stem.py": lambda: [
        getattr(import_module("mihakk.machinery.text.stem"), name)[language]
        for name in ("_PREFIX", "_ENDING")
        for language in ("ar", "fa", "en", "und")
    ],
    "machinery/text/canonical.py": lambda: [
        pattern
        for language in ("ar", "fa", "en", "und")
        for pattern in import_module("mihakk.machinery.text.canonical")._RULES[language]
        if isinstance(pattern, re.Pattern)
    ],
    "validators/checks/text/script.py": lambda: [
        import_module("mihakk.validators.checks.text.script").WRONG[language]
        for language in ("ar", "fa", "und")
    ],
    "validators/checks/check.py": lambda: [re.compile("[ab\\]]")],
    "validators/checks/text/list_mark.py": lambda: [re.compile(r"\b12\s*[.)\]/–-]")],
    "validators/expectations/contracts.py": lambda: [
        re.compile(pattern)
        for one in import_module("mihakk.validators.expectations.contracts").CONTRACTS.values()
        for pattern in one.like.values()
    ],
    "validators/expectations/guard.py": lambda: [
        re.compile(pattern)
        for one in import_module("mihakk.validators.expectations.contracts").CONTRACTS.values()
        for pattern in (r"(?s)\S", *one.like.values())
    ],
    "validators/external/mapping.py": lambda: [re.compile(r"(?<!\\)\+")],
    "pipeline/forgetting.py": lambda: [
        import_module("mihakk.pipeline.forgetting")._pattern(["somebody@example.org", "ما كتبه", "aaaaaaaa"])
    ],
    "releases/versions/withdrawal.py": lambda: [re.compile(r"^## 1\.0\.0$", re.MULTILINE)],
    "evaluation/metrics/_overlap.py": lambda: [
        import_module("mihakk.evaluation.metrics._overlap")._balsam_marks()
    ],
    "evaluation/reading/read.py": lambda: [re.compile(r"^def solve\b", re.MULTILINE)],
}
"""Modules whose functions make patterns of what they are given, with such patterns."""


class Used(NamedTuple):
    """One pattern and how it is applied."""

    where: str
    pattern: re.Pattern[str] | re.Pattern[bytes]
    methods: frozenset[str]
    """Of `match`, `fullmatch` and `finditer`, which stands for everything that goes through a text."""


class Found(NamedTuple):
    """All patterns that are known without a run."""

    used: list[Used]
    unknown: list[str]
    """`FILE EXPRESSION` of calls whose pattern is made of what a function is given, and of what is not told."""


def patterns() -> Found:
    """The pattern of every call of `re` in the product, with what is done to those that have a name."""
    nodes = {
        file: list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
    }
    calls = {file: found for file, every in nodes.items() if (found := list(filter(_is_re, every)))}
    made = _compiled_by_import(list(calls))
    methods = {file: _methods(every) for file, every in nodes.items()}
    everywhere: dict[str, set[str]] = {}
    for own in methods.values():
        for name, how in own.items():
            everywhere.setdefault(name, set()).update(how)
    imports = (node for every in nodes.values() for node in every if isinstance(node, ast.ImportFrom))
    taken = {name.name for node in imports for name in node.names}
    used, unknown = [], []
    for file, own_calls in calls.items():
        targets = (found for node in nodes[file] for found in _targets(node))
        names = {id(one): name for name, value in targets for one in ast.walk(value)}
        for call in own_calls:
            place = str(file.relative_to(ROOT))
            found = _evaluated(call, file) or made.get((str(file), call.lineno))
            if not found and place not in _MADE:
                unknown.append(f"{place} {ast.unparse(call.args[0])}")
            name = names.get(id(call), "")
            known = everywhere if name in taken else methods[file]
            how = known.get(name, {"finditer"}) if call.func.attr == "compile" else {call.func.attr}
            applied = frozenset(one if one in _WHOLE else "finditer" for one in how)
            used += [Used(f"{place}:{call.lineno}", one, applied) for one in found or ()]
    used += [Used(place, one, frozenset({"finditer"})) for place, make in _MADE.items() for one in make()]
    return Found(used, unknown)


def _compiled_by_import(files: list[Path]) -> dict[tuple[str, int], list[re.Pattern[Any]]]:
    """File and line to the patterns that importing the product compiles there."""
    found: dict[tuple[str, int], list[re.Pattern[Any]]] = {}
    compiled = re.compile

    def noted(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
        caller = sys._getframe(1)
        made = compiled(pattern, flags)
        # The product is imported through the links of src/mihakk.
        place = str(Path(caller.f_code.co_filename).resolve())
        found.setdefault((place, caller.f_lineno), []).append(made)
        return made

    re.compile = noted
    try:
        for file in files:
            _module(file)
    finally:
        re.compile = compiled
    return found


def _module(file: Path) -> ModuleType:
    parts = ("mihakk", *file.relative_to(ROOT).with_suffix("").parts)
    return import_module(".".join(parts).removesuffix(".__init__"))


def _is_re(call: ast.AST) -> bool:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "re"
        and call.func.attr in _MODULE
    )


def _targets(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
        yield from ((target.id, node.value) for target in targets if isinstance(target, ast.Name))


def _methods(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Name of a pattern, or of a table of some, to what is called of it; handed on, it may be used in any way."""
    called = {}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            inner = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            called[id(inner)] = node.attr
    found: dict[str, set[str]] = {}
    for node in nodes:
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        if isinstance(getattr(node, "ctx", None), ast.Load):
            found.setdefault(name, set()).add(called.get(id(node), "finditer"))
    return {name: how - {"pattern", "flags"} for name, how in found.items()}


def _evaluated(call: ast.Call, file: Path) -> list[re.Pattern[Any]]:
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    if call.func.attr in ("compile", "search", "match", "fullmatch", "findall", "finditer"):
        flags += call.args[1:] if call.func.attr == "compile" else call.args[2:]
    try:
        given = [
            eval(compile(ast.Expression(one), str(file), "eval"), vars(_module(file)))
            for one in (call.args[0], *flags)
        ]
    except NameError:
        return []
    return [re.compile(*given)]


def text_of(start: str, unit: str, end: str, length: int) -> str:
    """A start, a unit as often as it takes to fill the length, an end."""
    return start + (unit * (length // len(unit) + 1))[:length] + end


def shapes(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Start, unit and end: every letter class, every pair, and what each repetition in the pattern repeats."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~re.DEBUG)
    own = list(dict.fromkeys(unit for unit in _units(tree) if unit))[:24]
    alone = dict.fromkeys(
        [*_pumped(tree, ""), *((start, one) for one in [*own, *_COMMON] for start in ("", "ا"))]
    )
    pairs = itertools.permutations(dict.fromkeys([*own, "\n", "ا"]), 2)
    runs = itertools.product(own, dict.fromkeys([*own, " ", "\n", "ا"]))
    yield from ((start, unit, end) for start, unit in alone for end in ("\0", ""))
    yield from (("", one + other, "\0") for one, other in pairs)
    yield from (("", one + other * 255, "\0") for one, other in runs)


def _pumped(tree: Any, start: str) -> Iterator[tuple[str, str]]:
    """What leads up to each repetition without a bound, and what it repeats."""
    for code, value in tree:
        for inner in _inner(code, value):
            yield from _pumped(inner, start)
        repeats = code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[1] > 255
        if repeats and (unit := _example(value[2])):
            yield start, unit
        start += _example([(code, value)])


def _inner(code: Any, value: Any) -> list[Any]:
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [value[2]]
    if code is op.SUBPATTERN:
        return [value[3]]
    if code is op.BRANCH:
        return value[1]
    if code in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return [value] if code is op.ATOMIC_GROUP else []


def _example(tree: Any) -> str:
    """A short text that a part of a pattern matches, but for assertions."""
    told = ""
    for code, value in tree:
        if code is op.LITERAL:
            told += chr(value)
        elif code in (op.IN, op.NOT_LITERAL, op.ANY):
            told += _classes(code, value)[0]
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            told += _example(value[2]) * min(value[0], 64)
        elif code in (op.SUBPATTERN, op.ATOMIC_GROUP, op.BRANCH):
            told += _example(_inner(code, value)[0])
    return told


def _units(tree: Any) -> Iterator[str]:
    """The words that a pattern spells, and a letter of each of its classes."""
    word = ""
    for code, value in tree:
        if code is op.LITERAL:
            word += chr(value)
            continue
        yield word
        word = ""
        if code in (op.IN, op.NOT_LITERAL, op.ANY):
            yield from _classes(code, value)
        for inner in _inner(code, value):
            yield from _units(inner)
            yield _example(inner)
    yield word


_LETTERS = "aZ1٣ا\u064bـ \n.\t-\"'<(_*,:/#\u200c"
_CATEGORIES = {
    op.CATEGORY_DIGIT: "1٣",
    op.CATEGORY_SPACE: " \n",
    op.CATEGORY_WORD: "aا1",
    op.CATEGORY_NOT_DIGIT: "a",
    op.CATEGORY_NOT_SPACE: "ا.",
    op.CATEGORY_NOT_WORD: " .",
}


def _classes(code: Any, value: Any) -> list[str]:
    """A letter of every part of a class; of one that excludes, the first that it leaves."""
    if code is op.ANY:
        return ["a"]
    parts = [(op.NEGATE, None), (op.LITERAL, value)] if code is op.NOT_LITERAL else value
    letters = [
        letter
        for what, one in parts
        for letter in (
            [chr(one)]
            if what is op.LITERAL
            else [chr(one[0])]
            if what is op.RANGE
            else _CATEGORIES.get(one, "")
        )
    ]
    if parts[0][0] is not op.NEGATE:
        return letters[:: len(letters) // 4 + 1]
    return [letter for letter in _LETTERS if letter not in letters][:3]


class _TooLong(Exception):
    pass


def slow(used: Used, longest: float = LONGEST) -> str:
    """The text on which a pattern takes too long; empty where there is none."""

    def stop(*_: object) -> None:
        raise _TooLong

    signal.signal(signal.SIGVTALRM, stop)
    for method in sorted(used.methods):
        for start, unit, end in shapes(used.pattern):
            # A short text first: what is quick on it is not worth the long one.
            if all(
                _seconds(used.pattern, method, text_of(start, unit, end, length), longest) > limit
                for length, limit in ((_SHORT, longest / 50), (LENGTH, longest))
            ):
                return f"{used.where} {method}: {(start + unit)[:24]!r} repeated, then {end!r}"
    return ""


def _seconds(pattern: re.Pattern[Any], method: str, text: str, longest: float) -> float:
    given: Any = text if isinstance(pattern.pattern, str) else text.encode("utf-8")
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * longest)
    try:
        _apply(getattr(pattern, method), given)
    except _TooLong:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def _apply(method: Callable[[Any], Any], text: Any) -> None:
    found = method(text)
    if found is not None and not isinstance(found, re.Match):
        for _ in found:
            pass


if __name__ == "__main__":
    known = patterns()
    # What stands in several places is tried once.
    apart = {(one.pattern, one.methods): one for one in known.used}
    told = [found for one in apart.values() if (found := slow(one))]
    print(
        json.dumps({"patterns": len(known.used), "unknown": known.unknown, "slow": told}, ensure_ascii=False)
    )
