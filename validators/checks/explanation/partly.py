"""EX07: all verses are explained or none."""

from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check


@check("EX07", severity="flag", on=Poem, title="as many explanations as verses")
def partly(poem: Poem) -> Objections:
    """A poem with explanations has one for each verse; items of explanation can't be built otherwise."""
    verses = [couplet for couplet in poem.couplets if couplet.kind in ("couplet", "line")]
    count = sum(bool(couplet.explanation.strip()) for couplet in verses)
    if 0 < count < len(verses):
        yield Objection(f"{count} explanations for {len(verses)} verses", "couplets")
