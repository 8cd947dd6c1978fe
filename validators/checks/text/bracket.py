"""TX17: brackets open before they close."""

import re

from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, excerpt

_INSIDE = r"[^\w(){}\[\]\n]*+\w[^(){}\[\]\n]*+"
_PAIRS = ((r"\)", r"\("), (r"\}", r"\{"), (r"\]", r"\["))
OPENING = {")": "(", "}": "{", "]": "["}
MIRRORED = re.compile(
    "|".join(rf"(?:^|(?<=[\s:،.])){close}{_INSIDE}{opening}(?=$|[\s:،.؟])" for close, opening in _PAIRS),
    re.MULTILINE,
)


@check("TX17", severity="report", title="brackets the right way round", when=")}]")
def bracket(texts: Texts) -> Objections:
    """No words between a closing and an opening bracket: text stored as shown has them mirrored.

    Two pairs, each in order, have words between them as well.
    """
    for where, text in texts.parts:
        match = MIRRORED.search(text)
        if match is not None and not _in_order(text, match[0][0]):
            yield Objection(f"brackets the wrong way round: {excerpt(match[0])}", where)


def _in_order(text: str, closing: str) -> bool:
    """Whether every bracket of this kind closes one that was opened before."""
    opened, opening = 0, OPENING[closing]
    for char in text:
        opened += (char == opening) - (char == closing)
        if opened < 0:
            return False
    return opened == 0
