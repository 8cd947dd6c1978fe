"""What changed between two releases: set operations on ids and content hashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from mihakk.machinery.configs import load_text
from mihakk.machinery.ids import digest, sha256
from mihakk.machinery.parquet import read_parquet
from mihakk.machinery.text import key
from mihakk.releases.cleaned_record import read_cleaned
from mihakk.releases.content.item_tables import data_files, read_items
from mihakk.releases.versions.version import Level
from mihakk.schemas.record import Record

ChangeKind = Literal[
    "added",
    "removed",
    "gold_changed",
    "text_changed",
    "renormalised",
    "prompt_changed",
    "moved",
    "described",
]
"""renormalised: the same words in other letters, marks or spaces; moved: another config or split;
described: metadata, origin or licence alone, which no score depends on."""
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
SCORING: frozenset[ChangeKind] = frozenset(KINDS) - {"described"}
"""Changes after which scores can't be compared."""

_GOLD = ("gold", "answer", "accepted", "explanations", "overall")
_ASKED = ("kind", "task", "language", "question", "context", "options", "verses")
_DESCRIBING = (
    "dialect",
    "fields",
    "metadata",
    "subset",
    "origin",
    "licence",
    "attribution",
    "pair_id",
    "option_kinds",
    "order",
)


class Change(Record):
    """One item that differs between two releases."""

    id: str
    config: str
    split: str
    kind: ChangeKind
    reason: str = ""
    """Why it was removed."""
    before: str = ""
    """Content hash in the older release; empty for an added item."""
    after: str = ""

    @property
    def place(self) -> str:
        """`<config>/<split>`."""
        return f"{self.config}/{self.split}"


@dataclass(frozen=True, slots=True)
class Signature:
    """What two releases are compared by."""

    config: str
    split: str
    content: str
    prompt: str
    rest: str


@dataclass(frozen=True)
class ReleaseDiff:
    """The changes from one release to the next, sorted by kind and id."""

    old: str
    new: str
    changes: tuple[Change, ...]
    new_splits: tuple[str, ...] = ()
    """`<config>/<split>` that the older release had not."""

    @property
    def counts(self) -> dict[str, int]:
        """Changes per kind, every kind named."""
        seen = Counter(change.kind for change in self.changes)
        return {kind: seen[kind] for kind in KINDS}

    @property
    def level(self) -> Level:
        """What the changes ask of the version, papers aside."""
        scoring = [change for change in self.changes if change.kind in SCORING]
        if any(change.kind != "added" or change.place not in self.new_splits for change in scoring):
            return "major"
        return "minor" if self.changes else "none"


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: part for name, part in value.items() if part is not None} or None
    return value


def table_signatures(table: Any, config: str, split: str) -> dict[str, Signature]:
    """Signatures of one table of items, by id."""
    needed = ["id", "content_hash", "prompt", *(name for name in _DESCRIBING if name in table.column_names)]
    return {
        row["id"]: Signature(
            config=config,
            split=split,
            content=row["content_hash"],
            prompt=sha256(row["prompt"].encode()),
            rest=digest([_without_nulls(row.get(name)) for name in _DESCRIBING]),
        )
        for batch in table.select(needed).to_batches(max_chunksize=5_000)
        for row in batch.to_pylist()
    }


def folded(row: Mapping[str, Any]) -> list[Any]:
    """A row's words with spelling folded: equal for texts that differ in normalisation alone."""

    def fold(value: Any) -> Any:
        if isinstance(value, str):
            return key(value, row["language"])
        return [fold(part) for part in value] if isinstance(value, list) else value

    return [fold(row.get(name)) for name in (*_GOLD, *_ASKED)]


@dataclass(frozen=True)
class Contents:
    """The items of one side of a comparison."""

    signatures: Mapping[str, Signature]
    tables: Callable[[], Iterable[Any]]
    """Its tables once more, for the few rows that need a closer look."""

    def rows(self, ids: set[str]) -> dict[str, dict[str, Any]]:
        """Some items whole."""
        wanted = pa.array(sorted(ids), pa.string())
        return {
            row["id"]: row
            for table in (self.tables() if ids else ())
            for row in table.filter(pc.is_in(table.column("id"), value_set=wanted)).to_pylist()
        }


