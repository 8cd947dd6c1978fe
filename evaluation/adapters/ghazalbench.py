"""GhazalBench: Hafez, Saadi (choices) and Shakespeare under five conditions, in the authors' own prompts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts, Row
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.settings import ROOT
from mihakk.machinery.workbook import open_workbook
from mihakk.schemas.record import Language


class _Sheet(NamedTuple):
    """One workbook: which column asks what."""

    file: str
    language: Language
    poem: str
    """Column with the number of the poem."""
    columns: Mapping[str, tuple[str, str, str]]
    """Column of the prompt -> condition, task, column of the key."""
    poet: str = ""
    """In names of records, as two poets have the same numbers of poems; Hafez has none."""
    name: str = ""
    """Beginning of the names of configs and items; the language when empty."""


_CHOICES: Final = {
    "Question (Baseline)": ("name", "continuation_choice", "Answer Key"),
    "Question (+ Prose)": ("prose", "prose_cued_choice", "Answer Key"),
    "Question (+ Para)": ("paraphrase", "paraphrase_cued_choice", "Answer Key"),
    "Question (+ Shuffle)": ("shuffle", "shuffled_choice", "Answer Key (+ Shuffle)"),
}
_SHEETS: Final = (
    _Sheet(
        "completionQsHafez.xlsx",
        "fa",
        "Ghazal Number",
        {
            "Question (Name)": ("name", "continuation", ""),
            "Question (Name + Prose)": ("prose", "prose_cued", ""),
            "Question (Name + Para)": ("paraphrase", "paraphrase_cued", ""),
            "Question (Name + Salient)": ("salient", "fragment_cued", ""),
            "Question (Name + Shuffle)": ("shuffle", "shuffled", ""),
        },
    ),
    _Sheet("multipleChoiceQsHafez.xlsx", "fa", "Ghazal Number", _CHOICES),
    # The completion sheet of Saadi is not read: its 498 rows all ask about lines of Hafez.
    _Sheet("multipleChoiceQsSaadi.xlsx", "fa", "Ghazal Number", _CHOICES, "saadi", "fa_saadi"),
    _Sheet(
        "completionQsEnglish.xlsx",
        "en",
        "Sonnet Number",
        {
            "Question (Name)": ("name", "continuation", ""),
            "Question (Name + Salient)": ("salient", "fragment_cued", ""),
            "Question (Name + Shuffle)": ("shuffle", "shuffled", ""),
        },
        "shakespeare",
    ),
)
_KINDS: Final = {
    "Correct": "right",
    "Same Ghazal": "same_poem",
    "Same Poet": "other_poem",
    "Shuffled": "shuffled",
}
_OPTION: Final = re.compile(r"^(\S+)\) (.+)$", re.MULTILINE)


def _files(folder: Path) -> list[Path]:
    """The workbooks of the folder `Poem Access` that are there; others are not asked."""
    return [folder / sheet.file for sheet in _SHEETS if (folder / sheet.file).is_file()]


def _rows(folder: Path) -> Iterator[tuple[str, tuple[_Sheet, str, Row]]]:
    """Every couplet once a condition."""
    sheets = {sheet.file: sheet for sheet in _SHEETS}
    for path in _files(folder):
        sheet = sheets[path.name]
        book = open_workbook(path)
        try:
            rows = book.worksheets[0].iter_rows(values_only=True)
            head = next(rows)
            for number, cells in enumerate(rows, 2):
                if any(value is not None for value in cells):
                    row = {name: value for name, value in zip(head, cells, strict=False) if name}
                    for column in sheet.columns:
                        yield f"{path}, row {number}", (sheet, column, row)
        finally:
            book.close()


def _ask(given: tuple[_Sheet, str, Row]) -> Iterator[Facts]:
    sheet, column, row = given
    condition, task, keys = sheet.columns[column]
    poem, couplet = int(row[sheet.poem]), int(row["Couplet Number"])
    prompt = str(row[column] or "")
    if not prompt.strip():
        raise ValueError(f"nothing in column {column!r}")
    first, second = _lines(row)
    if first not in prompt:
        raise ValueError(f"the prompt in {column!r} does not hold the couplet's first line {first!r}")
    more = _choice(prompt, str(row[keys]), second) if keys else {"kind": "answer", "answer": second}
    name = sheet.name or sheet.language
    config, of = f"{name}_{task}", f"{sheet.poet}:" if sheet.poet else ""
    slices = {"condition": condition, "record": f"{of}{poem}:{couplet}"}
    if row.get("Poetic Meter"):
        slices["metre"] = str(row["Poetic Meter"])
    yield {
        "shown": prompt,
        "content": [prompt, more],
        "item": f"ghazalbench-{config}-{poem}-{couplet}",
        "config": config,
        "task": task,
        "language": sheet.language,
        "group": f"ghazalbench-{name}-{poem}",
        "slices": slices,
        **more,
    }


def _lines(row: Row) -> tuple[str, str]:
    if "Second Line" in row:
        return str(row["First Line"]).strip(), str(row["Second Line"]).strip()
    first, mark, second = str(row["Couplet Text"]).partition(" / ")
    if not mark:
        raise ValueError("the couplet has one line")
    return first.strip(), second.strip()


def _choice(prompt: str, key: str, second: str) -> Facts:
    kinds = ast.literal_eval(key)
    found = dict(_OPTION.findall(prompt[prompt.rindex("\n\n") :]))
    if list(found) != list(kinds):
        raise ValueError(f"options {list(found)}, but a key for {list(kinds)}")
    names = [_KINDS[kind] for kind in kinds.values()]
    gold = names.index("right")
    options = [text.strip() for text in found.values()]
    if options[gold] != second:
        raise ValueError(f"the key's option is {options[gold]!r}, the couplet's second line {second!r}")
    return {
        "kind": "choice",
        "options": options,
        "labels": list(found),
        "gold": [gold],
        "option_kinds": names,
    }


ADAPTERS.add(
    "ghazalbench", Adapter("GhazalBench", _files, _rows, _ask, "ghazalbench", prompts="theirs", like="*.xlsx")
)


_PROSE: Final = ROOT / "configs" / "prompts" / "ghazalbench" / "couplet_prose.yaml"


def _prose_files(folder: Path) -> list[Path]:
    path = folder / _SHEETS[0].file
    return [path] if path.is_file() else []


def _prose_rows(folder: Path) -> Iterator[tuple[str, tuple[Row, list[str]]]]:
    """Every couplet of Hafez once, with all couplets of its ghazal."""
    hafez, asked_once = _SHEETS[0], "Question (Name)"
    own = [
        (where, row)
        for where, (sheet, column, row) in _rows(folder)
        if sheet is hafez and column == asked_once
    ]
    ghazals: dict[Any, list[str]] = {}
    for _, row in own:
        ghazals.setdefault(row.get(hafez.poem), []).append(str(row.get("Couplet Text")))
    yield from ((where, (row, ghazals[row.get(hafez.poem)])) for where, row in own)


def _ask_prose(given: tuple[Row, list[str]]) -> Iterator[Facts]:
    """The paper's table 1: a couplet to be put into prose. The workbook holds no prompt, its table 6 does."""
    row, ghazal = given
    poem, couplet, prose = int(row["Ghazal Number"]), int(row["Couplet Number"]), str(row["Prose"]).strip()
    asked, verse = load_yaml(_PROSE)["ask"]["fa"], " / ".join(_lines(row))
    prompt = f"{asked['instruction']}\n\n{asked['question'].format(verse=verse)}\n"
    yield {
        "shown": prompt,
        "fields": {"couplet": verse},
        "content": [prompt, prose],
        "item": f"ghazalbench-fa_couplet_prose-{poem}-{couplet}",
        "config": "fa_couplet_prose",
        "task": "couplet_prose",
        "language": "fa",
        "group": f"ghazalbench-fa-{poem}",
        "slices": {"record": f"{poem}:{couplet}"},
        "kind": "answer",
        "answer": prose,
        "verses": ghazal,
    }


ADAPTERS.add(
    "ghazalbench_prose",
    Adapter(
        "GhazalBench, prose",
        _prose_files,
        _prose_rows,
        _ask_prose,
        "ghazalbench",
        published={"couplet_prose": ""},
    ),
)
