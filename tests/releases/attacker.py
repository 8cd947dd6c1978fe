"""An attacker on a blind release: reads its public files, and guesses the golds. Uses nothing of this project.

    python tests/releases/attacker.py RELEASE [RECORD_IDS.txt [EARLIER_VERSION...]] > guesses.json

Besides the release the attacker knows how ids were made (the code is public), the ids of public records, when
poets lived, and what earlier versions printed. It gives for every attack and item its guesses as texts; several share one claim.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Row = dict[str, Any]
Guesses = dict[str, dict[str, list[str]]]
"""Attack -> item id -> guessed texts."""
ERAS = {"جاهلي": (400, 610), "أموي": (661, 750), "عباسي": (750, 1258), "مملوكي": (1250, 1517), "عثماني": (1517, 1798),
        "حديث": (1798, 2100)}  # fmt: skip
POETS = {"المتنبي": "عباسي", "امرؤ القيس": "جاهلي", "عنترة": "جاهلي", "أبو نواس": "عباسي", "جرير": "أموي",
         "الفرزدق": "أموي", "المعري": "عباسي", "أحمد شوقي": "حديث", "حافظ إبراهيم": "حديث"}  # fmt: skip
_LETTERS = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه", "ـ": "", "\u200c": " "}
)


@cache
def words(text: str) -> tuple[str, ...]:
    """Words without marks and punctuation, letter variants alike."""
    bare = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    kept = "".join(
        c if unicodedata.category(c)[0] in "LNZ" else "" if unicodedata.category(c) == "Mn" else " "
        for c in bare
    )
    return tuple(kept.casefold().split())


def fold(text: str) -> str:
    """A text as it is compared."""
    return " ".join(words(text))


def rows(release: Path) -> list[Row]:
    """Every item of the release with its split and place, as published."""
    found = []
    for path in sorted(release.glob("*/*-of-*.parquet")):
        for place, row in enumerate(pq.read_table(path).to_pylist()):
            found.append(row | {"split": path.name.split("-")[0], "place": place, "config": path.parent.name})
    return found


def texts(row: Row) -> list[str]:
    """Everything an item prints."""
    fields = [value for value in (row.get("fields") or {}).values() if value]
    told = [
        row.get("answer") or "",
        row.get("overall") or "",
        *(row.get("accepted") or ()),
        *(row.get("explanations") or ()),
    ]
    return [text for text in [row["prompt"], row["question"], row["context"], *fields, *(row.get("options") or ()),
                              *(row.get("verses") or ()), *told] if text]  # fmt: skip


def anchors(row: Row, everywhere: Counter[str]) -> set[str]:
    """Words in a row that only the row's own matter has, of what its question shows."""
    shown = words(f"{row['question']} {row['context']} {' '.join(row.get('verses') or ())}")
    size = min(3, len(shown))
    runs = {" ".join(shown[n : n + size]) for n in range(len(shown) - size + 1)}
    return {run for run in runs if everywhere[run] <= 40}


