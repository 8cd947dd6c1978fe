"""Continuation with a paraphrase of the prose as a cue (GhazalBench, section 3.2.3)."""

from mihakk.generators.apart import ASKED
from mihakk.generators.parts.cued import completion
from mihakk.generators.parts.paraphrase import ParaphraseOptions, paraphrase_cue
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem


@task(
    title="Continuation with a paraphrase of the prose as a cue",
    reads="poem",
    options=ParaphraseOptions,
    needs_model=True,
    group=ASKED,
)
def paraphrase_cued(ctx: Context[ParaphraseOptions], poem: Poem) -> Made:
    """A model rewords the prose. Kept only if it still means the same and shares few words with it; how much
    of each is in the metadata."""
    yield from completion(ctx, poem, paraphrase_cue)
