"""Whether a text states no meaning: it speaks about an entry in the words of its book, or it breaks off."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from mihakk.machinery.languages import pack
from mihakk.machinery.languages.pack import Entry
from mihakk.machinery.text.key import word_keys, words_key
from mihakk.machinery.text.stem import stem
from mihakk.schemas.record import Language

Kind = Literal["clarity", "edition", "grammar", "source", "entry"]
"""What a text names in place of a meaning."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MOST: Final = 2 / 3
"""Share of the words that say something, from which a text is about its entry."""
_AND: Final = "وف"
_GLOSSED: Final = (1, 2)
"""Places, from 0, at which a word that glosses stands behind the word it explains."""
_LONGEST: Final = 3
"""Words of the longest entry of `opens`."""
_PREDICATE: Final = 2
"""Words up to which one word that says `clear` speaks of the other."""
_STANDS_ALONE: Final = 5
"""Words from which a text that ends in `this` says itself what it means by it."""


class _Table(NamedTuple):
    """Words of one language: stems by kind, such as count for nothing, keys that gloss or break off."""

    kinds: dict[Kind, frozenset[str]]
    bare: frozenset[str]
    back: frozenset[str]
    glosses: frozenset[str]
    opens: frozenset[str]
    ends: frozenset[str]


def named_instead(text: str, language: Language, most: float = MOST) -> Kind | None:
    """What a text names in place of a meaning; None where it says more.

    Args:
        text: A sentence or clause.
        language: Its language.
        most: Share of its words that must be of the language's `entries`; two at least, or all.

    Returns:
        The kind of most of these words.
    """
    table = _table(language)
    told = [_forms(word, language) for word in word_keys(text, language) if not _is_bare(word, table)]
    found = {kind: sum(bool(forms & table.kinds[kind]) for forms in told) for kind in KINDS}
    listed = sum(any(forms & table.kinds[kind] for kind in KINDS) for forms in told)
    if most < 1 and len(told) == _PREDICATE and told[-1] & table.kinds["clarity"]:
        return "clarity"  # `the lamp is well known`
    if most < 1 and len(told) < _STANDS_ALONE and _points_back(text, language):
        return "entry"  # `in blame of this`
    if not listed or (listed < len(told) and (listed == 1 or listed < most * len(told))):
        return None
    return max(KINDS, key=lambda kind: found[kind])


def _points_back(text: str, language: Language) -> bool:
    """Whether one of the last two words points at what stands before the text."""
    last = word_keys(text, language)[-2:]
    return any(_forms(word, language) & _table(language).back for word in last)


def glosses_word(text: str, language: Language) -> bool:
    """Whether a clause tells what one word is, as `the lamp: they mean by it the moon`."""
    glosses = _table(language).glosses
    found = word_keys(text, language)
    return any({found[n], " ".join(found[n : n + 2])} & glosses for n in _GLOSSED if n < len(found))


def breaks_off(text: str, language: Language) -> bool:
    """Whether a text ends where more must follow, or opens with a reason of what does not stand in it."""
    table = _table(language)
    found = word_keys(text, language)
    starts = {" ".join(found[:size]) for size in range(1, _LONGEST + 1)}
    return not found or bool(starts & table.opens) or found[-1] in table.ends


def _forms(word: str, language: Language) -> frozenset[str]:
    """A word's key and stems, those behind a letter that is joined to it among them."""
    joined = (word[1:], word[3:]) if word[0] in pack(language).clitics else ()
    article = word.removeprefix("ال")
    return frozenset(
        form for one in (word, article, *joined) if len(one) > 1 for form in (one, stem(one, language))
    )


def _is_bare(word: str, table: _Table) -> bool:
    return word in table.bare or (word[0] in _AND and word[1:] in table.bare)


@cache
def _table(language: Language) -> _Table:
    given = pack(language).entries
    keys = {
        name: frozenset(words_key(one, language) for one in given.get(name, ())) for name in get_args(Entry)
    }
    return _Table(
        {kind: frozenset(stem(word, language) for word in keys[kind]) | keys[kind] for kind in KINDS},
        keys["bare"],
        keys["back"],
        keys["glosses"],
        keys["opens"],
        keys["ends"],
    )
