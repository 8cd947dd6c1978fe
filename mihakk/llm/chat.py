"""Requests answered in words, as sent to systems under evaluation: no schema, no repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.model import ModelConfig

Message = dict[str, str]
"""`{"role": "system" | "user" | "assistant", "content": ...}`"""


@dataclass(frozen=True)
class Chat:
    """One request."""

    messages: Sequence[Message]
    max_tokens: int
    """Of the reply."""
    variant: int = 0
    """Added to the sampling seed: another number asks the same question anew."""
    meta: dict[str, Any] = field(default_factory=dict)
    """Kept in the journal beside the reply."""


def chat_payload(config: ModelConfig, chat: Chat) -> dict[str, Any]:
    """Body of the chat call."""
    sampling = config.sampling.model_dump(mode="json")
    return {
        "model": config.model,
        "messages": list(chat.messages),
        **sampling,
        "max_tokens": chat.max_tokens,
        "seed": sampling["seed"] + chat.variant,
    }
