"""A suite's results as a folder of static pages: three languages, data in scripts that load on demand."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from mihakk.evaluation.judges.run import marks_of
from mihakk.evaluation.published import figures_of
from mihakk.evaluation.report import prompts_of, results_of, score_files
from mihakk.evaluation.running.asking import Fetch, sealed_items
from mihakk.evaluation.table import Results, load_scores
from mihakk.evaluation.table.column import Column, columns_of
from mihakk.evaluation.table.moves import Moves, move_sheets, moves
from mihakk.evaluation.table.scores import COLUMN
from mihakk.evaluation.table.sheets import Sheet, sheets
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import UsageError
from mihakk.reports.leaderboard.figures import (
    board_columns,
    changes_of,
    moved_facts,
    not_run,
    slices_of,
    system_facts,
)
from mihakk.reports.leaderboard.items import PAGE, index_of, pages_of
from mihakk.reports.templates import direction, style, templates
from mihakk.schemas.suite import Suite, System

HERE: Final = Path(__file__).parent / "templates"
LANGUAGES: Final = {"en": "English", "ar": "العربية", "fa": "فارسی"}
FILES: Final = {"en": "index.html", "ar": "ar.html", "fa": "fa.html"}
SEALED_GROUPS: Final = 50
"""Poems or idioms that a slice of a blind split needs to be shown."""


class Board(NamedTuple):
    """What a leaderboard is made of."""

    suite: Suite
    systems: Sequence[System]
    """Those of the suite, whether they have answers or not."""
    folder: Path
    """The suite's folder of answers and scores."""
    fetch: Fetch
    """Finds a release's folder."""
    day: date
    blind: Path | None = None
    """`board.json` of a blind board, shown beside."""
    before: Path | None = None
    """Folder of the same systems' scores on the version before: how ranks moved since is shown."""
    transcripts: str = ""
    """Where Inspect's viewer of whole transcripts lies, as the pages link it."""


class Written(NamedTuple):
    """What was written."""

    folder: Path
    systems: int
    items: int
    files: int
    sealed: int
    """Items of blind splits, of which nothing is shown."""


def write_site(board: Board, out: Path) -> Written:
    """Writes the whole folder; what lay there before is replaced when all is written.

    Raises:
        UsageError: There are no scores, they don't compare, or the folder holds something else.
    """
    if out.exists() and not (out / FILES["en"]).is_file() and (out.is_file() or any(out.iterdir())):
        raise UsageError(f"{out} holds something other than a leaderboard: name an empty folder")
    scores = load_scores(score_files(board.folder, board.systems))
    suite = board.suite
    found = results_of(suite, scores)
    columns = columns_of(scores, COLUMN)
    sealed = sealed_items(board.suite, board.fetch)
    names = [one.name for one in board.systems]
    unfinished = out.with_name(f".{out.name}.writing")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "data").mkdir(parents=True)
    since = _since(board, scores, sealed)
    facts = _facts(board, found, columns, scores)
    if since is not None:
        changes = changes_of(board.fetch(part.release)[0] for part in board.suite.parts if part.release)
        facts["moves"] = moved_facts(since, facts["columns"], names, changes)
    for column in facts["columns"]:
        column["drill"] = bool(column["id"].startswith("c"))
    items = _write_items(board, columns, sealed, unfinished / "data", facts)
    _script(unfinished / "data" / "board.js", "board", facts)
    shown = sheets(found) + (move_sheets(since) if since is not None else [])
    _write_pages(facts, shown, [*found.notes, *marks_of(board.suite, board.systems)], unfinished)
    shutil.rmtree(out, ignore_errors=True)
    unfinished.rename(out)
    files = sum(path.is_file() for path in out.rglob("*"))
    return Written(out, len(names), items, files, len(sealed))


def _facts(board: Board, found: Results, columns: Sequence[Column], scores: Any) -> dict[str, Any]:
    names = [one.name for one in board.systems]
    revisions = scores[["model", "revision"]].drop_duplicates().astype(str)
    releases = scores[["release", "version", "digest"]].drop_duplicates().astype(str)
    made = board_columns(found, columns, names)
    return {
        "suite": board.suite.name,
        "title": board.suite.title,
        "day": str(board.day),
        "pinned": board.suite.pinned,
        "systems": system_facts(board.systems, dict(revisions.itertuples(index=False, name=None))),
        "releases": sorted(releases.to_dict("records"), key=lambda one: (one["release"], one["version"])),
        "columns": made,
        "metrics": {one.metric.name: one.metric.title for one in columns},
        "page": PAGE,
        "not_run": not_run(board.suite, board.systems, made, board.folder),
        "published": [
            one.model_dump(mode="json", exclude={"column"}) | {"figures": figures_of(one)}
            for one in board.suite.published
        ],
        "judged": board.suite.judges is not None,
        "blind": _blind(board.blind),
        "moves": None,
        "transcripts": board.transcripts,
    }


