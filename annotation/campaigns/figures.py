"""The results of campaigns so far: for the report, the card and the validation of judges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from statistics import fmean
from typing import Any, cast

from mihakk.annotation.decisions.first_votes import Asked, first_answers, is_edited
from mihakk.annotation.decisions.votes import Settled, Values, Votes, settle, settle_repair, votes_of
from mihakk.annotation.screens.ratings import SCALES, Label
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.stats import Interval, clopper_pearson, mean_interval
from mihakk.machinery.taxonomy import vocabulary
from mihakk.machinery.text import as_seen, canonical
from mihakk.schemas.campaign import CONNOTATION_VOTES, Campaign, CampaignFigure, CampaignTemplate, Drawn
from mihakk.schemas.record import Language, Record

Groups = dict[str, list[tuple[Drawn, Votes | None]]]
"""What was drawn, group by group: each question and its answers, None where it lacks some."""


class CampaignProgress(Record):
    """How far people have come with a campaign."""

    template: CampaignTemplate
    drawn: int
    """Questions drawn."""
    answered: int
    """Of them those with as many answers as each needs."""
    begun: int
    """Those with fewer, but one at least."""
    disputed: int
    """Answered ones on which people don't agree; none where answers are averaged."""


AVERAGED: Mapping[CampaignTemplate, tuple[str, str, str]] = {
    "distractor_rating": ("plausibility", "mean rating, 0 to 2", "strategy"),
    "interpretive_depth": ("depth", "mean depth, 0 to 10", "system"),
    "answer_correctness": ("correctness", "mean correctness, 0 to 3", "system"),
}
"""Templates whose answers are averaged: the label, what the mean is called, and what it is told by."""


def answered_questions(
    drawn: Iterable[Drawn], labels: Iterable[Label], *, again: bool = False
) -> Iterator[tuple[Drawn, Votes]]:
    """Every question drawn, with its answers; those asked again only where that is wanted."""
    votes = votes_of(labels)
    for row in drawn:
        if again or not row.again:
            yield row, votes.get((row.template, row.subject, row.content_hash), {})


def progress(
    drawn: Sequence[Drawn],
    labels: Sequence[Label],
    campaigns: Iterable[Campaign],
    overlap: int,
    adjudicators: Collection[str] = (),
) -> list[CampaignProgress]:
    """One row for each campaign of which anything was drawn."""
    needs = needed_votes(campaigns, overlap)
    found: dict[CampaignTemplate, Counter[str]] = defaultdict(Counter)
    for row, votes in answered_questions(drawn, labels, again=True):
        found[row.template]["drawn"] += 1
        state = "answered" if len(votes) >= needs(row) else "begun" if votes else "waiting"
        found[row.template][state] += 1
        if state == "answered" and row.template not in AVERAGED:
            found[row.template]["disputed"] += differ(row, votes, adjudicators)
    return [
        CampaignProgress(
            template=template,
            drawn=counts["drawn"],
            answered=counts["answered"],
            begun=counts["begun"],
            disputed=counts["disputed"],
        )
        for template, counts in sorted(found.items())
    ]


def figures(
    drawn: Sequence[Drawn],
    labels: Sequence[Label],
    campaigns: Iterable[Campaign],
    overlap: int,
    adjudicators: Collection[str] = (),
    *,
    withdrawn: Collection[Asked] = (),
) -> list[CampaignFigure]:
    """All figures, of questions that have as many answers as each needs.

    What is averaged is everybody's first answers; a share is of what people settled on in the end. Which
    questions lack answers may depend on what those would be: the intervals hold whatever they are.
    """
    needs = needed_votes(campaigns, overlap)
    groups: dict[CampaignTemplate, Groups] = defaultdict(lambda: defaultdict(list))
    given = first_answers(labels, adjudicators=adjudicators, withdrawn=withdrawn)
    firsts = [row for row in given if row.template in AVERAGED and not is_edited(row)]
    settled = (row for row in labels if row.template not in AVERAGED)
    for row, votes in answered_questions(drawn, [*firsts, *settled]):
        for group in _groups(row):
            groups[row.template][group].append((row, votes if len(votes) >= needs(row) else None))
    rows: list[CampaignFigure] = []
    for template, found in sorted(groups.items()):
        for group, questions in sorted(found.items(), key=lambda one: (one[0] == "all", one[0])):
            rows += _figures(template, group, questions, adjudicators)
    return rows


