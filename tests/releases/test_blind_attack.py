"""Attacks on a blind release from outside: `attacker.py` reads its public files and nothing of this project."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.evaluation.questions import question_of_row
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.machinery.text import key as key_of
from mihakk.releases import gathered
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content.apart import CLOSED
from mihakk.releases.content.blind import opened_rows
from mihakk.releases.content.item_tables import data_files
from mihakk.releases.content.secret import public_id
from mihakk.releases.content.split import source_work
from mihakk.releases.gates import Gate
from mihakk.releases.leaks import Elsewhere, attacks, leaks_gate
from mihakk.releases.release_facts import Before
from mihakk.schemas.audit import Audit
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item, Origin
from mihakk.schemas.rejection import Cluster, Rejection
from tests.releases.attack import attacked, right_of, told_more_than_chance
from tests.releases.attacker import fold
from tests.releases.attacker import rows as public_rows
from tests.releases.release_material import FACTS, divan, hafez_items, only_read, release_arguments

SECRET = "a secret of enough characters"
METRES = ("رمل", "مجتث", "مضارع", "هزج", "خفیف", "منسرح")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", SECRET)
    settings.cache_clear()


@cache
def items() -> tuple[Item, ...]:
    """The continuations of the first ghazals, and the metre of each couplet: several a ghazal."""
    made = list(hafez_items(60))
    for number in range(1, 61):
        draw = random.Random(number)  # nosec B311 # a fixture
        right = draw.choice(METRES)
        lines = divan()[number]
        for place in range(len(lines) // 2):
            wrong = draw.sample([one for one in METRES if one != right], 3)
            options = draw.sample([right, *wrong], 4)
            verse = f"{lines[2 * place]} … {lines[2 * place + 1]}"
            made.append(
                ChoiceItem(
                    id=f"fa-metre_choice-{number:04x}{place:012x}",
                    task="metre_choice",
                    language="fa",
                    question=f"وزن این بیت چیست؟ «{verse}»",
                    fields={"verse": verse},
                    options=tuple(options),
                    gold=(options.index(right),),
                    option_kinds=tuple("right" if one == right else "other_label" for one in options),
                    origin=Origin(
                        records=(f"hafez:{number}:{place}",), generator="metre_choice", generator_version="1"
                    ),
                    metadata={"poet": "حافظ", "metre": right},
                    licence="public-domain",
                    attribution="حافظ، 1325",
                )
            )
    return tuple(made)


def records() -> list[str]:
    return sorted({record for item in items() for record in item.origin.records})


def sharing(folder: Path, mode: str, some: tuple[Item, ...] = ()) -> Iterator[AssembledRelease]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIHAKK_BLIND_KEY", SECRET)
        settings.cache_clear()
        release = assemble(folder=folder / "release", **release_arguments(some or items(), blind=mode))
    yield from only_read(release)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssembledRelease]:
    """All items as a blind release."""
    yield from sharing(tmp_path_factory.mktemp("sealed"), "repository")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssembledRelease]:
    """All items as an open release."""
    yield from sharing(tmp_path_factory.mktemp("printed"), "off")


def answers_of(release: AssembledRelease) -> dict[str, Any]:
    assert release.answers is not None
    path = release.answers.folder / "answers" / "test-00000-of-00001.parquet"
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def test_a_blind_release_tells_an_attacker_nothing(
    sealed: AssembledRelease, tmp_path: Path, measured: Callable[[str, float], None]
) -> None:
    told = attacked(sealed.folder, records(), tmp_path)
    figures = right_of(sealed.folder, answers_of(sealed), told)
    assert told["sources"] == {}
    assert {"rarest_option", "group_intersection", "first_by_alphabet"} <= {attack for attack, _ in figures}
    assert sum(count for (attack, _), (_, _, count) in figures.items() if attack == "rarest_option") >= 50
    assert told_more_than_chance(figures) == {}
    measured("blind-tells-nothing", len(told_more_than_chance(figures)))


def test_the_attacker_finds_the_golds_of_items_that_share_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attacks work: without the selection they recover what they recovered of the first blind releases."""
    monkeypatch.setattr(gathered, "keep_apart", lambda placed, *_, **__: (placed, []))
    monkeypatch.setattr(gathered, "require", lambda _: None)
    release = assemble(folder=tmp_path / "leaky", **release_arguments(items(), blind="repository"))
    found = told_more_than_chance(
        right_of(release.folder, answers_of(release), attacked(release.folder, records(), tmp_path))
    )
    assert ("cross_task", "fa_continuation_choice") in found
    assert ("cross_task", "fa_continuation_completion") in found


