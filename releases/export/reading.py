"""The copy of the reader of replies that every release carries, so that its tasks score as Mihakk does."""

from __future__ import annotations

import re
from pathlib import Path
from pprint import pformat
from typing import Final

from mihakk.machinery.languages import languages, pack
from mihakk.machinery.settings import PACKAGE

_MODULES: Final = {
    "evaluation/reading": (
        "written", "choice", "answer", "statements", "run_on", "labels", "option_words", "cues", "tags",
        "reading",
    ),
    "machinery/text": ("key", "codepoints", "_orthography", "_tokens", "reasoning"),
    "machinery": ("errors", "remembered"),
}  # fmt: skip
"""What `read_written` and `key` are made of; they import these, `languages` and Python's library alone."""
_LANGUAGES: Final = '''"""How letters are folded where texts are matched, as Mihakk's languages say."""

from collections.abc import Callable
from typing import Any, NamedTuple

Language = str


class Writing(NamedTuple):
    marks: str = "kept"
    key_folds: dict[str, str] = {{}}


class Pack(NamedTuple):
    writing: Writing = Writing()


PACKS = {packs}


class ByLanguage(dict[str, Any]):
    def __init__(self, make: Callable[[Pack], Any]) -> None:
        self.make = make

    def __missing__(self, language: str) -> Any:
        tag = language
        while tag not in PACKS and "-" in tag:
            tag = tag.rpartition("-")[0]
        self[language] = made = self.make(Pack(Writing(*PACKS[tag])) if tag in PACKS else Pack())
        return made
'''
_MADE: Final = '"""How Mihakk {version} reads replies: its own modules, changed in their imports alone."""\n'
_TYPE: Final = "from mihakk.schemas.record import Language"
_OWN: Final = r"mihakk\.(?:evaluation\.reading|machinery\.text|machinery)"
_IMPORT: Final = re.compile(rf"^from {_OWN}(\.\w+)? import (.+)$", re.MULTILINE)


def write_reading(folder: Path, code_version: str) -> None:
    """Write the package `reading` into a folder of a release."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(_MADE.format(version=code_version), encoding="utf-8")
    for place, names in _MODULES.items():
        for name in names:
            source = (PACKAGE / place / f"{name}.py").read_text(encoding="utf-8")
            source = source.replace(_TYPE, "from .languages import Language")
            (folder / f"{name}.py").write_text(_IMPORT.sub(_beside, source), encoding="utf-8")
    told = {code: (pack(code).writing.marks, pack(code).writing.key_folds) for code in sorted(languages())}
    (folder / "languages.py").write_text(_LANGUAGES.format(packs=pformat(told, width=100)), encoding="utf-8")


def _beside(found: re.Match[str]) -> str:
    module, names = found[1], found[2]
    if module is None and names == "key":
        module = ".key"
    return f"from {module or '.'} import {names}"
