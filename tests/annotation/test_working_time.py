"""What people are paid by, and when a queue is done."""

from __future__ import annotations

import csv
from datetime import date, timedelta

from typer.testing import CliRunner

from mihakk.annotation.decisions.store import add, decision_id
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.voiding import void
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.statistics.working_time import progress, working_times
from mihakk.flows.cli import app
from mihakk.schemas.review import Review
from tests.annotation.judged import NOON, choice, review

RATED = {"content_hash": "c", "template": "connotation", "annotator": "annotator-02", "decided_at": NOON}


def worked() -> list:
    first = [review(choice(n), "annotator-01", seconds=60.0 * (n + 1)) for n in range(3)]
    again = review(choice(0), "annotator-01", "discard", reason="other", seconds=90.0, minute=60 * 24)
    labels = [
        Label(subject=f"i{n}", name=name, value="positive", seconds=30.0 if n else None, **RATED)
        for n in range(2)
        for name in ("idiom", "explanation")
    ]
    return [*first, again, *labels]


def test_an_answer_changed_later_is_one_item_and_its_longer_time_counts():
    rows = worked()
    reviewer, rater = working_times(rows, rows)
    assert (reviewer.items, reviewer.hours, reviewer.seconds) == (3, round((90 + 120 + 180) / 3600, 3), 120)
    assert (reviewer.first, reviewer.last) == (date(2026, 3, 1), date(2026, 3, 2))
    assert (rater.project, rater.items, rater.untimed, rater.hours) == ("connotation", 2, 1, 0.008)


def test_voided_items_are_counted_beside_the_work():
    rows = worked()
    spoilt = {decision_id(row) for row in rows if getattr(row, "item", "") == choice(0).id}
    reviewer, _ = working_times(rows, [row for row in rows if decision_id(row) not in spoilt])
    assert (reviewer.items, reviewer.voided) == (3, 1)


def test_the_end_is_estimated_from_the_pace_of_the_last_two_weeks():
    now = NOON + timedelta(days=20)
    old = [review(choice(n), "annotator-01", minute=n) for n in range(50)]
    recent = [
        review(choice(n), f"annotator-0{n % 2 + 1}", minute=60 * 24 * (15 + n // 10)) for n in range(50)
    ]
    row = progress("b:quality_review:ar", [(2, 2)] * 30 + [(1, 2)] * 20 + [(0, 2)] * 40, [*old, *recent], now)
    assert (row.tasks, row.done, row.missing, row.recent, row.people) == (90, 30, 100, 50, 2)
    assert row.end == (now + timedelta(days=10)).date(), "50 answers in 5 days, so 100 in 10"
    idle = progress("b:quality_review:ar", [(0, 2)], old, now)
    assert (idle.end, idle.recent) == (None, 0)
    assert progress("b:quality_review:ar", [(2, 2)], recent, now).end is None


def test_hours_are_exported_as_a_table_with_voided_items_beside(tmp_path):
    stores = Stores.under(str(tmp_path / "bench"))
    add(stores.decisions, Review, [row for row in worked() if not isinstance(row, Label)])
    add(stores.labels, Label, [row for row in worked() if isinstance(row, Label)])
    void(stores, "annotator-02", "misread the guideline")
    (tmp_path / "bench.yaml").write_text(
        "name: bench\ntitle: Bench\nsources: [{use: hafez}]\ntasks: [{use: last_word}]\n"
    )
    file = tmp_path / "hours.csv"
    call = ["review", "times", str(tmp_path / "bench.yaml"), "--lake", str(tmp_path), "--csv", str(file)]
    assert CliRunner().invoke(app, call, catch_exceptions=False).exit_code == 0
    with file.open(encoding="utf-8-sig", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [(row["annotator"], row["items"], row["voided"], row["hours"]) for row in rows] == [
        ("annotator-01", "3", "0", "0.108"),
        ("annotator-02", "2", "2", "0.008"),
    ]
