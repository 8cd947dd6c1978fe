"""RW01 and RW02: a prompt is made of its own row."""

from collections.abc import Iterator
from itertools import pairwise

from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex, strange_value
from mihakk.validators.checks.texts import Texts, excerpt

USUAL = 0.8
"""Share of a task's items that hold a field from which two words of another row's are evidence enough."""
ALWAYS = 0.95
"""Share of a task's items that hold a field from which its absence alone is evidence."""
LEAST_WORDS = 3
"""Words of another row's text that are evidence whatever the template shows."""
LEFT = 2 / 3
"""Share of a field's pairs of neighbouring words that a corrected prompt may still hold."""


@check("RW01", severity="flag", on=Item, title="the prompt is made of its own row")
def row_shift(item: Item, texts: Texts, index: SetIndex) -> Objections:
    """No prompt lacks the text of one of its fields and holds another item's text of that field instead.

    A field that the template does not show, or a title that only most poems open with, is no sign of a shift.
    """
    for name, _, strange in _absent(item, texts, index):
        if strange:
            yield Objection(f"not its own {name} but another row's: {excerpt(strange)}", f"fields.{name}")


@check("RW02", severity="flag", on=Item, title="the prompt holds what all others of its task hold")
def row_absent(item: Item, texts: Texts, index: SetIndex) -> Objections:
    """No prompt lacks the text of a field that nearly every prompt of its task holds.

    It was broken off, overwritten or put together wrongly; where another row's text stands instead, `RW01`
    says so. A prompt in which a word or two were corrected still holds most of the field.
    """
    for name, own, strange in _absent(item, texts, index):
        if strange or index.held.get((item.task, name), 0.0) < ALWAYS:
            continue
        said = texts.words(item.question) + texts.words(item.context)
        pairs, held = list(pairwise(own.split())), set(pairwise(said))
        if sum(pair in held for pair in pairs) < LEFT * len(pairs):
            yield Objection(f"without its own {name}: {excerpt(item.fields[name])}", f"fields.{name}")


def _absent(item: Item, texts: Texts, index: SetIndex) -> Iterator[tuple[str, str, str]]:
    """Fields of several words that the prompt lacks: name, folded text, another row's that stands there."""
    for name, value in item.fields.items():
        own = texts.folded(value)
        if " " not in own:
            continue
        prompt = f"{texts.folded(item.question)} {texts.folded(item.context)}"
        if own in prompt or texts.key(value) in prompt.replace(" ", ""):
            continue
        strange = strange_value(item.task, name, prompt.split(), own, index)
        usual = index.held.get((item.task, name), 0.0) >= USUAL
        yield name, own, strange if usual or strange.count(" ") >= LEAST_WORDS - 1 else ""
