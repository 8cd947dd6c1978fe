"""`mihakk code refine` with a scripted model: what it proposes, what it refuses, and that nothing is asked twice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import SAMPLES
from mihakk.validators.code.refinement import read_refinements

PROBLEMS = SAMPLES / "code_problems.jsonl"


def system(folder: Path, server: ScriptedServer) -> Path:
    path = folder / "scripted.yaml"
    config = {
        "name": "scripted",
        "family": "scripted",
        "model": "scripted-1",
        "serve": {"engine": "openai", "endpoints": [server.url]},
        "limits": {"concurrency": 4, "timeout_seconds": 30, "attempts": 2},
        "kind": "code",
        "open": True,
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def docstring_asked(call: Call) -> str:
    """The docstring that the first question holds, whether this is it or its repair."""
    return str(json.loads(str(call.body["messages"][1]["content"]).splitlines()[-1]))


def reply(text: str, needs_human: bool = False) -> Answer:
    return Answer(text=json.dumps({"docstring": text, "needs_human": needs_human}, ensure_ascii=False))


def refine(folder: Path, server: ScriptedServer) -> dict[str, Any]:
    done = CliRunner().invoke(
        app,
        [
            "code",
            "refine",
            str(PROBLEMS),
            "--model",
            str(system(folder, server)),
            "--out",
            str(folder / "out"),
        ],
    )
    assert done.exit_code == 0, done.output
    return {"output": done.output, "found": {one.problem: one for one in read_refinements(folder / "out")[1]}}


@pytest.mark.services
def test_sound_changes_are_proposed_and_the_rest_goes_to_people_or_stays(tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        text = docstring_asked(call)
        if "مجموع الأعداد" in text:  # ar/1: a sound change
            return reply(text.replace("أعد مجموع", "أرجع مجموع"))
        if "أطول كلمة" in text:  # ar/2: tries to give a hint, and again when told
            return reply(
                text + " استخدم الفرز."
                if "\n" not in text
                else text.replace("أعد أطول", "استخدم الفرز وأعد أطول")
            )
        if "من جهتيه" in text:  # ar/3: first breaks an example, then keeps to the rules
            repaired = len(call.body["messages"]) > 2
            return reply(text.replace("تحقق من", "تأكد من") if repaired else text.replace("radar", "level"))
        if "أحرف العلة" in text:  # ar/4: asks for people
            return reply(text, needs_human=True)
        return reply(text)

    with ScriptedServer(script) as server:
        first = refine(tmp_path, server)
        asked = len(server.calls)
        again = refine(tmp_path, server)
        assert len(server.calls) == asked, "a second run asks nothing"
    assert again["found"] == first["found"]
    found = first["found"]
    assert len(found) == 40
    assert (found["ar/1"].status, found["ar/1"].kinds) == ("proposed", ("linguistic",))
    assert (found["ar/2"].status, found["ar/2"].after) == ("refused", found["ar/2"].before)
    assert "says how to solve the task" in found["ar/2"].reason
    assert (found["ar/3"].status, found["ar/3"].kinds) == ("proposed", ("linguistic",))
    assert (found["ar/4"].status, found["ar/4"].needs_human) == ("for_people", True)
    # Planted faults that no rewording mends: nobody is asked about them but people.
    for name in ("ar/5", "ar/19", "ar/33"):
        assert (found[name].status, found[name].reason) == (
            "for_people",
            "the reference does not pass the tests",
        )
    for name in ("ar/14", "ar/25", "ar/40"):
        assert found[name].reason == "the prompt does not parse, or has no plain docstring"
    assert sum(one.status == "unchanged" for one in found.values()) == 40 - 2 - 1 - 7
    assert re.search(
        r"2/40 would change; QIMMA changed 145/164 of HumanEval\+, 308/378 of MBPP\+", first["output"]
    )


def test_a_folder_without_refinements_is_told(tmp_path: Path) -> None:
    from mihakk.machinery.errors import UsageError

    with pytest.raises(UsageError, match=r"holds no refinements .*run `mihakk code refine`"):
        read_refinements(tmp_path)
