"""Figures of answers in words beside sacrebleu, NLTK, RapidFuzz and the published definitions."""

from __future__ import annotations

import json
from math import exp, log

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.distance import edit_distance
from nltk.translate.bleu_score import corpus_bleu, modified_precision
from rapidfuzz.distance import LCSseq

from mihakk.evaluation.metrics._overlap import balsam_text, bleu_of_tokens, fann_or_flop_tokens
from mihakk.evaluation.metrics._recall import distance, published_fold
from mihakk.evaluation.metrics.fannorflop import reconciled
from mihakk.evaluation.metrics.metric import METRICS, Case, Scored
from mihakk.evaluation.reading import read
from mihakk.machinery.text import key
from mihakk.schemas.evaluation import Question
from tests.evaluation.material import EXPLANATIONS, VERSES, explained, reply_to, score_answers, worded

LINE = "ببین تفاوت ره از کجاست تا به کجا"


def scored(metric: str, question: Question, reply: str) -> Scored:
    (found,) = METRICS.get(metric).score([Case(question, read(question, "written", reply), reply)])
    return found


def persian(answer: str = LINE, **facts: object) -> Question:
    return worded(answer=answer, language="fa", config="fa_continuation", task="continuation", **facts)


@given(st.text(alphabet="ابپتکی ءآ", max_size=30), st.text(alphabet="ابپتکی ءآ", min_size=1, max_size=90))
def test_edits_are_nltks_and_labels_the_published_thresholds(reply: str, gold: str) -> None:
    found = distance(reply, gold)
    edits = edit_distance(reply, gold)
    assert (found.edits, found.cer) == (edits, edits / len(gold))
    allowed = 1 if len(gold) < 40 else 2 if len(gold) < 80 else 3
    expected = "complete" if edits <= allowed else "partial" if edits / len(gold) <= 0.2 else "none"
    assert found.label == expected


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("كُتُبٍ", "کتب"),
        ("مؤمنة", "مومنه"),
        ("أإٱ", "ااا"),
        ("آ ى", "آ ى"),  # neither is in the published map
        ("می‌رود  به", "می رود به"),
        ("هٰذا", "هذا"),
    ],
)
def test_the_published_fold_letter_by_letter(text: str, folded: str) -> None:
    assert published_fold(text, "fa") == folded


def test_english_is_not_folded_by_the_published_code() -> None:
    assert published_fold("Cafe\u0301  ك", "en") == "Caf\u00e9 ك"


@pytest.mark.parametrize(
    ("reply", "ours", "compat"),
    [
        (f"<answer>{LINE}</answer>", "complete", "complete"),
        (f"<answer>«{LINE}»</answer>", "complete", "partial"),  # two quotes are two edits of 32 characters
        (f"<answer>{LINE.replace('تفاوت ره', 'تفاوتی')}</answer>", "partial", "partial"),
        (f"مصراع: <answer>{LINE}</answer>", "complete", "none"),
        (f"<answer>{LINE}", "complete", "none"),
        (f"<answer>{LINE.replace('ی', 'ي').replace('ک', 'ك')}</answer>", "complete", "complete"),
        (f"<answer>{LINE.replace('ی', 'ى')}</answer>", "complete", "complete"),
        ("<answer>که عشق آسان نمود اول</answer>", "none", "none"),
        ("", "none", "none"),
    ],
)
def test_recall_ours_and_as_published(reply: str, ours: str, compat: str) -> None:
    question = persian()
    found, published = (scored(name, question, reply) for name in ("recall", "recall_compat"))
    assert (found.detail["label"], published.detail["label"]) == (ours, compat)
    assert (found.value, published.value) == (float(ours != "none"), float(compat != "none"))


def test_the_nearest_accepted_line_counts() -> None:
    question = persian(accepted=("ببین تفاوت ره کز کجاست تا به کجا",))
    assert scored("recall", question, "ببین تفاوت ره کز کجاست تا به کجا").detail["edits"] == 0
    assert scored("exact", question, "ببین تفاوت ره کز کجاست تا به کجا").value == 1.0


