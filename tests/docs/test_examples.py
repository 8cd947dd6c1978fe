"""The documentation's examples do what they say: marked blocks are run in order, through the real command.

<!-- example: file NAME -->   the block below is written into NAME
<!-- example: run -->         the bash or Python below is run
<!-- example: prints -->      every line below stands in what the last run printed
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARKED = re.compile(
    r"^<!-- example: (?P<what>file|run|prints)(?: (?P<name>\S+))? -->\n```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Example:
    """One marked block."""

    what: str
    name: str
    language: str
    body: str


def examples(page: Path) -> Iterator[Example]:
    text = page.read_text(encoding="utf-8")
    found = list(MARKED.finditer(text))
    assert len(found) == text.count("<!-- example:"), f"{page.name}: a mark stands before no fenced block"
    for one in found:
        yield Example(one["what"], one["name"] or "", one["language"], one["body"])


PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if page.parent.name != "book" and "<!-- example: run -->" in page.read_text("utf-8")
)
"""Each is followed in a folder of its own."""
BOOK = [
    name
    for name in re.findall(r'"([^"]+\.md)"', (ROOT / "zensical.toml").read_text("utf-8"))
    if name.startswith("book/")
]
"""The book's chapters in the order of the menu: each goes on from the one before."""


def ran(example: Example, folder: Path, environment: dict[str, str]) -> str:
    command = ["bash", "-euo", "pipefail", "-c"] if example.language == "bash" else [sys.executable, "-c"]
    done = subprocess.run(
        [*command, example.body], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{example.body}\n{done.stdout}\n{done.stderr}"
    return " ".join(f"{done.stdout}\n{done.stderr}".split())


def reader(folder: Path) -> dict[str, str]:
    """The environment of a reader who has nothing but the command."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "MIHAKK_LAKE": str(folder / "lake"),
        "MIHAKK_HUB": str(folder / "hub"),
        "MIHAKK_CACHE": str(folder / "cache"),
        "MIHAKK_ERRATA": str(folder / "errata"),
        "MIHAKK_WORKERS": "1",
        "COLUMNS": "200",
        "PYTHONPATH": str(ROOT),
        "PIP_NO_BUILD_ISOLATION": "false",  # so pip says that it isolates nothing: no test may need the web
    }


def followed(page: Path, folder: Path, environment: dict[str, str]) -> None:
    """Does what a page says, in a folder, and compares what is printed with what the page says is printed."""
    printed = ""
    for example in examples(page):
        if example.what == "file":
            (folder / example.name).parent.mkdir(exist_ok=True)
            (folder / example.name).write_text(example.body, encoding="utf-8")
        elif example.what == "run":
            printed = ran(example, folder, environment)
        else:
            for line in example.body.splitlines():
                assert " ".join(line.split()) in printed, f"{page.name}: {line!r} was not printed"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    followed(page, folder, reader(tmp_path))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_book_is_a_week_in_one_folder(tmp_path: Path) -> None:
    """Its chapters, in the menu's order, by somebody who keeps lake and Hub where the book says."""
    folder = tmp_path / "reader"
    folder.mkdir()
    environment = reader(tmp_path)
    del environment["MIHAKK_LAKE"], environment["MIHAKK_HUB"]
    for chapter in BOOK:
        followed(DOCS / chapter, folder, environment)


def test_there_are_examples() -> None:
    names = {page.name for page in PAGES}
    assert {
        "how-to-audit-your-benchmark.md",
        "how-to-code-benchmarks.md",
        "quickstart.md",
    } <= names
    assert len(BOOK) == len(list((DOCS / "book").iterdir()))


def test_every_page_is_in_the_navigation() -> None:
    """A page that no menu leads to is found by nobody."""
    import tomllib

    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    listed: set[str] = set()

    def walk(entry: object) -> None:
        if isinstance(entry, str):
            listed.add(entry)
        elif isinstance(entry, list):
            for one in entry:
                walk(one)
        elif isinstance(entry, dict):
            for one in entry.values():
                walk(one)

    walk(site["project"]["nav"])
    made = {"reference/cli.md", "reference/config.md"}
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert pages | made == listed
