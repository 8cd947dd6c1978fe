"""Campaigns of a benchmark or an audited set: the rows they may ask about, and their push."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter

from mihakk.annotation.campaigns import questions as ask
from mihakk.annotation.campaigns.amendments import amendments
from mihakk.annotation.campaigns.questions import (
    BLANK,
    Candidate,
    Question,
    reply_question,
    reply_questions,
    text_questions,
)
from mihakk.annotation.decisions.first_votes import first_answers, is_edited, withdrawn
from mihakk.annotation.decisions.store import decision_id, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.configs import validate
from mihakk.machinery.errors import UsageError, nearest
from mihakk.pipeline.build import Build
from mihakk.pipeline.people import review_stores
from mihakk.schemas.campaign import REPLIES, Amendment, Campaign, CampaignTemplate, Drawn
from mihakk.schemas.evaluation import Answer
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.stages import CURATED
from mihakk.validators.truth import says_truth

if TYPE_CHECKING:
    from mihakk.annotation.label_studio.connection import Connection
    from mihakk.annotation.label_studio.push import Pushed
    from mihakk.pipeline.opened_review import OpenReview

QUALITY_REVIEW = "quality_review"
"""Template of the review queue, which is no campaign."""
UNBLOCKED = ("pass", "flag")
"""Statuses of items that no check blocks."""
ASKED_OF_SETS: tuple[CampaignTemplate, ...] = ("distractor_rating", "answer_correctness")
OF_BUILDS: dict[str, str] = {
    "label_validation": "era, genre and metre of poems that a build curated",
    "text_correction": "texts of a build's records; texts of rows are corrected in quality_review",
    "dialect_sentence": "sentences that a build's model wrote",
    "wrong_idiom": "a build's items of pragmatic_use",
    "connotation": "idioms that a build curated",
    "interpretive_depth": "replies to a build's verse explanations",
}
"""Campaigns that an audited set can't have, and what they ask about."""
CANDIDATES = 4
"""Idioms that people choose the wrong one from."""
RECORD: TypeAdapter[Poem | Idiom] = TypeAdapter(Poem | Idiom)


def push_campaigns(
    review: OpenReview, connection: Connection, campaigns: Sequence[Campaign]
) -> dict[str, Pushed]:
    """Brings the samples of campaigns onto the server; what changed there, by template and language.

    Raises:
        UsageError: A campaign has nothing to ask about, or its replies can't be read.
    """
    from mihakk.annotation.label_studio.benchmark_push import push_campaign

    pushed: dict[str, Pushed] = {}
    for campaign in campaigns:
        with review.locked():
            pushed |= push_campaign(
                connection,
                review.name,
                campaign,
                questions(review, campaign),
                stores=review.stores,
                config=review.config,
            )
    return pushed


def chosen_campaigns(review: OpenReview, template: str, changes: Mapping[str, Any]) -> tuple[Campaign, ...]:
    """The campaigns to push: all the config lists, or the one named, as listed or anew, with changes.

    Raises:
        UsageError: There is no such campaign, it can't be changed so, or it asks about what an audited set
            does not have.
    """
    config = review.config
    if review.build is None:
        for name in (template, *(one.template for one in config.campaigns)):
            if name in OF_BUILDS:
                raise UsageError(
                    f"{name} asks about {OF_BUILDS[name]}; an audited set has none. Its templates are "
                    f"{', '.join((QUALITY_REVIEW, *ASKED_OF_SETS))}"
                )
    if not template:
        return config.campaigns
    if template == QUALITY_REVIEW:
        return ()
    if template not in get_args(CampaignTemplate):
        known = (QUALITY_REVIEW, *get_args(CampaignTemplate))
        raise UsageError(f"there is no template {template!r}; {nearest(template, known, 'there are')}")
    listed = next((one for one in config.campaigns if one.template == template), None)
    row = listed.model_dump(exclude_defaults=True) if listed else {"template": template}
    return (validate(row | dict(changes), Campaign, f"campaign {template}"),)


def amendments_of(build: Build) -> list[Amendment]:
    """Everything that people's answers to campaigns have settled so far about this benchmark."""
    stores, config = review_stores(build), build.config.review
    if not (drawn := stored(stores.campaigns, Drawn)):
        return []
    given = labels(stores)
    return amendments(drawn, given, config.campaigns, config.overlap, config.adjudicators)


def questions(review: OpenReview, campaign: Campaign) -> list[Question]:
    """Everything the campaign may ask about this review; nothing where there is none of its kind.

    Raises:
        UsageError: The replies can't be read.
    """
    template, build = campaign.template, review.build
    found: Iterable[Question]
    if template == "distractor_rating":
        found = ask.option_questions(rated(review))
    elif build is None or template in REPLIES:
        found = _replies(review, campaign)
    elif template == "dialect_sentence":
        found = ask.sentence_questions(review.having(*UNBLOCKED), {row.id: row for row in _idioms(build)})
    elif template == "wrong_idiom":
        found = (ask.wrong_idiom_question(*one) for one in sentences(review))
    elif template == "connotation":
        found = ask.connotation_questions(_idioms(build), labelled=campaign.rows == "all")
    elif template == "label_validation":
        found = map(ask.label_question, build.stage(CURATED).read_all("poems", Poem))
    else:
        found = _texts(build, everything=campaign.rows == "all")
    return list(found)


