"""A suite of other people's benchmarks to audit together: `configs/audits/*.yaml`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.record import Language, Record


class SuiteSource(Record):
    """One benchmark of a suite."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    source: str
    """File or folder (relative: below the current folder or the config's), or `owner/name`."""
    mapping: str = "auto"
    """Columns as `mihakk audit --map` takes them; `auto` takes the proposal."""
    language: Language = "ar"
    domain: str = ""
    """Field of knowledge, for the table by domain."""
    licence: str = "unknown"
    attribution: str = ""
    """Credit line of its authors, for the card of its cleaned release."""
    revision: str = ""
    """Commit or tag on the Hub."""
    subsets: tuple[str, ...] = ()
    split: str = ""
    basis: Literal["tried", "inferred"] = "inferred"
    """tried: the mapping was run on real rows; inferred: it follows a paper or card alone."""
    note: str = ""
    """Where the mapping comes from, or what to look at."""


class SuiteConfig(Record):
    """Benchmarks that are audited into one folder, with one account of them all."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str
    sources: tuple[SuiteSource, ...] = Field(min_length=1)
    auditors: str = ""
    """Name in `configs/auditors/` or a file; empty: checks alone."""
    policy: Literal["strict", "qimma", "platinum"] = "strict"
    limit: int | None = Field(default=None, ge=0)
    """Items of each source that the auditors see; None: all."""
    checks: ChecksConfig = ChecksConfig()
    repair: bool = False
    """Repair damage of letters where that is certain."""

    @model_validator(mode="after")
    def _distinct(self) -> SuiteConfig:
        names = [source.name for source in self.sources]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two sources are called {', '.join(twice)}: give each a name of its own")
        return self
