"""The miss rate is what people found in the first draw, however often somebody pushes, corrects or disputes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest
from scipy.stats import beta, binomtest

from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio import benchmark_push
from mihakk.annotation.label_studio.push import Pushed
from mihakk.annotation.statistics.miss_rate import MissRate, miss_rates
from mihakk.annotation.statistics.sampling import (
    Queued,
    QueueEntry,
    choose,
    stratum,
    unflagged,
    wanted_changed,
)
from mihakk.machinery.ids import content_hash
from mihakk.releases.release_facts import MissRateFact
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.item import Item
from mihakk.schemas.review import Review
from tests.annotation.judged import choice, review, verdict

WORDINGS = ({"question": "ما المقصود؟"}, {"question": "ما المعنى؟"}, {"gold": "1"})


def sample_of(items: Iterable[Item], **changes) -> list[Queued]:
    return [QueueEntry(item, "sample").queued().model_copy(update=changes) for item in items]


def overall(rows: list[MissRate]) -> MissRate:
    (row,) = [row for row in rows if row.stratum == "all"]
    return row


def both(item: Item, *decisions: str, **changes) -> list[Review]:
    return [review(item, f"p{n}", decision, **changes) for n, decision in enumerate(decisions)]


class Desk:
    """A benchmark under review; pushes go through the real command, with a server that takes everything."""

    def __init__(self, folder, items: list[Item], monkeypatch, sample: int = 60) -> None:
        self.stores, self.items, self.sample, self.draw = Stores.under(str(folder)), items, sample, 1
        self.pushed: list[dict] = []
        monkeypatch.setattr(benchmark_push, "find_projects", lambda *_: [])
        monkeypatch.setattr(benchmark_push, "ensure_project", lambda *_, **__: None)
        monkeypatch.setattr(
            benchmark_push, "push", lambda _, tasks, **__: self.pushed.extend(tasks) or Pushed()
        )

    def push(self) -> list[Queued]:
        """One `review push`; returns the rows that it added to the store."""
        before = stored(self.stores.queued, Queued)
        self.pushed.clear()
        benchmark_push.push_review(
            None, "b", self.items, [verdict(item.id, "pass") for item in self.items], [], audits=[],
            stores=self.stores, seed=7, attention_every=0,
            config=ReviewConfig(miss_rate_sample=self.sample, miss_rate_draw=self.draw),
        )  # fmt: skip
        return [row for row in stored(self.stores.queued, Queued) if row not in before]

    def correct(self) -> None:
        self.items, _ = fixed(self.items, stored(self.stores.decisions, Review), 2)

    def rate(self) -> MissRate:
        reviews = stored(self.stores.decisions, Review)
        now = {item.id: content_hash(item) for item in self.items}
        return overall(miss_rates(stored(self.stores.queued, Queued), reviews, 2, now=now))


def test_pushing_again_after_corrections_draws_nobody_anew(tmp_path, monkeypatch):
    desk = Desk(tmp_path, [choice(n) for n in range(500)], monkeypatch)
    drawn = {row.item for row in desk.push()}
    assert len(drawn) == 60
    mine = [item for item in desk.items if item.id in drawn]
    bad, good = mine[:12], mine[12:]
    add(
        desk.stores.decisions,
        Review,
        [v for item in bad for v in both(item, "fix", "fix", corrections={"gold": "1"})],
    )
    add(desk.stores.decisions, Review, [v for item in good for v in both(item, "keep", "keep")])
    first = desk.rate()
    assert (first.missed, first.decided) == (12, 60)
    assert first.upper == pytest.approx(binomtest(12, 60).proportion_ci(0.90, "exact").high, abs=1e-9)
    for _ in range(3):
        desk.correct()
        assert desk.push() == []
        assert {task["data"]["sample_id"] for task in desk.pushed} == {item.id for item in good}
        assert desk.rate() == first


def test_a_store_written_before_a_draw_was_kept_counts_each_item_as_first_drawn():
    item = choice()
    (corrected,), _ = fixed([item], both(item, "fix", "fix", corrections={"gold": "1"}), 2)
    queued = [*sample_of([item]), *sample_of([corrected])]
    votes = [*both(item, "fix", "fix", corrections={"gold": "1"}), *both(corrected, "keep", "keep")]
    assert (overall(miss_rates(queued, votes, 2)).missed, overall(miss_rates(queued, votes, 2)).decided) == (
        1,
        1,
    )


def test_a_corrected_item_is_never_drawn_and_weighs_nothing():
    items = [choice(n) for n in range(40)]
    passed = [verdict(item.id, "pass") for item in items]
    corrected = wanted_changed(v for item in items[:39] for v in both(item, "fix"))
    entries = choose(items, passed, seed=1, sample=20, corrected=corrected, attention_every=0)
    assert [entry.item for entry in entries] == items[39:] == [*unflagged(items, passed, corrected)]


def test_another_draw_is_asked_for_by_its_number_and_repeats_no_item(tmp_path, monkeypatch):
    desk = Desk(tmp_path, [choice(n) for n in range(150)], monkeypatch)
    first = {row.item for row in desk.push()}
    add(
        desk.stores.decisions,
        Review,
        [v for i in desk.items if i.id in first for v in both(i, "discard", "discard")],
    )
    assert (desk.rate().missed, desk.rate().decided) == (60, 60)
    desk.draw = 2
    second = {row.item for row in desk.push()}
    assert (len(second), first & second) == (60, set())
    add(
        desk.stores.decisions,
        Review,
        [v for i in desk.items if i.id in second for v in both(i, "keep", "keep")],
    )
    assert (desk.rate().missed, desk.rate().decided) == (0, 60)
    assert desk.push() == []


def test_a_larger_sample_tops_up_the_one_drawn(tmp_path, monkeypatch):
    desk = Desk(tmp_path, [choice(n) for n in range(150)], monkeypatch)
    first = {row.item for row in desk.push()}
    desk.sample = 80
    assert len({row.item for row in desk.push()} - first) == 20


def test_people_who_word_the_fix_differently_agree_that_it_is_needed():
    items = [choice(n) for n in range(60)]
    votes = [v for item in items[11:] for v in both(item, "keep", "keep")]
    for item in items[:11]:
        votes += [
            review(item, "p0", "fix", corrections=WORDINGS[0]),
            review(item, "p1", "fix", corrections=WORDINGS[1]),
        ]
    votes += [review(items[0], "p2", "discard", reason="ambiguous")]
    row = overall(miss_rates(sample_of(items), votes, 2))
    assert (row.missed, row.disputed, row.decided) == (11, 0, 60)


def test_disputed_items_are_defective_in_the_bound_and_in_no_way_left_out():
    items = [choice(n) for n in range(20)]
    votes = [v for item in items[4:] for v in both(item, "keep", "keep")]
    votes += both(items[0], "discard", "discard", reason="other")
    votes += both(items[1], "keep", "fix", corrections=WORDINGS[0])
    votes += both(items[2], "keep", "discard", "keep", "fix")
    votes += both(items[3], "keep")
    row = overall(miss_rates(sample_of(items), votes, 2))
    assert (row.decided, row.missed, row.disputed, row.waiting) == (19, 1, 2, 1)
    assert row.rate == pytest.approx(1 / 19)
    assert row.low == pytest.approx(binomtest(1, 20).proportion_ci(0.95, "exact").low, abs=1e-9)
    assert row.high == pytest.approx(binomtest(4, 20).proportion_ci(0.95, "exact").high, abs=1e-9)
    assert row.upper == pytest.approx(beta.ppf(0.95, 5, 16), abs=1e-9), "the one that waits may be a third"
    assert overall(miss_rates(sample_of(items), votes, 2, ["p1"])).missed == 3, (
        "an adjudicator's word settles it"
    )


def test_strata_weigh_what_they_hold():
    many, few = [choice(n) for n in range(10)], [choice(100 + n, task="era_choice") for n in range(10)]
    votes = [v for item in many for v in both(item, "keep", "keep")]
    votes += [v for item in few for v in both(item, "discard", "discard", reason="other")]
    queued = sample_of([*many, *few])
    sizes = {"ar/meaning_choice": 900, "ar/era_choice": 100}
    row = overall(miss_rates(queued, votes, 2, sizes=sizes))
    assert row.rate == pytest.approx(0.1)
    # Kish: (sum of weights) squared over the sum of their squares; Korn and Graubard: Clopper-Pearson on it.
    weights = [90] * 10 + [10] * 10
    cases = sum(weights) ** 2 / sum(w * w for w in weights)
    assert row.upper == pytest.approx(beta.ppf(0.95, 0.1 * cases + 1, 0.9 * cases), abs=1e-9)
    assert overall(miss_rates(queued, votes, 2)).rate == 0.5
    partly = overall(miss_rates(queued, votes, 2, sizes={**sizes, "fa/metre_choice": 1000}))
    assert (partly.rate, partly.covered) == (pytest.approx(0.1), 0.5)
    assert partly.upper == pytest.approx(0.5 + row.upper / 2), "of half the benchmark nobody drew anything"


def test_what_was_found_counts_as_it_was_drawn_and_what_is_gone_is_counted_beside_it():
    items = [choice(n) for n in range(5)]
    votes = [v for item in items[:2] for v in both(item, "keep", "keep")]
    votes += [v for item in items[2:3] for v in both(item, "discard", "discard", reason="other")]
    votes += both(items[3], "fix", "fix", corrections=WORDINGS[0])
    now = {items[0].id: content_hash(items[0]), items[1].id: "made anew", items[3].id: "corrected"}
    row = overall(miss_rates(sample_of(items), votes, 2, now=now))
    assert (row.missed, row.decided) == (2, 4), "neither a defect nor a sound item leaves the rate"
    assert (row.outdated, row.waiting) == (3, 0), (
        "corrected items are none; one that left unseen waits for nobody"
    )
    assert overall(miss_rates(sample_of(items), votes, 2)).waiting == 1
    assert MissRateFact(sampled=4, defective=2, outdated=3, upper_bound=0.9).is_outdated
    assert not MissRateFact(sampled=6, defective=2, outdated=3, upper_bound=0.9).is_outdated


def test_a_sample_that_nobody_answered_says_that_nothing_is_known():
    (row, *_) = miss_rates(sample_of(choice(n) for n in range(9)), [], 2, sizes={"ar/meaning_choice": 90})
    assert (row.rate, row.low, row.high, row.upper, row.covered) == (None, 0, 1, 1, 0)
    assert (row.decided, row.waiting) == (0, 9)


def test_a_sampled_item_made_anew_before_anybody_judged_it_is_unknown_and_one_that_left_is_no_part():
    items = [choice(n) for n in range(10)]
    votes = [v for item in items[:8] for v in both(item, "keep", "keep")]
    now = {item.id: content_hash(item) for item in items[:8]} | {items[8].id: "made anew"}
    row = overall(miss_rates(sample_of(items), votes, 2, now=now))
    assert (row.decided, row.waiting, row.outdated) == (8, 1, 2)
    assert row.upper == pytest.approx(beta.ppf(0.95, 2, 8), abs=1e-9)


def test_the_sentence_of_card_and_gate_says_all_of_it():
    fact = MissRateFact(
        sampled=60,
        defective=11,
        disputed=2,
        waiting=3,
        unanswered={"fa/era_choice": 3, "ar/metre_choice": 0},
        rate=0.18,
        low=0.09,
        high=0.34,
        upper_bound=0.32,
        covered=0.9,
    )
    assert fact.sentence == (
        "Of 60 sampled unflagged items people found 11 defective, on 2 more people differ: 18.00% weighted by "
        "stratum (95 % interval 9.00% to 34.00%), at most 32.00% (95 %, Clopper-Pearson, disputed and unanswered "
        "ones counted as defective); the answers speak for 90.0% of the unflagged items; 3 sampled items wait "
        "for votes; missing: ar/metre_choice (none drawn), fa/era_choice (3)"
    )


TASKS = {
    "meaning_choice": (110, 0.15),
    "era_choice": (50, 0.02),
    "negation": (30, 0.35),
    "metre_choice": (10, 0.0),
}
BENCHMARK = [choice(n, task=task, id=f"{task}-{n}") for task, (size, _) in TASKS.items() for n in range(size)]


def history(seed: int) -> tuple[float, MissRate]:
    """One benchmark's review from first push to last: the true rate, and what is reported in the end.

    People recognise defects, but one of two may slip; they word fixes in their own way; a third settles most
    disputes, and some stay open. Between pushes, settled corrections are applied.
    """
    chance, items = random.Random(seed), list(BENCHMARK)
    bad = {item.id for item in items if chance.random() < TASKS[item.task][1]}
    passed = [verdict(item.id, "pass") for item in items]
    queued: list[Queued] = []
    votes: list[Review] = []
    judged: set[tuple[str, str]] = set()
    for _ in range(chance.randint(1, 4)):
        entries = choose(
            items,
            passed,
            seed=seed,
            sample=48,
            queued=queued,
            corrected=wanted_changed(votes),
            attention_every=0,
        )
        known = {row.item for row in queued}
        queued += [entry.queued() for entry in entries if entry.item.id not in known]
        for item in (entry.item for entry in entries):
            if (item.id, content_hash(item)) not in judged:
                judged.add((item.id, content_hash(item)))
                votes += opinions(item, item.id in bad, chance)
        items, _ = fixed(items, votes, 2)
    sizes = Counter(stratum(item) for item in unflagged(items, passed, wanted_changed(votes)))
    now = {item.id: content_hash(item) for item in items}
    return len(bad) / len(items), overall(miss_rates(queued, votes, 2, sizes=sizes, now=now))


def opinions(item: Item, is_bad: bool, chance: random.Random) -> list[Review]:
    slips = chance.random() < 0.1
    said = [is_bad, is_bad != slips, *([is_bad] if slips and chance.random() < 0.7 else [])]
    return [
        review(item, f"p{n}", "keep")
        if not finds
        else review(item, f"p{n}", "discard", reason="other")
        if chance.random() < 0.3
        else review(item, f"p{n}", "fix", corrections=chance.choice(WORDINGS))
        for n, finds in enumerate(said)
    ]


def coverage(histories: int) -> tuple[float, float, float]:
    """Shares of histories whose bound and whose interval hold the truth, and the mean error of the rate."""
    told = [history(seed) for seed in range(histories)]
    loose = sum(row.upper - truth for truth, row in told) / histories
    assert 0.05 < loose < 0.2, f"a bound {loose:.3f} above the truth on average says too little or too much"
    bound = sum(truth <= row.upper for truth, row in told) / histories
    interval = sum(row.low <= truth <= row.high for truth, row in told) / histories
    return bound, interval, sum(row.rate - truth for truth, row in told) / histories


def test_bound_and_interval_cover_the_truth_over_sixty_histories():
    bound, interval, error = coverage(60)
    assert bound >= 0.93
    assert interval >= 0.93
    assert abs(error) < 0.015


@pytest.mark.drill
def test_bound_and_interval_cover_the_truth_over_two_thousand_histories(measured):
    bound, interval, error = coverage(2000)
    print(f"bound {bound:.4f}, interval {interval:.4f}, mean error {error:+.4f}")
    assert bound >= 0.95
    measured("miss-rate-covers", bound)
    assert interval >= 0.95
    assert abs(error) < 0.01
