"""A model as the pipeline sees it: a config in, checked replies out, every answered call in a journal."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.budget import BudgetSpent, Meter
from mihakk.machinery.llm.client import Client, Completion, Refused, TimedOut
from mihakk.machinery.llm.endpoint import Stop, bare
from mihakk.machinery.llm.journal import Entry, Journal, now
from mihakk.machinery.llm.server import ChildServer, Server, VllmServer
from mihakk.machinery.llm.structured import Reply, Request, compact, conversation
from mihakk.machinery.llm.weights import catalogue, revision
from mihakk.machinery.settings import Settings, settings
from mihakk.schemas.model import Embedded, ModelConfig, Remote, Vllm

T = TypeVar("T")
EMBEDDED = "embedded-1"
"""Version of how the embedded server decodes; raised when a change there could change replies."""
GRACE_SECONDS = 30.0
"""How long calls already sent may still be answered, and kept, after a run has failed."""


class Served(NamedTuple):
    """What a server says of who answered; both are empty where it says nothing."""

    model: str
    fingerprint: str


class Model:
    """One model, asked over HTTP wherever it runs.

    Nothing starts before the first call that the journal can't answer: a rebuild from recorded replies needs
    neither weights in memory nor a server. Safe to use from several threads; use `open_model`.
    """

    def __init__(
        self, config: ModelConfig, store: Settings, share: int = 1, meter: Meter | None = None
    ) -> None:
        self.config = config
        self.revision = config.revision
        """Identifies the weights; part of every key."""
        self.meter = meter or Meter(config)
        """Counts and caps what the journal can't answer."""
        if isinstance(config.serve, Embedded):
            _check_family(config, config.serve.weights)
        if not self.revision and isinstance(config.serve, Embedded):
            self.revision = f"{EMBEDDED}:{revision(config.serve.weights)}"
        self._store = store
        self._share = share
        self._api_key = needed_key(config)
        self._server: ChildServer | None = None
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._in_flight: dict[str, asyncio.Task[Entry]] = {}
        self._start_up = asyncio.Lock()
        self._refusals = 0

    @property
    def running(self) -> bool:
        """A call has been needed: the client, and the embedded server if there is one, are up."""
        return self._client is not None

    def ask_all(
        self, requests: Iterable[Request[T]], journal: Journal, *, ordered: bool = True
    ) -> Generator[Reply[T], None, None]:
        """Replies in the order of the requests, or as they come.

        The first requests are sent at once, so that models asked one beside the other work side by side. More
        are drawn as slots fall free, so a stream of any length takes constant memory. In their order a slow
        reply holds up the requests behind it, so who needs no order should not ask for one.

        Raises:
            ExternalFailure: The server failed for good or a budget is spent. Calls already sent are waited
                for and journaled, so running again goes on where this stopped.
            UsageError: The key or the model's name is not accepted.
        """
        replies = self._replies(requests, journal, ordered=ordered)
        next(replies)  # begun, so that closing it waits for what was sent, even before its first reply
        return cast("Generator[Reply[T], None, None]", replies)

    def _replies(
        self, requests: Iterable[Request[T]], journal: Journal, *, ordered: bool
    ) -> Generator[Reply[T] | None, None, None]:
        """None as soon as the first requests are sent, then what `ask_all` gives."""
        loop = self._running_loop()
        stop = Stop()
        serve = self.config.serve
        endpoints = len(serve.endpoints) if isinstance(serve, Remote) else 1
        # Beyond those that are sent few wait: each tries a server that has died for itself.
        window = (8 if ordered else 3) * self.config.limits.concurrency * endpoints // 2
        pending: deque[Future[Reply[T]]] = deque()
        source = iter(requests)

        def send() -> None:
            for request in islice(source, window - len(pending)):
                pending.append(asyncio.run_coroutine_threadsafe(self._ask(request, journal, stop), loop))

        try:
            send()
            yield None
            while True:
                send()
                if not pending:
                    return
                first = pending[0] if ordered else wait(pending, return_when=FIRST_COMPLETED).done.pop()
                yield first.result()
                pending.remove(first)
        except (KeyboardInterrupt, GeneratorExit) as stopped:
            # Whoever interrupts one model's replies has those of the others closed.
            if isinstance(stopped, KeyboardInterrupt) or isinstance(stopped.__context__, KeyboardInterrupt):
                for future in pending:
                    future.cancel()
            raise
        finally:
            self._drain(loop, stop, pending)

    def key(self, request: Request[Any]) -> str:
        """Journal key of a request's first call."""
        return next(conversation(self.config, self.revision, request))[0]

    def known(self, key: str, journal: Journal) -> Entry | None:
        """This model's journaled reply to a call; one that another model gave does not count."""
        return journal.get(key, self.config.names)

    def outstanding(self, request: Request[Any], journal: Journal) -> tuple[str, dict[str, Any]] | None:
        """Key and payload of the next call that a request needs; None when the journal answers it all."""
        calls = conversation(self.config, self.revision, request)
        try:
            key, body = next(calls)
            while (entry := self.known(key, journal)) is not None:
                key, body = calls.send(entry)
        except StopIteration:
            return None
        return key, body

    def accept(self, key: str, completion: Completion, request: Request[Any], journal: Journal) -> None:
        """Takes an answer that came by another way than the API, such as a batch file.

        Raises:
            ExternalFailure: Another model answered than the config names.
        """
        entry = self._entry(key, completion, request)
        self.meter.book(completion)
        journal.append(entry)
        _require_own(self.config, entry.response_model)

    def served(self) -> Served:
        """Who answers: asks for one token, for programs that call the server and keep no word of it on that.

        Raises:
            ExternalFailure: Another model answers than the config's, or none.
            UsageError: The key or the model's name is not accepted.
        """

        async def ask() -> Completion:
            body = {"model": self.config.model, "prompt": "1", "max_tokens": 1}
            return await (await self._started_client()).complete(body, Stop(), self.meter, "completions")

        try:
            answer = asyncio.run_coroutine_threadsafe(ask(), self._running_loop()).result()
        except Refused as refusal:
            raise UsageError(f"{self.config.name} gives no completions: {refusal}") from None
        _require_own(self.config, answer.response_model)
        return Served(answer.response_model, answer.system_fingerprint)

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text by the server's own tokeniser; None where it offers none."""

        async def count() -> list[int] | None:
            client = await self._started_client()
            counts = [await client.tokens(self.config.model, text) for text in texts]
            found = [n for n in counts if n is not None]
            return found if len(found) == len(counts) else None

        return asyncio.run_coroutine_threadsafe(count(), self._running_loop()).result()

    def close(self) -> None:
        """Ends connections, thread and embedded server; safe to call twice."""
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._shut(), loop).result(timeout=30)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=10)
            loop.close()
        self._loop = self._thread = self._client = None
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _ask(self, request: Request[T], journal: Journal, stop: Stop) -> Reply[T]:
        keys: list[str] = []
        calls = conversation(self.config, self.revision, request)
        try:
            key, body = next(calls)
            while True:
                keys.append(key)
                key, body = calls.send(await self._answer(key, body, request, journal, stop))
        except StopIteration as end:
            reply: Reply[T] = end.value
        except (Refused, TimedOut) as failure:
            reply = Reply(request.tag, keys[-1], None, str(failure), len(keys) > 1)
        if reply.value is None:
            journal.mark_unusable(keys, request.tag, reply.problem, self.config.names)
        return reply

    async def _answer(
        self, key: str, body: dict[str, Any], request: Request[Any], journal: Journal, stop: Stop
    ) -> Entry:
        """The journaled answer to one payload; equal payloads in flight are asked once."""
        if (known := self.known(key, journal)) is not None:
            return known
        if key not in self._in_flight:
            task = asyncio.ensure_future(self._call(key, body, request, journal, stop))
            self._in_flight[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(self._in_flight[key])

    def _landed(self, key: str, task: asyncio.Task[Entry]) -> None:
        self._in_flight.pop(key, None)
        if not task.cancelled():
            task.exception()  # seen, even when everybody who asked has gone

    async def _call(
        self, key: str, body: dict[str, Any], request: Request[Any], journal: Journal, stop: Stop
    ) -> Entry:
        client = await self._started_client()
        sent = compact(body) if isinstance(self.config.serve, Embedded) else body
        try:
            completion = await client.complete(sent, stop, self.meter)
            entry = self._entry(key, completion, request)
        except Refused as refusal:
            self._refusals += 1
            if client.answered == 0 and self._refusals >= 5:
                raise UsageError(
                    f"{self.config.name} refuses every request: {refusal}. Correct the model's config"
                ) from None
            raise
        except BudgetSpent:
            raise  # calls that it still allowed are waited for
        except ExternalFailure as failure:
            # Whoever waits in line would only find the same server dead, one probe after the other.
            self._halt(stop, failure)
            raise
        try:
            journal.append(entry)
            _require_own(self.config, entry.response_model)
        except ExternalFailure as failure:
            # The disk is full or another model answers: what is sent from now on would be paid and lost.
            self._halt(stop, failure)
            raise
        return entry

    def _entry(self, key: str, completion: Completion, request: Request[Any]) -> Entry:
        return Entry(
            key=key,
            model=self.config.model,
            revision=self.revision,
            text=completion.text,
            finish_reason=completion.finish_reason,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cached_tokens=completion.cached_tokens,
            latency=round(completion.latency, 4),
            at=now(),
            response_model=completion.response_model,
            system_fingerprint=completion.system_fingerprint,
            meta={
                **request.meta,
                "name": self.config.name,
                "sampling": self.config.sampling.model_dump(mode="json"),
            },
        )

    async def _shut(self) -> None:
        """Ends what an interrupted run left behind in the loop."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name=f"model {self.config.name}", daemon=True
                )
                self._thread.start()
            return self._loop

    async def _started_client(self) -> Client:
        """The client, started by the first call; calls that waited for it go on in their order."""
        # A lock wakes those who wait one after the other, and whoever comes meanwhile queues behind them.
        async with self._start_up:
            if self._client is None:
                await asyncio.shield(asyncio.to_thread(self._start))
        assert self._client is not None
        return self._client

    def _start(self) -> None:
        with self._starting:
            if self._client is not None:
                return
            serve = self.config.serve
            if isinstance(serve, Remote):
                self._client = Client(self.config.name, serve.endpoints, self._api_key, self.config.limits)
            else:
                self._server = (
                    VllmServer(self.config.model, serve)
                    if isinstance(serve, Vllm)
                    else Server(self.config.model, serve, self._store.cache, self._share)
                )
                urls, alive = (self._server.endpoint,), self._server.check
                self._client = Client(self.config.name, urls, "", self.config.limits, alive)

    def _drain(self, loop: asyncio.AbstractEventLoop, stop: Stop, pending: deque[Future[Any]]) -> None:
        """Lets calls that were already sent be answered and journaled; the others are never sent."""
        if not pending:
            return
        reason = ExternalFailure("stopped because an earlier call failed")
        loop.call_soon_threadsafe(self._halt, stop, reason)
        deadline = time.monotonic() + GRACE_SECONDS
        for future in pending:
            with suppress(Exception):
                future.result(timeout=max(0.0, deadline - time.monotonic()))
            future.cancel()

    def _halt(self, stop: Stop, reason: ExternalFailure) -> None:
        stop.set(reason)
        if self._client is not None:
            self._client.dispatcher.wake(everybody=True)


@contextmanager
def open_model(
    config: ModelConfig, store: Settings | None = None, share: int = 1, meter: Meter | None = None
) -> Iterator[Model]:
    """A model for the length of a `with` block, one of `share` embedded ones that run at the same time.

    Without a meter its requests are in no benchmark's ledger.
    """
    model = Model(config, store or settings(), share, meter)
    try:
        yield model
    finally:
        model.close()


def _check_family(config: ModelConfig, weights: str) -> None:
    known = catalogue().get(weights)
    if known is not None and known.family != config.family.casefold():
        raise UsageError(
            f"{config.name}: the weights {weights!r} are of the family {known.family!r}, "
            f"not {config.family!r}; correct `family`, for two auditors must differ in it"
        )


def _require_own(asked: ModelConfig, answered: str) -> None:
    """Compares the model that answered, as the server names it, with the one asked for.

    Raises:
        ExternalFailure: The server names another than the config does.
    """
    if not answered or answered in asked.names:
        return
    line = json.dumps([*asked.served_as, answered], ensure_ascii=False)
    raise ExternalFailure(
        f"{asked.name}: asked for the model {asked.model!r}, but {answered!r} answered. If that is the "
        f"same model, write `served_as: {line}` beside `model: {asked.model}` in "
        f"{asked.file or 'its config'} and run again: the replies are kept. If not, correct `model` "
        "there or the server: replies of another model are never used"
    )


def api_key(config: ModelConfig) -> str:
    """The key from the environment; empty where none is named or set."""
    serve = config.serve
    return os.environ.get(serve.api_key_env, "") if isinstance(serve, Remote) and serve.api_key_env else ""


def needed_key(config: ModelConfig) -> str:
    """The key from the environment; an address that carries one would end up in logs and is refused."""
    for url in config.serve.endpoints if isinstance(config.serve, Remote) else ():
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{config.name}: an endpoint must look like http://host:8000/v1")
        if parts.username or parts.password or parts.query:
            raise UsageError(
                f"{config.name}: the endpoint {bare(url)} carries credentials; put the key into an "
                "environment variable and name that in `api_key_env`"
            )
    key = api_key(config)
    if not key and isinstance(config.serve, Remote) and config.serve.api_key_env:
        raise UsageError(
            f"{config.name} needs a key: set the environment variable {config.serve.api_key_env}"
        )
    return key
