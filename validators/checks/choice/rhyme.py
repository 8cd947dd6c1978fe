"""CH07 and CH08: hemistichs on offer share the rhyme."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.hemistich import has_rhyme, offers_hemistichs


@check("CH07", severity="flag", on=ChoiceItem, title="the rhyme alone does not single out the gold")
def rhyme_alone(item: ChoiceItem) -> Objections:
    """Where the options are hemistichs of a poem with a known rhyme, a wrong one has that rhyme too."""
    wrong, excluded = _excluded(item)
    if wrong and len(excluded) == wrong:
        yield Objection(f"only the gold has the poem's rhyme {item.metadata['rhyme']!r}", "options")


@check("CH08", severity="report", on=ChoiceItem, title="no wrong option breaks the rhyme")
def rhyme_partly(item: ChoiceItem) -> Objections:
    """Where the options are hemistichs of a poem with a known rhyme, all of them have it."""
    wrong, excluded = _excluded(item)
    if excluded and len(excluded) < wrong:
        for i in excluded:
            yield Objection(f"without the poem's rhyme {item.metadata['rhyme']!r}", f"options[{i}]")


def _excluded(item: ChoiceItem) -> tuple[int, list[int]]:
    """Number of wrong options, and those of them that the rhyme rules out; (0, []) where it says nothing."""
    if not offers_hemistichs(item):
        return 0, []
    wrong = [i for i in range(len(item.options)) if i != item.gold[0]]
    return len(wrong), [i for i in wrong if not has_rhyme(item.options[i], item)]
