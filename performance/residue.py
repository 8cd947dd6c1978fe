"""How much of planted residue and damage the checks find: `python -m performance.residue`.

In up to 1,000 sound rows of each set, to which no other check objects, thirty of each kind are planted by
seed: openings, refusals and closings of language models, marks on the gold, letters of another list, a second
right option, unreadable words, truncated questions. What is planted was not taken from the checks' tables:
wordings come from public code and transcripts of models, garbled words from confusions of letters as scanners
and fonts make them. Counted are rows found by the check of their kind, flagged or only counted, and untouched
rows that any of the checks flags, or counts. `--curve` says how many garbled questions stand before a share
of the untouched rows in the ranking by log-odds. `--seeds` takes several draws together. Without arguments it
reads the real data that tests read; `--set FILE --language ar` reads other sets, one JSON object a line with
`question`, `options` and `gold`, the index of the right one.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.settings import ROOT
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.item import ChoiceItem, Origin
from mihakk.schemas.record import Language
from mihakk.validators.checks import check_items, gather, prepare

ROWS: Final = 1000
EACH: Final = 30
SHARES: Final = (0.002, 0.005, 0.01, 0.02, 0.05)
"""Of untouched rows, in the curve."""
Row = dict[str, Any]
"""`question`, `options` and `gold`."""
CHECKS: Final = {
    "opening": "TX27",
    "refusal": "TX27",
    "closing": "TX27",
    "mark on the gold": "CH14",
    "letter of another list": "CH15",
    "second right option": "CH16",
    "unreadable words": "TX28",
    "truncated question": "QU02",
}

PLANTED: Final[dict[str, Any]] = load_yaml(Path(__file__).with_suffix(".yaml"))
"""Wordings, marks, labels, spellings and confused letters."""


# --- planting -----------------------------------------------------------------------------------------
def _wrong(row: Row, draw: random.Random) -> int:
    return draw.choice([place for place in range(len(row["options"])) if place != row["gold"]])


def _said(wordings: list[str]) -> Callable[[Row, random.Random, Language], bool]:
    """Plants a wording around the question or an option."""

    def plant(row: Row, draw: random.Random, _: Language) -> bool:
        wording = draw.choice(wordings)
        if draw.random() < 0.5:
            row["question"] = wording.replace("{}", row["question"])
        else:
            place = draw.randrange(len(row["options"]))
            row["options"][place] = wording.replace("{}", row["options"][place])
        return True

    return plant


def _mark(row: Row, draw: random.Random, _: Language) -> bool:
    row["options"][row["gold"]] = draw.choice(PLANTED["marks"]).replace(
        "{}", row["options"][row["gold"]].strip()
    )
    return True


def _label(row: Row, draw: random.Random, _: Language) -> bool:
    """A letter before one option, or the next option inside it."""
    place = draw.randrange(len(row["options"]))
    if draw.random() < 0.4 and place + 1 < len(row["options"]):
        row["options"][place] = draw.choice(PLANTED["inner"]).format(
            row["options"][place], row["options"][place + 1]
        )
        return True
    signs = [label for label in PLANTED["labels"] if _own(label, place)] or PLANTED["labels"]
    row["options"][place] = draw.choice(signs).replace("{}", row["options"][place])
    return True


def _own(label: str, place: int) -> bool:
    """Whether a list has this label at this place."""
    letter = "".join(filter(str.isalnum, label)).casefold().removeprefix("هـ") or "ه"
    return any(letter == order[place : place + 1] for order in ("abcde", "ابجده", "12345", "١٢٣٤٥")) or (
        letter == "الف" and place == 0
    )


def _second(row: Row, draw: random.Random, language: Language) -> bool:
    """The gold again: in words, with or without its article, or in another spelling."""
    gold = row["options"][row["gold"]].strip()
    words = PLANTED["numbers"][language].split()
    made = []
    if gold in map(str, range(len(words))):
        made.append(words[int(gold)])
    if gold.casefold() in words:
        made.append(str(words.index(gold.casefold())))
    if language == "en" and 1 <= gold.count(" ") + 1 <= 6 and gold[:1].isalpha() and not gold.endswith("."):
        made.append(
            gold[4:] if gold.startswith("The ") else f"The {gold}" if draw.random() < 0.5 else f"a {gold}"
        )
    if language == "ar" and " " not in gold and len(gold) > 3 and gold.isalpha():
        made.append(gold[2:] if gold.startswith("ال") else f"ال{gold}")
    spelt = [re.sub(one, other, gold) for one, other in PLANTED["spellings"][language]]
    made += [other for other in spelt if other != gold]
    if not made or len(gold) > 60:
        return False
    row["options"][_wrong(row, draw)] = draw.choice(made)
    return True


def _unreadable(row: Row, draw: random.Random, language: Language) -> bool:
    """Half of the longer words of a question with a third of their letters confused, one at least."""
    words = row["question"].split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if len(long) < 4:
        return False
    confused = PLANTED["confused"][language]
    for place in draw.sample(long, max(3, (len(long) + 1) // 2)):
        letters = list(words[place])
        able = [at for at, letter in enumerate(letters) if letter.casefold() in confused]
        for at in draw.sample(able, min(len(able), max(1, round(len(letters) / 3)))):
            letters[at] = draw.choice(confused[letters[at].casefold()])
        words[place] = "".join(letters)
    row["question"] = " ".join(words)
    return True


def _truncated(row: Row, draw: random.Random, _: Language) -> bool:
    """A question that stops inside a word, at a comma, bracket or particle, or behind half its words."""
    question = row["question"].strip()
    words = question.split()
    if len(words) < 8:
        return False
    how = draw.choice(("word", "sign", "half"))
    if how == "word":
        places = [at for at in range(3, len(words) - 1) if len(words[at]) > 5 and words[at].isalpha()]
        if not places:
            return False
        at = draw.choice(places)
        row["question"] = " ".join([*words[:at], words[at][: draw.randint(2, len(words[at]) - 2)]])
    elif how == "sign":
        places = [
            at
            for at in range(3, len(words) - 1)
            if words[at][-1] in ",،؛;(" or len(words[at]) <= 2 or words[at][0] in '(«"“'
        ]
        places = [at for at in places if words[at][-1] not in ".?؟:)"]
        if not places:
            return False
        row["question"] = " ".join(words[: draw.choice(places) + 1])
    else:
        row["question"] = " ".join(words[: len(words) // 2])
    return True


PLANT: Final[dict[str, Callable[[Row, random.Random, Language], bool]]] = {
    "opening": _said(PLANTED["openings"]),
    "refusal": _said(PLANTED["refusals"]),
    "closing": _said(PLANTED["closings"]),
    "mark on the gold": _mark,
    "letter of another list": _label,
    "second right option": _second,
    "unreadable words": _unreadable,
    "truncated question": _truncated,
}


def planted(rows: list[Row], language: Language, seed: int) -> dict[int, str]:
    """Plants thirty of each kind, in place, one in a row at most; row numbers with their kind."""
    draw = random.Random(seed)
    left = list(range(len(rows)))
    draw.shuffle(left)
    found: dict[int, str] = {}
    for kind, plant in PLANT.items():
        count = 0
        for number in list(left):
            if count < EACH and plant(rows[number], draw, language):
                found[number] = kind
                left.remove(number)
                count += 1
    return found


# --- sets ---------------------------------------------------------------------------------------------
def _arabic(folder: Path) -> Iterator[Row]:
    with (folder / "arabicmmlu" / "dev.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            options = [row[f"Option {n}"] for n in range(1, 6) if row[f"Option {n}"].strip()]
            yield {"question": row["Question"], "options": options, "gold": "ABCDE".find(row["Answer Key"])}


def _english(folder: Path) -> Iterator[Row]:
    for file in sorted((folder / "panel" / "mmlu_redux").glob("*.csv")):
        data = file.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252")
        head = text.splitlines()[0]
        for row in csv.DictReader(text.splitlines(keepends=True), delimiter=max(",;", key=head.count)):
            if (row["error_type"] or "").casefold() == "ok" and (row["choices"] or "").startswith("["):
                yield {
                    "question": row["question"],
                    "options": ast.literal_eval(row["choices"]),
                    "gold": int(row["answer"]),
                }


def _persian(folder: Path) -> Iterator[Row]:
    with (folder / "panel" / "parsinlu_multiple_choice.jsonl").open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            options = [option for option in row["candidates"] if option.strip()]
            yield {"question": row["question"], "options": options, "gold": int(row["answer"]) - 1}


OURS: Final[dict[Language, Callable[[Path], Iterator[Row]]]] = {"ar": _arabic, "fa": _persian, "en": _english}


def sound(rows: Iterable[Row], language: Language, seed: int) -> list[Row]:
    """Up to a thousand rows drawn by seed: the gold is one of two options or more, no other check objects."""
    fit = [row for row in rows if 0 <= row["gold"] < len(row["options"]) >= 2]
    random.Random(seed).shuffle(fit)
    faulty = {
        row
        for row, check, _, severity in findings(fit, language)
        if severity != "report" and check not in CHECKS.values()
    }
    return [row for number, row in enumerate(fit) if number not in faulty][:ROWS]


def items(rows: list[Row], language: Language) -> list[ChoiceItem]:
    """The rows as an audit reads them."""
    return [
        ChoiceItem(
            id=f"row{number}",
            task="external_choice",
            language=language,
            question=row["question"],
            options=tuple(row["options"]),
            gold=(row["gold"],),
            origin=Origin(records=(f"row{number}",), generator="external", generator_version="1"),
            licence="unknown",
        )
        for number, row in enumerate(rows)
    ]


def findings(rows: list[Row], language: Language) -> list[tuple[int, str, str, str]]:
    """Row, check, detail and severity of what is found."""
    asked = items(rows, language)
    found = check_items(asked, ChecksConfig(), prepare([gather(asked)]))
    return [(int(one.subject[3:]), one.check, one.detail, one.severity) for one in found]


def measure(
    rows: list[Row], language: Language, seed: int
) -> tuple[Counter[str], Counter[str], list[str], int]:
    """Planted and found by kind, what is said of untouched rows, and how many of these there are."""
    kinds = planted(rows, language, seed)
    found = findings(rows, language)
    named = {(row, check) for row, check, *_ in found}
    hits = Counter(kind for row, kind in kinds.items() if (row, CHECKS[kind]) in named)
    wrong = {
        row: f"{severity} {check} {detail} | {rows[row]['question'][-90:]}"
        for row, check, detail, severity in sorted(found, key=lambda one: one[3], reverse=True)
        if row not in kinds and check in CHECKS.values()
    }
    return Counter(kinds.values()), hits, list(wrong.values()), len(rows) - len(kinds)


def ranked(rows: list[Row], language: Language, seed: int) -> list[float]:
    """Shares of thirty garbled questions that rank before each of `SHARES` of the others."""
    rows = [{**row} for row in rows]
    garbled = set[int]()
    for number in random.Random(seed).sample(range(len(rows)), len(rows)):
        if len(garbled) < EACH and _unreadable(rows[number], random.Random(seed + number), language):
            garbled.add(number)
    found = [(row, detail) for row, check, detail, _ in findings(rows, language) if check == "TX28"]
    odds = {row: float(re.findall(r"odds of (-?[\d.]+)", detail)[0]) for row, detail in found}
    others = sorted((odds.get(row, 0) for row in range(len(rows)) if row not in garbled), reverse=True)
    bounds = [others[int(share * len(others))] for share in SHARES]
    return [sum(odds.get(row, 0) > bound for row in garbled) / EACH for bound in bounds]


def main() -> None:
    """Prints what was found of each kind in each set as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--set", type=Path, action="append", default=[], help="a file of rows instead of the real data"
    )
    parser.add_argument(
        "--language", choices=("ar", "fa", "en"), action="append", default=[], help="of each set"
    )
    parser.add_argument("--seed", type=int, default=33)
    parser.add_argument("--seeds", type=int, default=1, help="draws taken together, from --seed on")
    parser.add_argument("--curve", action="store_true", help="the ranking of garbled questions alone")
    parser.add_argument(
        "--show", action="store_true", help="print what was missed and what is said of untouched rows"
    )
    asked = parser.parse_args()
    if len(asked.set) != len(asked.language):
        parser.error("--set and --language: give one language for each set")
    if not asked.set and not asked.data.is_dir():
        print(f"skipped: no real data in {asked.data}; give its folder by --data")
        return
    sets: list[tuple[str, Language, Iterator[Row]]] = [
        (file.stem, language, map(json.loads, file.read_text(encoding="utf-8").splitlines()))
        for file, language in zip(asked.set, asked.language, strict=True)
    ] or [(read.__name__.strip("_"), language, read(asked.data)) for language, read in OURS.items()]
    columns = (
        [f"at {share:.1%}" for share in SHARES]
        if asked.curve
        else [*PLANT, "untouched rows flagged", "counted"]
    )
    print(f"| set | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for name, language, given in sets:
        every, seeds = list(given), range(asked.seed, asked.seed + asked.seeds)
        if asked.curve:
            rows = sound(every, language, asked.seed)
            curves = zip(*(ranked(rows, language, seed) for seed in seeds), strict=True)
            print(f"| {name} ({len(rows)} rows) | {' | '.join(f'{fmean(found):.2f}' for found in curves)} |")
            continue
        counts, hits, untouched = Counter[str](), Counter[str](), 0
        wrong: list[str] = []
        for seed in seeds:
            drawn = deepcopy(sound(every, language, seed))
            planted_by_kind, found, said, others = measure(drawn, language, seed)
            counts += planted_by_kind
            hits += found
            wrong += said
            untouched += others
        flagged = sum(one.startswith("flag") for one in wrong)
        cells = [f"{hits[kind]} of {counts[kind]}" for kind in PLANT]
        cells += [
            f"{part} of {untouched} ({part / untouched:.2%})" for part in (flagged, len(wrong) - flagged)
        ]
        print(f"| {name} | {' | '.join(cells)} |")
        if asked.show:
            print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
