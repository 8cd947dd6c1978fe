"""A suite over one system: plan, calls, stored answers, scores."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from mihakk.evaluation.rows import read_batches, write_rows
from mihakk.evaluation.running.asking import Asked, questions_of, reply_tokens, sizes
from mihakk.evaluation.running.logs import write_logs
from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_file
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.budget import LETTERS_A_TOKEN, Cap, Meter
from mihakk.machinery.llm.journal import Entry, Journal
from mihakk.machinery.llm.model import Model, Served, open_model
from mihakk.machinery.llm.spending import FOLDER, Ledger
from mihakk.machinery.llm.structured import Request, in_words
from mihakk.machinery.settings import Settings
from mihakk.schemas.evaluation import Answer, AskedItem, Method, Score
from mihakk.schemas.suite import Suite, System

EARLIER: Final = "earlier"
"""Folder, inside a suite's, of the scores on the version before, for how figures and ranks moved."""
FILTERED: Final = ("content_filter", "content_policy", "content management policy", "responsible_ai")
"""What servers say when a filter, and not a fault, is why there is no reply."""
FAILED: Final = "failed.jsonl"
"""Beside the answers: calls that were refused or never answered, which stand until the file is deleted."""


class Job(NamedTuple):
    """One system and what it is asked."""

    suite: Suite
    asked: Sequence[Asked]
    system: System
    out: Path
    """The suite's folder: the journal, and a folder per system."""
    store: Settings
    """Where weights lie."""
    method: Method = "written"

    @property
    def folder(self) -> Path:
        """Where the system's answers by this method, and their scores, lie."""
        suffix = "" if self.method == "written" else f".{self.method}"
        return self.out / f"{self.system.name}{suffix}"


class Plan(NamedTuple):
    """What a run over one system would do."""

    system: str
    calls: int
    journaled: int
    """Of these, answered before."""
    prompt_tokens: int
    """Of the calls to be made, at most."""
    reply_tokens: int
    """With every reply as long as it may be."""
    most: float | None
    """What that costs, in the system's currency; None where no price is known."""
    currency: str


def planned(system: System, calls: int, journaled: int, prompts: int, replies: int) -> Plan:
    """A plan with what its calls cost at most."""
    price = system.price
    most = price.of(prompts, replies) if price else None
    return Plan(system.name, calls, journaled, prompts, replies, most, price.currency if price else "")


class Calls(NamedTuple):
    """What asking one system took."""

    asked: int
    """Calls that the journal could not answer."""
    spent: float
    """What these cost, in the system's currency; 0 where no price is known."""
    seconds: float


class Ran(NamedTuple):
    """What a run over one system did."""

    counts: Counter[str]
    """Answers by status, and `scores`."""
    calls: Calls


