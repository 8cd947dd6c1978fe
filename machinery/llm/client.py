"""Asks one model over the OpenAI-compatible API: bounded, balanced, patient and within its budget.

Plain aiohttp: with journal and checks a call costs half a millisecond of CPU, where the openai package alone
costs nearly two (`performance/audit_client.py`), and every attempt stays visible to budget and circuit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from mihakk.machinery.errors import ExternalFailure, MihakkError, UsageError
from mihakk.machinery.llm.budget import Bill, Meter
from mihakk.machinery.llm.endpoint import Dispatcher, Endpoint, Stop, backoff, bare
from mihakk.machinery.llm.redaction import Redaction
from mihakk.schemas.model import Limits

if TYPE_CHECKING:
    from aiohttp import ClientSession

AGAIN = frozenset({408, 409, 425, 429})
"""Statuses besides 5xx after which the same call may succeed."""
OURS = {401: "the key is not accepted", 403: "the key may not use it", 404: "no such model or path"}
"""Statuses that only a change of config can fix."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts that are never asked through a proxy of the environment."""
LONGEST_REPLY = 4 << 20
"""Bytes after which a reply counts as endless."""
LONGEST_WAIT = 900.0
"""A server that asks for a longer pause than this ends the run, resumably."""


class Refused(MihakkError):
    """The server won't take this one request (400, 413, 422), e.g. because it is too long."""


class TimedOut(MihakkError):
    """This one request was never answered in time, though others were."""


@dataclass(frozen=True)
class Completion:
    """What came back from one call."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    latency: float
    """Seconds."""
    response_model: str = ""
    """The model that answered, as the server names it; empty where it names none."""
    system_fingerprint: str = ""
    """The server's word for weights and settings together; empty where it gives none."""

    def without_key(self, redaction: Redaction) -> Completion:
        """The same without the key: journals keep replies for good, and servers may repeat what they got."""
        text, reason, model, fingerprint = redaction.clean_all(
            self.text, self.finish_reason, self.response_model, self.system_fingerprint
        )
        return replace(
            self, text=text, finish_reason=reason, response_model=model, system_fingerprint=fingerprint
        )


class _Again(Exception):
    """The attempt failed in a way that may pass."""

    def __init__(self, problem: str, timed_out: bool = False) -> None:
        super().__init__(problem)
        self.timed_out = timed_out


