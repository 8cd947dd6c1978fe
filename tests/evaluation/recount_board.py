"""What an outsider can work out from the public log of a blind board alone; imports nothing of this project.

    python -I recount_board.py LOG

Follows the chain of digests, checks every signature by the package `cryptography`, works out the noise from
the rules, adds up what all figures tell at most, and prints the bounds it comes to, works out the intervals of
final figures, and looks whether anybody ranks above another by less than earlier seasons can have told; fails
where the log says anything else. The formulas are those of the page on leaderboards. Only who kept an earlier copy can tell
whether an owner wrote the whole log anew.
"""

import base64
import datetime
import hashlib
import json
import math
import pathlib
import statistics
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LEAST = 0.5


def told_by(part, noise):
    """Nats of one figure: a Gaussian channel."""
    return 0.5 * math.log(1 + part["spread"] ** 2 / (noise * part["se"]) ** 2)


def check_rules(season, shown, carried):
    """No part may spread less than independent golds do, and noise is what the quotas need."""
    for part in season["parts"].values():
        least = 1 / (2 * math.sqrt(part["units"]))
        assert part["se"] >= part["spread"] >= least * (1 - 1e-9), "a part spreads less than its golds can"
    days = datetime.date.fromisoformat(season["closes"]) - datetime.date.fromisoformat(season["opens"])
    files = season["per_week"] * math.ceil(days / datetime.timedelta(days=7)) * season["places"]
    most = (season["gain"] / season["parts"]["public"]["spread"]) ** 2 / 2
    room = (most - carried) * 0.8 / files
    costs = [
        sum(told_by(season["parts"][part], noise) for part in shown) for noise in (LEAST, season["noise"])
    ]
    wanted = min(costs[0], room)
    assert math.isclose(costs[1], wanted, rel_tol=1e-6), "the noise is not the one that the rules give"


def check_owners(rows):
    """A key signs for one team alone."""
    owners = {}
    for row in rows:
        if row["kind"] == "submission":
            key, team = row["signature"]["key"], row["card"]["team"]
            assert owners.setdefault(key, team) == team, "a key signs for two teams"


def span(figure, part, noise, figures, gain):
    """All p whose distance from a figure is no more than chance explains, and what was known before."""
    z = statistics.NormalDist().inv_cdf(1 - 0.025 / figures)
    sampled = 4 * (z * part["se"]) ** 2
    a, b, c = 1 + sampled, -2 * figure - sampled, figure**2 - (z * noise * part["se"]) ** 2
    root = math.sqrt(max(0, b * b - 4 * a * c))
    return max(0, (-b - root) / (2 * a) - gain), min(1, (-b + root) / (2 * a) + gain)


def check_finals(row, season, seen, gain):
    """Intervals as the rules give them, and no rank by what earlier final figures may have told alone."""
    earlier = sum(one.get("figures", 0) for one in season["earlier"])
    finals = row["finals"]
    for one in finals:
        figures = max(1, earlier + len(seen))
        assert one["figures"] == figures, "by how many figures it may be chosen"
        wanted = {
            "": span(one["other"], season["parts"]["other"], row["noise"]["other"], 1, gain),
            "public_": span(one["public"], season["parts"]["public"], row["noise"]["public"], figures, 0),
        }
        wanted["other_"] = wanted[""]
        for name, (low, high) in wanted.items():
            said = one[f"{name}low"], one[f"{name}high"]
            assert math.dist(said, (low, high)) < 3e-6, "a final interval"
        above = sum(rival["figure"] - one["figure"] > gain for rival in finals)
        below = sum(one["figure"] - rival["figure"] > gain for rival in finals)
        assert one["rank_low"] <= 1 + above, "below somebody by what was known before alone"
        assert one["rank_high"] >= len(finals) - below, "above somebody by what was known before alone"


def main(path):
    lines = pathlib.Path(path).read_bytes().splitlines(keepends=True)
    before = ""
    rows = []
    for raw in lines:
        row = json.loads(raw)
        assert row["before"] == before, "the chain is broken"
        before = hashlib.sha256(raw).hexdigest()
        rows.append(row)
    season, *rest = rows
    carried = sum(one["nats"] for one in season["earlier"])
    # What is kept for the end is no question of an earlier season's figures but the final ones.
    kept = sum(one["nats"] if one["other"] is None else one["other"] for one in season["earlier"])
    told = {"public": carried, "other": kept}
    before_finals = math.sqrt(2 * kept) * season["parts"]["other"]["spread"]
    spent, seen = {}, {}
    parts = [part for part in season["parts"] if part != "other"]
    check_rules(season, parts, carried)
    check_owners(rest)
    for row in rest:
        if row["kind"] == "closed":
            check_finals(row, season, seen, min(1, before_finals))
            for half, noise in row["noise"].items():
                cost = len(row["finals"]) * told_by(season["parts"][half], noise)
                assert math.isclose(row["nats"][half], cost, abs_tol=1e-9), "what final figures count"
                told[half] += cost
            continue
        text = f"mihakk submission\n{row['file']}\n{row['signature']['signed']}\n".encode()
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(row["signature"]["key"]))
        key.verify(base64.b64decode(row["signature"]["value"]), text)
        reply, cost = row["reply"], 0.0
        if reply and reply["told"] == "shown":
            cost = sum(told_by(season["parts"][part], season["noise"]) for part in parts)
        elif reply and reply["told"] == "known":
            assert seen.get(row["answers"]) == reply["figure"], "a known figure that nobody was told before"
        assert math.isclose(row["nats"], cost, abs_tol=1e-9), "what a figure counts"
        if cost:
            spent[row["card"]["team"]] = spent.get(row["card"]["team"], 0.0) + cost
        told["public"] += cost
        if reply and reply["figure"] is not None:
            seen.setdefault(row["answers"], reply["figure"])
    bounds = {half: math.sqrt(2 * nats) * season["parts"][half]["spread"] for half, nats in told.items()}
    print(
        json.dumps(
            {"bounds": bounds, "spent": spent, "gain": season["gain"], "last": before, "known": before_finals}
        )
    )


main(sys.argv[1])
