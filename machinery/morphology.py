"""What two words have in common besides their letters, and whom a phrase speaks of.

`none` compares whole words. `light` takes the commonest prefixes and endings off, by rules of our
own. `camel` asks the analyzer of camel-tools for lemmas and features of Arabic words and needs its
package and data; words that it does not know, and other languages, are left to `light`. Which one
is a benchmark's `morphology`: what happens to be installed never changes what is built.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.settings import settings
from mihakk.machinery.text import key, strip_marks, words
from mihakk.machinery.text.stem import stem
from mihakk.schemas.record import Language

CAMEL_DATABASE: Final = "calima-msa-r13"
"""The analyzer's database: words of the standard language, and those that Egyptian shares with it."""
_FIX: Final = "or set `morphology: light`, which needs nothing"


class Morphology(Protocol):
    """Compares words and phrases beyond their letters."""

    def forms(self, word: str, language: Language) -> frozenset[str]:
        """What a word is compared by: two words that share one of these are related."""
        ...

    def agreement(self, text: str, language: Language) -> str:
        """Kind, person and number of a phrase, as one name; empty where nothing is known."""
        ...


class NoMorphology:
    """Whole words alone."""

    def forms(self, word: str, language: Language) -> frozenset[str]:
        """The word's key."""
        return frozenset({key(word, language)})

    def agreement(self, text: str, language: Language) -> str:  # noqa: ARG002
        """Nothing is known."""
        return ""


# Prepositions written with their word: ب, ل and ك may as well be its first letter, so that both forms count.
_JOINED: Final = re.compile("^(?:[وف]?[بلك])(?=.{3})")
_ACCUSATIVE: Final = re.compile("(?<=.{3})ا$")
"""The alef of the accusative: ملحا is الملح."""
_NEGATED: Final = re.compile("(?<=.{3})ش$")
"""The second half of Egyptian ما ... ش."""
# Verbal and nominal beginnings that leave the root's letters, and letters that come and go within a root.
_FORMED: Final = re.compile("^(?:[ايتم]ن|[ايتم]ست|[ايتنم])(?=.{3})")
_WEAK: Final = re.compile("[اويء]")
_DIALECT: Final = str.maketrans("ثذظ", "تدض")
"""Letters that Egyptian says, and writes, another way: ثقيل is تقيل."""
_LEAST_ROOT: Final = 3

# Whom an Arabic phrase speaks of, by the pronouns that end its words. A ك may as well be a letter
# of the word, so that it counts in longer words alone; a ي never counts.
_PRONOUNS: Final = (
    ("3p", re.compile("(?<=.{2})(?:هم|هن|وا)$")),
    ("3f", re.compile("(?<=.{2})ها$")),
    ("3m", re.compile("(?<=.{2})ه$")),
    ("2", re.compile("(?<=.{2})كم$|(?<=.{3})ك$")),
    ("1", re.compile("(?<=.{3})نا$")),
)
_PERSON: Final = frozenset({"من", "ما", "الذي", "التي", "شخص", "الشخص", "انسان", "رجل", "اللي"})
_CLAUSE: Final = frozenset({"لم", "لا", "لن", "ان", "انه", "انها", "اني", "قد", "هو", "هي", "ليس"})


class LightMorphology:
    """Rules of our own: light stems, and pronouns by their letters."""

    def forms(self, word: str, language: Language) -> frozenset[str]:
        """The light stem, with and without a joined preposition, and the letters of an Arabic root."""
        whole = key(word, language)
        found = {stem(whole, language)}
        if language != "ar":
            return frozenset(found)
        for bare in (whole, *(pattern.sub("", whole) for pattern in (_ACCUSATIVE, _JOINED, _NEGATED))):
            light = stem(bare, language)
            found.add(light)
            found.add(_FORMED.sub("", light))
            for root in (light, _FORMED.sub("", light)):
                letters = _WEAK.sub("", root).translate(_DIALECT)
                if len(letters) >= _LEAST_ROOT:
                    found.add(letters)
        return frozenset(found)

    def agreement(self, text: str, language: Language) -> str:
        """An Arabic phrase's kind (person, clause or noun, by its first word) and its pronouns."""
        keys = [key(word, language) for word in words(text)]
        if language != "ar" or not keys:
            return ""
        kind = "person" if keys[0] in _PERSON else "clause" if keys[0] in _CLAUSE else "noun"
        # The feminine ending is a ه too, once folded: only the text tells them apart.
        spoken = [strip_marks(word) for word in words(text)]
        persons = {name for word in spoken for name, ending in _PRONOUNS if ending.search(word)}
        return " ".join((kind, *sorted(persons)))


