"""PO07: the metre that a poem's sounds give is the one its source names."""

from mihakk.machinery.prosody import sure_metres
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check


@check("PO07", severity="report", on=Poem, title="vocalised verse scans to the metre it is said to have")
def other_metre(poem: Poem) -> Objections:
    """Each section of an Arabic poem, where scansion is sure enough to speak, scans to its own metre.

    A finding for people, never a relabel: about one sure reading in sixty is wrong (docs/curation.md).
    """
    found = sure_metres(poem)
    for section in poem.sections:
        metre, confidence = found.get(section.index, ("", 0.0))
        if metre and section.metre and metre != section.metre:
            yield Objection(
                f"said to be {section.metre}, scans as {metre} ({confidence:.2f} sure)",
                f"sections[{section.index}].metre",
            )
