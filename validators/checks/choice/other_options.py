"""CH12: options stand for themselves."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.meta_options import name_others
from mihakk.validators.checks.texts import Texts, excerpt


@check(
    "CH12",
    severity="report",
    on=ChoiceItem,
    needs=("items",),
    title="no option names others by letter or place",
)
def other_options(item: ChoiceItem, texts: Texts) -> Objections:
    """No option says `أ و ب معا`, `كل ما سبق` or `أول إجابتين`: shuffled, it means something else."""
    for place in name_others(item.options, texts.option_folds(item.options)):
        yield Objection(
            f"its meaning hangs on the order of the options: {excerpt(item.options[place])}",
            f"options[{place}]",
        )