class CamelMorphology:
    """camel-tools' analyzer on the file of a morphological database.

    Raises:
        UsageError: camel-tools is not installed, or the file is none of its databases.
    """

    def __init__(self, database: Path) -> None:
        try:
            from camel_tools.morphology.analyzer import Analyzer
            from camel_tools.morphology.database import MorphologyDB
            from camel_tools.morphology.errors import DatabaseParseError
        except ImportError as error:
            raise UsageError(_missing_package()) from error
        try:
            self._analyzer = Analyzer(MorphologyDB(str(database)))
        except (DatabaseParseError, ValueError, IndexError, KeyError, TypeError, OSError) as error:
            raise UsageError(
                f"morphology: camel-tools can't read {database} ({error}): install it again with "
                f"`camel_data -i morphology-db-msa-r13`, {_FIX}"
            ) from error
        self._light = LightMorphology()
        self._known: dict[str, list[dict[str, Any]]] = {}

    def forms(self, word: str, language: Language) -> frozenset[str]:
        """The keys of all lemmas that the word may be of; light forms where the analyzer knows none."""
        lemmas = {
            key(str(one["lex"]), language)
            for one in self._analyses(word, language)
            if one.get("source") != "foreign"
        } - {""}
        return frozenset(lemmas) or self._light.forms(word, language)

    def agreement(self, text: str, language: Language) -> str:
        """Part of speech, person, gender and number of the first word, and the persons of all pronouns."""
        spoken = words(text)
        best = [self._best(word, language) for word in spoken]
        if not best or best[0] is None:
            return self._light.agreement(text, language)
        head = best[0]
        first = [str(head.get(name, "na")) for name in ("pos", "per", "gen", "num")]
        pronouns = {
            clitic.split("_")[0]
            for one in best
            if one is not None
            for clitic in [str(one.get("enc0", "0"))]
            if clitic not in ("0", "na")
        }
        return " ".join((*first, *sorted(pronouns)))

    def _analyses(self, word: str, language: Language) -> list[dict[str, Any]]:
        if language != "ar":
            return []
        if word not in self._known:
            self._known[word] = list(self._analyzer.analyze(strip_marks(word)))
        return self._known[word]

    def _best(self, word: str, language: Language) -> dict[str, Any] | None:
        """The likeliest analysis; of equally likely ones the first by its text."""
        found = self._analyses(word, language)
        return min(found, key=lambda one: (-_likelihood(one), json.dumps(one, sort_keys=True)), default=None)


def _likelihood(analysis: dict[str, Any]) -> float:
    return float(analysis.get("pos_lex_logprob", -99.0))


def open_morphology(name: str) -> Morphology:
    """What a config's `morphology` names: `none`, `light` or `camel`.

    Raises:
        UsageError: What `camel` needs is missing; says how to get it.
    """
    if name == "none":
        return NoMorphology()
    return _camel(camel_database()) if name == "camel" else LIGHT


@cache
def _camel(database: Path) -> CamelMorphology:
    return CamelMorphology(database)


def morphology_version(name: str) -> str:
    """What items depend on: the name, and for `camel` the versions of its package and data.

    Raises:
        UsageError: What `camel` needs is missing; says how to get it.
    """
    if name != "camel":
        return name
    from importlib.metadata import PackageNotFoundError, version

    try:
        package = version("camel-tools")
    except PackageNotFoundError as error:
        raise UsageError(_missing_package()) from error
    database = camel_database()
    return f"camel-{package}-{CAMEL_DATABASE}-{_digest(database, database.stat().st_mtime_ns)}"


@cache
def _digest(database: Path, changed: int) -> str:  # noqa: ARG001 - another time, another file
    return sha256(database.read_bytes())


def camel_database() -> Path:
    """The database's file, where `camel_data` puts it. camel-tools itself is not imported: it would download.

    Raises:
        UsageError: It is not there; says how to get it.
    """
    folder = settings().camel_data
    catalogue = folder / "catalogue.json"
    missing = UsageError(
        f"morphology: camel-tools' data {CAMEL_DATABASE} is not in {folder}: run "
        f"`camel_data -i morphology-db-msa-r13` (or set CAMELTOOLS_DATA to its folder), {_FIX}"
    )
    try:
        told = json.loads(catalogue.read_text(encoding="utf-8"))
        place = told["components"]["MorphologyDB"]["datasets"][CAMEL_DATABASE]["path"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise missing from error
    database = folder / "data" / str(place) / "morphology.db"
    if not database.is_file():
        raise missing
    return database


def _missing_package() -> str:
    return f"morphology: camel-tools is not installed: run `pip install 'mihakk[nlp]'`, {_FIX}"


LIGHT: Final = LightMorphology()
