"""People's decisions on an audited set: where they are stored, and what they change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.record import Language, Record
from mihakk.schemas.review import Resolution, Review

if TYPE_CHECKING:
    from mihakk.annotation.decisions.stores import Stores
    from mihakk.pipeline.external_summary import Audited
    from mihakk.validators.external.benchmark import ExternalBenchmark
    from mihakk.validators.external.mapping import Mapping as Columns

SUITE = "suite.json"
"""File that makes a folder of results those of a suite."""
AUDITED_SET = "audited.json"
"""File that makes a folder of results a set whose rows people can review."""


class AuditedSet(Record):
    """What a review needs to know of an audited set beside its tables."""

    name: str
    """Name of its projects on the labelling server and of its releases."""
    source: str
    title: str = ""
    """What the card calls it; the name if empty."""
    licence: str = "unknown"
    attribution: str = ""
    """Credit line of its authors."""
    revision: str = ""
    """Commit or tag on the Hub."""
    repository: str = ""
    """`owner/name` that its cleaned release is published to."""
    mapping: str = ""
    """Columns, as the audit was given them; empty where it was made by an older Mihakk."""
    language: Language = "ar"
    """Of rows that name none."""
    review: ReviewConfig = ReviewConfig()
    rescue: bool = False
    """People are asked about blocked rows, too; what they keep is kept in either case."""


def is_audited_set(folder: Path) -> bool:
    """Whether a folder holds the results of an external audit."""
    return (folder / AUDITED_SET).is_file()


def sets_in(folder: Path) -> list[Path]:
    """The audited sets of a folder: itself, or those of the suite whose results it holds; else none."""
    if is_audited_set(folder):
        return [folder]
    if not (folder / SUITE).is_file():
        return []
    return sorted(path.parent for path in folder.glob(f"*/{AUDITED_SET}"))


def decided_in(folder: Path) -> str:
    """Digest that every new decision about a set changes; see `counted_digest`."""
    from mihakk.annotation.decisions.words import counted_digest

    return counted_digest(set_stores(folder))


def open_set(folder: Path) -> AuditedSet:
    """The set in a folder of results.

    Raises:
        UsageError: The folder holds none.
    """
    if not is_audited_set(folder):
        raise UsageError(f"{folder} holds no audited set: run `mihakk audit ... --out {folder}` first")
    return AuditedSet.model_validate_json((folder / AUDITED_SET).read_bytes())


def write_set(folder: Path, known: AuditedSet) -> AuditedSet:
    """Notes the set beside its tables; what somebody wrote there (name, title, terms, review) stays.

    A licence that the audit names takes the place of one that nobody knew.
    """
    told = known
    if is_audited_set(folder):
        old = open_set(folder)
        told = old.model_copy(update=known.model_dump(include={"source", "revision", "mapping", "language"}))
        for field in ("title", "licence", "attribution"):
            if getattr(known, field) not in ("", "unknown"):
                told = told.model_copy(update={field: getattr(known, field)})
    (folder / AUDITED_SET).write_bytes(orjson.dumps(told.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
    return told


def name_of_set(source: str) -> str:
    """The name of a set that nobody named."""
    stem = "".join(char if char.isalnum() else "-" for char in Path(source).stem.casefold()).strip("-")
    return f"audit-{stem or 'set'}"


def set_stores(folder: Path) -> Stores:
    """Where decisions about a set are kept; they outlive every further audit of it."""
    from mihakk.annotation.decisions.stores import Stores

    return Stores.under(str(folder / "people"))


def reviews_of_set(folder: Path) -> list[Review]:
    """All decisions about a set, oldest first."""
    from mihakk.annotation.decisions.store import decisions

    return decisions(set_stores(folder))


def correct_rows(
    benchmark: ExternalBenchmark, columns: Columns, reviews: Sequence[Review], config: ReviewConfig
) -> dict[str, str]:
    """Applies people's settled corrections to items and to the cells they were read from.

    Returns:
        Corrected item to the columns that changed; a correction that no single cell can hold (a question of
        several columns) is left out, and its row goes on waiting.
    """
    from mihakk.annotation.decisions.fixes import fixed
    from mihakk.validators.external.write_back import write_back

    if not reviews:
        return {}
    items, settled = fixed(benchmark.items, reviews, config.overlap, config.adjudicators)
    done: dict[str, str] = {}
    for place, (before, after) in enumerate(zip(benchmark.items, items, strict=True)):
        if before.id not in settled or content_hash(before) == content_hash(after):
            continue
        try:
            changed = write_back(benchmark, before, after, columns)  # type: ignore[arg-type]
        except RecordRejected:
            continue
        benchmark.items[place] = after  # type: ignore[assignment]
        done[before.id] = ", ".join(changed)
    return done


def settled(
    benchmark: ExternalBenchmark,
    verdicts: Sequence[Verdict],
    reviews: Sequence[Review],
    config: ReviewConfig,
    doubts: Collection[tuple[str, str]],
) -> tuple[dict[str, Resolution], dict[str, str]]:
    """What people settled of each item or hold against it, and why items are left out, as in a build.

    `doubts` are those of `store.doubted`.
    """
    from mihakk.annotation.decisions.apply import apply
    from mihakk.annotation.decisions.resolution import binding, resolve

    reviewed = {review.item for review in reviews}
    hashes = {item.id: content_hash(item) for item in benchmark.items if item.id in reviewed}
    told = resolve(reviews, hashes, config.overlap, adjudicators=config.adjudicators)
    left = apply(benchmark.items, verdicts, told, reviews, doubted=doubts, rescue=True).removed
    votes = grouped(reviews, lambda review: review.item)

    def objects(item: str) -> bool:
        return any(vote.objects for vote in binding(votes[item], hashes[item]))

    people = {one.item: one for one in told if one.outcome == "keep" or objects(one.item)}
    return people, {one.record: one.reason for one in left}


def queue_rows(folder: Path, table: str) -> list[Any]:
    """Rows of a set's `items`, or of what checks and auditors said of them: what its review reads."""
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import from_table
    from mihakk.pipeline.rows import ROWS

    name = table if table == "items" else f"queue_{table}"
    return from_table(pq.read_table(folder / "people" / f"{name}.parquet"), ROWS[table])


def waiting(audited: Audited) -> list[Verdict]:
    """The verdicts on items that stand for themselves, as people are asked: merged copies have none."""
    return [
        verdict.model_copy(update={"status": "flag"})
        if audited.rescue and verdict.status == "block"
        else verdict
        for verdict in audited.verdicts
        if verdict.item not in audited.merged
    ]


def write_review_tables(folder: Path, audited: Audited, findings: Sequence[Finding]) -> None:
    """What `review push` reads: the items, and of those that stand for themselves verdicts and findings."""
    from mihakk.machinery.lake.columns import write_table

    inner = folder / "people"
    inner.mkdir(parents=True, exist_ok=True)
    write_table(inner / "items.parquet", audited.benchmark.items, ITEM_ROWS)
    write_table(inner / "queue_verdicts.parquet", waiting(audited), Verdict)
    write_table(inner / "queue_findings.parquet", findings, Finding)
    write_table(inner / "queue_audits.parquet", audited.audits, Audit)
