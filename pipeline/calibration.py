"""Calibration of a review's annotators, from items and records whose answers are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mihakk.annotation.decisions.store import labels, stored
from mihakk.annotation.label_studio.calibration import instruct, push_calibration
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exchange import resolutions
from mihakk.annotation.label_studio.push import Pushed
from mihakk.annotation.screens.tasks import TEMPLATE
from mihakk.annotation.statistics.sampling import Queued
from mihakk.annotation.teaching import known
from mihakk.annotation.teaching.known import known_items, settled_questions
from mihakk.annotation.teaching.written import read_written
from mihakk.machinery.ids import content_hash
from mihakk.pipeline.campaigns import UNBLOCKED, curated_texts, questions, rated, sentences
from mihakk.schemas.calibration import Known
from mihakk.schemas.campaign import REPLIES, Campaign, Drawn
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.stages import CURATED

if TYPE_CHECKING:
    from mihakk.pipeline.opened_review import OpenReview


def push_rounds(review: OpenReview, connection: Connection, *, begin: bool = True) -> dict[str, Pushed]:
    """Brings guidelines, and the calibration rounds that are due, onto the server.

    Args:
        review: Whose annotators are calibrated.
        connection: The server.
        begin: Also begin with templates that had no round yet; else only who failed is asked again.

    Raises:
        UsageError: The file of questions written by hand can't be used.
    """
    config = review.config
    with review.locked():
        if begin:  # a new version may ask for calibration again
            instruct(connection, review.name, review.stores, calibrated=False)
        if config.calibration is None:
            return {}
        pushed = push_calibration(
            connection,
            review.name,
            lambda: known_questions(review),
            templates=(TEMPLATE, *(one.template for one in config.campaigns)) if begin else (),
            stores=review.stores,
            config=config.calibration,
            seed=review.seed,
        )
        if begin:
            instruct(connection, review.name, review.stores, calibrated=True)
    return pushed


def known_questions(review: OpenReview) -> Iterator[Known]:
    """Every question whose answer is known, of the review and of each campaign that the config lists."""
    config, stores = review.config, review.stores
    if config.calibration is not None and config.calibration.written:
        yield from read_written(Path(config.calibration.written))
    items, passed = review.having(*UNBLOCKED, "block"), {item.id for item in review.having("pass")}
    told = resolutions(stores, config)
    now = {item.id: told[key] for item in items if (key := (item.id, content_hash(item))) in told}
    busy = {row.item for row in stored(stores.queued, Queued)}
    yield from known_items(items, passed, now, review.seed, busy)
    for campaign in config.campaigns:
        yield from _of_campaign(review, campaign, passed)
        if campaign.template not in REPLIES:
            yield from _settled(review, campaign)


def _of_campaign(review: OpenReview, campaign: Campaign, passed: set[str]) -> Iterator[Known]:
    template, seed, build = campaign.template, review.seed, review.build
    if template == "distractor_rating":
        yield from known.known_options(rated(review), passed)
    elif build is None or template in REPLIES:
        yield from known.known_replies(template, review.having(*UNBLOCKED))
    elif template == "label_validation":
        yield from known.known_labels(build.stage(CURATED).read_all("poems", Poem), seed)
    elif template == "text_correction":
        yield from known.known_texts(curated_texts(build), seed)
    elif template == "dialect_sentence":
        yield from known.known_sentences([(idiom, text) for idiom, text, _ in sentences(review)], seed)
    elif template == "wrong_idiom":
        yield from known.known_wrong_idioms([(idiom, text) for idiom, text, _ in sentences(review)])
    else:
        yield from known.known_connotations(build.stage(CURATED).read_all("idioms", Idiom))


def _settled(review: OpenReview, campaign: Campaign) -> Iterator[Known]:
    """Questions of a campaign that people have settled."""
    stores = review.stores
    drawn = [row for row in stored(stores.campaigns, Drawn) if row.template == campaign.template]
    if drawn:
        yield from settled_questions(questions(review, campaign), drawn, labels(stores), review.config)
