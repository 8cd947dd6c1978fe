"""PO03: as many couplets as the source says."""

from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check


@check("PO03", severity="flag", on=Poem, title="as many couplets as the source declares")
def declared_count(poem: Poem) -> Objections:
    """The units of verse read, refrain bands included, are as many as the source says the poem has."""
    counted = sum(couplet.kind != "paragraph" for couplet in poem.couplets)
    if poem.declared_couplets is not None and poem.declared_couplets != counted:
        yield Objection(
            f"the source declares {poem.declared_couplets} couplets, {counted} were read", "couplets"
        )
