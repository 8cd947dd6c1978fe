"""What a task asks for: the text itself, or something done with it."""

from typing import Final

from mihakk.schemas.evaluation import Ability

RECALL: Final = frozenset(
    [
        "completion",
        "continuation",
        "continuation_choice",
        "fragment_cued",
        "paraphrase_cued",
        "prose_cued",
        "shuffled",
        "shuffled_choice",
        "verse_choice",
    ]
)
"""Tasks that whoever has the text by heart solves by that alone; not the cued choices, where the prose
beside such a question says which option is meant."""


COMPUTED: Final = frozenset(["metre_choice"])
"""Tasks whose golds a published program computes: that of this repository scans verse."""


def ability_of(task: str) -> Ability:
    """`recall`, `computed` or `skill`, which are never averaged together.

    A blind release says `lookup` of a config whose texts stand in the public sources that its config names.
    """
    return "recall" if task in RECALL else "computed" if task in COMPUTED else "skill"
