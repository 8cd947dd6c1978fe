"""Two set-ups of one review at once: the second is refused before it asks the server anything."""

from __future__ import annotations

import pytest

from mihakk.annotation.decisions.stores import Stores
from mihakk.machinery.errors import UsageError
from mihakk.machinery.lake.stage import Lake
from mihakk.pipeline.opened_review import OpenReview
from mihakk.schemas.benchmark import ReviewConfig


def test_a_second_push_waits_its_turn(tmp_path):
    def opened() -> OpenReview:
        lake, stores = Lake(str(tmp_path), "demo"), Stores.under(str(tmp_path))
        return OpenReview("demo", "demo", stores, ReviewConfig(), 1, lake.locked, lambda _: [])

    with opened().locked(), pytest.raises(UsageError, match=r"another run .* is working on"):
        opened().push_queue(None)  # type: ignore[arg-type]
