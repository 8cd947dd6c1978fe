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


def ability_of(task: str) -> Ability:
    """`recall` or `skill`: the two are never averaged together."""
    return "recall" if task in RECALL else "skill"
