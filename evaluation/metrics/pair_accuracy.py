"""Questions answered right in both orders of their options."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.figure import Measured, Scores, figure, mean_of


@figure(title="Pairs right", of=("accuracy",))
def pair_accuracy(scores: Scores) -> Measured | None:
    """Share of questions answered right in both orders, of those asked in both."""
    pairs = np.array(scores.by_pair())
    if not pairs.size:
        return None
    return mean_of(np.minimum(*scores.values[pairs.T]), scores.clusters[pairs[:, 0]])