WHY_NOTHING: dict[CampaignTemplate, str] = {
    "distractor_rating": "no item that no check blocks has wrong options, other than true and false",
    "dialect_sentence": "a model wrote no sentence; set `generator`, and a task that needs sentences",
    "wrong_idiom": "it has no items of pragmatic_use",
    "connotation": "no idiom lacks a connotation; --from all asks about labelled ones too",
    "label_validation": "it has no poems",
    "text_correction": "no text check found damage in a record; --from all asks about every text",
    "interpretive_depth": "the replies hold none to its verse explanations",
    "answer_correctness": "the replies hold none to its questions answered in words",
}
"""Why a campaign may have nothing to ask, and what changes that."""


def rated(review: OpenReview) -> list[Item]:
    """Items that no check blocks, with wrong options that can be plausible: true and false can't."""
    return [
        item
        for item in review.having(*UNBLOCKED)
        if isinstance(item, ChoiceItem) and not says_truth(item.options, item.language)
    ]


def _idioms(build: Build) -> Iterator[Idiom]:
    yield from build.stage(CURATED).read_all("idioms", Idiom)


def sentences(review: OpenReview) -> Iterator[tuple[Idiom, str, list[Candidate]]]:
    """Of each item of `pragmatic_use` the idiom, the sentence without it, and possible wrong idioms."""
    from mihakk.generators.generating import prepare
    from mihakk.generators.idioms.pragmatic_use import wrong_idioms

    made = [item for item in review.having(*UNBLOCKED) if item.task == "pragmatic_use"]
    if not made or review.build is None:
        return
    items = {item.origin.records[0]: item for item in reversed(made)}
    idioms = {idiom.id: idiom for idiom in _idioms(review.build)}
    corpus = prepare(list(idioms.values()), review.build.config)
    for name, item in sorted(items.items()):
        own = corpus.phrases[corpus.phrase_number[name]]
        blanked = item.fields["blanked"]
        others = islice(wrong_idioms(corpus, own, blanked.replace(BLANK, own.phrase)), CANDIDATES)
        yield idioms[name], blanked, [Candidate(one.id, one.phrase, one.meaning) for one in others]


def curated_texts(build: Build) -> Iterator[Poem | Idiom]:
    """Curated records in whose texts no text check found anything."""
    curated = build.stage(CURATED)
    found = {row.subject for row in curated.read_all("findings", Finding) if row.check.startswith("TX")}
    for record in (*curated.read_all("poems", Poem), *_idioms(build)):
        if record.id not in found:
            yield record


def _texts(build: Build, *, everything: bool) -> Iterator[Question]:
    """Texts of curated records, and of those that a text check kept out."""
    curated = build.stage(CURATED)
    blocked: list[Rejection] = [row for row in curated.rejections() if row.reason.startswith("check_TX")]
    records: list[Poem | Idiom] = [
        *curated.read_all("poems", Poem),
        *_idioms(build),
        *(RECORD.validate_json(row.body) for row in blocked),
    ]
    findings = None if everything else list(curated.read_all("findings", Finding))
    return text_questions(records, findings)


def _replies(review: OpenReview, campaign: Campaign) -> Iterator[Question]:
    """Replies to items: a file, every answers.parquet under a folder, or what `evaluate vouch` drew."""
    from mihakk.evaluation.judges.people import TEMPLATES, read_shown
    from mihakk.evaluation.rows import answer_key, read_rows

    place, template = Path(campaign.rows), campaign.template
    if place.suffix == ".jsonl":
        shown = [row for row in read_shown(place) if row.rubric == TEMPLATES[template]]
        return (
            reply_question(
                template,
                row.id,
                row.language,
                asked=row.text if template == "interpretive_depth" else row.question,
                reference=row.reference,
                reply=row.reply,
            )
            for row in shown
        )
    files = sorted(place.rglob("answers.parquet")) if place.is_dir() else [place]
    if not files:
        raise UsageError(f"{place} holds no answers.parquet: name a folder that `mihakk evaluate` wrote")
    answers = ((answer_key(answer), answer) for file in files for answer in read_rows(file, Answer))
    return reply_questions(answers, {item.id: item for item in review.items}, template)


def exported_labels(stores: Stores, adjudicators: Collection[str] = ()) -> tuple[list[Label], set[str]]:
    """Labels that count, those of replies under the names that judgements give the replies.

    Also the decision ids, under these names, of first independent answers.
    """
    names: dict[tuple[str, str], str] = {
        (row.template, row.subject): row.key
        for row in stored(stores.campaigns, Drawn)
        if row.template in REPLIES
    }

    def named(row: Label) -> Label:
        return row.model_copy(update={"subject": names.get((row.template, row.subject), row.subject)})

    given = labels(stores)
    back = withdrawn(stores)
    first = first_answers(given, adjudicators=adjudicators, withdrawn=back)
    return [named(row) for row in given], {decision_id(named(row)) for row in first if not is_edited(row)}
