"""Who knows all answers of dev finds no more of test than by chance: an attacker who only compares texts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scipy.stats import binomtest

from mihakk.generators.generating import Generated, generate_shard, prepare
from mihakk.releases.content.split import split_items
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.poem import Poem
from tests.generators.generated import config
from tests.generators.records import make_idiom
from tests.generators.test_idiom_form import taymur  # noqa: F401 - a fixture

SHARE = 0.8


def generated(records: Sequence[Poem | Idiom], *tasks: str, share: float = SHARE) -> Generated:
    told = config(*tasks)
    told = told.model_copy(update={"release": told.release.model_copy(update={"test_share": share})})
    return generate_shard(records, prepare(records, told), told)


def by_exclusion(dev: list[Item], test: list[Item]) -> tuple[float, int, float]:
    """Right guesses, questions guessed at and right ones by chance.

    The attacker strikes out what answers a question of dev. Where dev offers an option as a wrong one, and
    none is struck out, the attacker takes that: each is offered as a wrong one about once.
    """
    answers, failures = set(), set()
    for item in dev:
        if isinstance(item, ChoiceItem):
            answers |= {item.options[place] for place in item.gold}
            failures |= {text for place, text in enumerate(item.options) if place not in item.gold}
    right, asked, chance = 0.0, 0, 0.0
    for item in test:
        if not isinstance(item, ChoiceItem) or item.order:
            continue
        left = [text for text in item.options if text not in answers]
        met = [text for text in item.options if text in failures]
        guesses = left if 0 < len(left) < len(item.options) else met
        if 0 < len(guesses) < len(item.options):
            asked += 1
            right += (item.options[item.gold[0]] in guesses) / len(guesses)
            chance += 1 / len(item.options)
    return right, asked, chance


def attack(items: list[Item], *, open_too: bool = False) -> tuple[float, int, float]:
    """The attack on each task; `open_too`: on dev before it loses what tells."""
    split = split_items(items, SHARE)
    right, asked, chance = 0.0, 0, 0.0
    for task in {item.task for item in items}:
        mine = [item for item in items if item.task == task]
        dev = [
            item
            for item in mine
            if split.places[item.id][0] == "dev" and (open_too or item.id not in split.left_out)
        ]
        assert dev, f"{task} has no dev"
        found = by_exclusion(dev, [item for item in mine if split.places[item.id][0] == "test"])
        right, asked, chance = right + found[0], asked + found[1], chance + found[2]
    return right, asked, chance


def gains(right: float, asked: int, chance: float) -> bool:
    if not asked:
        return False
    return binomtest(round(right), asked).proportion_ci(method="wilson").low > chance / asked


IDIOM_TASKS = ("meaning_choice", "negation")
VERSE_TASKS = ("continuation_choice", "verse_choice")


@pytest.mark.parametrize("tasks", [IDIOM_TASKS, VERSE_TASKS])
def test_answers_of_dev_tell_none_of_test(
    tasks: tuple[str, ...],
    taymur: list[Idiom],  # noqa: F811
    hafez: list[Poem],
) -> None:
    records: list[Poem | Idiom] = [*taymur] if tasks is IDIOM_TASKS else [*hafez[:150]]
    items = generated(records, *tasks).items
    right, asked, chance = attack(items)
    assert not gains(right, asked, chance), f"{right} of {asked}"
    before = attack(generated(records, *tasks, share=1.0).items, open_too=True)
    assert before[1] > 100
    assert gains(*before), "the attacker finds nothing where wrong options come from everywhere"


def test_dev_loses_little_for_it(taymur: list[Idiom]) -> None:  # noqa: F811
    """Meanings that two idioms share, on either side, are all that is left out."""
    made = generated(taymur, *IDIOM_TASKS)
    split = split_items(made.items, SHARE)
    dev = [item for item in made.items if split.places[item.id][0] == "dev"]
    assert len(split.left_out) < 0.15 * len(dev)
    assert all("of the test split" in why for why in split.left_out.values())


def test_an_option_of_test_leaves_dev_however_it_came_there(taymur: list[Idiom]) -> None:  # noqa: F811
    """As by people's choice of a wrong idiom, or where two sources explain in the same words."""
    items = generated(taymur, "meaning_choice").items
    split = split_items(items, SHARE)
    dev, test = (
        next(
            item
            for item in items
            if split.places[item.id][0] == name
            and item.id not in split.left_out
            and isinstance(item, ChoiceItem)
        )
        for name in ("dev", "test")
    )
    told = test.model_copy(update={"options": (dev.options[dev.gold[0]], test.options[test.gold[0]])})
    again = split_items([told if item is test else item for item in items], SHARE)
    assert dev.id in again.left_out
    assert told.id in again.left_out[dev.id]


@pytest.mark.parametrize("gone", [60, 120])
def test_an_idiom_that_goes_changes_nothing_in_the_other_split(taymur: list[Idiom], gone: int) -> None:  # noqa: F811
    before = {item.id: item for item in generated(taymur, *IDIOM_TASKS).items}
    left = [*taymur[:gone], *taymur[gone + 1 :]]
    after = {item.id: item for item in generated(left, *IDIOM_TASKS).items}
    changed = [item for name, item in before.items() if after.get(name) != item]
    assert changed
    places = split_items([*before.values()], SHARE).places
    assert len({places[item.id][0] for item in changed}) == 1


def test_an_idiom_alone_in_its_split_is_not_asked_for() -> None:
    pairs = [("إيده ناشفه", "من يبخل على أهله"), ("وشه خشب", "من لا يستحي أحدا")]
    # By the hash of their names i1 falls to dev and i4 to test, where each split has half.
    two = [make_idiom(f"i{n}", *pair) for n, pair in zip((1, 4), pairs, strict=True)]
    assert len(generated(two, "negation", share=1.0).items) == 4
    alone = generated(two, "negation", share=0.5)
    assert not alone.items
    assert alone.skipped == {"skipped.negation.no_other_explanation": 2}
