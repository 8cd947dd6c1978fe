"""Continuation chosen with the couplet's prose as a cue (GhazalBench, section 3.2)."""

from generators.parts.cued import cued_choice
from generators.parts.prose import ProseOptions, prose_cue
from generators.task import Context, Made, task
from schemas.poem import Poem


@task(
    title="Continuation chosen with the couplet's prose as a cue",
    reads="poem",
    version="4",
    options=ProseOptions,
    uses_vectors=True,
)
def prose_cued_choice(ctx: Context[ProseOptions], poem: Poem) -> Made:
    """The prose must not hold the hemistich asked for, in its words or nearly so."""
    yield from cued_choice(ctx, poem, prose_cue)
