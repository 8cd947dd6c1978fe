"""An idiom to be explained in words."""

from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.generators.writing.replies import wrong_language
from mihakk.machinery.text import word_keys
from mihakk.schemas.idiom import Idiom


@task(title="Explanation of an idiom", reads="idiom")
def explanation(ctx: Context[Options], idiom: Idiom) -> Made:
    """The reference is the source's explanation; idioms without one, or with one in another language, are
    left out."""
    reference = idiom.explanation.shown
    if not word_keys(reference, idiom.language):
        raise Skip("no_explanation")
    if wrong_language(reference, idiom.language):
        raise Skip("explanation_language")
    yield ctx.answer(idiom_stem(idiom), reference)
