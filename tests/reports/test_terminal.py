"""What a run shows at its end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from mihakk.reports.terminal import closing_table
from mihakk.schemas.manifest import ShardCounts, StageManifest
from mihakk.schemas.stages import STAGES


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_closing_table_never_cuts_a_stages_name(width: int) -> None:
    counts = ShardCounts(
        read=345_678,
        kept=345_000,
        rejected=678,
        written=345_000,
        reasons={"non_poetic_matter": 400, "duplicate_of_another_record": 278},
    )
    manifests = [
        StageManifest(
            stage=name, shards=(), counts=counts, inputs={}, config_digest="", code_version="", seconds=1.5
        )
        for name in STAGES
    ]
    out = io.StringIO()
    Console(file=out, width=width).print(
        closing_table(manifests, dict.fromkeys(STAGES, 1.5), [("Took", "1 s")])
    )
    shown = out.getvalue()
    assert [name for name in STAGES if name not in shown] == []
    if width >= 80:
        assert shown.count("345,678") == shown.count("345,000") / 2 == len(STAGES), "nor a number"
        assert shown.count("non_poetic_matter 400, duplicate_of_another_record 278") == len(STAGES)
