"""What people answered to items' questions before the reviews showed them the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from mihakk.annotation.screens.ratings import Label, own_answer
from mihakk.annotation.screens.tasks import OWN_ANSWER
from mihakk.schemas.review import Review

Question = tuple[str, str]
"""Item id and `question_hash`."""
OwnAnswers = dict[Question, dict[str, str]]
"""To each question what people answered, by pseudonym."""


def own_answers(labels: Iterable[Label], reviews: Iterable[Review] = ()) -> OwnAnswers:
    """The first answer of each person to each question; a later one may have seen the reference.

    Args:
        labels: In the order of the store; those of other templates are passed over.
        reviews: Who had reviewed an item before they answered its question had seen the reference: their
            answer is left out.
    """
    seen: dict[tuple[str, str], datetime] = {}
    for review in reviews:
        key = (review.item, review.annotator)
        given = review.created_at or review.decided_at
        seen[key] = min(given, seen.get(key, given))
    first: dict[tuple[Question, str], tuple[datetime, dict[str, str]]] = {}
    for label in labels:
        if label.template == OWN_ANSWER:
            asked = ((label.subject, label.content_hash), label.annotator)
            at, values = first.setdefault(asked, (label.decided_at, {}))
            if at == label.decided_at:
                values[label.name] = label.value
    found: OwnAnswers = defaultdict(dict)
    for (question, person), (at, values) in first.items():
        if at <= seen.get((question[0], person), at):
            found[question][person] = own_answer(values)
    return dict(found)