def _figures(
    template: CampaignTemplate,
    group: str,
    drawn: Sequence[tuple[Drawn, Votes | None]],
    adjudicators: Collection[str],
) -> Iterator[CampaignFigure]:
    questions = [(row, votes) for row, votes in drawn if votes is not None]
    missing = len(drawn) - len(questions)

    def figure(name: str, value: float, ends: Interval | None, *, is_share: bool) -> CampaignFigure:
        return CampaignFigure(
            template=template,
            figure=name,
            group=group,
            questions=len(questions),
            unanswered=missing,
            value=value,
            low=ends.low if ends else None,
            high=ends.high if ends else None,
            is_share=is_share,
        )

    if not questions:
        return
    if template in AVERAGED:
        label, name, _ = AVERAGED[template]
        means = [fmean(float(values[label]) for values in votes.values()) for _, votes in questions]
        worst = [mean_interval([*means, *[float(end)] * missing]) for end in SCALES[label]]
        ends = Interval(worst[0].low, worst[1].high) if worst[0] and worst[1] else None
        yield figure(name, fmean(means), ends, is_share=False)
        return
    counts: Counter[str] = Counter()
    for row, votes in questions:
        if template == "connotation":
            counts.update(unanimous(votes))
        else:
            found = settle(votes, len(votes), says_of(row), adjudicators)
            counts.update(TELLS[template](found.values) if found else [DIFFER])
    for name in sorted(counts):
        ends = Interval(
            clopper_pearson(counts[name], len(drawn)).low,
            clopper_pearson(counts[name] + missing, len(drawn)).high,
        )
        yield figure(name, counts[name] / len(questions), ends, is_share=True)


def _groups(row: Drawn) -> list[str]:
    if row.template in AVERAGED:
        return [row.strata.get(AVERAGED[row.template][2]) or "unnamed", "all"]
    by = {"label_validation": "language", "text_correction": "check"}.get(row.template, "dialect")
    group = row.strata.get(by) or row.strata.get("language", "")
    return [group, "all"]


def needed_votes(campaigns: Iterable[Campaign], overlap: int) -> Callable[[Drawn], int]:
    """Answers that a question needs; of a campaign no longer listed, as of a plain one."""
    listed = {campaign.template: campaign.votes(overlap) for campaign in campaigns}

    def needed(row: Drawn) -> int:
        plain = max(overlap, CONNOTATION_VOTES) if row.template == "connotation" else overlap
        wanted = listed.get(row.template, plain)
        return min(wanted, row.assigned or wanted)

    return needed


def language_asked(row: Drawn) -> Language:
    """Language of what a question is about."""
    return row.strata.get("language") or "ar"


def says_sentence(values: Mapping[str, str], language: Language = "ar") -> tuple[str, str]:
    """The verdict on a sentence, and the sentence where the person wrote one."""
    return values["verdict"], as_seen(written_sentence(values), language)


def written_sentence(values: Mapping[str, str]) -> str:
    """The sentence that a person wrote; empty where they wrote none."""
    return values.get({"edit": "fix_sentence", "replace": "new_sentence"}.get(values["verdict"], ""), "")


def says_text(values: Mapping[str, str], language: Language = "ar") -> tuple[str, str]:
    """The state of a text, and the text where the person corrected it."""
    return values["state"], as_seen(corrected_text(values), language)


def corrected_text(values: Mapping[str, str]) -> str:
    """The text as a person corrected it; empty where they did not."""
    return values.get("fix_text", "") if values["state"] == "corrected" else ""


def settled_text(
    row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]
) -> tuple[Settled | None, Values | None]:
    """Whether people find a text sound, and the answer that they agree on."""
    repairs = partial(says_text, language=language_asked(row))
    found, answer = settle_repair(votes, overlap, lambda one: one["state"] == "sound", repairs, adjudicators)
    empty = answer and answer["state"] == "corrected" and not corrected_text(answer).strip()
    return found, None if empty else answer


