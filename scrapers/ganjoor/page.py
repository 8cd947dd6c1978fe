"""Poem pages of ganjoor.net, the fallback where neither export nor API can be had.

A page names metre and form in words; identifiers are left to curation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from mihakk.machinery.errors import SourceChanged
from mihakk.machinery.text.digits import convert
from mihakk.machinery.text.encoding import decode
from mihakk.schemas.poem import Couplet, Poem, Section
from mihakk.schemas.record import Form, Provenance
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.crawl import Page, PageRequest
from mihakk.scrapers.ganjoor.poem import Poet
from mihakk.scrapers.source import Entry

HOME = "https://ganjoor.net"
_ROWS = {"وزن": "metre", "قالب شعری": "form", "تعداد ابیات": "couplets"}
_ROWS_IGNORED = ("منبع اولیه",)
_FORMS = {
    **{"غزل/قصیده/قطعه": "", "غزل": "ghazal", "قصیده": "qasida", "مثنوی": "masnavi", "قطعه": "qita"},
    **{"رباعی": "rubai", "دوبیتی": "dobayti", "ترکیب بند": "tarkib_band", "ترجیع بند": "tarji_band"},
    **{"تک بیت": "takbayt", "نیمایی": "nimai", "سپید": "sepid", "نو": "new", "مسمط": "mosammat"},
}


def starts(base: str, addresses: Iterable[str]) -> Iterator[PageRequest]:
    """First requests: the poem at each address; the others are reached by its links to its neighbours."""
    for address in addresses:
        yield PageRequest(url=f"{base}{address}", kind="poem")


def follow(page: Page) -> Iterator[PageRequest]:
    """The poems before and after, where they stand in the same category."""
    folder = urlsplit(page.request.url).path.rpartition("/")[0]
    for link in _tree(page.body).css("#nav .navleft a, #nav .navright a"):
        target = urljoin(page.request.url, link.attributes.get("href") or "")
        if urlsplit(target).path.rpartition("/")[0] == folder:
            yield PageRequest(url=target, kind="poem")


def _tree(body: bytes) -> LexborHTMLParser:
    return LexborHTMLParser(decode(body).text)


def parse(body: bytes, provenance: Provenance, poet: Poet) -> Iterator[Entry]:
    """The poem of one page, after rejections of what in it can't be used.

    Raises:
        SourceChanged: The page has another shape than the parser knows.
    """
    tree = _tree(body)
    article = tree.css_first("article#garticle")
    trail = [link.text(strip=True) for link in tree.css("#page-hierarchy a")]
    title = tree.css_first("h2 > a[rel=bookmark]")
    if article is None or title is None or not trail:
        raise SourceChanged(f"{provenance.url}: no article, title or breadcrumb where Ganjoor has them")
    identifier = f"ganjoor-{urlsplit(provenance.url).path.strip('/').replace('/', '-')}"
    couplets: list[Couplet] = []
    units = [node for node in article.iter() if not _blank(node)]
    for position, node in enumerate(units):
        entry = _unit(node, identifier, position, provenance.url)
        if isinstance(entry, Couplet):
            couplets.append(entry)
        else:
            yield entry
    info = _info(tree, provenance.url)
    if not couplets:
        yield _reject(identifier, "verses_missing", "no verse of the poem can be used", "")
        return
    declared = "".join(re.findall(r"\d+", convert(info.pop("couplets", ""), "western")))
    labels = {"page": provenance.url, "category": " » ".join(trail)} | info
    yield Poem(
        id=identifier,
        language="fa",
        title=title.text(strip=True),
        poet=trail[0],
        sections=(Section(index=0, form=_FORMS.get(info.get("form", ""), "")),),
        couplets=tuple(couplets),
        declared_couplets=int(declared) if declared else None,
        source_labels=labels | ({"poet": poet.name} if poet.name else {}),
        provenance=provenance,
    )


def _blank(node: LexborNode) -> bool:
    return node.tag == "p" and not node.text().replace("\xa0", "").strip()


def _unit(node: LexborNode, poem: str, position: int, where: str) -> Couplet | Rejection:
    identifier = f"{poem}:{position}"
    classes = (node.attributes.get("class") or "").split()
    texts = [part.text().strip() for part in node.css("p")] or [node.text().strip()]
    if "c" in classes:
        return _reject(identifier, "comment", "an editor's note, not verse", texts[0])
    shapes = {"b": (2, 2, "couplet"), "b2": (1, 2, "band"), "n": (1, 99, "paragraph"), "l": (1, 1, "line")}
    known = next((shapes[name] for name in classes if name in shapes), None)
    if known is None:
        raise SourceChanged(f"{where}: the parser does not know <{node.tag} class={' '.join(classes)!r}>")
    least, most, kind = known
    if kind == "paragraph":
        texts = ["\n".join(texts)]
    if not least <= len(texts) <= most:
        return _reject(identifier, "unpaired_hemistich", f"{len(texts)} parts in a {kind}", "\n".join(texts))
    if not all(texts):
        return _reject(identifier, "hemistich_empty", f"a {kind} has an empty part", "\n".join(texts))
    return Couplet.model_validate(
        {
            "id": identifier,
            "position": position,
            "kind": kind,
            "first": Form(raw=texts[0]),
            "second": Form(raw=texts[1]) if len(texts) > 1 else None,
        }
    )


def _info(tree: LexborHTMLParser, where: str) -> dict[str, str]:
    """Rows of the table about the poem that say what a record needs."""
    found: dict[str, list[str]] = {}
    for row in tree.css("tr"):
        cells = [cell.text(strip=True) for cell in row.css("td")]
        if len(cells) != 2 or not cells[0].endswith(":"):
            continue
        name = cells[0].removesuffix(":").strip()
        if name in _ROWS:
            found.setdefault(_ROWS[name], []).append(cells[1])
        elif name not in _ROWS_IGNORED:
            raise SourceChanged(f"{where}: the parser does not know the row {name!r}")
    labels: dict[str, str] = {}
    for name, values in found.items():
        if len(values) == 1:
            labels[name] = values[0]
        else:
            labels |= {f"{name}.{index}": value for index, value in enumerate(values)}
    return labels


def _reject(record: str, reason: str, detail: str, body: str) -> Rejection:
    return Rejection(record=record, reason=reason, detail=detail, body=body)
