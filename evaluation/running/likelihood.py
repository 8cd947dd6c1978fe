"""Choices by the likelihood of their labels: lm-eval over a release's own task files, then imported."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mihakk.evaluation.imports import import_results
from mihakk.evaluation.questions import rows_of_release
from mihakk.evaluation.results import Reading
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.running.asking import OWN, Asked, Fetch, questions_of
from mihakk.evaluation.running.run import Calls, Job, Ran, score_answers_of, write_account
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import digest
from mihakk.machinery.llm.model import Served, api_key, open_model
from mihakk.machinery.llm.redaction import Redaction
from mihakk.schemas.evaluation import Answer, AnsweredBy, Question
from mihakk.schemas.model import Remote
from mihakk.schemas.suite import System

ANSWERED_BY: Final = "answered_by.json"


class _Task(NamedTuple):
    """One config of a release, as lm-eval runs it."""

    name: str
    include: Path
    """Folder of the release's task files."""
    samples: tuple[int, ...]
    """Rows that are asked."""
    questions: Mapping[str, Question]


def run_likelihood(job: Job, fetch: Fetch) -> Ran:
    """Compares the likelihoods of the labels of a suite's choices; a config that is done is not run again.

    Only choices of releases are asked, in their own prompts, once each.

    Raises:
        UsageError: The system can't give likelihoods, or the suite has no choice of a release.
        ExternalFailure: lm-eval failed, or another model answers; configs that are done are kept.
    """
    began = time.monotonic()
    arguments = model_arguments(job.system)
    with open_model(job.system, job.store) as model:
        revision = model.revision
    by = AnsweredBy(model=job.system.name, revision=revision, prompt=OWN, sampling=job.system.sampling)
    answers: list[Answer] = []
    who: Counter[Served] = Counter()
    asked = 0
    for task in _tasks(job, fetch):
        facts = [task.samples, sorted(one.content_hash for one in task.questions.values()), revision]
        folder = job.folder / "lm_eval" / f"{task.name}-{digest([facts, job.system.model])[:12]}"
        if _samples_file(folder) is None:
            _ask(job, task, arguments, folder)
            asked += len(task.samples)
        found = _samples_file(folder)
        if found is None:
            raise ExternalFailure(f"{job.system.name}: lm-eval left no samples of {task.name} in {folder}")
        version = next(iter(task.questions.values())).version
        own = by.model_copy(update={"prompt_version": version})
        reading = Reading("lm-eval", own.model, join="id")
        taken, rejected = import_results([found], task.questions, own, reading).one_system()
        if rejected:
            raise ExternalFailure(f"{found}: {rejected[0].detail}; delete the file and run this again")
        answers += taken
        for one in _who(folder):  # two fingerprints count for all, as nobody knows which gave which
            who[one] += len(task.samples)
    order = {item: place for place, item in enumerate(questions_of(job.asked))}
    answers.sort(key=lambda one: order[one.item])
    write_rows(job.folder / "answers.parquet", answers, Answer)
    ran = Ran(score_answers_of(job), Calls(asked, 0.0, time.monotonic() - began))
    write_account(job, revision, ran, who)
    return ran


def model_arguments(system: System) -> str:
    """What lm-eval is told of the system.

    Raises:
        UsageError: It can't give likelihoods.
    """
    serve = system.serve
    if not isinstance(serve, Remote):
        raise UsageError(
            f"{system.name}: the embedded server gives no likelihoods of a prompt; measure it by "
            "`--method written`, or serve the model by vLLM"
        )
    if not system.tokenizer:
        raise UsageError(
            f"{system.name}: likelihoods need a server with /v1/completions, `echo` and `logprobs` (vLLM) "
            "and the model's `tokenizer` in its config; a chat server has none: use `--method written`"
        )
    facts = {
        "model": system.model,
        "base_url": f"{serve.endpoints[0].rstrip('/')}/completions",
        "tokenizer": system.tokenizer,
        "tokenizer_backend": "huggingface",
        "num_concurrent": system.limits.concurrency,
        "max_retries": system.limits.attempts,
        "timeout": int(system.limits.timeout_seconds),
        "max_length": system.context,
    }
    return ",".join(f"{name}={value}" for name, value in facts.items())


def _tasks(job: Job, fetch: Fetch) -> list[_Task]:
    wanted: dict[tuple[str, str], dict[str, Question]] = defaultdict(dict)
    for one in job.asked:
        if _is_own(one):
            wanted[one.question.digest, one.question.config][one.question.item] = one.question
    tasks = []
    for part in job.suite.parts:
        if not part.release:
            continue
        folder, name = fetch(part.release)
        places: dict[str, list[int]] = defaultdict(list)
        seen: dict[str, int] = defaultdict(int)
        kept: dict[str, dict[str, Question]] = {}
        for question, _ in rows_of_release(folder, name, part.split):
            own = wanted.get((question.digest, question.config), {})
            if question.item in own:
                places[question.config].append(seen[question.config])
                kept[question.config] = own
            seen[question.config] += 1
        tasks += [
            _Task(
                f"{_release(kept[config])}_{config}", folder / "eval" / "lm_eval", tuple(rows), kept[config]
            )
            for config, rows in places.items()
        ]
    if not tasks:
        raise UsageError(f"{job.suite.name} asks no choice of a release: there are no likelihoods to compare")
    names = [task.name for task in tasks]
    return [task for place, task in enumerate(tasks) if task.name not in names[:place]]


def _is_own(one: Asked) -> bool:
    return one.question.kind == "choice" and one.template == OWN


def _release(questions: Mapping[str, Question]) -> str:
    return next(iter(questions.values())).release.rpartition("/")[2]


def _ask(job: Job, task: _Task, arguments: str, folder: Path) -> None:
    """Runs lm-eval; its folder is there only if the system's own model answered before it and after it."""
    half = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(half, ignore_errors=True)
    with open_model(job.system, job.store) as model:
        before = model.served()
        _run(job.system, task, arguments, half)
        served = dict.fromkeys((before, model.served()))
    (half / ANSWERED_BY).write_text(json.dumps(list(served), ensure_ascii=False), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)  # of an older program's run that failed
    half.replace(folder)


def _who(folder: Path) -> list[Served]:
    """What the server named around this run; nothing of a run of an older program."""
    path = folder / ANSWERED_BY
    return [Served(*one) for one in json.loads(path.read_text("utf-8"))] if path.is_file() else []


def _run(system: System, task: _Task, arguments: str, folder: Path) -> None:
    """Runs lm-eval in a process of its own: it prints, caches and leaves as it likes."""
    folder.mkdir(parents=True, exist_ok=True)
    command: Sequence[str] = (
        *(sys.executable, "-m", "lm_eval", "run", "--model", "local-completions"),
        *("--model_args", arguments, "--tasks", task.name, "--include_path", str(task.include)),
        *("--output_path", str(folder), "--log_samples"),
        *("--samples", json.dumps({task.name: task.samples})),
    )
    environment = os.environ | {
        "OPENAI_API_KEY": api_key(system) or "none",
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()][-1:] or ["no reason was given"]
        told = Redaction(api_key(system)).clean(said[0])[:300]
        raise ExternalFailure(f"{system.name}: lm-eval failed on {task.name}: {told}")


def _samples_file(folder: Path) -> Path | None:
    return next(iter(sorted(folder.rglob("samples_*.jsonl"))), None)
