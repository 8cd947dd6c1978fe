"""A suite of simulated systems over a real release, or over many made-up items, for the leaderboard's tests."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from mihakk.evaluation.questions import questions_of_release
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_file
from mihakk.reports.leaderboard.site import Board
from mihakk.schemas.evaluation import Answer, AskedItem, Question
from mihakk.schemas.suite import Suite, System

DAY = date(2026, 11, 22)
HOSTILE = "<img src=x onerror=window.__ran=1><script>window.__ran=1</script>"


def system(name: str, **facts: Any) -> System:
    given = {
        **{"name": name, "family": name.partition("-")[0], "model": name, "kind": "arabic", "open": True},
        **{"parameters": 8, "serve": {"engine": "openai", "endpoints": ["http://127.0.0.1:9/v1"]}},
    }
    return System.model_validate(given | facts)


SYSTEMS = (
    system("jais-2-8b"),
    system("qwen-3-32b", kind="multilingual", parameters=32, knowledge_cutoff="2025-03"),
    system("closed-one", kind="multilingual", parameters=None, open=False),
    system("tiny-135m", kind="english", parameters=0.135, contender=False),
)
SKILL = (0.75, 0.7, 0.9, 0.4)


def reply_of(question: Question, right: bool, hostile: bool) -> str:
    if hostile:
        return f"{HOSTILE} {question.labels[0] if question.labels else ''}"
    if question.kind == "choice":
        label = question.labels[question.gold[0] if right else question.gold[0] - 1]
        return f"الإجابة: {label}"
    if question.kind == "answer":
        return f"<answer>{question.answer if right else 'نمی‌دانم'}</answer>"
    return "\n".join(f"{place}. {text}" for place, text in enumerate(question.explanations, 1))


def answered(
    folder: Path,
    questions: Mapping[str, Question],
    systems: Sequence[System] = SYSTEMS,
    skill: Sequence[float] = SKILL,
) -> Path:
    """Answers and scores of every system, as `mihakk evaluate run` leaves them."""
    for number, (one, share) in enumerate(zip(systems, skill, strict=True)):
        rows = []
        for place, question in enumerate(questions.values()):
            draw = random.Random(f"{one.name}{question.item}").random()
            rows.append(
                Answer.model_validate(
                    {name: getattr(question, name) for name in AskedItem.model_fields}
                    | {
                        "model": one.name,
                        "revision": f"r{number}",
                        "prompt": "release",
                        "reply": reply_of(question, draw < share, place == 0 and number == 3),
                        "finish_reason": "stop",
                    }
                )
            )
        write_rows(folder / one.name / "answers.parquet", rows, Answer)
        score_file(
            folder / one.name / "answers.parquet",
            questions,
            metrics_named(DEFAULT),
            folder / one.name / "scores.parquet",
        )
    return folder


def older(questions: Mapping[str, Question], config: str) -> dict[str, Question]:
    """A version before: of a data set of choices the first item had another gold, the second is not in it yet,
    and one is in it that the newer version has no more."""
    own = [one for one in questions.values() if one.config == config]
    stated = {"version": "0.0.9", "digest": "0" * 64}
    found = {name: one.model_copy(update=stated) for name, one in questions.items()}
    wrong = (own[0].gold[0] + 1) % len(own[0].options)
    found[own[0].item] = own[0].model_copy(update=stated | {"gold": (wrong,), "content_hash": "wrong gold"})
    del found[own[1].item]
    found["gone-item"] = own[2].model_copy(update=stated | {"item": "gone-item", "content_hash": "gone"})
    return found


def suite(release: Path, **facts: Any) -> Suite:
    given = {
        **{
            "name": "touchstone",
            "title": "محك: أبيات وأمثال",
            "pinned": False,
            "parts": [{"release": str(release)}],
        },
        "published": [
            {
                **{"paper": "A paper", "table": "table 1", "beside": "fa_continuation_choice accuracy"},
                **{"differs": "other couplets", "figures": {"Some model": 0.71, "jais-2-8b": 0.69}},
            }
        ],
    }
    return Suite.model_validate(given | facts)


def board(release: Path, folder: Path, systems: Sequence[System] = SYSTEMS, **facts: Any) -> Board:
    """The leaderboard of a real release, answered by simulated systems."""
    answered(folder, questions_of_release(release, split="test"), systems[: len(SKILL)])
    return Board(suite(release), systems, folder, lambda name: (Path(name), ""), DAY, **facts)


def on_disk(folder: Path, chosen: Suite, systems: Sequence[System]) -> tuple[str, str]:
    """The suite's file and those of the systems, as commands take them."""
    paths = [folder / "suite.yaml", *(folder / f"{one.name}.yaml" for one in systems)]
    for path, one in zip(paths, (chosen, *systems), strict=True):
        path.write_text(yaml.safe_dump(one.model_dump(mode="json", exclude_none=True)), encoding="utf-8")
    return str(paths[0]), ",".join(map(str, paths[1:]))
