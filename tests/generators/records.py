"""Small normalised records for the generators' tests."""

from __future__ import annotations

from mihakk.curation.normalization import normalize
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem, Section
from mihakk.schemas.record import Form, Language, Provenance

PROVENANCE = Provenance(
    source="test", url="file:test", licence="CC0-1.0", sha256="0" * 64, parser_version="1"
)


def make_poem(
    identifier: str,
    pairs: list[tuple[str, str | None]],
    *,
    language: Language = "fa",
    poet: str = "حافظ",
    metre: str = "fa_2",
    era: str = "",
    genre: str = "",
    **couplet: object,
) -> Poem:
    """A normalised poem of the given hemistichs."""
    raw = Poem(
        id=identifier,
        language=language,
        title=identifier,
        poet=poet,
        era=era,
        genre=genre,
        sections=(Section(index=0, metre=metre, form="ghazal"),),
        couplets=tuple(
            Couplet(
                id=f"{identifier}:{n}",
                position=n,
                kind="couplet" if second is not None else "line",
                first=Form(raw=first),
                second=Form(raw=second) if second is not None else None,
            ).model_copy(update=couplet)
            for n, (first, second) in enumerate(pairs)
        ),
        provenance=PROVENANCE,
    )
    poems: list[Poem] = normalize([raw]).tables["poems"][1]
    return poems[0]


def make_idiom(
    identifier: str, phrase: str, explanation: str, *, language: Language = "ar", **more: object
) -> Idiom:
    """A normalised idiom."""
    raw = Idiom(
        id=identifier,
        language=language,
        dialect="egyptian" if language == "ar" else "",
        phrase=Form(raw=phrase),
        explanation=Form(raw=explanation),
        provenance=PROVENANCE,
    ).model_copy(update=more)
    idioms: list[Idiom] = normalize([raw]).tables["idioms"][1]
    return idioms[0]
