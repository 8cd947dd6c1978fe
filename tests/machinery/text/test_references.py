"""References to other entries, told from meanings: on cases written for it and on two real books."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from mihakk.curation.apparatus import without_apparatus
from mihakk.machinery.settings import ROOT
from mihakk.machinery.text import canonicalize
from mihakk.machinery.text.references import content, only_refers
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import run


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("انظر: «تمت الحبايب …» إلخ.", "ar"),
        ("انظر في الميم «المقروص من التعبان …» إلخ.", "ar"),
        ("اُنْظُرْ: «أ» إلخ و«ب» في الأمثال.", "ar"),
        ("راجعه في حرف الصاد المهملة.", "ar"),
        ("«تمت الحبايب …» إلخ.", "ar"),
        ("تقدم في الباء الموحدة.", "ar"),
        ("سيأتي ذكره في الميم.", "ar"),
        ("رجوع شود به «آب از سر گذشت»", "fa"),
        ("رک. «آب از سر گذشت»", "fa"),
        ("see: the other entry", "en"),
        ("See also “a stitch in time”, etc.", "en"),
    ],
)
def test_a_reference_is_told_with_and_without_the_word_for_see(text: str, language: str) -> None:
    assert only_refers(text, language)
    assert not content(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("يضرب لكثرة الشيء.", "ar"),
        ("انظر: «أ»، وهو كناية عن الفقر.", "ar"),
        ("«قول بين علامتين»", "ar"),
        ("أي: لا ينظر إلى العواقب.", "ar"),
        ("يقال لمن تقدم في السن.", "ar"),
        ("کنایه از تنگدستی است", "fa"),
        ("to see clearly what lies ahead", "en"),
        ("a fish (nun)", "en"),
    ],
)
def test_a_meaning_is_no_reference(text: str, language: str) -> None:
    assert not only_refers(text, language)
    assert content(text, language)


@pytest.mark.parametrize(
    "text", ["معناه ظاهر.", "هو في معنى قول الشاعر", "إلخ.", "في الصاد المهملة.", "وقالوا. إلخ."]
)
def test_what_states_no_meaning_has_no_content(text: str) -> None:
    assert not content(text)


def test_remnants_of_a_cut_go_with_it() -> None:
    text, cut, _ = without_apparatus(
        "أي: من أحبه الله يسر له الأمور. وانظر في الميم: «من حبه ربه واختاره …» إلخ."
    )
    assert text == "أي: من أحبه الله يسر له الأمور."
    assert cut == {"reference": 1}
    text, cut, _ = without_apparatus("أي: كذا وكذا. وانظر في الميم: «من حبه ربه» إلخ. وقالوا. إلخ.")
    assert text == "أي: كذا وكذا."
    assert cut["remnant"] == 2
    assert without_apparatus("انظر: «صاحب بالين كداب» في الصاد المهملة.").text == ""


def test_a_sentence_that_uses_the_phrase_becomes_an_example() -> None:
    said = "كناية عما يأتي منه الكسب، يقولون: «فتح له باب رزق واسع»؛ أي سبب له عملا. وهو معروف عندهم."
    text, cut, examples = without_apparatus(said, "باب رزق")
    assert examples == ("فتح له باب رزق واسع",)
    assert "فتح له" not in text
    assert "أي سبب له عملا" in text
    assert text.startswith("كناية عما يأتي منه الكسب")
    assert cut["example"] == 1
    # Without the phrase in it, or where nothing else is said, a quotation stays where it is.
    assert without_apparatus(said, "قلبه أبيض").examples == ()
    assert without_apparatus("يقولون: «فتح له باب رزق واسع».", "باب رزق").examples == ()


def test_the_see_entries_of_two_real_books_are_all_found_and_no_others(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(shared_data))
    for name, see, empty in (
        ("amthal_openiti", 23, 6),
        ("kinayat_openiti", 19, 2),
    ):
        config = yaml.safe_load((ROOT / "configs" / "sources" / f"{name}.yaml").read_text(encoding="utf-8"))
        said = [
            one.explanation.raw if isinstance(one, Idiom) else "\n".join(json.loads(one.body)["explanation"])
            for one in run(SourceUse.model_validate(config), RawStore(tmp_path))
        ]
        texts = [canonicalize(text, "ar").text for text in said]
        # The books' own word, at the beginning of a text that ends with the reference.
        opens = {text for text in texts if re.match(r"(?:اُ|ا|أ)نظر\b", text)}
        found = {text for text in texts if only_refers(text)}
        assert found == opens
        assert len(found) == see
        rest = [text for text in texts if text not in found and not content(without_apparatus(text).text)]
        assert len(rest) == empty


@pytest.mark.parametrize("language", ["zh", "ja", "sw", "xx"])
def test_a_text_in_another_language_says_what_it_says(language: str) -> None:
    assert content("  参见  上文 ", language) == "参见 上文"
    assert not only_refers("参见 上文", language)
