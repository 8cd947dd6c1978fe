"""What an annotator is shown: inert, complete, blind, and as Label Studio wants it."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.annotation.campaigns.questions import (
    Candidate,
    connotation_question,
    option_question,
    sentence_question,
    wrong_idiom_question,
)
from mihakk.annotation.screens.labelling import labelling, words
from mihakk.annotation.screens.queue import queue, write_queue
from mihakk.annotation.screens.tasks import escaped, numbered, review_task, sealed, untouched, urgency
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Form, Provenance
from tests.annotation.judged import answer, audit, choice, explanation, finding, verdict

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e=cmd|'/c calc'!A1 & \"quoted\" \x00"
OURS = {
    "article",
    "blockquote",
    "p",
    "b",
    "bdi",
    "br",
    "ol",
    "li",
    "span",
    "div",
    "code",
    "table",
    "tr",
    "th",
    "td",
}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def shown(markup: str) -> Tags:
    tags = Tags()
    tags.feed(markup)
    return tags


@pytest.mark.parametrize(
    "item",
    [
        choice(
            question=HOSTILE,
            options=(HOSTILE, "ب"),
            context=HOSTILE,
            metadata={"poet": HOSTILE},
            attribution=HOSTILE,
        ),
        answer(answer=HOSTILE, accepted=(HOSTILE,)),
        explanation(verses=(HOSTILE,), explanations=(HOSTILE,), overall=HOSTILE),
    ],
    ids=["choice", "answer", "explanation"],
)
def test_hostile_text_adds_no_tag_and_no_attribute(item):
    task = review_task(
        item, [finding(item.id).model_copy(update={"detail": HOSTILE})], [audit(item.id, HOSTILE)]
    )
    for name in ("meta_html", "item_html"):
        tags = shown(task["data"][name])
        assert set(tags.seen) <= OURS
        assert tags.attributes <= {"class", "dir", "lang"}
    assert "alert(1)" in shown(task["data"]["item_html"]).text, "people must see what is wrong with the text"
    assert "\x00" not in json.dumps(task["data"], ensure_ascii=False)


@given(st.text())
def test_escaping_leaves_the_text_readable(text):
    tags = shown(escaped(text))
    assert set(tags.seen) <= {"br", "span"}


def test_hidden_direction_marks_are_spelled_out():
    assert "U+202E" in escaped("a\u202eb")
    assert escaped("می\u200cرود") == "می\u200cرود", "ZWNJ is Persian spelling, not a trick"


def test_label_studio_accepts_every_task(label_interface):
    for screen in ("ar", "fa", "en"):
        interface = label_interface(labelling("quality_review", screen).config)
        interface.validate()
        for item in (choice(), answer(), explanation(), choice(options=tuple("abcdefghijkl"))):
            task = review_task(item, [finding(item.id)], [audit(item.id)], screen=screen)
            assert interface.validate_task({"data": task["data"]})
            assert all(interface.validate_prediction(prediction) for prediction in task["predictions"])


def test_only_text_is_prefilled_never_a_verdict(label_interface):
    task = review_task(choice(), audits=[audit(choice().id, failed=("answer_alignment",))])
    regions = task["predictions"][0]["result"]
    assert {region["type"] for region in regions} == {"textarea"}
    assert {region["from_name"]: region["value"]["text"] for region in regions} == {
        name: [text] for name, text in task["data"]["form"].items()
    }


def test_the_task_does_not_tell_why_it_is_in_the_queue():
    task = review_task(choice())
    assert set(task["data"]) == {
        "sample_id", "content_hash", "priority", "task", "template", "language", "screen", "meta_html", "item_html",
        "provenance", "form", "data_digest",
    }  # fmt: skip


@pytest.mark.parametrize("screen", ["ar", "fa", "en"])
def test_nothing_that_checks_or_auditors_say_reaches_the_server(screen):
    item = choice()
    said = [audit(item.id, who, failed=("answer_alignment",)) for who in ("first_auditor", "second_auditor")]
    blind = review_task(item, screen=screen, priority=3)
    flagged = review_task(item, [finding(item.id)], said, screen=screen, priority=3)
    assert flagged == blind
    config = labelling("quality_review", screen).config
    assert "audit" not in config


def test_a_task_tells_its_place_in_the_language_of_its_screen_and_stays_sealed():
    tasks = numbered([review_task(choice(n), screen=screen) for n, screen in enumerate(("ar", "fa", "en"))])
    shown_places = [shown(task["data"]["meta_html"]).text.partition(" · ")[0] for task in tasks]
    assert shown_places == ["1 من 3", "2 از 3", "3 of 3"]
    assert all(untouched(task["data"]) for task in tasks)


@pytest.mark.parametrize(
    ("screen", "licence", "records"),
    [("ar", "الرخصة", "السجلات"), ("fa", "پروانه", "رکوردها"), ("en", "Licence", "Records")],
)
def test_the_source_is_told_in_the_language_of_the_screen(screen, licence, records):
    told = review_task(choice(), screen=screen)["data"]["provenance"]
    assert told[licence] == "CC-BY-4.0"
    unknown = review_task(choice(licence="unknown"))["data"]["provenance"]
    assert unknown["الرخصة"] == "غير معروف"
    assert told[records] == "idiom-0"


def test_a_sentence_to_judge_stands_first_and_is_not_marked_as_right():
    phrase, meaning = Form(raw="إيده طويلة"), Form(raw="يسرق")
    source = Provenance(source="s", url="file:s#1", licence="CC0-1.0", sha256="0" * 64, parser_version="1")
    idiom = Idiom(id="i1", language="ar", phrase=phrase, explanation=meaning, provenance=source)
    page = sentence_question(idiom, "خلي بالك منه.").task()["data"]["item_html"]
    assert page.index("خلي بالك منه.") < page.index("إيده طويلة")
    assert "key" not in page


def test_every_question_about_an_idiom_names_its_dialect():
    source = Provenance(source="s", url="file:s#1", licence="CC0-1.0", sha256="0" * 64, parser_version="1")
    phrase, meaning = Form(raw="إيده طويلة"), Form(raw="يسرق")
    idiom = Idiom(
        id="i1", language="ar", dialect="egyptian", phrase=phrase, explanation=meaning, provenance=source
    )
    tasks = [
        connotation_question(idiom).task(),
        sentence_question(idiom, "خلي بالك منه، إيده طويلة.").task(),
        wrong_idiom_question(idiom, "خلي بالك منه، ____.", [Candidate("i2", "لسانه طويل", "سليط")]).task(),
        option_question(choice(), 1).task(),
    ]
    assert all("مصرية" in shown(task["data"]["meta_html"]).text for task in tasks)


def test_facts_are_shown_in_words_and_not_as_ids():
    known = {"poet": "imru_al_qays", "era": "pre_islamic", "metre": "tawil", "form": "qasida", "subset": "x"}
    line = shown(review_task(choice(metadata=known))["data"]["meta_html"]).text
    for fact in ("امرؤ القيس", "العصر الجاهلي", "الطويل", "قصيدة", "مصرية"):
        assert fact in line
    assert not any(value in line for value in known.values() if value != "x")
    hafez = answer(metadata={"poet": "hafez", "metre": "fa_1"})
    assert "مضارع مثمن اخرب مکفوف محذوف" in shown(review_task(hafez)["data"]["meta_html"]).text


def test_defects_are_worded_as_defects():
    for screen, right, wrong in (
        ("ar", "صحيح", "خاطئ"),
        ("fa", "درست است", "نادرست"),
        ("en", "right", "wrong"),
    ):
        word = words("quality_review", screen)["criteria"]["answer_alignment"]
        assert wrong in word
        assert word != right
        assert not word.endswith(f" {right}")


def test_instructions_are_in_the_language_of_the_screen_alone():
    for screen, other in (("ar", "Keep"), ("fa", "إبقاء"), ("en", "إبقاء")):
        told = labelling("quality_review", screen).instructions
        assert told.count("<section") == 1
        assert other not in told


def test_the_right_option_is_marked_and_letters_follow_the_screen():
    markup = review_task(choice(gold=(1,)))["data"]["item_html"]
    assert '<p class="key">ب. ✓ <bdi>يعمل في الحقل كل يوم</bdi></p>' in markup
    assert 'dir="rtl" lang="ar"' in markup
    assert "<p>A. <bdi>" in review_task(choice(gold=(1,)), screen="en")["data"]["item_html"]


def test_a_task_edited_by_hand_is_noticed():
    data = review_task(choice())["data"]
    assert untouched(data)
    assert not untouched(data | {"item_html": "<article>x</article>"})
    assert untouched(sealed(data | {"priority": 5}))


def test_the_worst_items_come_first():
    items = [choice(n) for n in range(3)]
    audits = [
        audit(items[1].id, failed=("factual_accuracy",)),
        audit(items[2].id, failed=("spelling_accuracy",)),
    ]
    tasks = queue(items, [verdict(item.id) for item in items], [], audits)
    assert [task["data"]["sample_id"] for task in tasks] == [items[1].id, items[2].id, items[0].id]
    assert urgency([finding("x")], []) > urgency([finding("x", "report")], [])


def test_the_queue_file_holds_flagged_items_only_and_is_the_same_every_time(tmp_path, label_interface):
    items = [choice(n) for n in range(4)] + [answer(1)]
    status = ["flag", "pass", "block", "flag", "flag"]
    verdicts = [verdict(item.id, s) for item, s in zip(items, status, strict=True)]
    findings = [finding(items[0].id), finding(items[3].id, "block")]
    assert write_queue(tmp_path / "a" / "queue.json", items, verdicts, findings, []) == 3
    write_queue(tmp_path / "b" / "queue.json", items, verdicts[::-1], findings[::-1], [])
    tasks = json.loads((tmp_path / "a" / "queue.json").read_bytes())
    assert {task["data"]["sample_id"] for task in tasks} == {items[0].id, items[3].id, items[4].id}
    assert tasks[0]["data"]["content_hash"] == content_hash(items[3])
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["queue.config.xml", "queue.instructions.html", "queue.json"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    interface = label_interface((tmp_path / "a" / "queue.config.xml").read_text("utf-8"))
    assert all(interface.validate_task({"data": task["data"]}) for task in tasks)


def test_every_criterion_and_every_label_is_worded_in_three_languages():
    keys = [set(words("quality_review", screen)) for screen in ("ar", "fa", "en")]
    assert keys[0] == keys[1] == keys[2]
    for screen in ("ar", "fa", "en"):
        assert tuple(words("quality_review", screen)["criteria"]) == CRITERIA
