"""Explanations say what an idiom means in words of their own, and no form tells the right one: Taymur's real book."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from mihakk.generators.plain_meaning import plain_meaning
from mihakk.generators.quality.item_quality import measure_quality
from mihakk.machinery.settings import ROOT
from mihakk.machinery.text import word_keys
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from tests.generators.generated import generate
from tests.generators.records import make_idiom


@pytest.fixture(scope="module")
def taymur(shared_data: Path) -> list[Idiom]:
    """The entries of the book that explain something, by a parse of our own."""
    text = (shared_data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt").read_text("utf-8")
    entries = re.findall(r"^([^\n#~:،.]{4,60}):\n+((?:[^\n]+\n?)+)", text[text.index("# |") :], flags=re.M)
    told = {phrase: " ".join(gloss.split()) for phrase, gloss in entries}
    return [
        make_idiom(f"t{n}", phrase, gloss)
        for n, (phrase, gloss) in enumerate(told.items())
        if not gloss.startswith("انظر")
    ]


@pytest.fixture(scope="module")
def made(taymur: list[Idiom]) -> list[Item]:
    return generate(taymur, "meaning_choice", "negation").items


def test_no_form_tells_the_right_explanation_of_two_hundred_idioms(made: list[Item]) -> None:
    found = measure_quality(made).baselines
    assert {one.task for one in found} == {"meaning_choice", "negation"}
    for one in found:
        if one.name == "random":
            assert one.questions >= 200
        assert one.low <= one.chance + 0.05, f"{one.task} {one.name} {one.accuracy} of {one.questions}"


def test_each_meaning_is_offered_as_often_as_any_other(made: list[Item]) -> None:
    for task, times in (("meaning_choice", 4), ("negation", 2)):
        first = [
            item for item in made if isinstance(item, ChoiceItem) and item.task == task and not item.order
        ]
        offered = Counter(option for item in first for option in item.options)
        assert sum(count == times for count in offered.values()) / len(offered) > 0.8, task
        asked = Counter(frozenset(item.options) for item in first)
        assert sum(count > 1 for count in asked.values()) / len(asked) < 0.05, "two idioms with one question"


def test_the_right_explanation_shares_no_word_of_four_letters_with_its_idiom(made: list[Item]) -> None:
    for item in made:
        if isinstance(item, ChoiceItem) and item.task == "meaning_choice":
            right = {word for word in word_keys(item.options[item.gold[0]], "ar") if len(word) > 3}
            assert not right & set(word_keys(item.fields["phrase"], "ar")), item.options


def test_an_idiom_that_goes_changes_little_that_did_not_take_from_it(
    taymur: list[Idiom], made: list[Item]
) -> None:
    before = {item.id: item for item in made}
    for gone in (3, 120):
        after = {
            item.id: item
            for item in generate([*taymur[:gone], *taymur[gone + 1 :]], "meaning_choice", "negation").items
        }
        changed = [name for name, item in before.items() if after.get(name) != item]
        others = [name for name in changed if taymur[gone].id not in before[name].origin.records]
        assert len(others) < 0.1 * len(before)
        assert after.keys() <= before.keys()


@pytest.mark.parametrize(
    ("phrase", "explanation", "meaning"),
    [
        ("إتاوب ع الناموس", "إتاوب، أي تثاءب، والناموس: البعوض؛ كناية عن الفقر وعدم وجود ما يأكله، وكأنهم يريدون به.", "الفقر وعدم وجود ما يأكله"),
        ("بلع ريقه", "كناية عن السكون والاطمئنان بعد التعب، يقولون: «اصبر لما ابلع ريقي.» أي اصبر علي", "السكون والاطمئنان بعد التعب"),
        ("عضمه خشنه", "كناية عمن لا تستطاع مناوأته لقدرته", "من لا تستطاع مناوأته لقدرته"),
        ("خبر أبيض", "كناية عن الخبر السيئ، وهو من الأضداد", ""),
        ("وراه", "أي أراه", ""),
        ("قلبه أبيض", "طيب النية لا يضمر لأحد شرًا، ويغفر الإساءة", "طيب النية لا يضمر لأحد شرًا، ويغفر الإساءة"),
        # Read by eye in Taymur's book: anecdotes, word histories and sources that broke off, and a telling accusative.
        ("أكل وشه", "كناية عن العتاب الشديد واللوم والتقريع، ومن طريف ما يروى أنه أولم وليمة، فعاتبوه فقال:", "العتاب الشديد واللوم والتقريع"),
        ("سرقاه السكين", "كناية عن التمادي في أمر، وأصل هذه الكناية في الداجنة تذبح، ثم تقع فيقولون:", "التمادي في أمر"),
        ("ما تخرش من إيده الميه", "كناية عن البخل الشديد، ورأيت في كتاب المعرب ما نصه: كذا", "البخل الشديد"),
        ("نفخة ربه", "كناية عن الظهور بمظهر التعاظم، والمنفوخ عندهم المنتفخ كبرا", "الظهور بمظهر التعاظم"),
        ("ترش الملح ما ينزلش", "كناية عن شدة الزحام، بحيث لو نثرت ملحا لا يصل إلى الأرض", "شدة الزحام"),
        ("بالهبولي", "كناية عن كثرة الشيء كقولهم: «بالزوفه»", "كثرة الشيء"),
        ("بالرطل", "كناية عن كثرة الشيء ورخصه، ولشيخ أدباء العصر من نوع المواليا", "كثرة الشيء ورخصه"),
        ("عسل وطحينه", "كناية عن شدة الامتزاج كما تكني العرب عن ذلك بالماء والخمر", "شدة الامتزاج"),
        ("راح في شربة ميه", "كناية عمن يموت بشيء تافه يعجل به، أو عمن يؤذى كذلك", "من يموت بشيء تافه يعجل به"),
        ("الدنيا واقفه", "كناية عن الهياج والثورة، فهو كقول من تقدم", "الهياج والثورة"),
        ("ما يقمش", "كناية عن التناهي في الكسل، وقد تقدم في الأمثال", "التناهي في الكسل"),
        ("زي البنيد", "هو من التشبيهات", ""),
        # The image is the idiom's own: whoever reads it knows which one is explained.
        ("هف طلع النهار", "كناية عن زوال الشيء بسرعة كأنه نفخ فيه فطار", "زوال الشيء بسرعة"),
        ("مسماره في السدغ", "كناية عمن يلازم شخصا ولا يفارقه، فكأنه ملصق بمسمار في الصدغ", "من يلازم شخصا ولا يفارقه"),
        ("متلفع بلسانه", "كناية عن طول اللسان والقدرة على الكلام", ""),
        ("قد وقدود", "يقولون: «دا قد دا» أي هذا مثله، ويريدون بقد وقدود الكناية عن كفاءة المرء", "كفاءة المرء"),
        ("سرجوا له شمعه", "أي أوقدوها، كناية عن الإفلاس، والأصل في ذلك ...", "الإفلاس"),
    ],
)  # fmt: skip
def test_the_clause_that_states_the_meaning(phrase: str, explanation: str, meaning: str) -> None:
    assert plain_meaning(phrase, explanation, "ar").text == meaning


def test_persian_and_english_meanings() -> None:
    told = "کنایه از آدم خسیس، چنانکه گویند: دستش خشک است"
    assert plain_meaning("نم پس نمی‌دهد", told, "fa").text == "آدم خسیس"
    assert (
        plain_meaning("spill the beans", "to tell a secret, as in: he spilled the beans", "en").text
        == "to tell a secret"
    )
    assert plain_meaning("spill the beans", "spilling what was hidden", "en").text == ""


def test_an_idiom_is_offered_the_meaning_of_one_that_agrees_with_it() -> None:
    three = [
        ("إيده ناشفه", "من يبخل على أهله"),
        ("وشه خشب", "من لا يستحي أحدا"),
        ("باله طويل", "من يصبر ولا يمل"),
    ]
    they = [
        ("قلوبهم سودا", "من يحقدون علينا"),
        ("ريحتهم فاحت", "من شاع خبرهم"),
        ("كلامهم ماسخ", "من يثقل سمرهم"),
    ]
    pairs = [*three, *they]
    idioms = [make_idiom(f"i{n}", *pair) for n, pair in enumerate(pairs)]
    made = generate(idioms, "meaning_choice", wrong=1).items
    beside = [
        [int(name.removeprefix("i")) < len(three) for name in item.origin.records[:2]]
        for item in made
        if isinstance(item, ChoiceItem) and not item.order
    ]
    assert len(beside) == len(pairs)
    assert sum(own == other for own, other in beside) >= len(pairs) - 2, "rings of both meet at two places"


def test_idioms_of_one_meaning_are_not_asked_with_one_wrong_answer(made: list[Item]) -> None:
    first = [
        one for one in made if isinstance(one, ChoiceItem) and one.task == "meaning_choice" and not one.order
    ]
    asked = Counter((one.options[one.gold[0]], frozenset(one.options)) for one in first)
    assert max(asked.values()) == 1


def test_no_form_tells_which_idiom_a_sentence_uses() -> None:
    rows = map(json.loads, (ROOT / "data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines())
    idioms = [
        make_idiom(
            row["id"],
            row["text"],
            row["explanation"],
            genre=row["kind"],
            examples=tuple(row.get("examples", ())),
        )
        for row in rows
    ]
    for one in measure_quality(generate(idioms, "pragmatic_use").items).baselines:
        assert one.low <= one.chance + 0.05, f"{one.name} {one.accuracy} of {one.questions}"
        assert one.name != "random" or one.questions >= 60
