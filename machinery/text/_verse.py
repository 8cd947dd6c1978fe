"""Couplets whose two hemistichs share a word (mudawwar), and how pages show it."""

import re
from typing import Final, NamedTuple

from mihakk.machinery.text import codepoints as cp

_L: Final = f"[{cp.LETTERS}]"
_M: Final = f"[{cp.MARKS}]"
_JOIN: Final = f"[{cp.TATWEEL}{cp.ZWJ}]"
_IGNORED: Final = f"[\\s{cp.BIDI_CONTROLS}{cp.ZERO_WIDTH}{cp.ZWNJ}]*"

# The mark of a join at the end of the sadr or at the start of the ajuz.
_SADR_EDGE: Final = re.compile(f"(?<={_L})({_M}*)(?:\\||{_JOIN}+){_IGNORED}$")
_AJUZ_EDGE: Final = re.compile(f"^{_IGNORED}(?:\\||{_JOIN}+)(?={_L})")
# A bar inside the last word of the sadr or the first of the ajuz: the word is whole, the bar shows the cut.
_CUT_IN_SADR: Final = re.compile(f"(?<={_L})({_M}*)\\|((?:{_L}|{_M})+){_IGNORED}$")
_CUT_IN_AJUZ: Final = re.compile(f"^{_IGNORED}({_L}(?:{_L}|{_M})*)\\|(?={_L})")


class Couplet(NamedTuple):
    """Two hemistichs; `mudawwar` when the word at the end of the first goes on in the second."""

    sadr: str
    ajuz: str
    mudawwar: bool


def split_mudawwar(sadr: str, ajuz: str) -> Couplet:
    """Two raw hemistichs with the sign of a shared word (`|`, an edge tatweel or ZWJ) read and taken out.

    A bar inside a word moves the part beyond it to its own hemistich. A word split without a sign is left
    alone: nothing tells it from two words. A tatweel with no letter beside it is a blank, not a sign.
    """
    if cut := _CUT_IN_SADR.search(sadr):
        return Couplet(sadr[: cut.start()] + cut[1], f"{cut[2]} {ajuz.lstrip()}".rstrip(), True)
    if cut := _CUT_IN_AJUZ.search(ajuz):
        return Couplet(f"{sadr.rstrip()} {cut[1]}".lstrip(), ajuz[cut.end() :], True)
    left, ended = _SADR_EDGE.subn(r"\1", sadr)
    right, began = _AJUZ_EDGE.subn("", ajuz)
    if (ended and ajuz.strip()) or (began and sadr.strip()):
        return Couplet(left, right, True)
    return Couplet(sadr, ajuz, False)


def join(sadr: str, ajuz: str, *, mudawwar: bool = False) -> str:
    """The couplet as one line, its shared word whole."""
    if mudawwar:
        return sadr.rstrip() + ajuz.lstrip()
    return f"{sadr.strip()} {ajuz.strip()}".strip()
