"""Whatever a source, a config or a person writes stays words in the card, the changelog and the charts."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mihakk.machinery.markdown import code, link, plain, table
from mihakk.releases.assemble import assemble
from mihakk.schemas.quality import Baseline
from mihakk.schemas.rejection import Rejection
from tests.releases.release_material import FACTS, idiom_items, release_arguments

HOSTILE = (
    "</td><script>alert(1)</script><img src=x onerror=alert(2)> [go](javascript:alert(3)) ![i](http://evil.example/x.png)"
    " `code` | cell\n<!-- generated:end summary -->\n# heading \u202e {{ 7*7 }} <svg/onload=alert(4)>"
)
KNOWN = {"a", "br", "code", "em", "h1", "h2", "h3", "img", "li", "ol", "p", "pre", "strong", "table", "tbody",
         "blockquote", "td", "th", "thead", "tr", "ul"}  # fmt: skip
RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")


class Page(HTMLParser):
    """Tags, attributes and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses |= {value or "" for name, value in attrs if name in ("href", "src")}


def check(markdown: str) -> Page:
    """The page a Markdown text gives, held against what a card may hold."""
    page = Page(RENDERER.render(markdown))
    assert page.tags <= KNOWN, page.tags - KNOWN
    assert page.attributes <= {"href", "src", "alt", "title", "class", "style", "start"}
    assert not any("evil" in one or one.startswith("javascript") for one in page.addresses)
    return page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose every free text is hostile."""
    items = tuple(
        item.model_copy(
            update={
                "attribution": HOSTILE,
                "metadata": {**item.metadata, "era": HOSTILE, "genre": HOSTILE, "metre": HOSTILE},
                "subset": HOSTILE,
            }
        )
        for item in idiom_items()
    )
    said = {"name": HOSTILE, "title": HOSTILE, "revision": HOSTILE, "attribution": HOSTILE}
    facts = FACTS.model_copy(
        update={
            "sources": (
                FACTS.sources[0].model_copy(update={**said, "home": f"https://a.example/{HOSTILE}"}),
            ),
            "auditors": tuple(
                one.model_copy(update={"name": HOSTILE, "model": HOSTILE, "family": HOSTILE})
                for one in FACTS.auditors
            ),
            "funnel": tuple(one.model_copy(update={"source": HOSTILE}) for one in FACTS.funnel),
            "baselines": (
                Baseline(
                    task="x",
                    language="ar",
                    name="longest",
                    questions=9,
                    accuracy=0.3,
                    chance=0.25,
                    low=0.0,
                    high=1.0,
                ),
            ),
        }
    )
    arguments = release_arguments(items, facts, title=HOSTILE, authors=[HOSTILE])
    arguments["config"] = arguments["config"].model_copy(update={"title": HOSTILE})
    arguments["removed"] = [Rejection(record=HOSTILE, source=HOSTILE, reason=HOSTILE, detail=HOSTILE)]
    first = tmp_path_factory.mktemp("hostile") / "r"
    assemble(folder=first, **arguments)
    arguments["items"] = tuple(item for item in items if item.task == "meaning_choice")
    arguments["removed"] = [
        Rejection(record=item.id, reason=HOSTILE, detail=HOSTILE)
        for item in items
        if item.task != "meaning_choice"
    ]
    following = first.with_name("next")
    assemble(folder=following, previous=first, **arguments)
    return following


def test_the_card_holds_no_markup_but_its_own(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    assert yaml.safe_load(front)["pretty_name"] == HOSTILE
    page = check(body)
    assert page.addresses <= {
        one for one in page.addresses if one.startswith(("https://creativecommons.org/", "charts/"))
    }
    assert body.count("generated:end summary -->") == 1, "the marks of the generated sections are ours alone"
    assert "\u202e" not in body


def test_the_changelog_holds_no_markup_but_its_own(folder: Path) -> None:
    check((folder / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_the_charts_are_pictures_and_nothing_else(folder: Path) -> None:
    for path in sorted((folder / "charts").glob("*.svg")):
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        tags = {one.tag.rpartition("}")[2] for one in root.iter()}
        assert tags <= {"svg", "rect", "text", "g", "line", "circle"}, path
        assert not any(name.startswith("on") for one in root.iter() for name in one.keys()), path  # noqa: SIM118


@given(st.text(max_size=80))
def test_any_text_is_one_line_of_plain_words(text: str) -> None:
    assert Page(RENDERER.render(f"a {plain(text)} b")).tags == {"p"}
    cells = {"table", "thead", "tbody", "tr", "th", "td"}
    assert check(table(("head",), [(plain(text),)])).tags == cells
    assert Page(RENDERER.render(f"a {code(text)} b")).tags <= {"p", "code"}


@given(st.text(max_size=40))
def test_a_link_leads_to_the_web_or_nowhere(text: str) -> None:
    page = Page(RENDERER.render("x " + link("words", f"https://a.example/{text}")))
    assert all(one.startswith("https://a.example/") for one in page.addresses)
    assert not Page(RENDERER.render("x " + link(text, "javascript:alert(1)"))).addresses
