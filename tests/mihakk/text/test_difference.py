"""Differences of two forms, by code point."""

from hypothesis import given
from hypothesis import strategies as st

from mihakk.text import canonical, code_points, differences


def test_what_changed_is_named():
    before = "لَــم\u00a0یكن"
    found = differences(before, canonical(before, "ar"))
    assert [(one.start, code_points(one.before), code_points(one.after)) for one in found] == [
        (2, "U+0640 ARABIC TATWEEL, U+0640 ARABIC TATWEEL", ""),
        (
            5,
            "U+00A0 NO-BREAK SPACE, U+06CC ARABIC LETTER FARSI YEH",
            "U+0020 SPACE, U+064A ARABIC LETTER YEH",
        ),
    ]
    assert code_points("\ue000") == "U+E000 unnamed"
    assert differences("قال", "قال") == []


@given(st.text("ابـ \u064e\u200c", max_size=12), st.text("ابـ \u064e\u200c", max_size=12))
def test_differences_lead_from_one_to_the_other(before, after):
    pieces, at = [], 0
    for difference in differences(before, after):
        pieces += [before[at : difference.start], difference.after]
        at = difference.start + len(difference.before)
    assert "".join([*pieces, before[at:]]) == after
