"""Form baselines against the same figures by other libraries, on real idioms and on sets whose answer is known."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from rapidfuzz.distance import Postfix
from scipy.stats import binomtest

from mihakk.generators.quality.item_quality import Baseline, measure_quality
from mihakk.machinery.text import words_key
from mihakk.machinery.text.stem import stem
from mihakk.schemas.item import ChoiceItem, Origin
from tests.generators.test_quality import item, named

CountVectorizer = pytest.importorskip("sklearn.feature_extraction.text").CountVectorizer
LogisticRegression = pytest.importorskip("sklearn.linear_model").LogisticRegression


@pytest.fixture(scope="module")
def taymur(shared_data: Path) -> list[ChoiceItem]:
    """Idioms of the printed book, each with its own gloss and the next one's, by a parse of our own."""
    text = (shared_data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt").read_text("utf-8")
    entries = re.findall(r"^([^\n#~:،.]{4,60}):\n+((?:[^\n]+\n?)+)", text[text.index("# |") :], flags=re.M)
    found = [(phrase, " ".join(gloss.split())) for phrase, gloss in entries if not gloss.startswith("انظر")]
    assert len(found) > 250, f"{len(found)} entries: has the file another form?"
    random = Random(5)
    items = []
    for n, (phrase, gloss) in enumerate(found):
        options = [gloss, found[(n + 1) % len(found)][1]]
        gold = random.randrange(2)
        items.append(
            item(
                n,
                tuple(options if gold == 0 else options[::-1]),
                gold,
                language="ar",
                fields={"phrase": phrase},
            )
        )
    return items


def right(items: list[ChoiceItem], score: Callable[[ChoiceItem, str], float]) -> float:
    """Share right of whoever takes the highest score, ties by lot."""
    shares = []
    for one in items:
        scores = np.array([round(score(one, option), 9) for option in one.options])
        best = np.flatnonzero(scores == scores.max())
        shares.append(np.isin(best, one.gold).mean())
    return float(np.mean(shares))


def test_overlap_of_question_and_option_is_what_scikit_learn_counts(taymur: list[ChoiceItem]) -> None:
    found = measure_quality(taymur).baselines
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(3, 3), binary=True, lowercase=False)
    whole = CountVectorizer(analyzer=str.split, binary=True)

    def dice(vectorizer: object) -> Callable[[ChoiceItem, str], float]:
        def score(one: ChoiceItem, option: str) -> float:
            texts = [words_key(text, "ar") for text in (one.fields["phrase"], option)]
            rows = vectorizer.fit_transform(texts).toarray()  # type: ignore[attr-defined]
            return float(2 * (rows[0] & rows[1]).sum() / rows.sum())

        return score

    assert named(found, "trigram_overlap").accuracy == pytest.approx(right(taymur, dice(letters)), abs=1e-6)
    assert named(found, "word_overlap").accuracy == pytest.approx(right(taymur, dice(whole)), abs=1e-6)
    assert named(found, "trigram_overlap").accuracy > 0.75, "glosses repeat their idioms"
    assert named(found, "most_words").accuracy == pytest.approx(
        right(taymur, lambda _, option: len(re.findall(r"[^\W_]+", option)))
    )
    one = named(found, "trigram_overlap")
    interval = binomtest(round(one.accuracy * one.questions), one.questions).proportion_ci(method="wilson")
    assert (one.low, one.high) == pytest.approx((interval.low, interval.high), abs=0.003)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_weights_of_cues_are_the_likeliest_however_large_the_cues(scale: float) -> None:
    from scipy.optimize import minimize

    from mihakk.generators.quality.baselines import _conditional_logit

    draws = np.random.default_rng(7)
    cues = scale * draws.normal(size=(60, 4, 3))
    there = np.ones((60, 4), dtype=bool)
    there[::3, 3], cues[::3, 3] = False, 0
    gold = (cues @ [2.0, -1.0, 0.0] + draws.gumbel(size=(60, 4)))[:, :3].argmax(axis=1)

    def loss(weights: np.ndarray) -> float:
        scores = np.where(there, cues @ weights, -np.inf)
        own = scores[np.arange(60), gold]
        return float((np.logaddexp.reduce(scores, axis=1) - own).sum() + weights @ weights / 2)

    found = _conditional_logit(cues, there, gold)
    expected = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert found == pytest.approx(expected.x, abs=1e-5)
    assert loss(found) <= expected.fun + 1e-9


def test_all_cues_are_weighed_as_scikit_learn_weighs_them(taymur: list[ChoiceItem]) -> None:
    """Of two options a conditional logit is a logistic regression on their difference."""
    from mihakk.generators.quality.baselines import all_cues

    random = np.random.default_rng(3)
    cues = [[random.normal(size=2).tolist() for _ in range(4)] for _ in taymur]
    for one, mine in zip(taymur, cues, strict=True):
        mine[0][one.gold[0]] += 0.8
        mine[1][one.gold[0]] -= 0.5
    shares = all_cues(taymur, cues)
    rows = np.array(cues).transpose(0, 2, 1)
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt((rows**2).mean(axis=(0, 1)))
    difference, first = rows[:, 0] - rows[:, 1], np.array([one.gold[0] == 0 for one in taymur])
    folds = np.array([zlib.crc32(one.origin.records[0].encode()) % 5 for one in taymur])
    hits = 0
    for fold in range(5):
        model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8)
        model.fit(difference[folds != fold], first[folds != fold])
        hits += int((model.predict(difference[folds == fold]) == first[folds == fold]).sum())
    assert sum(shares) == pytest.approx(hits, abs=1)
    assert np.mean(shares) > 0.65


