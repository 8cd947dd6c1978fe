"""Judges asked in the words of a paper's authors, which come from the user's copy and are known by digest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.evaluation.judges import rubrics
from mihakk.evaluation.judges.prompt import judged, judging_messages, judging_schema
from mihakk.evaluation.judges.rubrics import FOLDER, in_authors_words, rubric_digest, rubric_named
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.releases.assemble import assemble
from mihakk.schemas.rubric import Rubric
from tests.evaluation.judge_campaign import Campaign
from tests.releases.release_material import hafez_items, release_arguments

WORDS = {
    "answer": "Compare. Reply with JSON: score from 0 to 3, and explanation.",
    "faithfulness_fluency": "Read the poem. Reply with JSON of three scores.",
    "meaning": "**Gold:** {gold\\_explanation}\n**Generated:** {generated\\_explanation}\nOnly a number from 1 to 5:",
}
SHOWN = {"question": "ما العاصمة؟", "text": ["بيت"], "reference": ["باريس", "پاریس"], "reply": "باريس"}


@pytest.fixture(scope="module")
def answers_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(3)))
    return folder


def copied(name: str, folder: Path, text: str | None = None) -> Rubric:
    """The rubric with the digest of a prompt of ours, which lies where the authors' would."""
    rubric = rubric_named(name)
    assert rubric.published is not None
    path = folder / rubric.published.file
    path.parent.mkdir(parents=True, exist_ok=True)
    said = WORDS[name] if text is None else text
    path.write_text(f'SHORT = "no"\nPROMPT = """{said}"""\n' if path.suffix == ".py" else said)
    letters = sha256(re.sub("[^a-z]", "", WORDS[name].lower()).encode())
    known = rubric.published.model_copy(update={"digest": letters})
    return rubric.model_copy(update={"published": known})


def shown_to(rubric: Rubric) -> dict[str, Any]:
    return {name: SHOWN[name] for name in rubric.sees}


def test_the_material_stands_where_the_authors_have_it(tmp_path: Path) -> None:
    found = {name: in_authors_words(copied(name, tmp_path), tmp_path) for name in WORDS}
    (answer,) = judging_messages(found["answer"], "ar", ["correctness"], shown_to(found["answer"]))
    assert answer == {
        "role": "user",
        "content": f"{WORDS['answer']}\n\n[PROMPT]\nما العاصمة؟\n[/PROMPT]\n\n[GROUND TRUTH]\nباريس\nپاریس\n"
        "[/GROUND TRUTH]\n\n[GENERATED OUTPUT]\nباريس\n[/GENERATED OUTPUT]",
    }
    (meaning,) = judging_messages(found["meaning"], "ar", ["meaning"], shown_to(found["meaning"]))
    assert meaning["content"] == "Gold: باريس\nپاریس\nGenerated: باريس\nOnly a number from 1 to 5:"
    system, material = judging_messages(
        found["faithfulness_fluency"], "ar", [], shown_to(found["faithfulness_fluency"])
    )
    assert system == {"role": "system", "content": WORDS["faithfulness_fluency"]}
    assert json.loads(material["content"]) == {
        "poem": ["بيت"],
        "ground_truth": SHOWN["reference"],
        "generated": "باريس",
    }


@pytest.mark.parametrize(
    ("name", "reply", "scores", "reason"),
    [
        ("answer", {"score": 2, "explanation": "close"}, {"correctness": 2}, "close"),
        ("meaning", " **4** ", {"meaning": 4}, "none was asked for"),
        (
            "faithfulness_fluency",
            {"faithfulness_score": 3, "fluency_score": 5, "overall_score": 4},
            {"faithfulness": 3, "fluency": 5, "overall": 4},
            "none was asked for",
        ),
    ],
)
def test_replies_in_the_authors_form_are_read(
    name: str, reply: Any, scores: dict[str, int], reason: str, tmp_path: Path
) -> None:
    assert judged(in_authors_words(copied(name, tmp_path), tmp_path), reply) == (scores, reason)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("answer", {"score": 4, "explanation": "too many"}),
        ("answer", {"score": 2}),
        ("answer", {"score": 2, "explanation": "close", "more": 1}),
        ("meaning", "6"),
        ("meaning", "4 of 5"),
        ("meaning", ""),
        ("faithfulness_fluency", {"faithfulness_score": 3}),
    ],
)
def test_replies_in_another_form_give_no_score(name: str, reply: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must"):
        judged(in_authors_words(copied(name, tmp_path), tmp_path), reply)


def test_the_form_of_the_reply_is_the_authors(tmp_path: Path) -> None:
    schema = judging_schema(in_authors_words(copied("answer", tmp_path), tmp_path), ["correctness"])
    assert schema is not None
    assert schema["required"] == ["score", "explanation"]
    assert schema["properties"]["score"]["enum"] == [0, 1, 2, 3]
    assert judging_schema(in_authors_words(copied("meaning", tmp_path), tmp_path), ["meaning"]) is None


def test_other_words_make_another_rubric_and_ours_stays_what_it_was(tmp_path: Path) -> None:
    ours = rubric_named("answer")
    assert rubric_digest(ours) == rubric_digest(ours.model_copy(update={"published": None}))
    assert rubric_digest(in_authors_words(copied("answer", tmp_path), tmp_path)) != rubric_digest(ours)
    assert not any("impartial" in path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize(
    ("name", "break_it", "says"),
    [
        ("prose", None, "no authors' prompt is known"),
        ("answer", lambda path: path.unlink(), "there is no file"),
        ("answer", lambda path: path.write_text('P = """other"""'), "is not the prompt of the rubric"),
        ("answer", lambda path: path.write_text("def"), "is no program"),
    ],
)
def test_a_copy_that_is_not_theirs_is_refused(
    name: str, break_it: Callable[[Path], Any] | None, says: str, tmp_path: Path
) -> None:
    rubric = rubric_named(name) if break_it is None else copied(name, tmp_path)
    if break_it is not None and rubric.published is not None:
        break_it(tmp_path / rubric.published.file)
    with pytest.raises(UsageError, match=says):
        in_authors_words(rubric, tmp_path)


def test_a_suite_is_judged_in_the_authors_words_and_says_so(
    answers_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rubric = copied("answer", tmp_path / "copy").model_copy(update={"extract": False})
    monkeypatch.setattr(rubrics, "rubric_named", lambda _: rubric)
    asked: list[str] = []

    def judge(call: Call) -> Answer:
        asked.append(call.body["messages"][0]["content"])
        return Answer(text=json.dumps({"score": 3, "explanation": "equal"}))

    campaign = Campaign(tmp_path / "trial", answers_release)
    campaign.suite["judges"]["published"] = str(tmp_path / "copy")
    campaign.answer(lambda _, question: question.answer or "ب")
    with ScriptedServer(judge) as server:
        campaign.write(server.url)
        done = campaign.call("judge")
    assert done.exit_code == 0, done.output
    assert "the authors' own words" in " ".join(done.output.split())
    assert asked
    assert all(text.startswith(WORDS["answer"]) for text in asked)
    assert {one.scores["correctness"] for one in campaign.judgements("one")} == {3}
    assert {one.reason for one in campaign.judgements("one")} == {"equal"}
