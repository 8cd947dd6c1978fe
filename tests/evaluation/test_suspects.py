"""Planted wrong golds are found by who answered what, and come to people with the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio import benchmark_push
from mihakk.annotation.statistics.sampling import choose
from mihakk.evaluation.running.probes import probes_of
from mihakk.evaluation.statistics.wrong_golds import gold_odds
from mihakk.evaluation.suspects import suspects
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.pipeline import suspects as kept
from mihakk.schemas.evaluation import Answer, Question
from mihakk.schemas.item import Item
from mihakk.schemas.suspect import Suspect
from performance.suspects import BLIND, QUALITIES, planted, recall_and_precision
from performance.wrong_golds import dawid_skene, disagreement, load, recall, reliability
from tests.annotation.judged import choice as item
from tests.annotation.judged import verdict
from tests.evaluation.material import AR, choice, reply_to, worded

OPTIONS = ("كثرة الكلام", "الرجوع بالخيبة", "طول الانتظار", "السرعة")


@pytest.mark.parametrize("trap", [0.3, 1.0, None])
@pytest.mark.parametrize("systems", [6, 12])
def test_a_tenth_of_the_list_holds_four_of_five_planted_golds(systems: int, trap: float | None) -> None:
    recall, precision = recall_and_precision(systems, QUALITIES["as stated"], trap, seed=1, repeats=10)
    assert recall >= 0.8
    assert precision >= 0.4, "at most half can be found in a list twice as long as there are wrong golds"


def test_weak_systems_that_all_fall_for_one_option_are_told_from_wrong_golds() -> None:
    """Weighted votes found .53 of them here: a hard item with a trap looks to them like a wrong gold."""
    recall, _ = recall_and_precision(15, QUALITIES["weak"], 1.0, seed=1, repeats=10)
    assert recall >= 0.8


@pytest.mark.parametrize("blind", [0.8, 0.9])
def test_systems_that_nearly_always_fail_together_are_seen_as_such(blind: float) -> None:
    """A grid that ended at .7 took them for more witnesses than they are."""
    draw = np.random.default_rng(8)
    found = gold_odds(planted(draw, 12, (0.55, 0.9), 0.6, blind=blind)[0], np.full(400, 4))
    assert abs(found.shared - blind) <= 0.1
    recall, _ = recall_and_precision(12, QUALITIES["as stated"], 0.6, seed=1, repeats=5, blind=blind)
    assert recall >= 0.8


def test_confidence_promises_no_more_wrong_golds_than_there_are() -> None:
    draw = np.random.default_rng(9)
    drawn = [planted(draw, 8, (0.5, 0.85), 0.6) for _ in range(8)]
    confidence = np.concatenate([gold_odds(one, np.full(400, 4)).confidence for one, _ in drawn])
    wrong = np.concatenate([truth for _, truth in drawn])
    assert 0.5 <= confidence.sum() / wrong.sum() <= 1.1
    for low, high in ((0.0, 0.05), (0.05, 0.3), (0.3, 0.7), (0.7, 1.0)):
        own = (confidence >= low) & (confidence <= high)
        assert own.sum() > 15
        assert low - 0.05 <= wrong[own].mean() <= high + 0.25


def test_real_wrong_golds_come_earlier_than_by_disagreement_and_with_an_honest_confidence(
    shared_data: Path,
) -> None:
    """MMLU-Redux: 14 systems, 28 wrong golds; where systems agree with each other, witnesses are few."""
    path = shared_data / "panel" / "mmlu_redux_answers.csv"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    known = load(path)
    found = gold_odds(known.shares, known.options)
    plain = disagreement(known.shares)
    for share, lead in ((0.01, 0.08), (0.02, 0.08), (0.1, 0.0)):
        assert recall(found.odds, known.wrong, share) >= recall(plain, known.wrong, share) + lead
    assert found.shared > 0.7
    *_, highest = reliability(found.confidence, known)
    assert highest[2] / 2 <= highest[0] <= 2 * highest[2], "never twice or half of what experts found"
    votes = 1 / (1 + np.exp(-dawid_skene(known.shares)))
    certain = votes > 0.95
    assert known.wrong[certain].mean() < 0.1, "what independent witnesses would be nearly sure of"


def test_a_minority_against_the_gold_is_no_agreement_on_another_answer() -> None:
    """Systems in a row from weak to strong: one strong system's slip is odd, and no other answer."""
    questions = {f"q{n}": choice(f"q{n}", 0) for n in range(30)}

    def label(system: int, number: int) -> str:
        right = system not in (2, 9) if number == 0 else (number * 5 + system) % 12 < system
        return AR[0] if right else AR[1 + (number + system) % 3]

    found = suspects(
        [
            reply_to(one, label(system, n), model=f"s{system}")
            for system in range(12)
            for n, one in enumerate(questions.values())
        ],
        questions,
    )
    assert all(one.other_share > one.gold_share for one in found if one.reason == "other_answer")
    assert all(one.confidence is not None and 0 <= one.confidence <= 1 for one in found)


