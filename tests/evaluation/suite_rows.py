"""A few rows for every bundled suite: real ones where the checkout has them, else of our own in the sets' columns."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from mihakk.evaluation.running.suites import SUITES
from mihakk.releases.assemble import assemble
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from tests.releases.release_material import idiom_items, release_arguments

NAMES = sorted(path.stem for path in SUITES.glob("*.yaml"))
REAL = Path(os.environ.get("MIHAKK_SHARED_DATA", SUITES.parents[1].parent / "shared" / "data"))
CHOICES = (
    "meaning_choice",
    "meaning_choice_srl",
    "meaning_in_context",
    "negation",
    "pragmatic_use",
    "connotation",
)
IDIOM = {
    "idiom": "إيده خفيفة", "explanation": "يسرق دون أن يشعر به أحد", "incorrect_explanation": "يكتب بسرعة",
    "incorrect_explanation_srl": "يسرق فيشعر به كل أحد", "sentence": "خلي بالك، ده إيده خفيفة.",
    "sentence_with_blank": "خلي بالك، ده ____.", "incorrect_idiom": "عينه فارغة", "connotation": "negative",
    "kind": "idiom",
}  # fmt: skip
PROVERB = IDIOM | {"idiom": "اللي اختشوا ماتوا", "explanation": "قلّ الحياء", "kind": "proverb"}


def bundled(name: str, folder: Path) -> dict[str, Any]:
    """A bundled suite over a few rows in the folder; all else as it is shipped."""
    suite: dict[str, Any] = yaml.safe_load((SUITES / f"{name}.yaml").read_text(encoding="utf-8"))
    for part in suite["parts"]:
        part.pop("digest", None)
        if "release" in part:
            part["release"] = str(_release(folder / "release"))
        else:
            data = Path(part["data"]).name
            part["data"] = str(REAL / data if (REAL / data).is_dir() else _WRITTEN[data](folder / data))
    return suite | {"pinned": False}


def json_lines(path: Path, *rows: dict[str, Any]) -> Path:
    """Writes rows, a line each; the folder they lie in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path.parent


def _release(folder: Path) -> Path:
    if not folder.exists():
        assemble(folder=folder, **release_arguments(_idioms()))
    return folder


@cache
def _idioms() -> tuple[Item, ...]:
    """Idioms in all tasks of the suites over releases."""
    made: list[Item] = []
    for choice in (one for one in idiom_items() if isinstance(one, ChoiceItem)):
        made += [
            choice.model_copy(update={"task": task, "id": choice.id.replace("meaning_choice", task)})
            for task in CHOICES
        ]
        shared = {
            name: getattr(choice, name)
            for name in ("language", "dialect", "question", "fields", "origin", "licence", "attribution")
        }
        made += [
            AnswerItem(
                id=choice.id.replace("meaning_choice", task),
                task=task,
                answer=choice.options[choice.gold[0]],
                **shared,
            )
            for task in ("completion", "explanation")
        ]
    return tuple(made)


def parquet(path: Path, *rows: dict[str, Any]) -> None:
    """Writes rows as one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def _qimma(folder: Path) -> Path:
    """Every set that the suite's categories name."""
    names = (
        *("AraDiCE-Culture", "ArabCulture", "PALMX-2025", "ArabicMMLU", "NativeQA", "NativeQA-RDP"),
        *("SyntheticQA", "MizanQA", "MedArabiQ", "AraTrust", "GAT", "MedAraBench"),
    )
    for name in names:
        rows = [
            {
                "prompt": f"{name} {number}: أيها يطير؟\nأ) الحجر\nب) الطير\nالإجابة:",
                "choices": ["الحجر", "الطير"],
                "index": [0, 1] if name == "MizanQA" else 1,
            }
            for number in range(3)
        ]
        parquet(folder / f"MCQ_{name}" / "data" / "test-00000-of-00001.parquet", *rows)
    for name in ("ArabLegalEval", "MedArabiQ", "FannOrFlop"):
        rows = [
            {"prompt": f"{name} {number}: أكمل: القلب يضخ ____", "choices": "الدم"} for number in range(3)
        ]
        parquet(folder / f"QA_{name}" / "data" / "test-00000-of-00001.parquet", *rows)
    return folder


def balsam_set(folder: Path, name: str, task: str, *rows: dict[str, Any], split: str = "dev") -> Path:
    """One data set of BALSAM in the columns that the authors' runner reads."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"name": name, "category": "Text Classification", "task": task, "data": {split: list(rows)}}
    (folder / f"{name}.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    return folder


def _balsam(folder: Path) -> Path:
    """Answers in words, choices, and a task that has both."""
    worded = [{"instruction": "صنّف.", "input": f"فرحتُ {number}", "output": ["سعادة"]} for number in range(3)]
    lettered = [
        {"input": f"ما لونها {number}؟", "output": "B", "mcq": ["أحمر", "أزرق"]} for number in range(3)
    ]
    balsam_set(folder, "emotions", "Emotion Detection", *worded)
    balsam_set(folder, "colours", "Colours", *lettered)
    return balsam_set(folder, "mixed", "Emotion Detection", *worded, *lettered)


def _arabicmmlu(folder: Path) -> Path:
    folder.mkdir(parents=True)
    head = ["ID", "Question", "Answer Key", *(f"Option {place}" for place in range(1, 6))]
    rows = [[str(number), f"أيها يطير {number}؟", "B", "الحجر", "الطير", "", "", ""] for number in range(3)]
    (folder / "dev.csv").write_text("\n".join(",".join(row) for row in (head, *rows)), encoding="utf-8")
    return folder


def _fannorflop(folder: Path) -> Path:
    verses = [{"verse": "نمضي إلى الفجر\nوالأحلام تسبقنا", "explanation": "نسير نحو الصباح بأمل."}] * 2
    poems = [{"id": number, "title": f"قصيدة {number}", "verse_explanations": verses} for number in range(3)]
    folder.mkdir(parents=True)
    (folder / "poems.json").write_text(json.dumps(poems, ensure_ascii=False), encoding="utf-8")
    return folder


_WRITTEN = {
    "qimma": _qimma,
    "balsam": _balsam,
    "kinayat_published": lambda folder: json_lines(folder / "set.jsonl", IDIOM, PROVERB),
    "arabicmmlu": _arabicmmlu,
    "fannorflop": _fannorflop,
}
