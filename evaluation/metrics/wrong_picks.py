"""What wrong picks fall for."""

from __future__ import annotations

from collections import Counter

from evaluation.metrics.figure import Measured, Scores, figure


@figure(title="Wrong picks by kind", of=("accuracy",), higher_is_better=None)
def wrong_picks(scores: Scores) -> Measured | None:
    """Share of wrong picks on the commonest kind of wrong option, and on each (GhazalBench, figure 2).

    Only of questions that say where their options come from.
    """
    kinds = Counter(one["kind"] for one in scores.details if one.get("kind"))
    if not kinds:
        return None
    total = kinds.total()
    shares = {kind: count / total for kind, count in sorted(kinds.items())}
    return Measured(max(shares.values()), units=total, detail={"shares": shares})
