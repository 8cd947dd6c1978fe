"""Sentence vectors from a server that speaks the OpenAI-compatible API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.client import AGAIN, LOOPBACK
from mihakk.machinery.llm.redaction import Redaction
from mihakk.machinery.settings import settings

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import Embedding

SECONDS = 120.0
RETRIES = 4
"""Of a batch while the server is busy or away."""


class EmbeddingEndpoint:
    """`/embeddings` below a base URL such as `http://gpu1:8000/v1`, asked through the openai package."""

    def __init__(self, url: str, model: str, served_as: str = "") -> None:
        self.name = f"openai:{url}#{model}"
        self._served_as = served_as
        self._url = url.rstrip("/")
        self._model = model
        self._client: OpenAI | None = None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length per text, in order.

        Raises:
            UsageError: The server refuses key, model or request.
            ExternalFailure: It can't be reached, or answers with something else than one vector per text.
        """
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        try:
            ordered = sorted(self._ask(texts), key=lambda row: int(row.index))
            rows = np.array([row.embedding for row in ordered], dtype=np.float32)
        except (AttributeError, TypeError, ValueError) as error:
            said = self._redaction().clean(str(error))
            raise ExternalFailure(f"{self._url} answers in a format other than the API's: {said}") from None
        if (
            rows.ndim != 2
            or len(rows) != len(texts)
            or not np.all(np.isfinite(rows))
            or not rows.any(axis=1).all()
        ):
            raise ExternalFailure(
                f"{self._url} did not send one usable vector for each of {len(texts)} texts; "
                "check the model that `embeddings` names"
            )
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _ask(self, texts: Sequence[str]) -> Sequence[Embedding]:
        import openai

        redaction = self._redaction()
        try:
            reply = self._open().embeddings.create(
                model=self._model, input=list(texts), encoding_format="float"
            )
        except openai.APIStatusError as error:
            code = error.status_code
            if code >= 500 or code in AGAIN:
                raise ExternalFailure(f"{self._url} answers {code}") from None
            remedy = (
                "set MIHAKK_EMBEDDINGS_KEY"
                if code in (401, 403)
                else "correct the URL and model of `embeddings`"
            )
            raise UsageError(f"{self._url} refuses {self._model!r} with {code}: {remedy}") from None
        except openai.OpenAIError as error:
            raise ExternalFailure(
                f"{self._url} gives no embeddings: {redaction.clean(str(error))}. Start it, or correct "
                "`embeddings`"
            ) from None
        answered = redaction.clean(str(reply.model or ""))
        if answered not in ("", self._model, self._served_as):
            raise ExternalFailure(
                f"{self._url}: asked for the embeddings of {self._model!r}, but {answered!r} answered. If "
                f'that is the same model, write `embeddings: "openai:{self._url}#{self._model}#{answered}"` '
                "in the benchmark's config; if not, correct the model there or the server"
            )
        return reply.data

    def _redaction(self) -> Redaction:
        key = settings().embeddings_key
        return Redaction(key.get_secret_value() if key else "")

    def _open(self) -> OpenAI:
        """The client, made when first asked: openai takes more than half a second to import."""
        import openai

        if self._client is None:
            key = settings().embeddings_key
            unset: Any = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
            self._client = openai.OpenAI(
                base_url=self._url,
                # The package insists on a key; servers that ask for none ignore it.
                api_key=key.get_secret_value() if key else "none",
                max_retries=RETRIES,
                timeout=SECONDS,
                # Whoever uses OpenAI too has these in the environment; this server has no business with them.
                default_headers=unset,
                http_client=openai.DefaultHttpxClient(trust_env=urlsplit(self._url).hostname not in LOOPBACK),
            )
        return self._client
