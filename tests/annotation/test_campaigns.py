"""Campaigns: what is drawn, what people may not see of it, and the figures that come of their answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest
from pydantic import ValidationError
from scipy import stats

from mihakk.annotation.campaigns.drawing import draw
from mihakk.annotation.campaigns.figures import figures, progress
from mihakk.annotation.campaigns.questions import (
    connotation_questions,
    option_questions,
    reply_questions,
    sentence_questions,
    text_questions,
)
from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.votes import settle, votes_of
from mihakk.annotation.label_studio.exchange import open_disputes
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.statistics.review_markdown import markdown
from mihakk.annotation.statistics.review_report import review_report
from mihakk.evaluation.rows import answer_key
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.campaign import Campaign, Drawn
from mihakk.schemas.evaluation import Answer
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import AnswerItem, ExplanationItem, Origin
from tests.annotation.exported import pulled
from tests.annotation.judged import answer, choice, explanation
from tests.generators.records import make_idiom

SYSTEMS = ("falcon-h1", "jais-30b", "qwen3")


def rated(count: int, strategy: str) -> list:
    """Questions of one strategy, in both orders."""
    rows = []
    for n in range(count):
        own = Origin(records=(f"{strategy}-{n}",), generator="t", generator_version="1", strategy=strategy)
        pair = {"origin": own, "pair_id": f"{strategy}-{n}", "options": (f"صواب {n}", f"خطأ {strategy} {n}")}
        rows += [
            choice(n, id=f"{strategy}-{n}-0", **pair),
            choice(n, id=f"{strategy}-{n}-1", order=1, **pair),
        ]
    return rows


def replies(item: AnswerItem | ExplanationItem, reply: str = "") -> list[Answer]:
    asked = {
        "item": item.id,
        "content_hash": "h",
        "release": "b",
        "version": "1",
        "digest": "d",
        "config": "c",
    }
    kind = "answer" if isinstance(item, AnswerItem) else "explanation"
    return [
        Answer(
            **asked, task=item.task, kind=kind, language=item.language, group="g", model=system,
            reply=reply or f"پاسخ {number} {item.id}",
        )
        for number, system in enumerate(SYSTEMS)
    ]  # fmt: skip


def keyed(answers: Iterable[Answer]) -> list[tuple[str, Answer]]:
    return [(answer_key(one), one) for one in answers]


def names(tasks: list) -> list[str]:
    return [task["data"]["sample_id"] for task in tasks]


def test_a_sample_is_balanced_seeded_and_takes_one_order_of_a_question() -> None:
    items = rated(60, "general") + rated(15, "srl") + rated(9, "labels")
    found = list(option_questions(items))
    assert len(found) == 75, "each question once, and labels of eras need no rating"
    asked = draw(found, Campaign(template="distractor_rating", size=20), [], set())
    assert Counter(row.strata["strategy"] for row in asked.new) == {"general": 10, "srl": 10}
    assert names(asked.tasks) == names(
        draw(found, Campaign(template="distractor_rating", size=20), [], set())[0]
    )
    other = draw(found, Campaign(template="distractor_rating", size=20, seed=7), [], set())
    assert set(names(asked.tasks)) != set(names(other.tasks))
    plain = draw(found, Campaign(template="distractor_rating", size=75, strata=("task",)), [], set())
    assert len(plain.tasks) == 75
    none = draw(found, Campaign(template="distractor_rating", languages=("fa",)), [], set())
    assert none.tasks == []


def test_what_is_drawn_stays_drawn_and_a_larger_sample_tops_it_up() -> None:
    found = list(option_questions(rated(50, "general")))
    first = draw(found, Campaign(template="distractor_rating", size=10), [], set())
    assert len(first.left) == len(found) - 10, "what its size leaves out"
    again = draw(found, Campaign(template="distractor_rating", size=10), first.new, set())
    assert (again.new, set(names(again.tasks))) == ([], set(names(first.tasks)))
    gone = [question for question in found if question.key != first.new[0].key]
    fewer = draw(gone, Campaign(template="distractor_rating", size=10), first.new, set())
    assert len(fewer.tasks) == 9, "who is gone is not replaced: the sample is the one that was drawn"
    more = draw(found, Campaign(template="distractor_rating", size=14), first.new, set())
    assert set(names(first.tasks)) < set(names(more.tasks))
    assert (len(more.new), len(more.tasks)) == (4, 14)


def test_a_changed_text_is_asked_again_unless_people_had_answered_it() -> None:
    record = make_idiom("idiom-1", phrase="إيده طويلة", explanation="يسرق مال الناس")
    damaged = [Finding(check="TX04", severity="flag", subject=record.id, detail="", where="explanation")]
    campaign = Campaign(template="text_correction")
    first = draw(text_questions([record], damaged), campaign, [], set())
    changed = record.model_copy(
        update={"explanation": record.explanation.model_copy(update={"text": "يسرق"})}
    )
    open_still = draw(text_questions([changed], damaged), campaign, first.new, set())
    assert [row.before for row in open_still.new] == [{"explanation": "يسرق"}]
    seen = {(row.subject, row.content_hash) for row in first.new}
    assert draw(text_questions([changed], damaged), campaign, first.new, seen) == ([], [], [])
    remade = rated(1, "general")
    drawn = draw(option_questions(remade), Campaign(template="distractor_rating"), [], set()).new
    made = [item.model_copy(update={"options": ("صواب 0", "خيار جديد")}) for item in remade]
    seen = {(row.subject, row.content_hash) for row in drawn}
    asked = draw(option_questions(made), Campaign(template="distractor_rating"), drawn, seen)
    assert [row.again for row in asked.new] == [True], "an option made anew is rated again, outside the rate"


def test_nothing_on_the_screen_tells_who_wrote_a_reply() -> None:
    poem, question = explanation(), answer()
    for item, template in ((poem, "interpretive_depth"), (question, "answer_correctness")):
        campaign = Campaign(template=template, rows="replies")
        found = list(reply_questions(keyed(replies(item)), {item.id: item}, template))
        asked = draw(found, campaign, [], set())
        assert len(asked.tasks) == 3
        told = json.dumps(asked.tasks, ensure_ascii=False)
        assert not any(system in told for system in SYSTEMS)
        assert {row.strata["system"] for row in asked.new} == set(SYSTEMS), "the store knows"
        assert names(asked.tasks) == sorted(names(asked.tasks)), "their order tells nothing either"
        elsewhere = draw(found, campaign, [], set())
        assert not set(names(elsewhere.tasks)) & set(names(asked.tasks)), "no name can be worked out"
        again = draw(found, campaign, asked.new, set())
        assert (names(again.tasks), again.new) == (names(asked.tasks), []), "and each keeps its own"


def test_ratings_by_strategy_are_the_means_that_scipy_finds(tmp_path) -> None:
    stores, campaign = Stores.under(str(tmp_path)), Campaign(template="distractor_rating", size=80)
    asked = draw(option_questions(rated(60, "general") + rated(60, "srl")), campaign, [], set())
    add(stores.campaigns, Drawn, asked.new)
    random, given = Random(5), {}
    strategy = {row.subject: row.strata["strategy"] for row in asked.new}
    for name, kind in strategy.items():
        mid = 1.6 if kind == "srl" else 0.8
        given[name] = [min(2, max(0, round(random.gauss(mid, 0.6)))) for _ in range(2)]
    open_one = next(iter(given))
    answers = {
        name: [{"plausibility": str(vote)} for vote in (votes[:1] if name == open_one else votes)]
        for name, votes in given.items()
    }
    pulled(stores, "distractor_rating", asked.tasks, answers)
    report = review_report(stores, [], [], seed=1, overlap=2, campaigns=[campaign])
    rows = {row.group: row for row in report.campaign_figures}
    for kind in ("general", "srl"):
        means = [
            sum(votes) / 2 for name, votes in given.items() if strategy[name] == kind and name != open_one
        ]
        ends = [
            stats.t.interval(0.95, len(some) - 1, loc=sum(some) / len(some), scale=stats.sem(some))
            for lacking in (0, 2)  # what the open question would be rated, at worst
            for some in [[*means, *([lacking] if strategy[open_one] == kind else [])]]
        ]
        low, high = ends[0][0], ends[1][1]
        row = rows[kind]
        assert (row.questions, row.value) == (len(means), pytest.approx(sum(means) / len(means)))
        assert (row.low, row.high) == (pytest.approx(low), pytest.approx(high))
    (state,) = report.campaigns
    assert (state.drawn, state.answered, state.begun) == (80, 79, 1)
    assert f"| distractor_rating | srl | mean rating, 0 to 2 | {rows['srl'].questions} |" in markdown(report)
    both = [votes for name, votes in given.items() if name != open_one]
    (alpha,) = [row for row in report.agreement if row.group == "all"]
    assert (alpha.items, alpha.unanswered) == (79, 1)
    krippendorff = pytest.importorskip("krippendorff")
    expected = krippendorff.alpha(list(zip(*both, strict=True)), level_of_measurement="ordinal")
    assert alpha.alpha == pytest.approx(expected)


def test_scores_of_replies_are_told_by_system(tmp_path) -> None:
    stores = Stores.under(str(tmp_path))
    items = {f"q{n}": answer(n, id=f"q{n}") for n in range(12)}
    campaign = Campaign(template="answer_correctness", rows="replies", overlap=1)
    every = keyed(reply for item in items.values() for reply in replies(item))
    asked = draw(reply_questions(every, items, "answer_correctness"), campaign, [], set())
    add(stores.campaigns, Drawn, asked.new)
    grade = {"falcon-h1": "0", "jais-30b": "2", "qwen3": "3"}
    answers = {row.subject: [{"correctness": grade[row.strata["system"]]}] for row in asked.new}
    pulled(stores, "answer_correctness", asked.tasks, answers)
    found = figures(stored(stores.campaigns, Drawn), stored(stores.labels, Label), [campaign], 2)
    assert {row.group: row.value for row in found} == {
        "all": pytest.approx(5 / 3), "falcon-h1": 0, "jais-30b": 2, "qwen3": 3,
    }  # fmt: skip


def test_an_answer_that_was_changed_counts_as_a_whole(tmp_path) -> None:
    stores, record = (
        Stores.under(str(tmp_path)),
        make_idiom("idiom-1", phrase="إيده طويلة", explanation="يسرق"),
    )
    asked = draw(text_questions([record], None), Campaign(template="text_correction", rows="all"), [], set())
    name = names(asked.tasks)[0]
    first = {"state": "corrected", "fix_text": "نص آخر"}
    pulled(stores, "text_correction", asked.tasks, {name: [first]})
    pulled(stores, "text_correction", asked.tasks, {name: [{"state": "sound"}]}, day=2)
    (votes,) = votes_of(stored(stores.labels, Label)).values()
    assert votes == {"annotator-01": {"state": "sound"}}


def test_people_settle_a_question_as_they_settle_an_item() -> None:
    def say(*values: str, overlap: int = 2, lead: tuple[str, ...] = ()) -> str:
        votes = {f"p{n}": {"v": value} for n, value in enumerate(values)}
        found = settle(votes, overlap, lambda one: one["v"], lead)
        return f"{found.by} {found.values['v']}" if found else "open"

    assert say("a") == "open"
    assert say("a", overlap=1) == "single a"
    assert say("a", "a") == "agreement a"
    assert say("a", "b") == "open"
    assert say("a", "b", "b") == "majority b"
    assert say("a", "b", "c") == "open"
    assert say("a", "b", lead=("p0",)) == "adjudicator a"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"template": "connotation", "overlap": 2}, "needs 3 people"),
        ({"template": "interpretive_depth"}, "needs the replies"),
        ({"template": "dialect_sentence", "least_mean": 1}, "distractor_rating only"),
        ({"template": "distractor_rating", "rows": "all"}, "may be nothing"),
        ({"template": "text_correction", "rows": "some"}, "flagged or all"),
        ({"template": "poem_rating"}, "label_validation"),
    ],
)
def test_a_campaign_that_can_not_work_is_refused(row, said) -> None:
    with pytest.raises(ValidationError, match=said):
        Campaign.model_validate(row)


def test_one_campaign_a_template() -> None:
    twice = [{"template": "connotation"}, {"template": "connotation"}]
    with pytest.raises(ValidationError, match="connotation is named twice"):
        ReviewConfig.model_validate({"campaigns": twice})


def test_progress_names_what_people_differ_on(tmp_path) -> None:
    stores = Stores.under(str(tmp_path))
    records = [make_idiom(f"idiom-{n}", phrase=f"مثل {n}", explanation=f"شرح {n}") for n in range(3)]
    campaign = Campaign(template="text_correction", rows="all", strata=("source",))
    found = text_questions(records, None)
    asked = draw((q for q in found if q.key.endswith("explanation")), campaign, [], set())
    add(stores.campaigns, Drawn, asked.new)
    one, two, _ = names(asked.tasks)
    fixed = {"state": "corrected", "fix_text": "شرح سليم"}
    other = {"state": "corrected", "fix_text": "شرح  آخر"}
    answers = {one: [fixed, {**fixed, "fix_text": "شرح  سليم"}], two: [fixed, other]}
    pulled(stores, "text_correction", asked.tasks, answers)
    rows = stored(stores.campaigns, Drawn), stored(stores.labels, Label)
    (state,) = progress(*rows, [campaign], 2)
    assert (state.drawn, state.answered, state.begun, state.disputed) == (3, 2, 0, 1)
    shares = {row.figure: row for row in figures(*rows, [campaign], 2) if row.group == "all"}
    low, high = (stats.binomtest(hits, 3).proportion_ci(method="exact") for hits in (1, 2))
    assert (shares["corrected"].low, shares["corrected"].high) == pytest.approx((low.low, high.high))
    assert (shares["corrected"].questions, shares["corrected"].unanswered) == (2, 1)


def test_a_disputed_question_is_listed_in_full_until_an_adjudicator_answers(tmp_path) -> None:
    stores = Stores.under(str(tmp_path))
    record = make_idiom("idiom-1", phrase="مثل", explanation="شرح")
    found = [q for q in text_questions([record], None) if q.key.endswith("explanation")]
    asked = draw(found, Campaign(template="text_correction", rows="all"), [], set())
    add(stores.campaigns, Drawn, asked.new)
    (name,) = names(asked.tasks)
    fixed = {"state": "corrected", "fix_text": "شرح سليم"}
    pulled(stores, "text_correction", asked.tasks, {name: [fixed, {"state": "sound"}]})
    config = ReviewConfig(campaigns=(Campaign(template="text_correction", rows="all"),))
    (one,) = open_disputes(stores, config)
    assert (one.template, one.item, one.tasks, one.stuck) == ("text_correction", name, (1,), True)
    assert one.votes == (
        "annotator-01 fix_text = شرح سليم, state = corrected",
        "annotator-02 state = sound",
    )
    (told,) = open_disputes(stores, config, lambda _: "fa")
    assert told.votes == ("annotator-01 \u2068شرح سليم\u2069 · اصلاح کردم", "annotator-02 سالم")
    assert "review.adjudicators" in one.decides
    ruled = config.model_copy(update={"adjudicators": ("annotator-03",)})
    assert open_disputes(stores, ruled)[0].decides.startswith("annotator-03, ")
    pulled(stores, "text_correction", asked.tasks, {name: [None, None, fixed]}, day=2)
    assert open_disputes(stores, ruled) == []


def test_each_written_sentence_is_asked_about_once_and_labelled_idioms_only_on_demand() -> None:
    idiom = make_idiom("i1", "قلبه أبيض", "طيب النية لا يضمر لأحد شرًا")
    own = Origin(records=("i1",), generator="pragmatic_use", generator_version="1", strategy="near_meaning")
    blank = {"blanked": "متزعلش منه ده ____ وهيصالحك"}
    written = choice(1, fields=blank, metadata={"sentence": "written"}, origin=own)
    (asked,) = sentence_questions([written, written, choice(2)], {"i1": idiom})
    assert asked.before["sentence"] == "متزعلش منه ده قلبه أبيض وهيصالحك"
    labelled = idiom.model_copy(update={"id": "i2", "connotation": "positive"})
    assert [one.key for one in connotation_questions([idiom, labelled])] == ["i1"]
    assert [one.key for one in connotation_questions([idiom, labelled], labelled=True)] == ["i1", "i2"]
