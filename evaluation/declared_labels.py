"""Labels of options that a suite declares instead of a prompt's own.

They stand in the prompt, in the question and in the prompt's name, which answers keep: so a reply is read by
the labels that its prompt showed, whoever reads it later.
"""

from __future__ import annotations

from typing import Final

from mihakk.evaluation.reading.choice import read_choice
from mihakk.evaluation.reading.labels import TOKEN, fold, labels_of
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Question
from mihakk.schemas.suite import OptionLabels

NONE: Final = "none"
"""In place of labels: options stand without any and are answered in their own words."""
_NAMED: Final = "+labels:"
_MARKS: Final = (")", ".", ":", "-", " -")
"""Between a label and its option."""
_SEPARATORS: Final = (", ", "، ")
_LAST: Final = ("", " or ", " and ", " أو ", " یا ", " و ")
"""Before the last label of a list, where it is not the separator."""
_BULLET: Final = "- "
_WITHOUT_REQUEST: Final = ("qimma_forms",)
"""Prompts that show options and say nothing of labels."""
_IN_WORDS: Final = {
    "برمز الخيار الصحيح وحده ({labels})": "بنص الخيار الصحيح وحده",
    "نشانهٔ گزینهٔ درست را بنویسید ({labels})": "متن گزینهٔ درست را بنویسید",
    "the label of the right option alone ({labels})": "the words of the right option alone",
}
"""How our prompts ask for a label, and for an option's words instead."""


def named(labels: OptionLabels) -> str:
    """End of the name of a prompt that shows declared labels; empty where none are declared."""
    return f"{_NAMED}{labels if isinstance(labels, str) else ','.join(labels)}" if labels else ""


def declared_in(prompt: str) -> str:
    """The labels that a prompt's name declares, parted by commas; `none`; or nothing."""
    return prompt.partition(_NAMED)[2].partition("+")[0]


def require_readable(labels: OptionLabels) -> None:
    """Refuses labels that no reply could be read by.

    Raises:
        UsageError: Two read the same, or one alone is not read as itself.
    """
    if isinstance(labels, str) or not labels:
        return
    folded = [fold(label) for label in labels]
    for place, label in enumerate(labels):
        if not TOKEN.fullmatch(label) or not folded[place]:
            raise UsageError(
                f"labels: {label!r} is not one word of letters or digits; write it without marks"
            )
        if (first := folded.index(folded[place])) < place:
            raise UsageError(f"labels: {labels[first]!r} and {label!r} read the same: name others")
    for place, label in enumerate(labels):
        if read_choice(label, labels).picks != (place,):
            raise UsageError(f"labels: a reply that says {label!r} alone is not read as it; name another")


def with_labels(question: Question, labels: OptionLabels) -> Question:
    """A choice under declared labels; another question as it stands.

    Raises:
        UsageError: There are fewer labels than options, or an option's words would be read as another option.
    """
    if question.kind != "choice" or not labels:
        return question
    if labels == NONE:
        return _in_words(question)
    if len(labels) < len(question.options):
        raise UsageError(
            f"labels: {question.item} has {len(question.options)} options, and {len(labels)} labels are "
            f"declared ({', '.join(labels)}): declare as many"
        )
    found = _under(question, labels)
    for place, option in enumerate(found.options):
        if read_choice(option, found.labels, found.options).picks not in ((place,), ()):
            raise UsageError(
                f"labels: {question.item} has the option {option!r}, which reads as the label of another one "
                f"({', '.join(found.labels)}): declare others"
            )
    return found


def _in_words(question: Question) -> Question:
    """A choice whose options have no labels but their own words."""
    folded = [fold(option) for option in question.options]
    for place, option in enumerate(question.options):
        if question.multiple or not folded[place] or folded.count(folded[place]) > 1:
            raise UsageError(
                f"labels: none: {question.item} asks for several options, or has {option!r}, which its words "
                "don't tell from another: declare labels"
            )
    return _under(question, NONE)


