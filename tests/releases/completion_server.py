"""A completions server with a real, small language model: trigrams of bytes, counted on a text given.

It answers `/v1/completions` as OpenAI's and vLLM's servers do, prompts as text or token ids, `echo` and
`logprobs` with one number per token of the prompt, so that harnesses can compare likelihoods.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from pathlib import Path
from typing import Any

from tests.servers import answering

BYTES = 256
END = 256
"""Token that ends a text."""


class Trigrams:
    """P(byte | two bytes before), smoothed over the shorter contexts (weights 0.7, 0.25, 0.05 uniform)."""

    def __init__(self, text: str) -> None:
        data = text.encode()
        self.counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for place, byte in enumerate(data):
            for length in (1, 2):
                if place >= length:
                    self.counts[tuple(data[place - length : place])][byte] += 1

    def probabilities(self, before: Sequence[int]) -> list[float]:
        """Of every byte after some bytes; they sum to 1."""
        shares = [0.0] * BYTES
        left = 1.0
        for length, weight in ((2, 0.7), (1, 0.25)):
            seen = self.counts.get(tuple(before[-length:])) if len(before) >= length else None
            if seen:
                left -= weight
                total = sum(seen.values())
                for byte, count in seen.items():
                    shares[byte] += weight * count / total
        return [share + left / BYTES for share in shares]

    def loglikelihood(self, context: str, continuation: str) -> float:
        """log P of the continuation's bytes one after another."""
        tokens, start = list((context + continuation).encode()), len(context.encode())
        return sum(
            log(self.probabilities(tokens[:place])[tokens[place]]) for place in range(start, len(tokens))
        )

    def generate(self, prompt: Sequence[int], most: int, stops: Sequence[str]) -> list[int]:
        """The likeliest bytes, until one of the stops is complete."""
        made: list[int] = []
        while len(made) < most:
            shares = self.probabilities([*prompt, *made])
            made.append(shares.index(max(shares)))
            if any(stop and bytes(made).endswith(stop.encode()) for stop in stops):
                break
        return made


class CompletionServer:
    """Serves a model on loopback."""

    def __init__(self, model: Trigrams) -> None:
        self.model = model
        self.asked: list[dict[str, Any]] = []
        self.served = ""
        """Model that answers, where it is another than the one asked for."""
        handler = type("OwnHandler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/completions"

    @contextmanager
    def running(self) -> Iterator[CompletionServer]:
        """Serve while the context lasts."""
        with answering(self._server):
            yield self

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to one request."""
        self.asked.append(body)
        prompts = body["prompt"]
        if isinstance(prompts, str) or (prompts and isinstance(prompts[0], int)):
            prompts = [prompts]
        choices = [self._choice(place, prompt, body) for place, prompt in enumerate(prompts)]
        return {
            "id": "1",
            "object": "text_completion",
            "model": self.served or body["model"],
            "choices": choices,
        }

    def _choice(self, place: int, prompt: str | list[int], body: dict[str, Any]) -> dict[str, Any]:
        tokens = list(prompt.encode()) if isinstance(prompt, str) else prompt
        stops = body.get("stop") or []
        made = self.model.generate(
            tokens, body.get("max_tokens", 16), [stops] if isinstance(stops, str) else stops
        )
        shown = [*tokens, *made] if body.get("echo") else made
        text = bytes(token for token in shown if token < BYTES).decode(errors="replace")
        for stop in [] if body.get("echo") or isinstance(stops, str) else stops:
            text = text.split(stop)[0] if stop else text
        choice: dict[str, Any] = {"index": place, "text": text, "finish_reason": "length", "logprobs": None}
        if body.get("logprobs"):
            choice["logprobs"] = self._logprobs(tokens, made, echo=bool(body.get("echo")))
        return choice

    def _logprobs(self, tokens: list[int], made: list[int], *, echo: bool) -> dict[str, Any]:
        every = [*tokens, *made]
        first = 0 if echo else len(tokens)
        own: list[float | None] = []
        top: list[dict[str, float] | None] = []
        for place in range(first, len(every)):
            if place == 0:  # nothing stands before the first token, so it has no likelihood
                own.append(None)
                top.append(None)
                continue
            shares = self.model.probabilities(every[:place])
            best = shares.index(max(shares))
            given = every[place]
            own.append(log(shares[given]) if given < BYTES else log(1e-9))
            top.append({f"<{best}>": log(shares[best])})
        return {
            "tokens": [f"<{token}>" for token in every[first:]],
            "token_logprobs": own,
            "top_logprobs": top,
            "text_offset": list(range(len(own))),
        }


class _Handler(BaseHTTPRequestHandler):
    owner: CompletionServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps(self.owner.answer(body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def do_GET(self) -> None:
        """No tokenizer is served: the harness brings its own."""
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def save_byte_tokenizer(folder: Path) -> Path:
    """A tokenizer for `transformers` whose tokens are the bytes, each under its own number."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(BYTES) if byte not in printable]
    vocabulary = {chr(byte): byte for byte in printable} | {
        chr(256 + n): byte for n, byte in enumerate(others)
    }
    assert vocabulary.keys() == set(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={**vocabulary, "<end>": END}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    return folder
