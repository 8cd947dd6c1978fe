"""What people decided stands in the release, so that a reader counts its figures again and nobody learns who voted."""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.annotation.decisions.store import add, decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.statistics.review_report import ReviewReport, review_report
from mihakk.annotation.statistics.sampling import Queued, QueueEntry
from mihakk.annotation.statistics.vote_rows import scored_contents, vote_rows
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.pipeline.people import agreement_facts, miss_rate_fact
from mihakk.releases.assemble import assemble
from mihakk.releases.paper_trail.gate_record import require_publishable
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.audit import CRITERIA, Audit
from mihakk.schemas.review import Review
from tests.annotation.judged import review
from tests.releases.attack import ATTACKER
from tests.releases.release_material import FACTS, hafez_items, release_arguments

ANSWERED = {"waiting": 0, "unanswered": {}, "covered": 1.0}
RECOUNT = Path(__file__).with_name("recount.py")
PEOPLE = ("annotator-01", "annotator-02", "annotator-03", "annotator-04")
SIZES = {"fa/continuation_choice": 700, "fa/continuation_completion": 90, "ar/meaning_choice": 30}


def history(folder: Path) -> tuple[ReviewReport, ReleaseFacts, Stores]:
    """120 items before two people each; they differ, change their minds, a third and an adjudicator come in."""
    stores, draw = Stores.under(str(folder)), random.Random(5)  # nosec B311 # a fixture
    items = [item for item in hafez_items() if not getattr(item, "order", 0)]
    chosen = draw.sample(items, 120)
    audits = [
        Audit(
            item=item.id,
            auditor=name,
            status="valid",
            scores={one: int(draw.random() > 0.2) for one in CRITERIA},
            reply_key="k",
        )
        for item in items
        for name in ("first", "second")
    ]
    said = {item.id: [one for one in audits if one.item == item.id] for item in chosen}
    entries = [QueueEntry(item, "sample" if n < 80 else "flagged") for n, item in enumerate(chosen)]
    add(stores.queued, Queued, [entry.queued(said[entry.item.id]) for entry in entries])
    for item in chosen:
        opinions = [draw.choices(("keep", "discard", "fix"), (80, 15, 5))[0] for _ in range(2)]
        people = draw.sample(PEOPLE[:3], 3)
        rows = [_vote(item, who, one, draw) for who, one in zip(people, opinions, strict=False)]
        if draw.random() < 0.1:
            rows.append(_vote(item, people[0], "keep", draw, seconds=77))
        if len(set(opinions)) > 1:
            rows.append(_vote(item, people[2] if draw.random() < 0.5 else PEOPLE[3], "discard", draw))
        add(stores.decisions, Review, rows[: draw.choice((1, 9, 9, 9))])
    rest = {"sizes": SIZES, "overlap": 2, "adjudicators": PEOPLE[3:]}
    state = review_report(stores, items, audits, seed=7, **rest)
    queued = stored(stores.queued, Queued)
    reviewed, votes = vote_rows(decisions(stores), queued, scored_contents(audits, queued, items), **rest)
    told = {
        "agreement": next(one for one in agreement_facts(state) if one.label == "decision"),
        "miss_rate": miss_rate_fact(state),
        "reviewed": reviewed,
        "votes": votes,
    }
    return state, FACTS.model_copy(update=told), stores


def _vote(item: Any, who: str, decision: str, draw: random.Random, **changes: Any) -> Any:
    failed = tuple(one for one in CRITERIA if draw.random() < (0.3 if decision != "keep" else 0.05))
    more = {"reason": "wrong_gold"} if decision == "discard" else {}
    if decision == "fix":
        more = {"corrections": {"question": f"{item.question} {who}"}}
    return review(item, who, decision, failed=failed, notes=f"said by {who}", **more, **changes)


