"""What votes on labels, texts and sentences come to, where people agree that something is wrong."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from mihakk.annotation.campaigns.amendments import amendments
from mihakk.annotation.campaigns.figures import LABELS, progress
from mihakk.annotation.screens.ratings import Label
from mihakk.schemas.campaign import Campaign, CampaignTemplate, Drawn
from tests.annotation.judged import NOON


def asked(template: CampaignTemplate, language: str, **before: str) -> Drawn:
    return Drawn(
        template=template,
        subject="q-1",
        content_hash="h",
        key="k",
        record="r-1",
        before=before,
        strata={"language": language},
    )


def answers(row: Drawn, *people: dict[str, str]) -> list[Label]:
    return [
        Label(
            template=row.template,
            subject=row.subject,
            content_hash=row.content_hash,
            annotator=f"annotator-{n:02d}",
            name=name,
            value=value,
            decided_at=NOON,
        )
        for n, values in enumerate(people, 1)
        for name, value in values.items()
    ]


def settled(row: Drawn, *people: dict[str, str]) -> tuple[dict[str, str], int]:
    """What the next build changes, whatever the order of answers; and how many questions are disputed."""
    campaigns = [Campaign(template=row.template)]
    found: list[Any] = []
    for order in permutations(people):
        labels = answers(row, *order)
        (state,) = progress([row], labels, campaigns, 2)
        changes = {one.field: one.after for one in amendments([row], labels, campaigns, 2)}
        found.append((changes, state.disputed))
    assert all(one == found[0] for one in found), "the order of answers never counts"
    return found[0]


def wrong(label: str, right: str = "") -> dict[str, str]:
    return dict.fromkeys(LABELS, "right") | {label: "wrong"} | ({f"right_{label}": right} if right else {})


POEM = dict.fromkeys(LABELS, "x")
ALL_RIGHT = dict.fromkeys(LABELS, "right")


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("named", [("", ""), ("ألف", "باء"), ("ألف", "")])
def test_a_label_that_all_call_wrong_is_withdrawn_and_disputed(label: str, named: tuple[str, str]) -> None:
    row = asked("label_validation", "ar", **POEM)
    assert settled(row, *(wrong(label, one) for one in named)) == ({label: ""}, 1)


def test_the_right_label_is_settled_among_those_who_call_it_wrong() -> None:
    row = asked("label_validation", "ar", **POEM)
    told = settled(row, wrong("poet", "جرير"), wrong("poet", "جرير"), wrong("poet", "الأخطل"), ALL_RIGHT)
    assert told == ({"poet": "جرير"}, 0)


def test_a_poet_is_named_as_people_wrote_it_and_not_as_names_are_compared() -> None:
    row = asked("label_validation", "fa", **POEM)
    assert settled(row, wrong("poet", "سعدی"), wrong("poet", "سعدي ")) == ({"poet": "سعدی"}, 0)


@pytest.mark.parametrize(
    ("said", "change", "disputed"),
    [
        ((("sound", ""), ("corrected", "نص")), {}, 1),
        ((("corrected", "نص ١٢"), ("corrected", "نص  ١٢")), {"phrase": "نص ١٢"}, 0),
        ((("corrected", "نص"), ("corrected", "غيره")), {"hopeless phrase": ""}, 1),
        ((("corrected", "نص"), ("hopeless", "")), {"hopeless phrase": ""}, 1),
        ((("corrected", ""), ("corrected", "")), {"hopeless phrase": ""}, 1),
        ((("hopeless", ""), ("hopeless", "")), {"hopeless phrase": ""}, 0),
        ((("sound", ""), ("sound", "")), {}, 0),
    ],
)
def test_a_text_that_all_call_damaged_never_stays_as_it_was(
    said: tuple[tuple[str, str], ...], change: dict[str, str], disputed: int
) -> None:
    row = asked("text_correction", "ar", phrase="نـ�ص")
    people = ({"state": state} | ({"fix_text": text} if text else {}) for state, text in said)
    assert settled(row, *people) == (change, disputed)


def test_a_sentence_keeps_the_digits_and_letters_that_people_typed() -> None:
    row = asked("dialect_sentence", "fa", sentence="x")
    told = settled(
        row, *({"verdict": "replace", "new_sentence": text} for text in ("سال ۱۲ علی", "سال  ۱۲ علي"))
    )
    assert told == ({"sentence": "سال ۱۲ علی"}, 0)
