"""A review of every template, and all that is worked out of it and sent: what must stay as it is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from mihakk.annotation.campaigns import questions as asking
from mihakk.annotation.campaigns.amendments import amendments
from mihakk.annotation.decisions.store import decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.exchange import open_disputes, resolutions
from mihakk.annotation.screens.labelling import labelling, template_names
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import own_answer_task, review_task
from mihakk.annotation.statistics.auditor_accuracy import auditor_accuracy
from mihakk.annotation.statistics.review_markdown import markdown
from mihakk.annotation.statistics.review_report import review_report
from mihakk.annotation.statistics.sampling import Queued
from mihakk.annotation.statistics.vote_rows import scored_contents, vote_rows
from mihakk.annotation.statistics.working_time import working_times
from mihakk.annotation.teaching import known as making
from mihakk.evaluation.rows import answer_key
from mihakk.pipeline.people import accuracy_facts, agreement_facts, campaign_facts, miss_rate_fact
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.calibration import Known
from mihakk.schemas.campaign import Campaign, Drawn
from mihakk.schemas.evaluation import Answer
from mihakk.schemas.item import Origin
from mihakk.schemas.review import Review
from tests.annotation.judged import answer, audit, choice, verdict
from tests.annotation.judged import explanation as poem_item
from tests.annotation.test_browser import poem
from tests.generators.records import make_idiom

ITEMS = [
    *(choice(n, question=f"ما معنى «إيده طويلة» في كلام أهل مصر ({n})؟") for n in range(24)),
    *(answer(n, answer=f"ناولها{n}", accepted=()) for n in range(12)),
]
POEMS = [poem().model_copy(update={"id": f"files:p{n}"}) for n in range(4)]
IDIOMS = [
    make_idiom(
        f"files:i{n}", phrase=f"إيده طويلة {n}", explanation=f"يأخذ ما ليس له {n}", connotation=leaning
    )
    for n, leaning in enumerate(["positive", "negative", None] * 2)
]
SENTENCE = "خلي بالك منه لما يقعد جنبك في القطر"
EXPLAINED = [
    poem_item(id=f"ar-verse_explanation-{n:016x}", explanations=(f"يدعو صاحبيه {n}", f"يسمي الديار {n}"))
    for n in range(4)
]
VERDICTS = [verdict(item.id, "flag" if n % 3 == 0 else "pass") for n, item in enumerate(ITEMS)]
AUDITS = [
    audit(item.id, who, failed=("answer_alignment",) if n % 3 == 0 else ())
    for n, item in enumerate(ITEMS)
    for who in ("first", "second")
]
TEMPLATES = (
    "label_validation",
    "text_correction",
    "distractor_rating",
    "dialect_sentence",
    "wrong_idiom",
    "connotation",
    "interpretive_depth",
    "answer_correctness",
)


def replies(items: list[Any]) -> list[tuple[str, Answer]]:
    found = []
    for item in items:
        for system in ("falcon-h1", "qwen3"):
            row = Answer(
                item=item.id, content_hash="h", release="b", version="1", digest="d", config="c", task=item.task,
                kind=item.kind, language=item.language, group="g", model=system, reply=f"پاسخ {system} {item.id}",
            )  # fmt: skip
            found.append((answer_key(row), row))
    return found


def questions(template: str) -> list[asking.Question]:
    """Everything there is to ask with one template."""
    own = {item.id: item for item in (*ITEMS, *EXPLAINED)}
    blanks = [
        (one, "خلي بالك منه، ____.", [asking.Candidate(f"c{n}", f"مثل {n}", f"معنى {n}") for n in range(3)])
        for one in IDIOMS
    ]
    written = [
        choice(
            n,
            fields={"blanked": f"{SENTENCE} {asking.BLANK}"},
            metadata={"sentence": "written"},
            origin=Origin(
                records=(one.id,), generator="g", generator_version="1", strategy="near_meaning", model="m"
            ),
        )
        for n, one in enumerate(IDIOMS)
    ]
    found = {
        "label_validation": lambda: map(asking.label_question, POEMS),
        "text_correction": lambda: asking.text_questions([*IDIOMS, *POEMS], None),
        "distractor_rating": lambda: asking.option_questions(ITEMS),
        "dialect_sentence": lambda: asking.sentence_questions(written, {one.id: one for one in IDIOMS}),
        "wrong_idiom": lambda: (asking.wrong_idiom_question(*one) for one in blanks),
        "connotation": lambda: asking.connotation_questions(IDIOMS, labelled=True),
        "interpretive_depth": lambda: asking.reply_questions(replies(EXPLAINED), own, "interpretive_depth"),
        "answer_correctness": lambda: asking.reply_questions(replies(ITEMS), own, "answer_correctness"),
    }
    return list(found[template]())


def known_questions() -> dict[str, list[Known]]:
    """Of every template what is known before anybody has answered."""
    blanks = [(idiom, "خلي بالك منه، ____.") for idiom in IDIOMS]
    passed = {item.id for item in ITEMS}
    return {
        "quality_review": [*making.known_items([*ITEMS, *EXPLAINED], passed, {}, 1)],
        "distractor_rating": [*making.known_options(ITEMS, passed)],
        "label_validation": [*making.known_labels(POEMS, 1)],
        "text_correction": [*making.known_texts([*IDIOMS, *POEMS], 1)],
        "connotation": [*making.known_connotations(IDIOMS)],
        "interpretive_depth": [*making.known_replies("interpretive_depth", EXPLAINED)],
        "answer_correctness": [*making.known_replies("answer_correctness", ITEMS)],
        "dialect_sentence": [*making.known_sentences([(one, SENTENCE) for one in IDIOMS], 1)],
        "wrong_idiom": [*making.known_wrong_idioms(blanks)],
    }


CAMPAIGNS = tuple(
    Campaign(
        template=name,
        rows="replies"
        if name in ("interpretive_depth", "answer_correctness")
        else "all"
        if name in ("text_correction", "connotation")
        else "",
        size=12,
        least_mean=1.0 if name == "distractor_rating" else None,
    )
    for name in TEMPLATES
)
CONFIG = ReviewConfig(overlap=2, campaigns=CAMPAIGNS, adjudicators=("annotator-04",))


def dumped(rows: Any) -> list[Any]:
    return [row.model_dump(mode="json") for row in rows]


def told(folder: Path) -> dict[str, Any]:
    """Everything that is worked out of a store."""
    stores = Stores.under(str(folder))
    report = review_report(
        stores, ITEMS, AUDITS, seed=1, sizes={"ar/meaning_choice": 16, "fa/last_word": 8}, overlap=2,
        adjudicators=CONFIG.adjudicators, campaigns=CAMPAIGNS,
    )  # fmt: skip
    reviews, queued = decisions(stores), stored(stores.queued, Queued)
    scores = scored_contents(AUDITS, queued, ITEMS)
    contents, votes = vote_rows(
        reviews, queued, scores, sizes={"ar/meaning_choice": 16}, overlap=2, adjudicators=CONFIG.adjudicators
    )
    drawn, given = stored(stores.campaigns, Drawn), labels(stores)
    miss = miss_rate_fact(report)
    settled = {
        name: dumped(making.settled_questions(
            questions(name), [row for row in drawn if row.template == name], given, CONFIG
        ))
        for name in TEMPLATES
    }  # fmt: skip
    return {
        "report": report.model_dump(mode="json"),
        "markdown": markdown(report),
        "facts": dumped([*agreement_facts(report), *campaign_facts(report), *accuracy_facts(report), miss]),
        "amendments": dumped(amendments(drawn, given, CAMPAIGNS, 2, CONFIG.adjudicators)),
        "disputes": dumped(open_disputes(stores, CONFIG)),
        "disputes in Persian": dumped(open_disputes(stores, CONFIG, lambda _: "fa")),
        "resolutions": [[*key, one.model_dump(mode="json")] for key, one in resolutions(stores, CONFIG).items()],
        "votes": dumped([*contents, *votes]),
        "accuracy": dumped(auditor_accuracy(
            ITEMS, VERDICTS, scores, queued, reviews, odds={}, suspects=(), adjudicators=CONFIG.adjudicators
        )),
        "times": dumped(working_times([*stored(stores.decisions, Review), *stored(stores.labels, Label)], given)),
        "settled": settled,
    }  # fmt: skip


def wire() -> dict[str, str]:
    """Digest of everything that goes to a server, by what it is."""
    found: dict[str, Any] = {}
    for name in template_names():
        for screen in ("ar", "fa", "en"):
            made = labelling(name, screen)
            found[f"config {name} {screen}"] = [made.title, made.config, made.instructions]
    for name in TEMPLATES:
        rows = questions(name)
        found[f"questions {name}"] = [
            [one.key, one.record, one.language, dict(one.strata), dict(one.before), one.hidden, one.remade,
             one.task("subject" if one.hidden else one.key)]
            for one in rows
        ]  # fmt: skip
    for name, known in known_questions().items():
        found[f"known {name}"] = dumped(known)
    found["reviews"] = [review_task(item, screen=screen) for item in ITEMS for screen in ("ar", "en")]
    found["own answers"] = [own_answer_task(item) for item in ITEMS]
    return {
        name: hashlib.sha256(json.dumps(rows, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]
        for name, rows in found.items()
    }
