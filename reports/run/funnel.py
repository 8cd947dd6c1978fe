"""The funnel of each source as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.manifest import ShardCounts

RECORD_STAGES = 4
"""Stages that read records; later ones read items."""
SERIES = ("kept", "rejected", "merged")


def funnel_chart(sources: Mapping[str, Sequence[tuple[str, ShardCounts]]]) -> str:
    """Records kept, rejected and merged by every stage, source by source, as SVG.

    Args:
        sources: Name of a source -> its stages in order, with their counts.
    """
    from releases.card.charts import bars

    rows = [
        (
            f"{source} · {stage.partition('_')[2]}",
            {name: float(getattr(counts, name)) for name in SERIES},
        )
        for source, stages in sources.items()
        for stage, counts in stages[:RECORD_STAGES]
        if counts.read
    ]
    return bars("Records of each source, stage by stage", rows)
