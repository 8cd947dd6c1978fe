"""What people answer to campaigns shows in the next build."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from scipy import stats

from mihakk.machinery.llm.scripted import Answer as Reply
from mihakk.machinery.llm.scripted import Call, ScriptedServer
from mihakk.pipeline.campaigns import amendments_of
from mihakk.pipeline.opened_review import review_of
from mihakk.pipeline.people import campaign_facts
from mihakk.releases.card.audit_section import audit_section
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.reports.templates import templates
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.poem import Poem
from tests.pipeline.campaign_round import IDIOMS, POEMS, answered, asked, built, opened


def wrong_of(item: object) -> frozenset[str]:
    assert isinstance(item, ChoiceItem)
    return frozenset(text for place, text in enumerate(item.options) if place not in item.gold)


def test_a_wrong_option_that_people_rate_low_is_made_anew_and_no_other_changes(tmp_path: Path) -> None:
    build = opened(
        tmp_path,
        "meaning_choice",
        "negation",
        campaigns=[{"template": "distractor_rating", "size": 30, "least_mean": 1.0}],
    )
    before = built(build)
    drawn, tasks = asked(build, "distractor_rating")
    assert len(tasks) == 30
    assert {row.strata["task"] for row in drawn} == {"meaning_choice"}, "negation offers the true explanation"
    poor, fair, unsure, *others = drawn
    ratings = {poor.subject: ("0", "1"), fair.subject: ("1", "1"), unsure.subject: ("0",)}
    ratings |= {row.subject: ("2", "1") for row in others}
    answers = {name: [{"plausibility": one} for one in given] for name, given in ratings.items()}
    answered(build, "distractor_rating", tasks, answers)

    after = built(build)
    assert built(build) == after, "the same answers give the same items"
    changed = {item for item in after if after[item] != before.get(item)}
    assert set(before) == set(after)
    assert {after[item].origin.records[0] for item in changed} == {poor.record}
    assert "meaning_choice" in {after[item].task for item in changed} <= {"meaning_choice", "negation"}
    item = poor.subject.partition("#")[0]
    assert wrong_of(before[item]) - wrong_of(after[item]) == {poor.before["wrong"]}

    again, new = asked(build, "distractor_rating")
    assert [row.again for row in again] == [False] * 30 + [True]
    assert len(new) == 30
    answered(build, "distractor_rating", new, {poor.subject: [{"plausibility": "0"}] * 2})
    third = built(build)
    assert len({wrong_of(made[item]) for made in (before, after, third)}) == 3
    facts = campaign_facts(review_of(build).report())
    (whole,) = [row for row in facts if row.group == "all"]
    assert (whole.questions, round(whole.value, 4)) == (29, round((0.5 + 1 + 27 * 1.5) / 29, 4)), (
        "the new option's rating stands in no mean, and one with a single vote counts nowhere"
    )
    assert whole.low < whole.value < whole.high
    page = templates(Path("reports/dashboard/templates"))
    page.tests["starting"] = str.startswith
    shown = page.get_template("people.html.jinja").render(
        facts=SimpleNamespace(people=SimpleNamespace(report=review_of(build).report()))
    )
    assert re.search(rf"mean rating, 0 to 2</td><td class=.n.>29</td><td class=.n.>{whole.value:.2f}<", shown)
    card = audit_section(ReleaseFacts(code_version="v", campaign_figures=facts), {}, {})
    assert (
        f"| distractor rating | other_explanation | mean rating, 0 to 2 | 29 | 1 | {whole.value:.2f} |"
        in card
    )


def test_without_a_least_mean_ratings_change_no_item(tmp_path: Path) -> None:
    build = opened(tmp_path, "meaning_choice", campaigns=[{"template": "distractor_rating", "size": 5}])
    before = built(build)
    drawn, tasks = asked(build, "distractor_rating")
    answered(build, "distractor_rating", tasks, {row.subject: [{"plausibility": "0"}] * 2 for row in drawn})
    assert amendments_of(build) == []
    assert built(build) == before


def test_a_refused_line_of_verse_gives_way_to_another_in_the_same_metre(tmp_path: Path) -> None:
    campaign = {"template": "distractor_rating", "size": 12, "least_mean": 0.5}
    build = opened(tmp_path, "continuation_choice", source=POEMS, campaigns=[campaign])
    before = built(build)
    drawn, tasks = asked(build, "distractor_rating")
    answered(build, "distractor_rating", tasks, {row.subject: [{"plausibility": "0"}] * 2 for row in drawn})
    after = built(build)
    refused = {(row.record, row.before["wrong"]) for row in drawn}
    offered = {
        (item.origin.records[0], text) for item in after.values() for text in getattr(item, "options", ())
    }
    assert len(refused) == 12
    assert not refused & offered
    others = {item for item in before if before[item].origin.records[0] not in {row.record for row in drawn}}
    assert all(after[item] == before[item] for item in others)
    remade = set(after) - others
    assert remade, "no line was found anew"
    assert all(before[item].metadata == after[item].metadata for item in remade)


def by_record(items: Mapping[str, Item], record: str, task: str) -> list[Item]:
    return [item for item in items.values() if item.origin.records[0] == record and item.task == task]


def test_only_a_connotation_that_three_people_share_is_a_gold(tmp_path: Path) -> None:
    build = opened(tmp_path, "connotation", campaigns=[{"template": "connotation", "rows": "all", "size": 4}])
    before = built(build)
    drawn, tasks = asked(build, "connotation")
    same, split, two, _ = drawn
    answers = {
        same.subject: [{"idiom": "neutral", "explanation": "negative"}] * 3,
        split.subject: [
            {"idiom": label, "explanation": "positive"} for label in ("negative", "negative", "neutral")
        ],
        two.subject: [{"idiom": "neutral", "explanation": "neutral"}] * 2,
    }
    answered(build, "connotation", tasks, answers)
    after = built(build)
    golds = {
        item.metadata["subject"]: (item.options[item.gold[0]], item.metadata["votes"])
        for item in by_record(after, same.record, "connotation")
    }
    assert golds == {"phrase": ("محايدة", "neutral 3"), "explanation": ("سلبية", "negative 3")}
    left = by_record(after, split.record, "connotation")
    assert {item.metadata["subject"] for item in left} == {"explanation"}, "people differ on the idiom itself"
    (kept,) = [row for row in build.stage("3_curated").read_all("idioms", Idiom) if row.id == split.record]
    assert (kept.connotation, kept.source_labels["connotation_votes"]) == (None, "negative 2, neutral 1")
    assert by_record(after, two.record, "connotation") == by_record(before, two.record, "connotation")
    shares = {
        row.figure: row.value for row in review_of(build).report().campaign_figures if row.group == "all"
    }
    assert shares["idiom neutral"] == shares["idiom: people differ"] == 0.5


def test_an_era_that_people_correct_is_the_poems_and_the_editors_is_kept(tmp_path: Path) -> None:
    build = opened(
        tmp_path, "era_choice", source=POEMS, campaigns=[{"template": "label_validation", "size": 100}]
    )
    before = built(build)
    drawn, tasks = asked(build, "label_validation")
    right = dict.fromkeys(("poet", "era", "genre", "metre"), "right")
    one, other, third = [row for row in drawn if by_record(before, row.record, "era_choice")][:3]
    new = "andalusian" if one.before["era"] != "andalusian" else "modern"
    names = {"andalusian": ("الأندلسي", "العصر  الأندلسي"), "modern": ("الحديث", "العصر الحديث")}[new]
    answers = {
        one.subject: [{**right, "era": "wrong", "right_era": name} for name in names],
        other.subject: [
            {**right, "era": "wrong", "right_era": "الأندلسي"},
            {**right, "era": "wrong", "right_era": "العثماني"},
        ],
        third.subject: [{**right, "era": "wrong", "right_era": "الأندلسي"}, right],
    }
    answered(build, "label_validation", tasks, answers)
    after = built(build)
    poems = {poem.id: poem for poem in build.stage("3_curated").read_all("poems", Poem)}
    assert poems[one.record].era == new, "two spellings of one era are one answer"
    assert poems[one.record].source_labels["era"] == one.before["era"]
    assert poems[one.record].source_labels["era_by"] == "people: agreement of 2"
    assert {item.metadata["era"] for item in by_record(after, one.record, "era_choice")} == {new}
    assert poems[other.record].era == "", "wrong by both, and no other one that both name"
    assert by_record(after, other.record, "era_choice") == []
    assert poems[third.record].era == third.before["era"], "people differ whether it is wrong"
    assert asked(build, "label_validation")[0] == drawn, "what people corrected is not asked again"


def test_a_restored_text_is_checked_again(tmp_path: Path) -> None:
    source = tmp_path / "idioms.jsonl"
    damaged = {
        "a": "طيب الن\ufffdية لا يضمر شرًا",
        "b": "يأخذ ما ليس\ufffd له",
        "c": "كث\ufffdير الكلام والوعود",
    }
    whole = {"d": "يخاطب الناس بكلام لطيف يحبونه", "e": "سريع الغضب لا يحتمل المزاح"}
    rows = [
        {"id": name, "text": f"مثل رقم {name}", "explanation": text, "kind": "idiom", "dialect": "egyptian"}
        for name, text in (damaged | whole).items()
    ]
    source.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    build = opened(
        tmp_path,
        "explanation",
        source=IDIOMS | {"path": str(source)},
        campaigns=[{"template": "text_correction"}],
    )
    built(build)
    curated = build.stage("3_curated")
    assert {row.reason for row in curated.rejections()} == {"check_TX03"}
    drawn, tasks = asked(build, "text_correction")
    by_name = {row.record.rpartition(":")[2]: row for row in drawn}
    assert len(by_name) == 3, "only what a check found"
    restored = "طيب النية لا يضمر شرًا"
    first, second, third = drawn
    answers = {
        first.subject: [{"state": "corrected", "fix_text": restored}] * 2,
        second.subject: [{"state": "corrected", "fix_text": "ما زال\ufffd معطوبًا هنا"}] * 2,
        third.subject: [{"state": "hopeless"}] * 2,
    }
    answered(build, "text_correction", tasks, answers)
    after = built(build)
    (item,) = by_record(after, first.record, "explanation")
    assert item.answer == restored
    (record,) = [row for row in curated.read_all("idioms", Idiom) if row.id == first.record]
    assert "\ufffd" in record.explanation.raw, "what the source gave stays"
    reasons = {row.record: row.reason for row in curated.rejections()}
    assert reasons == {second.record: "check_TX03", third.record: "hopeless_text"}
    assert curated.manifest().counts.notes["amended.explanation"] == 2


SENTENCES = {
    "a": "متزعلش منه ده قلبه أبيض وهيصالحك بكرة",
    "b": "خلي بالك من الواد ده إيده طويلة جدا",
    "c": "البياع ده لسانه حلو مع كل الزباين",
}
PHRASES = {"a": "قلبه أبيض", "b": "إيده طويلة", "c": "لسانه حلو"}


def writes(call: Call) -> Reply:
    """The sentence of the idiom that is asked about, once; when asked again, another one."""
    name = next(
        name
        for name, phrase in PHRASES.items()
        if phrase in json.dumps(call.body["messages"], ensure_ascii=False)
    )
    return Reply(text=json.dumps({"sentence": SENTENCES[name]}))


def test_sentences_as_people_leave_them_make_the_questions(tmp_path: Path) -> None:
    source = tmp_path / "idioms.jsonl"
    meanings = {
        "a": "يصفو للناس ولا يحمل لأحد ضغينة",
        "b": "يأخذ ما ليس له من أموال الناس",
        "c": "يخاطب الناس بكلام لطيف يحبونه",
    }
    rows = [
        {"id": name, "text": phrase, "explanation": meanings[name], "kind": "idiom", "dialect": "egyptian"}
        for name, phrase in PHRASES.items()
    ]
    source.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    with ScriptedServer(writes) as server:
        build = opened(
            tmp_path, "pragmatic_use", source=IDIOMS | {"path": str(source)}, writer=server.url,
            campaigns=[{"template": "dialect_sentence", "overlap": 1}],
        )  # fmt: skip
        before = built(build)
        assert {item.metadata["sentence"] for item in before.values()} == {"written"}
        drawn, tasks = asked(build, "dialect_sentence")
        by_text = {row.before["sentence"]: row for row in drawn}
        kept, edited, spoilt = (by_text[SENTENCES[name]] for name in "abc")
        better = "خلي بالك من الواد ده عشان إيده طويلة"
        answers = {
            kept.subject: [{"verdict": "accept"}],
            edited.subject: [{"verdict": "edit", "fix_sentence": better}],
            spoilt.subject: [{"verdict": "replace", "new_sentence": "البياع ده كلامه حلو"}],
        }
        answered(build, "dialect_sentence", tasks, answers)
        after = built(build)
    told = {
        row.record: {(one.metadata["sentence"], one.fields["blanked"], one.origin.model)
                     for one in by_record(after, row.record, "pragmatic_use")}
        for row in drawn
    }  # fmt: skip
    model = next(iter(before.values())).origin.model
    assert told[kept.record] == {("accepted", SENTENCES["a"].replace(PHRASES["a"], "____"), model)}
    assert told[edited.record] == {("edited", better.replace(PHRASES["b"], "____"), model)}
    assert told[spoilt.record] == set(), "a sentence without the idiom word for word makes no question"
    (share,) = [
        row for row in review_of(build).report().campaign_figures
        if (row.group, row.figure) == ("all", "edited or replaced (Kinayat: 77 of 150)")
    ]  # fmt: skip
    exact = stats.binomtest(2, 3).proportion_ci(method="exact")
    assert (share.questions, share.value) == (3, 2 / 3)
    assert (share.low, share.high) == pytest.approx((exact.low, exact.high))
    assert asked(build, "dialect_sentence")[1] == []


def test_the_wrong_idiom_is_the_one_that_people_choose_for_the_sentence(tmp_path: Path) -> None:
    campaign = {"template": "wrong_idiom", "size": 5, "overlap": 1}
    build = opened(tmp_path, "pragmatic_use", campaigns=[campaign])
    before = built(build)
    drawn, tasks = asked(build, "wrong_idiom")
    chosen, none, last = drawn[:3]
    shown = {task["data"]["sample_id"]: task["data"]["item_html"] for task in tasks}
    answers = {
        chosen.subject: [{"wrong": "3"}],
        none.subject: [{"wrong": "none"}],
        last.subject: [{"wrong": "1"}],
    }
    answered(build, "wrong_idiom", tasks, answers)
    after = built(build)
    phrases = {idiom.id: idiom.phrase.text for idiom in build.stage("3_curated").read_all("idioms", Idiom)}
    made = by_record(after, chosen.record, "pragmatic_use")
    third = phrases[chosen.before["3"]]
    assert len(made) == 2, "both orders"
    assert {wrong_of(item) for item in made} == {frozenset({third})}
    assert third in shown[chosen.subject]
    assert {wrong_of(item) for item in by_record(before, chosen.record, "pragmatic_use")} != {
        frozenset({third})
    }
    assert {item.origin.strategy for item in made} == {"chosen"}
    assert by_record(after, none.record, "pragmatic_use") == []
    (first, _) = by_record(after, last.record, "pragmatic_use")
    assert (
        wrong_of(first)
        == {phrases[last.before["1"]]}
        == wrong_of(by_record(before, last.record, "pragmatic_use")[0])
    )
    others = {item for item in before if before[item].origin.records[0] not in {r.record for r in drawn[:3]}}
    assert all(after[item] == before[item] for item in others)
