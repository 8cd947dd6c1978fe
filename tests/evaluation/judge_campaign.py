"""A suite whose systems have answered and whose judges answer by script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner, Result

from mihakk.evaluation.judges.run import JUDGED, JUDGEMENTS
from mihakk.evaluation.questions import MANIFEST, questions_of_release
from mihakk.evaluation.rows import read_rows, write_rows
from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_file
from mihakk.flows.cli import app
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.scripted import Answer as Said
from mihakk.machinery.llm.scripted import Call
from mihakk.schemas.evaluation import Answer, Judgement, Score
from tests.evaluation.material import reply_to


class Campaign:
    """A suite whose systems have answered, and two judges."""

    def __init__(
        self,
        folder: Path,
        release: Path,
        *,
        rubrics: tuple[str, ...] = ("answer",),
        systems: tuple[str, ...] = ("one", "two"),
    ) -> None:
        self.folder, self.out = folder, folder / "out"
        pin = sha256((release / MANIFEST).read_bytes())
        self.suite: dict[str, Any] = {
            "name": "trial",
            "title": "Trial",
            "models": [str(folder / f"{name}.yaml") for name in systems],
            "parts": [{"release": str(release), "digest": pin}],
            "judges": {
                "by": [str(folder / "judge-a.yaml"), str(folder / "judge-b.yaml")],
                "rubrics": list(rubrics),
                "asked_again": 0,
            },
        }
        self.systems = systems
        self.families = {name: f"family-{name}" for name in systems} | {"judge-a": "qwen", "judge-b": "gemma"}
        self.questions = questions_of_release(release)

    def write(self, *urls: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._yaml("suite", self.suite)
        for name, family in self.families.items():
            url = urls[0] if name != "judge-b" or len(urls) < 2 else urls[1]
            serve = {"engine": "openai", "endpoints": [url]}
            self._yaml(
                name,
                {
                    "name": name,
                    "family": family,
                    "model": name,
                    "revision": "r1",
                    "kind": "arabic",
                    "open": True,
                    "serve": serve,
                    "limits": {"concurrency": 4, "attempts": 1, "timeout_seconds": 10},
                },
            )

    def answer(self, reply: Callable[[str, Any], str]) -> None:
        for name in self.systems:
            rows = [
                reply_to(one, reply(name, one), model=name, revision="r1", prompt="release")
                for one in self.questions.values()
            ]
            path = self.out / name / "answers.parquet"
            write_rows(path, rows, Answer)
            score_file(path, self.questions, metrics_named(DEFAULT), path.with_name("scores.parquet"))

    def call(self, command: str, *more: str) -> Result:
        runner = CliRunner(env={"COLUMNS": "250"})
        arguments = ["evaluate", command, str(self.folder / "suite.yaml"), "--out", str(self.out), *more]
        return runner.invoke(app, arguments)

    def judgements(self, system: str) -> list[Judgement]:
        return read_rows(self.out / system / JUDGEMENTS, Judgement)

    def judged(self, system: str) -> list[Score]:
        return read_rows(self.out / system / JUDGED, Score)

    def _yaml(self, name: str, content: dict[str, Any]) -> None:
        text = yaml.safe_dump(content, allow_unicode=True)
        (self.folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def schema_of(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = call.body["response_format"]["json_schema"]["schema"]
    return found


def fair(call: Call) -> Said:
    """Extracts everything; scores right answers high and others low."""
    shown = json.loads(call.body["messages"][1]["content"])
    if "extracted" in schema_of(call)["properties"]:
        return Said(text=json.dumps({"extracted": shown["reply"]}))
    fields = schema_of(call)["properties"]["scores"]["properties"]
    best = shown["reply"] in shown["reference"]
    scores = {name: (max if best else min)(one["enum"]) for name, one in fields.items()}
    return Said(text=json.dumps({"reason": "compared", "scores": scores}))
