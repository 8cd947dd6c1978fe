"""How the reader of replies does on published ones: `python -m performance.reading [REPLIES]`.

Reads `mmlu_pro_replies.jsonl.gz` of the panel: chain-of-thought replies to MMLU-Pro. Per model: the score by
our reading, by the published extraction, and by that extraction over what stands before the model's own next
question; then processor time for a million replies.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from time import process_time
from typing import Any, Final

from mihakk.evaluation.reading import read_choice
from performance._measure import BESIDE

LABELS: Final = tuple("ABCDEFGHIJ")
REPLIES: Final = BESIDE / "panel" / "mmlu_pro_replies.jsonl.gz"
_EXTRACTED: Final = (
    re.compile(r"answer is \(?([A-J])\)?"),
    re.compile(r".*[aA]nswer:\s*([A-J])"),
    re.compile(r"\b([A-J])\b(?!.*\b[A-J]\b)", re.DOTALL),
)
"""MMLU-Pro's own cascade."""
_OWN_QUESTION: Final = re.compile(r"\n(?:Question|Q)\b")


def extracted(reply: str) -> str:
    """What the published extraction takes from a reply."""
    return next((found[1] for one in _EXTRACTED if (found := one.search(reply))), "")


def main() -> None:
    """Prints the table and the time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("replies", type=Path, nargs="?", default=REPLIES)
    replies = parser.parse_args().replies
    if not replies.is_file():
        print(f"no replies in {replies}: name a file")
        return
    with gzip.open(replies, "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    asked = [(row["reply"], LABELS[: len(row["options"])], tuple(row["options"])) for row in rows]
    readings = [read_choice(*one) for one in asked]
    seconds = []
    for _ in range(5):
        began = process_time()
        for one in asked:
            read_choice(*one)
        seconds.append(process_time() - began)
    of_model: dict[str, list[int]] = defaultdict(lambda: [0] * 7)
    for row, reading in zip(rows, readings, strict=True):
        taken, cut = extracted(row["reply"]), extracted(_OWN_QUESTION.split(row["reply"], maxsplit=1)[0])
        told = (1, *(one == row["gold"] for one in (reading.text, taken, cut)), not reading.found)
        told += tuple(note in reading.notes for note in ("run_on", "changed_answer"))
        of_model[row["model"]] = [sum(pair) for pair in zip(of_model[row["model"]], told, strict=True)]
    print("model                    replies  read  extracted  cut by hand  unread  ran on  changed")
    for model, (count, *right, unread, ran_on, changed) in of_model.items():
        shares = "  ".join(f"{one / count:.3f}" for one in right)
        print(f"{model:24} {count:7}  {shares}  {unread:6}  {ran_on:6}  {changed:7}")
    length = sum(len(row["reply"]) for row in rows) / len(rows)
    print(f"a million replies of {length:.0f} characters: {min(seconds) / len(rows) * 1e6:.0f} s")


if __name__ == "__main__":
    main()
