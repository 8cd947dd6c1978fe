"""Items and questions on which people disagree: what each of them said, and who has to decide now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from mihakk.annotation.campaigns.figures import SAYS, answered_questions, differ, needed_votes
from mihakk.annotation.decisions.resolution import binding, disputed, votes_needed
from mihakk.annotation.screens.evidence import field_name, isolated
from mihakk.annotation.screens.labelling import value_words, words
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import TEMPLATE
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.campaign import Drawn
from mihakk.schemas.record import Language, Record
from mihakk.schemas.review import Resolution, Review


class Dispute(Record):
    """An item or a question of a campaign whose votes come to nothing though all who were asked answered."""

    item: str
    """Id of the item, or the name that a campaign's question has on the server."""
    template: str = "quality_review"
    content_hash: str
    tasks: tuple[int, ...]
    """Label Studio's ids of the tasks it was decided in."""
    votes: tuple[str, ...]
    """What each person said last: pseudonym, decision, reason or corrections."""
    decides: str
    """Who has to decide, in words."""
    stuck: bool
    """Nobody further is asked: a named adjudicator has to decide, or one has to be named."""


def disputes(
    votes: Mapping[tuple[str, str], Iterable[Review]],
    resolved: Mapping[tuple[str, str], Resolution],
    config: ReviewConfig,
    screen_of: Callable[[str], Language | None] = lambda _: None,
) -> list[Dispute]:
    """Every disputed item, stuck ones first, then by id.

    `screen_of` gives the language in whose words votes on an item are told; None: as the store has them.
    """
    found = []
    for key, told in resolved.items():
        item, content = key
        said = binding(votes[key], content)
        needed = votes_needed(said, config.overlap)
        if not disputed(told, needed):
            continue
        most = max(config.most_people(said[-1].assigned), needed)
        stuck = told.votes >= most
        found.append(
            Dispute(
                item=item,
                content_hash=content,
                tasks=tuple(sorted({vote.task for vote in said if vote.task is not None})),
                votes=tuple(_vote(vote, screen_of(item)) for vote in said),
                decides=decides(config) if stuck else "one more person: the task is open for them",
                stuck=stuck,
            )
        )
    return sorted(found, key=lambda one: (not one.stuck, one.item))


def decides(config: ReviewConfig) -> str:
    """Who has to decide where nobody further is asked."""
    if config.adjudicators:
        return f"{' or '.join(config.adjudicators)}, in the tab Disputed; one decision settles it"
    return (
        "nobody yet: everybody has been asked. Name one of the team, or the lead, in review.adjudicators "
        "(`mihakk review person` prints the name); a decision of theirs, made or changed, settles it"
    )


def _vote(vote: Review, screen: Language | None) -> str:
    labels = words(TEMPLATE, screen) if screen else {}
    changes = "; ".join(
        f"{field_name(field, screen) if screen else field} = {isolated(text) if screen else text}"
        for field, text in sorted(vote.corrections.items())
    )
    decision = labels.get("decisions", {}).get(vote.decision, vote.decision)
    reason = labels.get("reasons", {}).get(vote.reason, vote.reason or "")
    ticked = vote.failed if vote.decision == "keep" and vote.objects else ()
    wrong = ", ".join(labels.get("criteria", {}).get(name, name) for name in ticked)
    parts = [f"{vote.annotator} {decision}", reason, wrong, changes]
    return ": ".join(part for part in parts if part)


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