@pytest.mark.drill
def test_the_curve_over_number_and_quality_of_systems() -> None:
    curve = {
        (name, systems): recall_and_precision(systems, ends, 0.3, seed=2, repeats=200)[0]
        for name, ends in QUALITIES.items()
        for systems in (6, 10, 20, 30)
    }
    for systems in (6, 10, 20, 30):
        assert curve["weak", systems] < curve["as stated", systems] <= curve["strong", systems] + 0.01
        assert curve["as stated", systems] >= 0.93
    assert curve["weak", 6] < curve["weak", 30]


def test_the_odds_are_those_of_the_model_written_out_with_scipys_own_distributions() -> None:
    shares, _ = planted(np.random.default_rng(3), 5, (0.5, 0.9), 0.6, items=30)
    found = gold_odds(shares, np.full(30, 4, dtype=np.int64))
    picks = shares.argmax(axis=2)
    missed = np.flatnonzero((picks != 0).any(axis=1))
    for place in missed[[0, 5, 10]]:
        right = [(np.delete(shares[:, s, 0], place).sum() + 1) / (29 + 2) for s in range(5)]
        skill = stats.norm.ppf(np.maximum(right, 1 / 4))

        def likelihood(true: int, place: int = place, skill: Any = skill) -> float:
            def given(ease: float) -> float:
                able = stats.norm.cdf((skill + np.sqrt(found.shared) * ease) / np.sqrt(1 - found.shared))
                return float(np.where(picks[place] == true, able, 1 - able).prod() * stats.norm.pdf(ease))

            wrong = [int((picks[place] == option).sum()) for option in range(4) if option != true]
            fallen = stats.dirichlet_multinomial([found.spread / 3] * 3, sum(wrong))
            ways = stats.multinomial(sum(wrong), [1 / 3] * 3).pmf(wrong) * 3 ** sum(wrong)
            return float(quad(given, -8, 8)[0] * fallen.pmf(wrong) / ways)

        others = [likelihood(option) for option in (1, 2, 3)]
        assert found.odds[place] == pytest.approx(log(np.mean(others) / likelihood(0)), abs=0.02)
        assert found.other[place] == 1 + int(np.argmax(others))


def test_how_systems_fail_together_is_read_from_the_answers() -> None:
    draw = np.random.default_rng(5)
    one_trap, scattered = (
        gold_odds(planted(draw, 20, (0.5, 0.9), trap)[0], np.full(400, 4)) for trap in (1.0, 0.0)
    )
    assert BLIND - 0.1 <= one_trap.shared <= BLIND + 0.1
    assert one_trap.spread < 1
    assert scattered.spread > 4
    alone = draw.random((400, 12)) < 0.7
    shares = np.stack([alone, ~alone], axis=2).astype(float)
    assert gold_odds(shares, np.full(400, 2)).shared <= 0.1


def test_options_that_an_item_has_not_and_systems_that_guess_say_nothing() -> None:
    shares, _ = planted(np.random.default_rng(6), 8, (0.5, 0.9), 0.3, items=60)
    plain = gold_odds(shares, np.full(60, 4, dtype=np.int64))
    wider = gold_odds(np.pad(shares, ((0, 0), (0, 0), (0, 3))), np.full(60, 4, dtype=np.int64))
    assert wider.odds == pytest.approx(plain.odds)
    assert (wider.other == plain.other).all()
    shares[:, :, 1:] = 0
    shares[:, :, 0] = 1
    nobody = gold_odds(shares, np.full(60, 4, dtype=np.int64))
    assert (nobody.other == 0).all()
    assert (nobody.odds < 0).all()


def in_both_orders(number: int, gold: int, stated: int) -> list[Question]:
    """An item whose true answer is `gold` and whose release says `stated`, with its options turned once."""
    made = []
    for order in (0, 1):
        options = OPTIONS[order:] + OPTIONS[:order]
        facts = {"options": options, "pair_id": f"pair-{number}", "order": order, "group": f"g{number}"}
        made.append(choice(f"q{number}-{order}", options.index(OPTIONS[stated]), **facts))
    return made


