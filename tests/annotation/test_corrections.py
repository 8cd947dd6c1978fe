"""An item as a form and back: nothing changes by itself, and every change is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.annotation.screens.corrections import correct, form, read_form, showable
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.ids import content_hash
from tests.annotation.judged import answer, choice, explanation

texts = st.text(min_size=1, max_size=40)


@pytest.mark.parametrize("item", [choice(), answer(), explanation()], ids=["choice", "answer", "explanation"])
def test_an_untouched_form_is_no_correction(item):
    assert read_form(form(item), form(item)) == {}


@given(question=texts, options=st.tuples(texts, texts, texts), context=texts)
def test_no_text_can_make_an_untouched_form_a_correction(question, options, context):
    item = choice(question=question, options=options, context=context)
    assert read_form(form(item), form(item)) == {}


@given(typed=texts.filter(lambda text: text.strip() and text.strip() != "يعمل في الحقل كل يوم"))
def test_what_a_person_types_arrives_whole(typed):
    item = choice()
    corrections = read_form(form(item), form(item) | {"fix_option_1": typed})
    assert corrections == {"options[1]": typed.strip()}
    assert correct(item, corrections).options == (item.options[0], typed.strip())


def test_a_corrected_item_keeps_its_id_and_changes_its_content():
    item = choice()
    fixed = correct(item, {"gold": "1", "question": "ما المقصود؟"})
    assert (fixed.id, fixed.gold, fixed.question) == (item.id, (1,), "ما المقصود؟")
    assert content_hash(fixed) != content_hash(item)


def test_one_explanation_among_several_is_corrected_in_its_own_row():
    item = explanation()
    filled = form(item)
    assert filled["fix_explanation_0"] == item.explanations[0]
    filled["fix_explanation_1"] = filled["fix_explanation_1"].replace("مواضع", "أماكن") + "\n"
    corrections = read_form(form(item), filled)
    assert corrections == {"explanations[1]": "يسمّي أماكن الديار"}
    assert correct(item, corrections).explanations == (item.explanations[0], "يسمّي أماكن الديار")


def test_a_long_poem_shares_a_box_in_which_a_stray_enter_breaks_nothing():
    item = explanation()
    item = item.model_copy(update={"verses": item.verses * 20, "explanations": item.explanations * 20})
    lines = form(item)["fix_explanations"].split("\n")
    assert len(lines) == 40
    typed = "\n".join(["أصلح", "", *lines[1:], ""])
    assert read_form(form(item), {"fix_explanations": typed}) == {"explanations[0]": "أصلح"}
    with pytest.raises(RecordRejected, match="line_count: verses: 40 lines were shown, 1 came back"):
        read_form(form(item), {"fix_verses": "قفا نبك"})


@pytest.mark.parametrize(
    ("corrections", "reason"),
    [
        ({"gold": "2"}, "bad_gold"),
        ({"gold": "أ"}, "bad_gold"),
        ({"gold": ""}, "bad_gold"),
        ({"options[2]": "ثالث"}, "unknown_field"),
        ({"answer": "جواب"}, "unknown_field"),
        ({"licence": "none"}, "unknown_field"),
    ],
)
def test_a_correction_the_item_has_no_place_for_is_rejected(corrections, reason):
    with pytest.raises(RecordRejected) as rejected:
        correct(choice(), corrections)
    assert rejected.value.reason == reason


def test_several_right_options_and_accepted_answers():
    assert correct(choice(options=("أ", "ب", "ج")), {"gold": "2,0"}).gold == (0, 2)
    assert correct(answer(), {"accepted": "ناولها\n\n و ناولها "}).accepted == ("ناولها", "و ناولها")


@given(st.text())
def test_shown_text_can_be_stored_anywhere(text):
    shown = showable(text)
    shown.encode()
    assert "\x00" not in shown
    assert len(shown) == len(text)
