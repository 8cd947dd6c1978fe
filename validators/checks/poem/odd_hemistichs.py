"""PO02: hemistichs come in pairs."""

from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check


@check("PO02", severity="flag", on=Poem, title="every couplet has two hemistichs")
def odd_hemistichs(poem: Poem) -> Objections:
    """No couplet lacks its second hemistich; free lines, bands and paragraphs are not couplets."""
    for i, couplet in enumerate(poem.couplets):
        if couplet.kind == "couplet" and (couplet.second is None or not couplet.second.shown.strip()):
            yield Objection("a couplet with one hemistich", f"couplets[{i}]")