def suspect_of(one: Item) -> Suspect:
    """What six systems say against an item of a build."""
    return Suspect(
        rank=1, items=(one.id,), content_hashes=(content_hash(one),), release="demo", version="0.1.0",
        config="ar_meaning_choice", task=one.task, language=one.language, reason="other_answer", odds=3.0,
        gold="x", other="y", systems=6, gold_share=0.1, other_share=0.9, rest=-0.2, evidence="5 of 6 choose «y».",
    )  # fmt: skip


def replies(
    pairs: list[list[Question]], picked: Callable[[int, int], int], systems: int = 8
) -> Iterator[Answer]:
    """What each system picks of each pair, by content, in both orders."""
    for system in range(systems):
        for number, pair in enumerate(pairs):
            for one in pair:
                label = AR[one.options.index(OPTIONS[picked(system, number)])]
                yield reply_to(one, label, model=f"s{system}")


@pytest.fixture
def listed() -> list[Suspect]:
    """Forty pairs; 3 and 17 have wrong golds, 5 is split, 8 is always right, the rest is missed by weak ones."""
    pairs = [in_both_orders(number, 0, 2 if number in (3, 17) else 0) for number in range(40)]

    def picked(system: int, number: int) -> int:
        if number in (3, 17):
            return 0 if system >= 2 else 1
        if number == 5:
            return system % 2
        if number == 8:
            return 0
        return 0 if (number * 7 + system * 3) % 8 < system + 2 else (number % 3) + 1

    questions = {one.item: one for pair in pairs for one in pair}
    return suspects(replies(pairs, picked), questions)


def test_planted_golds_come_first_with_who_chose_what(listed: list[Suspect]) -> None:
    assert len(listed) == 40, "both orders of an item are one"
    assert {one.items[0] for one in listed[:2]} == {"q3-0", "q17-0"}
    first = listed[0]
    assert first.reason == "other_answer"
    assert (first.gold, first.other) == (OPTIONS[2], OPTIONS[0])
    assert (first.gold_share, first.other_share) == (0, 0.75)
    assert len(first.items) == len(first.content_hashes) == 2
    assert f"6 choose «{OPTIONS[0]}»" in first.evidence
    assert "s7" in first.evidence, "the best of them are named"
    assert "over both orders" in first.evidence
    by_item = {one.items[0]: one for one in listed}
    assert by_item["q5-0"].reason == "ambiguous"
    assert by_item["q8-0"].reason == "always_right"
    assert by_item["q8-0"].rank > 20
    assert [one.rank for one in listed] == list(range(1, 41))


def test_items_that_tell_no_two_systems_apart_are_named() -> None:
    """Item 0 is missed by a weak and a strong system, 1 by all, 2 by none; the others by skill."""
    questions = {f"q{n}": choice(f"q{n}", 0) for n in range(30)}

    def right(system: int, number: int) -> bool:
        special = {0: system not in (2, 9), 1: False, 2: True}
        return special.get(number, (number * 5 + system) % 12 < system)

    def listed(systems: int) -> dict[str, str]:
        found = suspects(
            [
                reply_to(one, AR[0] if right(system, n) else AR[1 + (n + system) % 3], model=f"s{system}")
                for system in range(systems)
                for n, one in enumerate(questions.values())
            ],
            questions,
        )
        return {one.items[0]: one.reason for one in found}

    twelve = listed(12)
    assert {name: twelve[name] for name in ("q0", "q1", "q2")} == {
        "q0": "flat", "q1": "never_right", "q2": "always_right",
    }  # fmt: skip
    assert "flat" not in {reason for name, reason in twelve.items() if name != "q0"}
    assert "flat" not in listed(8).values(), "eight systems can't show that"


