"""Continuation with the couplet's prose as a cue (GhazalBench, section 3.2.2)."""

from mihakk.generators.apart import ASKED
from mihakk.generators.parts.cued import completion
from mihakk.generators.parts.prose import ProseOptions, prose_cue
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem


@task(title="Continuation with the couplet's prose as a cue", reads="poem", options=ProseOptions, group=ASKED)
def prose_cued(ctx: Context[ProseOptions], poem: Poem) -> Made:
    """The prose must not hold the hemistich asked for, in its words or nearly so."""
    yield from completion(ctx, poem, prose_cue)
