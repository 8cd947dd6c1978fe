"""The example of the documentation is a task that works."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mihakk.generators import prompts
from mihakk.generators.generating import generate_shard, prepare
from mihakk.generators.task import TASKS
from mihakk.machinery.settings import ROOT
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import AnswerItem
from tests.generators.records import make_poem

COUPLETS = [
    ("قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل"),
    ("ألا أيها الليل الطويل ألا انجل", "بصبح وما الإصباح منك ألا انجل"),
]


def test_the_example_in_how_to_add_a_task_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "how-to-add-a-task.md").read_text(encoding="utf-8")
    code, words = (re.findall(rf"```{name}\n(.*?)```", page, re.DOTALL)[0] for name in ("python", "yaml"))
    folder = tmp_path / "prompts"
    shutil.copytree(prompts.FOLDER, folder)
    (folder / "last_word.yaml").write_text(words, encoding="utf-8")
    monkeypatch.setattr(prompts, "FOLDER", folder)
    poem = make_poem("p", COUPLETS, language="ar", poet="امرؤ القيس", metre="tawil")
    base = {"name": "t", "title": "t", "sources": [{"use": "f"}], "embeddings": "none"}
    TASKS.discover()
    try:
        exec(compile(code, "how-to-add-a-task.md", "exec"), {"__name__": "mihakk.generators.poems.last_word"})
        config = BenchmarkConfig.model_validate({**base, "tasks": [{"use": "last_word"}]})
        made = generate_shard([poem], prepare([poem], config), config)
    finally:
        TASKS._plugins.pop("last_word", None)
    (item,) = made.items
    assert isinstance(item, AnswerItem)
    assert (item.answer, item.fields["opening"]) == ("فحومل", "بسقط اللوى بين الدخول")
    assert made.skipped == {"skipped.last_word.given_away": 1}
