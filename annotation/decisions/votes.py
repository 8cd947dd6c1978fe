"""People's answers to a campaign's questions, and what they settle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from mihakk.annotation.decisions.resolution import settling, winning
from mihakk.annotation.screens.ratings import Label

Values = dict[str, str]
"""Control of the screen to what one person chose or typed."""
Votes = dict[str, Values]
"""Person to their last answer to one question."""


class Settled(NamedTuple):
    """What the answers to one question come to."""

    values: Values
    """Of one of those who agree."""
    by: str
    """`single`, `agreement`, `majority` or `adjudicator`."""
    votes: int


def votes_of(labels: Iterable[Label]) -> dict[tuple[str, str, str], Votes]:
    """Everybody's last answer, by template, subject and content hash; last in the store: clocks differ."""
    found: dict[tuple[str, str, str], dict[str, list[Label]]] = defaultdict(dict)
    for label in labels:
        mine = found[label.template, label.subject, label.content_hash].setdefault(label.annotator, [])
        if mine and mine[0].decided_at != label.decided_at:
            mine.clear()  # changed since: an answer counts as a whole
        mine.append(label)
    return {
        asked: {person: {label.name: label.value for label in mine} for person, mine in people.items()}
        for asked, people in found.items()
    }


def settle(
    votes: Votes,
    overlap: int,
    says: Callable[[Mapping[str, str]], Hashable],
    adjudicators: Collection[str] = (),
) -> Settled | None:
    """What people agree on, as of decisions on items; None while it is open.

    An adjudicator's answer settles a question. Else it needs `overlap` answers of which all say the same, or
    more than half of three or more; `says` is the part that has to be the same.
    """
    won = settling(
        list(votes.items()), overlap, lambda vote: says(vote[1]), lambda vote: vote[0] in adjudicators
    )
    return Settled(_one_of([values for _, values in won[0]]), won[1], len(votes)) if won else None


def settle_repair(
    votes: Votes,
    overlap: int,
    judges: Callable[[Mapping[str, str]], Hashable],
    repairs: Callable[[Mapping[str, str]], Hashable],
    adjudicators: Collection[str] = (),
) -> tuple[Settled | None, Values | None]:
    """What people agree on, and an answer with the repair that those who agree on it agree on."""
    found = settle(votes, overlap, judges, adjudicators)
    if found is None or found.by == "adjudicator":
        return found, found and found.values
    camp = [values for values in votes.values() if judges(values) == judges(found.values)]
    won = winning(camp, repairs)
    return found, _one_of(won[0]) if won else None


def _one_of(camp: Sequence[Values]) -> Values:
    """The same one in whatever order they answered."""
    return min(camp, key=lambda values: sorted(values.items()))
