"""Finds the pack of a language, or makes the default one of what Unicode tells."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable
from functools import cache, lru_cache
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, TypeVar

from mihakk.machinery.configs import load_yaml, validate
from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages.pack import LEVELS, Level, Pack, Writing
from mihakk.machinery.registry import brought_by, installed
from mihakk.schemas.record import LANGUAGE_CODE, Language

T = TypeVar("T")
PLUGIN: Final = "language"
"""Entry points whose name is a language's code and whose value is a package that holds `pack.yaml`."""
FILE: Final = "pack.yaml"
SCRIPTS: Final = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARMENIAN": "Armn", "GEORGIAN": "Geor",
    "HEBREW": "Hebr", "ARABIC": "Arab", "SYRIAC": "Syrc", "THAANA": "Thaa", "NKO": "Nkoo",
    "ETHIOPIC": "Ethi", "DEVANAGARI": "Deva", "BENGALI": "Beng", "GURMUKHI": "Guru", "GUJARATI": "Gujr",
    "ORIYA": "Orya", "TAMIL": "Taml", "TELUGU": "Telu", "KANNADA": "Knda", "MALAYALAM": "Mlym",
    "SINHALA": "Sinh", "THAI": "Thai", "LAO": "Laoo", "TIBETAN": "Tibt", "MYANMAR": "Mymr",
    "KHMER": "Khmr", "MONGOLIAN": "Mong", "CJK": "Hani", "HIRAGANA": "Jpan", "KATAKANA": "Jpan",
    "BOPOMOFO": "Hani", "HANGUL": "Kore",
}  # fmt: skip
"""First word of a letter's Unicode name to the ISO 15924 code that languages are tagged with."""
RIGHT_TO_LEFT: Final = frozenset(("Hebr", "Arab", "Syrc", "Thaa", "Nkoo"))
OTHERWISE: Final = "en"
"""Whose words stand in for those of a language that has none."""
SHARE: Final = 0.95
"""Share of texts whose letters are mostly of one script from which that script is the language's."""
_SCRIPT: Final = re.compile("-([A-Z][a-z]{3})(?:-|$)")
_OWN: Final = files("mihakk.machinery.languages")


class ByLanguage(dict[str, T]):
    """What is worked out of a pack, once a language."""

    def __init__(self, make: Callable[[Pack], T]) -> None:
        self._make = make

    def __missing__(self, language: str) -> T:
        self[language] = made = self._make(pack(language))
        return made


@lru_cache(1024)
def pack(language: str) -> Pack:
    """The pack of a language: its own, that of the language without region or script, or the default one.

    Raises:
        UsageError: The code is none of BCP 47, or an installed pack can't be used.
    """
    if not re.fullmatch(LANGUAGE_CODE, language):
        raise UsageError(
            f"language is {language!r}: it must be a BCP 47 code, as {', '.join(languages('items'))}"
        )
    known, tag = _packs(), language
    while tag not in known and "-" in tag:
        tag = tag.rpartition("-")[0]
    script = found[1] if (found := _SCRIPT.search(language)) else ""
    if tag in known:
        one = known[tag]
        return one if script in ("", one.script) else one.model_copy(update=_written_in(script))
    return Pack(code=language, name=language, **_written_in(script))  # type: ignore[arg-type]


def _written_in(script: str) -> dict[str, object]:
    """What a script alone tells; a pack's own spelling is none of another script's."""
    direction = "auto" if not script else "rtl" if script in RIGHT_TO_LEFT else "ltr"
    return {"script": script, "direction": direction, "writing": Writing()}


def languages(level: Level = "audit") -> tuple[Language, ...]:
    """Codes of all packs that are fit for a level, those fit for most first, then from right to left."""
    found = [one for one in _packs().values() if one.at_least(level)]
    found.sort(key=lambda one: (-LEVELS.index(one.level), one.direction != "rtl", one.code))
    return tuple(one.code for one in found)


def require_level(language: str, level: Level, what: str) -> None:
    """Refuses a language that is not fit for what is asked, by `unfit`.

    Raises:
        UsageError: With what its pack lacks.
    """
    if why := unfit(language, level, what):
        raise UsageError(why)


