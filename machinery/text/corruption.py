"""Signs of damage in a text: each kind has its own small finder that gives the places."""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text._tokens import strip_marks, words
from mihakk.machinery.text.encoding import repair_mojibake


class Damage(NamedTuple):
    """One place in a text that looks damaged."""

    kind: str
    """A key of `FINDERS`: `private_use`, `tanwin_for_yeh`, ..."""
    start: int
    end: int
    """The damaged characters are `text[start:end]`."""
    found: str


Span = tuple[int, int]
Finder = re.Pattern[str] | Callable[[str], Iterator[Span]]

_L: Final = f"[{cp.LETTERS}]"
_M: Final = f"[{cp.MARKS}]"
_FORMS: Final = "".join(sorted({*cp.FORM_LETTERS, *cp.FORM_MARKS} - {cp.ALLAH_LIGATURE}))


def corruption(text: str) -> list[Damage]:
    """Every sign of damage in `text`, by place and then by kind.

    Signs, not proof: canonical form fixes some kinds (presentation forms, controls), nobody can fix others.
    """
    found = [
        Damage(kind, start, end, text[start:end])
        for kind, finder in FINDERS.items()
        for start, end in spans(finder, text)
    ]
    return sorted(found, key=lambda damage: (damage.start, damage.kind))


def spans(finder: Finder, text: str) -> Iterator[Span]:
    """The places that a finder sees damage in."""
    return (
        (match.span() for match in finder.finditer(text)) if isinstance(finder, re.Pattern) else finder(text)
    )


PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    kind: re.compile(expression)
    for kind, expression in {
        # code points that are not text
        "replacement_character": f"{cp.REPLACEMENT}+",
        "private_use": "[\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]",
        "presentation_form": f"[{_FORMS}]+",
        "bidi_control": f"[{cp.BIDI_CONTROLS}]+",
        "invisible_character": f"[{cp.ZERO_WIDTH}{cp.SOFT_HYPHEN}]+",
        "control_character": f"[{re.escape(cp.CONTROLS)}]+",
        "font_slot": f"[{cp.FONT_SLOTS}]+",
        "markup": r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});|</?[a-zA-Z][^<>]{0,200}>?",
        # A tatweel, a no-break space or a dotted circle may carry a mark that is itself the subject.
        # A presentation form carries marks as its letter does.
        "orphan_mark": (
            f"(?<![{cp.LETTERS}{''.join(cp.FORM_LETTERS)}{cp.MARKS}{cp.TATWEEL}{cp.ZWNJ}\u25cc\u00a0])"
            f"[{cp.TYPED_MARKS}]+"
        ),
        "competing_marks": f"[{cp.VOWEL_SIGNS}]{{2,}}|{cp.SHADDA}{{2,}}",
        # text taken out of PDF
        "reversed_lam_alef": r"(?<!\w)[وفبكل]?(?:األ|اإل|اآل)\w*",
        # Dammatan and kasratan end a word, but for the waw of عمرٌو; fathatan may stand before its seat.
        "tanwin_for_yeh": (
            f"(?<={_L})[{cp.MARKS}]{{0,9}}[\u064c\u064d]{_M}{{0,9}}(?!و(?!{_L}|{_M})){_L}"
            f"|(?<={_L})\u064b{_M}{{0,9}}(?![اىیء]){_L}"
            f"|(?<![{cp.LETTERS}{cp.MARKS}])[\u064c\u064d]{_L}"
        ),
        # Speech draws out ا و ي and laughs in ه and خ; تتتابع is a word; dots and dashes are blanks.
        "repeated_character": "|".join((*(letter * 3 for letter in "بثجحدذرزسشصضطظعغفقكلمنءپچگک"), "تتتت")),
    }.items()
}
"""Kinds of damage that a pattern finds."""
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


def mojibake(text: str) -> Iterator[Span]:
    """The whole text, where reading it again with the right encoding fixes it."""
    if repair_mojibake(text):
        yield 0, len(text)


FINDERS: Final[dict[str, Finder]] = {**PATTERNS, "visual_order": visual_order, "mojibake": mojibake}
"""Every kind of damage."""
