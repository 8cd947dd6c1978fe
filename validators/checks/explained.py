"""Where a subject explains something, and what it explains."""

from collections.abc import Iterator
from typing import NamedTuple

from schemas.idiom import Idiom
from schemas.item import AnswerItem, ExplanationItem
from schemas.poem import Poem


class Explained(NamedTuple):
    """One explanation and the text it explains."""

    where: str
    text: str
    explanation: str


def explained(subject: Idiom | Poem | ExplanationItem | AnswerItem) -> Iterator[Explained]:
    """Each explanation beside its text; of questions, what counts as right beside the question."""
    match subject:
        case Idiom():
            phrase, meaning = subject.phrase, subject.explanation
            yield Explained("explanation", phrase.text or phrase.raw, meaning.text or meaning.raw)
        case ExplanationItem():
            for i, pair in enumerate(zip(subject.verses, subject.explanations, strict=True)):
                yield Explained(f"explanations[{i}]", *pair)
        case Poem():
            for i, couplet in enumerate(subject.couplets):
                if couplet.explanation:
                    halves = [form.text or form.raw for form in (couplet.first, couplet.second) if form]
                    yield Explained(f"couplets[{i}].explanation", " ".join(halves), couplet.explanation)
        case AnswerItem():
            yield Explained("answer", subject.question, subject.answer)
