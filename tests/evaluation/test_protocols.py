"""A published benchmark asked in its authors' own words, which come from the user's copy and are known by digest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from pydantic import ValidationError

from mihakk.evaluation.adapters.adapter import ADAPTERS, published_prompts, whose
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.schemas.suite import Part, Suite

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


def test_where_files_hold_the_prompts_there_is_nothing_to_copy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the files hold them"):
        published_prompts(ADAPTERS.get("ghazalbench"), tmp_path)
    with pytest.raises(ValidationError, match="go together"):
        Part.model_validate({"adapter": "kinayat", "data": "d", "protocol": "published"})


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


def known(task: str) -> set[str]:
    return {ADAPTERS.get("kinayat").published[task]}
