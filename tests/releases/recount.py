"""What a reader of a release counts again from its votes; uses pandas, SciPy and krippendorff alone.

python tests/releases/recount.py RELEASE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import krippendorff
import pandas as pd
from scipy.stats import beta


def soundness(votes: pd.DataFrame, needed: int) -> str:
    """sound, defective, disputed or open, of the last votes on one content."""
    ruling = votes[votes.adjudicator].tail(1)
    counted = ruling if len(ruling) else votes
    if not len(ruling) and len(votes) < needed:
        return "open"
    bad = int((counted.decision != "keep").sum())
    good = len(counted) - bad
    if 0 in (good, bad) or (len(counted) >= 3 and good != bad):
        return "defective" if bad > good else "sound"
    return "disputed"


def miss_rate(reviewed: pd.DataFrame, votes: pd.DataFrame) -> dict[str, float]:
    """The weighted rate and its one-sided Clopper-Pearson bound at the effective sample size."""
    last = votes[votes["last"]].sort_values("vote")
    found = []
    for row in reviewed[reviewed.sampled].itertuples():
        mine = last[(last["item"] == row.item) & (last.content_hash == row.content_hash)]
        found.append((row.stratum, row.stratum_items, soundness(mine, row.votes_needed)))
    frame = pd.DataFrame(found, columns=["stratum", "items", "state"])
    strata = frame.groupby("stratum").agg(
        size=("items", "first"),
        drawn=("state", "size"),
        sound=("state", lambda one: (one == "sound").sum()),
        missed=("state", lambda one: (one == "defective").sum()),
        disputed=("state", lambda one: (one == "disputed").sum()),
    )
    strata["decided"] = strata.sound + strata.missed + strata.disputed
    known, share = strata["size"].sum(), strata["size"].sum() / reviewed.unflagged_items.iloc[0]
    cases = known**2 / (strata["size"] ** 2 / strata.drawn).sum()
    # What nobody answered, and what no sampled stratum holds, is at worst defective.
    bad = cases * (strata["size"] * (1 - strata.sound / strata.drawn)).sum() / known
    told = strata[strata.decided > 0]
    return {
        "sampled": int(strata.decided.sum()),
        "defective": int(strata.missed.sum()),
        "disputed": int(strata.disputed.sum()),
        "rate": float((told["size"] * told.missed / told.decided).sum() / told["size"].sum()),
        "upper": 1 - share * (0 if bad >= cases else 1 - float(beta.ppf(0.95, bad + 1, cases - bad))),
    }


def alpha(votes: pd.DataFrame) -> float:
    """Krippendorff's nominal alpha of the decision over the first votes."""
    first = votes[votes["first"]]
    table = first.pivot_table(
        index=["item", "content_hash"], columns="decision", values="vote", aggfunc="count"
    )
    counts = table.fillna(0).to_numpy(dtype=int)
    counts = counts[counts.sum(axis=1) > 1]
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def overturned(reviewed: pd.DataFrame, votes: pd.DataFrame) -> dict[str, list[int]]:
    """Auditor/criterion -> scores of 0 that somebody judged, and those that most of them found met."""
    last = votes[votes["last"]]
    found: dict[str, list[int]] = {}
    for row in reviewed.itertuples():
        mine = last[(last["item"] == row.item) & (last.content_hash == row.content_hash)]
        for said in row.scores:
            met = sum(said["criterion"] in one for one in mine.met)
            unmet = sum(said["criterion"] in one for one in mine.unmet)
            if said["score"] == 0 and met + unmet:
                counts = found.setdefault(f"{said['auditor']}/{said['criterion']}", [0, 0])
                counts[0] += 1
                counts[1] += met > unmet
    return found


def recount(release: Path) -> dict[str, Any]:
    """Every figure on people's work."""
    reviewed = pd.read_parquet(release / "audit" / "reviewed.parquet")
    votes = pd.read_parquet(release / "audit" / "votes.parquet")
    return {
        "miss_rate": miss_rate(reviewed, votes),
        "alpha": alpha(votes),
        "overturned": overturned(reviewed, votes),
    }


if __name__ == "__main__":
    print(json.dumps(recount(Path(sys.argv[1]))))