@given(st.text(alphabet="ابپتکیئ ", min_size=1, max_size=60))
def test_the_error_rate_is_at_most_one(reply: str) -> None:
    question = persian("شب")
    given_key, gold = key(reply, "fa"), key("شب", "fa")
    assert scored("cer", question, reply).value == pytest.approx(min(1, edit_distance(given_key, gold) / 2))


REFERENCES = ["مصلحت امور کجاست و من مست و خراب کجا هستم", "دلم از صومعه و خرقه ریاکارانه ملول شد"]
REPLIES = ["فاصله میان درستکاری و من مست و خراب چقدر است", "دلم از صومعه و خرقه سیر شده است", ""]


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_corpus_figures_are_sacrebleus_and_an_empty_reply_stays_in(metric: str) -> None:
    golds = [*REFERENCES, REFERENCES[0]]
    questions = {
        f"q{n}": worded(f"q{n}", gold, task="couplet_prose", ability="skill") for n, gold in enumerate(golds)
    }
    answers = [reply_to(question, reply) for question, reply in zip(questions.values(), REPLIES, strict=True)]
    found = METRICS.get(metric)
    rows = score_answers(answers, questions, [found])
    assert [row.status for row in rows] == ["read", "read", "empty"]
    counts = [json.loads(row.detail)["statistics"] for row in rows]
    assert found.total is not None
    total = found.total([sum(column) for column in zip(*counts, strict=True)], {})  # type: ignore[arg-type]
    whole = sacrebleu.corpus_bleu(REPLIES, [golds]) if metric == "bleu" else sacrebleu.corpus_chrf(REPLIES, [golds], word_order=2)  # fmt: skip
    assert total == pytest.approx(whole.score)
    assert (rows[0].low, rows[0].high) == (0.0, 100.0)
    assert f"sacrebleu:{sacrebleu.__version__}" in rows[0].signature


def test_signatures_name_what_sacrebleu_was_set_to() -> None:
    for name, scorer in (("bleu", sacrebleu.BLEU()), ("chrf", sacrebleu.CHRF(word_order=2))):
        scorer.corpus_score(REFERENCES, [REFERENCES])
        theirs = dict(part.split(":") for part in str(scorer.get_signature()).split("|"))
        ours = METRICS.get(name).options
        assert ours == {option: value for option, value in theirs.items() if option in ours}


WORDS = st.lists(
    st.sampled_from(["قال", "الشاعر", "في", "البيت", "إن", "الليل", "طويل"]), min_size=1, max_size=15
).map(" ".join)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_bleu_of_tokens_is_the_textbooks(pairs: list[tuple[str, str]]) -> None:
    replies, golds = zip(*pairs, strict=True)
    tokens = [reply.split() for reply in replies], [[gold.split()] for gold in golds]
    shares = [
        [modified_precision(refs, hyp, order) for hyp, refs in zip(*tokens, strict=True)]
        for order in (1, 2, 3, 4)
    ]
    # NLTK's denominator is at least 1 where a text is too short for an n-gram; then there is none.
    totals = [sum(max(0, len(hyp) - order) for hyp in tokens[0]) for order in range(4)]
    right = [sum(share.numerator for share in of_order) for of_order in shares]
    written, gold = sum(map(len, tokens[0])), sum(len(refs[0]) for refs in tokens[1])
    brevity = 1.0 if written > gold else exp(1 - gold / written)
    smoothed = exp(sum(log((r + 1) / (t + 1)) for r, t in zip(right, totals, strict=True)) / 4) * brevity
    assert bleu_of_tokens(replies, golds, smooth=True) == pytest.approx(smoothed)
    if min(right) > 0 and min(map(len, tokens[0])) >= 4:
        assert bleu_of_tokens(replies, golds, smooth=False) == pytest.approx(
            corpus_bleu(tokens[1], tokens[0])
        )
    if min(right) == 0:
        assert bleu_of_tokens(replies, golds, smooth=False) == 0.0


def test_nothing_written_has_no_bleu() -> None:
    assert bleu_of_tokens([""], ["قال"], smooth=True) is None


def test_balsam_spaces_every_mark_and_strips_with_pyarabic() -> None:
    pytest.importorskip("pyarabic")
    assert balsam_text("قالَ:{نعم}؟", is_reply=True, strip=True).split() == ["قال", ":", "[", "نعم", "]", "؟"]
    assert balsam_text("قالَ:{نعم}", is_reply=False, strip=False).split() == ["قالَ", ":", "{", "نعم", "}"]