def _since(board: Board, scores: Any, sealed: frozenset[str]) -> Moves | None:
    """Both versions compared; of data sets with sealed items nothing, as one item's effect tells its gold."""
    if board.before is None:
        return None
    files = score_files(board.before, board.systems)
    if not files:
        raise UsageError(
            f"none of the systems has scores in {board.before}: name the suite's folder on the version before"
        )
    shut = set(scores.loc[scores["item"].astype(str).isin(sealed), "config"].astype(str))
    before = load_scores(files)
    open_before, open_now = (one[~one["config"].astype(str).isin(shut)] for one in (before, scores))
    return moves(open_before, open_now, seed=board.suite.seed) if len(open_now) else None


def _blind(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        told: dict[str, Any] = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{path} is not a board.json of `mihakk evaluate score`: {error}") from error
    if not isinstance(told, dict) or "entries" not in told:
        raise UsageError(f"{path} is not a board.json of `mihakk evaluate score`: it has no `entries`")
    return told


def _write_items(
    board: Board,
    columns: Sequence[Column],
    sealed: frozenset[str],
    folder: Path,
    facts: dict[str, Any],
) -> int:
    """Slices, index and pages of every data set; how many items have a page of their own."""
    asked, names = prompts_of(board.suite, board.fetch, sealed), [one.name for one in board.systems]
    shown: dict[tuple[str, str, str], str] = {}
    count = 0
    by_id = {one["id"]: one for one in facts["columns"]}
    for number, column in enumerate(columns):
        key = f"c{number}"
        told = by_id[key]
        is_sealed = bool(sealed & set(map(str, column.items)))
        parts = slices_of(column, least_groups=SEALED_GROUPS if is_sealed else 1)
        _script(folder / f"{key}-slices.js", f"{key}-slices", {"slices": parts, "pairs": told.pop("pairs")})
        told["items"] = len(column.items)
        if is_sealed:
            told["sealed"] = True
            continue
        _script(folder / f"{key}-items.js", f"{key}-items", index_of(column, names))
        of = (column.release, column.config, column.method)
        # Replies are the same whatever they are scored by.
        told["pages"] = shown.setdefault(of, key)
        if shown[of] != key:
            continue
        count += len(column.items)
        for page, rows in enumerate(pages_of(column, asked, board.folder, names)):
            _script(folder / key / f"{page}.js", f"{key}/{page}", rows)
    return count


def _script(path: Path, name: str, value: Any) -> None:
    """A data file as a script, which a page from disk may load where it may fetch nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"mihakk(" + orjson.dumps(name) + b"," + orjson.dumps(value) + b");\n")


def _write_pages(
    facts: Mapping[str, Any], shown: Sequence[Sheet], notes: Sequence[str], folder: Path
) -> None:
    environment = templates(HERE)
    page = environment.get_template("board.html.jinja")
    for language, file in FILES.items():
        text = page.render(
            facts=facts,
            words=words(language),
            language=language,
            dir=direction(language),
            languages=[(code, name, FILES[code]) for code, name in LANGUAGES.items()],
            as_json=orjson.dumps(words(language)).decode().replace("<", "\\u003c"),
        )
        (folder / file).write_text(text, encoding="utf-8")
    tables = environment.get_template("tables.html.jinja")
    text = tables.render(facts=facts, sheets=shown, notes=notes)
    (folder / "tables.html").write_text(text, encoding="utf-8")
    sheet = style() + (HERE / "board.css").read_text(encoding="utf-8")
    (folder / "style.css").write_text(sheet, encoding="utf-8")
    shutil.copyfile(HERE / "board.js", folder / "board.js")


@cache
def words(language: str) -> dict[str, str]:
    """The pages' own words in one language."""
    return {name: told[language] for name, told in load_yaml(HERE.parent / "words.yaml").items()}
