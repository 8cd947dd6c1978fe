"""A proverb or idiom without its last word."""

from typing import Literal

from pydantic import Field

from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.machinery.languages import pack
from mihakk.machinery.text import key, word_keys, words
from mihakk.schemas.idiom import Idiom


class CompletionOptions(Options):
    """Which sayings are taken."""

    genres: tuple[Literal["idiom", "proverb"], ...] = ("proverb", "idiom")
    least_words: int = Field(default=4, ge=2)


@task(title="Last word of a proverb", reads="idiom", version="2", options=CompletionOptions)
def completion(ctx: Context[CompletionOptions], idiom: Idiom) -> Made:
    """Punctuation is stripped. Sayings whose last word is a particle or a clitic's fragment, or stands in the
    rest too, are left out; so are those that another one of the corpus begins like and goes on otherwise."""
    language = idiom.language
    found = words(idiom.phrase.shown)
    if idiom.genre not in ctx.options.genres:
        raise Skip("genre")
    if len(found) < ctx.options.least_words:
        raise Skip("too_short")
    *opening, last = found
    last_key = key(last, language)
    if len(last_key) < 2 or last_key in {key(word, language) for word in pack(language).made_with.particles}:
        raise Skip("last_word_fragment")
    if last_key in word_keys(" ".join(opening), language):
        raise Skip("last_word_repeated")
    beginning = language, tuple(key(word, language) for word in opening)
    if ctx.corpus.next_words.get(beginning, frozenset()) - {last_key}:
        raise Skip("several_endings")
    yield ctx.answer(idiom_stem(idiom, opening=" ".join(opening)), last)
