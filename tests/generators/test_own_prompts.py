"""One's own words for a task, the language they are asked in, and frames that bend to no poet's gender or case."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mihakk.generators.prompts import FOLDER, Prompts, bundled
from mihakk.machinery.errors import UsageError
from mihakk.schemas.benchmark import BenchmarkConfig
from tests.generators.generated import config, generate
from tests.generators.records import make_poem

POEM = make_poem(
    "p", [("قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل")], language="ar", poet="الخنساء"
)


def own(folder: Path, question: str) -> str:
    words = yaml.safe_load((FOLDER / "continuation.yaml").read_text("utf-8"))
    words["version"] = "mine"
    words["ask"]["ar"]["question"] = question
    (folder / "continuation.yaml").write_text(yaml.safe_dump(words, allow_unicode=True), encoding="utf-8")
    return str(folder)


def test_own_words_stand_in_for_the_bundled_ones_and_stamp_their_version(tmp_path: Path) -> None:
    from mihakk.generators.generating import generate_shard, prepare

    told = config("continuation", "shuffled").model_copy(update={"prompts": own(tmp_path, "أكمل: {first}")})
    made = {item.task: item for item in generate_shard([POEM], prepare([POEM], told), told).items}
    assert made["continuation"].question == "أكمل: قفا نبك من ذكرى حبيب ومنزل"
    assert made["continuation"].origin.asked == f"mine+{bundled().layout.version}"
    assert made["shuffled"].origin.asked == bundled().version("shuffled")


def test_a_folder_that_fits_no_task_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        Prompts(tmp_path / "nowhere")
    (tmp_path / "continuatoin.yaml").write_text("version: '1'", encoding="utf-8")
    with pytest.raises(UsageError, match="continuatoin"):
        Prompts(tmp_path)
    own(tmp_path, "{poet} {second}")
    (tmp_path / "continuatoin.yaml").unlink()
    with pytest.raises(UsageError, match="second"):
        Prompts(tmp_path).question("continuation", "ar", {"first": "a", "poet": "b"})


def test_no_arabic_frame_says_he_or_governs_the_name() -> None:
    """«قال الخنساء» and «من شعر أبو نواس» are wrong Arabic: the name stands behind a colon, alone on its line."""
    asked = 0
    for path in FOLDER.glob("*.yaml"):
        if path.stem == "layout":
            continue
        question = bundled().of(path.stem).ask["ar"].question
        for line in question.split("\n"):
            if "{poet}" in line:
                asked += 1
                assert line == "من شعر: {poet}", f"{path.stem}: {line}"
    assert asked > 8
    (item,) = generate([POEM], "continuation").items
    assert item.question.startswith("الشطر الأول: قفا نبك")


def test_a_release_can_be_asked_in_another_language() -> None:
    from mihakk.releases.assemble import renderers

    (item,) = generate([POEM], "continuation").items
    told: BenchmarkConfig = config("continuation").model_copy(update={"prompt_languages": ("en",)})
    assert "Which line follows?" in renderers(told).prompt(item, "ar")
    own = renderers(config("continuation"))
    assert "ما الشطر الثاني" in own.prompt(item, "ar")
    assert not own.further
    both = renderers(told.model_copy(update={"prompt_languages": ("en", "ar")}))
    assert "Which line follows?" in both.prompt(item, "ar")
    assert {name: render(item, "ar") for name, render in both.further.items()} == {
        "en": both.prompt(item, "ar"),
        "ar": own.prompt(item, "ar"),
    }
