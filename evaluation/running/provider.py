"""The provider `mihakk/NAME` for Inspect: a system of `configs/models/`, asked through the journal."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)

from evaluation.running.channel import Channel, chat_of
from mihakk.llm.journal import Entry

CHANNELS: dict[str, Channel] = {}
"""By name of the system: Inspect makes providers by name, in this process."""
_STOPS = {"length": "max_tokens", "content_filter": "content_filter", "stop": "stop"}


class MihakkAPI(ModelAPI):  # type: ignore[misc]
    """Hands each call of Inspect's to the system's channel; retries, budgets and the journal are there."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)

    @property
    def _channel(self) -> Channel:
        # Inspect keeps providers for as long as the process lives, while each run has a channel of its own.
        return CHANNELS[self.model_name]

    def connection_key(self) -> str:
        """Each system has a pool of its own."""
        return str(self.model_name)

    def max_connections(self) -> int:
        """Calls in flight at once, over all endpoints of the system."""
        return places(self._channel)

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        """The reply, or an empty one with the reason why there is none."""
        del tools, tool_choice
        chat = chat_of(
            [(message.role, message.text) for message in input], config.max_tokens, config.seed or 0
        )
        found = await self._channel.ask(chat)
        name = self._channel.system.name
        if isinstance(found, str):
            return ModelOutput(model=name, choices=[_choice(name, "", "unknown")], error=found)
        return _output(name, found)


def places(channel: Channel) -> int:
    """Calls in flight at once."""
    serve = channel.system.serve
    return channel.system.limits.concurrency * (len(serve.endpoints) if serve.engine == "openai" else 1)


def _output(name: str, entry: Entry) -> ModelOutput:
    usage = ModelUsage(
        input_tokens=entry.prompt_tokens,
        output_tokens=entry.completion_tokens,
        total_tokens=entry.prompt_tokens + entry.completion_tokens,
        input_tokens_cache_read=entry.cached_tokens,
    )
    stop = _STOPS.get(entry.finish_reason, "unknown")
    return ModelOutput(model=name, choices=[_choice(name, entry.text, stop)], usage=usage)


def _choice(name: str, text: str, stop: str) -> ChatCompletionChoice:
    message = ChatMessageAssistant(content=text, source="generate", model=name)
    return ChatCompletionChoice(message=message, stop_reason=stop)


@modelapi(name="mihakk")  # type: ignore[untyped-decorator]
def mihakk() -> type[ModelAPI]:
    """Registers the provider."""
    return MihakkAPI
