"""A module whose name begins with an underscore belongs to its package: nothing outside imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from mihakk.machinery.settings import PACKAGE, ROOT
from tests.packages import PACKAGES


def imported(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def private_package(name: str) -> str | None:
    """The package that alone may import a dotted name; None when its modules are public."""
    parts = name.split(".")
    private = [place for place, part in enumerate(parts[:-1], 1) if part.startswith("_")]
    module = PACKAGE.joinpath(*parts[1:]).with_suffix(".py")
    if not private and parts[-1].startswith("_") and module.is_file():
        private = [len(parts)]
    return ".".join(parts[: private[0] - 1]) if private else None


def test_private_modules_are_imported_by_their_own_package_alone() -> None:
    strangers = []
    seen = 0
    for package in PACKAGES:
        for source in (ROOT / package).rglob("*.py"):
            importer = ".".join(("mihakk", *source.relative_to(ROOT).with_suffix("").parts))
            for name in imported(source):
                owner = private_package(name) if name.startswith("mihakk.") else None
                seen += owner is not None
                if owner is not None and not importer.startswith(f"{owner}."):
                    strangers.append(f"{importer} imports {name}")
    assert seen > 10
    assert strangers == []
