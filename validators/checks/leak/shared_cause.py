"""RW03 to RW06: what is wrong with many rows of an outside benchmark for one cause."""

from mihakk.schemas.item import ChoiceItem, QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.gathering import part_of, template_marks
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts, excerpt


@check("RW03", severity="flag", on=QuestionItem, title="no text of one other row stands in place of its own")
def foreign_text(item: QuestionItem, index: SetIndex) -> Objections:
    """No row of an outside benchmark holds a text that stands in many others, in the same or other words.

    Such a text offers the same options everywhere, and keys that were made for other questions. A row that
    holds only a part of it, such as one option, is meant too.
    """
    if item.id in index.foreign:
        seed, rows = index.foreign[item.id]
        yield Objection(f"one text stands in place of {rows:,} rows' own, most of it in {seed}")


@check("RW04", severity="flag", on=QuestionItem, title="question and answers stand in one row")
def shifted_block(item: QuestionItem, index: SetIndex) -> Objections:
    """No row lies in a block whose questions go with the answers of the row beside them.

    That is told by the words that questions share with answers, or by golds written as texts; a letter or
    number that was shifted is not seen.
    """
    if item.id in index.shifted:
        first, last, by = index.shifted[item.id]
        beside = "next" if by > 0 else "previous"
        yield Objection(f"the answers are those of the {beside} row, from {first} to {last}")


@check("RW05", severity="flag", on=ChoiceItem, title="the key counts from the first option")
def off_by_one(item: ChoiceItem, index: SetIndex) -> Objections:
    """No part of a set has a key that counts one too far: golds beyond the options, none the first."""
    rows = index.off_by_one.get(part_of(item)) if index.off_by_one else None
    if rows and len(item.gold) == 1:
        yield Objection(
            f"its key counts one too far: no gold of the {rows:,} rows of {part_of(item)!r} is the first "
            "option, some lie beyond the last",
            "gold",
        )


@check("RW06", severity="flag", on=QuestionItem, title="no mark of a prompt's template is left in a few rows")
def template_left(texts: Texts, index: SetIndex) -> Objections:
    """No row holds a heading or slot of a prompt (`### Response:`, `{{choices}}`) that most others lack."""
    if not index.template_marks:
        return
    for where, text in texts.parts:
        for mark in template_marks(text):
            if mark in index.template_marks:
                yield Objection(f"left of a prompt's template: {excerpt(mark)}", where)
                return
