"""What people answer to campaigns shows in the next build."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

from pipeline.campaigns import amendments_of
from pipeline.people import campaign_facts, review_state
from releases.card.audit_section import audit_section
from releases.release_facts import ReleaseFacts
from reports.templates import templates
from schemas.item import ChoiceItem
from tests.pipeline.campaign_round import POEMS, answered, asked, built, opened


def wrong_of(item: object) -> str:
    assert isinstance(item, ChoiceItem)
    (place,) = (n for n in range(len(item.options)) if n not in item.gold)
    return item.options[place]


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
    assert {after[item].task for item in changed} == {"meaning_choice", "negation"}, (
        "one explanation for both"
    )
    item = poor.subject.partition("#")[0]
    assert wrong_of(before[item]) == poor.before["wrong"] != wrong_of(after[item])

    again, new = asked(build, "distractor_rating")
    assert [row.again for row in again] == [False] * 30 + [True]
    assert len(new) == 30
    answered(build, "distractor_rating", new, {poor.subject: [{"plausibility": "0"}] * 2})
    third = built(build)
    assert len({wrong_of(made[item]) for made in (before, after, third)}) == 3
    facts = campaign_facts(review_state(build))
    (whole,) = [row for row in facts if row.group == "all"]
    assert (whole.questions, round(whole.value, 4)) == (29, round((0.5 + 1 + 27 * 1.5) / 29, 4)), (
        "the new option's rating stands in no mean, and one with a single vote counts nowhere"
    )
    assert whole.low < whole.value < whole.high
    page = templates(Path("reports/run"))
    page.tests["starting"] = str.startswith
    shown = page.get_template("people.html.jinja").render(facts=SimpleNamespace(people=review_state(build)))
    assert re.search(rf"mean rating, 0 to 2</td><td class=.n.>29</td><td class=.n.>{whole.value:.2f}<", shown)
    card = audit_section(ReleaseFacts(code_version="v", campaign_figures=facts), {}, {})
    assert f"| distractor rating | other_explanation | mean rating, 0 to 2 | 29 | {whole.value:.2f} |" in card


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
