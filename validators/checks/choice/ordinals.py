"""CH13: what answers number is there."""

import re

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, excerpt

_PLACES = {"الاولي": 1, "الثانيه": 2, "الثالثه": 3, "الرابعه": 4, "first": 1, "second": 2, "third": 3}
_PLACE = re.compile(rf"(?<!\w)[وف]?({'|'.join(_PLACES)})(?!\w)")
_JUDGED_WORDS = "صحيحه خاطيه خطا خاطئه صواب صحيحتان خاطيتان true false correct wrong incorrect"
_JUDGED = frozenset(_JUDGED_WORDS.split())
_ROMAN = re.compile(r"(?<![A-Za-z])(I{1,3}|IV|V)(?![A-Za-z])")
_BESIDE_ROMAN = re.compile(r"(?:and|only|both|فقط|[\s,،&+و().])*")
_NUMBERS = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5}
# What may part two statements: an end of a sentence, a line, a number in a list, a word that joins clauses.
_ENDS = re.compile(r"[.!?؟؛;:\n]+|[(\[]?(?<![\d٠-٩])[\d٠-٩]++\s*[).\]–-]|[أبجد]\s*[)-]")
_JOINS = re.compile(
    r"(?<!\w)(?:بينما|اما|لكن|لان|لانه|لانها|حيث|حتي|لذلك|لذا|كي|لكي|كما|مما|لوجود|بسبب|عندما|اذا|and|because|while"
    r"|but|whereas|therefore|so|و|[وف]\w{2,})(?!\w)"
)
LEAST_OPTIONS = 2
"""Options that judge numbered statements; one alone may speak of something else."""


@check(
    "CH13",
    severity="flag",
    on=ChoiceItem,
    needs=("items",),
    title="statements that answers speak of by number are there",
)
def ordinals(item: ChoiceItem, texts: Texts) -> Objections:
    """No answers such as `the first statement is true, the second false` to a question of one statement.

    A conjunction is enough for a second statement, so that only questions that plainly lack one are named.
    Roman numbers (`I and III`) have to stand in the question themselves.
    """
    if _JUDGED.isdisjoint(texts.vocabulary) and not ("I" in texts.joined or "V" in texts.joined):
        return
    folds = texts.option_folds(item.options)
    spoken = {
        place: numbers
        for place, (option, folded) in enumerate(zip(item.options, folds, strict=True))
        if (numbers := _ordinals(folded) or _romans(option))
    }
    if len(spoken) < LEAST_OPTIONS:
        return
    most = max(map(max, spoken.values()))
    prompt = f"{item.context}\n{item.question}"
    if any(_ordinals(folds[place]) for place in spoken):
        parts = sum(bool(part.strip()) for part in _ENDS.split(prompt))
        there = parts + len(_JOINS.findall(texts.folded(item.question)))
    else:
        there = max((_NUMBERS[number] for number in _ROMAN.findall(prompt)), default=0)
    if there < most:
        named = excerpt(item.options[min(spoken)])
        yield Objection(f"{named} and others speak of {most} statements by number, not to be seen", "options")


def _ordinals(folded: str) -> list[int]:
    """The places of the statements that an option calls true or false."""
    return (
        [_PLACES[word] for word in _PLACE.findall(folded)] if not _JUDGED.isdisjoint(folded.split()) else []
    )


def _romans(option: str) -> list[int]:
    """The Roman numbers of an option that is made of nothing else."""
    numbers = [_NUMBERS[number] for number in _ROMAN.findall(option)]
    return numbers if numbers and _BESIDE_ROMAN.fullmatch(_ROMAN.sub("", option)) else []