LABELS = ("poet", "era", "genre", "metre")
"""Labels of a poem that people validate."""


def says_labels(values: Mapping[str, str], _: Language) -> tuple[str, ...]:
    """Which of the four labels of a poem are right, wrong or unsure."""
    return tuple(values[name] for name in LABELS)


def says_label(name: str, values: Mapping[str, str], language: Language) -> tuple[str, str]:
    """Whether one label is right, and the right one where it is wrong: as the taxonomy names it.

    Poets are named in the person's own words. A label that the taxonomy does not know is none.
    """
    answer, text = values[name], values.get(f"right_{name}", "")
    if answer != "wrong":
        return answer, ""
    table = None if name == "poet" else vocabulary(cast("Any", name), language)
    if table is None:
        return answer, as_seen(text, language)
    try:
        return answer, table.match(" ".join(text.split()))
    except RecordRejected:
        return answer, ""


def unanimous(votes: Votes) -> list[str]:
    """Connotation of the idiom and of its explanation; only what everybody says counts."""
    told = []
    for name in ("idiom", "explanation"):
        said = {values[name] for values in votes.values()}
        told.append(f"{name} {said.pop()}" if len(said) == 1 else f"{name}: {DIFFER}")
    return told


def settled_label(
    name: str, row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]
) -> tuple[Settled | None, str]:
    """What people say of a label, and the one that those who call it wrong agree on."""
    language = language_asked(row)
    says = partial(says_label, name, language=language)
    found, answer = settle_repair(votes, overlap, itemgetter(name), says, adjudicators)
    right = says(answer)[1] if answer else ""
    # What is compared is not what is written: a poet's name stays as one of them spelt it.
    written = name == "poet" and right and answer
    return found, canonical(answer["right_poet"], language) if written and answer else right


def differ(row: Drawn, votes: Votes, adjudicators: Collection[str]) -> bool:
    """Whether people don't agree on a question that all have answered, or agree that what is there is wrong
    and not on what is right (it is withdrawn).
    """
    if row.template == "connotation":
        return any(told.endswith(DIFFER) for told in unanimous(votes))
    if row.template == "label_validation":
        settled = [settled_label(name, row, votes, len(votes), adjudicators) for name in LABELS]
        return any(
            found is None or (found.values[name] == "wrong" and not right)
            for name, (found, right) in zip(LABELS, settled, strict=True)
        )
    if row.template == "text_correction":
        return settled_text(row, votes, len(votes), adjudicators)[1] is None
    return settle(votes, len(votes), says_of(row), adjudicators) is None


DIFFER = "people differ"
EDITED = "edited or replaced (Kinayat: 77 of 150)"
"""Sentences that people did not take as they were; the paper's own count stands beside ours."""

SAYS: Mapping[CampaignTemplate, Callable[[Mapping[str, str], Language], Hashable]] = {
    "label_validation": says_labels,
    "text_correction": says_text,
    "dialect_sentence": says_sentence,
    "wrong_idiom": lambda values, _: values["wrong"],
}
"""What people have to say alike to agree, by what they read, of templates whose answers are not averaged."""


def says_of(row: Drawn) -> Callable[[Mapping[str, str]], Hashable]:
    """What people have to say alike to agree on a question."""
    says, language = SAYS[row.template], language_asked(row)
    return lambda values: says(values, language)


TELLS: Mapping[CampaignTemplate, Callable[[Mapping[str, str]], list[str]]] = {
    "label_validation": lambda values: (
        [f"{values[name]} {name}" for name in ("poet", "era", "genre", "metre") if values[name] != "right"]
        or ["all right"]
    ),
    "text_correction": lambda values: [values["state"]],
    "wrong_idiom": lambda values: [
        "no candidate serves" if values["wrong"] == "none" else f"candidate {values['wrong']} chosen"
    ],
    "dialect_sentence": lambda values: [{"accept": "accepted"}.get(values["verdict"], EDITED)],
}
"""What an agreed answer counts as."""