def test_a_rarer_option_and_a_known_set_of_options_are_found_out() -> None:
    """Every wrong option stands in four questions, as a gloss that was borrowed again and again would."""
    shared = ["ألف باء", "جيم دال", "هاء واو"]
    rare = [item(n, (f"شرح رقم {n}", shared[n % 3]), 0) for n in range(12)]
    counts = Counter(option for one in rare for option in one.options)
    found = measure_quality(rare).baselines
    assert named(found, "rarest").accuracy == right(rare, lambda _, option: -counts[option]) == 1.0
    same = [item(n, ("نعم", "لا"), int(n % 4 == 0)) for n in range(40)]
    assert named(measure_quality(same).baselines, "options_met").accuracy == pytest.approx(0.75)
    alone = [
        one.model_copy(update={"origin": Origin(records=("r:0",), generator="t", generator_version="1")})
        for one in same
    ]
    assert not [b for b in measure_quality(alone).baselines if b.name == "options_met"], "one record's own"


def test_a_capital_a_digit_and_a_mark_are_found_out() -> None:
    lines = ["When forty winters shall besiege thy brow", "And dig deep trenches in thy beauty's field"]
    items = []
    for n in range(30):
        words = lines[n % 2].split()
        mixed = " ".join(words[1:] + words[:1])
        options = (" ".join(words), mixed) if n % 3 else (mixed, " ".join(words))
        items.append(item(n, options, 0 if n % 3 else 1, language="en"))
    assert named(measure_quality(items).baselines, "capital_first").accuracy == 1.0
    marked = [item(n, ("in the year 1066 ٣", "in the year; gone, long") if n % 2 else ("b!", "a ٤٢"), n % 2) for n in range(30)]  # fmt: skip
    found = measure_quality(marked).baselines
    assert named(found, "punctuation").accuracy == right(marked, lambda _, o: len(re.findall(r"[!;,]", o)))
    assert named(found, "digits").accuracy == right(marked, lambda _, o: len(re.findall(r"\d", o)))


def verse(n: int, second: str, options: tuple[str, ...], gold: int) -> ChoiceItem:
    made = Origin(records=(f"p{n}:0",), generator="t", generator_version="1", strategy="same_metre")
    return item(n, options, gold, language="ar", fields={"second": second}, origin=made)


def test_the_rhyme_with_the_hemistich_that_is_shown_is_found_out() -> None:
    """A first couplet rhymes within: قفا نبك ... ومنزل / ... فحومل."""
    told = verse(
        1, "بسقط اللوى بين الدخول فحومل", ("قفا نبك من ذكرى حبيب ومنزل", "أفاطم مهلا بعض هذا التدلل يوما"), 0
    )
    silent = verse(2, "بسقط اللوى بين الدخول فحومل", ("ترى بعر الآرام", "كأني غداة البين"), 0)
    found = measure_quality([told, silent]).baselines
    one = named(found, "rhyme_shown")
    assert (one.questions, one.accuracy) == (1, 1.0)

    def ending(asked: ChoiceItem, option: str) -> float:
        others = [o for o in asked.options if o != option] + [asked.fields["second"]]
        folded = [words_key(text, "ar").replace(" ", "") for text in (option, *others)]
        return float(sum(Postfix.similarity(folded[0], other) for other in folded[1:]))

    assert named(found, "rhyme_only").accuracy == right([told, silent], ending)


def test_few_questions_are_measured_and_their_interval_says_how_little_they_tell() -> None:
    few = [item(n, (f"كلمة {n}", "أخرى وأخرى وأخرى"), 0) for n in range(6)]
    found: tuple[Baseline, ...] = measure_quality(few).baselines
    assert (named(found, "shortest").accuracy, named(found, "shortest").questions) == (1.0, 6)
    assert named(found, "shortest").low == pytest.approx(0.61, abs=0.01)
    assert not [b for b in found if b.name in ("all_cues", "options_only")]


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [("والطويل", "طويله", "ar"), ("لسانه", "اللسان", "ar"), ("مي‌روند", "روند", "fa"), ("walking", "walked", "en")],
)  # fmt: skip
def test_forms_of_one_word_share_a_stem_and_short_words_keep_theirs(
    one: str, other: str, language: str
) -> None:
    folded = [words_key(word, language).replace(" ", "") for word in (one, other)]  # type: ignore[arg-type]
    assert stem(folded[0], language) == stem(folded[1], language)  # type: ignore[arg-type]
    assert stem("يد", "ar") == "يد"
