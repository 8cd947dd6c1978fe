"""Continuation chosen with a paraphrase of the prose as a cue (GhazalBench, section 3.2.3)."""

from mihakk.generators.apart import CHOSEN
from mihakk.generators.parts.cued import continuation_among_lines
from mihakk.generators.parts.paraphrase import ParaphraseOptions, paraphrase_cue
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem


@task(
    title="Continuation chosen with a paraphrase of the prose as a cue",
    reads="poem",
    version="4",
    options=ParaphraseOptions,
    needs_model=True,
    uses_vectors=True,
    group=CHOSEN,
)
def paraphrase_cued_choice(ctx: Context[ParaphraseOptions], poem: Poem) -> Made:
    """A model rewords the prose. Kept only if it still means the same and shares few words with it; how much
    of each is in the metadata."""
    yield from continuation_among_lines(ctx, poem, paraphrase_cue)