def test_balsam_bleu_ours_keeps_what_the_published_mean_drops() -> None:
    question = worded(answer="باريس عاصمة فرنسا الكبيرة", ability="skill")
    assert scored("balsam_bleu_compat", question, "").value is None
    rows = score_answers([reply_to(question, "")], {question.item: question}, [METRICS.get("balsam_bleu"), METRICS.get("balsam_bleu_compat")])  # fmt: skip
    assert [row.value for row in rows] == [0.0, None]
    same = scored("balsam_bleu", question, "باريسُ عاصمةُ فرنسا الكبيرة")
    assert same.value == pytest.approx(1.0)
    assert scored("balsam_bleu", question, "باريس").value == 0.0, (
        "short golds score 0: the paper's own finding"
    )


@given(WORDS, WORDS)
def test_rouge_of_one_line_is_the_longest_common_subsequence(reply: str, gold: str) -> None:
    first, second = reply.split(), gold.split()
    common = LCSseq.similarity(first, second)
    expected = 2 * common / (len(first) + len(second)) if common else 0.0
    question = worded(answer=gold, ability="skill")
    assert scored("balsam_rouge_compat", question, reply).value == pytest.approx(expected)


def fann_json(*texts: str) -> str:
    return json.dumps(
        {
            "verses": [
                {"verse": verse, "explanation": text} for verse, text in zip(VERSES, texts, strict=False)
            ]
        },
        ensure_ascii=False,
    )


def test_fann_or_flop_tokens_are_camel_tools() -> None:
    tokenize = pytest.importorskip("camel_tools.tokenizers.word").simple_word_tokenize
    text = "قالَ الشّاعرُ: نَعَم!"
    assert fann_or_flop_tokens(text).split() == tokenize("قال الشاعر: نعم!")


def test_a_missing_verse_costs_its_share_and_no_more() -> None:
    question = explained()
    assert scored("fannorflop_bleu", question, fann_json(*EXPLANATIONS)).value == pytest.approx(1.0)
    two = scored("fannorflop_bleu", question, fann_json(*EXPLANATIONS[:2]))
    assert (two.value, two.detail["coverage"]) == (pytest.approx(2 / 3), 2 / 3)
    published = scored("fannorflop_bleu_compat", question, fann_json(*EXPLANATIONS[:2]))
    assert published.value is not None
    assert published.value < 2 / 3 * 0.9, "the published script lets it lower BLEU and coverage both"


def test_the_published_script_merges_and_drops() -> None:
    assert reconciled(list("abcdef"), 5) == ["a b", "c d", "e f"]
    assert reconciled(list("abcdef"), 3) == ["a b", "c d", "e f"]
    assert reconciled(list("abcdefg"), 3) == ["a", "b", "c"]
    dropped = scored("fannorflop_bleu_compat", explained(), "1. شرح")
    assert (dropped.value, dropped.detail) == (None, {"dropped": "no JSON"})
    # What the paper's code counts by position, ours counts by verse.
    turned = json.dumps([{"verse": v, "explanation": e} for v, e in zip(VERSES[::-1], EXPLANATIONS[::-1], strict=True)], ensure_ascii=False)  # fmt: skip
    assert scored("fannorflop_bleu", explained(), turned).value == pytest.approx(1.0)
    published = scored("fannorflop_bleu_compat", explained(), turned).value
    assert published is not None
    assert published < 0.8


def test_fann_or_flop_chrf_is_sacrebleus_without_words() -> None:
    reply = fann_json(EXPLANATIONS[0], EXPLANATIONS[2])
    expected = sacrebleu.corpus_chrf([EXPLANATIONS[0], EXPLANATIONS[2], ""], [list(EXPLANATIONS)])
    assert scored("fannorflop_chrf_compat", explained(), reply).value == pytest.approx(expected.score / 100)


def test_options_are_part_of_a_signature() -> None:
    model = "aubmindlab/bert-base-arabertv02"
    assert f"layer:12|model:{model}|revision:main" in METRICS.get("bertscore").signature
