"""`mihakk code review | release`: people's answers on refined docstrings, and the release made of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mihakk.annotation.decisions.refinements import decided, refinement_task
from mihakk.annotation.screens.ratings import Label
from mihakk.flows.cli import app
from mihakk.machinery.settings import SAMPLES
from mihakk.releases.content.checksum import faults
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.refined_code import changes_page
from mihakk.validators.code.docstring import docstring_of
from mihakk.validators.code.problem import read_problems
from mihakk.validators.code.refinement import Refinement, write_refinements

PROBLEMS = SAMPLES / "code_problems.jsonl"
KNOWN = {one.id: one for one in read_problems(PROBLEMS).problems}


def proposed(problem: str, old: str, new: str) -> Refinement:
    docstring = docstring_of(KNOWN[problem].prompt, KNOWN[problem].entry_point)
    assert docstring is not None
    assert old in docstring.text
    return Refinement(
        problem=problem, line=KNOWN[problem].line, status="proposed", before=docstring.text,
        after=docstring.text.replace(old, new), kinds=("linguistic",), model="scripted",
    )  # fmt: skip


def refined(folder: Path) -> None:
    broken = KNOWN["ar/40"]
    folder.mkdir()
    write_refinements(
        folder,
        PROBLEMS,
        "",
        [
            proposed("ar/1", "أعد مجموع", "أرجع مجموع"),
            proposed("ar/2", "أعد أطول", "أرجع أطول"),
            proposed("ar/3", "تحقق من", "تأكد من"),
            proposed("ar/4", "لا تفرّق", "لا تميّز"),
            proposed("ar/12", "تكتب هذه وظيفة", "تكتب هذه دالة"),
            Refinement(
                problem=broken.id,
                line=broken.line,
                status="for_people",
                before=broken.prompt,
                after=broken.prompt,
            ),
        ],
    )


def answer(
    task: dict[str, Any], number: int, person: int, verdict: str, *, meaning: str = "same", text: str = ""
) -> dict[str, Any]:
    """A task of `tasks.json` as Label Studio exports it once a person has answered."""

    def choice(name: str, alias: str) -> dict[str, Any]:
        return {
            "id": name,
            "type": "choices",
            "from_name": name,
            "to_name": "item",
            "value": {"choices": [alias]},
        }

    result = [choice("verdict", verdict), choice("meaning", meaning)]
    shown = text or task["data"]["form"]["fix_docstring"]
    result.append(
        {
            "id": "t",
            "type": "textarea",
            "from_name": "fix_docstring",
            "to_name": "item",
            "value": {"text": [shown]},
        }
    )
    at = datetime(2026, 5, 1, 12, number, person, tzinfo=UTC).isoformat()
    row = {"id": 100 * number + person, "was_cancelled": False, "completed_by": person, "result": result,
           "updated_at": at, "lead_time": 9.0}  # fmt: skip
    return {"id": number, "data": task["data"], "annotations": [row]}


def call(*words: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.services
def test_what_people_accept_is_released_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    folder = tmp_path / "work"
    refined(folder)
    assert "6 tasks for people" in call("code", "review", folder)
    tasks = {one["data"]["sample_id"]: one for one in json.loads((folder / "tasks.json").read_text("utf-8"))}
    fixed = KNOWN["ar/40"].prompt.replace("-> list[int]\n", "-> list[int]:\n")
    breaks = proposed("ar/3", "تحقق من", "تأكد من").after.replace("radar", "level")
    edited = proposed("ar/4", "لا تفرّق", "لا تُفرّق").after
    answers = [
        answer(tasks["ar/1"], 1, 7, "accept"),
        answer(tasks["ar/2"], 2, 7, "accept", meaning="changed"),  # whoever sees another meaning rejects
        answer(tasks["ar/3"], 3, 7, "edit", text=breaks),  # people may not break an example either
        answer(tasks["ar/4"], 4, 7, "edit", text=edited),
        answer(tasks["ar/40"], 5, 7, "edit", text=fixed),
    ]
    (tmp_path / "export.json").write_text(json.dumps(answers), encoding="utf-8")
    assert "5 answers read" in call("code", "review", folder, "--export", tmp_path / "export.json")
    said = call("code", "release", folder, "--name", "refined-demo")
    assert "refined-demo 0.1.0: 3/40 prompts changed" in said
    assert "ar/3: not released: line 3: it is code, an example" in said
    assert "1 waiting" in said
    rows = {
        row["task_id"]: row
        for row in map(json.loads, (folder / "release" / "problems.jsonl").open(encoding="utf-8"))
    }
    assert list(rows) == list(KNOWN)
    wrote = {name for name, row in rows.items() if row != dict(KNOWN[name].row)}
    assert wrote == {"ar/1", "ar/4", "ar/40"}
    for name in wrote:  # ids, solutions and tests are as they were
        assert {**rows[name], "prompt": ""} == {**KNOWN[name].row, "prompt": ""}
    assert rows["ar/40"]["prompt"] == fixed
    card = (folder / "release" / "README.md").read_text("utf-8")
    assert "| this one | 3 | 40 | 8% |" in card
    assert "| HumanEval+, as QIMMA refined it (table 2b) | 145 | 164 | 88% |" in card
    assert "| structural | 1 |" in card
    assert faults(folder / "release") == []
    hub = EmbeddedHub(tmp_path / "hub")
    assert hub.versions("refined-demo") == ["0.1.0"]
    assert "Nothing changed since refined-demo 0.1.0" in call(
        "code", "release", folder, "--name", "refined-demo"
    )
    # A person changes their mind: the next version has it.
    again = answer(tasks["ar/2"], 6, 7, "accept")
    (tmp_path / "export.json").write_text(json.dumps([again]), encoding="utf-8")
    call("code", "review", folder, "--export", tmp_path / "export.json")
    assert "refined-demo 0.2.0: 4/40" in call("code", "release", folder, "--name", "refined-demo")
    assert hub.versions("refined-demo") == ["0.1.0", "0.2.0"]
    assert "too low" in call(
        "code", "release", folder, "--name", "refined-demo", "--version", "0.2.0", code=2
    )


def labels(*given: tuple[str, str, str, str]) -> list[Label]:
    found = []
    for minute, (person, verdict, meaning, text) in enumerate(given):
        at = datetime(2026, 5, 1, 12, minute, tzinfo=UTC)
        values = {"verdict": verdict, "meaning": meaning, "fix_docstring": text}
        found += [
            Label(
                subject="p",
                content_hash="h",
                annotator=person,
                template="prompt_refinement",
                name=name,
                value=value,
                decided_at=at,
            )
            for name, value in values.items()
        ]
    return found


DECIDED = {
    "one accepts": ([("a", "accept", "same", "x")], 1, ("accept", "")),
    "another meaning is a rejection": ([("a", "accept", "changed", "x")], 1, ("reject", "")),
    "two agree": ([("a", "accept", "same", ""), ("b", "accept", "same", "")], 2, ("accept", "")),
    "two differ": ([("a", "accept", "same", ""), ("b", "reject", "same", "")], 2, ("disputed", "")),
    "two edits that differ": ([("a", "edit", "same", "x"), ("b", "edit", "same", "y")], 1, ("disputed", "")),
    "two equal edits": ([("a", "edit", "same", "x"), ("b", "edit", "same", "x")], 1, ("edit", "x")),
    "the later answer counts": (
        [("a", "reject", "same", ""), ("a", "accept", "same", "")],
        1,
        ("accept", ""),
    ),
    "too few": ([("a", "accept", "same", "")], 2, None),
}


@pytest.mark.parametrize("name", DECIDED)
def test_answers_come_to_a_decision(name: str) -> None:
    given, votes, wanted = DECIDED[name]
    found = decided(labels(*given), {"p": "h"}, votes).get("p")
    assert (found and (found.verdict, found.text)) == wanted


def test_answers_to_another_text_do_not_count() -> None:
    assert decided(labels(("a", "accept", "same", "")), {"p": "other"}) == {}


HOSTILE = '<img src=x onerror="alert(1)"> أعد العدد'


def test_people_see_the_change_word_by_word_each_line_in_its_direction_and_nothing_runs() -> None:
    one = Refinement(problem="p", line=1, status="proposed", before="قم بارجاع العدد", after=HOSTILE)
    shown = refinement_task(one, "def f(): ...", "    return 1")["data"]["item_html"]
    assert '<p class="diff">' in shown
    assert "<del>" in shown
    assert "<ins>" in shown
    assert "<span>العدد</span>" in shown.replace("<span> العدد", "<span>العدد")
    assert "<img" not in shown
    assert '<pre dir="ltr">def f(): ...</pre>' in shown
    before = refinement_task(one.model_copy(update={"before": "غيره"}), "", "")["data"]["content_hash"]
    assert before != refinement_task(one, "", "")["data"]["content_hash"]


def test_the_page_of_changes_runs_nothing() -> None:
    from mihakk.releases.refined_code import Change

    change = Change(KNOWN["ar/1"], "قم بارجاع العدد", HOSTILE, "", ("linguistic",), "", 1)
    page = changes_page([change], "x <script>")
    assert "<img" not in page
    assert "<script>" not in page
    assert '<p dir="rtl" lang="ar">' in page


def test_a_file_that_is_no_export_is_told(tmp_path: Path) -> None:
    refined(tmp_path / "work")
    for content in ("", "[1]", '{"a": 1}', '[{"id": 1}]'):
        (tmp_path / "export.json").write_text(content, encoding="utf-8")
        said = call("code", "review", tmp_path / "work", "--export", tmp_path / "export.json", code=2)
        assert "is not a JSON export of Label Studio" in said.replace("\n", " ")
