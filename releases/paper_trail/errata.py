"""Defects that consumers report as files, which the next build reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow.compute as pc
import yaml
from pydantic import Field, ValidationError

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.releases.content.item_tables import data_files, read_items
from mihakk.releases.content.secret import as_released
from mihakk.releases.versions.diff import release_version
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item
from mihakk.schemas.record import Record
from mihakk.schemas.review import DiscardReason

_PLAIN = re.compile(r"[\w-][\w.-]{0,99}")
"""Ids that may name a file; others' benchmarks call their items as they like."""
CHECK = "ER01"
"""Id under which a reported defect appears among the findings."""


class DefectReport(Record):
    """One defect that somebody found in a released item."""

    canary: str
    """GUID of the benchmark, so that a report never reaches another one."""
    version: str
    """Release in which it was seen."""
    item: str
    content_hash: str
    """Of the item as it was seen; a report binds only while the item is unchanged."""
    problem: DiscardReason
    evidence: str = Field(min_length=10)
    """What is wrong and how one can tell: a source, a page, a line. Findings name the report alone."""
    corrections: dict[str, str] = Field(default_factory=dict)
    """Field (`question`, `answer`, `options[0]`, `gold`, ...) to proposed text."""
    reporter: str = ""
    """A name or address the reporter agrees to be known by."""

    @property
    def name(self) -> str:
        """File name of the report; the same report gets the same name."""
        item = self.item if _PLAIN.fullmatch(self.item) else digest(self.item)[:16]
        return f"{item}-{digest(self)[:8]}.yaml"


def report_defect(
    release: Path,
    item: str,
    problem: DiscardReason,
    evidence: str,
    *,
    corrections: Mapping[str, str] | None = None,
    reporter: str = "",
    folder: Path = Path("errata"),
) -> Path:
    """Write a report about an item of a release folder and return the file.

    `UsageError` where the release has no such item, or the evidence says too little.
    """
    for _, _, path in data_files(release):
        table = read_items(path, ["id", "canary", "content_hash"])
        for row in table.filter(pc.equal(table.column("id"), item)).to_pylist():
            try:
                report = DefectReport(
                    canary=row["canary"],
                    version=release_version(release),
                    item=item,
                    content_hash=row["content_hash"],
                    problem=problem,
                    evidence=evidence,
                    corrections=dict(corrections or {}),
                    reporter=reporter,
                )
            except ValidationError as error:
                raise UsageError(f"the report says too little: {error.errors()[0]['msg']}") from error
            folder.mkdir(parents=True, exist_ok=True)
            written = folder / report.name
            text = yaml.safe_dump(report.model_dump(), allow_unicode=True, sort_keys=False, width=110)
            written.write_text(text, encoding="utf-8")
            return written
    raise UsageError(f"{release} (version {release_version(release)}) has no item {item}")


def read_reports(folder: Path, canary: str = "") -> list[DefectReport]:
    """The reports of a folder, of one benchmark if its canary is named; `UsageError` where a file is none."""
    reports = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            reports.append(load_config(path, DefectReport))
        except UsageError as error:
            raise UsageError(f"{path} is not a defect report: {error}") from error
    return [one for one in reports if not canary or one.canary == canary]


def as_printed(reports: Iterable[DefectReport], checkout: Callable[[str], Path | None]) -> list[DefectReport]:
    """Of reports on a release, blind or beside one, those with the content hash that their version printed.

    Any other hash is a guess. One made of a sealed question and one of its options would bind if that option
    is the gold, and the next release would show that it did.

    Args:
        checkout: Folder of a version, or nothing where there is no such version.
    """
    mine = list(reports)
    printed: dict[tuple[str, str], str] = {}
    for version in sorted({one.version for one in mine}):
        named = [one.item for one in mine if one.version == version]
        folder = checkout(version)
        for _, _, path in data_files(folder) if folder else ():
            table = read_items(path, ["id", "content_hash"])
            for row in table.filter(pc.field("id").isin(named)).to_pylist():
                printed[version, row["id"]] = row["content_hash"]
    return [one for one in mine if printed.get((one.version, one.item)) == one.content_hash]


def report_findings(
    reports: Iterable[DefectReport], items: Iterable[Item], key: bytes | None = None
) -> list[Finding]:
    """The reports that still bind, as findings that send their items to people.

    A report about an item that has changed since or is gone binds no longer.
    `key` is that of a blind release, whose ids and digests it keys; its reports went through `as_printed`.
    """
    mine = tuple(reports)
    reported = {one.item for one in mine}
    current: dict[str, tuple[str, set[str]]] = {}
    for item in items:
        name, hashes = as_released(key, item)
        if name in reported:
            current[name] = item.id, hashes
    return [
        Finding(
            check=CHECK,
            severity="flag",
            subject=current[one.item][0],
            detail=f"reported in {one.version} as {one.problem}: {one.name}",
            where=", ".join(sorted(one.corrections)),
        )
        for one in mine
        if one.item in current and one.content_hash in current[one.item][1]
    ]
