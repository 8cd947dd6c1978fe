"""The embedding model of a build, opened once per process that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mihakk.pipeline.step import prepared

if TYPE_CHECKING:
    from mihakk.machinery.embeddings import Embedder


class OpenedEmbedder(NamedTuple):
    """Opens a model when called; small enough to send to a worker."""

    model: str
    """As the config names it, and not `none`."""

    def __call__(self) -> Embedder:
        from mihakk.machinery.embeddings import open_embedder

        embedder = prepared("embedder", self.model, lambda: open_embedder(self.model))
        assert embedder is not None, "only asked for where the config names a model"
        return embedder
