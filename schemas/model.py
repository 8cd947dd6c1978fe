"""Language models as configs name them: where they run and how they are asked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, PrivateAttr, model_validator

from mihakk.schemas.record import Record


class Embedded(Record):
    """Served by this run itself on loopback from local weights."""

    engine: Literal["embedded"] = "embedded"
    weights: str
    """Name in `machinery/llm/weights.yaml`, or path of a GGUF file."""
    context: int = 4096
    """Tokens a slot holds, prompt and reply."""
    slots: int = Field(default=2, ge=1)
    threads: int = Field(default=0, ge=0)
    """0: as many as the machine has."""


class Remote(Record):
    """Any server that speaks the OpenAI-compatible API."""

    engine: Literal["openai"] = "openai"
    endpoints: tuple[str, ...] = Field(min_length=1)
    """Base URLs, e.g. `http://gpu1:8000/v1`; calls are balanced over them."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key; empty when the server asks for none."""


class Vllm(Record):
    """A vLLM server of its own environment that this run starts on loopback, and stops at its end."""

    engine: Literal["vllm"] = "vllm"
    python: str
    """Interpreter of the environment that holds vLLM, e.g. `.venv-vllm/bin/python`."""
    model: str
    """Weights, as `--model` takes them: a name on the Hub or a folder."""
    args: tuple[str, ...] = ()
    """Further switches, e.g. `[--tensor-parallel-size, "8", --max-model-len, "16384"]`."""
    start_seconds: float = Field(default=900, gt=0)
    """How long it may take until it answers."""


class Sampling(Record):
    """Decoding parameters; part of every reply's key."""

    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=700, ge=1)
    seed: int = 0


class Limits(Record):
    """How hard one endpoint may be pressed, and when to stop."""

    concurrency: int = Field(default=8, ge=1)
    """Calls in flight per endpoint."""
    timeout_seconds: float = Field(default=120, gt=0)
    attempts: int = Field(default=6, ge=1)
    """Tries per call on 408, 409, 429, 5xx, time-outs and dropped connections."""

    @model_validator(mode="before")
    @classmethod
    def _older(cls, value: Any) -> Any:
        """Leaves out `hedge`, which older configs may name: no call is sent twice any more."""
        if not isinstance(value, dict):
            return value
        for name in ("max_requests", "max_tokens"):
            if value.get(name) is not None:
                raise ValueError(
                    f"`{name}` is no limit any more: write `budget: {{calls: N}}` or `budget: {{cost: N}}` "
                    "beside `limits`, for a month and all runs"
                )
        return {k: v for k, v in value.items() if k not in ("hedge", "max_requests", "max_tokens")}


class Budget(Record):
    """Most that models may be asked and cost for one benchmark in a calendar month (UTC), over all runs.

    Reaching it stops a run resumably, before the request that could pass it.
    """

    cost: float | None = Field(default=None, ge=0)
    """In the currency of their prices."""
    calls: int | None = Field(default=None, ge=0, validation_alias=AliasChoices("calls", "requests"))
    """Requests sent, repeated tries counted. Suites of version 0.2 and before call them `requests`."""


class Price(Record):
    """What a million tokens cost: a provider's price, or a GPU hour's over what it serves in one."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Of prompt tokens that the server had in its prefix cache; as `prompt` when empty."""
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Cost of so many tokens; the cached ones are among those of the prompt."""
        cached = self.prompt if self.cached is None else self.cached
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.prompt + cached_tokens * cached + completion_tokens * self.completion) / 1e6


class Cost(Record):
    """What calls to be made would cost in one currency."""

    currency: str
    prompts: float
    """Of the prompts alone."""
    most: float
    """With every reply as long as `sampling.max_tokens` allows; repair requests come on top."""


ReplyForm = Literal["scores", "issues"]
"""What an auditor writes: ten scores and the issues, or the issues alone, from which the scores follow."""
ReplyRule = Literal["scores", "issues", "lenient", "issues_lenient"]
"""The same, and whether thoughts, code fences and words before the object are taken off a reply."""


class ModelConfig(Record):
    """One model and how to reach it."""

    name: str
    """Short name used in tables and reports."""
    family: str
    """`qwen`, `llama`, ...: two auditors must differ in it."""
    model: str
    """Model name sent to the server."""
    served_as: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Other names under which the server answers as this model, e.g. `[gpt-4o-2024-08-06]` for `gpt-4o`."""
    revision: str = ""
    """Commit or digest of the weights; part of every reply's key."""
    serve: Annotated[Embedded | Remote | Vllm, Field(discriminator="engine")]
    sampling: Sampling = Sampling()
    limits: Limits = Limits()
    reply: ReplyRule = "scores"
    """`issues` suits small local models: a reply of a few words in a quarter of the time. `lenient` (scores)
    and `issues_lenient` suit servers that can't hold a model to the bare object. Auditors alone."""
    capable: bool = False
    """Large enough to be a judge; nothing is published on the word of models that are not."""
    budget: Budget | None = Field(default=None, exclude=True)
    """Its own cap; none where left out. Left out of dumps, so that no digest or table depends on it."""
    price: Price | None = Field(default=None, exclude=True)
    """For estimates and accounts alone: left out of dumps, so that no digest or table depends on it."""

    _file: str = PrivateAttr("")

    @model_validator(mode="after")
    def _can_be_capped(self) -> ModelConfig:
        if self.budget is not None and self.budget.cost is not None and self.price is None:
            raise ValueError(f"`budget.cost` can't be kept without a price: give {self.name} a `price`")
        return self

    def model_post_init(self, context: Any, /) -> None:
        """Takes down which file it was read from, if any; error messages name it."""
        if isinstance(context, dict):
            self._file = context.get("file", "")

    @property
    def file(self) -> str:
        """The config file it was read from; empty where it came another way."""
        return self._file

    @property
    def reply_form(self) -> ReplyForm:
        """What it writes as an auditor."""
        return "issues" if self.reply.startswith("issues") else "scores"

    @property
    def lenient(self) -> bool:
        """Whether what stands around its object is taken off."""
        return self.reply.endswith("lenient")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which a server may answer as this model."""
        return (self.model, *self.served_as)


class UnusableLimit(Record):
    """How many unusable replies of an auditor stop the run; they are asked again by the next one."""

    share: float = Field(default=0.5, gt=0, le=1)
    """More than this share; 1 never stops."""
    of_first: int = Field(default=20, ge=1)
    """Of so many replies at the beginning."""


class AuditorsConfig(Record):
    """The two auditors (`configs/auditors/*.yaml`)."""

    auditors: tuple[ModelConfig, ModelConfig]
    budget: Budget | None = Field(default=None, exclude=True)
    """Cap on both together, if any. Left out of dumps, so that no digest or table depends on it."""
    unusable: UnusableLimit = Field(default=UnusableLimit(), exclude=True)
    """When to stop; left out of dumps, so that no digest or table depends on it."""

    @model_validator(mode="after")
    def _independent(self) -> AuditorsConfig:
        first, second = self.auditors
        if first.family.casefold() == second.family.casefold():
            raise ValueError(
                f"both auditors are of the family {first.family!r}: name two models of different families"
            )
        if first.name == second.name:
            raise ValueError(f"both auditors are named {first.name!r}: give each its own name")
        if self.budget is not None and self.budget.cost is not None:
            for one in self.auditors:
                if one.price is None:
                    raise ValueError(
                        f"`budget.cost` can't be kept without a price: give {one.name} a `price`"
                    )
            if first.price and second.price and first.price.currency != second.price.currency:
                raise ValueError("`budget.cost` needs one currency: the two prices name two")
        return self
