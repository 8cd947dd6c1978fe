"""Whether some place among the options is chosen for its own sake."""

from __future__ import annotations

from math import sqrt

import numpy as np

from evaluation.metrics.figure import Measured, Scores, figure

FLAG = 3.0
"""Standard errors above its due from which a place is flagged."""


@figure(title="Position", of=("accuracy",), low=0.0, higher_is_better=False)
def position_preference(scores: Scores) -> Measured | None:
    """The largest share of picks that one place takes beyond its due, with a G-test over all places.

    Its due is what a system without preferences gives a place: the share of right options that stand there,
    as often as the system is right, and an equal part of its wrong picks; 1/k where right options stand at
    all k places alike. Of the questions with the number of options that most have, without unread replies.
    The detail has the picks of each place, `p`, and `flagged` where one takes over three standard errors
    more than its due.
    """
    from scipy.stats import power_divergence

    sizes = [one["options"] for one in scores.details]
    size = max(sorted(set(sizes)), key=sizes.count)
    read = [one for one in scores.details if one["options"] == size and one["pick"] is not None]
    if not read or size < 2:
        return None
    counts = np.bincount([one["pick"] for one in read], minlength=size)
    golds = np.bincount([one["gold"][0] for one in read], minlength=size) / len(read)
    right = sum(one["pick"] == one["gold"][0] for one in read) / len(read)
    due = right * golds + (1 - right) * (1 - golds) / (size - 1)
    shares = counts / len(read)
    excess = shares - due
    place = int(np.argmax(excess))
    p = (
        float(power_divergence(counts, due * len(read), lambda_="log-likelihood").pvalue)
        if due.all()
        else 1.0
    )
    is_flagged = bool(excess[place] > FLAG * sqrt(due[place] * (1 - due[place]) / len(read)))
    detail = {"picks": [int(one) for one in counts], "place": place, "p": p, "flagged": is_flagged}
    return Measured(float(excess[place]), units=len(read), detail=detail)
