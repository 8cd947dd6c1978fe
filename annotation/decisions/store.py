"""The store of people's decisions: parts that are added and never changed.

The store is the record; Label Studio is a screen in front of it that may be thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import orjson
from pydantic import ValidationError

from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import canonical_json, digest, sha256
from mihakk.machinery.lake.storage import Storage
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Voided

R = TypeVar("R", bound=Record)
J = TypeVar("J", Review, Label)
TAMPERED: Final = ("changed_by_another", "task_edited")
"""Why a pull refuses what some member of the server may have made of somebody's answer."""


def decisions(stores: Stores) -> list[Review]:
    """All decisions that count, oldest pull first; none where there is no store yet.

    Raises:
        UsageError: A part isn't what `add` wrote: it was edited or cut by hand.
    """
    return _counting(stored(stores.decisions, Review), stores)


def labels(stores: Stores) -> list[Label]:
    """All labels that count; see `decisions`."""
    return _counting(stored(stores.labels, Label), stores)


def counting(stores: Stores) -> list[Review | Label]:
    """Decisions and labels that count."""
    return [*decisions(stores), *labels(stores)]


def given(stores: Stores) -> list[Review | Label]:
    """All decisions and labels, voided ones too."""
    return [*stored(stores.decisions, Review), *stored(stores.labels, Label)]


def doubted(stores: Stores) -> set[tuple[str, str]]:
    """Items, each with the hash of its content, that somebody called wrong, or may have, in vain.

    Their objection was deleted on the server, by whomever, made before they passed the calibration or when
    the work was no longer theirs, or can't be used; or somebody else changed their answer there. Such an item
    waits for the votes it needs even if nothing else speaks against it, lest members have it released by what
    they do to the answers of others. What the lead took back counts nowhere.
    """
    gone = {row.decision for row in stored(stores.voided, Voided) if row.by != "lead"}
    given = stored(stores.decisions, Review) if gone else ()
    found = {(row.item, row.content_hash) for row in given if row.objects and decision_id(row) in gone}
    for row in stored(stores.rejected, Rejection):
        if content := orjson.loads(row.body or "{}").get("content_hash"):
            found.add((row.record, content))
    return found


def subject_of(row: Review | Label) -> str:
    """What a decision or label is about."""
    return row.item if isinstance(row, Review) else row.subject


def project_of(row: Review | Label) -> str:
    """The template that a decision or label was given on."""
    return row.project if isinstance(row, Review) else row.template


def decision_id(row: Review | Label) -> str:
    """Id of what one person submitted at one moment about one subject; labels of one annotation share it."""
    said = [project_of(row), subject_of(row), row.content_hash, row.annotator, row.decided_at.isoformat()]
    return f"d-{digest(said)[:16]}"


def _counting(rows: list[J], stores: Stores) -> list[J]:
    gone = {row.decision for row in stored(stores.voided, Voided)}
    return [row for row in rows if decision_id(row) not in gone] if gone else rows


def stored(folder: str, kind: type[R]) -> list[R]:
    """All records of one kind in a store of parts, in the order they were added, each once.

    Two pulls at the same time may both add what they found missing; the copies count as one.
    """
    storage = Storage(folder)
    lines: dict[bytes, R] = {}
    for name in _parts(storage):
        path = storage.path(name)
        content = storage.read(path)
        if name.removesuffix(".jsonl").rpartition("-")[2] != sha256(content)[:16]:
            raise UsageError(
                f"{path} was changed after it was written; restore it, or delete it to pull it again"
            )
        try:
            for line in content.splitlines():
                if line not in lines:
                    lines[line] = kind.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(
                f"{path} holds a record this version can't read ({error.error_count()} fields); "
                "use the version that wrote it, or delete the part to pull it again"
            ) from error
    return list(lines.values())


def add(folder: str, kind: type[R], records: Iterable[R]) -> list[R]:
    """Adds the records that the store lacks as one new part, and returns them.

    A killed pull leaves the part whole or absent; pulling again adds only what is missing.
    """
    held = {canonical_json(row) for row in stored(folder, kind)}
    new: dict[bytes, R] = {}
    for record in records:
        line = canonical_json(record)
        if line not in held:
            new.setdefault(line, record)
    if new:
        storage = Storage(folder)
        content = b"".join(line + b"\n" for line in new)
        # Two pulls at once may take the same number; the digest keeps their names apart, and both stay.
        storage.write(storage.path(f"{len(_parts(storage)) + 1:06d}-{sha256(content)[:16]}.jsonl"), content)
    return list(new.values())


def rewrite(folder: str, kind: type[R], change: Callable[[R], R | None]) -> int:
    """Rewrites the rows that `change` changes, drops those it gives None for, and returns how many.

    It is the only way a part ever changes: to set people's words apart, and to delete their data. A part is
    replaced by one of the same number; killed between the two, both stand, and another go removes the old.
    """
    storage, count = Storage(folder), 0
    for name in _parts(storage):
        path = storage.path(name)
        before = [kind.model_validate_json(line) for line in storage.read(path).splitlines()]
        after = [change(row) for row in before]
        if changed := sum(one != two for one, two in zip(before, after, strict=True)):
            content = b"".join(canonical_json(row) + b"\n" for row in after if row is not None)
            storage.write(storage.path(f"{name.partition('-')[0]}-{sha256(content)[:16]}.jsonl"), content)
            storage.remove(path)
            count += changed
    return count


def _parts(storage: Storage) -> list[str]:
    return [name for name in storage.list(storage.root) if name.endswith(".jsonl")]
