"""What people said of the reviewed tables before a release: sign-offs, and gates that may stay shut.

Each word is a file beside the stages, which is never overwritten; the release tells it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeVar

from mihakk.annotation.decisions.store import add
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import canonical_json
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.pipeline.build import Build, whole_input
from mihakk.pipeline.people import review_stores
from mihakk.releases.gates import overridable
from mihakk.releases.release_facts import Override
from mihakk.schemas.review import Words
from mihakk.schemas.sign_off import SignOff
from mihakk.schemas.stages import RELEASED

SIGN_OFFS, OVERRIDES = "sign_offs", "overrides"
"""Folders of the lake."""
Word = TypeVar("Word", SignOff, Override)


def tables_to_sign(build: Build) -> str:
    """Digest of the reviewed tables a release would be assembled from."""
    return whole_input(build, RELEASED)


def standing_sign_off(build: Build) -> SignOff | None:
    """The latest sign-off or refusal of the tables as they are now; None before there is one."""
    return next(reversed(_words(build, SIGN_OFFS, SignOff)), None)


def sign(
    build: Build, decision: Literal["approve", "reject"], name: str, note: str = "", tables: str = ""
) -> SignOff:
    """Records a person's decision on the tables: those as they are now, unless named; the note apart."""
    word = SignOff(
        tables=tables or tables_to_sign(build),
        decision=decision,
        name=_line(name),
        decided_at=datetime.now(UTC).replace(microsecond=0),
    )
    said = Words(kind="sign_off", about=word.tables, annotator=word.name, text=_line(note))
    add(review_stores(build).words, Words, [said] if said.text else [])
    return _keep(build, SIGN_OFFS, word)


def standing_overrides(build: Build) -> tuple[Override, ...]:
    """What people said of shut gates, about the tables as they are now; each gate once, its latest word."""
    latest = {one.gate: one for one in _words(build, OVERRIDES, Override)}
    return tuple(latest[gate] for gate in sorted(latest))


def override(build: Build, gate: str, why: str) -> Override:
    """Keeps a person's word that a release of the tables as they are now may go out although a gate is shut.

    Raises:
        UsageError: There is no such gate, it may not be overridden, or no reason is given.
    """
    word = Override(gate=gate, why=overridable(gate, why), tables=tables_to_sign(build))
    return _keep(build, OVERRIDES, word)


def approved_by(build: Build, after: str, until: str) -> list[str]:
    """Who approved tables after one run began and before another did, by the runs' names.

    Raises:
        UsageError: A file is damaged.
    """
    every = [word for word in _all_words(build, SIGN_OFFS, SignOff) if word.decision == "approve"]
    names = (word.name for word in every if after < f"{word.decided_at:%Y%m%dT%H%M%S}" <= until)
    return list(dict.fromkeys(names))


def _words(build: Build, folder: str, kind: type[Word]) -> list[Word]:
    """The words about the tables as they are now, oldest first.

    Raises:
        UsageError: A file is damaged.
    """
    tables = tables_to_sign(build)
    return [word for word in _all_words(build, folder, kind, tables[:16]) if word.tables == tables]


def _all_words(build: Build, folder: str, kind: type[Word], start: str = "") -> list[Word]:
    storage, found = build.lake.storage, []
    for name in storage.list(storage.path(folder)):
        if not name.startswith(start):
            continue
        path = storage.path(folder, name)
        try:
            found.append(kind.model_validate(unsealed(storage.read(path))))
        except ValueError as error:
            raise UsageError(
                f"{path} is damaged ({error}): restore it from a backup, or delete it and sign off again"
            ) from error
    return found


def _keep(build: Build, folder: str, word: Word) -> Word:
    storage = build.lake.storage
    number = len(storage.list(storage.path(folder)))
    storage.write(storage.path(folder, f"{word.tables[:16]}-{number:05d}.json"), seal(canonical_json(word)))
    return word


def _line(text: str) -> str:
    """One line: what people type goes into the card."""
    return " ".join(text.split())