def test_a_release_that_tells_golds_is_refused_with_the_attack_that_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered, "keep_apart", lambda placed, *_, **__: (placed, []))
    with pytest.raises(UsageError, match=r"leaks: .* attacks on .* cross_task on fa_continuation_choice[;.]"):
        assemble(folder=tmp_path / "leaky", **release_arguments(items(), blind="repository"))


def test_the_gate_tells_nothing_of_what_a_version_sealed_to_whoever_steers_its_lookups() -> None:
    """A stranger writes a guess beside texts of sealed questions where they are looked up.

    How it does would rank them as looked up. What the owner alone prints is tried on all questions.
    """

    def row(number: int, gold: int, *, sealed: bool) -> dict[str, Any]:
        said = {
            "context": "".join(random.Random(number % 100).choices("بتثجحخدذرزسشصضطظعغفقكلمن", k=40)),
            "fields": {},
            "group": f"g{number}",
            "order": 0,
            "kind": "choice",
            "pair_id": "",
        }
        asked = {
            "id": f"q{number}",
            "config": "ar_era_choice",
            "language": "ar",
            "question": f"عصر {number}؟",
        }
        label = {"options": ["عباسي", "أموي"], "option_kinds": ["right", "other_label"]}
        return {**said, **asked, **label, "gold": None if sealed else [gold], "sealed": sealed}

    old = [row(number, 0, sealed=True) for number in range(40)]
    shown = [row(number, 0, sealed=False) for number in range(100, 140)]
    golds = {one["id"]: {"id": one["id"], "gold": [0]} for one in old}
    own = {"label_as_in_dev", "told_elsewhere"}
    places = Elsewhere(lookups={one["id"]: [key_of("عباسي", "ar")] for one in old})
    found = {one.name: one.right for one in attacks([*old, *shown], golds, shown, places)}
    assert {name: found[name] for name in (*own, "read_off")} == dict.fromkeys((*own, "read_off"), 40)
    later = {one.name for one in attacks([*old, *shown], golds, [*old, *shown], places)}
    assert own <= later
    assert "read_off" not in later


def test_public_ids_that_name_their_records_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("content.secret", "gathered"):
        monkeypatch.setattr(f"mihakk.releases.{module}.public_id", lambda _, name: name)
    with pytest.raises(UsageError, match=r"leaks: .* ids or groups name the source of"):
        assemble(folder=tmp_path / "named", **release_arguments(items(), blind="repository"))


def blind(
    folder: Path, some: Iterable[Item], *before: Path, closed: Iterable[Item] = (), **release: Any
) -> AssembledRelease:
    """A blind version; `before` are the folders of the versions before it, oldest first.

    `closed` are items of works that one of these closed.
    """
    config = {"blind": "repository", **release}
    earlier = {"previous": before[-1], "earlier": before[:-1]} if before else {}
    facts = FACTS.model_copy(update={"before": Before(closed=frozenset(map(source_work, closed)))})
    return assemble(folder=folder, **release_arguments(tuple(some), facts, **config), **earlier)


def found_of(release: AssembledRelease, scratch: Path, *earlier: Path) -> dict[tuple[str, str], str]:
    """What the attacker recovers of a version with the files of others at hand."""
    told = attacked(release.folder, records(), scratch, earlier)
    return told_more_than_chance(right_of(release.folder, answers_of(release), told))


