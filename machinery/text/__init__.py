"""Canonical text, keys, words, verse and encodings of Arabic and Persian (and the English beside them)."""

from mihakk.machinery.text._tokens import strip_marks, tokens, words
from mihakk.machinery.text._verse import Couplet, join, split_mudawwar
from mihakk.machinery.text.canonical import Canonical, canonical, canonicalize
from mihakk.machinery.text.corruption import Damage, corruption
from mihakk.machinery.text.encoding import Decoded, Repair, decode, repair_mojibake
from mihakk.machinery.text.key import key, word_keys, words_key
from mihakk.machinery.text.rhyme import poem_rhyme, rhyme
from mihakk.machinery.text.script import arabic_share, script_shares, wrong_letters
from mihakk.machinery.text.seen import as_seen
from mihakk.schemas.record import Language

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
