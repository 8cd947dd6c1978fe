"""An idiom to be explained in words."""

from generators.parts.stems import idiom_stem
from generators.task import Context, Made, Options, Skip, task
from generators.writing.replies import wrong_language
from mihakk.text import word_keys
from schemas.idiom import Idiom


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
