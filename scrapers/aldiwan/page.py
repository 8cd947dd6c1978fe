"""Poem pages of aldiwan in their two later generations.

B (2021 to 2025): everything in `#poem_content`; other `h3` on the page are words of the site's own. C (2026):
`#poemText` with lines of two spans. Links elsewhere name poets too, so the poet is taken from the breadcrumb
alone. A page is of the generation whose container it holds; a page of neither is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from mihakk.machinery.errors import RecordRejected, SourceChanged
from mihakk.scrapers.aldiwan.poem import Read
from mihakk.scrapers.crawl import Page, PageRequest
from mihakk.scrapers.labels import is_country, names_era, number

HOME = "https://www.aldiwan.net"
_FREE = {"التفعيله", "التفعيلة", "شعر حر", "قصيدة النثر", "قصيدة نثر"}
_NUMBER = re.compile(r"/poem(\d+)(?:\.html)?$")
# Leading words of the tags under a poem, and what they say.
_TAGS = (("بحر ", "metre"), ("قافية ", "rhyme"), ("قصيدة ", "genre"))
_FORMS = {"قصيدة عمودية", "قصيدة نثر", "قصيدة النثر"}


def starts(base: str, addresses: Iterable[str]) -> Iterator[PageRequest]:
    """First requests: poems (`/poem66.html`) and pages of poets (`/cat-poet-...`)."""
    for address in addresses:
        kind = "poem" if _NUMBER.search(urlsplit(address).path) else "listing"
        yield PageRequest(url=f"{base}{address}", kind=kind)


def follow(page: Page) -> Iterator[PageRequest]:
    """Poems and further pages of a poet's page.

    Raises:
        SourceChanged: A listing without a poem.
    """
    if page.request.kind != "listing":
        return
    tree = page.html()
    links = [
        link.attributes.get("href") or ""
        for link in tree.css('div.record a.float-right, a[href^="/poem"], a[href^="poem"]')
    ]
    poems = [urljoin(page.request.url, link) for link in links]
    found = [link for link in dict.fromkeys(poems) if _NUMBER.search(urlsplit(link).path)]
    if not found:
        raise SourceChanged(f"{page.request.url}: no poem in a listing")
    for address in found:
        yield PageRequest(url=address, kind="poem")
    for link in tree.css('a[href*="page="]'):
        target = urljoin(page.request.url, link.attributes.get("href") or "")
        if urlsplit(target).path == urlsplit(page.request.url).path:
            yield PageRequest(url=target, kind="listing")


def read(page: Page) -> Read:
    """The poem of a page.

    Raises:
        SourceChanged: The page is of neither generation, or lacks what every page of it has.
        RecordRejected: The page contradicts itself.
    """
    tree = page.html()
    found = _NUMBER.search(urlsplit(page.request.url).path)
    if found is None:
        raise SourceChanged(f"{page.request.url} is not the address of a poem")
    if tree.css_first("#poem_content") is not None:
        return _generation_b(tree, found[1], page.request.url)
    if tree.css_first("#poemText") is not None:
        return _generation_c(tree, found[1], page.request.url)
    raise SourceChanged(f"{page.request.url} has none of the layouts that the parser knows")


def _generation_b(tree: LexborHTMLParser, identifier: str, where: str) -> Read:
    trail = _breadcrumb(tree, where)
    if len(trail) != 3:
        raise SourceChanged(f"{where}: the breadcrumb has {len(trail)} parts, not era, poet and title")
    poem = Read(number=identifier, title=trail[2], poet=trail[1], labels=_place(trail[0]))
    content = tree.css_first("#poem_content")
    assert content is not None
    for node in content.iter():
        if node.tag == "h3":
            poem.hemistichs.append(_text(node))
        elif node.tag == "h4":
            poem.lines.extend(_lines(node))
        elif node.tag not in ("br", "script", "style"):
            raise SourceChanged(f"{where}: the parser does not know <{node.tag}> in a poem")
    if poem.hemistichs and poem.lines:
        raise SourceChanged(f"{where}: a poem in two columns and in lines at once")
    for tag in tree.css("div.tips a"):
        _tag(poem, tag.text(strip=True), where)
    tips = tree.css_first("div.tips")
    counted = re.search(r"عدد الأبيات\s*+:?\s*+([\d٠-٩]+)", tips.text() if tips else "")
    poem.declared = number(counted[1]) if counted else None
    return poem


def _place(first: str) -> dict[str, str]:
    """The first part of a breadcrumb is the era of an old poet and the country of a modern one."""
    return {"era" if names_era(first) and not is_country(first) else "country": first}


def _tag(poem: Read, text: str, where: str) -> None:
    if text in _FORMS:
        poem.labels["form"] = text
        return
    for prefix, name in _TAGS:
        if text.startswith(prefix):
            if name == "rhyme":
                poem.rhyme = text.removeprefix(prefix).strip()
            else:
                poem.labels[name] = text.removeprefix(prefix).strip()
            return
    raise SourceChanged(f"{where}: the parser does not know the tag {text!r}")


def _breadcrumb(tree: LexborHTMLParser, where: str) -> list[str]:
    for script in tree.css('script[type="application/ld+json"]'):
        try:
            data: Any = orjson.loads(script.text())
        except orjson.JSONDecodeError as error:
            raise SourceChanged(f"{where}: its JSON-LD can't be read: {error}") from error
        if data.get("@type") == "BreadcrumbList":
            items = sorted(data["itemListElement"], key=lambda item: int(item["position"]))
            return [str(item["name"]).strip() for item in items]
    raise SourceChanged(f"{where}: no breadcrumb")


def _generation_c(tree: LexborHTMLParser, identifier: str, where: str) -> Read:
    trails = tree.css(".poem-breadcrumb")
    if len(trails) != 1:
        raise SourceChanged(f"{where}: {len(trails)} breadcrumbs, not one")
    links = [node for node in trails[0].iter() if node.tag == "a"]
    if len(links) != 2:
        raise SourceChanged(f"{where}: the breadcrumb has {len(links)} links, not era and poet")
    era, poet = (link.text(strip=True) for link in links)
    meta = tree.css_first('meta[property="og:title"]')
    said = ((meta.attributes.get("content") if meta else "") or "").strip()
    title, _, author = said.rpartition(" - ")
    if author.strip() != poet:
        raise RecordRejected("poet_differs", f"the breadcrumb says {poet!r}, the title {author.strip()!r}")
    poem = Read(number=identifier, title=title.strip(), poet=poet, labels=_place(era))
    slug = unquote(links[1].attributes.get("href") or "").strip()
    poem.labels["poet_page"] = slug
    card = tree.css_first(".poem-reader-card")
    body = tree.css_first("#poemText")
    assert body is not None
    if card is None:
        raise SourceChanged(f"{where}: no .poem-reader-card")
    for span in card.css(".poem-meta-inline > span"):
        text = span.text(strip=True)
        if text.startswith("عدد الأبيات"):
            poem.declared = number(text)
        elif "قراءة" not in text:
            raise SourceChanged(f"{where}: the parser does not know {text!r} above the poem")
    free = [node.text(strip=True) for node in card.css("a, span") if node.text(strip=True) in _FREE]
    if free:
        poem.labels["form"] = free[0]
    _verses_c(body, poem, where)
    return poem


def _verses_c(body: LexborNode, poem: Read, where: str) -> None:
    free = poem.labels.get("form", "") in _FREE
    for node in body.iter():
        classes = (node.attributes.get("class") or "").split()
        if "poem-line" in classes:
            spans = [_text(child) for child in node.iter() if child.tag == "span"]
            if not 1 <= len(spans) <= 2:
                raise SourceChanged(f"{where}: a line of {len(spans)} parts")
            if free:
                poem.lines.append(" ".join(spans))
            else:
                poem.units.append((spans[0], spans[1] if len(spans) == 2 else None))
        elif node.tag in ("p", "div") and not classes:
            poem.lines.extend(_lines(node))
        elif node.tag != "br":
            raise SourceChanged(f"{where}: the parser does not know <{node.tag}> in a poem")
    if poem.units and poem.lines:
        raise SourceChanged(f"{where}: a poem in two columns and in lines at once")


def _text(node: LexborNode) -> str:
    """Text of a node; words marked for the glossary stay where they are."""
    return re.sub(r"\s+", " ", node.text()).strip()


def _lines(node: LexborNode) -> list[str]:
    """Lines of a node, separated by `br`."""
    parts = [""]
    for child in node.iter(include_text=True):
        if child.tag == "br":
            parts.append("")
        else:
            parts[-1] += child.text()
    return [clean for part in parts if (clean := re.sub(r"\s+", " ", part).strip())]
