"""A couplet to be put into plain prose (GhazalBench, section 3.1)."""

from mihakk.generators.apart import SHOWN
from mihakk.generators.parts.excerpts import shown
from mihakk.generators.parts.prose import prose_objection
from mihakk.generators.parts.stems import couplet_stem
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.schemas.poem import Poem


@task(title="A couplet in plain prose", reads="poem", group=SHOWN)
def couplet_prose(ctx: Context[Options], poem: Poem) -> Made:
    """The reference is the source's prose of this couplet; prose in another language, prose that repeats the
    couplet and commentary several times its length are left out."""
    for couplet in ctx.in_order(ctx.given(poem), poem.id, lambda couplet: couplet.id):
        if not couplet.prose.strip():
            yield Skip("no_prose")
        elif problem := prose_objection(couplet.prose, couplet, poem.language):
            yield Skip("prose_" + problem.split(":")[0])
        else:
            yield ctx.answer(couplet_stem(poem, couplet, verse=shown(couplet)), couplet.prose.strip())
