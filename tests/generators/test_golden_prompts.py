"""One rendered prompt per task, in three languages, as a reader will see it.

Write them anew with MIHAKK_WRITE_GOLDEN=1 and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from mihakk.generators.generating import generate_shard, prepare
from mihakk.generators.prompts import bundled, render
from mihakk.generators.task import TASKS
from mihakk.machinery.languages import languages
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language
from tests.generators.records import make_idiom, make_poem
from tests.generators.scripted import ScriptedWriter

LANGUAGES = languages("items")
GOLDEN = Path(__file__).parent / "golden"
NAMES = TASKS.names()

EXPLANATION = "طيب النية لا يضمر لأحد شرًا ويغفر الإساءة سريعًا"
WRITER = ScriptedWriter(
    meaning_choice=[{"explanation": "كثير النسيان لا يذكر ما وعد به أصحابه ولا يبالي"}],
    meaning_choice_srl=[
        {
            "roles": [{"role": "quality", "text": "طيب النية"}, {"role": "manner", "text": "سريعًا"}],
            "changed": [{"role": "quality", "before": "طيب النية", "after": "خبيث النية"}],
            "sentence": "خبيث النية لا يضمر لأحد شرًا ويغفر الإساءة سريعًا",
        }
    ],
    pragmatic_use=[{"sentence": "متزعلش منه ده قلبه أبيض وهيصالحك بكرة"}],
    fragment_cued=[{"first_word": "دوستداران", "second_word": "آخر"}],
    paraphrase_cued=[{"paraphrase": "دیگر کسی مهربان نیست؛ چرا عاشقان از میان رفتند و محبت به پایان رسید؟"}],
)


def records() -> list[Poem | Idiom]:
    ghazal = make_poem(
        "fa",
        [
            ("یاری اندر کس نمی بینیم یاران را چه شد", "دوستی کی آخر آمد دوستداران را چه شد"),
            ("آب حیوان تیره گون شد خضر فرخ پی کجاست", "خون چکید از شاخ گل باد بهاران را چه شد"),
            ("شهر یاران بود و خاک مهربانان این دیار", "مهربانی کی سر آمد شهریاران را چه شد"),
        ],
        metre="fa_8",
    )
    prose = "رفاقت در هیچ کس نمی‌بینیم؛ بر سر یاران چه آمد و مهر کی تمام شد؟"
    told = [
        "شاعر از نبودن یار گله می‌کند",
        "حتی آب زندگی هم تیره شده است",
        "در این سرزمین دیگر مهری نیست",
    ]
    ghazal = ghazal.model_copy(
        update={
            "couplets": tuple(
                couplet.model_copy(update={"prose": prose if n == 0 else "", "explanation": told[n]})
                for n, couplet in enumerate(ghazal.couplets)
            ),
            "explanation": "شکایت از روزگار بی‌مهری",
            "title": "یاران را چه شد",
        }
    )
    others = [
        make_poem(
            "other",
            [("گوی توفیق و کرامت در میان افکنده اند", "کس به میدان در نمی آید سواران را چه شد")],
            metre="fa_8",
        ),
        *(
            make_poem(f"poet{n}", [("گفتم غم تو دارم", "گفتا غمت سر آید")], poet=name)
            for n, name in enumerate(("سعدی", "خاقانی", "عطار"))
        ),
    ]
    qasida = make_poem(
        "ar",
        [("قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل")],
        language="ar",
        poet="امرؤ القيس",
        metre="tawil",
        era="pre_islamic",
        genre="longing",
    )
    idioms = [
        make_idiom("i1", "قلبه أبيض", EXPLANATION, connotation="positive"),
        make_idiom("i2", "نام على ودنه", "غفل عما يدور حوله فلم ينتبه إلى ما يدبر له في الخفاء"),
        make_idiom("i3", "ضرب عصفورين بحجر واحد", "بلغ غايتين مختلفتين بعمل يسير لم يكلفه سوى مرة"),
    ]
    return [ghazal, *others, qasida, *idioms]


SHORT: dict[str, Any] = {"rhyme": "prefer"}
"""The ghazal is too short for two wrong lines of its own."""
OPTIONS = dict.fromkeys(("continuation_choice", "prose_cued_choice", "paraphrase_cued_choice"), SHORT)


@pytest.mark.parametrize("name", NAMES)
def test_prompt_reads_as_before(name: str) -> None:
    config = BenchmarkConfig.model_validate(
        {
            "name": "golden",
            "title": "golden",
            "sources": [{"use": "files"}],
            "tasks": [{"use": name, "options": OPTIONS.get(name, {})}],
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
    found = records()
    made = generate_shard(found, prepare(found, config), config, WRITER)
    assert made.items, f"{name}: {made.skipped}"
    item = made.items[0]
    text = "".join(f"=== {language}\n{render(item, language)}\n" for language in LANGUAGES)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("MIHAKK_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden prompt for {name}: write it with MIHAKK_WRITE_GOLDEN=1 and read it"
    assert text == path.read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(NAMES)


def test_a_label_begins_a_token_of_its_own_behind_every_prompt() -> None:
    """Tokenised both ways: behind the release's delimiter, which is none, and behind a space.

    A space would be part of the label's first token: for one model that moved ArabicMMLU by ten points
    (lighteval, issue 372).
    """
    texts = [path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.txt")]
    prompts = [part.split("\n", 1)[1].removesuffix("\n") for text in texts for part in text.split("=== ")[1:]]
    labels = sorted({label for language in LANGUAGES for label in bundled().labels(language, 4)})
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=800, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([f"{prompt} {label}" for prompt in prompts for label in labels], trainer)

    def tokens(text: str) -> list[int]:
        found: list[int] = tokenizer.encode(text).ids
        return found

    assert len(prompts) == 3 * len(texts)
    for prompt in prompts:
        for label in labels:
            assert tokens(prompt + label) == tokens(prompt) + tokens(label)
            assert tokens(f"{prompt} {label}") != tokens(f"{prompt} ") + tokens(label)


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_are_of_the_items_script(language: Language) -> None:
    labels = bundled().labels(language, 4)
    assert (
        labels
        == {"ar": ("أ", "ب", "ج", "د"), "fa": ("الف", "ب", "ج", "د"), "en": ("A", "B", "C", "D")}[language]
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_task_speaks_three_languages_and_never_shows_the_gold_in_its_stem(name: str) -> None:
    asked = bundled().of(name).ask
    assert set(asked) == set(LANGUAGES)
    for words in asked.values():
        assert "{second}" not in words.question or name == "verse_choice"
