"""Labels that a suite declares: asked, read, compared and told by them; what can't be read is refused first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from pydantic import ValidationError
from typer.testing import CliRunner

from mihakk.evaluation.adapters.audited import facts_of
from mihakk.evaluation.declared_labels import as_asked, relabelled, with_labels
from mihakk.evaluation.questions import questions_of_release, rows_of_release
from mihakk.evaluation.reading import read
from mihakk.evaluation.running.asking import Asked, asked_of_suite
from mihakk.flows.cli import app
from mihakk.generators.prompts import outside_prompt
from mihakk.machinery.errors import UsageError
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.pipeline.exported import export_suite
from mihakk.releases.assemble import assemble
from mihakk.schemas.evaluation import Question
from mihakk.schemas.item import Item
from mihakk.schemas.suite import Part, Suite
from tests.evaluation.suite_rows import NAMES, bundled
from tests.releases.completion_server import CompletionServer, Trigrams, save_byte_tokenizer
from tests.releases.release_material import hafez_items, release_arguments

CHOICE = "fa_continuation_choice"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(8)) | {"render": in_our_layout})
    return folder


def in_our_layout(item: Item, _: str) -> str:
    return outside_prompt(item)


def asked(folder: Path, **part: Any) -> list[Asked]:
    """What a suite of one part asks of a release."""
    return asked_of_suite(
        of_parts({"release": str(folder), "only": [CHOICE]} | part), lambda n: (Path(n), "")
    )


def of_parts(*parts: dict[str, Any]) -> Suite:
    return Suite.model_validate({"name": "s", "title": "S", "pinned": False, "parts": list(parts)})


def test_a_prompt_shows_the_declared_labels_in_their_order_and_nothing_else_changes(release: Path) -> None:
    plain = asked(release)
    for one, own in zip(asked(release, labels=["D", "C", "B", "A"]), plain, strict=True):
        first, second, third = one.question.options
        assert f"\nD) {first}\nC) {second}\nB) {third}\n" in one.prompt
        assert "(D، C، B)" in one.prompt
        assert one.template == "release+labels:D,C,B,A"
        back = one.prompt.replace("D", "الف").replace("C", "ب").replace("B", "ج")
        assert back == own.prompt
        assert one.question.model_copy(update={"labels": own.question.labels}) == own.question
    assert {one.template for one in plain} == {"release"}


def test_without_labels_options_stand_bare_and_are_asked_for_in_their_own_words(release: Path) -> None:
    for one in asked(release, labels="none"):
        assert "\n".join(f"- {option}" for option in one.question.options) in one.prompt
        assert "نشانه" not in one.prompt
        assert one.question.labels == one.question.options
        for place, option in enumerate(one.question.options):
            assert read(one.question, "written", option).picks == (place,)
            assert read(one.question, "written", f"- {option}.").picks == (place,)


def test_numbers_of_a_yaml_file_are_labels(release: Path) -> None:
    assert asked(release, labels=[1, 2, 3])[0].question.labels == ("1", "2", "3")
    with pytest.raises(ValidationError, match="labels"):
        Part.model_validate({"release": "r", "labels": [True, False]})
    with pytest.raises(ValidationError, match="the others ask for a label"):
        Part.model_validate({"release": "r", "labels": "none", "wordings": 2})


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["A", "B"], r"has 3 options, and 2 labels are declared \(A, B\)"),
        (["A", "B", "B"], "'B' and 'B' read the same"),
        (["أ", "ا", "ب"], "'أ' and 'ا' read the same"),
        (["الف", "أ", "ب"], "'الف' and 'أ' read the same"),
        (["1", "۱", "2"], "'1' and '۱' read the same"),
        (["a", "A", "b"], "'a' and 'A' read the same"),
        (["A)", "B)", "C)"], r"'A\)' is not one word"),
        (["A", "", "C"], "'' is not one word"),
        (["first option", "B", "C"], "'first option' is not one word"),
        (["alternative", "B", "C"], "'alternative' alone is not read as it"),
    ],
)
def test_labels_that_no_reply_can_be_read_by_are_refused(release: Path, labels: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        asked(release, labels=labels)


def arabicmmlu(folder: Path, *options: str) -> dict[str, Any]:
    """A part that asks one school question in Arabic."""
    folder.mkdir()
    head = "ID,Question,Answer Key,Option 1,Option 2,Option 3,Option 4,Option 5"
    (folder / "dev.csv").write_text(f"{head}\n7,ما هو؟,A,{','.join(options)}\n", encoding="utf-8")
    return {"adapter": "arabicmmlu", "data": str(folder)}


def test_an_option_that_reads_as_the_label_of_another_is_refused(tmp_path: Path) -> None:
    part = arabicmmlu(tmp_path / "data", "2", "5", "7", "", "")
    with pytest.raises(UsageError, match=r"arabicmmlu-dev-7 has the option '2', which reads as the label of"):
        asked_of_suite(of_parts(part | {"labels": [1, 2, 3]}), lambda name: (Path(name), ""))
    assert asked_of_suite(of_parts(part | {"labels": ["A", "B", "C"]}), lambda name: (Path(name), ""))


def test_options_that_name_others_by_their_labels_name_them_anew(tmp_path: Path) -> None:
    part = arabicmmlu(tmp_path / "data", "النبات", "الماء", "أ و ب", "", "")
    (one,) = asked_of_suite(of_parts(part | {"labels": ["A", "B", "C"]}), lambda name: (Path(name), ""))
    assert one.question.options == ("النبات", "الماء", "A و B")
    assert "C) A و B\n" in one.prompt


def test_options_that_are_the_declared_labels_keep_them(tmp_path: Path) -> None:
    part = arabicmmlu(tmp_path / "data", "A", "B", "", "", "")
    (one,) = asked_of_suite(of_parts(part | {"labels": ["A", "B"]}), lambda name: (Path(name), ""))
    assert "\nA) A\nB) B\n" in one.prompt


def test_options_whose_words_are_alike_need_labels(tmp_path: Path) -> None:
    part = arabicmmlu(tmp_path / "data", "مُرتضًى", "مرتضى", "", "", "")
    with pytest.raises(UsageError, match="which its words don't tell from another"):
        asked_of_suite(of_parts(part | {"labels": "none"}), lambda name: (Path(name), ""))


@pytest.mark.parametrize("name", NAMES)
def test_every_bundled_suite_can_be_asked_by_other_labels(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.releases.release_material.plain_prompt", in_our_layout)
    told = bundled(name, tmp_path)
    plain = asked_of_suite(Suite.model_validate(told), lambda one: (Path(one), ""), limit=3)
    for part in told["parts"]:
        part["labels"] = ["V", "W", "X", "Y", "Z"]
    other = asked_of_suite(Suite.model_validate(told), lambda one: (Path(one), ""), limit=3)
    for before, after in zip(plain, other, strict=True):
        if before.question.kind != "choice":
            assert after == before
            continue
        labels = after.question.labels
        assert labels == ("V", "W", "X", "Y", "Z")[: len(labels)]
        assert all(re.search(f"{label}[.)] ", after.prompt) for label in labels)
        asks_by_name = [text for text in (", ", "، ") if text.join(before.question.labels) in before.prompt]
        assert all(text.join(labels) in after.prompt for text in asks_by_name)
        assert not any(text.join(before.question.labels) in after.prompt for text in (", ", "، "))


@pytest.mark.parametrize("language", ["ar", "fa", "en"])
def test_our_request_for_a_label_becomes_one_for_words_in_every_language(language: str) -> None:
    choice = next(item for item in hafez_items(2) if item.kind == "choice")
    item = choice.model_copy(update={"language": language})
    question = Question.model_validate(facts_of("own", item) | {"digest": "d", "group": "g"})
    bare = relabelled(outside_prompt(item), question, with_labels(question, "none"), "release", bare=True)
    assert bare.startswith(item.question)
    assert "(" not in bare  # as in "(A, B, C)"
    assert "- " + "\n- ".join(question.options) in bare


def test_a_prompt_that_asks_for_a_letter_in_other_words_is_not_asked_without(tmp_path: Path) -> None:
    told = bundled("kinayat_published", tmp_path)
    told["parts"][0] |= {"labels": "none", "only": ["meaning_choice"]}
    with pytest.raises(
        UsageError, match=r"the prompt 'kinayat' asks for A, B in words that are not known here"
    ):
        asked_of_suite(Suite.model_validate(told), lambda one: (Path(one), ""))


def test_shots_of_a_dev_split_are_labelled_alike(release: Path) -> None:
    question, row = next(rows_of_release(release, "", "dev", [CHOICE]))
    shot = asked(release, labels=["A", "B", "C"], shots=1)[0]
    assert f"\nA) {question.options[0]}\n" in shot.shots
    assert shot.shots.rstrip().endswith("ABC"[question.gold[0]])
    assert shot.template == "release+labels:A,B,C+1-shot"
    assert as_asked(question, shot.template).labels == ("A", "B", "C")
    assert row["prompt"] not in shot.shots


def test_an_export_and_its_likelihoods_have_the_declared_labels(release: Path, tmp_path: Path) -> None:
    told = asked(release, labels=["1", "2", "3"])
    (folder,) = export_suite(told, tmp_path / "out")
    rows = [row for _, row in rows_of_release(folder)]
    assert {tuple(row["labels"]) for row in rows} == {("1", "2", "3")}
    assert [row["prompt"] for row in rows] == [one.prompt for one in told]
    bare = asked(release, labels="none")
    (folder,) = export_suite(bare, tmp_path / "bare")
    assert [tuple(row["labels"]) for _, row in rows_of_release(folder)] == [
        one.question.options for one in bare
    ]


@pytest.mark.services
def test_replies_are_read_by_the_labels_asked_and_the_table_names_them(release: Path, tmp_path: Path) -> None:
    """A system that always says `1`: under 3, 2, 1 that is the last option, read anew from the release too."""

    def run(name: str, **part: Any) -> tuple[str, list[dict[str, Any]], int]:
        told = {"name": "s", "title": "S", "pinned": False}
        told["parts"] = [{"release": str(release), "only": [CHOICE], **part}]
        (tmp_path / "suite.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
        before = len(server.calls)
        done = CliRunner(env={"COLUMNS": "250"}).invoke(app, [*call, "--out", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        rows = pq.read_table(tmp_path / name / "one" / "scores.parquet").to_pylist()
        return done.output, [row for row in rows if row["metric"] == "accuracy"], len(server.calls) - before

    def says(call: Call) -> Answer:
        return Answer(text="1")

    system = {"name": "one", "family": "f", "model": "m", "revision": "r", "kind": "persian", "open": True}
    with ScriptedServer(says) as server:
        system["serve"] = {"engine": "openai", "endpoints": [server.url]}
        (tmp_path / "one.yaml").write_text(yaml.safe_dump(system), encoding="utf-8")
        call = ["evaluate", "run", str(tmp_path / "suite.yaml"), "--model", str(tmp_path / "one.yaml")]
        plain, _, asked_first = run("out")
        output, scores, _ = run("declared", labels=[3, 2, 1])
        again, _, asked_again = run("out", labels=["الف", "ب", "ج", "د", "ه"])
    assert "Labels of options" not in plain
    assert "Labels of options, where the suite declares them: 3, 2, 1." in " ".join(output.split())
    questions = questions_of_release(release)
    assert {one["item"]: one["value"] for one in scores} == {
        name: float(question.gold == (2,))
        for name, question in questions.items()
        if question.config == CHOICE
    }
    assert {one["rule"] for one in scores} == {"label_line/3"}
    kept = (tmp_path / "declared" / "one" / "scores.parquet").read_bytes()
    rescore = ["evaluate", "rescore", str(tmp_path / "declared" / "one"), "--release", str(release)]
    assert CliRunner().invoke(app, rescore).exit_code == 0
    assert (tmp_path / "declared" / "one" / "scores.parquet").read_bytes() == kept
    # A prompt's own labels, declared: the same words, which were paid for.
    assert (asked_first > 0, asked_again) == (True, 0)
    assert "الف, ب, ج, د, ه" in again


@pytest.mark.services
def test_the_declared_labels_are_what_likelihoods_are_compared_of(release: Path, tmp_path: Path) -> None:
    part = {"release": str(release), "only": [CHOICE], "labels": "none", "sample": 3}
    told = {"name": "s", "title": "S", "pinned": False, "parts": [part]}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    own = asked_of_suite(Suite.model_validate(told), lambda name: (Path(name), ""))
    model = Trigrams("".join(one.prompt + one.question.labels[one.question.gold[0]] for one in own))
    system = {"name": "one", "family": "f", "model": "m", "revision": "r", "kind": "persian", "open": True}
    system["tokenizer"] = str(save_byte_tokenizer(tmp_path / "tokenizer"))
    with CompletionServer(model).running() as server:
        endpoint = server.url.removesuffix("/completions")
        system["serve"] = {"engine": "openai", "endpoints": [endpoint]}
        (tmp_path / "one.yaml").write_text(yaml.safe_dump(system), encoding="utf-8")
        call = ["evaluate", "run", str(tmp_path / "suite.yaml"), "--model", str(tmp_path / "one.yaml")]
        done = CliRunner().invoke(app, [*call, "--out", str(tmp_path / "out"), "--method", "likelihood"])
        assert done.exit_code == 0, done.output
    answers = pq.read_table(tmp_path / "out" / "one.likelihood" / "answers.parquet").to_pylist()
    assert len(answers) == len(own) > 0
    for one, answer in zip(own, answers, strict=True):
        shown = one.prompt.rstrip()
        behind = one.prompt.removeprefix(shown)  # lm-eval counts spaces at a prompt's end to what follows
        expected = [model.loglikelihood(shown, behind + label) for label in one.question.labels]
        assert answer["likelihoods"] == pytest.approx(expected, abs=1e-6)
