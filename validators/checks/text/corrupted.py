"""TX03, TX05, TX06, TX08 to TX12, TX14, TX19: none of the damage that `mihakk.machinery.text` finds."""

from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text.corruption import PATTERNS
from mihakk.validators.checks.check import Objections, check
from mihakk.validators.checks.damage import damaged
from mihakk.validators.checks.texts import Texts


@check("TX03", severity="block", title="no replacement character", when=cp.REPLACEMENT)
def replacement_character(texts: Texts) -> Objections:
    """No U+FFFD: a decoder puts it where it could not read the bytes."""
    yield from damaged(texts, PATTERNS["replacement_character"], "characters lost in decoding")


@check("TX05", severity="block", title="no private-use character", when=PATTERNS["private_use"].search)
def private_use(texts: Texts) -> Objections:
    """No private-use character, lone surrogate or non-character: only some font knew what it stood for."""
    yield from damaged(texts, PATTERNS["private_use"], "a character without meaning outside its font")


@check("TX06", severity="flag", title="no control character", when=cp.CONTROLS)
def control_character(texts: Texts) -> Objections:
    """No C0 or C1 control character besides white space."""
    yield from damaged(texts, PATTERNS["control_character"], "a control character")


@check(
    "TX08",
    severity="flag",
    title="no presentation form in place of a letter",
    when=PATTERNS["presentation_form"].search,
)
def presentation_form(texts: Texts) -> Objections:
    """No Arabic presentation form but the word Allah and signs that no letters spell, as honorifics."""
    yield from damaged(texts, PATTERNS["presentation_form"], "the shape of a letter, not the letter")


@check("TX09", severity="flag", title="no mark without its letter", when=PATTERNS["orphan_mark"].search)
def orphan_mark(texts: Texts) -> Objections:
    """No haraka at the start of a text or behind anything but a letter.

    A mark on a tatweel or a dotted circle shows the mark itself, as in questions of grammar; a shadda behind
    its vowel is how Unicode orders the two.
    """
    yield from damaged(texts, PATTERNS["orphan_mark"], "a mark without its letter")


@check(
    "TX10", severity="flag", title="lam and alef in their order", when=PATTERNS["reversed_lam_alef"].search
)
def reversed_lam_alef(texts: Texts) -> Objections:
    """No word in which PDF extraction put the alef of a lam-alef ligature first: `األرض` for `الأرض`."""
    yield from damaged(texts, PATTERNS["reversed_lam_alef"], "the alef of a lam-alef stands first")


@check("TX11", severity="flag", title="no tanwin inside a word", when=PATTERNS["tanwin_for_yeh"].search)
def tanwin_for_yeh(texts: Texts) -> Objections:
    """No tanwin with a letter after it: broken fonts give it in place of yeh (`الخاصٌة`)."""
    yield from damaged(texts, PATTERNS["tanwin_for_yeh"], "tanwin inside a word, perhaps for yeh")


@check("TX12", severity="flag", title="no run of one letter", when=PATTERNS["repeated_character"].search)
def repeated_character(texts: Texts) -> Objections:
    """No letter three times in a row, drawn-out vowels and laughter of dialects apart."""
    yield from damaged(texts, PATTERNS["repeated_character"], "one letter in a row")


@check("TX14", severity="flag", title="no letter that only a broken font has", when=cp.FONT_SLOTS)
def font_slot(texts: Texts) -> Objections:
    """No code point that text extraction takes for a letter and no language writes (`ػ`, `ؽ`)."""
    yield from damaged(texts, PATTERNS["font_slot"], "a slot of a broken font, not a letter")


@check(
    "TX19", severity="flag", title="no two vowel signs on one letter", when=PATTERNS["competing_marks"].search
)
def competing_marks(texts: Texts) -> Objections:
    """No letter carries two vowel signs, or one of them twice; shadda with a vowel is fine."""
    yield from damaged(texts, PATTERNS["competing_marks"], "two vowel signs on one letter")
