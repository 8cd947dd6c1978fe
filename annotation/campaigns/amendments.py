"""What people's answers to campaigns change: amendments that the next build makes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from annotation.campaigns.figures import answered_questions, needed_votes
from annotation.campaigns.votes import Votes
from annotation.screens.ratings import Label
from schemas.campaign import Amendment, Campaign, CampaignTemplate, Drawn

Amends = Callable[[Drawn, Votes, int, Collection[str]], Iterable[Amendment]]
"""A question with the answers it needs, or more, to what they change."""


def amendments(
    drawn: Sequence[Drawn],
    labels: Sequence[Label],
    campaigns: Sequence[Campaign],
    overlap: int,
    adjudicators: Collection[str] = (),
) -> list[Amendment]:
    """Everything that people have settled so far, in the order in which it was asked.

    An amendment names the text that people saw, and holds for that text alone: where a source has another one
    by now, nothing is changed. Answers of a campaign that the config no longer lists go on to count.

    Args:
        drawn: Questions as they were put to people.
        labels: Their answers.
        campaigns: As the config lists them.
        overlap: `review.overlap`.
        adjudicators: Pseudonyms.
    """
    needs = needed_votes(campaigns, overlap)
    rules = dict(AMENDS)
    least = next((one.least_mean for one in campaigns if one.template == "distractor_rating"), None)
    if least is not None:
        rules["distractor_rating"] = lambda row, votes, _, __: _refused(row, votes, least)
    return [
        amendment
        for row, votes in answered_questions(drawn, labels, again=True)
        if len(votes) >= needs(row.template) and row.template in rules
        for amendment in rules[row.template](row, votes, needs(row.template), adjudicators)
    ]


def _refused(row: Drawn, votes: Votes, least: float) -> Iterator[Amendment]:
    """A wrong option that people rated below the least mean is not to be offered again."""
    ratings = [float(values["plausibility"]) for values in votes.values()]
    if fmean(ratings) < least:
        reason = f"mean rating {fmean(ratings):.2f} of {len(ratings)}"
        yield Amendment(
            record=row.record, field="wrong", before=row.before["wrong"], by=row.template, reason=reason
        )


AMENDS: Mapping[CampaignTemplate, Amends] = {}
"""Templates whose answers change records."""
