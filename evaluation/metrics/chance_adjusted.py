"""Accuracy less what guessing gives."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.figure import Measured, Scores, figure, mean_of


@figure(title="Above chance", of=("accuracy",), low=None)
def chance_adjusted(scores: Scores) -> Measured | None:
    """(a - c) / (1 - c), c being the share of right options: 0 for guessing, 1 for all right."""
    chance = float(np.mean([len(one["gold"]) / one["options"] for one in scores.details]))
    if chance >= 1:
        return None
    adjusted = (scores.values - chance) / (1 - chance)
    return mean_of(adjusted, scores.clusters, {"chance": chance}, bounds=(-chance / (1 - chance), 1.0))
