"""Questions: the items of a release, with what counts as right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from mihakk.generators.abilities import ability_of
from mihakk.machinery.configs import load_text, validate
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.parquet import readable
from mihakk.schemas.evaluation import Question

_TAKEN: Final = (
    *("content_hash", "version", "task", "kind", "language", "group"),
    *("options", "labels", "gold", "option_kinds", "pair_id", "order", "answer", "accepted"),
    *("verses", "explanations", "overall"),
)
MANIFEST: Final = "MANIFEST.sha256"


class _Row(BaseModel):
    """What a row of a release has whatever made it."""

    id: str
    task: str
    sealed: bool | None = None
    metadata: dict[str, str | None] | None = None
    origin: dict[str, Any] | None = None
    gold: list[int] | None = None


def questions_of_release(
    folder: Path, name: str = "", split: str = "test", *, sealed: bool = False
) -> dict[str, Question]:
    """The questions of a release folder, by item id.

    Args:
        folder: Checked files of one version, as `releases.load` fetches them.
        name: Of the release; as its task files name it when empty.
        split: Which split.
        sealed: Take the questions of a blind split too, without their golds.

    Raises:
        UsageError: The folder is no release, has no such split, or its golds are sealed.
    """
    rows = rows_of_release(folder, name, split, sealed=sealed)
    return {question.item: question for question, _ in rows}


def rows_of_release(
    folder: Path, name: str = "", split: str = "test", configs: Iterable[str] = (), *, sealed: bool = False
) -> Iterator[tuple[Question, dict[str, Any]]]:
    """Questions with the rows they come from, as `questions_of_release`; of `configs`, if there are any."""
    import pyarrow.parquet as pq

    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise UsageError(f"{folder} is not a release: it has no {MANIFEST}")
    digest = sha256(manifest.read_bytes())
    name = name or release_name(folder)
    wanted = set(configs)
    seen = set()
    for path in sorted(folder.glob(f"*/{split}-*-of-*.parquet")):
        if wanted and path.parent.name not in wanted:
            continue
        seen.add(path.parent.name)
        with readable(path):
            rows = pq.ParquetFile(path).read().to_pylist()
        for row in rows:
            validate(row, _Row, str(path))
            shown = row | {"sealed": False} if sealed else row
            try:
                question = question_of_row(shown, release=name, digest=digest, config=path.parent.name)
            except UsageError as error:
                raise UsageError(f"{path}: {error}") from error
            if misfit := _misfit(question, sealed=sealed):
                raise UsageError(f"{path}: {question.item} has {misfit}; fetch the release again")
            yield question, row
    if missing := sorted(wanted - seen):
        raise UsageError(f"{folder} has no config {missing[0]!r} with a split {split!r}")
    if not seen:
        raise UsageError(f"{folder} has no items in a split {split!r}")


def _misfit(question: Question, *, sealed: bool) -> str:
    """What no question that can be scored has; empty if nothing."""
    options = len(question.options)
    if options != len(question.labels):
        return f"{options} options and {len(question.labels)} labels"
    if question.gold and not 0 <= min(question.gold) <= max(question.gold) < options:
        return f"the gold {list(question.gold)} among {options} options"
    right = (question.gold, question.answer, question.accepted, question.explanations)
    return "" if sealed or any(right) else "no gold"


def question_of_row(row: Mapping[str, Any], *, release: str, digest: str, config: str) -> Question:
    """The question behind one row of a release.

    Raises:
        UsageError: Its gold is sealed.
    """
    if row.get("sealed"):
        raise UsageError(
            f"{release}: the golds of {row['id']} are sealed; score with the opened file of answers"
        )
    taken = {field: row[field] for field in _TAKEN if row.get(field) is not None}
    facts = {key: value for key, value in (row.get("metadata") or {}).items() if value}
    origin = row.get("origin") or {}
    # Questions from one couplet or idiom, under whatever condition, are compared with each other by it.
    record = next(iter(origin.get("records") or ()), None)
    more = {"dialect": row.get("dialect"), "strategy": origin.get("strategy"), "record": record}
    return validate(
        taken
        | {
            "item": row["id"],
            "release": release,
            "digest": digest,
            "config": config,
            "ability": row.get("ability") or ability_of(row["task"]),
            "multiple": row.get("multiple") or len(row.get("gold") or ()) > 1,
            "slices": facts | {key: value for key, value in more.items() if value},
        },
        Question,
        f"{release}: {row['id']}",
    )


def release_name(folder: Path) -> str:
    """Name of a release as its own files say it.

    Raises:
        UsageError: They don't.
    """
    pinned = folder / "eval" / "lm_eval" / "pinned.json"
    if not pinned.is_file():
        raise UsageError(f"{folder} does not say what release it is: give its name")
    return load_text(pinned, "name")


def listed(labels: Iterable[str], options: Iterable[str], mark: str = ")") -> str:
    """Options as prompts show them, a line each, behind their labels."""
    return "\n".join(f"{label}{mark} {option}" for label, option in zip(labels, options, strict=True))
