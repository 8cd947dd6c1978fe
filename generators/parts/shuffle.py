"""A hemistich with its words in another order."""

from random import Random

from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.salience import commonest, fitness
from mihakk.generators.task import Context, Options, Skip
from mihakk.machinery.languages import pack
from mihakk.machinery.seeds import rng
from mihakk.machinery.text import key, words
from mihakk.schemas.record import Language

LEAST_WORDS = 4
"""Shorter hemistichs have too few orders to hide the true one."""
OUT_OF_PLACE = 3
"""Words that must stand elsewhere."""
TRIES = 32
_BEFORE_VERB = frozenset({"می", "نمی", "همی"})
"""Persian signs of tense that older editions write as words of their own, before their verb."""


def units(text: str, language: Language) -> list[str]:
    """Words of a line as they are moved: Persian verbs with their sign, Latin words and compounds without
    capitals."""
    if pack(language).script == "Latn":
        parts = text.lower().replace("--", " ").split()
        return [compound for part in parts if (compound := "-".join(words(part)))]
    found: list[str] = []
    for word in words(text):
        # می is wine, too: it stays with what may be its verb.
        if found and found[-1] in _BEFORE_VERB and key(word, language) not in commonest(language):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def shuffled_words(text: str, language: Language, random: Random) -> tuple[str, str] | str:
    """The hemistich without punctuation, and a permutation of its words.

    The last word moves, for it carries the rhyme; at least three words stand elsewhere. Words that read
    the same count as one, so that swapping them is no change. Of many such orders the one is taken whose
    first and last word stand most often there in verse: a line that ends in "and" would give itself away.

    Returns:
        (in order, shuffled), or the reason why there is no such order: `too_short` or `words_alike`.
    """
    found = units(text, language)
    if len(found) < LEAST_WORDS:
        return "too_short"
    keys = [key(word, language) for word in found]
    # What a reader sees last is the verb, with its sign or without.
    ends = [key(word.split()[-1], language) for word in found]
    opens, closes = fitness(keys, language)
    places = list(range(len(found)))
    best, order = 0.0, None
    for _ in range(TRIES):
        random.shuffle(places)
        score = opens[places[0]] * closes[places[-1]]
        if score <= best or ends[places[-1]] == ends[-1]:
            continue
        if sum(keys[place] != keys[n] for n, place in enumerate(places)) >= OUT_OF_PLACE:
            best, order = score, list(places)
    if order is None:
        return "words_alike"
    return " ".join(found), " ".join(found[place] for place in order)


def permuted(ctx: Context[Options], line: Line) -> tuple[str, str]:
    """The words in their order and out of it.

    The draw is named by the couplet alone, so that both shuffled tasks show the same permutation.

    Raises:
        Skip: There is no such order, or it is a verse of the corpus.
    """
    mixed = shuffled_words(line.second, line.language, rng(ctx.build_seed, line.id, "shuffle"))
    if isinstance(mixed, str):
        raise Skip(mixed)
    if (line.language, key(mixed[1], line.language)) in ctx.corpus.line_keys:
        raise Skip("shuffled_is_a_verse")
    return mixed
