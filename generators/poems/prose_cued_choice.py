"""Continuation chosen with the couplet's prose as a cue (GhazalBench, section 3.2.2)."""

from mihakk.generators.apart import CHOSEN
from mihakk.generators.parts.cued import continuation_among_lines
from mihakk.generators.parts.prose import ProseOptions, prose_cue
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem


@task(
    title="Continuation chosen with the couplet's prose as a cue",
    reads="poem",
    version="4",
    options=ProseOptions,
    uses_vectors=True,
    group=CHOSEN,
)
def prose_cued_choice(ctx: Context[ProseOptions], poem: Poem) -> Made:
    """The prose must not hold the hemistich asked for, in its words or nearly so."""
    yield from continuation_among_lines(ctx, poem, prose_cue)
