"""Two set-ups of one review at once: the second is refused before it asks the server anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.annotation.decisions.stores import Stores
from mihakk.machinery.errors import UsageError
from mihakk.machinery.lake.stage import Lake
from mihakk.pipeline.external_people import AuditedSet, write_set
from mihakk.pipeline.opened_review import OpenReview, open_review
from mihakk.schemas.benchmark import ReviewConfig


def a_build(folder: Path) -> OpenReview:
    lake, stores = Lake(str(folder), "demo"), Stores.under(str(folder))
    return OpenReview("demo", "demo", stores, ReviewConfig(), 1, lake.locked, lambda _: [])


def an_audited_set(folder: Path) -> OpenReview:
    write_set(folder, AuditedSet(name="audit-x", source="x.jsonl"))
    return open_review(folder)


@pytest.mark.parametrize("kind", [a_build, an_audited_set])
def test_a_second_push_waits_its_turn(tmp_path, kind):
    def opened() -> OpenReview:
        return kind(tmp_path)

    with opened().locked(), pytest.raises(UsageError, match=r"another run .* is working on"):
        opened().push_queue(None)  # type: ignore[arg-type]
