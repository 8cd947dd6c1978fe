"""TX04: bytes were decoded with the encoding they were written in."""

import re

from mihakk.machinery.text.corruption import mojibake as misread
from mihakk.validators.checks.check import Objections, check
from mihakk.validators.checks.damage import damaged
from mihakk.validators.checks.texts import Texts

# What the bytes behind the first one of every Arabic letter in UTF-8 look like in the two encodings.
_IN_1256 = re.escape(bytes(range(0x80, 0xC0)).decode("cp1256"))
_IN_1252 = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
GARBLED = re.compile(
    rf"(?:[طظ][{_IN_1256}]\s?){{3,}}"
    rf"|(?:[ÃÂØÙÚÛ][{_IN_1252}]){{2,}}"
    r"|[\u00c0-\u00ff]{5,}"  # Windows-1256 read as a Western encoding
)
_SIGNS = (set(map(chr, range(0x80, 0x100))) | set(bytes(range(0x80, 0xC0)).decode("cp1256"))) - set(
    "،؛؟«»–—‘’“”…•·×÷°±\u00a0\u200c\u200dپچژگکںھ"
)


@check("TX04", severity="flag", title="no text decoded with the wrong encoding", when=_SIGNS)
def mojibake(texts: Texts) -> Objections:
    """No run of the letters that UTF-8 or Windows-1256 bytes turn into when read as another encoding."""
    garbled = list(damaged(texts, GARBLED, "wrongly decoded"))
    yield from garbled or damaged(texts, misread, "wrongly decoded")
