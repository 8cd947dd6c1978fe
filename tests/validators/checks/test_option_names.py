"""Messages count options as people do; the field of a finding stays what programs read."""

from __future__ import annotations

import json

import pytest

import mihakk
from mihakk.validators.checks.texts import option_name, told_place

ROWS = [
    {"q": "ما عاصمة مصر؟", "o": ["القاهرة", "دمشق", "دمشق"], "k": "A"},
    {"q": "ما عاصمة سوريا؟", "o": ["القاهرة", "دمشق", "عمّان"], "k": "B"},
    {"q": "ما عاصمة الأردن؟", "o": ["القاهرة", "دمشق", "عمّان"], "k": "D"},
]


@pytest.fixture(scope="module")
def audited() -> mihakk.Audit:
    return mihakk.audit(ROWS, question="q", choices="o", gold="k", gold_as="letter")


@pytest.mark.parametrize(
    ("check", "detail", "where"),
    [
        ("CH03", "options 2 (B) and 3 (C) read the same: «دمشق» and «دمشق»", "options[2]"),
        ("CH01", "the gold is option 4 (D), and there are 3 options", "gold"),
    ],
)
def test_options_are_counted_from_one_and_have_their_letter(
    audited: mihakk.Audit, check: str, detail: str, where: str
) -> None:
    found = audited.findings.query("check == @check")
    assert found[["detail", "where"]].to_numpy().tolist() == [[detail, where]]


def test_where_people_read_the_field_too(audited: mihakk.Audit) -> None:
    results = json.loads(audited.to_sarif())["runs"][0]["results"]
    (text,) = [one["message"]["text"] for one in results if one["ruleId"] == "CH03"]
    assert text.startswith("option 3 (C): options 2 (B) and 3 (C)")
    assert "option 3 (C) options 2 (B) and 3 (C)" in audited.report()
    assert "options[2]" not in audited.report()


def test_what_has_no_letter_has_its_number_alone() -> None:
    assert [option_name(place) for place in (-1, 25, 26)] == ["0", "26 (Z)", "27"]
    assert [told_place(where) for where in ("options[0]", "verses[1]", "")] == [
        "option 1 (A)",
        "verses[1]",
        "",
    ]
