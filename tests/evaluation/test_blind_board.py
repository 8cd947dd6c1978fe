"""A board over sealed golds: what it says, what it refuses, and what attackers learn from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, norm

from mihakk.evaluation.blind.board import Board
from mihakk.evaluation.blind.disclosure import NOISE, blurred, figures_within, half_of, most_gain
from mihakk.evaluation.blind.submission import Submission
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.releases.content.secret import keyed
from mihakk.schemas.blind import BlindBoard, BlindReply, SubmissionCard
from mihakk.schemas.evaluation import Question
from performance.blind_attack import ATTACKS, SEED, season
from tests.evaluation.material import AR, choice, explained, worded

SECRET = b"a secret of enough characters"
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def digests(purpose: str, text: str) -> str:
    return keyed(SECRET, purpose, text)


def many(items: int = 240, per_group: int = 2) -> dict[str, Question]:
    """Choices whose golds turn, two of each poem."""
    made = [
        choice(f"i{n:04d}", gold=n % 4, group=f"g{n // per_group}", slices={"era": f"e{n % 2}"})
        for n in range(items)
    ]
    return {one.item: one for one in made}


def board(folder: Path, questions: dict[str, Question] | None = None, **rules: Any) -> Board:
    given = {
        **{"name": "spring", "title": "Spring", "release": "demo@0.1.0", "teams": ["alpha", "beta"]},
        **{"opens": "2026-03-01", "closes": "2026-06-01"},
    }
    return Board(BlindBoard.model_validate(given | rules), questions or many(), folder, digests)


def answers(questions: dict[str, Question], right: float, seed: int = 1, wrap: str = "{}") -> dict[str, str]:
    """Replies of which so many are right."""
    draw = np.random.default_rng(seed)
    return {
        name: wrap.format(one.labels[one.gold[0] if draw.random() < right else one.gold[0] - 1])
        for name, one in questions.items()
    }


def sent(replies: dict[str, str], revision: str = "r1", **card: Any) -> Submission:
    given = {
        **{"team": "alpha", "model": "m", "revision": revision, "release": "demo", "version": "0.1.0"},
        **{"open": True, "kind": "arabic"},
    }
    text = json.dumps(replies, ensure_ascii=False)
    return Submission(SubmissionCard.model_validate(given | card), replies, sha256(text.encode()))


def test_a_figure_lies_within_its_interval_and_says_nothing_exact(tmp_path: Path) -> None:
    questions = many(400)
    at = board(tmp_path, questions, gain=0.5)
    replies = answers(questions, 0.7)
    reply = at.receive(sent(replies), now=MONDAY)
    assert reply.told == "shown"
    right = np.array([replies[name] == one.labels[one.gold[0]] for name, one in sorted(questions.items())])
    exact = float(right[at.public.items].mean())
    state = at.standing()
    (row,) = state["entries"]
    assert row["low"] <= exact <= row["high"]
    assert row["figure"] != exact
    step = NOISE * at.public.se
    assert row["figure"] == pytest.approx(round(row["figure"] / step) * step, abs=1e-6)
    assert row["rank_low"] == row["rank_high"] == 1


def test_noise_is_gaussian_of_the_stated_size_and_belongs_to_the_answers() -> None:
    se = 0.02
    noise = np.array([blurred(0.5, se, digests, f"n{number}") - 0.5 for number in range(3000)])
    # Rounding adds an error of its own, evenly spread over a step.
    whole = NOISE * se * (1 + 1 / 12) ** 0.5
    jitter = np.random.default_rng(1).uniform(-0.5, 0.5, len(noise)) * NOISE * se
    assert kstest((noise + jitter) / (NOISE * se * (1 + 2 / 12) ** 0.5), norm.cdf).pvalue > 0.001
    assert noise.std() == pytest.approx(whole, rel=0.05)
    assert blurred(0.5, se, digests, "n1") == blurred(0.5, se, digests, "n1")


def test_asking_again_in_other_words_averages_nothing_out(tmp_path: Path) -> None:
    questions = many()
    at = board(tmp_path, gain=0.5)
    first = at.receive(sent(answers(questions, 0.6)), now=MONDAY)
    for number, wrap in enumerate(("{} ", "**{}**", "({})", "الإجابة: {}", "<answer>{}</answer>")):
        for team in ("alpha", "beta"):
            again = sent(answers(questions, 0.6, wrap=wrap), revision=f"{team}{number}", team=team)
            reply = at.receive(again, now=MONDAY + timedelta(minutes=number))
            assert (reply.told, reply.figure) == ("known", first.figure)
    assert at.standing()["figures"]["told"] == 1


def test_two_files_that_differ_in_one_item_get_one_reply(tmp_path: Path) -> None:
    questions = many()
    at = board(tmp_path, gain=0.5)
    replies = answers(questions, 0.6)
    first = at.receive(sent(replies), now=MONDAY)
    for number, name in enumerate(list(questions)[:8]):
        changed = {**replies, name: AR[(AR.index(replies[name]) + 1) % 4]}
        reply = at.receive(sent(changed, revision=f"x{number}"), now=MONDAY + timedelta(days=number))
        assert (reply.told, reply.figure) == ("known", first.figure)


def test_what_does_not_beat_the_teams_best_by_an_error_is_told_the_best(tmp_path: Path) -> None:
    questions = many()
    at = board(tmp_path, gain=0.5)
    told = [
        at.receive(
            sent(answers(questions, right, seed), revision=str(seed)), now=MONDAY + timedelta(days=8 * seed)
        )
        for seed, right in enumerate((0.6, 0.3, 0.95))
    ]
    assert [one.told for one in told] == ["shown", "not_above", "shown"]
    assert told[1].figure == told[0].figure
    assert [row["figure"] for row in at.standing()["entries"]] == [told[2].figure]


def test_halves_keep_groups_whole_and_stay_the_same_from_season_to_season(tmp_path: Path) -> None:
    first, second = board(tmp_path / "a"), board(tmp_path / "b", name="autumn")
    named = [{first.groups[place] for place in half.items} for half in (first.public, first.other)]
    assert not named[0] & named[1]
    assert (len(named[0]), len(named[1])) == (60, 60)
    assert first.public.items.tolist() == second.public.items.tolist()
    other = Board(first.config, many(), tmp_path / "c", lambda purpose, text: keyed(b"other", purpose, text))
    assert other.public.items.tolist() != first.public.items.tolist()


def test_recall_and_explanations_are_not_ranked(tmp_path: Path) -> None:
    questions = many()
    more = {**questions, "a1": worded("a1"), "e1": explained("e1")}
    assert board(tmp_path, more).questions.keys() == questions.keys()
    with pytest.raises(UsageError, match="no ranked question"):
        board(tmp_path, {"a1": worded("a1")})


@pytest.mark.parametrize(
    ("change", "card", "at", "said"),
    [
        ({}, {"team": "gamma"}, MONDAY, "team 'gamma' is not registered"),
        ({}, {"version": "0.2.0"}, MONDAY, "answers are to demo 0.2.0; spring scores demo 0.1.0"),
        ({}, {}, MONDAY + timedelta(days=200), "from 2026-03-01 until the day before 2026-06-01"),
        ({"i0000": None}, {}, MONDAY, "1 of 240 items are not answered, e.g. i0000"),
        ({"x": "أ"}, {}, MONDAY, "1 answers to items that are not among the 240 ranked ones, e.g. x"),
    ],
)
def test_what_is_refused_says_why_and_takes_no_quota(
    tmp_path: Path, change: dict[str, str | None], card: dict[str, str], at: datetime, said: str
) -> None:
    place = board(tmp_path, gain=0.5)
    replies = {name: reply for name, reply in (answers(many(), 0.5) | change).items() if reply is not None}
    with pytest.raises(UsageError, match=said):
        place.receive(sent(replies, **card), now=at)
    assert place.log.entries[0].refused
    assert place.receive(sent(answers(many(), 0.5)), now=MONDAY).told == "shown"


def test_three_a_week_one_a_revision_and_then_the_earliest_time_is_said(tmp_path: Path) -> None:
    questions = many()
    at = board(tmp_path, gain=0.5)
    for number in range(3):
        at.receive(sent(answers(questions, 0.5, number), str(number)), now=MONDAY + timedelta(days=number))
    with pytest.raises(UsageError, match="again from 2026-03-09 09:00 UTC"):
        at.receive(sent(answers(questions, 0.5, 9), "9"), now=MONDAY + timedelta(days=4))
    with pytest.raises(UsageError, match="one submission per revision"):
        at.receive(sent(answers(questions, 0.5, 9), "0"), now=MONDAY + timedelta(days=7))
    # Another team has a quota of its own, and a board opened anew knows all that was sent.
    again = board(tmp_path, gain=0.5)
    assert again.receive(sent(answers(questions, 0.5, 8), "8", team="beta"), now=MONDAY).told == "shown"
    assert again.receive(sent(answers(questions, 0.5, 9), "9"), now=MONDAY + timedelta(days=7)).told != "held"


def test_when_the_seasons_figures_are_spent_submissions_are_held_and_opened_at_its_end(
    tmp_path: Path,
) -> None:
    questions = many()
    at = board(tmp_path, gain=0.1)
    assert at.figures == figures_within(0.1, at.public) < 6
    told = [
        at.receive(
            sent(answers(questions, 0.5, number), str(number)), now=MONDAY + timedelta(days=4 * number)
        )
        for number in range(at.figures)
    ]
    assert "held" not in {one.told for one in told}
    best = answers(questions, 0.9, 77)
    assert at.receive(sent(best, "late"), now=MONDAY + timedelta(days=40)) == BlindReply(told="held")
    with pytest.raises(UsageError, match="open until 2026-06-01"):
        at.close(now=MONDAY)
    (final,) = at.close(now=datetime(2026, 6, 1, tzinfo=UTC))
    assert (final.revision, final.shown) == ("late", None)
    right = np.array([best[name] == one.labels[one.gold[0]] for name, one in sorted(questions.items())])
    assert final.other == pytest.approx(right[at.other.items].mean(), abs=1e-6)
    assert final.gap == pytest.approx(right[at.public.items].mean() - right[at.other.items].mean(), abs=1e-6)
    assert final.gap_low is not None
    assert final.gap_low < 0 < (final.gap_high or 0)


def test_slices_are_shown_where_they_have_fifty_groups_and_are_counted(tmp_path: Path) -> None:
    questions = many(480, per_group=1)
    at = board(tmp_path, questions, gain=0.5, slices=["era", "task"])
    reply = at.receive(sent(answers(questions, 0.6)), now=MONDAY)
    assert set(reply.slices) == {"era=e0", "era=e1", "task=meaning_choice"}
    assert at.standing()["figures"]["told"] == 4
    small = board(tmp_path / "small", many(120), gain=0.5, slices=["era"])
    assert small.receive(sent(answers(many(120), 0.6)), now=MONDAY).slices == {}


@pytest.mark.parametrize("damage", ["changed", "taken_out", "cut"])
def test_a_log_that_was_rewritten_is_refused(tmp_path: Path, damage: str) -> None:
    questions = many()
    at = board(tmp_path, gain=0.5)
    for number in range(3):
        at.receive(sent(answers(questions, 0.5, number), str(number)), now=MONDAY)
    path = tmp_path / "log.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(
        {
            "changed": lines[0].replace(b'"alpha"', b'"beta"') + lines[1] + lines[2],
            "taken_out": lines[0] + lines[2],
            "cut": lines[0] + lines[1] + lines[2][:-30],
        }[damage]
    )
    with pytest.raises(ExternalFailure, match=r"line [123]"):
        board(tmp_path, gain=0.5).standing()


def test_the_bound_follows_from_what_a_noisy_figure_can_tell() -> None:
    """One figure over n even golds: the best guess gains no more than the bound, whatever n."""
    for count in (16, 100, 900):
        half = half_of(range(count), [str(n) for n in range(count)], [str(n) for n in range(count)])
        assert half.se == pytest.approx(0.5 / count**0.5)
        draw = np.random.default_rng(3)
        hits = draw.integers(0, 2, (4000, count))
        figure = hits.mean(axis=1) + draw.normal(0, NOISE * half.se, 4000)
        # Knowing one noisy figure, the best guess is all of the answers or all of their opposites.
        gain = np.where(figure > 0.5, hits.mean(axis=1), 1 - hits.mean(axis=1)).mean() - 0.5
        assert 0.3 * most_gain(1, half) < gain < most_gain(1, half)
        assert (
            most_gain(figures_within(0.2, half), half) <= 0.2 < most_gain(figures_within(0.2, half) + 1, half)
        )


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_season_of_the_legal_quota_tells_one_team_nothing_beyond_the_bound(attack: str) -> None:
    _beyond(season(240, 2, attack, 1, 12, gain=0.2, seed=SEED), 240)


def test_ten_teams_that_work_together_learn_no_more_than_the_bound(
    measured: Callable[[str, float], None],
) -> None:
    found = {attack: season(240, 2, attack, 10, 3, gain=0.2, seed=SEED) for attack in ("boost", "climb")}
    for one in found.values():
        _beyond(one, 240)
    # The same attack works where figures are exact.
    assert season(240, 2, "boost", 10, 3, gain=0.2, exact=True)["gains"][-1][0] > 0.2
    beyond = sum(one["gains"][-1][0] > one["bound"][-1] + 3 * (0.25 / 120) ** 0.5 for one in found.values())
    measured("blind-board-bound", beyond)


def _beyond(found: dict[str, Any], items: int) -> None:
    """The half told of within its bound, the other one at chance; both within three sampling errors."""
    sampling = 3 * (0.25 / (items / 2)) ** 0.5
    for (public, other), bound in zip(found["gains"], found["bound"], strict=True):
        assert bound <= 0.2
        assert public <= bound + sampling
        assert abs(other) <= sampling
