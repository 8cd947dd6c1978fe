"""Idioms and proverbs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mihakk.schemas.record import Form, Language, Provenance, Record

Connotation = Literal["positive", "negative", "neutral"]


class Idiom(Record):
    """An idiom or proverb with its explanation."""

    kind: Literal["idiom"] = "idiom"
    id: str
    language: Language
    dialect: str = ""
    """`egyptian`, ...; empty for the standard language."""
    genre: Literal["idiom", "proverb"] = "idiom"
    phrase: Form
    explanation: Form
    examples: tuple[str, ...] = ()
    """Sentences that use the idiom, where the source has them."""
    connotation: Connotation | None = None
    sensitive: bool = False
    """Offensive or sensitive wording; left out by default, never deleted."""
    source_labels: dict[str, str] = Field(default_factory=dict)
    provenance: Provenance
