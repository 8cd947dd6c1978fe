"""The gates of a release counted once more, from its own tables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from mihakk.machinery.groups import grouped
from mihakk.releases.cleaned_record import read_cleaned
from mihakk.releases.content.item_tables import data_files
from mihakk.releases.gates import Gate
from mihakk.releases.licence import known
from mihakk.releases.release_facts import AuditorFact

_SAMPLE = re.compile(r"Of (\d+) sampled unflagged items people found (\d+) defective")
_WAITING = re.compile(r"; (\d+) sampled items wait for votes")


def contradictions(folder: Path, gates: Sequence[Gate], auditors: Sequence[AuditorFact]) -> list[str]:
    """Where a release's tables say less than its gates, one sentence each; empty where they agree.

    Counted from the tables: rows that both auditors gave usable replies on, who those auditors were, whether
    bundled weights count as capable, licences of the rows that name one, and sampled items that people found
    defective. Of a blind release only what is told of its open rows is counted again.
    """
    passed = {gate.name for gate in gates if gate.passed}
    found = list(_auditors(folder, auditors) if "capable_auditors" in passed else ())
    if "full_audit" in passed:
        found += _full_audit(folder)
    if "licences" in passed:
        found += _licences(folder)
    found += (
        line for gate in gates if gate.name == "miss_rate" and gate.passed for line in _sample(folder, gate)
    )
    return found


def _sample(folder: Path, gate: Gate) -> Iterator[str]:
    said = _SAMPLE.search(gate.found)
    path = folder / "audit" / "reviewed.parquet"
    if said is None or not path.is_file():
        return
    cast: list[dict[str, Any]] = pq.read_table(folder / "audit" / "votes.parquet").to_pylist()
    votes = grouped((row for row in cast if row["last"]), itemgetter("item", "content_hash"))
    states: Counter[str] = Counter()
    for row in pq.read_table(path).to_pylist():
        if row["sampled"]:
            states[_state(votes[row["item"], row["content_hash"]], row["votes_needed"])] += 1
    decided, missed = states.total() - states["open"], states["defective"]
    if (decided, missed) != (int(said[1]), int(said[2])):
        yield f"miss_rate says {said[2]} defective of {said[1]}, audit/votes.parquet {missed} of {decided}"
    waiting = _WAITING.search(gate.found)
    if states["open"] != (int(waiting[1]) if waiting else 0):
        yield f"miss_rate says {waiting[1] if waiting else 0} wait, audit/votes.parquet {states['open']}"


def _state(votes: Sequence[dict[str, Any]], needed: int) -> str:
    """As `mihakk.annotation.statistics.miss_rate.soundness` has it, of the last votes of each person."""
    ruling = [row for row in votes if row["adjudicator"]]
    counted = ruling[-1:] or votes
    if not ruling and len(votes) < needed:
        return "open"
    bad = sum(row["decision"] != "keep" for row in counted)
    good = len(counted) - bad
    if 0 in (good, bad) or (len(counted) >= 3 and good != bad):
        return "defective" if bad > good else "sound"
    return "disputed"


def _scores(folder: Path) -> list[dict[str, Any]]:
    path = folder / "audit" / "scores.parquet"
    return pq.read_table(path, columns=["item", "auditor", "status"]).to_pylist() if path.is_file() else []


def _auditors(folder: Path, auditors: Sequence[AuditorFact]) -> Iterator[str]:
    capable = {one.name for one in auditors if one.capable and not one.bundled}
    scored = {row["auditor"] for row in _scores(folder)}
    if len(capable) < 2:
        yield f"capable_auditors is open, but audit/gates.json names {len(capable)} that are capable"
    if others := sorted(scored - capable):
        yield f"audit/scores.parquet holds scores of {', '.join(others)}, not among the capable auditors"


def _full_audit(folder: Path) -> Iterator[str]:
    usable: dict[str, set[str]] = defaultdict(set)
    for row in _scores(folder):
        if row["status"] != "invalid":
            usable[row["item"]].add(row["auditor"])
    released = _released(folder)
    short = [item for item in released if len(usable[item]) < 2]
    if short:
        yield (
            f"full_audit is open, but {len(short)} of {len(released)} released rows have no two usable "
            f"audits in audit/scores.parquet, {short[0]} among them"
        )


def _released(folder: Path) -> list[str]:
    cleaned = read_cleaned(folder)
    if cleaned is None:
        return [
            row["id"]
            for _, _, path in data_files(folder)
            for row in pq.read_table(path, columns=["id", "sealed"]).to_pylist()
            if not row["sealed"]
        ]
    verdicts = pq.read_table(folder / "audit" / "verdicts.parquet", columns=["item", "outcome"]).to_pylist()
    return [row["item"] for row in verdicts if row["outcome"] == "pass"]


def _licences(folder: Path) -> Iterator[str]:
    cleaned = read_cleaned(folder)
    named: Counter[str] = Counter()
    if cleaned is not None:
        named[cleaned.licence] = cleaned.rows
    else:
        for _, _, path in data_files(folder):
            for row in pq.read_table(path, columns=["licence", "sealed"]).to_pylist():
                named[row["licence"] or ""] += not (row["sealed"] and not row["licence"])
    if unknown := sorted(name for name, count in named.items() if count and not known(name)):
        yield f"licences is open, but rows are under {', '.join(one or '(none)' for one in unknown)}"
