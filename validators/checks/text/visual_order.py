"""TX13: letters in the order they are read."""

from functools import cache

from mihakk.machinery.languages import pack
from mihakk.machinery.text import strip_marks, words, words_key
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, excerpt

STARTS = (" ة", " ى", "\nة", "\nى")


@cache
def frequent(language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """Folded frequent words as they are read, and reversed; those that are words backwards only as read."""
    own = pack(language)
    sound = frozenset(words_key(word, language) for word in own.frequent)
    turned = frozenset(words_key(word[::-1], language) for word in own.frequent if word not in own.mirrored)
    return sound, turned - sound


@check("TX13", severity="flag", needs=("frequent",), title="no text stored back to front")
def visual_order(texts: Texts) -> Objections:
    """No text whose letters are stored from left to right as a page shows them.

    There the article ends words, teh marbuta begins them, and frequent words read backwards.
    """
    joined = texts.joined
    sound, turned = frequent(texts.language)
    signs = joined.count("لا ") >= 2 or joined.startswith(("ة", "ى"))
    signs = signs or any(start in joined for start in STARTS)
    if not signs and turned.isdisjoint(texts.vocabulary):
        return
    for (where, text), fold in zip(texts.parts, texts.folds, strict=True):
        if _backwards(text) or _frequent_backwards(fold.split(), sound, turned):
            yield Objection(f"letters stored back to front: {excerpt(text)}", where)


def _backwards(text: str) -> bool:
    bare = [word for word in words(strip_marks(text)) if len(word) > 2]
    forward = sum(word.startswith(("ال", "وال", "بال", "لل")) or word[-1] in "ةى" for word in bare)
    ended = sum(len(word) > 4 and word.endswith("لا") for word in bare)
    starts = sum(word[0] in "ةى" for word in bare)
    # `لا` ends words of its own (`أصلا`): without a teh marbuta out of place it takes three of them.
    return (ended >= 3 or (bool(starts) and starts + ended >= 2)) and starts + ended > 2 * forward


def _frequent_backwards(said: list[str], sound: frozenset[str], turned: frozenset[str]) -> bool:
    """Two frequent words at least read backwards, and far more of them than read forwards."""
    back = sum(word in turned for word in said)
    return back >= 2 and back > 2 * sum(word in sound for word in said)
