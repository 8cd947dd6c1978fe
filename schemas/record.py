"""What every record shares."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

LANGUAGE_CODE = r"^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?(?:-[a-z0-9]{5,8})*$"
"""Language, script, region and variants, as BCP 47 writes them."""
Language: TypeAlias = Annotated[str, Field(pattern=LANGUAGE_CODE)]
"""BCP 47 code of the language a text is written in; what it is fit for says `mihakk.machinery.languages`."""
_NONE_KEPT: set[str] = set()


class Record(BaseModel):
    """A frozen, strictly validated row; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_post_init(self, _: Any, /) -> None:
        """Forgets which fields were given: nobody asks, and the set is larger than the rest of a row."""
        object.__setattr__(self, "__pydantic_fields_set__", _NONE_KEPT)

    @classmethod
    def needed_texts(cls) -> tuple[str, ...]:
        """Fields that hold a text in every row: those without a default."""
        fields = cls.model_fields.items()
        return tuple(name for name, field in fields if field.annotation is str and field.is_required())


class Provenance(Record):
    """Where a record's raw bytes came from and on what terms."""

    source: str
    """Name of the scraper module that read it, e.g. `hafez`."""
    url: str
    """Address of the page, or `pypi:<package>==<version>#<part>` and `file:<name>#<line>` for local input."""
    retrieved_at: datetime | None = None
    """When the bytes were fetched (UTC), as the raw store noted it; None for input that was not fetched."""
    licence: Annotated[str, AfterValidator(lambda given: given.strip() or "unknown")]
    """SPDX identifier, `public-domain`, or `unknown` (which a release refuses); blank is unknown."""
    attribution: str = ""
    """Credit line that the licence or the site asks for."""
    sha256: str
    """Digest of the raw bytes the record was parsed from, hexadecimal."""
    parser_version: str
    """Version of the parser; a higher one re-parses stored bytes without fetching them again."""


class Form(Record):
    """One piece of text in its three forms."""

    raw: str
    """As fetched."""
    text: str = ""
    """Canonical display form: NFC, the language's own letters, marks kept. Empty before normalisation."""
    key: str = ""
    """Matching form: marks dropped, letters folded, no spaces. Empty before normalisation."""

    @property
    def shown(self) -> str:
        """What readers see: the canonical form, or before normalisation the text as fetched."""
        return self.text or self.raw
