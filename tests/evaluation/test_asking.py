"""What a suite asks: pins, samples, wordings; no model and no Inspect."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from mihakk.evaluation.questions import MANIFEST
from mihakk.evaluation.running.asking import Asked, asked_of_suite
from mihakk.evaluation.running.suites import SUITES, SYSTEMS, load_suite, load_systems
from mihakk.evaluation.running.wordings import FORMS, WORDINGS, form_of, in_form
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content.checksum import faults
from mihakk.schemas.suite import Suite
from tests.evaluation.material import choice, worded
from tests.generators.conftest import load_hafez
from tests.generators.generated import generate
from tests.releases.release_material import hafez_items, release_arguments


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> AssembledRelease:
    return assemble(folder=tmp_path_factory.mktemp("asked") / "r", **release_arguments(hafez_items(6)))


def suite_of(release: Path, pinned: bool = True, **part: Any) -> Suite:
    return Suite.model_validate(
        {"name": "s", "title": "S", "pinned": pinned, "parts": [{"release": str(release), **part}]}
    )


def asked(suite: Suite, limit: int | None = None) -> list[Asked]:
    return asked_of_suite(suite, lambda name: (Path(name), ""), limit)


def test_a_part_without_a_digest_is_refused_with_the_one_to_write(made: AssembledRelease) -> None:
    digest = sha256((made.folder / MANIFEST).read_bytes())
    with pytest.raises(UsageError, match=f"is not pinned; write `digest: {digest}`"):
        asked(suite_of(made.folder))
    assert asked(suite_of(made.folder, digest=digest))
    assert asked(suite_of(made.folder, pinned=False))


def test_a_release_that_moved_is_refused(made: AssembledRelease) -> None:
    with pytest.raises(UsageError, match="is not what the suite was made for"):
        asked(suite_of(made.folder, digest="0" * 64))
    with pytest.raises(UsageError, match="names no version; a pinned suite needs one"):
        asked(suite_of(Path("demo@latest")))


def test_a_sample_keeps_both_orders_and_is_the_same_each_time(made: AssembledRelease) -> None:
    suite = suite_of(made.folder, pinned=False, sample=4)
    found = asked(suite)
    assert found == asked(suite)
    of_choice = [one.question for one in found if one.question.config == "fa_continuation_choice"]
    assert set(Counter(one.pair_id for one in of_choice).values()) == {2}
    assert len(of_choice) == 8
    assert asked(suite, limit=2) != found
    other = suite.model_copy(update={"seed": 1})
    assert {one.name for one in asked(other)} != {one.name for one in found}


def test_a_release_in_several_languages_is_asked_in_any_of_them(tmp_path: Path) -> None:
    items = tuple(generate(load_hafez()[:6], "continuation", "continuation_choice").items)
    told = release_arguments(items)
    told["config"] = told["config"].model_copy(update={"prompt_languages": ("fa", "en")})
    folder = assemble(folder=tmp_path / "r", **{**told, "render": None}).folder
    rows = {
        row["id"]: row for path in folder.glob("*/test-*.parquet") for row in pq.read_table(path).to_pylist()
    }
    assert all(row["prompts"]["fa"] == row["prompt"] for row in rows.values())
    assert faults(folder) == []
    own, english = (
        {one.question.item: one for one in asked(suite_of(folder, pinned=False, **part))}
        for part in ({}, {"prompt_language": "en"})
    )
    assert own.keys() == english.keys() == rows.keys()
    assert {one.template for one in own.values()} == {"release"}
    assert {one.template for one in english.values()} == {"release_en"}
    for name, one in english.items():
        assert one.prompt == rows[name]["prompts"]["en"] != own[name].prompt
        assert " wrote:\n" in one.prompt
        assert rows[name]["fields"]["first"] in one.prompt
    with pytest.raises(UsageError, match=r"no prompts in 'ar'; it has en, fa: .* `prompt_languages`"):
        asked(suite_of(folder, pinned=False, prompt_language="ar"))


def test_every_wording_holds_the_whole_question(made: AssembledRelease) -> None:
    found = asked(suite_of(made.folder, pinned=False, wordings=3))
    rows = {
        row["id"]: row
        for path in made.folder.glob("*/test-*.parquet")
        for row in pq.read_table(path).to_pylist()
    }
    assert Counter(one.wording for one in found) == dict.fromkeys(range(3), len(rows))
    for one in found:
        row = rows[one.question.item]
        parts = [
            row["question"],
            *(row.get("options") or ()),
            *((row.get("verses") or ()) if one.wording else ()),
        ]
        assert all(part in one.prompt for part in parts), one.prompt
        if one.question.kind == "answer" and one.wording:
            assert "<answer>" in one.prompt
        if one.question.kind == "choice" and one.wording:
            assert all(
                label in one.prompt.splitlines()[-1] + one.prompt.splitlines()[-2]
                for label in one.question.labels
            )
    assert len({one.prompt for one in found}) == len(found)


def test_templates_ask_for_the_same_in_three_languages() -> None:
    for kind, languages in WORDINGS.templates.items():
        assert set(languages) == {"ar", "fa", "en"}
        for templates in languages.values():
            for template in templates:
                assert "{question}" in template
                assert ("{options}" in template) == (kind == "choice") == ("{labels}" in template)
                assert ("{verses}" in template) == (kind == "explanation")


@pytest.mark.parametrize(
    ("kind", "context", "asks", "before", "form"),
    [
        ("choice", "", "أي طائر؟", "", "mcq"),
        ("choice", "نص طويل", "أي طائر؟", "تعليمات", "mcq_c"),
        ("choice", "", "أي طائر؟", "اختر الناقص.", "mcq_i"),
        ("answer", "", "من قال؟", "اكتب جوابك.", "qa"),
        ("answer", "نص طويل", "من قال؟", "", "qa_c"),
        ("answer", "", "داس له على ____", "", "qa_f"),
    ],
)
def test_each_of_qimmas_forms_holds_what_figure_4_has(
    kind: str, context: str, asks: str, before: str, form: str
) -> None:
    question = choice("q") if kind == "choice" else worded("q", "طرف", language="ar")
    row = {"prompt": f"{before}\n\n{asks}\n\nأجب.", "question": asks, "context": context}
    assert form_of(question, row) == form
    prompt = in_form(question, row)
    assert prompt.endswith("الإجابة:")
    places = [prompt.index(one) for one in (context, asks, *question.options) if one]
    assert places == sorted(places)
    assert (before in prompt) == (form == "mcq_i" or not before)
    assert "أجب." not in prompt


def test_a_release_is_asked_in_qimmas_forms_and_what_has_none_is_refused(made: AssembledRelease) -> None:
    found = asked(suite_of(made.folder, pinned=False, forms="qimma", only=["ar_meaning_choice"]))
    own = asked(suite_of(made.folder, pinned=False, only=["ar_meaning_choice"]))
    assert [one.question for one in found] == [one.question for one in own]
    assert {(one.template, one.template_version) for one in found} == {("qimma_forms", FORMS.version)}
    assert not {one.prompt for one in found} & {one.prompt for one in own}
    with pytest.raises(
        UsageError, match=r"QIMMA's forms are for choices and answers in Arabic, and .* is explanation"
    ):
        asked(suite_of(made.folder, pinned=False, forms="qimma"))
    with pytest.raises(ValueError, match="in one wording"):
        suite_of(made.folder, forms="qimma", wordings=2)


def test_mistakes_are_named(made: AssembledRelease) -> None:
    with pytest.raises(UsageError, match="has no task or config 'nothing'; it has: ar_meaning_choice"):
        asked(suite_of(made.folder, pinned=False, only=["nothing"]))
    twice = suite_of(made.folder, pinned=False)
    with pytest.raises(UsageError, match="two parts ask"):
        asked(twice.model_copy(update={"parts": twice.parts * 2}))
    with pytest.raises(UsageError, match="names no models"):
        load_systems(suite_of(made.folder))


def test_the_configs_in_the_repository_are_valid() -> None:
    for path in SUITES.glob("*.yaml"):
        suite = load_suite(path.stem)
        load_systems(suite, suite.models or ["qwen-0.5b"])
    for path in SYSTEMS.glob("*.yaml"):
        (system,) = load_systems(load_suite("demo"), [path.stem])
        assert system.name == path.stem


def test_a_limit_of_costs_needs_prices_but_for_embedded_systems(tmp_path: Path) -> None:
    part = {"release": "demo@latest"}
    whole = {"name": "dear", "title": "Dear", "pinned": False, "parts": [part], "limits": {"cost": 1}}
    suite = Suite.model_validate(whole)
    facts = {"name": "api", "family": "f", "model": "m", "kind": "arabic", "open": False}
    config = tmp_path / "api.yaml"
    remote: dict[str, Any] = {"serve": {"engine": "openai", "endpoints": ["http://127.0.0.1:9/v1"]}}
    for more in (
        remote | {"price": {"prompt": 0, "completion": 0}},
        {"serve": {"engine": "embedded", "weights": "w"}},
    ):
        config.write_text(yaml.safe_dump(facts | more))
        assert load_systems(suite, [str(config)])[0].name == "api"
    config.write_text(yaml.safe_dump(facts | remote))
    with pytest.raises(UsageError, match=r"`limits\.cost` can't be kept, for api has no `price`"):
        load_systems(suite, [str(config)])