def as_asked(question: Question, prompt: str) -> Question:
    """The question under the labels that its prompt's name declares."""
    declared = declared_in(prompt)
    if question.kind != "choice" or not declared:
        return question
    return _under(question, NONE if declared == NONE else tuple(declared.split(",")))


def _under(question: Question, labels: OptionLabels) -> Question:
    """A choice under other labels; its options that are lists of labels ("A and B") name the new ones too."""
    if isinstance(labels, str):
        return question.model_copy(update={"labels": question.options})
    own = labels[: len(question.options)]
    options = tuple(_renamed(option, question.labels, own) for option in question.options)
    return question.model_copy(update={"labels": own, "options": options})


def relabelled(prompt: str, old: Question, new: Question, name: str, *, bare: bool = False) -> str:
    """A prompt that shows the labels of `new` where it showed those of `old`.

    Args:
        prompt: With its options one below the other, each behind its label and a mark.
        old: The question as the prompt asks it.
        new: The same under the declared labels.
        name: Of the prompt, for messages.
        bare: Show no labels, and ask for an option's words.

    Raises:
        UsageError: The options don't stand so in it, or it would ask for labels that are no longer there.
    """
    if new.labels == old.labels:
        return prompt
    found = _around_options(prompt, old)
    if found is None:
        raise UsageError(
            f"labels: {old.item}: the prompt {name!r} does not show each option once behind its label, so no "
            "others can be put there"
        )
    mark, pieces = found
    if bare:
        lines = [f"{_BULLET}{option}" for option in new.options]
        before = "".join(pieces)
        pieces = [_asked_in_words(piece, old.labels) for piece in pieces]
        is_asked = "".join(pieces) != before or name in _WITHOUT_REQUEST
    else:
        lines = [f"{label}{mark} {option}" for label, option in zip(new.labels, new.options, strict=True)]
        pieces = [_listed_anew(piece, old.labels, new.labels) for piece in pieces]
        is_asked = True
    if not is_asked or any(one in piece for one in _lists(old.labels) for piece in pieces):
        raise UsageError(
            f"labels: {old.item}: the prompt {name!r} asks for {', '.join(old.labels)} in words that are not "
            "known here and would stay: it can't be asked so"
        )
    return pieces[0] + "".join(line + piece for line, piece in zip(lines, pieces[1:], strict=True))


def _around_options(prompt: str, question: Question) -> tuple[str, list[str]] | None:
    """The mark behind labels, and what stands before, between and behind the labelled options."""
    for mark in _MARKS:
        pieces, rest = [], prompt
        for label, option in zip(question.labels, question.options, strict=True):
            shown = f"{label}{mark} {option}"
            if rest.count(shown) != 1:
                break
            before, _, rest = rest.partition(shown)
            pieces.append(before)
        else:
            return mark, [*pieces, rest]
    return None


def _lists(labels: tuple[str, ...]) -> list[str]:
    """Labels as a sentence lists them, in every way."""
    if len(labels) < 2:
        return []
    return [
        f"{separator.join(labels[:-1])}{last or separator}{labels[-1]}"
        for separator in _SEPARATORS
        for last in _LAST
    ]


def _listed_anew(text: str, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """A text whose lists of labels, in brackets or behind a colon, name others."""
    for before, after in zip(_lists(old), _lists(new), strict=True):
        text = text.replace(f"({before})", f"({after})").replace(f": {before}.", f": {after}.")
    return text


def _asked_in_words(text: str, labels: tuple[str, ...]) -> str:
    """A text that asks for an option's words where it asked for its label."""
    for one in _lists(labels):
        for for_label, for_words in _IN_WORDS.items():
            text = text.replace(for_label.format(labels=one), for_words)
    return text


def _renamed(option: str, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """An option that is a list of labels ("A and B") under other labels; any other as it stands."""
    if len(read_choice(option, old, multiple=True).picks) < 2:
        return option
    known = labels_of(old).own
    return TOKEN.sub(lambda word: new[known[fold(word[0])]] if fold(word[0]) in known else word[0], option)
