"""Score rows as one frame, and what has to hold before systems are compared by them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mihakk.evaluation.rows import ANSWER_KEY, read_batches
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Score

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_COLUMNS: Final = tuple(name for name in Score.model_fields if name not in ("language", "rule"))
NOTES: Final = ("other_alphabet", "run_on", "changed_answer")
"""What the reader noted that a table counts."""
COLUMN: Final = ("release", "config", "metric", "method")
"""What one column of a table is: a data set, a metric and a method."""


def load_scores(paths: Sequence[Path]) -> pd.DataFrame:
    """All scores of some files, fit to be compared.

    Raises:
        UsageError: A file is missing or no table of scores; or the scores don't compare: they were made by
            several versions of a rule, from several versions of a release, or hold an answer twice.
    """
    import pyarrow as pa

    batches = [batch for path in paths for batch in read_batches(path, Score, _COLUMNS, encoded=True)]
    if not paths:
        raise UsageError(
            "no system has scores there: `mihakk evaluate run SUITE` first, or name its folder (`--out`)"
        )
    if not batches:
        raise UsageError(f"no scores in {', '.join(map(str, paths))}: run `mihakk evaluate rescore`")
    return frame_of(pa.Table.from_batches(batches))


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Score rows as `load_scores` gives them; raises as it does where they don't compare."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [
        field.name for field in table.schema if pa.types.is_string(field.type) and field.name in _COLUMNS
    ]
    columns = [table[n].dictionary_encode() if n in texts else table[n] for n in _COLUMNS]
    table = pa.table(columns, names=list(_COLUMNS))
    notes = pc.binary_join(table.column("notes"), " ")
    for note in NOTES:
        table = table.append_column(note, pc.match_substring(notes, note))
    frame: pd.DataFrame = table.drop_columns(["notes"]).unify_dictionaries().to_pandas()
    check_comparable(frame)
    return frame


def check_comparable(frame: pd.DataFrame) -> None:
    """Refuses scores that don't compare.

    Raises:
        UsageError: As `load_scores`; the message names the systems and what differs.
    """
    blank = frame[(frame["version"] == "") | (frame["digest"] == "")]
    if len(blank):
        raise UsageError(
            f"{_models(blank)}: scores of {blank['release'].iloc[0]} that don't say which version and digest "
            "they are of: score the answers again with the release's folder"
        )
    for what, by in (
        (["signature", "scorer"], ["metric"]),
        (["reader"], ["metric", "kind", "method"]),
    ):
        _one(frame, what, by, "scored by several versions of one rule: score all answers again")
    _one(frame, ["version", "digest"], ["release", "config"], "of several versions of one release")
    _one(frame, ["content_hash"], ["release", "config", "item"], "of items that changed in between")
    _one(frame, ["revision"], ["model"], "of several revisions under one name: give each its own")
    keys = [*ANSWER_KEY, "metric"]
    twice = frame.duplicated(keys)
    if twice.any():
        row = frame[twice].iloc[0]
        raise UsageError(
            f"{row['model']}: {int(twice.sum()):,} answers are there twice, e.g. to {row['item']}: "
            "name every file of scores once"
        )


def _one(frame: pd.DataFrame, what: list[str], by: list[str], problem: str) -> None:
    """Every group has one value of each column."""
    found = frame[[*by, *what]].drop_duplicates()
    several = found[found.duplicated(by, keep=False)]
    if several.empty:
        return
    first = several.iloc[0]
    where = (frame[by] == first[by]).all(axis=1)
    values = frame[where][[*what, "model"]].drop_duplicates()
    told = "; ".join(
        sorted(
            f"{' '.join(map(str, key))} ({', '.join(sorted(set(map(str, part['model']))))})"
            for key, part in values.groupby(what, observed=True)
        )
    )
    raise UsageError(f"{' '.join(str(first[name]) for name in by)}: scores {problem}: {told}")


def _models(frame: pd.DataFrame) -> str:
    return ", ".join(sorted({str(one) for one in frame["model"]}))


def sliced(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows whose items have a fact, each value of it as a data set of its own.

    Raises:
        UsageError: No item has it; the message names those there are.
    """
    facts = frame["slices"].map(dict)
    values = facts.map(lambda one: one.get(name))
    if values.isna().all():
        known = sorted({key for one in facts for key in one})
        raise UsageError(f"no item has the fact {name!r}; there are: {', '.join(known) or 'none'}")
    found = frame[values.notna()].copy()
    found["config"] = found["config"].astype(str) + f" {name}=" + values[values.notna()].astype(str)
    return found


def without_items(frame: pd.DataFrame, items: Sequence[str], where: str) -> pd.DataFrame:
    """The scores without some items, as scores of a version of its own.

    Raises:
        UsageError: None of the items is there, or no other; `where` names their file.
    """
    gone = frame["item"].astype(str).isin(set(items))
    count = frame["item"][gone].astype(str).nunique()
    if not count:
        example = ", ".join(items[:3]) or "nothing"
        raise UsageError(
            f"{where}: none of its {len(items):,} items ({example}) has scores; items are called like "
            f"{frame['item'].iloc[0]}"
        )
    if gone.all():
        raise UsageError(f"{where} names every item: nothing is left to compare")
    found = frame[~gone].copy()
    found["version"] = found["version"].astype(str) + f", {count:,} removed"
    return found


LEAST_SHARE: Final = 0.5
"""Share of the most-answered items under which a system is left out of what all systems answered."""


def answered_by_all(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The scores of items that all systems of a data set answered, and what that leaves out.

    A system that answered less than half as many as another would leave hardly an item: it is left out.

    Raises:
        UsageError: No item is left.
    """
    import pandas as pd

    kept, notes = [], []
    for (release, config), own in frame.groupby(["release", "config"], observed=True):
        counts = own.groupby("model", observed=True)["item"].nunique()
        few = sorted(map(str, counts[counts < LEAST_SHARE * counts.max()].index))
        part = own[~own["model"].isin(few)]
        answered = part.groupby("item", observed=True)["model"].nunique()
        common = answered[answered == part["model"].nunique()].index
        if few:
            notes.append(f"{release}/{config}: left out, as they answered less than half: {', '.join(few)}.")
        total = int(own["item"].nunique())
        if len(common) < total:
            notes.append(f"{release}/{config}: the {len(common):,} of {total:,} items that all answered.")
        kept.append(part[part["item"].isin(common)])
    if not any(map(len, kept)):
        answers = frame.groupby("model", observed=True)["item"].nunique()
        told = ", ".join(f"{model} {count:,}" for model, count in sorted(answers.items()))
        raise UsageError(
            f"no item was answered by all systems (items answered: {told}): name those to compare (--systems)"
        )
    return pd.concat(kept), tuple(notes)
