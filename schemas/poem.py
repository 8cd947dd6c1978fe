"""Poems as sources give them and as curation leaves them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mihakk.schemas.record import Form, Language, Provenance, Record

CoupletKind = Literal["couplet", "band", "line", "paragraph"]
"""couplet: two hemistichs; band: refrain between stanzas; line: one free-standing line; paragraph: prose."""


class Couplet(Record):
    """One unit of a poem: two hemistichs, or one line with `second` None."""

    id: str
    """`<poem id>:<position>`, never reused."""
    position: int = Field(ge=0)
    """Place in the source's poem, counted from 0; gaps stay where a neighbour was rejected."""
    kind: CoupletKind = "couplet"
    first: Form
    second: Form | None = None
    mudawwar: bool = False
    """One word runs across the two hemistichs."""
    section: int = Field(default=0, ge=0)
    """Index into `Poem.sections`."""
    prose: str = ""
    """Reference prose of this couplet, where the source has a human one."""
    explanation: str = ""
    """Reference explanation of this couplet, where the source has a human one."""

    @property
    def halves(self) -> tuple[Form, ...]:
        """Its hemistichs, or its one line."""
        return (self.first, self.second) if self.second else (self.first,)


class Section(Record):
    """A run of couplets with one metre and one rhyme; most poems have one."""

    index: int = Field(ge=0)
    metre: str = ""
    """Identifier in `data/reference/*_metres.yaml`; empty when unknown."""
    rhyme: str = ""
    form: str = ""
    """ghazal, qasida, masnavi, ... as the source names it."""


class Poem(Record):
    """A poem with its metadata."""

    kind: Literal["poem"] = "poem"
    id: str
    language: Language
    title: str = ""
    """Empty where the source gives none."""
    poet: str = ""
    """Empty where the source names nobody and the config does not require a poet."""
    era: str = ""
    """Identifier in `data/reference/eras.yaml` after curation; empty where a language has no eras."""
    genre: str = ""
    """Identifier in `data/reference/genres.yaml` after curation."""
    sections: tuple[Section, ...] = (Section(index=0),)
    couplets: tuple[Couplet, ...] = ()
    declared_couplets: int | None = None
    """How many couplets the source says the poem has."""
    explanation: str = ""
    """Reference explanation of the whole poem, where the source has a human one."""
    source_labels: dict[str, str] = Field(default_factory=dict)
    """The source's own wording of era, genre, metre and form, before curation maps it."""
    provenance: Provenance

    def metre(self, couplet: Couplet) -> str:
        """Metre identifier of a couplet's section, empty when unknown."""
        return self.sections[couplet.section].metre