def folder_contents(folder: Path) -> Contents:
    """The items of a release folder."""
    signatures: dict[str, Signature] = {}
    for config, split, path in data_files(folder):
        signatures |= table_signatures(read_items(path), config, split)
    return Contents(signatures, lambda: (read_items(path) for _, _, path in data_files(folder)))


_REASONS = pa.schema([("id", pa.string()), ("reason", pa.string())])


def removal_reasons(folder: Path) -> dict[str, str]:
    """Id -> reason, as a release's errata state them."""
    path = folder / "errata" / "removed.parquet"
    if not path.is_file():
        return {}
    told = read_parquet(path, _REASONS, _REASONS.names, filled=_REASONS.names)
    return {row["id"]: row["reason"] for row in told.to_pylist()}


def compare(
    old: Contents, new: Contents, reasons: Mapping[str, str], versions: tuple[str, str] = ("", "")
) -> ReleaseDiff:
    """Compare two releases; `reasons` say why an item may be gone."""
    before, after = old.signatures, new.signatures
    changes = [
        Change(
            id=name,
            config=before[name].config,
            split=before[name].split,
            kind="removed",
            reason=reasons.get(name, "not_generated"),
            before=before[name].content,
        )
        for name in before.keys() - after.keys()
    ]
    changes += [
        Change(id=name, config=one.config, split=one.split, kind="added", after=one.content)
        for name, one in after.items()
        if name not in before
    ]
    common = before.keys() & after.keys()
    altered = {name for name in common if before[name].content != after[name].content}
    was, now = old.rows(altered), new.rows(altered)
    for name in common:
        kinds = list(_reworded(was[name], now[name])) if name in altered else []
        changes += _changed(name, before[name], after[name], kinds)
    places = {f"{one.config}/{one.split}" for one in before.values()}
    return ReleaseDiff(
        old=versions[0],
        new=versions[1],
        changes=tuple(sorted(changes, key=lambda change: (KINDS.index(change.kind), change.id))),
        new_splits=tuple(sorted({f"{one.config}/{one.split}" for one in after.values()} - places)),
    )


def _reworded(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[ChangeKind]:
    """How an item with another content hash differs."""
    gold, asked = (any(was.get(name) != now.get(name) for name in names) for names in (_GOLD, _ASKED))
    if not gold and not asked:
        yield "gold_changed"  # the gold is sealed in both: its keyed digest alone differs
    elif folded(was) == folded(now):
        yield "renormalised"
    else:
        if gold:
            yield "gold_changed"
        if asked:
            yield "text_changed"


def _changed(name: str, before: Signature, after: Signature, kinds: list[ChangeKind]) -> Iterator[Change]:
    if before.prompt != after.prompt and before.content == after.content:
        kinds.append("prompt_changed")
    if (before.config, before.split) != (after.config, after.split):
        kinds.append("moved")
    if not kinds and before.rest != after.rest:
        kinds.append("described")
    for kind in kinds:
        yield Change(
            id=name,
            config=after.config,
            split=after.split,
            kind=kind,
            before=before.content,
            after=after.content,
        )


def diff(old: Path, new: Path) -> ReleaseDiff:
    """Compare two release folders."""
    return compare(
        folder_contents(old),
        folder_contents(new),
        removal_reasons(new),
        (release_version(old), release_version(new)),
    )


def reworded(old: Path, new: Path, changes: ReleaseDiff) -> Iterator[tuple[str, str, str, str]]:
    """Id, field, text before and after of what the items of two release folders say otherwise."""
    kinds = ("gold_changed", "text_changed", "renormalised")
    ids = {change.id for change in changes.changes if change.kind in kinds}
    was, now = folder_contents(old).rows(ids), folder_contents(new).rows(ids)
    for name in sorted(ids):
        for field in (*_ASKED, *_GOLD):
            before, after = (_shown(side[name].get(field)) for side in (was, now))
            if before != after:
                yield name, field, before, after


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(_shown, value))
    return "" if value is None else str(value)


REFINED = "refined.json"
"""Record of a refined code benchmark: its name, version and counts."""


def release_version(folder: Path) -> str:
    """The version string that stands inside a release's data, or in the record beside somebody's own rows."""
    cleaned = read_cleaned(folder)
    if cleaned is not None:
        return cleaned.version
    if (folder / REFINED).is_file():
        return load_text(folder / REFINED, "version")
    for _, _, path in data_files(folder):
        versions = read_items(path, ["version"]).column("version").unique().to_pylist()
        if versions:
            return str(versions[0])
    return ""
