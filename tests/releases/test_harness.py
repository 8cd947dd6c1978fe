"""The loader and the scoring that ship inside a release."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from time import process_time
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from typer.testing import CliRunner

from mihakk.evaluation.reading.written import read_written
from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.export import harness
from mihakk.releases.hub.publication import read_release
from tests.releases.release_material import idiom_items, release_arguments

AR = ["أ", "ب", "ج"]
FA = ["الف", "ب", "ج"]


def shipped(folder: Path) -> ModuleType:
    """The copy that lies in a release."""
    path = folder / "eval" / "lm_eval" / "harness.py"
    spec = importlib.util.spec_from_file_location("shipped_harness", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_shipped_loader_gives_the_released_rows(first_release: AssembledRelease) -> None:
    module = shipped(first_release.folder)
    for config, splits in first_release.rows.items():
        loaded = module.load(config=config, version=first_release.version)
        assert {split: part.num_rows for split, part in loaded.items()} == splits


PLAIN = "import sys; sys.path.insert(0, sys.argv[1]); import harness; harness.load('ar_meaning_choice')"


def test_loading_a_release_leaves_no_byte_in_its_folder(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(first_release.folder, tmp_path / "pulled"))
    before = sorted(folder.rglob("*"))
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, str(folder / "eval/lm_eval")],
        env=environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(folder.rglob("*")) == before


def test_verification_names_what_readers_left_apart_from_damage(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(first_release.folder, tmp_path / "pulled"))
    left = folder / "eval" / "lm_eval" / "__pycache__" / "harness.cpython-311.pyc"
    left.parent.mkdir()
    left.write_bytes(b"compiled")
    (folder / ".DS_Store").write_bytes(b"")
    run = CliRunner()
    found = run.invoke(app, ["verify", str(folder)])
    assert found.exit_code == 0, found.output
    assert "generated: eval/lm_eval/__pycache__/harness.cpython-311.pyc" in found.output
    assert "generated: .DS_Store" in found.output
    assert f"all {len(first_release.digests)} files are as the manifest states" in found.output
    assert run.invoke(app, ["verify", str(folder), "--version", "0.2.0"]).exit_code == 1
    (folder / "CITATION.cff").write_text("other", "utf-8")
    (folder / "ar_meaning_choice" / "test-00001-of-00001.parquet").write_bytes(b"")
    found = run.invoke(app, ["verify", str(folder)])
    assert found.exit_code == 1
    assert "damaged: CITATION.cff has other bytes" in found.output
    assert "damaged: ar_meaning_choice/test-00001-of-00001.parquet is not in the manifest" in found.output
    assert "generated: .DS_Store" in found.output


def test_a_compiled_file_that_came_with_a_release_is_refused(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    """Python would run it in place of the file beside it, which the manifest states."""
    folder = Path(shutil.copytree(first_release.folder, tmp_path / "fetched"))
    planted = folder / "eval" / "lm_eval" / "__pycache__" / "harness.cpython-311.pyc"
    planted.parent.mkdir()
    planted.write_bytes(b"anything")
    with pytest.raises(ExternalFailure, match=r"harness\.cpython-311\.pyc is not in the manifest"):
        read_release("touchstone", folder)


def test_a_changed_data_file_is_refused(first_release: AssembledRelease, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    shutil.copytree(first_release.folder, folder)
    part = folder / "ar_meaning_choice" / "test-00000-of-00001.parquet"
    part.write_bytes(part.read_bytes() + b"\0")
    module = shipped(folder)
    with pytest.raises(ValueError, match=r"is not the file of version 0\.1\.0"):
        module.load(config="ar_meaning_choice")
    part.unlink()
    with pytest.raises(ValueError, match="found nothing"):
        module.load(config="ar_meaning_choice")


def test_a_choice_counts_each_of_several_golds_and_reports_what_it_cannot_read() -> None:
    doc = {"labels": AR, "gold": [0, 2]}
    assert harness.choice_scores(doc, ["ج"]) == {"acc": 1.0, "unparsed": 0.0}
    assert harness.choice_scores(doc, ["ب"]) == {"acc": 0.0, "unparsed": 0.0}
    assert harness.choice_scores(doc, ["لا أعرف شيئا"]) == {"acc": 0.0, "unparsed": 1.0}


def test_a_reply_is_read_as_the_labels_it_names() -> None:
    assert [harness.chosen(reply, FA) for reply in ("گزینهٔ الف درست است", "الف یا ب", "")] == [0, None, None]
    assert [harness.selected(reply, AR) for reply in ("ج,ا", "أ لأنها صحيحة", "كلها")] == [{0, 2}, None, None]


@pytest.fixture(scope="session")
def several_golds(tmp_path_factory: pytest.TempPathFactory) -> AssembledRelease:
    """A release whose choices may have several right options."""
    items = tuple(
        item.model_copy(update={"gold": (0, 2)}) if item.task == "meaning_choice" and place % 2 else item
        for place, item in enumerate(idiom_items())
    )
    return assemble(folder=tmp_path_factory.mktemp("several") / "r", **release_arguments(items))


RUN = """
import sys
from lm_eval.tasks import TaskManager
manager = TaskManager(include_path=sys.argv[1])
names = ["touchstone_ar_meaning_choice", "touchstone_ar_meaning_choice_written"]
loaded = manager.load(names)
tasks = loaded["tasks"] if "tasks" in loaded else loaded
likely, written = (tasks[name] for name in names)
for doc in likely.dataset["test" if "test" in likely.dataset else "dev"]:
    right = [(-1.0 if place in doc["gold"] else -5.0, False) for place in range(len(doc["labels"]))]
    assert likely.process_results(doc, right) == {"exact_set": 1.0}, doc
    assert likely.process_results(doc, [(-a, b) for a, b in right]) == {"exact_set": 0.0}
    listed = ", ".join(doc["labels"][place] for place in doc["gold"])
    assert likely.doc_to_target(doc) == written.doc_to_target(doc) == listed, listed
    assert written.process_results(doc, [listed])["exact_set"] == 1.0
    first = written.process_results(doc, [doc["labels"][doc["gold"][0]]])["exact_set"]
    assert first == float(len(doc["gold"]) == 1), "one of several right options is not all of them"
