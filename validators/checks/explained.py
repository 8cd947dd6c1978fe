"""Where a subject explains something, and what it explains."""

from collections.abc import Iterator
from typing import NamedTuple

from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ExplanationItem
from mihakk.schemas.poem import Poem

Explained = Idiom | Poem | ExplanationItem | AnswerItem


class Explanation(NamedTuple):
    """One explanation and the text it explains."""

    where: str
    text: str
    explanation: str


def explained(subject: Explained) -> Iterator[Explanation]:
    """Each explanation beside its text; of questions, what counts as right beside the question."""
    match subject:
        case Idiom():
            phrase, meaning = subject.phrase, subject.explanation
            yield Explanation("explanation", phrase.shown, meaning.shown)
        case ExplanationItem():
            for i, pair in enumerate(zip(subject.verses, subject.explanations, strict=True)):
                yield Explanation(f"explanations[{i}]", *pair)
        case Poem():
            for i, couplet in enumerate(subject.couplets):
                if couplet.explanation:
                    halves = [form.shown for form in couplet.halves]
                    yield Explanation(f"couplets[{i}].explanation", " ".join(halves), couplet.explanation)
        case AnswerItem():
            yield Explanation("answer", subject.question, subject.answer)
