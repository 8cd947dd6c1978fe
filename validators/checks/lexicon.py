"""Word lists of languages' packs and of `data/reference`, as folded forms by language."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.languages import languages, pack
from mihakk.machinery.remembered import Remembered
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.text import key, words_key
from mihakk.machinery.text.codepoints import ZWNJ
from mihakk.schemas.record import Language

ONE_LETTER = frozenset("فبلك")
SHORT = 3
"""Letters up to which a coarse word takes none of these."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Folded phrases with their kinds by their longest word, so that a text's words say which to look for."""

    by_anchor: dict[str, tuple[tuple[str, str], ...]]
    anchors: frozenset[str]

    def spoken(self, vocabulary: Sequence[str], folded: str) -> Iterator[tuple[str, str]]:
        """(kind, phrase) for each phrase that stands in a text as whole words.

        Args:
            vocabulary: The text's folded words.
            folded: The text with one space between folded words.
        """
        if self.anchors.isdisjoint(vocabulary):
            return
        padded = ""
        for anchor in sorted(self.anchors.intersection(vocabulary)):
            for kind, phrase in self.by_anchor[anchor]:
                if phrase not in folded and "0" not in phrase:
                    continue
                padded = padded or f" {_DIGITS.sub('0', folded)} "
                if f" {phrase} " in padded:
                    yield kind, phrase


@cache
def referring_cues(language: Language) -> Lexicon:
    """Phrases that point outside the question; kinds `table`, `figure`, `passage`, `line`, `marked`."""
    # `وفي الشكل` points as `في الشكل` does; `بالشكل التالي` means "as follows" and points nowhere.
    own = pack(language)
    return _lexicon(own.cues, language, own.joined_and)


@cache
def sensitive_words(language: Language) -> Lexicon:
    """Coarse and hurtful words, with the particles that are written as one with them.

    A short word takes no particle of one letter: `فخرا` is glory, `بنيك` your sons, `بائر` fallow.
    """
    own = pack(language)
    return _lexicon(own.sensitive, language, own.clitics, SHORT)


@cache
def stereotypes(language: Language) -> Lexicon:
    """What is said of whole peoples or of a sex: each group with each phrase that may stand beside it."""
    own = pack(language)
    told = own.stereotypes
    said = [f"{phrase} {group}" for group in told.groups for phrase in told.before]
    said += [f"{group} {phrase}" for group in told.groups for phrase in told.after]
    return _lexicon({"group": said}, language, own.joined_and)


LETTERS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
"""Of a script without spaces."""


def spaced(text: str) -> str:
    """The text with spaces around letters of a script without them, and for zero-width non-joiners."""
    return LETTERS.sub(r" \g<0> ", text).replace(ZWNJ, " ")


ALONE = frozenset(("agree", "present", "made", "label", "machine", "self", "sorry", "unable", "offer"))
"""Kinds of which whatever a model says about a text has one; `product` as well in another language."""


@cache
def model_residue(language: Language, *, alone: bool = False) -> Lexicon:
    """What language models say about a text, in any language; kinds are `en agree`, `ar label`, ...

    Args:
        language: That of the text, by whose rules words are folded.
        alone: Only the phrases of which one must be there: the rest is looked for where there is.
    """
    kinds = {
        f"{spoken} {kind}": [
            joined + spaced(phrase) for joined in pack(spoken).joined_and for phrase in phrases
        ]
        for spoken, table in _table("model_residue")["languages"].items()
        for kind, phrases in table.items()
        if not alone or kind in ALONE or (kind == "product" and spoken != language)
    }
    return _lexicon(kinds, language, ("",))


@cache
def model_marks() -> tuple[str, ...]:
    """Marks by which chat templates divide turns."""
    return tuple(_table("model_residue")["marks"])


@dataclass(frozen=True, slots=True)
class OptionWords:
    """Folded words of one language by which options are compared, of all by which a gold is marked."""

    right: frozenset[str]
    numbers: dict[str, str]
    """Number words with their values in digits."""
    senses: Mapping[str, str]
    """What each word says: a number in digits, a noun without its article, an article nothing."""
    affixes: frozenset[str]
    """What a word may have before or behind it, one spelling for all languages."""
    spellings: tuple[tuple[str, str], ...]
    """Parts of words and how they are spelt elsewhere."""
    open: frozenset[str]
    """Words that no text ends with."""
    ask: frozenset[str]
    """Words of questions."""

    def meanings(self, folds: Iterable[str]) -> list[str]:
        """What options say whatever their articles, number words and spelling; without spaces.

        Args:
            folds: Folded options.
        """
        sense = self.senses.__getitem__
        said = "\n".join(["".join(map(sense, self.numbers.get(one, one).split())) for one in folds])
        for one, other in self.spellings:
            said = said.replace(one, other)
        return said.split("\n")


def _sense(word: str, articles: frozenset[str], joined: tuple[str, ...], numbers: Mapping[str, str]) -> str:
    if word in articles:
        return ""
    word = numbers.get(word, word)
    for article in joined:
        if len(word) > len(article) + 2 and word.startswith(article):
            word = word[len(article) :]
    return word


@cache
def option_words(language: Language) -> OptionWords:
    """The words of the language's pack as its texts fold them; what is right is said in any language."""
    own = pack(language).options

    def folded(words: Iterable[str]) -> frozenset[str]:
        return frozenset(words_key(word, language) for word in words) - {""}

    articles = folded(own.articles)
    numbers = {words_key(word, language): str(value) for word, value in own.numbers.items()}
    return OptionWords(
        right=folded(word for one in languages() for word in pack(one).options.right),
        numbers=numbers,
        senses=Remembered(partial(_sense, articles=articles, joined=own.joined, numbers=numbers)),
        affixes=frozenset(key(word, "ar") for word in own.affixes),
        spellings=tuple(
            (words_key(one, language), words_key(other, language)) for one, other in own.spellings
        ),
        open=folded(own.open),
        ask=folded(own.ask),
    )


@dataclass(frozen=True, slots=True)
class Placeholders:
    """What stands where a value is missing."""

    symbols: frozenset[str]
    runs: frozenset[str]
    """Characters of which such a field may wholly consist."""
    words: frozenset[str]
    """Folded."""

    def symbolic(self, text: str) -> bool:
        """The text is signs alone."""
        bare = "".join(text.split())
        return bare in self.symbols or (bool(bare) and self.runs.issuperset(bare))


@cache
def placeholders(language: Language) -> Placeholders:
    """The placeholders of a language and those of any."""
    table = _table("placeholders")
    words = [*table["words"], *pack(language).placeholders]
    return Placeholders(
        symbols=frozenset("".join(symbol.split()) for symbol in table["symbols"]),
        runs=frozenset(table["runs"]),
        words=frozenset(words_key(word, language) for word in words) - {""},
    )


def _table(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", load_yaml(REFERENCE / f"{name}.yaml", own=True))


def _lexicon(
    kinds: Mapping[Any, Sequence[str]], language: Language, clitics: tuple[str, ...], short: int = 0
) -> Lexicon:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for kind, phrases in kinds.items():
        for phrase in phrases:
            folded = words_key(phrase.replace("{n}", "0"), language)
            for clitic in clitics:
                if clitic in ONE_LETTER and len(folded) <= short:
                    continue
                anchor = max((clitic + folded).split(), key=len)
                found[anchor].append((kind, clitic + folded))
    grouped = {anchor: tuple(sorted(set(several))) for anchor, several in found.items()}
    return Lexicon(grouped, frozenset(grouped))
