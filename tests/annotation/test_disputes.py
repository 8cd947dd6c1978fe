"""Disputes in teams of two, three and more: who is asked, who decides, and that nobody is left out."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from mihakk.annotation.campaigns.disputes import Dispute
from mihakk.annotation.decisions.store import add
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.exchange import open_disputes
from mihakk.flows.cli import app
from mihakk.flows.commands.review_lead import show_disputes
from mihakk.pipeline.opened_review import evidence_lines
from mihakk.reports.console import open_console
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.review import Review
from tests.annotation.judged import audit, choice, finding, review


def stores_of(tmp_path, *decisions: str) -> Stores:
    """A store in which so many people decided differently about one item, and agree about another."""
    kept = Stores.under(str(tmp_path / "bench"))
    for n, decision in enumerate(decisions, 1):
        more = {
            "discard": {"reason": "ambiguous", "notes": "[b]يحتمل معنيين"},
            "fix": {"corrections": {"question": "؟"}},
        }
        add(
            kept.decisions,
            Review,
            [review(choice(0), f"annotator-{n:02d}", decision, task=7, **more.get(decision, {}))],
        )
        add(kept.decisions, Review, [review(choice(1), f"annotator-{n:02d}")])
    return kept


@pytest.mark.parametrize(
    ("screen", "discard", "fix"),
    [
        ("ar", "annotator-02 حذف: ملتبس", "annotator-03 إصلاح: السؤال = \u2068؟\u2069"),
        ("fa", "annotator-02 حذف: مبهم", "annotator-03 اصلاح: پرسش = \u2068؟\u2069"),
        ("en", "annotator-02 Discard: Ambiguous", "annotator-03 Fix: Question = \u2068؟\u2069"),
    ],
)
def test_votes_are_told_in_the_language_of_who_reads_them(tmp_path, screen, discard, fix):
    stores = stores_of(tmp_path, "keep", "discard", "fix")
    (one,) = open_disputes(stores, ReviewConfig(team=3), lambda _: screen)
    assert one.votes[1:] == (discard, fix)


def test_a_keep_that_calls_the_answer_wrong_says_so(tmp_path):
    stores = Stores.under(str(tmp_path))
    votes = [review(choice(0), f"annotator-0{n}", "keep", failed=("answer_alignment",)) for n in (1, 2)]
    add(stores.decisions, Review, votes)
    (one,) = open_disputes(stores, ReviewConfig(), lambda _: "en")
    assert one.votes == ("annotator-01 Keep: Answer is wrong", "annotator-02 Keep: Answer is wrong")


def test_the_overlap_is_never_more_than_the_team():
    assert ReviewConfig(overlap=3, team=2).overlap == 2
    assert ReviewConfig(team=1).overlap == 1
    assert ReviewConfig(overlap=3, team=5).overlap == 3
    assert ReviewConfig(overlap=3).overlap == 3


@pytest.mark.parametrize(
    ("team", "votes", "stuck"),
    [
        (2, ("keep", "discard"), True),
        (3, ("keep", "discard"), False),
        (3, ("keep", "discard", "fix"), True),
        (0, ("keep", "discard", "fix"), False),
        (0, ("keep", "discard", "keep", "discard"), True),
        (9, ("keep", "discard", "fix"), False),
    ],
)
def test_a_dispute_waits_for_another_person_while_the_team_has_one(tmp_path, team, votes, stuck):
    (one,) = open_disputes(stores_of(tmp_path, *votes), ReviewConfig(team=team))
    assert (one.item, one.stuck, len(one.votes)) == (choice(0).id, stuck, len(votes))
    assert ("one more person" in one.decides) is not stuck
    assert ("review.adjudicators" in one.decides) is stuck


def test_a_named_adjudicator_is_told_and_settles_it(tmp_path):
    kept = stores_of(tmp_path, "keep", "discard")
    (one,) = open_disputes(kept, ReviewConfig(team=2, adjudicators=("annotator-05",)))
    assert one.decides.startswith("annotator-05, ")
    assert open_disputes(kept, ReviewConfig(team=2, adjudicators=("annotator-02",))) == []


def test_every_dispute_is_printed_in_full(tmp_path):
    stores_of(tmp_path, "keep", "discard", "fix")
    (tmp_path / "bench.yaml").write_text(
        "name: bench\ntitle: Bench\nsources: [{use: hafez}]\ntasks: [{use: last_word}]\nreview: {team: 3}\n"
    )
    call = ["review", "disputes", str(tmp_path / "bench.yaml"), "--lake", str(tmp_path)]
    said = CliRunner().invoke(app, call, catch_exceptions=False).stdout
    assert choice(0).id in said
    assert choice(1).id not in said
    assert "annotator-01 keep" in said
    assert "annotator-02 discard: ambiguous\n" in said
    assert "annotator-02 noted: [b]يحتمل معنيين" in said, "looked up where people's words are kept"
    assert "annotator-03 fix: question = ؟" in said
    assert "(task 7)" in said
    assert "1 items are disputed, 1 of them wait for an adjudicator" in said


def test_who_decides_sees_what_checks_and_auditors_said(capsys):
    item = choice(0).id
    told = evidence_lines(
        {item: "ar"}, [finding(item), finding("other")], [audit(item, failed=("answer_alignment",))]
    )
    one = Dispute(
        item=item, content_hash="c", tasks=(), votes=("annotator-01 keep",), decides="x", stuck=True
    )
    show_disputes([one], open_console(soft_wrap=True), told)
    said = capsys.readouterr().out
    assert "CH07 · الخيار أ: القافية وحدها تدل على الجواب الصحيح: \u2068الخيار الصحيح أطول\u2069" in said
    assert "المدقق \u2068first\u2069 في «الجواب خاطئ»: \u2068الجواب لا يناسب السؤال.\u2069" in said
    assert list(told) == [item]
