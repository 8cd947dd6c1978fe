"""audit/gates.json: who audited a release, how it stood to every gate, and what people overrode."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from pathlib import Path

import orjson
from pydantic import Field

from mihakk.machinery.errors import UsageError
from mihakk.releases.gates import Gate, listed
from mihakk.releases.paper_trail.recount import contradictions
from mihakk.releases.release_facts import AuditorFact, Override, ReleaseFacts
from mihakk.releases.stored_record import read_stored
from mihakk.schemas.record import Record

FILE = "audit/gates.json"


class GateRecord(Record):
    """What a release itself says of its audit and its gates."""

    version: str
    auditors: tuple[AuditorFact, ...]
    """Who audited, as the audit ran; not what a config names since."""
    gates: tuple[Gate, ...]
    overrides: tuple[Override, ...] = ()
    """Of this version and of all before it, oldest first."""
    contributed: bool = Field(default=False, exclude_if=operator.not_)
    """Others could add to what it is made of: it keeps nobody from sealing what it prints."""


def gate_record(
    gates: Iterable[Gate],
    facts: ReleaseFacts,
    version: str,
    previous: Path | None,
    *,
    contributed: bool = False,
) -> GateRecord:
    """The record of a version; the overrides of earlier versions stay in it."""
    found = tuple(gates)
    older = read_gate_record(previous) if previous is not None else None
    earlier = () if older is None else tuple(one for one in older.overrides if one.version != version)
    used = {gate.name for gate in found if gate.override}
    mine = tuple(one.model_copy(update={"version": version}) for one in facts.overrides if one.gate in used)
    return GateRecord(
        version=version,
        auditors=facts.auditors,
        gates=found,
        overrides=(*earlier, *mine),
        contributed=contributed,
    )


def write_gate_record(record: GateRecord, folder: Path) -> GateRecord:
    """Write the file into a release folder, and give the record back."""
    data = orjson.dumps(record.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    (folder / FILE).parent.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_bytes(data + b"\n")
    return record


def read_gate_record(folder: Path) -> GateRecord | None:
    """The record of a release folder; None where the release was made before releases carried one."""
    return read_stored(folder / FILE, GateRecord, "build it again")


def require_publishable(name: str, folder: Path) -> GateRecord:
    """Judge a release by what it carries, whatever any config says now.

    The gates that its own tables can tell of are counted again from them.

    Raises:
        UsageError: A gate bars publication, the tables say less than the gates, or there is no record.
    """
    record = read_gate_record(folder)
    if record is None:
        raise UsageError(
            f"this release of {name} carries no {FILE}, so nobody can tell who audited it: "
            "build it again, and publish the version that comes out"
        )
    if less := contradictions(folder, record.gates, record.auditors):
        raise UsageError(
            f"{name} {record.version} is not published: its tables contradict {FILE}: {'; '.join(less)}. "
            "Build it again, and publish the version that comes out"
        )
    shut = [gate for gate in record.gates if gate.bars_publication]
    if shut:
        raise UsageError(
            f"{name} {record.version} is not published, {len(shut)} of {len(record.gates)} gates are shut "
            f"in the release itself:\n{listed(shut)}\n"
            "Naming other auditors in a config changes nothing about a release: build again. To publish "
            "knowingly: --override GATE --why TEXT, which makes a version whose card says so for good."
        )
    return record
