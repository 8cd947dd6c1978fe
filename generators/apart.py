"""Which tasks a couplet or an idiom is given to, so that no task prints what another one asks.

Tasks of one group may share a text: none prints another's answer. Each couplet is given to one group, by a
hash of its id and the group's name: another couplet, record or task moves none but those that it takes.
"""

from collections.abc import Collection, Mapping, Sequence, Set

from mihakk.generators.corpus_rows import form_key, usable
from mihakk.machinery.draw import lot
from mihakk.schemas.poem import Poem

ASKED = "asked"
"""Tasks that show a hemistich, and of the other one words or prose at most, and ask for it in words."""
CHOSEN = "chosen"
"""Choices of the second hemistich among the same three lines, with a cue or without."""
MEANING = "meaning"
"""Choices between the same two meanings of an idiom."""
SHOWN = "shown"
"""Tasks that show whole couplets, and ask for something else."""
WHOLE = "whole"
"""Tasks that show whole poems and ask for explanations: half of the explained poems are theirs, for few are
explained. Tasks that show couplets may show these too."""


def offered_in_turn(name: str, groups: Collection[str]) -> list[str]:
    """The groups in the order in which a couplet or idiom is offered to them."""
    return sorted(groups, key=lambda group: lot(f"{group}\x1f{name}"))


def groups_of_couplets(poem: Poem, groups: Set[str]) -> Mapping[str, Sequence[str]]:
    """Couplet id to the groups of tasks that may use it.

    What reads alike goes together, and what no task can ask for (a band, a single line) is there to be shown.
    """
    explained = bool(poem.couplets) and all(couplet.explanation.strip() for couplet in poem.couplets)
    alone = groups == {WHOLE} or offered_in_turn(poem.id, (WHOLE, ""))[0] == WHOLE
    if WHOLE in groups and explained and alone:
        return dict.fromkeys((couplet.id for couplet in poem.couplets), (WHOLE, SHOWN))
    offered = [group for group in groups if group != WHOLE]
    found: dict[str, Sequence[str]] = {}
    first: dict[tuple[str, ...], str] = {}
    for couplet in poem.couplets:
        text = tuple(form_key(half, poem.language) for half in couplet.halves)
        same = first.setdefault(text, couplet.id)
        found[couplet.id] = offered_in_turn(same, offered)[:1] if usable(couplet) else (SHOWN,)
    return found