def test_no_version_tells_the_golds_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More goes to test, a task is added: the questions of both versions stay apart from all that either prints."""
    one_task = [item for item in items() if item.task != "metre_choice"]
    first = blind(tmp_path / "first", one_task, test_share=0.4)
    second = blind(tmp_path / "second", items(), first.folder, test_share=0.9)
    assert found_of(second, tmp_path, first.folder) == {}
    assert found_of(first, tmp_path, second.folder) == {}
    assert blind(tmp_path / "again", items(), first.folder, second.folder, test_share=0.9).unchanged
    asked = {row["id"] for row in public_rows(first.folder) if row["sealed"]}
    assert asked <= {row["id"] for row in public_rows(second.folder) if row["sealed"]}
    monkeypatch.setattr(gathered, "released_rows", lambda _: ())
    monkeypatch.setattr(gathered, "printed_digests", lambda _: frozenset())
    careless = blind(tmp_path / "careless", items(), first.folder, test_share=0.9)
    assert ("told_before", "fa_continuation_completion") in found_of(careless, tmp_path, first.folder)


def test_an_open_benchmark_can_not_become_blind(printed: AssembledRelease, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"an earlier version, .* printed them with their golds"):
        blind(tmp_path / "blind", items(), printed.folder)


def test_a_question_whose_wrong_option_was_exchanged_is_asked_no_more(
    sealed: AssembledRelease, tmp_path: Path
) -> None:
    asked = {row["question"] for row in public_rows(sealed.folder) if row["sealed"]}

    def other(item: Item) -> Item:
        if not isinstance(item, ChoiceItem) or item.question not in asked or item.task == "metre_choice":
            return item
        wrong = next(place for place in range(3) if place not in item.gold)
        made = tuple("خطی نو از ما" if n == wrong else one for n, one in enumerate(item.options))
        return item.model_copy(update={"options": made})

    second = blind(tmp_path / "second", map(other, items()), sealed.folder)
    again = {row["question"] for row in public_rows(second.folder) if row["sealed"]} & asked
    assert not [one for one in again if one.startswith("مصراع دوم این")]
    reasons = pq.read_table(second.folder / "errata" / "removed.parquet", columns=["reason"])
    assert "blind_options_changed" in reasons.column("reason").to_pylist()


def test_what_auditors_answered_without_the_gold_is_withheld(tmp_path: Path) -> None:
    arguments = release_arguments(items(), blind="repository")
    arguments["audits"] = [
        Audit(item=item.id, auditor=name, status="valid", reply_key="k", blind_answer=item.answer)
        for item in items()
        for name in ("one", "two")
        if isinstance(item, AnswerItem)
    ]
    release = assemble(folder=tmp_path / "blind", **arguments)
    scores = pq.read_table(release.folder / "audit" / "scores.parquet").to_pylist()
    assert len(scores) > 100
    assert not {row["item"] for row in scores} & {
        row["id"] for row in public_rows(release.folder) if row["sealed"]
    }
    assert not [row for row in scores if row.get("blind_answer")]
    assert not [one for one in found_of(release, tmp_path) if one[0] == "auditors_own_answers"]


def test_labels_that_are_mostly_right_in_the_open_half_are_not_sealed(tmp_path: Path) -> None:
    """Two idioms in three are said in blame: whoever learns that from dev is right in two of three.

    Generators put sealed questions of labels together so that none is; the gate refuses what others made.
    """
    labels = ("إيجابية", "سلبية", "محايدة")
    made = []
    for number in range(240):
        right = labels[1] if number % 3 else labels[2 * (number % 2)]
        made.append(
            ChoiceItem(
                id=f"ar-connotation-{number:016x}",
                task="connotation",
                language="ar",
                question=f"ما دلالة «قول رقم {number}»؟",
                fields={"text": f"قول رقم {number}"},
                options=labels,
                gold=(labels.index(right),),
                option_kinds=tuple("right" if one == right else "other_label" for one in labels),
                origin=Origin(records=(f"idioms-{number}",), generator="connotation", generator_version="1"),
                licence="CC-BY-4.0",
            )
        )
    with pytest.raises(UsageError, match="label_as_in_dev on ar_connotation"):
        blind(tmp_path / "blind", made, test_share=0.5)


@pytest.mark.parametrize("copied", [False, True])
def test_works_with_each_others_labels_are_asked_all_or_none_and_nothing_else(
    tmp_path: Path, copied: bool
) -> None:
    """Else the one that is asked is told by the labels that the others' questions print.

    Of works that are alike one is asked: of copies with other labels beside each, all are offered the right one.
    """
    first = {source_work(item): item for item in items() if item.task == "metre_choice"}
    sets = [sorted(first)[start : start + 4] for start in range(0, 60, 4)]
    asked = []
    for number, some in enumerate(sets):
        for name in some[number % 3 == 0 :]:  # a check objected to one of every third set
            beside = [first[other].origin.records[0] for other in some if other != name]
            origin = first[name].origin
            told = origin.model_copy(update={"records": (*origin.records, *beside)})
            asked.append(first[name].model_copy(update={"origin": told}))
    others = [item for item in items() if item.task != "metre_choice"]
    like = {a[1]: b[2] for a, b in zip(sets[1::3], sets[2::3], strict=True)} if copied else {}
    clusters = tuple(
        Cluster(kept=f"{kept}:0", merged=(f"{one}:0",), level="couplet", method="similar", similarity=0.9)
        for kept, one in like.items()
    )
    facts = FACTS.model_copy(update={"clusters": clusters})
    given = release_arguments((*asked, *others), facts, blind="repository", test_share=1.0)
    release = assemble(folder=tmp_path / "blind", **given)
    sealed = {row["id"] for row in public_rows(release.folder) if row["sealed"]}
    of = {public_id(SECRET.encode(), item.id): item for item in (*asked, *others)}
    labelled = {source_work(of[name]) for name in sealed if of[name].task == "metre_choice"}
    told = {source_work(of[name]) for name in sealed if of[name].task != "metre_choice"}
    assert len(labelled) >= 8
    assert not labelled & told
    assert all(labelled >= {*some} or not labelled & {*some} for some in sets)
    assert told & {name for some in sets[::3] for name in some}
    for one, other in like.items():
        assert not {one, other} <= labelled
        assert not ({one, other} & labelled and {one, other} & told)


def test_the_gate_stands_in_the_release(sealed: AssembledRelease) -> None:
    gates = {
        gate["name"]: gate
        for gate in json.loads((sealed.folder / "audit" / "gates.json").read_bytes())["gates"]
    }
    assert gates["leaks"]["passed"]
    assert "finds more than chance explains" in gates["leaks"]["found"]


def by_the_gate(release: AssembledRelease, elsewhere: Elsewhere) -> tuple[Gate, dict[str, Any]]:
    """What the gate says of a release to attackers who have this beside its public tables."""
    tables: dict[str, dict[str, Any]] = {}
    for config, split, path in data_files(release.folder):
        tables.setdefault(config, {})[split] = pq.read_table(path)
    return leaks_gate(tables, list(answers_of(release).values()), (), (), elsewhere)


def test_the_gate_shuts_where_a_sibling_prints_the_golds(
    sealed: AssembledRelease, printed: AssembledRelease
) -> None:
    assert by_the_gate(sealed, Elsewhere())[0].passed
    gate, _ = by_the_gate(sealed, Elsewhere(siblings=public_rows(printed.folder)))
    assert not gate.passed
    for config in ("fa_metre_choice", "fa_continuation_choice", "fa_continuation_completion"):
        assert f"told_elsewhere on {config}" in gate.found


def test_what_stands_in_public_sources_is_ranked_apart_with_the_share_found(tmp_path: Path) -> None:
    """The metres of thirty ghazals stand in a file beside their verses; those of the others do not."""
    made: list[Item] = [
        item.model_copy(update={"task": "genre_choice", "id": item.id.replace("metre", "genre")})
        for item in items()
        if item.task == "metre_choice"
    ]
    (tmp_path / "divan.txt").write_text(
        "\n\n".join("\n".join(divan()[number]) for number in range(1, 31)), encoding="utf-8"
    )
    release = blind(tmp_path / "blind", made, lookups=(str(tmp_path / "divan.txt"),))
    sealed = [row for row in public_rows(release.folder) if row["sealed"]]
    lines = {fold(line) for number in range(1, 31) for line in divan()[number]}
    there = sum(any(fold(half) in lines for half in row["fields"]["verse"].split("…")) for row in sealed)
    assert 10 <= there < len(sealed)
    gates = json.loads((release.folder / "audit" / "gates.json").read_bytes())["gates"]
    (found,) = (gate["found"] for gate in gates if gate["name"] == "leaks")
    assert f"found on fa_genre_choice: {there}.0 of {len(sealed)}" in found
    assert f"{there / len(sealed):.0%}" in found
    assert {row["ability"] for row in public_rows(release.folder)} == {"lookup"}
    questions = [row for _, _, row in opened_rows(release.folder, answers_of(release))]
    asked = {
        question_of_row(
            {**row, "sealed": False}, release="x", digest="d" * 64, config="fa_genre_choice"
        ).ability
        for row in questions
    }
    assert asked == {"lookup"}
    elsewhere = blind(tmp_path / "apart", made)
    assert {row["ability"] for row in public_rows(elsewhere.folder)} == {"skill"}


def test_metres_are_never_ranked_as_skill(sealed: AssembledRelease) -> None:
    abilities = {row["config"]: row["ability"] for row in public_rows(sealed.folder)}
    assert abilities["fa_metre_choice"] == "computed"
    assert abilities["fa_continuation_choice"] == "recall"


def test_the_gate_shuts_where_options_alone_tell_what_asks_for_skill(tmp_path: Path) -> None:
    """Right meanings open in one way, wrong ones in another: a learner of dev needs no question."""
    draw = random.Random(3)  # nosec B311 # a fixture
    letters = "بتثجحخدذرزسشصضطظعغفقكلمنهوي"

    def words(count: int) -> str:
        return " ".join("".join(draw.choices(letters, k=6)) for _ in range(count))

    def idiom(number: int, right: str, wrong: str) -> Item:
        place = draw.randrange(2)
        options = [f"{wrong} {words(3)}", f"{wrong} {words(3)}"]
        options[place] = f"{right} {words(3)}"
        phrase = words(4)
        return ChoiceItem(
            id=f"ar-meaning_choice-{number:016x}",
            task="meaning_choice",
            language="ar",
            question=f"ما معنى «{phrase}»؟",
            fields={"phrase": phrase},
            options=tuple(options),
            gold=(place,),
            option_kinds=tuple("right" if one == place else "other_meaning" for one in range(2)),
            origin=Origin(records=(f"made-{number}",), generator="meaning_choice", generator_version="1"),
            licence="CC-BY-4.0",
        )

    fair = [idiom(number, words(1), words(1)) for number in range(300)]
    assert blind(tmp_path / "fair", fair, test_share=0.5).items >= 200
    told = [idiom(number, "يقال لمن", "هو الذي") for number in range(300)]
    with pytest.raises(UsageError, match="learnt_from_options on ar_meaning_choice"):
        blind(tmp_path / "told", told, test_share=0.5)


def by_lot(count: int) -> Iterator[ChoiceItem]:
    """A couplet of each ghazal with two metres, the right one drawn by lot: nothing but a leak tells it."""
    draw = random.Random(5)  # nosec B311 # a fixture
    for number in range(1, count + 1):
        verse = " … ".join(divan()[number][:2])
        options = draw.sample(METRES, 2)
        yield ChoiceItem(
            id=f"fa-metre_choice-{number:016x}",
            task="metre_choice",
            language="fa",
            question=f"وزن این بیت چیست؟ «{verse}»",
            fields={"verse": verse},
            options=tuple(options),
            gold=(draw.randrange(2),),
            option_kinds=("other_label", "other_label"),
            origin=Origin(records=(f"hafez:{number}:0",), generator="metre_choice", generator_version="1"),
            metadata={"poet": "حافظ"},
            licence="public-domain",
            attribution="حافظ، 1325",
        )


@pytest.fixture(scope="module")
def drawn_by_lot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssembledRelease]:
    """The items of `by_lot` as a blind release."""
    yield from sharing(tmp_path_factory.mktemp("by_lot"), "repository", tuple(by_lot(300)))


def test_reports_on_open_items_make_no_sealed_question_leave_for_how_its_label_is_guessed(
    drawn_by_lot: AssembledRelease, tmp_path: Path
) -> None:
    """Who has open items reported moves the labels' rates; a question that left for them would tell its gold."""
    every = tuple(by_lot(300))
    first = drawn_by_lot.folder
    asked = {row["id"] for row in public_rows(first) if row["sealed"]}
    assert len(asked) >= 80
    reported = {
        row["id"]
        for row in public_rows(first)
        if not row["sealed"] and row["options"][row["gold"][0]] in METRES[:3]
    }
    left = [item for item in every if public_id(SECRET.encode(), item.id) not in reported]
    again = blind(tmp_path / "again", left, first)
    assert asked == {row["id"] for row in public_rows(again.folder) if row["sealed"]}


def test_what_an_earlier_version_objected_to_is_never_sealed(
    drawn_by_lot: AssembledRelease, tmp_path: Path
) -> None:
    """People keep it later; that a check of the gold flagged it had told which option is right."""
    every = tuple(by_lot(300))
    asked = sorted(row["id"] for row in public_rows(drawn_by_lot.folder) if row["sealed"])
    flagged = set(asked[:10])
    waits = [item for item in every if public_id(SECRET.encode(), item.id) in flagged]
    others = tuple(item for item in every if item not in waits)
    early = release_arguments(others, blind="repository")
    early["removed"] += [
        Rejection(record=item.id, source="hafez", reason="unresolved", detail="") for item in waits
    ]
    first = assemble(folder=tmp_path / "first", **early)
    second = blind(tmp_path / "second", every, first.folder, closed=every)
    assert not flagged & {row["id"] for row in public_rows(second.folder) if row["sealed"]}
    left = {public_id(SECRET.encode(), row.record) for row in second.left_out if row.reason == CLOSED}
    assert flagged <= left
    # The errata don't name what no version had.
    for version in (first, second):
        errata = pq.read_table(version.folder / "errata" / "removed.parquet").to_pylist()
        assert not flagged & {row["id"] for row in errata}
