"""Calibration of a benchmark's annotators, from what is known of its items and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mihakk.ids import content_hash
from pipeline.build import Build
from pipeline.campaigns import curated_texts, questions, sentences, unblocked
from pipeline.people import review_stores
from schemas.audit import Verdict
from schemas.campaign import Campaign, Drawn
from schemas.idiom import Idiom
from schemas.item import ITEM_ROWS, Item
from schemas.poem import Poem
from schemas.stages import AUDITED, CURATED

if TYPE_CHECKING:
    from annotation.label_studio.connection import Connection
    from annotation.label_studio.push import Pushed
    from schemas.calibration import Known


def push_rounds(opened: Build, connection: Connection, *, begin: bool = True) -> dict[str, Pushed]:
    """Brings guidelines, and the calibration rounds that are due, onto the server.

    Args:
        opened: The build.
        connection: The server.
        begin: Also begin with templates that had no round yet; else only who failed is asked again.

    Raises:
        UsageError: The file of questions written by hand can't be used.
    """
    from annotation.label_studio.calibration import instruct, push_calibration
    from annotation.screens.tasks import TEMPLATE

    config, stores, name = opened.config.review, review_stores(opened), opened.config.name
    with opened.lake.locked():
        if begin:
            instruct(
                connection, name, stores, calibrated=False
            )  # a new version may ask for calibration again
        if config.calibration is None:
            return {}
        pushed = push_calibration(
            connection,
            name,
            lambda: known_questions(opened),
            templates=(TEMPLATE, *(one.template for one in config.campaigns)) if begin else (),
            stores=stores,
            config=config.calibration,
            seed=opened.config.seed,
        )
        if begin:
            instruct(connection, name, stores, calibrated=True)
        return pushed


def known_questions(opened: Build) -> Iterator[Known]:
    """Every question whose answer is known, of the review and of each campaign that the config lists."""
    from annotation.teaching.written import read_written

    config = opened.config.review
    if config.calibration is not None and config.calibration.written:
        yield from read_written(Path(config.calibration.written))
    yield from _of_items(opened)
    for campaign in config.campaigns:
        yield from _of_campaign(opened, campaign)


def _of_items(opened: Build) -> Iterator[Known]:
    from annotation.decisions.store import stored
    from annotation.label_studio.exchange import resolutions
    from annotation.statistics.sampling import Queued
    from annotation.teaching.known import known_items

    stores = review_stores(opened)
    items: Sequence[Item] = list(opened.stage(AUDITED).read_all("items", ITEM_ROWS))
    told = resolutions(stores, opened.config.review)
    now = {item.id: told[key] for item in items if (key := (item.id, content_hash(item))) in told}
    busy = {row.item for row in stored(stores.queued, Queued)}
    yield from known_items(items, _passed(opened), now, opened.config.seed, busy)


def _of_campaign(opened: Build, campaign: Campaign) -> Iterator[Known]:
    from annotation.decisions.store import labels, stored
    from annotation.teaching import known

    template, seed, stores = campaign.template, opened.config.seed, review_stores(opened)
    idioms = opened.stage(CURATED).read_all("idioms", Idiom)
    if template == "distractor_rating":
        yield from known.known_options(unblocked(opened), _passed(opened))
    elif template == "label_validation":
        yield from known.known_labels(opened.stage(CURATED).read_all("poems", Poem), seed)
    elif template == "text_correction":
        yield from known.known_texts(curated_texts(opened), seed)
    elif template == "dialect_sentence":
        yield from known.known_sentences([(idiom, text) for idiom, text, _ in sentences(opened)], seed)
    elif template == "wrong_idiom":
        yield from known.known_wrong_idioms([(idiom, text) for idiom, text, _ in sentences(opened)])
    elif template == "connotation":
        yield from known.known_connotations(idioms)
    else:
        yield from known.known_replies(template, unblocked(opened))
        return
    drawn = [row for row in stored(stores.campaigns, Drawn) if row.template == template]
    if drawn:
        asked = questions(opened, campaign)
        yield from known.settled_questions(asked, drawn, labels(stores.labels), opened.config.review)


def _passed(opened: Build) -> set[str]:
    """Ids of items to which neither rules nor auditors object."""
    return {
        verdict.item
        for verdict in opened.stage(AUDITED).read_all("verdicts", Verdict)
        if verdict.status == "pass"
    }
