"""TX21: no page's markup in the text."""

import re

from mihakk.validators.checks.check import Objections, check
from mihakk.validators.checks.damage import damaged
from mihakk.validators.checks.texts import Texts

# Tags by name, for `<p>` alone, `a<b` and `x > y` are algebra; a closing tag or attributes are none. Raised
# and lowered letters have no other notation in plain text.
TAG = re.compile(
    r"</(?!su[bp]\s*>)[a-zA-Z]\w*\s*>|<(?:br|hr|img|wbr)\s*/?>"
    r"|<(?:a|b|i|u|p|em|div|font|span|strong|table|t[dhr]|li|[ou]l|h[1-6])\s+[a-z-]+\s*=[^<>]*>"
    r"|&(?:nbsp|amp|lt|gt|quot|apos|zwnj|zwj|[lr]aquo|#\d{2,6}|#x[0-9a-fA-F]{2,6});"
)
MARKED = re.compile(
    r"\b(?:bold|underlin|italic|highlight)|تحته? خط|تحتها خط|خط كشيده|خط کشیده", re.IGNORECASE
)


@check("TX21", severity="flag", title="no markup left in the text", when="<&")
def markup(texts: Texts) -> Objections:
    """No HTML tag or entity; single letters in angle brackets and inequalities are algebra.

    A question about what is bold or underlined needs the tag that says so.
    """
    if not MARKED.search(texts.joined):
        yield from damaged(texts, TAG, "markup")