"""


def test_a_config_with_several_golds_asks_every_harness_for_the_whole_set(
    several_golds: AssembledRelease,
) -> None:
    folder = several_golds.folder / "eval" / "lm_eval"
    for name in ("", "_written"):
        text = (folder / f"touchstone_ar_meaning_choice{name}.yaml").read_text(encoding="utf-8")
        assert "gold[0]" not in text
        assert "metric: exact_set" in text
    assert json.loads((folder / "pinned.json").read_bytes())["kinds"]["ar_meaning_choice"] == "selection"


@pytest.mark.slow
def test_lm_eval_scores_sets_by_its_own_code(several_golds: AssembledRelease) -> None:
    folder = several_golds.folder / "eval" / "lm_eval"
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUN, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_several_golds_count_as_one_set() -> None:
    doc = {"labels": AR, "gold": [0, 2]}
    assert harness.selection_scores(doc, ["أ، ج"]) == {"exact_set": 1.0, "set_f1": 1.0, "unparsed": 0.0}
    precision, recall = 1 / 1, 1 / 2
    f1 = 2 * precision * recall / (precision + recall)
    assert harness.selection_scores(doc, ["أ"])["set_f1"] == pytest.approx(f1)
    assert harness.selection_scores(doc, ["أ"])["exact_set"] == 0.0
    assert harness.likely_selection(doc, [(-1.0, True), (-9.0, False), (-2.0, False)]) == {"exact_set": 1.0}
    assert harness.likely_selection(doc, [(-1.0, True), (-2.0, False), (-9.0, False)]) == {"exact_set": 0.0}


def test_an_answer_is_compared_folded_and_the_last_tag_counts() -> None:
    doc = {"answer": "کتاب است", "accepted": ["دفتر"], "language": "fa"}
    assert harness.answer_scores(doc, ["<answer>كِتاب است.</answer>"])["exact"] == 1.0
    assert harness.answer_scores(doc, ["<answer>no</answer> <answer>«دفتر»"])["exact"] == 1.0
    wrong = harness.answer_scores(doc, ["<answer>کتب است</answer>"])
    assert wrong["exact"] == 0.0
    assert wrong["cer"] == pytest.approx(1 / 7)
    assert harness.answer_scores(doc, [""]) == {"exact": 0.0, "cer": 1.0, "empty": 1.0}
    assert harness.answer_scores(doc, ["نعم " * 40])["cer"] == 1.0


@given(st.text(max_size=12), st.text(max_size=12))
def test_distance_is_that_of_the_library(first: str, second: str) -> None:
    assert harness.distance(first, second) == Levenshtein.distance(first, second)


@given(st.text(max_size=60))
def test_any_reply_scores_between_nought_and_one(reply: str) -> None:
    assert set(harness.choice_scores({"labels": AR, "gold": [1]}, [reply]).values()) <= {0.0, 1.0}
    assert all(
        0 <= one <= 1
        for one in harness.answer_scores(
            {"answer": "بيت", "accepted": [], "language": "ar"}, [reply]
        ).values()
    )


FORMS = [
    "{0}", "{0}.", "{0})", "({0})", "**{0}**", "«{0}»", "<answer>{0}</answer>", "<answer>{0}", "\\boxed{{{0}}}",
    "The answer is {0}.", "Final answer: {0}\n\n{1}: no", "It is not {0}.", "{0} or {1}", "{0} and {1}", "{0}, {1}",
    "{0} is tempting, but the right answer is {1}.", "<think>maybe {1}</think>{0}", "<think>{1} or {0}",
    "<answer>{1}</answer> <answer>{0}</answer>", "الإجابة الصحيحة هي {0}", "الإجابة: {0}", "ليس {0}", "الخيار ({0})",
    "{0}. لأن الوزن مستقيم", "{0} و{1}", "گزینهٔ {0} درست است", "پاسخ: {0}", "نه {0}، بلکه {1}", "{0} {2}",
    "{2}", "{0}) {2}\n{1}) {3}", "I choose a line in the same metre: {0}", "هذا سؤال صعب، لا أعرف {0}", "{0}\u200f",
    "The answer is ({0}).\n\nQuestion: next?\nA. x\nB. y\nAnswer: {1}", "الجواب {0}. انتظر، الجواب {1}.", "25 °{0}",
    "A hard question; I do not know.", "{0}\n\nBecause {3} does not fit.", "اخترت {2}", "{2} أو {3}",
]  # fmt: skip
LABELS = [list("ABCD"), list("1234"), ["أ", "ب", "ج", "د"], ["الف", "ب", "ج", "د"]]
OPTIONS = [
    ["الكرم", "بخل", "طول اليد", "سرقة المال"],
    ["سفر کردن", "بی\u200cخبر بودن", "A thing", "The answer"],
    [],
]
NO_SITE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("harness", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
read = module.reader().read_written
print(json.dumps([read(kind, reply, *rest, multiple=multiple)
                  for kind, reply, *rest, multiple in json.load(sys.stdin)]))
"""


