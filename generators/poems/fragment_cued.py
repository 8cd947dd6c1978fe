"""The first hemistich and two salient words of the second (GhazalBench, section 3.2.4)."""

from typing import Literal

from mihakk.generators.apart import ASKED
from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.salience import rarest_words, telling_words
from mihakk.generators.parts.stems import couplet_stem, recalled
from mihakk.generators.task import Context, Made, Options, Skip, Written, task
from mihakk.generators.writing.writer import chosen
from mihakk.machinery.text import key, word_keys, words
from mihakk.machinery.text.stem import stems
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Record

LEAST_WORDS = 4
"""In a shorter hemistich two words are half the answer."""


class FragmentOptions(Options):
    """Who chooses the words."""

    words: Literal["auto", "model", "rarest"] = "auto"
    """auto: the model where one is configured, else the two rarest."""


class Salient(Record):
    """The reply asked for."""

    first_word: str = chosen("A word of the line, exactly as it stands there.")
    second_word: str = chosen("Another word of the line, exactly as it stands there.")


@task(
    title="Continuation with two words as a cue",
    reads="poem",
    version="3",
    options=FragmentOptions,
    group=ASKED,
)
def fragment_cued(ctx: Context[FragmentOptions], poem: Poem) -> Made:
    """Two different words of the second hemistich, as they stand there; completion only, for among
    options they would give the answer away. Chosen by a model, or else the rarest; never words of the
    hemistich shown, even in another form, or of the refrain. Hemistichs under four words are left out."""

    def make(couplet: Couplet, line: Line) -> Made:
        if len(words(line.second)) < LEAST_WORDS:
            raise Skip("too_short")
        by_model = ctx.options.words == "model" or (ctx.options.words == "auto" and ctx.writer is not None)
        # What the shown hemistich says, and what every couplet of the poem closes with, is no cue.
        shown = {*word_keys(line.first, line.language), *stems(line.first, line.language)}
        given = ctx.corpus.radif(line.poem) | shown
        (first, second), written = _by_model(ctx, line, given) if by_model else (_rarest(line, given), None)
        yield ctx.answer(
            couplet_stem(poem, couplet, first=line.first, word_1=first, word_2=second),
            line.second,
            strategy="salient" if written else "rarest",
            written=written,
        )

    return recalled(ctx, poem, make)


def _rarest(line: Line, given: frozenset[str]) -> tuple[str, str]:
    pair = rarest_words(line.second, line.language, given)
    if pair is None:
        raise Skip("words_given")
    return pair


def _by_model(
    ctx: Context[FragmentOptions], line: Line, given: frozenset[str]
) -> tuple[tuple[str, str], Written]:
    if ctx.writer is None:
        raise Skip("no_model")
    choices = telling_words(line.second, line.language, given)
    if len(choices) < 2:
        raise Skip("words_given")
    telling = {key(word, line.language) for word in choices}
    surface = {key(word, line.language): word for word in words(line.second)}

    def objection(reply: Salient) -> str:
        pair = reply.first_word, reply.second_word
        keys = [key(word, line.language) for word in pair]
        if strange := [word for word, folded in zip(pair, keys, strict=True) if folded not in surface]:
            return f"not_in_line: {', '.join(strange)} does not stand in the line; copy whole words from it"
        if not telling.issuperset(keys):
            return "common_word: choose words that carry meaning, no particles"
        if keys[0] == keys[1]:
            return "same_word: give two different words"
        return ""

    reply, written = ctx.write(
        line.id, "fragment_cued", line.language, Salient, objection, choices=choices, hemistich=line.second
    )
    first, second = (surface[key(word, line.language)] for word in (reply.first_word, reply.second_word))
    return (first, second), written
