"""The configs that follow a paper ask what the paper asks."""

from __future__ import annotations

import pytest

from mihakk.generators.generating import generate_shard, planned, prepare
from mihakk.generators.prompts import prompts_of
from mihakk.machinery.configs import load_config
from mihakk.machinery.settings import ROOT
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.poem import Poem

FOLDER = ROOT / "configs" / "benchmarks"


def preset(name: str) -> BenchmarkConfig:
    return load_config(FOLDER / f"{name}.yaml", BenchmarkConfig)


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.yaml"))])
def test_every_config_names_tasks_and_options_that_there_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    told = preset(name)
    tasks = {task.name for task, _ in planned(told)}
    assert len(tasks) == len(told.tasks)
    assert set(told.release.baseline_margins) <= tasks
    assert prompts_of(told.prompts).version(told.tasks[0].use)


def test_ghazalbench_offers_one_line_of_the_ghazal_and_one_of_another(
    hafez: list[Poem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    told = preset("ghazalbench")
    told = told.model_copy(
        update={
            "tasks": tuple(
                use for use in told.tasks if use.use in ("continuation", "continuation_choice", "shuffled")
            ),
            "generator": None,
            "embeddings": "none",
        }
    )
    few = hafez[:60]
    made = generate_shard(few, prepare(few, told), told).items
    asked = [item for item in made if isinstance(item, ChoiceItem)]
    assert len(asked) > 200
    assert {tuple(sorted(item.option_kinds)) for item in asked} == {("other_poem", "right", "same_poem")}
    completed = {item.origin.records[0] for item in made if item.task == "continuation"}
    assert {item.origin.records[0] for item in asked} <= completed


@pytest.mark.parametrize("language", ["fa", "en"])
def test_ghazalbench_shows_two_examples_of_prose(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = prompts_of(preset("ghazalbench").prompts).of("couplet_prose")
    instruction = words.ask[language].instruction  # type: ignore[index]
    assert instruction.count(" / ") == 2
    samples = "".join(path.read_text("utf-8") for path in (ROOT / "data/samples").glob("*.jsonl"))
    for line in instruction.splitlines():
        if " / " in line:
            assert line.split(" / ")[0] not in samples, "an example that is asked for"


def test_kinayat_has_its_eight_tasks_and_asks_in_english() -> None:
    told = preset("kinayat")
    assert {use.use for use in told.tasks} == {
        *("meaning_choice", "meaning_choice_srl", "meaning_in_context", "pragmatic_use"),
        *("negation", "explanation", "completion", "connotation"),
    }
    assert told.prompt_languages == ("en",)
