"""A suite over one system: plan, calls, stored answers, scores."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.rows import write_rows
from evaluation.running.asking import Asked, questions_of, reply_tokens, sizes
from evaluation.running.channel import Channel, chat_of, filtered
from evaluation.running.earlier import keep_earlier
from evaluation.scoring import DEFAULT, metrics_named, score_file
from mihakk.errors import ExternalFailure
from mihakk.ids import digest, sha256
from mihakk.llm.budget import LETTERS_A_TOKEN
from mihakk.llm.chat import Chat
from mihakk.llm.journal import Entry, Journal
from mihakk.llm.model import Served, open_model
from mihakk.settings import Settings
from schemas.evaluation import Answer, AskedItem, Method
from schemas.suite import Suite, System


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
    system = job.system
    with Journal(job.out / "journal", system.name) as journal, open_model(system, job.store) as model:
        asked = [(chat, model.known(model.chat_key(chat), journal)) for chat, _, _ in _calls(job)]
    open_ = [chat for chat, known in asked if known is None]
    prompts = sum(len(chat.messages[0]["content"]) // LETTERS_A_TOKEN for chat in open_)
    replies = sum(chat.max_tokens for chat in open_)
    return planned(system, len(asked), len(asked) - len(open_), prompts, replies)


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
    from evaluation.running.tasks import run_tasks

    began = time.monotonic()
    job.folder.mkdir(parents=True, exist_ok=True)
    with _channel(job, answered) as channel:
        metrics = metrics_named(job.suite.metrics or DEFAULT)
        run_tasks(job.suite, job.asked, channel, metrics, _logs(job))
        return Calls(channel.budget.asked, channel.budget.spent, time.monotonic() - began)


def store_answers(job: Job, calls: Calls) -> Ran:
    """Writes answers and scores from the journal alone: the same replies give the same bytes.

    Raises:
        ExternalFailure: A question was not asked yet.
    """
    with _channel(job) as channel:
        made = _calls(job)
        rows = [_answer(chat, one, repeat, channel) for chat, one, repeat in made]
        entries = [_entry(chat, channel) for chat, _, _ in made]
        revision = channel.model.revision
    write_rows(job.folder / "answers.parquet", rows, Answer)
    ran = Ran(score_answers_of(job), calls)
    write_account(job, revision, ran, _who(entries))
    return ran


def score_answers_of(job: Job) -> Counter[str]:
    """Scores the stored answers by the suite's metrics; scores on an older version are kept beside."""
    versions = {one.question.release: one.question.version for one in job.asked}
    keep_earlier(job.folder / "scores.parquet", versions)
    return score_file(
        job.folder / "answers.parquet",
        questions_of(job.asked),
        metrics_named(job.suite.metrics or DEFAULT),
        job.folder / "scores.parquet",
    )


@contextmanager
def _channel(job: Job, answered: Callable[[], None] = lambda: None) -> Iterator[Channel]:
    with (
        Journal(job.out / "journal", job.system.name) as journal,
        open_model(job.system, job.store) as model,
    ):
        failures = job.folder / "failed.jsonl"
        yield Channel(
            job.system, model, journal, failures=failures, limits=job.suite.limits, answered=answered
        )


def _calls(job: Job) -> list[tuple[Chat, Asked, int]]:
    """Every call in order, with its question and repeat, exactly as the provider sends it."""
    return [
        (
            chat_of([("user", one.prompt)], reply_tokens(job.suite, job.system, one.question.kind), repeat),
            one,
            repeat,
        )
        for one in job.asked
        for repeat in range(one.repeats)
    ]


def _entry(chat: Chat, channel: Channel) -> Entry | None:
    return channel.model.known(channel.model.chat_key(chat), channel.journal)


def _answer(chat: Chat, one: Asked, repeat: int, channel: Channel) -> Answer:
    """One row per call, from the journal alone: the same replies give the same rows."""
    model, system = channel.model, channel.system
    key = model.chat_key(chat)
    entry, problem = _entry(chat, channel), channel.failure(key)
    if entry is None and problem is None:
        raise ExternalFailure(f"{system.name}: {one.name} was not asked; run again to go on")
    said: dict[str, Any]
    if entry is not None:
        said = {
            "reply": entry.text,
            "finish_reason": entry.finish_reason,
            "tokens_in": entry.prompt_tokens,
            "tokens_out": entry.completion_tokens,
        }
    elif filtered(problem or ""):
        said = {"finish_reason": "content_filter"}
    else:
        said = {"error": problem}
    facts = {name: getattr(one.question, name) for name in AskedItem.model_fields}
    return Answer(
        **facts,
        **said,
        model=system.name,
        revision=model.revision,
        prompt=one.template,
        prompt_version=one.template_version,
        variant=one.wording,
        repeat=repeat,
        sampling=system.sampling.model_copy(update={"max_tokens": chat.max_tokens}),
        prompt_digest=sha256(one.prompt.encode()),
    )


def _logs(job: Job) -> Path:
    """Folder of Inspect's logs: one per set of questions, as a changed set is another one to Inspect."""
    content = [(one.name, one.prompt, one.repeats) for one in job.asked]
    system = job.system.model_dump(mode="json", exclude={"serve", "limits"})
    return job.folder / "inspect" / digest([job.suite.name, content, system])[:12]


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
        "versions": {name: version(name) for name in ("inspect-ai", "mihakk")},
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