def unfit(language: str, level: Level, what: str) -> str:
    """Why a language is not fit for what is asked; empty where it is.

    Args:
        language: Its code.
        level: What is needed.
        what: What needs it, for the message: `poems`.
    """
    one = pack(language)
    if one.at_least(level):
        return ""
    has = f"its pack is of level {one.level}" if one.own else "it has none, so that sets are audited alone"
    return (
        f"language is {language!r}: {what} need a pack of level {level}, and {has}; "
        f"packs of that level: {', '.join(languages(level))}"
    )


def stand_in(language: str, known: Container[str]) -> Language:
    """The language whose words are used where texts are of a language that may have none of its own.

    Its own, that of the language without script or region, or English.
    """
    tag = language
    while tag not in known and "-" in tag:
        tag = tag.rpartition("-")[0]
    return tag if tag in known else OTHERWISE


def language_name(language: str) -> str:
    """A language in English; what is no code stays as it is."""
    return pack(language).name if re.fullmatch(LANGUAGE_CODE, language) else language


def language_named(name: str) -> Language | None:
    """The code that a table's cell names: a BCP 47 code, or a code or name of a pack (`Arabic`, `ara`)."""
    told = name.strip()
    folded = told.casefold()
    for one in _packs().values():
        if folded in (one.code, one.name.casefold(), one.own_name.casefold(), *one.names):
            return one.code
    primary, _, rest = told.replace("_", "-").partition("-")
    tag = "-".join((primary.lower(), *_cased(rest))) if rest else primary.lower()
    return tag if re.fullmatch(LANGUAGE_CODE, tag) else None


def _cased(rest: str) -> Iterable[str]:
    for part in rest.split("-"):
        yield part.title() if len(part) == 4 else part.upper() if len(part) < 4 else part.lower()


def found_script(texts: Iterable[str]) -> str:
    """The script that nearly all texts are written in, by ISO 15924; empty where they differ.

    A Japanese text may have more Chinese characters than kana.
    """
    scripts: Counter[str] = Counter()
    for text in texts:
        letters: Counter[str] = Counter()
        for char, count in Counter(text).items():
            if char.isalpha():
                letters[_script_of(char)] += count
        if letters["Jpan"]:
            letters["Jpan"] += letters.pop("Hani", 0)
        if letters:
            scripts[letters.most_common(1)[0][0]] += 1
    if not scripts:
        return ""
    if scripts["Jpan"] > scripts["Hani"]:
        scripts["Jpan"] += scripts.pop("Hani", 0)
    script, texts_of = scripts.most_common(1)[0]
    return script if texts_of >= SHARE * scripts.total() else ""


def written_in(script: str, char: str) -> bool:
    """Whether a letter is of a script; Japanese is written with Chinese characters as well."""
    own = _script_of(char)
    return own == script or (script == "Jpan" and own == "Hani")


@lru_cache(1 << 14)
def _script_of(char: str) -> str:
    return SCRIPTS.get(unicodedata.name(char, "").partition(" ")[0].partition("-")[0], "")


@cache
def _packs() -> dict[str, Pack]:
    """Every pack by its code.

    Raises:
        UsageError: One of another package can't be used; the message names both.
    """
    found = {folder.name: _read(folder.name, folder / FILE) for folder in _folders()}
    for point in installed(PLUGIN):
        try:
            if point.name in found:
                raise ValueError(f"two packs are of the language {point.name!r}")
            found[point.name] = _read(point.name, files(point.value) / FILE)
        except Exception as error:
            raise UsageError(
                f"the language {point.name!r} of the package {brought_by(point)} can't be used "
                f"({type(error).__name__}: {error}): correct, update or uninstall that package"
            ) from error
    return found


def _folders() -> list[Traversable]:
    return sorted((one for one in _OWN.iterdir() if (one / FILE).is_file()), key=lambda one: one.name)


def _read(code: str, file: Traversable) -> Pack:
    path = Path(str(file))
    return validate({**load_yaml(path, own=True), "code": code, "own": True}, Pack, str(path))


def origin(language: str) -> str:
    """Package and version that brought a pack; empty for our own."""
    points: dict[str, EntryPoint] = {point.name: point for point in installed(PLUGIN)}
    return brought_by(points[language]) if language in points else ""
