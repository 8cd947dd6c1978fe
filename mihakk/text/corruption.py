"""Signs of damage in a text: each kind has its own small finder that gives the places."""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from mihakk.text import codepoints as cp
from mihakk.text._tokens import strip_marks, words
from mihakk.text.encoding import repair_mojibake


class Damage(NamedTuple):
    """One place in a text that looks damaged."""

    kind: str
    """Name of the finder: `private_use`, `tanwin_for_yeh`, ..."""
    start: int
    end: int
    """The damaged characters are `text[start:end]`."""
    found: str


Span = tuple[int, int]
Finder = Callable[[str], Iterator[Span]]

_L: Final = f"[{cp.LETTERS}]"
_M: Final = f"[{cp.MARKS}]"


def corruption(text: str) -> list[Damage]:
    """Every sign of damage in `text`, by place and then by kind.

    Signs, not proof: canonical form fixes some kinds (presentation forms, controls), nobody can fix others.
    """
    found = [
        Damage(kind, start, end, text[start:end])
        for kind, finder in FINDERS.items()
        for start, end in finder(text)
    ]
    return sorted(found, key=lambda damage: (damage.start, damage.kind))


class PatternFinder:
    """A finder whose places are the matches of a pattern; `search` tells quickly whether there is one."""

    __slots__ = ("_finditer", "search")

    def __init__(self, expression: str) -> None:
        compiled = re.compile(expression)
        self._finditer = compiled.finditer
        self.search = compiled.search

    def __call__(self, text: str) -> Iterator[Span]:
        return (match.span() for match in self._finditer(text))


_pattern = PatternFinder


# --- code points that are not text ------------------------------------------------------------------------
replacement_character = _pattern(f"{cp.REPLACEMENT}+")
private_use = _pattern("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd\ufdd0-\ufdef\ufffe\uffff]+")
presentation_form = _pattern(f"[{''.join(cp.FORM_LETTERS)}{''.join(cp.FORM_MARKS)}]+")
bidi_control = _pattern(f"[{cp.BIDI_CONTROLS}]+")
invisible_character = _pattern(f"[{cp.ZERO_WIDTH}{cp.SOFT_HYPHEN}]+")
control_character = _pattern(f"[{re.escape(cp.CONTROLS)}]+")
font_slot = _pattern(f"[{cp.FONT_SLOTS}]+")
markup = _pattern(r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});|</?[a-zA-Z][^<>]{0,200}>?")

# --- marks ------------------------------------------------------------------------------------------------
# A tatweel, a no-break space or a dotted circle may carry a mark that is itself the subject.
# A presentation form carries marks as its letter does.
_FORMS: Final = "".join(cp.FORM_LETTERS)
orphan_mark = _pattern(
    f"(?<![{cp.LETTERS}{_FORMS}{cp.MARKS}{cp.TATWEEL}{cp.ZWNJ}\u25cc\u00a0])[{cp.TYPED_MARKS}]+"
)
competing_marks = _pattern(f"[{cp.VOWEL_SIGNS}]{{2,}}|{cp.SHADDA}{{2,}}")


# --- text taken out of PDF --------------------------------------------------------------------------------
reversed_lam_alef = _pattern(r"(?<!\w)[وفبكل]?(?:األ|اإل|اآل)\w*")
# Dammatan and kasratan end a word, but for the silent waw of عمرٌو; fathatan may stand before its seat.
tanwin_for_yeh = _pattern(
    f"(?<={_L})[{cp.MARKS}]{{0,9}}[\u064c\u064d]{_M}{{0,9}}(?!و(?!{_L}|{_M})){_L}"
    f"|(?<={_L})\u064b{_M}{{0,9}}(?![اىیء]){_L}"
    f"|(?<![{cp.LETTERS}{cp.MARKS}])[\u064c\u064d]{_L}"
)
_BACKWARD_START: Final = re.compile(f"(?<!{_L})(?<!{_M})[ةى][{cp.MARKS}{cp.LETTERS}]*{_L}")
_OVERRIDDEN: Final = re.compile("[\u202d\u202e][^\u202c]*")
_BRACKETED: Final = re.compile(r"(?:^|(?<=\s))\)[^\w()\n]*+\w[^()\n]*+\((?=$|[\s:،.؟])", re.MULTILINE)


def visual_order(text: str) -> Iterator[Span]:
    """Text stored as the page shows it: inside an override, behind a mirrored bracket, or word by word.

    A word that begins with teh marbuta or alef maksura is one sign; articles that all end words are another.
    """
    for pattern in (_OVERRIDDEN, _BRACKETED, _BACKWARD_START):
        yield from (match.span() for match in pattern.finditer(text))
    bare = [strip_marks(word) for word in words(text) if cp.FATHATAN not in word]
    bare = [word for word in bare if len(word) > 3]
    backward = sum(word.endswith("لا") for word in bare)
    if backward >= 3 and 2 * backward > len(bare) and not any(word.startswith("ال") for word in bare):
        yield 0, len(text)


# --- runs, encodings ----------------------------------------------------------------------------------------
# Dialects draw out ا و ي and laugh in ه and خ; dots and dashes are blanks; three ت begin تتتابع.
_DRAWN: Final = "اويیىهخآ"
repeated_character = _pattern(
    f"([{''.join(c for c in cp.LETTERS if c not in _DRAWN)}])\\1{{3,}}|([{_DRAWN}])\\2{{9,}}"
)


def mojibake(text: str) -> Iterator[Span]:
    """The whole text, where reading it again with the right encoding fixes it."""
    if repair_mojibake(text):
        yield 0, len(text)


FINDERS: Final[dict[str, Finder]] = {
    "replacement_character": replacement_character,
    "private_use": private_use,
    "presentation_form": presentation_form,
    "bidi_control": bidi_control,
    "invisible_character": invisible_character,
    "control_character": control_character,
    "font_slot": font_slot,
    "markup": markup,
    "orphan_mark": orphan_mark,
    "competing_marks": competing_marks,
    "reversed_lam_alef": reversed_lam_alef,
    "tanwin_for_yeh": tanwin_for_yeh,
    "visual_order": visual_order,
    "repeated_character": repeated_character,
    "mojibake": mojibake,
}
