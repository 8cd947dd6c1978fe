"""PO06: second hemistichs keep the rhyme."""

from mihakk.machinery.languages import pack
from mihakk.machinery.text import rhyme
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import excerpt

LEAST_COUPLETS = 6
SHARE = 0.75


@check("PO06", severity="report", on=Poem, title="second hemistichs keep the rhyme")
def broken_rhyme(poem: Poem) -> Objections:
    """In an Arabic poem whose second hemistichs mostly rhyme, all do: another ending hints at lost lines."""
    if pack(poem.language).rhyme != "rawi":
        return
    endings = [
        (i, couplet.second.shown)
        for i, couplet in enumerate(poem.couplets)
        if couplet.kind == "couplet" and couplet.second is not None
    ]
    if len(endings) < LEAST_COUPLETS:
        return
    rhymes = [rhyme(text, "ar") for _, text in endings]
    usual = max(sorted(set(rhymes)), key=rhymes.count)
    if rhymes.count(usual) < SHARE * len(rhymes):
        return
    for (i, text), own in zip(endings, rhymes, strict=True):
        if own != usual:
            yield Objection(
                f"rhymes in {own!r}, the poem in {usual!r}: {excerpt(text)}", f"couplets[{i}].second"
            )