def test_a_release_reads_two_thousand_replies_as_evaluation_does_without_any_package(
    first_release: AssembledRelease,
) -> None:
    asked: list[tuple[str, str, list[str], list[str], bool]] = []
    for form, labels, options, place in product(FORMS, LABELS, OPTIONS, range(4)):
        other = (place + 1) % 4
        words = [options[place], options[other]] if options else ["كلمة", "غيرها"]
        reply = form.format(labels[place], labels[other], *words)
        asked += [("choice", reply, labels, options, form in FORMS[12:15]), ("answer", reply, [], [], False)]
    harness_file = first_release.folder / "eval" / "lm_eval" / "harness.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", NO_SITE, str(harness_file)],
        input=json.dumps(asked), capture_output=True, text=True, check=True,
    )  # fmt: skip
    ours = [list(read_written(*one, multiple=multiple)) for *one, multiple in asked]
    assert len(asked) > 2000
    assert json.loads(done.stdout) == json.loads(json.dumps(ours))
    assert len({one[2] for one in ours}) > 8, "most rules of the reader were met"


@pytest.mark.parametrize("unit", ["ـ", " ", "أ", "( ", "<answer>", "، ", "نعم "])
def test_a_reply_that_repeats_itself_without_end_is_not_read(unit: str) -> None:
    choice, words = {"labels": AR, "gold": [0]}, {"answer": "بيت القصيد", "accepted": [], "language": "ar"}
    endless = (unit * 2 * harness.reader().LONGEST)[: harness.reader().LONGEST + 1]
    assert harness.choice_scores(choice, [f"أ {endless}"]) == {"acc": 0.0, "unparsed": 1.0}
    assert harness.selection_scores(choice, [f"أ {endless}"])["unparsed"] == 1.0
    assert harness.answer_scores(words, [endless]) == {"exact": 0.0, "cer": 1.0, "empty": 1.0}
    longest = endless[:-1]
    began = process_time()
    harness.choice_scores(choice, [longest])
    harness.selection_scores(choice, [longest])
    harness.answer_scores(words, [longest])
    assert process_time() - began < 10
