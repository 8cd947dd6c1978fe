"""Plain prose of couplets: the source's own, or written by a model as a cue."""

from dataclasses import dataclass, field
from typing import Literal, TypeVar

from pydantic import Field
from rapidfuzz import fuzz

from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.distractors import LineOptions
from mihakk.generators.parts.excerpts import shown
from mihakk.generators.task import Context, Skip, Written
from mihakk.generators.writing import writer
from mihakk.generators.writing.replies import length_ratio, same_text, unfinished, wrong_language
from mihakk.machinery.text import key
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Language, Record

LEAK = 85.0
"""Similarity (0-100) of a hemistich to the nearest stretch of a text from which the text gives it away."""


class ProseOptions(LineOptions):
    """Where prose comes from."""

    prose: Literal["source", "model"] = "source"
    """model: written where the source has none. A cue needs no more than that; a reference answer does."""
    least_likeness: float = Field(default=0.87, ge=-1, le=1)
    """Cosine of written prose and its couplet; not asked for without embeddings. With the bundled model
    faithful prose of eight couplets had .89 to .95, prose of other couplets .87 in the median, empty talk
    .85 at most."""


OptionsT = TypeVar("OptionsT", bound=ProseOptions)


class Prose(Record):
    """The reply asked for."""

    prose: str = writer.prose("The couplet in plain prose, in its own language.")


@dataclass(frozen=True, slots=True)
class Cue:
    """Prose shown beside a question."""

    text: str
    written: Written | None = None
    measures: dict[str, str] = field(default_factory=dict)
    """What was measured of it, for the item's metadata."""


def leaks(text: str, hemistich: str, language: Language) -> bool:
    """The text holds the hemistich, or nearly."""
    return fuzz.partial_ratio(key(hemistich, language), key(text, language)) >= LEAK


def prose_objection(prose: str, couplet: Couplet, language: Language) -> str:
    """What is wrong with prose of a couplet; empty when it may be used."""
    verse = shown(couplet)
    if problem := wrong_language(prose, language):
        return f"wrong_language: {problem}"
    if unfinished(prose):
        return "unfinished: it breaks off; say the whole"
    if same_text(prose, verse, language):
        return "repeats_verse: it is the couplet itself; say what it means in plain prose"
    if not 1 / 3 <= length_ratio(prose, verse) <= 4:
        return "length: keep to one or two sentences"
    return ""


def prose_cue(ctx: Context[OptionsT], poem: Poem, couplet: Couplet, line: Line) -> Cue:
    """Prose of the couplet that does not hold the hemistich asked for.

    Raises:
        Skip: There is none.
    """
    if couplet.prose.strip():
        cue = Cue(couplet.prose.strip())
        if problem := prose_objection(cue.text, couplet, poem.language):
            raise Skip("prose_" + problem.split(":")[0])
    elif ctx.options.prose == "model":
        cue = _written(ctx, poem, couplet, line)
    else:
        raise Skip("no_prose")
    if leaks(cue.text, line.second, poem.language):
        raise Skip("prose_leaks_answer")
    return cue


def _written(ctx: Context[OptionsT], poem: Poem, couplet: Couplet, line: Line) -> Cue:
    def objection(reply: Prose) -> str:
        if problem := prose_objection(reply.prose, couplet, poem.language):
            return problem
        if leaks(reply.prose, line.second, poem.language):
            return "leaks_answer: it quotes the second line; use other words"
        likeness = ctx.meaning.similarity(reply.prose, shown(couplet))
        if likeness is not None and likeness < ctx.options.least_likeness:
            return "other_meaning: it does not say what the couplet says"
        return ctx.copies_example("prose_cued", poem.language, reply.prose)

    reply, written = ctx.write(
        couplet.id, "prose_cued", poem.language, Prose, objection, poet=poem.poet, verse=shown(couplet)
    )
    return Cue(reply.prose.strip(), written)
