"""PO05: hemistichs of one metre are about as long."""

from statistics import median

from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, excerpt

LEAST_HEMISTICHS = 8
SHORT, LONG = 0.5, 1.8


@check("PO05", severity="flag", on=Poem, title="no hemistich far shorter or longer than the others")
def hemistich_length(poem: Poem, texts: Texts) -> Objections:
    """No hemistich has under half or over 1.8 times the letters of its poem's median: lost or merged text."""
    halves = [
        (where, text, len(texts.key(text)))
        for where, text in texts.parts
        if where.endswith((".first", ".second"))
        and poem.couplets[int(where[9 : where.index("]")])].kind == "couplet"
    ]
    if len(halves) < LEAST_HEMISTICHS or len({section.metre for section in poem.sections}) > 1:
        return
    usual = median(letters for _, _, letters in halves)
    for where, text, letters in halves:
        if letters and not SHORT * usual <= letters <= LONG * usual:
            yield Objection(f"{letters} letters where {usual:.0f} are usual: {excerpt(text)}", where)
