"""Whether the order of the options changes the answer."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.figure import Measured, Scores, figure, mean_of


@figure(title="Consistent", of=("accuracy",))
def consistency(scores: Scores) -> Measured | None:
    """Share of questions where the same option, by its words, was chosen in both orders, right or wrong.

    A question that was not read in one of the orders is not consistent.
    """
    pairs = scores.by_pair()
    if not pairs:
        return None
    options = [one.get("option") for one in scores.details]
    same = [options[one] is not None and options[one] == options[other] for one, other in pairs]
    return mean_of(np.array(same, dtype=float), scores.clusters[[one for one, _ in pairs]])
