"""Per-sample outputs as a data set: a config per data set, a split per system, with a card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from mihakk.evaluation.rows import ANSWER_KEY, folders_of, read_batches
from mihakk.machinery.errors import UsageError
from mihakk.machinery.markdown import code, table
from mihakk.schemas.evaluation import Answer, Score
from mihakk.schemas.suite import Suite, System

_ANSWER: Final = (
    *ANSWER_KEY,
    *("task", "language", "reply", "reasoning", "finish_reason", "likelihoods"),
    *("error", "tokens_in", "tokens_out"),
)
_SCORE: Final = (*ANSWER_KEY, "metric", "value", "status", "rule")
Row = dict[str, Any]


def answer_rows(folder: Path, system: System, sealed: frozenset[str]) -> Iterator[Row]:
    """Every answer of a system with its scores, but for `sealed` items; `folder` is the suite's."""
    for place in folders_of(folder, system.name):
        if not (place / "answers.parquet").is_file():
            continue
        scores: dict[tuple[Any, ...], Row] = {}
        for name in ("scores.parquet", "judged.parquet"):
            if (place / name).is_file():
                for batch in read_batches(place / name, Score, _SCORE):
                    for row in batch.to_pylist():
                        told = scores.setdefault(
                            _key(row), {"status": row["status"], "rule": row["rule"], "scores": {}}
                        )
                        told["scores"][row["metric"]] = row["value"]
        for batch in read_batches(place / "answers.parquet", Answer, _ANSWER):
            for row in batch.to_pylist():
                if row["item"] not in sealed:
                    yield row | scores.get(_key(row), {"status": "", "rule": "", "scores": {}})


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ANSWER_KEY)


def split_name(system: str) -> str:
    """A system's name as a split may be called: letters, digits and `_`."""
    return re.sub(r"\W+", "_", system, flags=re.ASCII).strip("_")


def write_outputs(
    suite: Suite, systems: Sequence[System], folder: Path, sealed: frozenset[str], out: Path
) -> int:
    """Writes the data set's folder; how many answers are in it.

    Raises:
        UsageError: Two systems' names differ in nothing that the name of a split can hold.
    """
    splits: dict[str, str] = {}
    for system in systems:
        if (other := splits.setdefault(split_name(system.name), system.name)) != system.name:
            raise UsageError(f"{other} and {system.name} would be one split of the outputs: rename one")
    configs: dict[str, list[str]] = {}
    count = 0
    for system in systems:
        rows: dict[str, list[Row]] = {}
        for row in answer_rows(folder, system, sealed):
            rows.setdefault(row["config"], []).append(row)
        for config, own in sorted(rows.items()):
            metrics = sorted({name for row in own for name in row["scores"]})
            table = pa.Table.from_pylist(
                [
                    {**{name: row[name] for name in (*_ANSWER, "status", "rule")}}
                    | {f"score_{name}": row["scores"].get(name) for name in metrics}
                    for row in own
                ]
            )
            path = out / config / f"{split_name(system.name)}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path, compression="zstd")
            configs.setdefault(config, []).append(system.name)
            count += len(own)
    out.mkdir(parents=True, exist_ok=True)
    (out / "README.md").write_text(_card(suite, configs, bool(sealed)), encoding="utf-8")
    return count


def _card(suite: Suite, configs: dict[str, list[str]], has_sealed: bool) -> str:
    listed = [
        {
            "config_name": config,
            "data_files": [
                {"split": split, "path": f"{config}/{split}.parquet"}
                for split in map(split_name, sorted(names))
            ],
        }
        for config, names in sorted(configs.items())
    ]
    front = {"tags": ["evaluation", "model-outputs"]} | ({"configs": listed} if listed else {})
    parts = [
        f"# Outputs of {code(suite.title)}",
        "One row per answer: the raw reply, what became of it (`status`), the reading rule that fired "
        "(`rule`) and its scores (`score_...`). Item, release, version and `content_hash` say what was "
        "asked; the items lie in the release.",
        "Answers that failed, are empty or could not be read count as the metric's worst value: they "
        "are rows too.",
    ]
    if has_sealed:
        parts.append("Items of blind splits are left out: neither replies nor scores of them are published.")
    rows = ((code(config), ", ".join(map(code, sorted(names)))) for config, names in sorted(configs.items()))
    parts.append(table(("config", "systems"), rows))
    parts.append(
        "Replies are the systems' own words, errors and offences included. Don't train a system on them that "
        "is to be measured by the same items."
    )
    head = yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=1000)
    return f"---\n{head}---\n\n" + "\n\n".join(parts) + "\n"