class Attacker:
    """All attacks on one release."""

    def __init__(self, release: Path, records: list[str], earlier: list[Path]) -> None:
        own = rows(release)
        self.sealed = [row for row in own if row["sealed"]]
        self.earlier = [row for folder in earlier for row in rows(folder)]
        self.own_only = len(own)
        self.rows = own + self.earlier
        self.release = release
        self.records = records
        self.folded = [{fold(text) for text in texts(row)} for row in self.rows]
        self.runs = [self._runs(row) for row in self.rows]
        self.everywhere: Counter[str] = Counter(run for runs in self.runs for run in runs)
        self.holders: dict[str, list[int]] = defaultdict(list)
        for number, runs in enumerate(self.runs):
            for run in runs:
                if self.everywhere[run] <= 40:
                    self.holders[run].append(number)
        self.offered = Counter(fold(option) for row in own for option in row.get("options") or ())

    def _runs(self, row: Row) -> set[str]:
        found = set()
        for text in texts(row):
            of = words(text)
            for size in {1, 2, 3} & {min(3, len(of))}:
                found |= {" ".join(of[n : n + size]) for n in range(len(of) - size + 1)}
        return found

    def attacks(self) -> Guesses:
        """Every attack's guesses."""
        return {
            "cross_task": self._each(self._cross_task),
            "option_intersection": self._each(self._intersection),
            "group_intersection": self._groups(),
            "rarest_option": self._each(lambda row: self._extreme(row, -1)),
            "commonest_option": self._each(lambda row: self._extreme(row, 1)),
            "unshuffled": self._each(self._unshuffled),
            "first_option": self._each(lambda row: [row["options"][0]]),
            "last_option": self._each(lambda row: [row["options"][-1]]),
            "first_by_alphabet": self._each(lambda row: [min(row["options"])]),
            "last_by_alphabet": self._each(lambda row: [max(row["options"])]),
            "place_as_in_dev": self._places(),
            "years": self._each(self._years),
            "names": self._each(self._names),
            "label_right_in_dev": self._labels(),
            "told_before": self._told_before(),
            "kept_since": self._kept_since(),
            "auditors_own_answers": self._auditors(),
            **{f"digest_{name}": self._digests(name) for name in ("id", "pair_id", "content_hash", "group")},
        }

    def _labels(self) -> dict[str, list[str]]:
        """The label that is right most often in dev, of those offered."""
        right: Counter[tuple[str, str]] = Counter()
        offered: Counter[tuple[str, str]] = Counter()
        for row in self.rows[: self.own_only]:
            if not row["sealed"] and row["kind"] == "choice":
                offered.update((row["config"], option) for option in row["options"])
                right.update((row["config"], row["options"][place]) for place in row["gold"])

        def guess(row: Row) -> list[str]:
            rates = {o: right[row["config"], o] / max(1, offered[row["config"], o]) for o in row["options"]}
            return [o for o in row["options"] if rates[o] == max(rates.values())]

        return self._each(guess)

    def _told_before(self) -> dict[str, list[str]]:
        """The gold that an earlier version printed of the same question."""
        told = {}
        for row in self.earlier:
            if not row["sealed"]:
                golds = (
                    [row["options"][n] for n in row["gold"]]
                    if row["kind"] == "choice"
                    else [row.get("answer")]
                )
                told[row["task"], fold(row["question"] + row["context"])] = [gold for gold in golds if gold]
        return self._each(lambda row: told.get((row["task"], fold(row["question"] + row["context"]))))

    def _kept_since(self) -> dict[str, list[str]]:
        """Where a wrong option was exchanged, the right one is among those that stayed."""
        before = {row["question"]: set(row["options"]) for row in self.earlier if row["kind"] == "choice"}

        def guess(row: Row) -> list[str]:
            kept = [one for one in row["options"] if one in before.get(row["question"], row["options"])]
            return kept if len(kept) < len(row["options"]) else []

        return self._each(guess)

    def _auditors(self) -> dict[str, list[str]]:
        """What auditors answered without seeing the gold, where that was no other answer."""
        path = self.release / "audit" / "scores.parquet"
        said: dict[str, list[str]] = defaultdict(list)
        for row in pq.read_table(path).to_pylist() if path.is_file() else ():
            if row.get("blind_answer") and not row.get("blind_differs"):
                said[row["item"]].append(row["blind_answer"])

        def guess(row: Row) -> list[str]:
            if row["kind"] != "choice":
                return said.get(row["id"], [])
            places = {ord(one[0]) - ord("A") for one in said.get(row["id"], []) if one[0].isalpha()}
            return [row["options"][n] for n in places if n < len(row["options"])]

        return self._each(guess)

    def _digests(self, name: str) -> dict[str, list[str]]:
        """The option whose place is a digest's remainder."""
        return self._each(lambda row: [row["options"][int(row[name][-8:], 16) % len(row["options"])]])

    def _each(self, attack: Any) -> dict[str, list[str]]:
        found = {}
        for row in self.sealed:
            try:
                guesses = attack(row)
            except (KeyError, TypeError, IndexError, ValueError):  # it has no options
                continue
            if guesses:
                found[row["id"]] = guesses
        return found

    def _others(self, row: Row) -> list[int]:
        """Rows that print what this question shows, the row and its other order aside."""
        mine = {n for run in anchors(row, self.everywhere) for n in self.holders.get(run, ())}
        pair = row.get("pair_id")
        return [
            n
            for n in sorted(mine)
            if self.rows[n]["id"] != row["id"] and not (pair and self.rows[n].get("pair_id") == pair)
        ]

    def _cross_task(self, row: Row) -> list[str]:
        """The option, or what follows the shown words, that other rows about the same matter print."""
        others = self._others(row)
        if row["kind"] == "choice":
            seen = Counter(
                option for option in row["options"] for n in others
                if any(fold(option) in text for text in self.folded[n])
            )  # fmt: skip
            best = max(seen.values(), default=0)
            return [option for option, count in seen.items() if count == best]
        shown = fold(row["question"])
        found = []
        for n in others:
            fields = {fold(value) for value in (self.rows[n].get("fields") or {}).values() if value}
            for text in fields | {fold(self.rows[n]["context"])}:
                for cut in range(3, len(text.split()) - 1):
                    head, tail = " ".join(text.split()[:cut]), " ".join(text.split()[cut:])
                    if head in shown and tail not in shown:
                        found.append(tail)
            found += [text for text in map(fold, self.rows[n].get("options") or ()) if text not in shown]
            found += [fold(self.rows[n].get("answer") or "")]
        return [text for text in dict.fromkeys(found) if text]

    def _intersection(self, row: Row) -> list[str]:
        """The option that questions about the same matter have in common."""
        options = set(map(fold, row["options"]))
        left = options
        for n in self._others(row):
            other = set(map(fold, self.rows[n].get("options") or ()))
            left = left & other or left
        return [] if left == options else [option for option in row["options"] if fold(option) in left]

    def _groups(self) -> dict[str, list[str]]:
        """Couplets of one group share their metre: what all their options have in common."""
        together: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.sealed:
            if row["kind"] == "choice":
                together[row["config"], row["group"]].append(row)
        found = {}
        for members in together.values():
            counts = Counter(option for row in members for option in row["options"])
            for row in members:
                best = max(counts[option] for option in row["options"])
                found[row["id"]] = [option for option in row["options"] if counts[option] == best]
        return found

    def _extreme(self, row: Row, sign: int) -> list[str]:
        counts = {option: sign * self.offered[fold(option)] for option in row["options"]}
        return [option for option, count in counts.items() if count == max(counts.values())]

    def _unshuffled(self, row: Row) -> list[str]:
        """A line printed elsewhere that has the very words of a shuffled one, in another order."""
        if row["kind"] == "choice":
            bags = Counter(" ".join(sorted(words(option))) for option in row["options"])
            alike = [option for option in row["options"] if bags[" ".join(sorted(words(option)))] > 1]
            pair = row.get("pair_id")
            return [
                option for option in alike
                if any(fold(option) in text for n, folded in enumerate(self.folded) for text in folded
                       if self.rows[n]["id"] != row["id"] and not (pair and self.rows[n].get("pair_id") == pair))
            ]  # fmt: skip
        shown = words(row["question"])
        found = []
        for n in self._others(row):
            for text in self.folded[n]:
                of = text.split()
                if (
                    3 <= len(of) <= 12
                    and " ".join(of) not in " ".join(shown)
                    and not Counter(of) - Counter(shown)
                ):
                    found.append(text)
        return list(dict.fromkeys(found))

    def _places(self) -> dict[str, list[str]]:
        """Where the gold stands most often in dev."""
        places: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
        for row in self.rows:
            if not row["sealed"] and row["kind"] == "choice":
                places[row["config"], row["order"]].update(row["gold"])
        return self._each(
            lambda row: [row["options"][places[row["config"], row["order"]].most_common(1)[0][0]]]
        )

    def _years(self, row: Row) -> list[str]:
        """The era by a year in whatever is said of the item."""
        said = " ".join(
            str(row.get(name) or "")
            for name in ("attribution", "licence", "subset", "metadata", "origin", "fields")
        )
        years = [int(year) for year in re.findall(r"\b\d{3,4}\b", said)]
        return [
            option for option in row["options"] for era, (start, end) in ERAS.items()
            if era in fold(option) and any(start <= year < end for year in years)
        ]  # fmt: skip

    def _names(self, row: Row) -> list[str]:
        """The era by a poet named in the item."""
        said = fold(
            " ".join(
                str(row.get(name) or "")
                for name in ("attribution", "metadata", "fields", "question", "context")
            )
        )
        return [
            option for option in row["options"] for poet, era in POETS.items()
            if fold(poet) in said and fold(era) in fold(option)
        ]  # fmt: skip

    def sources(self) -> dict[str, str]:
        """Item -> public record, by trying all ids that an item of a record could have, and by its group."""
        known = {}
        kinds = {(row["task"], row["language"]) for row in self.sealed}
        for record in self.records:
            for task, language in kinds:
                for variant in ("", "order0", "order1"):
                    name = "\x1f".join([task, language, record, "\x1e", variant]).encode()
                    known[f"{language}-{task}-{hashlib.blake2b(name, digest_size=8).hexdigest()}"] = record
        groups = {}
        for record in self.records:
            for work in {record, record.rpartition(":")[0]}:
                groups |= {work: record} | {
                    getattr(hashlib, name)(work.encode()).hexdigest(): record
                    for name in ("sha256", "md5", "sha1", "blake2b")
                }
        found = {row["id"]: known[row["id"]] for row in self.sealed if row["id"] in known}
        return found | {row["id"]: groups[row["group"]] for row in self.sealed if row["group"] in groups}


def main(release: Path, records: list[str], earlier: list[Path]) -> dict[str, Any]:
    """What the attacker has to say of a release."""
    attacker = Attacker(release, records, earlier)
    return {
        "guesses": attacker.attacks(),
        "sources": attacker.sources(),
        "sealed": [row["id"] for row in attacker.sealed],
    }


if __name__ == "__main__":
    listed = Path(sys.argv[2]).read_text("utf-8").split("\n") if len(sys.argv) > 2 else []
    told = main(Path(sys.argv[1]), listed, [Path(one) for one in sys.argv[3:]])
    json.dump(told, sys.stdout, ensure_ascii=False)
