"""Changes that follow from people's answers to campaigns: amendments that the next build makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from mihakk.annotation.campaigns.figures import (
    LABELS,
    answered_questions,
    corrected_text,
    language_asked,
    needed_votes,
    says_of,
    settled_label,
    settled_text,
    written_sentence,
)
from mihakk.annotation.decisions.votes import Votes, settle
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.text import canonical
from mihakk.schemas.campaign import Amendment, Campaign, CampaignTemplate, Drawn

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
    """
    needs = needed_votes(campaigns, overlap)
    rules = dict(AMENDS)
    least = next((one.least_mean for one in campaigns if one.template == "distractor_rating"), None)
    if least is not None:
        rules["distractor_rating"] = lambda row, votes, _, __: _refused(row, votes, least)
    return [
        amendment
        for row, votes in answered_questions(drawn, labels, again=True)
        if len(votes) >= needs(row) and row.template in rules
        for amendment in rules[row.template](row, votes, needs(row), adjudicators)
    ]


def _amendment(
    row: Drawn, field: str, after: str = "", *, reason: str, of: str = "", facts: dict[str, str] | None = None
) -> Amendment:
    """A field of the question's record changed; `of` names the text that people saw, if not by the field."""
    return Amendment(
        record=row.record,
        field=field,
        before=row.before[of or field],
        after=after,
        by=row.template,
        reason=reason,
        facts=facts or {},
    )


def _refused(row: Drawn, votes: Votes, least: float) -> Iterator[Amendment]:
    """A wrong option that people rated below the least mean is not to be offered again."""
    ratings = [float(values["plausibility"]) for values in votes.values()]
    if fmean(ratings) < least:
        yield _amendment(row, "wrong", reason=f"mean rating {fmean(ratings):.2f} of {len(ratings)}")


def _connotation(row: Drawn, votes: Votes, _: int, __: Collection[str]) -> Iterator[Amendment]:
    """Only what everybody says is a gold; how they voted stays with the idiom (Kinayat, section 3)."""
    for control, name in (("idiom", "connotation"), ("explanation", "explanation_connotation")):
        said = Counter(values[control] for values in votes.values())
        after = next(iter(said)) if len(said) == 1 else ""
        reason = ", ".join(f"{label} {count}" for label, count in sorted(said.items()))
        yield _amendment(row, name, after, reason=reason, of="connotation")


def _sentence(row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]) -> Iterator[Amendment]:
    """The sentence as people leave it; one that they wrote owes nothing to the model."""
    if found := settle(votes, overlap, says_of(row), adjudicators):
        verdict, text = (
            found.values["verdict"],
            canonical(written_sentence(found.values), language_asked(row)),
        )
        written_by = () if verdict == "replace" else WRITTEN_BY
        facts = {name: row.before[name] for name in written_by if row.before.get(name)}
        after = text or row.before["sentence"]
        yield _amendment(row, "sentence", after, reason=SENTENCE_IS[verdict], facts=facts)


def _wrong_idiom(
    row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]
) -> Iterator[Amendment]:
    """The idiom that people choose to stand beside the right one; none where no candidate serves."""
    found = settle(votes, overlap, says_of(row), adjudicators)
    if found and found.values["wrong"] in {"none", *row.before}:  # there may be fewer candidates than keys
        after = row.before.get(found.values["wrong"], "")
        yield _amendment(row, "wrong_idiom", after, reason=f"{found.by} of {found.votes}", of="blanked")


def _text(row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]) -> Iterator[Amendment]:
    """A restored text; or the word that nobody can restore it, or that people agree on no text for it."""
    found, answer = settled_text(row, votes, overlap, adjudicators)
    if found is None or found.values["state"] == "sound":
        return
    (name,) = row.before
    text = canonical(corrected_text(answer), language_asked(row)) if answer else ""
    state = answer["state"] if answer else "damaged, no agreed text"
    field = name if text else f"hopeless {name}"
    yield _amendment(row, field, text, reason=f"{state}, {found.by} of {found.votes}", of=name)


def _labels(row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]) -> Iterator[Amendment]:
    """Labels that people found wrong, each settled by itself; empty where they don't agree on another one."""
    for name in LABELS:
        found, after = settled_label(name, row, votes, overlap, adjudicators)
        if found and found.values[name] == "wrong":
            yield _amendment(row, name, after, reason=f"{found.by} of {found.votes}")


WRITTEN_BY = ("model", "family", "prompt_version")
"""Facts about the model that wrote a sentence, kept with it while any of its words may stay."""
SENTENCE_IS = {"accept": "accepted", "edit": "edited", "replace": "replaced"}

AMENDS: Mapping[CampaignTemplate, Amends] = {
    "connotation": _connotation,
    "dialect_sentence": _sentence,
    "label_validation": _labels,
    "text_correction": _text,
    "wrong_idiom": _wrong_idiom,
}
"""Templates whose answers change records."""
