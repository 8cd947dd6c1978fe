"""Whether a right option is found more easily near the top."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.figure import Measured, Scores, figure, mean_of


@figure(title="Order gap", of=("accuracy",), low=-1.0, higher_is_better=None)
def order_gap(scores: Scores) -> Measured | None:
    """Accuracy with the right option in the earlier of its two places less that in the later, by question.

    Signed; the interval is that of the paired difference. Where there are two options: first less last.
    """
    gaps, clusters = [], []
    for one, other in scores.by_pair():
        first, second = scores.details[one]["gold"][0], scores.details[other]["gold"][0]
        if first == second:
            continue
        sign = 1.0 if first < second else -1.0
        gaps.append(sign * (scores.values[one] - scores.values[other]))
        clusters.append(scores.clusters[one])
    return mean_of(gaps, np.array(clusters), bounds=(-1.0, 1.0)) if gaps else None
