"""CH12: options stand for themselves."""

from collections.abc import Iterator

from schemas.item import ChoiceItem
from validators.checks.check import Objection, check
from validators.checks.meta_options import names_others
from validators.checks.texts import excerpt


@check("CH12", severity="report", on=ChoiceItem, title="no option names others by letter or place")
def other_options(item: ChoiceItem) -> Iterator[Objection]:
    """No option says `أ و ب معا` or `كل ما سبق`: once the options are shuffled it means something else."""
    for place, option in enumerate(item.options):
        if names_others(option, item.language):
            yield Objection(
                f"its meaning hangs on the order of the options: {excerpt(option)}", f"options[{place}]"
            )
