"""What a source is, and how a use of one turns into records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Generic, TypeVar

from pydantic import Field

from mihakk.machinery.configs import validate
from mihakk.machinery.errors import SourceChanged
from mihakk.machinery.languages import Level, require_level, unfit
from mihakk.machinery.registry import Registry
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language, Provenance, Record
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.boundary import parsed
from mihakk.scrapers.language import DeclaredLanguage
from mihakk.scrapers.raw import RawStore

Entry = Poem | Idiom | Rejection
"""What a source yields: records, and what it found but can't pass on."""


class SourceOptions(Record):
    """What every source lets a config say."""

    least_yield: int | None = Field(default=None, ge=0)
    """Fewest records to expect of this use; the source's own figure when empty."""


class LocalOptions(SourceOptions):
    """What every source of local files lets a config say."""

    prefix: str = ""
    """Of record ids; the name of this use in the config when empty, so that a renamed file changes no id."""


O = TypeVar("O", bound=SourceOptions)  # noqa: E741 - O for options


@dataclass(frozen=True)
class Source(Generic[O]):
    """One place that poems or idioms come from.

    `scrape` yields records whose forms carry `raw` alone and rejections for what it met and can't use; it
    fetches only through the raw store, so that a second run reads what stands there. Rejections may leave
    their `source` empty.
    """

    name: str
    """Module in `scrapers/`."""
    title: str
    licence: str
    """SPDX identifier or `public-domain` of the content; `unknown` where each record or use says."""
    home: str
    languages: tuple[Language, ...]
    options: type[O]
    parser_version: str
    """Raised whenever the same bytes would give other records."""
    scrape: Callable[[O, RawStore], Iterator[Entry]] = field(repr=False)
    delay_seconds: float = 0.0
    """Least pause between two requests to the site; 0 for sources that fetch nothing."""
    least_yield: int = 1
    """Fewest records that a full run gives; fewer means the site or file has changed."""
    least_of: Callable[[O], int] | None = field(default=None, repr=False)
    """The same by what the options ask for (so many of each book, one of each poet); None: `least_yield`."""
    attribution: str = ""
    extra: str = ""
    """Extra of Mihakk that brings the packages it needs; empty where the core will do."""

    def provenance(self, url: str, sha256: str, **changes: Any) -> Provenance:
        """Of records at an address, read from bytes of that digest; `changes` replace the source's own."""
        own = {
            "licence": self.licence,
            "attribution": self.attribution,
            "parser_version": self.parser_version,
        }
        return Provenance(source=self.name, url=url, sha256=sha256, **own | changes)


SOURCES: Registry[Source[Any]] = Registry("source", "mihakk.scrapers")


def register(source: Source[O]) -> Source[O]:
    """Adds a source to the registry; called once at the end of its module."""
    SOURCES.add(source.name, source)
    return source


@dataclass(frozen=True)
class OpenSource:
    """A source with the options of one use, checked and ready to run."""

    source: Source[Any]
    options: SourceOptions
    name: str
    """Name of this use in tables."""
    limit: int | None = None
    accepted_language: float | None = None
    """Share of records told to be in another language than declared that a person accepted."""

    @property
    def least(self) -> int:
        """Fewest records of this use: as its options say, else as the source reckons from them."""
        if self.options.least_yield is not None:
            return self.options.least_yield
        reckoned = self.source.least_of(self.options) if self.source.least_of else 0
        return max(self.source.least_yield, reckoned)

    def entries(self, raw: RawStore) -> Iterator[Entry]:
        """Records and rejections in the source's order; stops after `limit` records, in whatever language.

        Raises:
            UsageError: No benchmark can be made in the language that the options name.
        SourceChanged: The source ended with fewer records than it should give, its text is in another
                language than declared, or it met malformed input.
        """
        if language := getattr(self.options, "language", None):
            require_level(language, "items", "benchmarks")
        declared = DeclaredLanguage(self.accepted_language)
        yield from self._checked(raw, declared)
        if problem := declared.problem():
            raise SourceChanged(f"source {self.name!r}: {problem}")

    def _checked(self, raw: RawStore, declared: DeclaredLanguage) -> Iterator[Entry]:
        records = rejected = 0
        seen: set[str] = set()
        for entry in parsed(f"source {self.name!r}", self.source.scrape(self.options, raw)):
            if isinstance(entry, Rejection):
                rejected += 1
                yield entry if entry.source else entry.model_copy(update={"source": self.source.name})
                continue
            if entry.id in seen:
                rejected += 1
                url = entry.provenance.url
                detail = (
                    f"{url}: an earlier record has this id; correct it, or name the column under `ignore`"
                )
                yield _rejected(entry, "id_taken", detail, kept=entry.id)
                continue
            seen.add(entry.id)
            level: Level = "verse" if isinstance(entry, Poem) else "items"
            if lacking := unfit(entry.language, level, f"records of {level}"):
                rejected += 1
                yield _rejected(entry, "language_without_pack", lacking)
            elif objection := declared.objection(entry):
                rejected += 1
                yield _rejected(entry, "language_differs", objection)
            else:
                records += 1
                yield entry
            if self.limit is not None and len(seen) >= self.limit:
                return
        if self.limit is None and records < self.least and not declared.problem():
            raise SourceChanged(
                f"source {self.name!r} gave {records} records and {rejected} rejections; at least "
                f"{self.least} records were expected: look at the rejections; if fewer is right, "
                "say so with the option `least_yield`"
            )


def _rejected(entry: Poem | Idiom, reason: str, detail: str, kept: str = "") -> Rejection:
    return Rejection(
        record=entry.id,
        source=entry.provenance.source,
        reason=reason,
        detail=detail,
        kept=kept,
        body=entry.model_dump_json(),
    )


def open_source(use: SourceUse) -> OpenSource:
    """The source that a config uses, with its options validated.

    Raises:
        UsageError: No such source, or an option that it does not know or can't take.
    """
    source = SOURCES.get(use.use)
    options = validate(use.options, source.options, f"options of source {use.use!r}")
    if isinstance(options, LocalOptions) and not options.prefix:
        options = options.model_copy(update={"prefix": use.label})
    return OpenSource(
        source=source,
        options=options,
        name=use.label,
        limit=use.limit,
        accepted_language=use.accept.get("language"),
    )


def run(use: SourceUse, raw: RawStore) -> Iterator[Entry]:
    """Records and rejections of one source use; options are checked before the first is asked for."""
    return chain(open_source(use).entries(raw))
