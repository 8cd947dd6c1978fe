"""What an auditor's reply must be: every one of the 1,024 vectors and every way to get it wrong."""

from __future__ import annotations

import itertools
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.schemas.audit import CASCADE, CRITERIA, Criterion
from mihakk.validators.audit.reply import SHORT_ISSUES, legal, opinion, schema, sentences, short_opinion

VECTORS = [dict(zip(CRITERIA, bits, strict=True)) for bits in itertools.product((0, 1), repeat=10)]


def reply(scores: dict[Criterion, int], /, **changes: Any) -> dict[str, Any]:
    issues = [{"criterion": key, "explanation": f"Wrong {key}."} for key in CRITERIA if scores[key] == 0]
    return {"scores": dict(scores), "issues": issues, **changes}


ONES: dict[Criterion, int] = dict.fromkeys(CRITERIA, 1)
ONE_ZERO: dict[Criterion, int] = {**ONES, "answer_alignment": 0}


def test_five_hundred_and_twenty_vectors_are_legal() -> None:
    assert sum(map(legal, VECTORS)) == 520


def test_every_vector_passes_or_is_mended_by_the_cascade_alone() -> None:
    repaired = 0
    for scores in VECTORS:
        found = opinion(json.loads(json.dumps(reply(scores))))
        assert legal(found.scores)
        assert [issue.criterion for issue in found.issues] == [k for k in CRITERIA if found.scores[k] == 0]
        if legal(scores):
            assert found.scores == scores
            assert not found.repaired
        else:
            repaired += 1
            assert found.repaired.startswith("cascade: ")
            changed = {key for key in CRITERIA if found.scores[key] != scores[key]}
            assert changed <= set(CASCADE)
            assert all(found.scores[key] == 0 for key in changed)
    assert repaired == 1024 - 520


def test_the_schema_admits_every_legal_reply() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    for scores in VECTORS:
        validator.validate(reply(scores))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"scores": ONES}, "keys must be"),
        ({**reply(ONES), "comment": "x"}, "keys must be"),
        ({"Scores": ONES, "issues": []}, "keys must be"),
        ({"الدرجات": ONES, "المشكلات": []}, "keys must be"),
        (reply(ONES, scores=[1] * 10), "must be an object"),
        (reply(ONES, scores=dict.fromkeys(CRITERIA[1:], 1)), "exactly the ten"),
        (reply(ONES, scores={**ONES, "fairness": 1}), "exactly the ten"),
        (reply(ONES, scores={**ONES, "question_clarity": True}), "must be 0 or 1"),
        (reply(ONES, scores={**ONES, "question_clarity": "1"}), "must be 0 or 1"),
        (reply(ONES, scores={**ONES, "question_clarity": 1.0}), "must be 0 or 1"),
        (reply(ONES, scores={**ONES, "question_clarity": None}), "must be 0 or 1"),
        (reply(ONES, scores={**ONES, "question_clarity": 2}), "must be 0 or 1"),
        (reply(ONES, scores={**ONES, "question_clarity": -1}), "must be 0 or 1"),
        (reply(ONES, issues={}), "must be a list"),
        (reply(ONE_ZERO, issues=[]), "scored 0 without an issue: answer_alignment"),
        (reply(ONES, issues=reply(ONE_ZERO)["issues"]), "scored 1: answer_alignment"),
        (reply(ONE_ZERO, issues=reply(ONE_ZERO)["issues"] * 2), "one issue only"),
        (reply(ONE_ZERO, issues=[{"criterion": "answer_alignment"}]), "each issue"),
        (reply(ONE_ZERO, issues=["answer_alignment"]), "each issue"),
        (reply(ONE_ZERO, issues=[{"criterion": "style", "explanation": "x"}]), "no criterion 'style'"),
    ],
)
def test_what_is_refused(value: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        opinion(value)


@pytest.mark.parametrize(
    ("explanation", "problem"),
    [
        ("", "empty"),
        ("  ", "empty"),
        (None, "empty"),
        ("One. Two. Three.", "more than 2 sentences"),
        ("جملة أولى. جملة ثانية؟ جملة ثالثة", "more than 2 sentences"),
        ("نخست۔ دوم۔ سوم۔", "more than 2 sentences"),
        ("正确答案是错误的，应该是第三个选项", "not in English, Arabic or Persian"),
        ("правильный ответ другой", "not in English, Arabic or Persian"),
        ("!!! 123", "not in English, Arabic or Persian"),
    ],
)
def test_explanations_that_are_refused(explanation: object, problem: str) -> None:
    issues = [{"criterion": "answer_alignment", "explanation": explanation}]
    with pytest.raises(ValueError, match=problem):
        opinion(reply(ONE_ZERO, issues=issues))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The marked option is wrong", 1),
        ("It is wrong. C is right.", 2),
        ("It is wrong... C is right", 2),
        ("The poet, e.g. A. Shawqi, wrote 3.5 verses.", 1),
        ("الجواب خطأ. الصواب: ج", 2),
        ("پاسخ نادرست است؛ گزینهٔ ب درست است۔", 1),
        ('It says "wrong." Nothing else.', 2),
        ("هل هذا صحيح؟ لا!", 2),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert sentences(text) == count


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from([*CRITERIA, "criterion", "explanation", "x"]), inner, max_size=10
            )
        ),
        max_leaves=20,
    ),
    st.lists(st.dictionaries(st.sampled_from(["criterion", "explanation"]), st.text(max_size=9)), max_size=3),
)
def test_anything_else_is_a_value_error_never_a_crash(scores: object, issues: object) -> None:
    try:
        found = opinion({"scores": scores, "issues": issues})
    except ValueError:
        return
    assert set(found.scores) == set(CRITERIA)


@pytest.mark.parametrize(
    "zeros", [(), *itertools.combinations(CRITERIA, 1), *itertools.combinations(CRITERIA, 3)]
)
def test_a_short_reply_says_what_the_long_one_with_the_same_issues_says(zeros: tuple[Criterion, ...]) -> None:
    long = reply({key: int(key not in zeros) for key in CRITERIA})
    short = {"issues": long["issues"]}
    jsonschema.validate(short, schema("issues"))
    assert short_opinion(short) == opinion(long)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(long, schema("issues"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (reply(ONES), 'the one key must be "issues"'),
        ({"issues": {}}, "must be a list"),
        ({"issues": [{"criterion": "beauty", "explanation": "Ugly."}]}, "no criterion"),
        ({"issues": [{"criterion": "answer_quality", "explanation": " "}]}, "is empty"),
        ({"issues": [{"criterion": "answer_quality", "explanation": "No."}] * 2}, "one issue only"),
    ],
)
def test_a_short_reply_is_checked_as_the_long_one_is(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        short_opinion(wrong)


def test_a_short_reply_is_bounded_so_that_a_small_model_comes_to_an_end() -> None:
    issue = {"criterion": "answer_quality", "explanation": "x" * 81}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"issues": [issue]}, schema("issues"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {"issues": [{**issue, "explanation": "No."}] * (SHORT_ISSUES + 1)}, schema("issues")
        )
