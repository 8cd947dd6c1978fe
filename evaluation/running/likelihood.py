"""Choices by the likelihood of their labels: lm-eval over what is asked, as a release, then imported."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mihakk.evaluation.imports import import_results
from mihakk.evaluation.results import Reading
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.running.asking import Asked, questions_of
from mihakk.evaluation.running.run import Calls, Job, Ran, score_answers_of, write_account
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import digest
from mihakk.machinery.llm.model import Served, api_key, open_model
from mihakk.machinery.llm.redaction import Redaction
from mihakk.schemas.evaluation import Answer, AnsweredBy
from mihakk.schemas.model import Remote
from mihakk.schemas.suite import System

Export = Callable[[Sequence[Asked], Path], None]
"""Writes questions of one benchmark as a release's folder, task files too."""
ANSWERED_BY: Final = "answered_by.json"
ASKED: Final = "asked"
"""What lm-eval was given, beside what it left."""


class _Task(NamedTuple):
    """One data set, as lm-eval runs it."""

    config: str
    asked: tuple[Asked, ...]

    @property
    def name(self) -> str:
        """Name of the data set's task of lm-eval."""
        return f"{self.asked[0].question.release.rpartition('/')[2]}_{self.config}"


def has_likelihoods(one: Asked) -> bool:
    """Whether the likelihoods of a question's labels are compared: choices, in their first wording."""
    return one.question.kind == "choice" and one.question.ability != "probe" and one.wording == 0


def run_likelihood(job: Job, export: Export) -> Ran:
    """Compares the likelihoods of the labels of a suite's choices; a data set that is done is not run again.

    Each choice is asked once, in its own prompt, of releases and of published benchmarks.

    Raises:
        UsageError: The system can't give likelihoods, or the suite has no choice.
        ExternalFailure: lm-eval failed, or another model answers; data sets that are done are kept.
    """
    began = time.monotonic()
    arguments = model_arguments(job.system)
    with open_model(job.system, job.store) as model:
        revision = model.revision
    answers: list[Answer] = []
    who: Counter[Served] = Counter()
    asked = 0
    for task in _tasks(job):
        prompts = {one.question.content_hash: one.whole for one in task.asked}
        folder = job.folder / "lm_eval" / f"{task.name}-{digest([prompts, revision, job.system.model])[:12]}"
        if _samples_file(folder) is None:
            _ask(job, task, arguments, folder, export)
            asked += len(task.asked)
        found = _samples_file(folder)
        if found is None:
            raise ExternalFailure(f"{job.system.name}: lm-eval left no samples of {task.name} in {folder}")
        by = AnsweredBy(
            model=job.system.name,
            revision=revision,
            prompt=task.asked[0].template,
            prompt_version=task.asked[0].template_version,
            sampling=job.system.sampling,
        )
        reading = Reading("lm-eval", by.model, join="id")
        taken, rejected = import_results([found], questions_of(task.asked), by, reading).one_system()
        if rejected:
            raise ExternalFailure(f"{found}: {rejected[0].detail}; delete the file and run this again")
        answers += taken
        for one in _who(folder):  # two fingerprints count for all, as nobody knows which gave which
            who[one] += len(task.asked)
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


def _tasks(job: Job) -> list[_Task]:
    own = grouped(
        filter(has_likelihoods, job.asked),
        lambda one: (one.question.digest, one.question.config, one.template),
    )
    if not own:
        raise UsageError(f"{job.suite.name} asks no choice: there are no likelihoods to compare")
    return [_Task(config, tuple(asked)) for (_, config, _), asked in own.items()]


def _ask(job: Job, task: _Task, arguments: str, folder: Path, export: Export) -> None:
    """Runs lm-eval; its folder is there only if the system's own model answered before it and after it."""
    half = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(half, ignore_errors=True)
    export(task.asked, half / ASKED)
    with open_model(job.system, job.store) as model:
        before = model.served()
        _run(job.system, task.name, arguments, half)
        served = dict.fromkeys((before, model.served()))
    (half / ANSWERED_BY).write_text(json.dumps(list(served), ensure_ascii=False), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)  # of an older program's run that failed
    half.replace(folder)


def _who(folder: Path) -> list[Served]:
    """What the server named around this run; nothing of a run of an older program."""
    path = folder / ANSWERED_BY
    return [Served(*one) for one in json.loads(path.read_text("utf-8"))] if path.is_file() else []


def _run(system: System, task: str, arguments: str, folder: Path) -> None:
    """Runs lm-eval in a process of its own: it prints, caches and leaves as it likes."""
    command: Sequence[str] = (
        *(sys.executable, "-m", "lm_eval", "run", "--model", "local-completions"),
        *("--model_args", arguments, "--tasks", task),
        *("--include_path", str(folder / ASKED / "eval" / "lm_eval")),
        *("--output_path", str(folder), "--log_samples"),
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
        raise ExternalFailure(f"{system.name}: lm-eval failed on {task}: {told}")


def _samples_file(folder: Path) -> Path | None:
    return next(iter(sorted(folder.rglob("samples_*.jsonl"))), None)
