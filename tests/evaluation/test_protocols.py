"""A published benchmark asked in its authors' own words, which come from the user's copy and are known by digest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import yaml
from pydantic import ValidationError
from typer.testing import CliRunner

from mihakk.evaluation.adapters.adapter import ADAPTERS, published_prompts, whose
from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.questions import rows_of_release
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.releases.assemble import assemble
from mihakk.schemas.suite import Part, Suite
from tests.evaluation.suite_rows import json_lines
from tests.releases.release_material import hafez_items, release_arguments

PROMPT: Final = (
    "Pick what the proverb means.\n\n**Proverb:** [PROVERB]\nA. [OPTION 1]\nB. [OPTION 2]\n**Answer:**"
)
FIGURES: Final[Mapping[str, int]] = {
    **{"meaning_choice": 5, "meaning_choice_srl": 5, "meaning_in_context": 6, "completion": 9},
    **{"negation": 10, "explanation": 11, "pragmatic_use": 14, "connotation": 15},
}


def letters(text: str) -> str:
    return sha256(re.sub("[^a-z]", "", text.lower()).encode())


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """One idiom with two explanations, and a prompt whose digest is known."""
    (tmp_path / "data").mkdir()
    (tmp_path / "prompts").mkdir()
    columns = "idiom,explanation,incorrect_explanation,kind"
    (tmp_path / "data" / "idioms.csv").write_text(
        f"{columns}\nإيده خفيفة,يسرق,كريم,idiom\n", encoding="utf-8"
    )
    (tmp_path / "prompts" / "meaning_choice.txt").write_text(PROMPT, encoding="utf-8")
    adapter = replace(ADAPTERS.get("kinayat"), published={"meaning_choice": letters(PROMPT)})
    monkeypatch.setattr(type(ADAPTERS), "get", lambda self, name: adapter)
    part = {"adapter": "kinayat", "data": str(tmp_path / "data"), "only": ["meaning_choice"]}
    part |= {"protocol": "published", "prompts": str(tmp_path / "prompts")}
    return Suite.model_validate({"name": "s", "title": "S", "pinned": False, "parts": [part]})


def test_the_users_copy_is_filled_and_named_in_the_rows(suite: Suite) -> None:
    asked = asked_of_suite(suite, lambda name: (Path(name), ""))
    assert [one.prompt for one in asked] == [
        "Pick what the idiom means.\n\nIdiom: إيده خفيفة\nA. يسرق\nB. كريم\nAnswer:",
        "Pick what the idiom means.\n\nIdiom: إيده خفيفة\nA. كريم\nB. يسرق\nAnswer:",
    ]
    assert {one.template for one in asked} == {"kinayat@published"}


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "there is no file"), (PROMPT + " Please.", "is not Kinayat's prompt"), ("Pick.", "no place in")],
)
def test_another_text_is_refused(suite: Suite, text: str | None, says: str) -> None:
    path = Path(suite.parts[0].prompts) / "meaning_choice.txt"
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        asked_of_suite(suite, lambda name: (Path(name), ""))


def test_tables_say_whose_words_were_asked() -> None:
    assert [whose(name) for name in ("ghazalbench", "kinayat@published", "kinayat", "release", "qimma")] == [
        *("the authors'", "the authors'", "ours", "ours", "the authors'")
    ]
    assert whose("qimma+labels:A,B+2-shot") == "the authors', under declared labels"


def test_where_files_hold_the_prompts_there_is_nothing_to_copy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the files hold them"):
        published_prompts(ADAPTERS.get("ghazalbench"), tmp_path)
    with pytest.raises(ValidationError, match="go together"):
        Part.model_validate({"adapter": "kinayat", "data": "d", "protocol": "published"})


def test_shots_and_a_system_prompt_stand_above_each_question(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("Be brief.\n", encoding="utf-8")
    rows = [
        {"prompt": "One?\n", "reply": "A"},
        {"prompt": "Two?\n", "reply": "B"},
        {"prompt": "Three?\n", "reply": "C"},
        {"prompt": "Why?\n", "reply": "D", "task": "other"},
    ]
    json_lines(tmp_path / "shots.jsonl", *rows)
    more = {"shots": 2, "examples": str(tmp_path / "shots.jsonl"), "system": str(tmp_path / "system.txt")}
    part = suite.parts[0].model_copy(update=more)
    asked = asked_of_suite(suite.model_copy(update={"parts": (part,)}), lambda name: (Path(name), ""))
    plain = asked_of_suite(suite, lambda name: (Path(name), ""))
    for one, alone in zip(asked, plain, strict=True):
        assert one.message == f"One?\nA\n\nTwo?\nB\n\n{alone.prompt}"
        assert one.whole == f"Be brief.\n\n{one.message}"
        assert one.prompt == alone.prompt  # what judges are shown of it
        assert one.question == alone.question
    assert {one.template for one in asked} == {"kinayat@published+2-shot+system"}
    assert whose("kinayat@published+2-shot+system") == "the authors'"
    few = suite.model_copy(update={"parts": (part.model_copy(update={"shots": 4}),)})
    with pytest.raises(UsageError, match="4 shots are asked for, and there are 3"):
        asked_of_suite(few, lambda name: (Path(name), ""))


def test_one_order_of_a_pair_is_drawn_where_a_paper_asks_once(tmp_path: Path) -> None:
    release = tmp_path / "release"
    assemble(folder=release, **release_arguments(hafez_items(30)))
    part = {"release": str(release), "only": ["fa_continuation_choice"]}
    told = {"name": "s", "title": "S", "pinned": False, "parts": [part]}
    both = asked_of_suite(Suite.model_validate(told), lambda name: (Path(name), ""))
    part["orders"] = "drawn"
    drawn = asked_of_suite(Suite.model_validate(told), lambda name: (Path(name), ""))
    pairs = [one.question.pair_id for one in drawn]
    assert sorted(pairs) == sorted({one.question.pair_id for one in both})
    assert {one.question.order for one in drawn} == {0, 1}
    again = asked_of_suite(Suite.model_validate(told | {"seed": 1}), lambda name: (Path(name), ""))
    assert [one.name for one in again] != [one.name for one in drawn]


def test_a_release_takes_its_shots_from_its_dev_split_and_sends_them(tmp_path: Path) -> None:
    release = tmp_path / "release"
    assemble(folder=release, **release_arguments(hafez_items(8)))
    config = "fa_continuation_choice"
    first = next(rows_of_release(release, "", "dev", [config]))
    part = {"release": str(release), "only": [config], "shots": 1, "system": "کوتاه بگو."}
    told = {"name": "s", "title": "S", "pinned": False, "parts": [part]}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    system = {"name": "one", "family": "f", "model": "m", "revision": "r", "kind": "persian", "open": True}
    with ScriptedServer(lambda _: Answer(text="ب")) as server:
        system["serve"] = {"engine": "openai", "endpoints": [server.url]}
        (tmp_path / "one.yaml").write_text(yaml.safe_dump(system), encoding="utf-8")
        call = ["evaluate", "run", str(tmp_path / "suite.yaml"), "--model", str(tmp_path / "one.yaml")]
        done = CliRunner().invoke(app, [*call, "--out", str(tmp_path / "out"), "--limit", "2"])
        assert done.exit_code == 0, done.output
        said = [call.body["messages"] for call in server.calls]
    shot = first[1]["prompt"] + first[0].labels[first[0].gold[0]]
    own = {row["prompt"] for _, row in rows_of_release(release, "", "test", [config])}
    assert said
    for system_said, user in said:
        assert system_said == {"role": "system", "content": "کوتاه بگو."}
        assert user["content"].startswith(f"{shot}\n\n")
        assert user["content"].removeprefix(f"{shot}\n\n") in own


def test_shots_without_examples_are_refused_where_no_split_has_them() -> None:
    for part in ({"adapter": "balsam", "data": "d"}, {"release": "r", "wordings": 2}):
        with pytest.raises(ValidationError, match="`shots` need `examples`"):
            Part.model_validate({**part, "shots": 1})


def test_a_prompt_whose_print_cant_be_copied_is_taken_and_called_unchecked(
    shared_data: Path, tmp_path: Path
) -> None:
    if not (shared_data / "ghazalbench").is_dir():
        pytest.skip("needs the authors' workbook")
    (tmp_path / "couplet_prose.txt").write_text("بازنویسی کن: [COUPLET]", encoding="utf-8")
    part = {"adapter": "ghazalbench_prose", "data": str(shared_data / "ghazalbench")}
    part |= {"protocol": "published", "prompts": str(tmp_path)}
    suite = Suite.model_validate({"name": "s", "title": "S", "pinned": False, "parts": [part]})
    asked = asked_of_suite(suite, lambda name: (Path(name), ""), limit=2)
    assert {one.template for one in asked} == {"ghazalbench_prose@published-unchecked"}
    assert all(" / " in one.prompt.removeprefix("بازنویسی کن: ") for one in asked)
    assert whose(asked[0].template) == "the authors', from an unchecked copy"


def test_the_known_digests_are_those_of_the_papers_figures(shared_data: Path) -> None:
    (paper,) = (shared_data.parent / "papers").glob("002_*.txt") or pytest.skip("needs the paper's text")
    text = paper.read_text(encoding="utf-8")
    for task, figure in FIGURES.items():
        before = text[: re.search(rf"^(\*\*)?Figure {figure}:", text, re.MULTILINE).start()]  # type: ignore[union-attr]
        blocks = before.rstrip().split("\n\n")
        shown = next(
            found for size in range(1, 16) if letters(found := "\n\n".join(blocks[-size:])) in known(task)
        )
        assert shown
    assert letters(_between(text, "Your task is to evaluate how well", "**Figure 12:**")) == digest_of_judge(
        "meaning"
    )
    (paper,) = (shared_data.parent / "papers").glob("000_*.txt")
    poems = paper.read_text(encoding="utf-8")
    (digest,) = ADAPTERS.get("fannorflop").published.values()
    assert letters(_between(poems, "You are an academic expert", "Figure 7:")) == digest


def _between(text: str, begins: str, ends: str) -> str:
    """From the line that holds the beginning up to the end."""
    start = text.rindex("\n", 0, text.index(begins)) + 1
    return text[start : text.index(ends, start)]


def digest_of_judge(rubric: str) -> str:
    known = rubric_named(rubric).published
    assert known is not None
    return known.digest


def known(task: str) -> set[str]:
    return {ADAPTERS.get("kinayat").published[task]}
