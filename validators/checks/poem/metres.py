"""PO04: one poem, one metre."""

from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check


@check("PO04", severity="flag", on=Poem, title="sections of one form and rhyme share the metre")
def metres(poem: Poem) -> Objections:
    """Sections that share form and rhyme share the metre as well; another form may bring its own."""
    seen: dict[tuple[str, str], str] = {}
    for section in poem.sections:
        if not section.metre:
            continue
        first = seen.setdefault((section.form, section.rhyme), section.metre)
        if first != section.metre:
            yield Objection(
                f"metres {first!r} and {section.metre!r} in one poem", f"sections[{section.index}]"
            )