def test_a_reader_counts_miss_rate_agreement_and_overturn_again(tmp_path: Path) -> None:
    state, facts, _ = history(tmp_path / "stores")
    release = assemble(folder=tmp_path / "release", **release_arguments(hafez_items(), facts))
    done = subprocess.run(
        [sys.executable, "-I", str(RECOUNT), str(release.folder)],
        capture_output=True,
        check=True,
        timeout=120,
    )
    told = json.loads(done.stdout)
    gates = {
        one["name"]: one for one in json.loads((release.folder / "audit/gates.json").read_bytes())["gates"]
    }
    said = gates["miss_rate"]["found"]
    again = told["miss_rate"]
    assert again["sampled"] > 40
    assert (
        f"Of {again['sampled']} sampled unflagged items people found {again['defective']} defective" in said
    )
    assert f"{again['rate']:.2%} weighted by stratum" in said
    assert f"at most {again['upper']:.2%}" in said
    assert f"| decision | {told['alpha']:.3f} |" in (release.folder / "README.md").read_text("utf-8")
    printed = {
        f"{one.auditor}/{one.criterion}": [one.zeros, one.overturned] for one in state.overturns if one.zeros
    }
    assert told["overturned"] == printed
    assert f"has {len(facts.votes)} votes of people" in (release.folder / "README.md").read_text("utf-8")
    assert sum(zeros for zeros, _ in printed.values()) > 100


def test_votes_tell_neither_who_nor_when_nor_in_what_words(tmp_path: Path) -> None:
    _, facts, _ = history(tmp_path / "stores")
    release = assemble(folder=tmp_path / "release", **release_arguments(hafez_items(), facts))
    for name in ("votes", "reviewed"):
        table = pq.read_table(release.folder / "audit" / f"{name}.parquet")
        text = json.dumps(table.to_pylist(), ensure_ascii=False)
        assert not re.search(r"annotator|said by|2026|\bseconds", text)
        assert not {"annotator", "decided_at", "seconds", "notes", "corrections"} & set(table.column_names)
    votes = pq.read_table(release.folder / "audit" / "votes.parquet").to_pylist()
    numbers = [row["voter"] for row in votes if row["vote"] == 1]
    assert set(numbers) == {1}, "a number is a person's on one content alone"


def test_a_blind_release_tells_votes_on_open_items_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "a secret of enough characters")
    settings.cache_clear()
    _, facts, _ = history(tmp_path / "stores")
    release = assemble(
        folder=tmp_path / "release", **release_arguments(hafez_items(), facts, blind="repository")
    )
    rows = [
        row for path in release.folder.glob("*/*-of-*.parquet") for row in pq.read_table(path).to_pylist()
    ]
    opened = {row["id"] for row in rows if not row["sealed"]}
    hashes = {one.content_hash for one in facts.votes}
    votes = pq.read_table(release.folder / "audit" / "votes.parquet").to_pylist()
    assert votes
    assert {row["item"] for row in votes} <= opened
    assert not {row["content_hash"] for row in votes} & hashes


def test_a_gate_that_says_less_than_the_votes_is_refused(tmp_path: Path) -> None:
    _, facts, _ = history(tmp_path / "stores")
    assert facts.miss_rate is not None
    better = facts.miss_rate.model_copy(update={"defective": 0, "rate": 0.0, "upper_bound": 0.01, **ANSWERED})
    forged = facts.model_copy(update={"miss_rate": better})
    release = assemble(folder=tmp_path / "release", **release_arguments(hafez_items(), forged))
    with pytest.raises(
        UsageError,
        match=r"miss_rate says 0 defective of \d+, audit/votes.parquet \d+ of \d+(?s:.*)miss_rate says 0 wait",
    ):
        require_publishable("touchstone", release.folder)


@pytest.mark.parametrize(
    ("script", "packages"), [(RECOUNT, {"pandas", "scipy", "krippendorff"}), (ATTACKER, {"pyarrow"})]
)
def test_what_checks_a_release_from_outside_uses_nothing_of_this_project(
    script: Path, packages: set[str]
) -> None:
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(script.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {one.split(".")[0] for one in names} - set(sys.stdlib_module_names) == packages
