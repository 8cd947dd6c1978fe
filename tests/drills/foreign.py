"""Commands over files of others: for each kind the real files, and how one altered file is handed over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from pydantic import BaseModel
from typer.testing import CliRunner

from mihakk.annotation.screens.tasks import review_task
from mihakk.evaluation.questions import questions_of_release
from mihakk.flows.cli import app
from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT
from mihakk.pipeline.external_people import queue_rows
from mihakk.releases.assemble import assemble
from mihakk.releases.content.checksum import write_manifest
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.audit_suite import SuiteConfig
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.model import AuditorsConfig
from mihakk.schemas.suite import Suite, System
from tests.annotation.exported import result
from tests.drills.export_server import ExportServer
from tests.drills.mutations import formats, mutated
from tests.releases.release_material import hafez_items, release_arguments

SAMPLES = ROOT / "data" / "samples"
SOURCES = ROOT / "tests" / "fixtures" / "sources"
MAP = "question=question,choices=A+B+C+D,gold=answer,id=id"
ROWS = 8
"""Rows kept of each real table: what a command does with one it does with the next."""
SERVE = {"engine": "openai", "endpoints": ["http://127.0.0.1:9/v1"]}
Made = tuple[list[str], Path]
"""A command's words, and the file in it that is not as it should be."""


KINDS = {
    "export": "export",
    "source": "source",
    "audit": "audit",
    "table of results": "results",
    "code": "code",
    "replies": "replies",
    "lm-eval": "samples",
    "batch": "batch",
    "answers": "answers",
    "scores": "scores",
    "diff": "diff",
    "verify": "verify",
    "questions": "questions",
    "defect": "defect",
    "config": "config",
}
"""What is altered, and the method that does it and makes the command."""


_CONFIGS: dict[str, type[BaseModel]] = {
    "benchmarks": BenchmarkConfig,
    "auditors": AuditorsConfig,
    "suites": Suite,
    "models": System,
    "audits": SuiteConfig,
}


def _named(kind: str, path: Path) -> str:
    """What a message about an altered file must hold."""
    if kind == "scores":
        return "m"  # scores of several files are compared by systems, so their messages name a system
    if kind == "defect":
        return "release"  # an item that it has no more is missing from the whole release
    if kind == "config" and path.stem in _CONFIGS:
        try:
            load_config(path, _CONFIGS[path.stem])
        except UsageError:
            return path.name
        return ""  # a config all the same: the message is about what it names
    return path.name


