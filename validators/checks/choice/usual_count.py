"""CH11: an item offers as many options as the others."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import is_outside
from mihakk.validators.truth import says_truth


@check("CH11", severity="flag", on=ChoiceItem, title="as many options as all others of its task offer")
def usual_count(item: ChoiceItem, index: SetIndex) -> Objections:
    """Where nearly all items of the task and subset offer the same number of options, so does this one.

    A statement that is true or false has two answers among questions of any number. In an outside benchmark
    it is only counted: exams of several makers and tasks of several kinds stand in one file.
    """
    usual = index.usual_options.get((item.subset, item.task), len(item.options))
    if len(item.options) != usual and not (
        len(item.options) == 2 and says_truth(item.options, item.language_of("options"))
    ):
        yield Objection(
            f"{len(item.options)} options where others offer {usual}", "options", is_outside(item)
        )
