"""Some couplets of a poem, as the text a question rests on."""

from collections.abc import Sequence

from pydantic import Field

from generators.task import Options
from mihakk.text import join, key
from schemas.poem import Couplet, Poem


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


def unnamed(poem: Poem) -> list[Couplet]:
    """Couplets that do not name the poet."""
    return [couplet for couplet in poem.couplets if not names_poet(couplet, poem)]


def names_poet(couplet: Couplet, poem: Poem) -> bool:
    """The couplet names its poet, as the last one of a ghazal does."""
    # Names are compared inside the line's key: حافظا and بحافظ are the name too.
    text = key(shown(couplet), poem.language)
    parts = [key(part, poem.language) for part in poem.poet.split()]
    return any(len(part) > 2 and part in text for part in parts)