def test_items_solved_from_their_options_alone_are_named() -> None:
    """All choose q4's gold without the question, all but one q5's; five systems would not be enough."""
    questions = {f"q{n}": choice(f"q{n}", 0) for n in range(12)}
    probes = {
        probe.item: probe
        for one in questions.values()
        for probe, _ in probes_of(one, {"question": "؟"}, ("options",), 0)
    }
    asked = questions | probes

    def listed(probed: int) -> dict[str, Suspect]:
        def label(system: int, one: Question) -> str:
            number = int(one.item.partition("#")[0][1:])
            if one.ability == "probe":
                return AR[0] if number == 4 or (number == 5 and system) else AR[1 + system % 3]
            return AR[0] if (number * 5 + system) % 12 < 9 else AR[1 + (number + system) % 3]

        answers = [
            reply_to(one, label(system, one), model=f"s{system}")
            for system in range(8)
            for one in asked.values()
            if one.ability != "probe" or system < probed
        ]
        return {one.items[0]: one for one in suspects(answers, asked)}

    eight = listed(8)
    assert set(eight) == set(questions), "probes are no items"
    assert {name for name, one in eight.items() if one.reason == "without_question"} == {"q4"}
    assert "all 8 that saw the options alone choose the gold" in eight["q4"].evidence
    assert "without_question" not in {one.reason for one in listed(5).values()}


def test_answers_in_words_agree_by_content_and_accepted_ones_are_the_gold() -> None:
    questions = {f"a{n}": worded(f"a{n}", "الحيط", accepted=("الجدار",)) for n in range(12)}

    def said(system: int, name: str) -> str:
        if name == "a7":
            return "<answer>السَّقف</answer>" if system > 1 else "لا أدري"
        return "<answer>الجِدار</answer>" if system % 3 else "<answer>الحيط</answer>"

    found = suspects(
        [
            reply_to(one, said(system, name), model=f"s{system}")
            for system in range(7)
            for name, one in questions.items()
        ],
        questions,
    )
    assert found[0].items == ("a7",)
    assert found[0].other == "السقف"
    assert {one.reason for one in found[1:]} == {"always_right"}


def test_few_systems_and_changed_items_are_refused() -> None:
    pairs = [in_both_orders(number, 0, 0) for number in range(4)]
    questions = {one.item: one for pair in pairs for one in pair}
    with pytest.raises(UsageError, match="5 systems answered 4 items: suspects need 6"):
        suspects(replies(pairs, lambda *_: 0, systems=5), questions)
    changed = {name: one.model_copy(update={"content_hash": "new"}) for name, one in questions.items()}
    with pytest.raises(UsageError, match="has changed since it was asked"):
        suspects(replies(pairs, lambda *_: 0), changed)
    with pytest.raises(UsageError, match="nothing can be suspected"):
        suspects([], questions)


def test_suspects_are_queued_beside_flagged_items_and_stay_in_the_lot_for_the_miss_rate() -> None:
    items = [item(number) for number in range(40)]
    verdicts = [verdict(one.id, "flag" if number < 4 else "pass") for number, one in enumerate(items)]
    doubted = {items[1].id, items[10].id, items[20].id}
    plain = choose(items, verdicts, seed=1, sample=6, attention_every=0)
    found = choose(items, verdicts, seed=1, sample=6, suspects=doubted, attention_every=0)
    drawn = {one.item.id for one in plain if one.why == "sample"}
    assert {one.item.id for one in found if one.why == "sample"} == drawn, "suspects change no draw"
    assert {one.item.id for one in found if one.why == "suspect"} == doubted - drawn - {items[1].id}
    assert len({one.item.id for one in found}) == len(found)


def test_the_evidence_decides_the_place_in_the_queue_and_is_not_on_the_screen() -> None:
    from mihakk.schemas.finding import Finding

    one = item(0)
    told = [Finding(check=benchmark_push.SUSPECT, severity="flag", subject=one.id, detail="6 choose «x»")]
    entries = choose([one], [verdict(one.id, "pass")], seed=1, suspects={one.id}, attention_every=0)
    (task,) = benchmark_push._tasks(entries, {one.id: told}, {}, 1)
    assert "6 choose" not in str(task)
    assert task["data"]["priority"] == 4


def test_suspects_outlive_rebuilds_while_their_items_stay_as_they_were(tmp_path: Path) -> None:
    stores, rows = Stores.under(str(tmp_path)), [item(number) for number in range(4)]
    known = [suspect_of(one) for one in rows[:2]]
    assert kept.keep_suspects("demo", stores, rows, known) == known
    assert kept.keep_suspects("demo", stores, rows, known) == []
    assert set(kept.evidence(stores, rows)) == {rows[0].id, rows[1].id}
    corrected = rows[0].model_copy(update={"gold": (1,)})
    assert set(kept.evidence(stores, [corrected, *rows[1:]])) == {rows[1].id}
    with pytest.raises(UsageError, match="none of the 2 suspects is an item of other"):
        kept.keep_suspects("other", stores, [corrected, *rows[2:]], known)
