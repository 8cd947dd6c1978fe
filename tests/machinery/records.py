"""Small records for tests; the verses are classical."""

from __future__ import annotations

from collections.abc import Sequence

from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem, Section
from mihakk.schemas.record import Form, Language, Provenance

PROVENANCE = Provenance(
    source="test", url="file:test#1", licence="public-domain", sha256="0" * 64, parser_version="1"
)


def poem(
    identifier: str,
    couplets: Sequence[tuple[str, str]],
    *,
    language: Language = "fa",
    poet: str = "حافظ",
    metre: str = "fa_3",
    era: str = "",
    genre: str = "",
) -> Poem:
    """A scraped poem: `raw` forms only."""
    return Poem(
        id=identifier,
        language=language,
        title=identifier,
        poet=poet,
        era=era,
        genre=genre,
        sections=(Section(index=0, metre=metre),),
        couplets=tuple(
            Couplet(id=f"{identifier}:{n}", position=n, first=Form(raw=first), second=Form(raw=second))
            for n, (first, second) in enumerate(couplets)
        ),
        provenance=PROVENANCE,
    )


def idiom(identifier: str, phrase: str, explanation: str, *, sensitive: bool = False) -> Idiom:
    """A scraped idiom: `raw` forms only."""
    return Idiom(
        id=identifier,
        language="ar",
        dialect="egyptian",
        phrase=Form(raw=phrase),
        explanation=Form(raw=explanation),
        sensitive=sensitive,
        provenance=PROVENANCE,
    )
