"""The sample of a campaign: balanced, decided by a seed, drawn once and then only topped up."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from mihakk.annotation.campaigns.questions import Question
from mihakk.machinery.draw import in_turns, lot
from mihakk.schemas.campaign import Campaign, Drawn


class Draw(NamedTuple):
    """What a campaign asks now."""

    tasks: list[dict[str, Any]]
    """In the order of the draw, hidden ones by their names, so that no order tells what is hidden."""
    new: list[Drawn]
    """Of them what was not drawn before."""
    left: list[Question]
    """What the campaign's size leaves out."""


def draw(
    questions: Iterable[Question],
    campaign: Campaign,
    drawn: Iterable[Drawn],
    answered: Collection[tuple[str, str]],
) -> Draw:
    """The campaign's questions as tasks.

    A question's place depends on the seed and its own key alone. What was drawn stays drawn; where its text
    has changed, it is asked again with the new one, unless people had answered it: then the change is most
    often their own. What the pipeline makes anew after they refused it is always asked again.

    Args:
        drawn: What the store holds of this campaign, oldest first.
        answered: Subject and content hash of everything that anybody has answered.
    """
    known = {
        question.key: question
        for question in questions
        if not campaign.languages or question.language in campaign.languages
    }
    last = {row.key: row for row in drawn}
    asked: list[tuple[Question, dict[str, Any]]] = []
    new: list[Drawn] = []
    for key, row in last.items():
        if (question := known.get(key)) is None:
            continue
        task = question.task(row.subject)
        if task["data"]["content_hash"] != row.content_hash:
            if (done := (row.subject, row.content_hash) in answered) and not question.remade:
                continue
            new.append(_drawn(campaign, question, task, again=row.again or done))
        asked.append((question, task))
    line, room = _in_line(list(known.values()), campaign, last), max(0, campaign.size - len(last))
    for question in line[:room]:
        name = f"reply-{secrets.token_hex(6)}" if question.hidden else question.key
        task = question.task(name)
        asked.append((question, task))
        new.append(_drawn(campaign, question, task))
    asked.sort(key=lambda one: one[1]["data"]["sample_id"] if one[0].hidden else "")
    return Draw([task for _, task in asked], new, line[room:])


def _in_line(questions: Sequence[Question], campaign: Campaign, last: Collection[str]) -> list[Question]:
    """Questions not drawn yet, in the order in which they would be."""
    strata = campaign.balanced_by()
    line = sorted(questions, key=lambda question: lot(f"{campaign.seed} {campaign.template} {question.key}"))
    turns = in_turns(line, lambda question: [question.strata.get(name, "") for name in strata])
    return [question for question in turns if question.key not in last]


def _drawn(campaign: Campaign, question: Question, task: dict[str, Any], *, again: bool = False) -> Drawn:
    return Drawn(
        template=campaign.template,
        key=question.key,
        subject=task["data"]["sample_id"],
        content_hash=task["data"]["content_hash"],
        record=question.record,
        before=dict(question.before),
        strata={name: value for name, value in question.strata.items() if value},
        again=again,
    )
