"""Options that are hemistichs of a poem whose rhyme is known."""

from mihakk.machinery.languages import pack
from mihakk.machinery.text import key, rhyme, words
from mihakk.schemas.item import ChoiceItem, Item

SHUFFLED = "shuffled_choice"
LEAST_WORDS = 3
"""A name of a poet or metre may end like the rhyme; it has fewer words than a hemistich."""


def has_rhyme(option: str, item: ChoiceItem) -> bool:
    """Whether the option ends in the rhyme that the item's metadata give its poem."""
    poem = item.metadata.get("rhyme", "")
    if pack(item.language).rhyme == "qafiya":
        # Spaces say nothing: خدا را rhymes with نگارا.
        return key(option, "fa").endswith(key(poem, "fa"))
    return rhyme(option, item.language) == poem


def offers_hemistichs(item: Item) -> bool:
    """Whether the right option is a hemistich that rhymes as its poem does, and so the others should.

    A line against its own words in another order is left out: its last word moves by the task's definition,
    so the rhyme always tells, and the set's rhyme-only baseline says so once instead of every item.
    """
    if item.task == SHUFFLED:
        return False
    if not item.metadata.get("rhyme") or not isinstance(item, ChoiceItem) or item.only_gold is None:
        return False
    if min(len(words(option)) for option in item.options) < LEAST_WORDS:
        return False
    return has_rhyme(item.options[item.only_gold], item)