class Client:
    """Sends payloads to the endpoints of one model, in one event loop.

    A failure that may pass is retried with backoff; others end in `ExternalFailure` (the run can resume),
    `UsageError` (config), or `Refused` and `TimedOut` (this call alone). The key is sent as bearer token and
    never shown; `alive`, asked after a dropped connection, raises when the server is known to be dead.
    """

    def __init__(
        self,
        name: str,
        urls: Sequence[str],
        api_key: str,
        limits: Limits,
        alive: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.answered = 0
        """Calls that were answered so far."""
        self.dispatcher = Dispatcher(urls, limits.concurrency)
        self._limits = limits
        self._alive = alive
        self._key = api_key
        self._redaction = Redaction(api_key)
        self._opened: ClientSession | None = None

    async def complete(
        self, payload: dict[str, Any], stop: Stop, meter: Meter, path: str = "chat/completions"
    ) -> Completion:
        """The reply to one payload; one call of the API per attempt."""
        answered_before = self.answered
        for attempt in range(1, self._limits.attempts + 1):
            endpoint = await self.dispatcher.acquire(stop)
            try:
                bill = await meter.request(payload, stop)
                with bill.settled():
                    return await self._attempt(endpoint, payload, path, bill)
            except _Again as failure:
                problem, timed_out = str(failure), failure.timed_out
            finally:
                self.dispatcher.release(endpoint)
            if not self.answered and self.dispatcher.hopeless():
                raise ExternalFailure(
                    f"{self.name} never answered; last error: {problem}. "
                    "Start it, or correct `serve.endpoints` in the auditors' config, and run again"
                )
            if attempt < self._limits.attempts and not self.dispatcher.other(endpoint):
                await stop.sleep(backoff(attempt))
        if timed_out and self.answered > answered_before:
            raise TimedOut(f"no reply in {self._limits.attempts} attempts: {problem}")
        raise ExternalFailure(
            f"{self.name} did not answer in {self._limits.attempts} attempts, last: {problem}. "
            "Answered calls are kept; run again when the server is healthy"
        )

    async def tokens(self, model: str, text: str) -> int | None:
        """Tokens of a text by the server's own tokeniser; None where it offers none."""
        import aiohttp

        url = self.dispatcher.endpoints[0].url
        root = url.rstrip("/").removesuffix("/v1")
        body = {"model": model, "content": text, "prompt": text}
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                status, _, answer = await self._post(f"{root}/tokenize", body)
            found = orjson.loads(answer).get("tokens") if status == 200 else None
        except (aiohttp.ClientError, OSError, TimeoutError, Broken, ValueError, AttributeError):
            return None
        return len(found) if isinstance(found, list) else None

    async def close(self) -> None:
        """Closes all connections."""
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    def _session(self) -> ClientSession:
        """One pool of connections, opened inside the loop that uses it."""
        if self._opened is None:
            import aiohttp

            local = all(urlsplit(e.url).hostname in LOOPBACK for e in self.dispatcher.endpoints)
            self._opened = aiohttp.ClientSession(
                # vLLM closes idle connections after 5 s: reusing one at that moment would cost a retry.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4),
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=not local,
            )
        return self._opened

    async def _attempt(
        self, endpoint: Endpoint, payload: dict[str, Any], path: str, bill: Bill
    ) -> Completion:
        import aiohttp

        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                status, headers, body = await self._post(f"{endpoint.url.rstrip('/')}/{path}", payload)
            if status != 200:
                bill.refused()
                raise self._status(status, headers, body, endpoint, started)
            answer = completion(body, loop.time() - started)
        except TimeoutError:
            endpoint.failed(started, loop.time())
            raise _Again(f"no answer within {self._limits.timeout_seconds:g} s", timed_out=True) from None
        except (aiohttp.ClientError, OSError, Broken) as error:
            if isinstance(error, aiohttp.ClientConnectorError):
                bill.refused()
            endpoint.failed(started, loop.time())
            if self._alive is not None:
                self._alive()
            raise _Again(self._clean(f"{bare(endpoint.url)}: {error or type(error).__name__}")) from None
        endpoint.succeeded()
        self.answered += 1
        bill.answered(answer)
        return answer.without_key(self._redaction)

    async def _post(self, url: str, payload: dict[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; the body is read as it comes, so that an endless one is noticed."""
        body = bytearray()
        headers = {"Content-Type": "application/json"}
        async with self._session().post(url, data=orjson.dumps(payload), headers=headers) as response:
            async for block in response.content.iter_any():
                body += block
                if len(body) > LONGEST_REPLY:
                    raise Broken(f"a reply of more than {LONGEST_REPLY >> 20} MB")
            return response.status, response.headers, bytes(body)

    def _status(
        self, status: int, headers: Mapping[str, str], body: bytes, endpoint: Endpoint, started: float
    ) -> Exception:
        """What an error status means: try again, fix the config, or give up this one call."""
        now = asyncio.get_running_loop().time()
        where = f"{bare(endpoint.url)} answered {status}"
        said = self._clean(body.decode("utf-8", "replace"))[:300]
        if status in OURS:
            return UsageError(f"{self.name}: {where} ({OURS[status]}): {said}. Correct the model's config")
        if status < 500 and status not in AGAIN:
            return Refused(f"{where}: {said}")
        wait = _retry_after(headers)
        if wait is not None and wait > LONGEST_WAIT:
            return ExternalFailure(f"{self.name}: {where} and asks to wait {wait:.0f} s; run again then")
        if status == 429:
            endpoint.slowed(started, now, wait if wait is not None else backoff(1))
        else:
            endpoint.failed(started, now)
            if wait is not None:
                endpoint.opens_at = max(endpoint.opens_at, now + wait)
        return _Again(f"{where}: {said}")

    def _clean(self, message: str) -> str:
        """The message on one line and without the key, which some servers repeat."""
        return self._redaction.clean(" ".join(message.split()))


class Broken(Exception):
    """A reply with status 200 that is no chat completion."""


def completion(body: bytes, latency: float) -> Completion:
    """A completion as servers send it, of a chat or of plain text.

    Raises:
        Broken: The body is none.
    """
    try:
        reply = orjson.loads(body)
        choice = reply["choices"][0]
        text = choice["message"].get("content") if "message" in choice else choice["text"]
        usage = reply.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        return Completion(
            text=_text(text),
            finish_reason=str(choice.get("finish_reason") or ""),
            prompt_tokens=_tokens(usage.get("prompt_tokens")),
            completion_tokens=_tokens(usage.get("completion_tokens")),
            cached_tokens=_tokens(details.get("cached_tokens")),
            latency=latency,
            response_model=_text(reply.get("model")),
            system_fingerprint=_text(reply.get("system_fingerprint")),
        )
    except (ValueError, OverflowError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise Broken(f"a reply that is no chat completion ({type(error).__name__})") from error


def _tokens(value: Any) -> int:
    """A count that a journal can hold; none counts as 0."""
    count = int(value or 0)
    if not 0 <= count < 2**53:
        raise ValueError(f"{count} tokens")
    return count


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to wait, from `retry-after-ms` or `Retry-After` (seconds or a date)."""
    with suppress(ValueError):
        return max(0.0, float(headers.get("retry-after-ms", "")) / 1000)
    value = headers.get("Retry-After")
    if value is None:
        return None
    with suppress(ValueError):
        return max(0.0, float(value))
    with suppress(TypeError, ValueError):
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    return None
