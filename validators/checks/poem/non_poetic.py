"""PO01: only verse among the verses."""

import re
from collections.abc import Iterator

from mihakk.machinery.languages import pack
from mihakk.machinery.text import words
from mihakk.schemas.poem import Couplet, Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import excerpt

NOISE = re.compile(
    r"https?://|www\.|<[/a-zA-Z][^<>]*>|&[a-z]+;|[*#=_]{3,}|\[[-…. ]+\]"
    r"|(?:^|\s)(?:وقال أيضا|وله أيضا|وقال في|تمت القصيدة|نهاية القصيدة|عدد الأبيات|شرح البيت)"
    r"(?!\w)|(?:البحر|القافية|حاشية)\s*:"
)
_LATIN = re.compile(r"[A-Za-z]{3,}")
_NUMBER = re.compile(r"\W*[0-9٠-٩۰-۹]+\W*")


@check("PO01", severity="flag", on=Poem, title="only verse among the verses")
def non_poetic(poem: Poem) -> Objections:
    """No separators, links, markup, bare numbers, headings or foreign letters among hemistichs."""
    for i, couplet in enumerate(poem.couplets):
        for where, text in _halves(couplet):
            match = NOISE.search(text) or (pack(poem.language).script != "Latn" and _LATIN.search(text))
            if match or _NUMBER.fullmatch(text) or (text.strip() and not words(text)):
                yield Objection(f"not verse: {excerpt(text)}", f"couplets[{i}].{where}")


def _halves(couplet: Couplet) -> Iterator[tuple[str, str]]:
    yield "first", couplet.first.shown
    if couplet.second is not None:
        yield "second", couplet.second.shown
