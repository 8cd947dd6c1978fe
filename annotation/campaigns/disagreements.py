"""Campaign questions on which people disagree, for the adjudicator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from annotation.campaigns.figures import SAYS, answered_questions, differ, needed_votes
from annotation.decisions.disputes import Dispute, decides
from annotation.screens.evidence import isolated
from annotation.screens.labelling import value_words, words
from annotation.screens.ratings import Label
from schemas.benchmark import ReviewConfig
from schemas.campaign import Drawn
from schemas.record import Language


def campaign_disputes(
    drawn: Sequence[Drawn],
    labels: Sequence[Label],
    config: ReviewConfig,
    screen_of: Callable[[str], Language | None] = lambda _: None,
) -> list[Dispute]:
    """Every disputed question of a campaign; nobody further is asked about one, so an adjudicator decides.

    Templates whose answers are averaged have none, and connotation has none: where people differ about an
    idiom's connotation, it has no label (Kinayat, section 3). `screen_of`: see `disputes`.
    """
    needs = needed_votes(config.campaigns, config.overlap)
    tasks: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for label in labels:
        if label.task is not None:
            tasks[label.template, label.subject, label.content_hash].add(label.task)
    return [
        Dispute(
            item=row.subject,
            template=row.template,
            content_hash=row.content_hash,
            tasks=tuple(sorted(tasks[row.template, row.subject, row.content_hash])),
            votes=tuple(
                f"{person} {_said(row.template, votes[person], screen_of(row.subject))}"
                for person in sorted(votes)
            ),
            decides=decides(config),
            stuck=True,
        )
        for row, votes in answered_questions(drawn, labels, again=True)
        if row.template in SAYS and len(votes) >= needs(row) and differ(row, votes, config.adjudicators)
    ]


def _said(template: str, values: Mapping[str, str], screen: Language | None) -> str:
    told = {name: text for name, text in sorted(values.items()) if name != "confidence"}
    if screen is None:
        return ", ".join(f"{name} = {text}" for name, text in told.items())
    labels = words(template, screen)
    return " · ".join(value_words(labels, name, text, isolated) for name, text in told.items())
