"""MD03: a poem has a poet and a title."""

from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check

UNKNOWN = frozenset(("مجهول", "غير معروف", "ناشناس", "unknown", "anonymous"))


@check("MD03", severity="flag", on=Poem, title="the poet is named")
def complete(poem: Poem) -> Objections:
    """A poem names its poet; `unknown` is no name."""
    if not poem.poet.strip() or poem.poet.strip().casefold() in UNKNOWN:
        yield Objection("no poet is named", "poet")
