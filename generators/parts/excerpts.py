"""Some couplets of a poem, as the text a question rests on."""

from collections.abc import Sequence

from pydantic import Field

from mihakk.generators.task import Options
from mihakk.machinery.text import join, key
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Language


class ExcerptOptions(Options):
    """How much of a poem is shown, and among how many answers it is to be placed."""

    couplets: int = Field(default=4, ge=1)
    options: int = Field(default=4, ge=2)


def shown(couplet: Couplet) -> str:
    """A couplet on one line."""
    first = couplet.first.shown
    if couplet.second is None:
        return first
    second = couplet.second.shown
    return join(first, second, mudawwar=True) if couplet.mudawwar else f"{first} / {second}"


def excerpt(couplets: Sequence[Couplet]) -> str:
    """Couplets one under the other."""
    return "\n".join(shown(couplet) for couplet in couplets)


def names_any(text: str, labels: Sequence[str], language: Language) -> bool:
    """Whether verses name an option: checks refuse those that name the right one alone."""
    line = key(text, language)
    return any(key(label, language) in line for label in labels)


def unnamed(poem: Poem, couplets: Sequence[Couplet], *others: str) -> list[Couplet]:
    """Those of a poem's couplets that do not name the poet, as the last one of a ghazal does, or `others`."""
    words = " ".join([poem.poet, *others]).split()
    parts = [part for word in words if len(part := key(word, poem.language)) > 2]
    # Names are compared inside the line's key: حافظا and بحافظ are the name too.
    lines = [(couplet, key(shown(couplet), poem.language)) for couplet in couplets]
    return [couplet for couplet, line in lines if not any(part in line for part in parts)]