def plan(job: Job) -> Plan:
    """What a run would ask; asks nothing and starts no server."""
    system, calls = job.system, _calls(job)
    with _opened(job) as (model, journal):
        open_ = [one for one, _, _ in calls if model.known(model.key(one), journal) is None]
    prompts = sum(sum(len(said["content"]) for said in one.messages) // LETTERS_A_TOKEN for one in open_)
    replies = sum(one.max_tokens or 0 for one in open_)
    return planned(system, len(calls), len(calls) - len(open_), prompts, replies)


def run_system(job: Job, answered: Callable[[], None] = lambda: None) -> Ran:
    """Asks one system everything that the journal does not hold, then writes its answers and scores.

    `answered` is called after every call.

    Raises:
        ExternalFailure: A server failed for good or a limit is reached; answered calls are kept.
        UsageError: The system's config can't work.
    """
    return store_answers(job, ask_system(job, answered))


def ask_system(job: Job, answered: Callable[[], None] = lambda: None) -> Calls:
    """Asks one system everything that the journal does not hold; arguments and errors as `run_system`."""
    began = time.monotonic()
    job.folder.mkdir(parents=True, exist_ok=True)
    failed = _failed(job)
    with _opened(job) as (model, journal), (job.folder / FAILED).open("a", encoding="utf-8") as out:
        calls = (one for one, _, _ in _calls(job) if model.key(one) not in failed)
        with closing(model.ask_all(calls, journal, ordered=False)) as replies:
            for reply in replies:
                if reply.value is None:
                    told = {"key": reply.key, "problem": reply.problem}
                    out.write(json.dumps(told, ensure_ascii=False) + "\n")
                    out.flush()
                answered()
        return Calls(model.meter.asked, model.meter.spent, time.monotonic() - began)


def store_answers(job: Job, calls: Calls) -> Ran:
    """Writes answers and scores from the journal alone: the same replies give the same bytes.

    Logs for Inspect's viewer are written beside them where Inspect is installed.

    Raises:
        ExternalFailure: A question was not asked yet.
    """
    failed, rows, entries = _failed(job), [], []
    with _opened(job) as (model, journal):
        for request, one, repeat in _calls(job):
            key = model.key(request)
            entries.append(model.known(key, journal))
            rows.append((one, _answer(model, request, one, repeat, entries[-1] or failed.get(key))))
        revision = model.revision
    write_rows(job.folder / "answers.parquet", [answer for _, answer in rows], Answer)
    ran = Ran(score_answers_of(job), calls)
    if find_spec("inspect_ai"):
        write_logs(job.suite, job.system, rows, job.folder)
    write_account(job, revision, ran, _who(entries))
    return ran


def score_answers_of(job: Job) -> Counter[str]:
    """Scores the stored answers by the suite's metrics; scores on an older version are kept beside."""
    versions = {one.question.release: one.question.version for one in job.asked}
    keep_earlier(job.folder / "scores.parquet", versions)
    return score_file(
        job.folder / "answers.parquet",
        questions_of(job.asked),
        metrics_named(job.suite.metrics or DEFAULT, job.suite.metric_options),
        job.folder / "scores.parquet",
    )


def keep_earlier(scores: Path, versions: Mapping[str, str]) -> None:
    """Keeps a file of scores that is about to be overwritten, where it is of other versions.

    Args:
        scores: `SUITE/SYSTEM/scores.parquet`; kept as `SUITE/earlier/SYSTEM/scores.parquet`.
        versions: Release to the version that is asked about now.
    """
    if not scores.is_file():
        return
    found: dict[str, str] = {}
    for batch in read_batches(scores, Score, ("release", "version")):
        columns = batch.to_pydict()
        found |= dict(zip(columns["release"], columns["version"], strict=True))
    if found == versions:
        return
    kept = scores.parent.parent / EARLIER / scores.parent.name / scores.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_name(f".{kept.name}.tmp")
    shutil.copyfile(scores, unfinished)
    unfinished.replace(kept)


@contextmanager
def _opened(job: Job) -> Iterator[tuple[Model, Journal]]:
    cap = Cap((job.system.name,), job.suite.limits, "limits")
    with (
        Journal(job.out / "journal", job.system.name) as journal,
        Ledger(job.out / FOLDER) as ledger,
        open_model(job.system, job.store, meter=Meter(job.system, ledger, [cap])) as model,
    ):
        yield model, journal


def _calls(job: Job) -> list[tuple[Request[str], Asked, int]]:
    """Every call in order, with its question and repeat, whose number goes into the seed."""
    return [
        (
            in_words(
                f"{one.name}/{repeat}",
                one.message,
                reply_tokens(job.suite, job.system, one.question.kind),
                repeat,
                one.system,
            ),
            one,
            repeat,
        )
        for one in job.asked
        for repeat in range(one.repeats)
    ]


def _failed(job: Job) -> dict[str, str]:
    """Journal key to why a call has no reply; a line cut short by a kill is left out."""
    found = {}
    if (job.folder / FAILED).is_file():
        for line in (job.folder / FAILED).read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                one = json.loads(line)
                found[one["key"]] = one["problem"]
    return found


def _answer(model: Model, call: Request[str], one: Asked, repeat: int, found: Entry | str | None) -> Answer:
    """One row per call, from the journal alone: the same replies give the same rows."""
    system = model.config
    said: dict[str, Any]
    if found is None:
        raise ExternalFailure(f"{system.name}: {one.name} was not asked; run again to go on")
    if isinstance(found, Entry):
        said = {
            "reply": found.text,
            "finish_reason": found.finish_reason,
            "tokens_in": found.prompt_tokens,
            "tokens_out": found.completion_tokens,
        }
    elif any(word in found.casefold() for word in FILTERED):
        said = {"finish_reason": "content_filter"}
    else:
        said = {"error": found}
    return Answer(
        **{name: getattr(one.question, name) for name in AskedItem.model_fields},
        **said,
        model=system.name,
        revision=model.revision,
        prompt=one.template,
        prompt_version=one.template_version,
        variant=one.wording,
        repeat=repeat,
        sampling=system.sampling.model_copy(update={"max_tokens": call.max_tokens}),
        prompt_digest=sha256(one.whole.encode()),
    )


def _who(entries: Iterable[Entry | None]) -> Counter[Served]:
    """Replies of each model that the server named."""
    return Counter(Served(one.response_model, one.system_fingerprint) for one in entries if one is not None)


def write_account(job: Job, revision: str, ran: Ran, who: Mapping[Served, int]) -> None:
    """What no table holds, as it may differ from run to run: times, costs, versions, who answered."""
    said = {
        "suite": job.suite.model_dump(mode="json"),
        "system": job.system.model_dump(mode="json"),
        "revision": revision,
        "questions": sizes(job.asked),
        "digests": dict(sorted({one.question.release: one.question.digest for one in job.asked}.items())),
        "versions": {"mihakk": version("mihakk")},
        "calls": ran.calls.asked,
        "answered_by": [
            {"model": one.model, "system_fingerprint": one.fingerprint, "replies": who[one]}
            for one in sorted(who)
        ],
        "spent": round(ran.calls.spent, 6),
        "seconds": round(ran.calls.seconds, 3),
        "counts": dict(sorted(ran.counts.items())),
    }
    text = json.dumps(said, ensure_ascii=False, indent=2) + "\n"
    (job.folder / "run.json").write_text(text, encoding="utf-8")
