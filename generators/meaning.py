"""How near two texts are in meaning."""

import threading

from mihakk.machinery.embeddings import Embedder, open_embedder


class Meaning:
    """Similarity by the embeddings a config names, opened when first asked for.

    Args:
        spec: As in `BenchmarkConfig.embeddings`; `none` knows no similarity.
        embedder: Used instead of the one the spec names.
    """

    def __init__(self, spec: str = "none", embedder: Embedder | None = None) -> None:
        self._spec = spec
        self._embedder = embedder
        self._lock = threading.Lock()

    def similarity(self, one: str, other: str) -> float | None:
        """Cosine of the two texts' vectors, -1 to 1; None without embeddings."""
        with self._lock:
            if self._embedder is None:
                self._embedder = open_embedder(self._spec)
            if self._embedder is None:
                return None
            first, second = self._embedder.encode([one, other])
        return float(first @ second)
