"""Overrides: a person's word that a release may go out although one gate is shut, and why."""

from __future__ import annotations

from mihakk.ids import canonical_json
from mihakk.lake.seal import seal
from pipeline.build import Build
from pipeline.sign_off import read_word, tables_to_sign
from releases.gates import overridable
from releases.release_facts import Override

FOLDER = "overrides"


def standing_overrides(build: Build) -> tuple[Override, ...]:
    """What people said about the reviewed tables as they are now; each gate once, its latest word."""
    storage, tables = build.lake.storage, tables_to_sign(build)
    names = [name for name in storage.list(storage.path(FOLDER)) if name.startswith(tables[:16])]
    found = [Override.model_validate(read_word(storage, storage.path(FOLDER, name))) for name in names]
    latest = {one.gate: one for one in found if one.tables == tables}
    return tuple(latest[gate] for gate in sorted(latest))


def override(build: Build, gate: str, why: str) -> Override:
    """Keep a person's word on one gate, for the reviewed tables as they are now; nothing is overwritten.

    Raises:
        UsageError: There is no such gate, it may not be overridden, or no reason is given.
    """
    reason = overridable(gate, why)
    word = Override(gate=gate, why=reason, tables=tables_to_sign(build))
    storage = build.lake.storage
    number = len(storage.list(storage.path(FOLDER)))
    storage.write(storage.path(FOLDER, f"{word.tables[:16]}-{number:05d}.json"), seal(canonical_json(word)))
    return word
