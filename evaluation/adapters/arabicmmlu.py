"""ArabicMMLU: school and test questions with two to five options, as published in CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final

from evaluation.adapters._tables import rows_with, tables_in
from evaluation.adapters.adapter import ADAPTERS, Published, published
from evaluation.questions import listed
from mihakk.errors import SourceChanged

LABELS: Final = ("أ", "ب", "ج", "د", "ه")
_KEYS: Final = "ABCDE"
_COLUMNS: Final = ("ID", "Question", "Answer Key", *(f"Option {place}" for place in range(1, 6)))
PROMPT: Final = "{context}{question}\n\n{options}\n\nأجب برمز الخيار الصحيح وحده ({labels}).\n"


class ArabicMMLU:
    """Every CSV of the folder; rows whose key names no option are an error."""

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """The tables."""
        return tables_in(folder, "*.csv")

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question per row."""
        for path in self.files(folder):
            for where, row in rows_with(path, _COLUMNS):
                try:
                    yield _question(row, path.stem, digest)
                except ValueError as error:
                    raise SourceChanged(f"{where}: not a row of ArabicMMLU ({error})") from error


def _question(row: dict[str, str], table: str, digest: str) -> Published:
    texts = [row[f"Option {place}"].strip() for place in range(1, 6)]
    options = [text for text in texts if text]
    if texts[: len(options)] != options:
        raise ValueError("an empty option stands before another one: the key's letter is not sure")
    gold = _KEYS.index(row["Answer Key"].strip())
    if gold >= len(options):
        raise ValueError(f"the key {row['Answer Key']} names none of {len(options)} options")
    labels = LABELS[: len(options)]
    prompt = PROMPT.format(
        context=f"{row['Context'].strip()}\n\n" if row.get("Context", "").strip() else "",
        question=row["Question"].strip(),
        options=listed(labels, options),
        labels="، ".join(labels),
    )
    facts = {name: row.get(name.title(), "") for name in ("subject", "group", "level", "country")}
    return published(
        prompt,
        [prompt, gold],
        item=f"arabicmmlu-{table}-{row['ID']}",
        release="arabicmmlu",
        digest=digest,
        config="ar_school_choice",
        task="school_choice",
        kind="choice",
        language="ar",
        slices={name: value for name, value in facts.items() if value},
        options=options,
        labels=labels,
        gold=[gold],
    )


ADAPTERS.add("arabicmmlu", ArabicMMLU())
