"""GhazalBench: Hafez and Shakespeare under five conditions, in the authors' own prompts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from evaluation.adapters.adapter import ADAPTERS, Published, published, reason_of
from mihakk.errors import SourceChanged
from mihakk.workbook import open_workbook
from schemas.record import Language


class _Sheet(NamedTuple):
    """One workbook: which column asks what."""

    file: str
    language: Language
    poem: str
    """Column with the number of the poem."""
    columns: Mapping[str, tuple[str, str, str]]
    """Column of the prompt -> condition, task, column of the key."""


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
    _Sheet(
        "multipleChoiceQsHafez.xlsx",
        "fa",
        "Ghazal Number",
        {
            "Question (Baseline)": ("name", "continuation_choice", "Answer Key"),
            "Question (+ Prose)": ("prose", "prose_cued_choice", "Answer Key"),
            "Question (+ Para)": ("paraphrase", "paraphrase_cued_choice", "Answer Key"),
            "Question (+ Shuffle)": ("shuffle", "shuffled_choice", "Answer Key (+ Shuffle)"),
        },
    ),
    _Sheet(
        "completionQsEnglish.xlsx",
        "en",
        "Sonnet Number",
        {
            "Question (Name)": ("name", "continuation", ""),
            "Question (Name + Salient)": ("salient", "fragment_cued", ""),
            "Question (Name + Shuffle)": ("shuffle", "shuffled", ""),
        },
    ),
)
_KINDS: Final = {
    "Correct": "right",
    "Same Ghazal": "same_poem",
    "Same Poet": "other_poem",
    "Shuffled": "shuffled",
}
_OPTION: Final = re.compile(r"^(\S+)\) (.+)$", re.MULTILINE)


class GhazalBench:
    """Sheets of the folder `Poem Access`; those that are not there are not asked."""

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """The workbooks that are there."""
        return [folder / sheet.file for sheet in _SHEETS if (folder / sheet.file).is_file()]

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question per couplet and condition."""
        for sheet in _SHEETS:
            path = folder / sheet.file
            if path.is_file():
                for number, row in _rows(path):
                    for column in sheet.columns:
                        yield _question(sheet, column, row, digest, f"{path}, row {number}")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    book = open_workbook(path)
    try:
        rows = book.worksheets[0].iter_rows(values_only=True)
        head = next(rows)
        for number, row in enumerate(rows, 2):
            if any(value is not None for value in row):
                yield number, {name: value for name, value in zip(head, row, strict=False) if name}
    finally:
        book.close()


def _question(sheet: _Sheet, column: str, row: dict[str, Any], digest: str, where: str) -> Published:
    condition, task, keys = sheet.columns[column]
    try:
        poem, couplet = int(row[sheet.poem]), int(row["Couplet Number"])
        prompt = str(row[column] or "")
        if not prompt.strip():
            raise ValueError(f"nothing in column {column!r}")
        second = _second_line(row)
        more = _choice(prompt, str(row[keys]), second) if keys else {"kind": "answer", "answer": second}
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise SourceChanged(f"{where}: not a row of GhazalBench ({reason_of(error)})") from error
    config = f"{sheet.language}_{task}"
    slices = {"condition": condition, "record": f"{poem}:{couplet}"}
    if row.get("Poetic Meter"):
        slices["metre"] = str(row["Poetic Meter"])
    return published(
        prompt,
        [prompt, more],
        item=f"ghazalbench-{config}-{poem}-{couplet}",
        release="ghazalbench",
        digest=digest,
        config=config,
        task=task,
        language=sheet.language,
        group=f"ghazalbench-{sheet.language}-{poem}",
        slices=slices,
        **more,
    )


def _second_line(row: Mapping[str, Any]) -> str:
    if "Second Line" in row:
        return str(row["Second Line"]).strip()
    _, mark, second = str(row["Couplet Text"]).partition(" / ")
    if not mark:
        raise ValueError("the couplet has one line")
    return second.strip()


def _choice(prompt: str, key: str, second: str) -> dict[str, Any]:
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


ADAPTERS.add("ghazalbench", GhazalBench())
