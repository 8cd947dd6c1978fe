"""Metre, era, genre and poet: what stands beside the right answer, and when there is no question."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import get_args

import pytest
import yaml
from scipy.stats import chi2

from mihakk.generators.generating import Generated, generate_shard, prepare
from mihakk.generators.parts.terms import Term, eras, genres, metres
from mihakk.generators.poems.poet_choice import poet_choice
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT
from mihakk.machinery.text import key
from mihakk.releases.content.split import set_of
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Connotation, Idiom
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.poem import Poem
from tests.generators.records import make_idiom, make_poem

COUPLET = ("قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل")
POETS = ("امرؤ القيس", "زهير بن أبي سلمى", "عنترة بن شداد", "النابغة الذبياني", "الأعشى", "طرفة بن العبد")


def config_of(*tasks: str, seed: int = 0, **options: object) -> BenchmarkConfig:
    return BenchmarkConfig.model_validate(
        {
            "name": "test",
            "title": "test",
            "seed": seed,
            "sources": [{"use": "files"}],
            "tasks": [{"use": task, "options": options} for task in tasks],
            "embeddings": "none",
        }
    )


def generate(poems: list[Poem], *tasks: str, seed: int = 0, **options: object) -> Generated:
    config = config_of(*tasks, seed=seed, **options)
    return generate_shard(poems, prepare(poems, config), config)


def arabic(n: int, poet: str = POETS[0], **more: str) -> Poem:
    given = {"metre": "tawil", "era": "pre_islamic", "genre": "longing", **more}
    return make_poem(f"a{n}", [COUPLET], language="ar", poet=poet, **given)


def choices(made: Generated) -> list[ChoiceItem]:
    return [item for item in made.items if isinstance(item, ChoiceItem)]


def overlapping(known: dict[str, Term], item: ChoiceItem) -> list[tuple[str, str]]:
    shown = [term for term in known.values() if term.name in item.options]
    return [(one.id, other.id) for one in shown for other in shown if other.id in one.overlaps]


@pytest.mark.parametrize("seed", range(8))
def test_no_two_options_could_both_be_right(seed: int) -> None:
    ids = [name for name, term in metres("ar").items() if name == term.id]
    poems = [
        arabic(n, metre=metre, era=era, genre=genre)
        for n, (metre, era, genre) in enumerate(
            zip(ids, (list(eras()) * 2)[: len(ids)], (list(genres()) * 2)[: len(ids)], strict=True)
        )
    ]
    made = choices(generate(poems, "metre_choice", "era_choice", "genre_choice", seed=seed))
    assert len(made) == 2 * 3 * len(poems)
    tables = {"metre_choice": metres("ar"), "era_choice": eras(), "genre_choice": genres()}
    for item in made:
        assert len(item.options) == (2 if item.task == "era_choice" else 4)
        assert not overlapping(tables[item.task], item)


def test_two_eras_are_right_beside_each_other_as_often_either_way_round() -> None:
    """Else the pair of options tells the answer: the long eras overlap with many and are rarely offered."""
    counts = {"abbasid": 150, "modern": 110, "andalusian": 60, "umayyad": 80, "mukhadram": 80}
    counts |= {"pre_islamic": 70, "fatimid": 40, "ayyubid": 30, "mamluk": 30, "ottoman": 20}
    labels = [era for era, count in counts.items() for _ in range(count)]
    poems = [arabic(n, era=era) for n, era in enumerate(labels)]
    met: Counter[tuple[str, str]] = Counter()
    for item in choices(generate(poems, "era_choice", seed=5)):
        if item.order == 0:
            gold = item.options[item.gold[0]]
            met[gold, next(option for option in item.options if option != gold)] += 1
    assert sum(met.values()) == len(poems)
    pairs = {(min(pair), max(pair)) for pair in met}
    # Under no preference each pair is a fair coin: the sum of squared standard scores is chi-squared.
    scores = [(met[a, b] - met[b, a]) ** 2 / (met[a, b] + met[b, a]) for a, b in pairs]
    assert chi2.sf(sum(scores), len(scores)) > 0.001
    told = sum(max(met[a, b], met[b, a]) for a, b in pairs) / len(poems)
    assert told < 0.57


def test_a_label_that_two_editors_give_differently_is_not_asked_for() -> None:
    poem = arabic(0, era="abbasid", genre="love", metre="tawil")
    poems = [arabic(1, era="umayyad", genre="elegy", metre="basit")]
    for names in ("era", "genre", "metre"):
        marked = poem.model_copy(update={"source_labels": {"contested": names}})
        found = generate([marked, *poems], "era_choice", "genre_choice", "metre_choice")
        asked = {item.task for item in found.items if item.origin.records[0].startswith("a0")}
        assert asked == {"era_choice", "genre_choice", "metre_choice"} - {f"{names}_choice"}
        assert found.skipped[f"skipped.{names}_choice.{names}_contested"] == 1


def test_a_shortened_metre_is_asked_for_by_its_full_name() -> None:
    item = choices(generate([arabic(0, metre="kamil_majzu")], "metre_choice"))[0]
    assert item.options[item.gold[0]] == "الكامل"
    assert "الرجز" not in item.options


def test_wrong_metres_stand_there_as_often_as_they_are_right(hafez: list[Poem]) -> None:
    """Else the commonest metre, or the one that never is right, would tell the answer."""
    made = choices(generate(hafez, "metre_choice"))
    right = Counter(item.options[item.gold[0]] for item in made)
    wrong = Counter(o for item in made for n, o in enumerate(item.options) if n not in item.gold)
    commonest, _ = right.most_common(1)[0]
    taken = sum(1 for item in made if commonest in item.options)
    # Whoever always answers the commonest metre is right no more than two times in five where it stands at all.
    assert right[commonest] / taken < 0.4
    assert wrong[commonest] > right[commonest]


def test_a_pattern_never_stands_beside_a_name() -> None:
    poems = [make_poem("p", [("گفتم غم تو دارم ای یار", "گفتا غمت سر آید ای یار")], metre="fa_28")]
    item = choices(generate(poems, "metre_choice"))[0]
    known = metres("fa")
    kinds = {term.kind for term in known.values() if term.name in item.options}
    assert kinds == {"pattern"}


@pytest.mark.parametrize(
    ("task", "field", "reason"),
    [
        ("metre_choice", "metre", "metre_unknown"),
        ("era_choice", "era", "era_unknown"),
        ("genre_choice", "genre", "genre_unknown"),
    ],
)
def test_unknown_labels_are_left_out(task: str, field: str, reason: str) -> None:
    for value in ("", "atlantean"):
        made = generate([arabic(0, **{field: value})], task)
        assert [row.reason for row in made.rejected] == [reason]


def test_persian_poems_are_not_asked_for_an_arabic_era() -> None:
    made = generate([make_poem("p", [COUPLET])], "era_choice")
    assert [row.reason for row in made.rejected] == ["language"]
    with pytest.raises(UsageError, match="no table of metres"):
        metres("en")


def test_poets_of_the_era_come_first_and_no_name_holds_another() -> None:
    poems = [
        *(arabic(n, poet) for n, poet in enumerate(POETS)),
        arabic(90, "القيس"),
        arabic(91, "أحمد شوقي", era="modern"),
    ]
    for item in choices(generate(poems, "poet_choice")):
        right = item.options[item.gold[0]]
        assert item.origin.strategy == ("same_language" if right == "أحمد شوقي" else "same_era")
        for n, option in enumerate(item.options):
            if n not in item.gold:
                assert key(option, "ar") not in key(right, "ar")
                assert key(right, "ar") not in key(option, "ar")
    assert poet_choice.__doc__


def test_too_few_poets_and_couplets_that_name_the_poet() -> None:
    made = generate([arabic(0), arabic(1, POETS[1])], "poet_choice")
    assert {row.reason for row in made.rejected} == {"too_few_poets"}
    named = make_poem("h", [("حافظا می خور و رندی کن و خوش باش ولی", "دام تزویر مکن چون دگران قرآن را")])
    made = generate([named], "poet_choice")
    assert [row.reason for row in made.rejected] == ["no_couplets"]


def test_per_record_takes_so_many_and_keeps_both_orders(hafez: list[Poem]) -> None:
    made = choices(generate(hafez[:20], "metre_choice", per_record=2))
    assert len(made) == 20 * 2 * 2
    assert Counter(item.pair_id for item in made).most_common(1)[0][1] == 2


def test_an_unknown_option_or_task_is_an_error_that_names_the_known() -> None:
    with pytest.raises(UsageError, match="did you mean 'per_record'"):
        generate([arabic(0)], "metre_choice", per_recrod=2)
    with pytest.raises(UsageError, match="metre_choice"):
        generate([arabic(0)], "meter_choice")
    with pytest.raises(UsageError, match="named twice"):
        generate([arabic(0)], "metre_choice", "metre_choice")


def test_no_two_eras_of_a_question_share_years() -> None:
    """By the table's own spans: Abbasid and Mamluk share eight years, Andalusian and Fatimid 262."""
    rows = yaml.safe_load((ROOT / "data/reference/eras.yaml").read_text("utf-8"))["eras"]
    years = {row["ar"]: set(range(row["span"][0] or 400, row["span"][1] or 2030)) for row in rows}
    poems = [
        make_poem(f"{row['id']}{n}", [("قفا نبك من ذكرى حبيب ومنزل", f"بسقط اللوى بين الدخول فحومل {n}")], language="ar", poet=f"شاعر {row['id']}", era=row["id"])
        for row in rows
        for n in range(4)
    ]  # fmt: skip
    asked = [item for item in generate(poems, "era_choice").items if isinstance(item, ChoiceItem)]
    assert len(asked) > 60
    for item in asked:
        for one, other in combinations(item.options, 2):
            assert not years[one] & years[other], item.options


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("task", ["era_choice", "genre_choice", "metre_choice", "poet_choice", "connotation"])
def test_no_count_of_labels_tells_the_golds_of_a_sealed_split(task: str, seed: int) -> None:
    """Whoever knows which labels are offered how often, and are right elsewhere, finds what chance gives."""
    draw = random.Random(seed)  # nosec B311 # a fixture
    uneven = [draw.choice((3, 5, 10, 40)) for _ in range(8)]
    labels = [tuple(known)[seed : seed + 8] for known in (metres("ar"), eras(), genres())]

    def some(names: Sequence[str]) -> str:
        return draw.choices(names, uneven[: len(names)])[0]

    records: list[Poem | Idiom] = [
        arabic(n, some(POETS), metre=some(labels[0]), era=some(labels[1]), genre=some(labels[2]))
        for n in range(220)
    ]
    records += [
        make_idiom(f"i{n}", f"عبارة {n}", f"معنى آخر {n}", connotation=some(get_args(Connotation)))
        for n in range(120)
    ]
    config = config_of(task, seed=seed)
    corpus = replace(prepare(records, config), sealed=True)
    asked = [item for item in choices(generate_shard(records, corpus, config)) if not item.order]
    assert len(asked) >= 8
    golds: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for item in asked:
        golds[frozenset(item.options)][item.options[item.gold[0]]] += 1
    assert all(counts.keys() == options for options, counts in golds.items())
    assert all(len(set(counts.values())) == 1 for counts in golds.values())
    # Boards and releases keep together what names the others it was asked with: each label is right once.
    together: dict[str, Counter[str]] = defaultdict(Counter)
    for item in asked:
        together[set_of(item.option_kinds, item.origin.records)][item.options[item.gold[0]]] += 1
    assert "" not in together
    assert all(len(set(counts.values())) == 1 < len(counts) for counts in together.values())


def test_a_sealed_question_shows_no_couplet_that_names_an_option() -> None:
    """A check refuses those that name the right one, so whoever sees a name knew that another one is right."""
    named = ("مدح الأمير فأجزل", "ولم يكن غزل الهوى")
    records: list[Poem | Idiom] = [
        make_poem(f"a{n}", [named, COUPLET], language="ar", poet=POETS[0], genre=("praise", "love", "wisdom", "satire")[n % 4])
        for n in range(40)
    ]  # fmt: skip
    config = config_of("genre_choice")
    corpus = prepare(records, config)
    for sealed in (False, True):
        made = choices(generate_shard(records, replace(corpus, sealed=sealed), config))
        assert len(made) >= 40
        assert any("غزل" in item.context + item.question for item in made) is not sealed
