"""The core: balanced, the same couplets in every task, stable, and no larger claim than its size allows."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from mihakk.evaluation.rows import write_rows
from mihakk.machinery.configs import validate
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content.core import core_of
from mihakk.releases.content.item_tables import Placed
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.benchmark import BenchmarkConfig, CoreConfig
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item, Origin
from mihakk.schemas.suspect import Suspect, SuspectReason
from tests.releases.release_material import hafez_config, hafez_items, release_arguments

POEM_TASKS = ("continuation", "continuation_cued", "metre_choice")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> AssembledRelease:
    given_ = release_arguments(_with_metres(hafez_items(40)), core={"items": 30})
    return assemble(folder=tmp_path_factory.mktemp("core") / "release", **given_)


def _with_metres(items: tuple[Item, ...]) -> tuple[Item, ...]:
    return tuple(item.model_copy(update={"metadata": {**item.metadata, "metre": "fa_1"}}) for item in items)


def _items(poems: list[tuple[str, str, int, int]]) -> list[Item]:
    """Items of poems (name, metre, couplets, tasks that ask about each couplet)."""
    made: list[Item] = []
    for name, metre, couplets, tasks in poems:
        for place in range(couplets):
            for task in POEM_TASKS[: 1 + (tasks + place) % len(POEM_TASKS)]:
                shared: dict[str, Any] = {
                    "task": task,
                    "language": "fa",
                    "question": f"{task} {name} {place}",
                    "metadata": {"metre": metre, "era": ""},
                    "origin": Origin(records=(f"{name}:{place}",), generator=task, generator_version="1"),
                    "licence": "CC0-1.0",
                }
                if task == "metre_choice":
                    made += [
                        ChoiceItem(
                            id=f"{task}-{name}-{place}-{order}",
                            options=("a", "b"),
                            gold=(order,),
                            pair_id=f"{task}-{name}-{place}",
                            order=order,
                            **shared,
                        )
                        for order in (0, 1)
                    ]
                else:
                    made.append(AnswerItem(id=f"{task}-{name}-{place}", answer="x", **shared))
    return made


def _drawn(items: list[Item], asked: CoreConfig) -> set[str]:
    """Names of the drawn questions, a pair once."""
    core = core_of([Placed(item, "test", "g", "pass", False) for item in items], asked)
    assert core.fact.questions <= asked.items
    return {
        item.pair_id if isinstance(item, ChoiceItem) else item.id for item in items if item.id in core.items
    }


POEMS = st.lists(
    st.tuples(
        st.integers(0, 400).map(lambda n: f"poem-{n}"),
        st.sampled_from(["fa_1", "fa_2", "fa_3"]),
        st.integers(1, 4),
        st.integers(0, 2),
    ),
    min_size=2,
    max_size=25,
    unique_by=lambda poem: poem[0],
)


@given(POEMS, st.integers(1, 40), st.integers(1, 2), st.data())
def test_a_poem_that_goes_or_comes_moves_no_place_but_its_own(
    poems: list[tuple[str, str, int, int]], size: int, per_record: int, data: st.DataObject
) -> None:
    asked = CoreConfig(items=size, per_record=per_record)
    gone = data.draw(st.sampled_from(poems))
    before = _drawn(_items(poems), asked)
    after = _drawn(_items([poem for poem in poems if poem is not gone]), asked)
    own = {name for name in before if f"{gone[0]}-" in f"{name}-"}
    assert before - after == own
    assert len(after - before) <= len(own) <= per_record * len(POEM_TASKS)


@given(POEMS, st.integers(1, 40))
@settings(max_examples=60)
def test_the_order_of_items_draws_nothing(poems: list[tuple[str, str, int, int]], size: int) -> None:
    asked = CoreConfig(items=size)
    items = _items(poems)
    assert _drawn(items, asked) == _drawn(items[::-1], asked)


def _answered(path: Path, items: list[Item], reasons: dict[str, SuspectReason]) -> str:
    """What systems told of the questions, as `mihakk evaluate suspects` writes it."""
    by_question: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_question[item.pair_id if isinstance(item, ChoiceItem) else item.id].append(item)
    rows = [
        Suspect(
            rank=1, items=tuple(one.id for one in own), content_hashes=tuple(content_hash(one) for one in own),
            release="r", version="0.1.0", config="c", task=own[0].task, language="fa", odds=-3.0, gold="a", other="",
            reason=reasons.get(name, "none"), systems=8, gold_share=1, other_share=0, rest=None, evidence="",
        )
        for name, own in by_question.items()
    ]  # fmt: skip
    write_rows(path, rows, Suspect)
    return str(path)


@given(POEMS, st.integers(1, 40), st.integers(1, 2), st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_questions_that_told_nothing_leave_their_own_places_alone(
    tmp_path: Path, poems: list[tuple[str, str, int, int]], size: int, per_record: int, data: st.DataObject
) -> None:
    items = _items(poems)
    asked = CoreConfig(items=size, per_record=per_record)
    before = _drawn(items, asked)
    names = {item.pair_id if isinstance(item, ChoiceItem) else item.id for item in items}
    reasons: tuple[SuspectReason, ...] = ("always_right", "never_right", "flat", "inverted")
    told = data.draw(st.dictionaries(st.sampled_from(sorted(names)), st.sampled_from(reasons), max_size=4))
    dead = {name for name, reason in told.items() if reason in ("always_right", "never_right")}
    answered = _answered(tmp_path / "suspects.parquet", items, told)
    after = _drawn(items, asked.model_copy(update={"answered": answered}))
    assert before - after == before & dead
    assert len(after - before) <= len(before & dead)
    assert not after & dead
    corrected = [item.model_copy(update={"question": f"{item.question}؟"}) for item in items]
    assert _drawn(corrected, asked.model_copy(update={"answered": answered})) == before, (
        "they are other questions"
    )


def test_a_release_says_how_many_questions_answers_kept_out_of_its_core(tmp_path: Path) -> None:
    arguments = release_arguments(_with_metres(hafez_items(40)), core={"items": 30})
    items = list(arguments["items"])
    choices = sorted({item.pair_id for item in items if isinstance(item, ChoiceItem)})
    answered = _answered(tmp_path / "s.parquet", items, dict.fromkeys(choices[::3], "always_right"))
    arguments = release_arguments(_with_metres(hafez_items(40)), core={"items": 30, "answered": answered})
    folder = assemble(folder=tmp_path / "release", **arguments).folder
    drawn = set(pq.read_table(folder / "core/index.parquet").column("id").to_pylist())
    dead = {item.id for item in items if isinstance(item, ChoiceItem) and item.pair_id in choices[::3]}
    assert drawn
    assert not drawn & dead
    assert "could not be drawn because answers to an earlier version told nothing" in (
        folder / "README.md"
    ).read_text("utf-8")
    with pytest.raises(UsageError, match=r"release.core.answered: .*README.md is no table of"):
        core_of([], CoreConfig(answered=str(folder / "README.md")))


def test_every_task_asks_about_the_same_couplets() -> None:
    poems = [(f"poem-{n}", f"fa_{n % 3}", 4, 2 - n % 2) for n in range(60)]
    items = _items(poems)
    drawn = _drawn(items, CoreConfig(items=90))
    couplets = defaultdict(set)
    for item in items:
        if (item.pair_id if isinstance(item, ChoiceItem) else item.id) in drawn:
            couplets[item.task].add(item.origin.records[0])
    assert [len(found) for found in couplets.values()] == [30, 30, 30]
    assert len(set.union(*couplets.values())) == 30
    metres = Counter(
        item.metadata["metre"] for item in items if item.id in drawn and item.task == "continuation"
    )
    assert set(metres.values()) == {10}


def test_the_core_is_there_for_readers_and_harnesses(release: AssembledRelease, tmp_path: Path) -> None:
    loaded = load_dataset(
        str(release.folder), "fa_continuation_choice_core", cache_dir=str(tmp_path / "cache")
    )
    full = load_dataset(str(release.folder), "fa_continuation_choice", cache_dir=str(tmp_path / "cache"))
    by_id = {row["id"]: row for row in full["test"]}
    assert 0 < loaded["test"].num_rows < full["test"].num_rows
    assert all(by_id[row["id"]] == row for row in loaded["test"])
    assert all(count == 2 for count in Counter(row["pair_id"] for row in loaded["test"]).values())
    assert loaded["dev"].num_rows == full["dev"].num_rows
    index = {
        row["id"]: row["band"] for row in pq.read_table(release.folder / "core/index.parquet").to_pylist()
    }
    assert {row["id"] for row in loaded["test"]} < set(index)
    assert set(index.values()) <= {"easy", "middle", "hard"}
    task = release.folder / "eval" / "lm_eval" / "touchstone_fa_continuation_choice_core.yaml"
    stated = yaml.safe_load(task.read_text("utf-8").replace("!function", ""))
    assert stated["tag"] == "touchstone_core"
    assert stated["metadata"]["config"] == "fa_continuation_choice_core"
    assert "fa_continuation_choice_core" in (release.folder / "eval/inspect/tasks.py").read_text("utf-8")
    assert "30 questions of the test split" in (release.folder / "README.md").read_text("utf-8")
    hub = EmbeddedHub(tmp_path / "hub")
    hub.publish(release)
    assert hub.verify("touchstone", "0.1.0", release.folder) == release.rows


def test_no_item_of_dev_is_in_the_core(release: AssembledRelease) -> None:
    core = set(pq.read_table(release.folder / "core/index.parquet").column("id").to_pylist())
    dev = {
        name
        for path in release.folder.glob("*/dev-*.parquet")
        for name in pq.read_table(path).column("id").to_pylist()
    }
    assert dev
    assert not core & dev


def test_the_smallest_difference_is_what_simulated_systems_show() -> None:
    """Power by simulation: two systems, right half of the time or a little more, scores correlated by .5."""
    items = _items([(f"poem-{n}", "fa_1", 1, 0) for n in range(400)])
    core = core_of([Placed(item, "test", "g", "pass", False) for item in items], CoreConfig(items=400))
    whole = next(one for one in core.fact.slices if one.stratum == "all")
    assert (whole.questions, whole.works, whole.error) == (400, 400, pytest.approx(0.025))
    draw = np.random.default_rng(1)
    low, high = 0.5 - whole.difference / 2, 0.5 + whole.difference / 2
    both = 0.5 * np.sqrt(low * (1 - low) * high * (1 - high)) + low * high
    chances = [both, low - both, high - both, 1 - low - high + both]
    outcomes = draw.multinomial(400, chances, size=4000)
    difference = (outcomes[:, 2] - outcomes[:, 1]) / 400
    error = np.sqrt(((outcomes[:, 1] + outcomes[:, 2]) / 400 - difference**2) / 400)
    power = float(np.mean(difference / error > norm.ppf(0.975)))
    assert power == pytest.approx(0.8, abs=0.03)


def test_a_blind_release_has_no_core() -> None:
    config = hafez_config().model_dump()
    config["release"] |= {"core": {}, "blind": "repository"}
    with pytest.raises(UsageError, match="can't go together: the tasks of a core share their couplets"):
        validate(config, BenchmarkConfig, "my.yaml")
