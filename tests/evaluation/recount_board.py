"""What an outsider can work out from the public log of a blind board alone; imports nothing of this project.

    python -I recount_board.py LOG

Follows the chain of digests, checks every signature by the package `cryptography`, adds up what all figures
tell at most, and prints the bounds it comes to. The formulas are the two of the page on leaderboards.
"""

import base64
import hashlib
import json
import math
import pathlib
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def told_by(part, noise):
    """Nats of one figure: a Gaussian channel, or, without noise, the entropy of a count at its largest."""
    if noise == 0:
        return 0.5 * math.log(2 * math.pi * math.e * ((part["spread"] * part["questions"]) ** 2 + 1 / 12))
    return 0.5 * math.log(1 + part["spread"] ** 2 / (noise * part["se"]) ** 2)


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
    told = {"public": carried, "other": carried}
    spent = {}
    unsigned = 0
    for row in rest:
        if row["kind"] == "closed":
            for half, noise in row["noise"].items():
                told[half] += len(row["finals"]) * told_by(season["parts"][half], noise)
            continue
        if row["signature"] is None:
            unsigned += 1
        else:
            text = f"mihakk submission\n{row['file']}\n{row['signature']['signed']}\n".encode()
            key = Ed25519PublicKey.from_public_bytes(base64.b64decode(row["signature"]["key"]))
            key.verify(base64.b64decode(row["signature"]["value"]), text)
        reply = row["reply"]
        if reply and reply["told"] == "shown":
            figures = ["public", *reply["slices"]]
            cost = sum(told_by(season["parts"][part], season["noise"]) for part in figures)
            told["public"] += cost
            spent[row["card"]["team"]] = spent.get(row["card"]["team"], 0.0) + cost
        elif reply and row["nats"]:
            # Before files were signed a figure was told to be no better than an earlier one.
            told["public"] += told_by(season["parts"]["public"], season["noise"])
    bounds = {half: math.sqrt(nats / (2 * season["parts"][half]["units"])) for half, nats in told.items()}
    print(
        json.dumps(
            {"bounds": bounds, "unsigned": unsigned, "spent": spent, "gain": season["gain"], "last": before}
        )
    )


main(sys.argv[1])
