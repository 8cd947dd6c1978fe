"""The official API of aldiwan: token, attribution and quotas are the platform's terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mihakk.machinery.errors import SourceChanged
from mihakk.scrapers.aldiwan.poem import Read
from mihakk.scrapers.crawl import Page, PageRequest
from mihakk.scrapers.shape import check_fields

HOME = "https://api.aldiwan.net/v1"
QUOTAS = (
    "x-monthlyquota-remaining",
    "x-fulltextquota-daily-remaining",
    "x-fulltextquota-monthly-remaining",
)
_PER_PAGE = 50
_LIST_USED = ("data",)
_LIST_OPTIONAL = ("meta",)
_LIST_IGNORED = ("links", "attribution")
_POEM_USED = ("id", "title", "text", "poet", "attribution")
_POEM_OPTIONAL = ("display_layout", "era", "meter", "rhyme", "theme", "poem_style", "verses_count")
_POEM_IGNORED = (
    *(
        "slug",
        "url",
        "views",
        "views_count",
        "created_at",
        "updated_at",
        "excerpt",
        "likes_count",
        "language",
    ),
    *("poet_id", "era_id", "country", "audio", "glossary", "about"),
)


def starts(
    base: str, poets: Iterable[str], eras: Iterable[str], poems: Iterable[str]
) -> Iterator[PageRequest]:
    """First requests: poems by number, and listings by poet or era."""
    for poem in poems:
        yield PageRequest(url=f"{base}/poems/{poem}", kind="poem")
    for name, values in (("poet_id", poets), ("era_id", eras)):
        for value in values:
            query = urlencode({name: value, "page": 1, "per_page": _PER_PAGE})
            yield PageRequest(url=f"{base}/poems?{query}", kind="listing")


def follow(page: Page) -> Iterator[PageRequest]:
    """Poems of a listing, and its next page while this one is full.

    Raises:
        SourceChanged: The listing has another shape than the parser knows.
    """
    if page.request.kind != "listing":
        return
    body = _object(page)
    check_fields(
        body, required=_LIST_USED, optional=_LIST_OPTIONAL, ignored=_LIST_IGNORED, where=page.request.url
    )
    parts = urlsplit(page.request.url)
    for row in body["data"]:
        address = urlunsplit((parts.scheme, parts.netloc, f"{parts.path}/{row['id']}", "", ""))
        yield PageRequest(url=address, kind="poem")
    if len(body["data"]) == _PER_PAGE:
        query = dict(parse_qsl(parts.query))
        query["page"] = str(int(query["page"]) + 1)
        yield PageRequest(url=urlunsplit(parts._replace(query=urlencode(query))), kind="listing")


def read(page: Page) -> tuple[Read, str]:
    """A poem and its credit line.

    Raises:
        SourceChanged: The answer has another shape than the parser knows, or gives no credit line.
    """
    body = _object(page)
    where = page.request.url
    row = body
    if isinstance(body.get("data"), dict):
        check_fields(body, required=_LIST_USED, ignored=(*_LIST_OPTIONAL, *_LIST_IGNORED), where=where)
        row = body["data"]
    check_fields(row, required=_POEM_USED, optional=_POEM_OPTIONAL, ignored=_POEM_IGNORED, where=where)
    credit = row["attribution"]
    if not isinstance(credit, dict) or not credit.get("text"):
        raise SourceChanged(f"{where}: the attribution that the platform asks for is missing")
    lines = [line.strip() for line in str(row["text"]).splitlines() if line.strip()]
    layout = row.get("display_layout") or "lines"
    if layout not in ("hemistichs", "lines", "stanzas"):
        raise SourceChanged(f"{where}: the parser does not know the layout {layout!r}")
    labels = {"era": row.get("era"), "metre": row.get("meter"), "theme": row.get("theme")}
    labels |= {"form": row.get("poem_style")}
    found = Read(
        number=str(row["id"]),
        title=row["title"],
        poet=_name(row["poet"]),
        hemistichs=lines if layout == "hemistichs" else [],
        lines=[] if layout == "hemistichs" else lines,
        labels={name: _name(value) for name, value in labels.items() if value},
        rhyme=_name(row.get("rhyme")),
        declared=row.get("verses_count"),
    )
    return found, f"{credit['text']} {credit.get('url', '')}".strip()


def _name(value: Any) -> str:
    """A name that comes alone or as an object with an id."""
    return str(value.get("name", "")) if isinstance(value, dict) else str(value or "")


def _object(page: Page) -> dict[str, Any]:
    body = page.json()
    if not isinstance(body, dict):
        raise SourceChanged(f"{page.request.url}: an object was expected")
    return body
