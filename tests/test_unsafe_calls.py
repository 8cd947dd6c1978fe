"""Nothing of ours reads a format that can run code, and no XML or archive is opened but by the guarded readers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mihakk.machinery.settings import ROOT
from tests.packages import PACKAGES

RUNS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle"}
"""Modules whose readers run what the file says."""
INSIDE_THE_SANDBOX = "machinery/sandbox/_inside.py"
"""Runs programs, and is itself run by bubblewrap alone."""
OPENED_BY = {
    "zipfile": {"machinery/unpacked.py", "machinery/workbook.py", "scrapers/epub.py"},
    "tarfile": {"scrapers/ganjoor/export.py"},
    "unpack_archive": {"releases/hub/embedded.py"},
    "load_workbook": {"machinery/workbook.py"},
    "XMLParser": {"scrapers/epub.py"},
}
"""Who may open archives and XML: each weighs what it unpacks, refuses entities, and writes no path of theirs."""


def sources() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def names(tree: ast.Module) -> Iterator[str]:
    """Every module imported, name called and attribute called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def keywords(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Constant keyword arguments of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for one in node.keywords:
                if isinstance(one.value, ast.Constant):
                    yield one.arg or "", one.value.value


def test_no_format_that_runs_code_is_read() -> None:
    for where, tree in sources():
        assert not RUNS_CODE & set(names(tree)), where
        if where == INSIDE_THE_SANDBOX:
            assert "eval" not in set(names(tree))
            continue
        assert not {"eval", "exec", "to_pickle", "read_pickle", "unsafe_load", "full_load"} & set(
            names(tree)
        ), where
        given = set(keywords(tree))
        assert ("allow_pickle", True) not in given, where
        assert ("shell", True) not in given, where
        assert ("trust_remote_code", True) not in given, where


def test_archives_and_xml_are_opened_by_their_guarded_readers_alone() -> None:
    found: dict[str, set[str]] = {name: set() for name in OPENED_BY}
    for where, tree in sources():
        for name in OPENED_BY.keys() & set(names(tree)):
            found[name].add(where)
    assert found == OPENED_BY


def test_whole_files_are_listed() -> None:
    assert sum(1 for _ in sources()) > 150
    assert all((ROOT / package).is_dir() for package in PACKAGES)
