"""Every table of the text package that no one language owns, by code point and name (Unicode 14).

Sources: the Unicode Character Database, and what real pages hold (docs/text.md).
"""

import unicodedata
from typing import Final

# --- single code points the rules name --------------------------------------------------------------
TATWEEL: Final = "\u0640"
ZWNJ: Final = "\u200c"
ZWJ: Final = "\u200d"
HEH: Final = "\u0647"
ALEF: Final = "\u0627"
YEH: Final = "\u064a"  # Arabic
ALEF_MAKSURA: Final = "\u0649"
FARSI_YEH: Final = "\u06cc"
KAF: Final = "\u0643"  # Arabic
KEHEH: Final = "\u06a9"  # Persian kaf
HAMZA: Final = "\u0621"
HAMZA_ABOVE: Final = "\u0654"
HAMZA_BELOW: Final = "\u0655"
YEH_WITH_HAMZA: Final = "\u0626"
ALLAH_LIGATURE: Final = "\ufdf2"
REPLACEMENT: Final = "\ufffd"
SHADDA: Final = "\u0651"
SUKUN: Final = "\u0652"
FATHATAN: Final = "\u064b"
FATHA: Final = "\u064e"
SUPERSCRIPT_ALEF: Final = "\u0670"


def _span(*ranges: tuple[int, int]) -> str:
    """The characters of inclusive code point ranges."""
    return "".join(chr(cp) for first, last in ranges for cp in range(first, last + 1))


# --- sets -------------------------------------------------------------------------------------------
# Combining marks of the Arabic script: honorifics, harakat, hamza and madda above or below, the superscript
# alef, Quranic annotation. Signs of the same ranges that are not combining (U+06DD, 06DE, 06E9) stay out.
MARKS: Final = _span(
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06DC),
    (0x06DF, 0x06E4),
    (0x06E7, 0x06E8),
    (0x06EA, 0x06ED),
    (0x0898, 0x089F),
    (0x08CA, 0x08E1),
    (0x08E3, 0x08FF),
)
# The marks that vocalise a letter, not make it: all but madda and hamza above or below.
VOCALISATION: Final = "".join(c for c in MARKS if not "\u0653" <= c <= HAMZA_BELOW)
# The marks people type, and so lose behind a space. Quranic pause signs stand there by right.
TYPED_MARKS: Final = _span((0x064B, 0x0655), (0x0670, 0x0670))
# The vowel signs a letter can carry only one of (shadda apart): what makes two marks compete for one letter.
VOWEL_SIGNS: Final = _span((0x064B, 0x0650), (0x0652, 0x0652))
# Letters of the Arabic script, tatweel, small waw and small yeh excepted.
LETTERS: Final = _span(
    (0x0620, 0x063F), (0x0641, 0x064A), (0x066E, 0x066F), (0x0671, 0x06D3), (0x06D5, 0x06D5), (0x06EE, 0x06EF)
) + _span((0x06FA, 0x06FC), (0x06FF, 0x06FF), (0x0750, 0x077F), (0x08A0, 0x08C9))
# Letters which never join the letter after them, so that no kashida can stand behind them.
NON_JOINING: Final = (
    "\u0621\u0622\u0623\u0624\u0625\u0627\u0629\u062f\u0630\u0631\u0632\u0648\u0649"  # ء to و, ى
    "\u0671\u0672\u0673\u0675\u0676\u0677\u0688\u0689\u068a\u068b\u068c\u068d\u068e\u068f\u0690"
    "\u0691\u0692\u0693\u0694\u0695\u0696\u0697\u0698\u0699\u06c0\u06c3\u06c4\u06c5\u06c6\u06c7"
    "\u06c8\u06c9\u06ca\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef"
)

# --- characters which leave `text`, by the kind under which the change is counted -------------------
BIDI_CONTROLS: Final = "\u061c\u200e\u200f" + _span((0x202A, 0x202E), (0x2066, 0x2069))
ZERO_WIDTH: Final = "\u200b\u2060\u180e\ufeff"  # zero width space, word joiner, Mongolian separator, BOM
SOFT_HYPHEN: Final = "\u00ad"
CONTROLS: Final = "".join(
    chr(cp) for cp in (*range(0x20), *range(0x7F, 0xA0)) if not chr(cp).isspace()
)  # C0 and C1, white space excepted
# White space other than U+0020 (a line break is handled apart).
SPACES: Final = "\t\x1f\u00a0\u1680" + _span((0x2000, 0x200A)) + "\u202f\u205f\u3000"
LINE_BREAKS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"

