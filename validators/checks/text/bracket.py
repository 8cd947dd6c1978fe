"""TX17: brackets open before they close."""

import re
from collections.abc import Iterator

from validators.checks.check import EVERYTHING, Objection, check
from validators.checks.texts import Texts, excerpt

_INSIDE = r"[^(){}\[\]\n]*\w[^(){}\[\]\n]*"
_PAIRS = ((r"\)", r"\("), (r"\}", r"\{"), (r"\]", r"\["))
MIRRORED = re.compile(
    "|".join(rf"(?:^|(?<=[\s:،.])){close}{_INSIDE}{opening}(?=$|[\s:،.؟])" for close, opening in _PAIRS),
    re.MULTILINE,
)


@check("TX17", severity="report", on=EVERYTHING, title="brackets the right way round", when=")}]")
def bracket(texts: Texts) -> Iterator[Objection]:
    """No words between a closing and an opening bracket: text stored as shown has them mirrored."""
    for where, found in texts.found(MIRRORED):
        yield Objection(f"brackets the wrong way round: {excerpt(found)}", where)
