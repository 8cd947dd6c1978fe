"""The first hemistich and two salient words of the second (GhazalBench, section 3.2.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from generators.corpus_rows import Line
from generators.parts.salience import rarest_words, telling_words
from generators.parts.stems import couplet_stem, recalled
from generators.task import Context, Made, Options, Skip, Written, task
from generators.writing.writer import chosen
from mihakk.errors import RecordRejected
from mihakk.text import key, word_keys, words
from mihakk.text.stem import stems
from schemas.poem import Poem
from schemas.record import Record

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


@task(title="Continuation with two words as a cue", reads="poem", version="3", options=FragmentOptions)
def fragment_cued(ctx: Context[FragmentOptions], poem: Poem) -> Made:
    """Two different words of the second hemistich, as they stand there; completion only, for among
    options they would give the answer away. Chosen by a model, or else the rarest; never words of the
    hemistich shown, even in another form, or of the refrain. Hemistichs under four words are left out."""
    for found in recalled(ctx, poem):
        if isinstance(found, Skip):
            yield found
            continue
        couplet, line = found
        if len(words(line.second)) < LEAST_WORDS:
            yield Skip(couplet.id, "too_short", line.second)
            continue
        by_model = ctx.options.words == "model" or (ctx.options.words == "auto" and ctx.writer is not None)
        # What the shown hemistich says, and what every couplet of the poem closes with, is no cue.
        shown = {*word_keys(line.first, line.language), *stems(line.first, line.language)}
        given = ctx.corpus.radif(line.poem) | shown
        chosen = _by_model(ctx, line, given) if by_model else _rarest(line, given)
        if isinstance(chosen, Skip):
            yield chosen
            continue
        pair, written = chosen
        yield ctx.answer(
            couplet_stem(poem, couplet, first=line.first, word_1=pair[0], word_2=pair[1]),
            line.second,
            strategy="salient" if written else "rarest",
            written=written,
        )


def _rarest(line: Line, given: frozenset[str]) -> tuple[tuple[str, str], Written | None] | Skip:
    pair = rarest_words(line.second, line.language, given)
    return (pair, None) if pair else Skip(line.id, "words_given", line.second)


def _by_model(
    ctx: Context[FragmentOptions], line: Line, given: frozenset[str]
) -> tuple[tuple[str, str], Written | None] | Skip:
    if ctx.writer is None:
        return Skip(line.id, "no_model")
    asked = ctx.asked(line.id, "fragment_cued", line.language, hemistich=line.second)
    choices = telling_words(line.second, line.language, given)
    if len(choices) < 2:
        return Skip(line.id, "words_given", line.second)
    request = replace(asked, choices=choices)
    telling = {key(word, line.language) for word in request.choices}
    surface = {key(word, line.language): word for word in words(line.second)}

    def objection(reply: Salient) -> str:
        pair = reply.first_word, reply.second_word
        keys = [key(word, line.language) for word in pair]
        if strange := [word for word, folded in zip(pair, keys, strict=True) if folded not in surface]:
            return f"not_in_line: {', '.join(strange)} does not stand in the line; copy whole words from it"
        if any(key(word, line.language) not in telling for word in pair):
            return "common_word: choose words that carry meaning, no particles"
        if keys[0] == keys[1]:
            return "same_word: give two different words"
        return ""

    try:
        reply = ctx.writer.write(request, Salient, objection)
    except RecordRejected as error:
        return Skip(line.id, error.reason, error.detail)
    first, second = (surface[key(word, line.language)] for word in (reply.first_word, reply.second_word))
    return (first, second), Written.by(ctx.writer, request)
