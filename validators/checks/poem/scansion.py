"""PO07: the metre that a poem's sounds give is the one its source names."""

from mihakk.machinery.prosody import SURE, scan
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check


@check("PO07", severity="report", on=Poem, title="vocalised verse scans to the metre it is said to have")
def other_metre(poem: Poem) -> Objections:
    """Each section of an Arabic poem, where scansion is sure enough to speak, scans to its own metre.

    A finding for people, never a relabel: about one sure reading in sixty is wrong (docs/curation.md).
    """
    if poem.language != "ar":
        return
    for section in poem.sections:
        lines = [
            (couplet.first.text, couplet.second.text)
            for couplet in poem.couplets
            if couplet.section == section.index and couplet.second is not None and not couplet.mudawwar
        ]
        if not section.metre or not lines:
            continue
        found = scan(*lines)
        if found.confidence >= SURE and found.metre_id != section.metre:
            yield Objection(
                f"said to be {section.metre}, scans as {found.metre_id} ({found.confidence:.2f} sure)",
                f"sections[{section.index}].metre",
            )
