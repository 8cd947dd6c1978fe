"""Some couplets; the era they were composed in is to be told from language and style."""

from typing import Final

from pydantic import Field

from mihakk.generators.apart import SHOWN
from mihakk.generators.parts.excerpts import ExcerptOptions, unnamed
from mihakk.generators.parts.labelled import label_choice
from mihakk.generators.parts.terms import eras
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem

NEARER: Final = 4.0
"""How many times likelier an era next in time is than a far one."""


class EraOptions(ExcerptOptions):
    """How much of a poem is shown, and among how many eras it is to be placed."""

    options: int = Field(default=2, ge=2)
    """No two of which share years. Among more than two the set of options tells too much: the long eras
    exclude each other, so each stands beside the same few short ones."""


@task(title="Era of a poem", reads="poem", version="3", languages=("ar",), options=EraOptions, group=SHOWN)
def era_choice(ctx: Context[EraOptions], poem: Poem) -> Made:
    """The wrong era stands among the options as often as it is right elsewhere, those next in time more often
    than far ones. Couplets that name the poet are not shown."""
    yield from label_choice(ctx, poem, "era", eras(), unnamed(poem, ctx.given(poem)), nearer=NEARER)
