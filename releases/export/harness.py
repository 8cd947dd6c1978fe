"""Loads this release's items for an evaluation harness and scores replies; part of the release itself.

The data files lie beside this file in the release, and their digests in `pinned.json`: what is scored is this
version, byte for byte, whatever a cache or a moved tag holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""The release."""
_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
LONGEST = 1 << 16
"""Characters of the longest reply that is read; a longer one repeats itself endlessly and answers nothing."""
_JOINING = {"و", "and", "ثم"}
_FOLDED = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه", "ـ": None, "\u200c": None}
)


def leave_nothing(spec: Any) -> None:
    """Remove the compiled copy that Python keeps beside a file of a release when it imports it.

    A release is only read: no run of it leaves a byte in its folder.
    """
    kept = Path(spec.cached) if spec is not None and spec.cached else None
    if kept is not None and ROOT in kept.parents:
        with contextlib.suppress(OSError):  # another process removed it first, or uses the folder
            kept.unlink()
            kept.parent.rmdir()


@cache
def pinned() -> dict[str, Any]:
    """Version, and digests of the data files by config and split."""
    stated: dict[str, Any] = json.loads(Path(__file__).with_name("pinned.json").read_text(encoding="utf-8"))
    return stated


def data_files(config: str) -> dict[str, list[str]]:
    """Split -> data files of a config, each with the digest it was released with."""
    files: dict[str, list[str]] = {}
    for split, parts in pinned()["configs"][config].items():
        for name, digest in parts.items():
            path = ROOT / name
            found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "nothing"
            if found != digest:
                raise ValueError(
                    f"{path} is not the file of version {pinned()['version']}: fetch the release again "
                    f"(expected sha256 {digest}, found {found})"
                )
            files.setdefault(split, []).append(str(path))
    return files


def load(config: str, **_: Any) -> Any:
    """The config's splits as a `datasets.DatasetDict`, read without any cache."""
    import datasets
    import pyarrow.parquet as pq

    return datasets.DatasetDict(
        {
            split: datasets.concatenate_datasets([datasets.Dataset(pq.read_table(part)) for part in parts])
            for split, parts in data_files(config).items()
        }
    )


def fold(text: str) -> str:
    """Text for comparison: marks, spaces and punctuation gone, letter variants alike."""
    bare = unicodedata.normalize("NFKD", text).translate(_FOLDED)
    return "".join(letter for letter in bare if unicodedata.category(letter)[0] in "LN").casefold()


def chosen(reply: str, labels: list[str]) -> int | None:
    """Index of the label a reply names, None when it names none or several.

    The whole reply counts first, then its first line's beginning, then labels that stand alone; `A` within
    a word is no answer.
    """
    folded = [fold(label) for label in labels]
    if fold(reply) in folded:
        return folded.index(fold(reply))
    words = [fold(word) for word in re.split(r"[\s.:،,()\[\]*«»\"']+", reply) if fold(word)]
    first = re.match(r"\W*+(\w++)\s*+[).:\-]", reply)
    if first and fold(first[1]) in folded:
        return folded.index(fold(first[1]))
    named = {folded.index(word) for word in words if word in folded}
    return named.pop() if len(named) == 1 else None


def selected(reply: str, labels: list[str]) -> set[int] | None:
    """Indices of all labels a reply lists, None where it says anything besides labels.

    What follows the last colon counts; labels are joined by spaces, commas or words for "and".
    """
    folded = [fold(label) for label in labels]
    listing = answered(reply).replace("：", ":").rpartition(":")[2]
    picked = set()
    for word in map(fold, re.split(r"[\s.,،;؛/+&()\[\]*«»\"'-]+", listing)):
        label = word if word in folded else word.removeprefix("و")
        if label in folded:
            picked.add(folded.index(label))
        elif word and word not in _JOINING:
            return None
    return picked or None


def distance(first: str, second: str) -> int:
    """Levenshtein distance in code points."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(second, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]


def answered(reply: str) -> str:
    """What a reply gives as its answer: the last answer tag's content, else all of it."""
    tagged = _ANSWER.findall(reply)
    return (tagged[-1] if tagged else reply).strip().strip("«»\"'").strip(" .،؛!")


def reference(doc: dict[str, Any]) -> str:
    """The reference text of an explanation item."""
    lines = [f"{number}. {line}" for number, line in enumerate(doc["explanations"], 1)]
    return "\n".join([*lines, doc["overall"]]).strip()


def readable(reply: str) -> str:
    """The reply, or nothing where it is longer than any answer."""
    return reply if len(reply) <= LONGEST else ""


def choice_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Accuracy of a written reply to a choice; one that names no single label counts 0 and is unparsed."""
    picked = chosen(readable(results[0]), list(doc["labels"]))
    return {"acc": float(picked in doc["gold"]), "unparsed": float(picked is None)}


def selection_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Whether a written reply lists exactly the right labels, and F1 of the list; an unread one counts 0."""
    picked, right = selected(readable(results[0]), list(doc["labels"])), set(doc["gold"])
    both = 2 * len((picked or set()) & right)
    return {
        "exact_set": float(picked == right),
        "set_f1": both / (len(picked or ()) + len(right)) if right else 0.0,
        "unparsed": float(picked is None),
    }


def likely_selection(doc: dict[str, Any], results: list[Any]) -> dict[str, float]:
    """Whether the likeliest labels, as many as are right, are the right ones."""
    order = sorted(range(len(results)), key=lambda place: -results[place][0])
    return {"exact_set": float(set(order[: len(doc["gold"])]) == set(doc["gold"]))}


def answer_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Exact match after folding, and character error rate capped at 1, against the best accepted answer."""
    given = fold(answered(readable(results[0])))
    right = [fold(text) for text in (doc["answer"], *doc["accepted"]) if fold(text)]
    # A reply twice as long as the answer has as many errors as letters at least.
    errors = min(min(1.0, distance(given[: 2 * len(one)], one) / len(one)) for one in right)
    return {"exact": float(given in right), "cer": errors, "empty": float(not given)}


def explanation_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """chrF of a poem's explanation against the reference, from 0 to 1."""
    from sacrebleu.metrics import CHRF

    given = readable(results[0])
    found = CHRF().sentence_score(given, [reference(doc)]).score / 100
    return {"chrf": found, "empty": float(not given.strip())}


if Path(__file__).with_name("pinned.json").is_file():
    leave_nothing(__spec__)
