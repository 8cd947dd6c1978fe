"""One review, of a benchmark or of an audited set, as the commands of its lead open it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.build import open_build
from pipeline.external_people import is_audited_set, open_set, set_stores
from pipeline.people import review_stores
from schemas.benchmark import ReviewConfig

if TYPE_CHECKING:
    from annotation.decisions.stores import Stores


@dataclass(frozen=True)
class OpenReview:
    """The review of a benchmark, or of an externally audited set: what people decided, and how it counts."""

    name: str
    stores: Stores
    config: ReviewConfig
    locked: Callable[[], AbstractContextManager[object]]
    """Keeps builds and pulls off the decisions while something is added to them."""


def open_review(config: Path, lake: str | None = None) -> OpenReview:
    """The review of a benchmark's config, or of the folder of an external audit."""
    if is_audited_set(config):
        known = open_set(config)
        return OpenReview(known.name, set_stores(config), known.review, nullcontext)
    build = open_build(config, Path("runs"), lake)
    return OpenReview(build.config.name, review_stores(build), build.config.review, build.lake.locked)