REMOVED: Final = {
    "bidi_control": BIDI_CONTROLS,
    "zero_width": ZERO_WIDTH,
    "soft_hyphen": SOFT_HYPHEN,
    "control": CONTROLS,
}

# --- letters ----------------------------------------------------------------------------------------
# Arabic words whose last letter is alef maksura whatever the keyboard typed: the final Farsi yeh of anything
# else is read as yeh, unless a fatha before it says otherwise.
MAKSURA_WORDS: Final = frozenset(
    ["على", "إلى", "الى", "حتى", "متى", "بلى", "لدى", "سوى", "عسى", "أنى", "هدى", "موسى", "عيسى", "مصطفى"]
)
KIND_OF_LETTER: Final = {
    **dict.fromkeys((FARSI_YEH, YEH, ALEF_MAKSURA, "\u06d2"), "yeh"),
    **dict.fromkeys((KEHEH, KAF, "\u06aa"), "kaf"),
    **dict.fromkeys("\u06be\u06c1\u06d5\u06c0\u06c2\u06c3", "heh"),
}

# --- presentation forms -----------------------------------------------------------------------------
# Signs and whole phrases in one code point: their expansion would add words, or turn a sign into a word.
KEPT_FORMS: Final = (
    "\ufdf0\ufdf1\ufdfa\ufdfb\ufdfc\ufdfd"  # salla and qala stop signs, two honorifics, rial, basmala
)


def _forms() -> tuple[dict[str, str], dict[str, str]]:
    """Letters by presentation form, and marks by isolated presentation form."""
    letters, marks = {}, {}
    for form in _span((0xFB00, 0xFB06), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)):
        folded = unicodedata.normalize("NFKC", form)
        if folded == form or form in KEPT_FORMS:
            continue
        # U+FE70, FC5E and their like decompose to a space or a tatweel with a mark: only the mark is text.
        bare = folded.replace(" ", "").replace(TATWEEL, "")
        if all(c in MARKS for c in bare):
            marks[form] = bare
        else:
            letters[form] = folded
    return letters, marks


FORM_LETTERS, FORM_MARKS = _forms()

# --- keys -------------------------------------------------------------------------------------------
# Letters of one key, beside what compatibility decomposition and the loss of marks already bring together
# (أ إ آ to ا, ؤ to و, ئ to ي). A lone hamza is dropped: جاء and جا, شيء and شئ are written for each other.
KEY_LETTERS: Final = {
    HAMZA: "",
    "\u0674": "",  # high hamza
    TATWEEL: "",
    "\u06e5": "",  # small waw
    "\u06e6": "",  # small yeh
    "\u0671": ALEF,  # alef wasla
    "\u0672": ALEF,  # alef with wavy hamza above
    "\u0673": ALEF,  # and below
    ALEF_MAKSURA: YEH,
    FARSI_YEH: YEH,
    "\u06d2": YEH,
    "\u0620": YEH,  # Kashmiri yeh
    "\u06cd": YEH,  # yeh with tail
    "\u06d0": YEH,  # e
    KEHEH: KAF,
    "\u06aa": KAF,
    "\u06be": HEH,
    "\u06c1": HEH,
    "\u06c3": HEH,
    "\u06d5": HEH,
    "\u0629": HEH,  # teh marbuta
}
# Punctuation that stands inside a word and so does not end it in a key with spaces.
WORD_INTERNAL: Final = "'\u2019\u02bc"

# --- fonts ------------------------------------------------------------------------------------------
# Letters no Arabic or Persian text has: slots of fonts which text extraction from PDF takes for letters.
FONT_SLOTS: Final = "\u063b\u063c\u063d\u063e\u063f\u0658\u0659\u065a\u065b\u065c\u065d\u065e"