class Foreign:
    """The real files, made once, and the commands of every kind.

    Args:
        folder: Where all files lie; a command's own ones are removed before the next.
        patch: Puts an export in the place of a labelling server's, and a folder in that of a version's.
        shared: Folder of real data beside the checkout; None where there is none.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, shared: Path | None) -> None:

        import_module("label_studio_sdk.label_interface")  # takes seconds, which are no command's own
        self.folder, self.shared = folder, shared
        self.base, self.own = folder / "base", folder / "own"
        self.base.mkdir()
        self.runner = CliRunner(env={"COLUMNS": "200"})
        self.server = ExportServer()
        # Configs name data sets of the Hub, which is not asked for them: it would be waited for.
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        patch.setattr("datasets.config.HF_HUB_OFFLINE", True)
        patch.setattr("mihakk.annotation.label_studio.exchange.connect", lambda _: self.server)
        patch.setattr("mihakk.flows.commands.release._checked_out", self._checked_out)
        patch.setattr("mihakk.pipeline.steps.check.errata_folder", lambda _: self.own / "errata")
        patch.chdir(folder)

    def fresh(self) -> Path:
        """The command's own folder, empty."""
        shutil.rmtree(self.own, ignore_errors=True)
        self.own.mkdir()
        return self.own

    def run(self, kind: str, seed: int) -> tuple[list[str], str, Any]:
        """One altered file through its command: words, what a message must name, and what came of it."""
        self.fresh()
        words, path = getattr(self, KINDS[kind])(Random(f"{kind} {seed}"))
        return words, _named(kind, path), self.runner.invoke(app, words)

    def ok(self, *words: str | Path) -> str:
        """Runs a command over sound files, as the drill needs its results."""
        done = self.runner.invoke(app, [str(word) for word in words])
        assert done.exit_code in (0, 1), done.output
        return done.stdout

    def altered(self, name: str, data: bytes, rng: Random) -> Path:
        """A file of the command's own, not as it should be."""
        path = self.own / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mutated(name, data, rng))
        return path

    # Tables

    @cached_property
    def tables(self) -> dict[str, bytes]:
        """Real tables of poems and idioms, and each of them in every format."""
        found: dict[str, bytes] = {}
        for path in sorted(SAMPLES.glob("*s.jsonl")):
            rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:ROWS]]
            found |= formats(path.stem, rows)
        found["idioms.csv"] = b"".join(
            (SOURCES / "files" / "idioms.csv").read_bytes().splitlines(True)[:ROWS]
        )
        return found

    def source(self, rng: Random) -> Made:
        """A table, book or archive through its source."""
        data = self.tables | self.books
        name = rng.choice(sorted(data))
        path = self.altered(name, data[name], rng)
        option = "layout=quoted" if path.suffix == ".txt" else "language=ar"
        told = path.suffix == ".txt" or (name in self.tables and rng.random() < 0.5)
        options = ["-o", option] if told else []
        return ["source", "try", str(path), *options, *rng.choice(([], ["--json", "--all"]))], path

    @cached_property
    def books(self) -> dict[str, bytes]:
        """Real pages, books and archives of the sources."""
        found = {path.name: path.read_bytes()[:6000] for path in sorted((SOURCES / "openiti").glob("*.txt"))}
        if self.shared:
            found["book.epub"] = (self.shared / "hindawi" / "19507951.epub").read_bytes()
            found["export.tar.gz"] = (self.shared / "ganjoor" / "edge_cases_raw.tar.gz").read_bytes()
        return found

    @cached_property
    def exams(self) -> dict[str, bytes]:
        """Questions with four options in every format."""
        rows: list[dict[str, Any]] = [
            {
                "id": f"q{n}",
                "question": f"ما عاصمة البلد رقم {n} في هذه القائمة؟",
                "A": "بغداد",
                "B": "دمشق",
                "C": f"قرية {n}",
                "D": "تونس",
                "answer": "ABCD"[n % 4],
            }
            for n in range(ROWS)
        ]
        if self.shared:
            lines = (self.shared / "exams" / "exams_arabic_562.jsonl").read_text("utf-8").split("\n")[:ROWS]
            rows = [json.loads(line) for line in lines]
        return formats("exam", rows)

    def audit(self, rng: Random) -> Made:
        name = rng.choice(sorted(self.exams))
        path = self.altered(name, self.exams[name], rng)
        if rng.random() < 0.15:
            return ["audit", str(path)], path
        how = rng.choice(("text", "text", "json", "sarif", "jsonl", "csv"))
        return [
            "audit",
            str(path),
            "--map",
            MAP,
            "--rules-only",
            "--format",
            how,
            "--out",
            str(self.own / "out"),
        ], path

    def results(self, rng: Random) -> Made:
        files = sorted((ROOT / "data" / "reference" / "published").glob("*.csv"))
        given = rng.choice(files)
        if rng.random() < 0.6:
            path = self.altered(given.name, given.read_bytes(), rng)
        else:
            rows = pa.csv.read_csv(given).to_pylist()
            if rng.random() < 0.5:
                path = self.altered(f"{given.stem}.json", json.dumps(rows, ensure_ascii=False).encode(), rng)
            else:
                lines = [list(rows[0]), ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
                text = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
                path = self.altered(f"{given.stem}.md", text.encode(), rng)
        return ["evaluate", "lint", str(path), *rng.choice(([], ["--json"]))], path

    def code(self, rng: Random) -> Made:
        rows = [
            json.loads(line) for line in (SAMPLES / "code_problems.jsonl").read_text("utf-8").split("\n")[:3]
        ]
        made = formats("problems", rows)
        name = rng.choice(sorted(made))
        path = self.altered(name, made[name], rng)
        return ["code", "check", str(path), "--no-run"], path

    # Replies

    @cached_property
    def release(self) -> Path:
        folder = self.base / "release"
        assemble(folder=folder, **release_arguments(hafez_items(4)))
        return folder

    @cached_property
    def reply_lines(self) -> bytes:
        lines = []
        for one in questions_of_release(self.release).values():
            reply = one.labels[one.gold[0]] if one.kind == "choice" else f"<answer>{one.answer}</answer>"
            lines.append(
                {"item": one.item, "reply": reply, "finish_reason": "stop", "tokens_in": 5, "cost": 0.1}
            )
        return b"".join(orjson.dumps(line) + b"\n" for line in lines)

    def imported(self, path: Path, *more: str) -> list[str]:
        """Words that import replies to the release."""
        return [
            *("evaluate", "import", str(path), "--release", str(self.release), "--model", "m"),
            *("--out", str(self.own / "out"), *more),
        ]

    def replies(self, rng: Random) -> Made:
        path = self.altered("replies.jsonl", self.reply_lines, rng)
        return self.imported(path, *rng.choice(([], ["--json"]))), path

    def samples(self, rng: Random) -> Made:
        lines = []
        for one in questions_of_release(self.release).values():
            doc = {"id": one.item, "content_hash": one.content_hash, "labels": list(one.labels)}
            resps = [[["-1.5", "False"]] for _ in one.labels] if one.kind == "choice" else [[one.answer]]
            lines.append({"doc_id": 0, "doc": doc, "target": "", "resps": resps, "filter": "none"})
        data = b"".join(orjson.dumps(line) + b"\n" for line in lines)
        path = self.altered("samples_x.jsonl", data, rng)
        return self.imported(path, "--as", "lm-eval"), path

    @cached_property
    def scored(self) -> Path:
        path = self.base / "replies.jsonl"
        path.write_bytes(self.reply_lines)
        out = self.base / "scored"
        self.ok(*self.imported(path)[:-1], out)
        return out

    def answers(self, rng: Random) -> Made:
        path = self.altered("answers.parquet", (self.scored / "answers.parquet").read_bytes(), rng)
        return ["evaluate", "rescore", str(self.own), "--release", str(self.release)], path

    def scores(self, rng: Random) -> Made:
        path = self.altered("scores.parquet", (self.scored / "scores.parquet").read_bytes(), rng)
        return ["evaluate", "table", str(path), *rng.choice(([], ["--json"]))], path

    @cached_property
    def audited(self) -> Path:
        """Results of an audit with its calls, replies and a journal of theirs."""
        exam, out, calls = self.base / "exam.jsonl", self.base / "audited", self.base / "calls"
        exam.write_bytes(self.exams["exam.jsonl"])
        judges = [{"name": n, "family": n, "model": f"org/{n}", "serve": SERVE} for n in ("one", "two")]
        (self.base / "auditors.yaml").write_text(json.dumps({"auditors": judges}), encoding="utf-8")
        self.ok("audit", exam, "--map", MAP, "--rules-only", "--out", out)
        self.ok("batch", "export", out, calls, "--auditors", self.base / "auditors.yaml")
        sound = json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})
        choice = {"message": {"role": "assistant", "content": sound}, "finish_reason": "stop"}
        body = {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
        for name in ("one", "two"):
            keys = [
                orjson.loads(line)["custom_id"]
                for line in (calls / f"{name}.calls.jsonl").read_bytes().splitlines()
            ]
            rows = [
                {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}
                for key in keys
            ]
            (calls / f"{name}.replies.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        answered = self.base / "answered"
        shutil.copytree(out, answered)
        self.ok("batch", "import", answered, calls, "--auditors", self.base / "auditors.yaml")
        return out

    def batch(self, rng: Random) -> Made:
        audited, calls = self.audited, self.own / "calls"
        words = [str(calls), "--auditors", str(self.base / "auditors.yaml")]
        shutil.copytree(self.base / "calls", calls)
        if rng.random() < 0.3:
            shutil.copytree(self.base / "answered", self.own / "set")
            journal = rng.choice(
                sorted(p for p in (self.own / "set").rglob("*") if p.is_file() and "journal" in str(p))
            )
            journal.write_bytes(mutated(journal.name, journal.read_bytes(), rng))
            return ["batch", rng.choice(("export", "import")), str(self.own / "set"), *words], journal
        shutil.copytree(audited, self.own / "set")
        path = self.altered("calls/one.replies.jsonl", (calls / "one.replies.jsonl").read_bytes(), rng)
        return ["batch", "import", str(self.own / "set"), *words], path

    # A labelling server's export

    @cached_property
    def tasks(self) -> bytes:
        """Three tasks as exported, two people's answers each."""
        made = []
        for place, item in enumerate(queue_rows(self.audited, "items")[:3], 1):
            rows = [
                {
                    "id": 2 * place + person, "completed_by": person, "result": result({"decision": "keep", "confidence": "4"}),
                    "was_cancelled": False, "updated_at": f"2026-03-01T00:00:{place:02d}Z", "created_at": "2026-02-28T00:00:00Z",
                    "lead_time": 12.5, "updated_by": person,
                }
                for person in (1, 2)
            ]  # fmt: skip
            made.append({"id": place, "data": review_task(item)["data"], "annotations": rows})
        return orjson.dumps(made)

    def export(self, rng: Random) -> Made:
        tasks = self.tasks
        shutil.copytree(self.audited, self.own / "set")
        path = self.altered("export.json", tasks, rng)
        self.server.export = path.read_bytes()
        self.server.name = json.loads((self.own / "set" / "audited.json").read_text("utf-8"))["name"]
        return ["review", "pull", str(self.own / "set"), "--json"], path

    # Releases

    @contextmanager
    def _checked_out(self, _: str, version: str) -> Iterator[Path]:
        yield self.own / "release" if version == "0.2.0" else self.release

    def _altered_release(self, rng: Random) -> Path:
        """A release folder with one file that is not as it was; its manifest says so in half of them."""
        folder = self.own / "release"
        shutil.copytree(self.release, folder)
        if rng.random() < 0.15:
            path = folder / rng.choice(("refined.json", "cleaned.json", "withdrawn.json"))
            path.write_text('{"version": "0.1.0", "name": "x"}', encoding="utf-8")
        else:
            read = (
                "*/*-of-*.parquet",
                "errata/*.parquet",
                "MANIFEST.sha256",
                "croissant.json",
                "eval/lm_eval/pinned.json",
            )
            path = rng.choice(sorted(folder.glob(rng.choices(read, (12, 2, 2, 2, 2))[0])))
        path.write_bytes(mutated(path.name, path.read_bytes(), rng))
        if path.name != "MANIFEST.sha256" and rng.random() < 0.7:
            write_manifest(folder)
        return path

    def diff(self, rng: Random) -> Made:
        path = self._altered_release(rng)
        return ["diff", "demo", "0.1.0", "0.2.0", *rng.choice(([], ["--json"], ["--markdown"]))], path

    def verify(self, rng: Random) -> Made:
        return ["verify", str(self.own / "release"), *rng.choice(([], ["--json"]))], self._altered_release(
            rng
        )

    def questions(self, rng: Random) -> Made:
        """The release that replies are scored by."""
        path = self._altered_release(rng)
        replies = self.own / "replies.jsonl"
        replies.write_bytes(self.reply_lines)
        words = self.imported(replies)
        words[words.index(str(self.release))] = str(self.own / "release")
        return words, path

    def defect(self, rng: Random) -> Made:
        """Of a release; or reports that others filed, read by a build's plan."""
        item = next(iter(questions_of_release(self.release)))
        words = [
            "report-defect",
            "demo",
            item,
            "--problem",
            "wrong_gold",
            "--evidence",
            "The dictionary, p. 12",
            "--version",
            "0.2.0",
        ]
        return words, self._altered_release(rng)

    # Configs

    @cached_property
    def configs(self) -> list[tuple[str, bytes]]:
        """Folder and content of every committed config."""
        found = []
        for path in sorted((ROOT / "configs").glob("*/*.yaml")):
            found.append((path.parent.name, path.read_bytes()))
        return found

    def config(self, rng: Random) -> Made:
        kind, data = rng.choice([one for one in self.configs if one[0] != "sources"])
        path = self.altered(f"{kind}.yaml", data, rng)
        if kind == "benchmarks":
            return [*rng.choice((("runs",), ("items", "show"), ("lake", "verify"))), str(path)], path
        if kind == "auditors":
            return [
                "batch",
                "export",
                str(self.audited),
                str(self.own / "calls"),
                "--auditors",
                str(path),
            ], path
        if kind == "suites":
            return ["evaluate", "run", str(path), "--dry-run"], path
        if kind == "models":
            (self.own / "suite.yaml").write_text(
                yaml.safe_dump(
                    {
                        "name": "x",
                        "title": "x",
                        "pinned": False,
                        "parts": [{"release": str(self.release)}],
                        "models": ["qwen-0.5b"],
                    }
                )
            )
            return ["evaluate", "run", str(self.own / "suite.yaml"), "--model", str(path), "--dry-run"], path
        return ["audit", str(path), "--rules-only", "--out", str(self.own / "out")], path
