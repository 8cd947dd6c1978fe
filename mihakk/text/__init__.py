"""Canonical text, keys, words, verse and encodings of Arabic and Persian (and the English beside them)."""

from mihakk.text._tokens import strip_marks, tokens, words
from mihakk.text._verse import Couplet, join, split_mudawwar
from mihakk.text.canonical import Canonical, canonical, canonicalize
from mihakk.text.codepoints import Language
from mihakk.text.corruption import Damage, corruption
from mihakk.text.encoding import Decoded, Repair, decode, repair_mojibake
from mihakk.text.key import key, word_keys, words_key
from mihakk.text.rhyme import poem_rhyme, rhyme
from mihakk.text.script import arabic_share, script_shares, wrong_letters
from mihakk.text.seen import as_seen

__all__ = [
    "Canonical",
    "Couplet",
    "Damage",
    "Decoded",
    "Language",
    "Repair",
    "arabic_share",
    "as_seen",
    "canonical",
    "canonicalize",
    "corruption",
    "decode",
    "join",
    "key",
    "poem_rhyme",
    "repair_mojibake",
    "rhyme",
    "script_shares",
    "split_mudawwar",
    "strip_marks",
    "tokens",
    "word_keys",
    "words",
    "words_key",
    "wrong_letters",
]
