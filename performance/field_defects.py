"""What rules, suspects and auditors find of defects that others have stated of published benchmarks.

`python -m performance.field_defects fetch` brings the files, `... table` prints the table; `--auditors NAME`
asks two models about the rows named, at most `--per-defect` of each set.

A row counts as found where a check blocks or flags it, or merges it as a copy. The share of the other rows
that are objected to in the same way stands beside it, as who objects to all finds all. Suspects are the rows
in the first tenth by the answers of systems, where anybody has published such answers.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import numpy as np
import pyarrow.parquet as pq
import yaml

from mihakk.evaluation.statistics.wrong_golds import gold_odds
from mihakk.machinery.ids import sha256
from mihakk.machinery.settings import ROOT, settings
from mihakk.pipeline.external_audit import AuditJob, run_audit

SET: Final = Path(__file__).with_suffix(".yaml")
FILES: Final = "https://raw.githubusercontent.com"
"""Where files lie by repository, commit and path."""
PINS: Final = Path(__file__).with_name("field_defects.sha256")
"""Digests of the files as fetched, in the form that `sha256sum -c` reads."""
HEAD: Final = (
    *("set", "stated by", "kind", "rows named", "blocked", "flagged", "merged", "found in all"),
    *("of the other rows", "suspects", "auditors"),
)
LIST: Final = 0.1
"""Share of all rows that are suspects."""


def shared() -> Path:
    """Folder of real data that is no part of the repository."""
    return Path(os.environ.get("MIHAKK_SHARED_DATA", ROOT.parent / "shared" / "data"))


def fetched(defect: dict[str, Any], folder: Path) -> Path:
    """Where the file of a defect lies, if it was fetched."""
    if "panel" in defect:
        return shared() / "panel" / str(defect["panel"])
    told = defect["file"]
    return folder / defect["name"] / str(told.get("save") or told.get("member") or Path(told["path"]).name)


def fetch(defects: list[dict[str, Any]], folder: Path) -> None:
    """Brings every file at its commit, unpacked, and compares it with its digest."""
    pins = (
        dict(line.split("  ")[::-1] for line in PINS.read_text("utf-8").splitlines())
        if PINS.is_file()
        else {}
    )
    for defect in defects:
        if "panel" in defect:
            continue
        told, target = defect["file"], fetched(defect, folder)
        address = f"{FILES}/{told['repository']}/{told['commit']}/{told['path']}"
        with urlopen(address) as answer:  # nosec B310 # a constant, which tests point at themselves
            data = answer.read()
        if "member" in told:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                data = archive.extractfile(told["member"]).read()  # type: ignore[union-attr]
        elif told["path"].endswith(".gz"):
            data = gzip.decompress(data)
        name = target.relative_to(folder).as_posix()
        if pins.get(name, sha256(data)) != sha256(data):
            raise SystemExit(f"{name} is not what it was: sha256 {sha256(data)}, stated {pins[name]}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        print(f"{sha256(data)}  {name}")


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file as they stand."""
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    if path.suffix == ".json":
        return list(json.loads(path.read_bytes()))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def at(row: Any, path: str) -> Any:
    """The value at a path: `question.choices[].text`."""
    step, _, rest = path.partition(".")
    value = row[step.removesuffix("[]")]
    if not rest:
        return value
    return [at(one, rest) for one in value] if step.endswith("[]") else at(value, rest)


def named(rows: list[dict[str, Any]], how: dict[str, Any]) -> set[int]:
    """Numbers of the rows that a statement names."""
    if how.get("lines") == "all":
        return set(range(len(rows)))
    if "lines" in how:
        return {line - 1 for line in how["lines"]}
    if "matches" in how:
        return {
            n for n, row in enumerate(rows) if re.search(how["matches"], " ".join(map(str, row.values())))
        }
    column = how["column"]
    if "values" in how:
        return {number for number, row in enumerate(rows) if row[column] in how["values"]}
    return {number for number, row in enumerate(rows) if row[column] not in row[how["not_in"]]}


def objected(source: Path, defect: dict[str, Any], out: Path, auditors: str = "") -> dict[int, set[str]]:
    """Row to what speaks against it: `block`, `flag`, `merged`, and `auditor` where one scored a 0."""
    job = AuditJob(
        str(source), defect["map"], out, language=defect["language"], auditors=auditors, licence="CC-BY-4.0"
    )
    run_audit(job, lambda _: None)
    found: dict[int, set[str]] = {}
    for table, column in (("findings", "severity"), ("verdicts", "outcome")):
        for row in pq.read_table(out / f"{table}.parquet").to_pylist():
            if row["row"] is not None and row[column] in ("block", "flag", "merged"):
                found.setdefault(row["row"], set()).add(row[column])
    for row in pq.read_table(out / "audits.parquet").to_pylist():
        if row["issues"]:
            found.setdefault(row["row"], set()).add("auditor")
    for row in pq.read_table(out / "removed.parquet").to_pylist():
        if row["outcome"] == "unreadable":
            found.setdefault(row["row"], set()).add("block")
    return found


def suspects(rows: list[dict[str, Any]], defect: dict[str, Any]) -> set[int] | None:
    """Rows in the first tenth by published answers; None where there are none."""
    told = defect.get("answers")
    if told is None:
        return None
    answers = rows_of(shared() / "panel" / told["panel"]) if "panel" in told else rows
    by_id = {row.get("id", str(number)): row for number, row in enumerate(answers)}
    systems = list(answers[0])[told["begin"] :]
    options, golds, picks = [], [], []
    for number, row in enumerate(rows):
        many = len(ast.literal_eval(row["choices"])) if "choices" in row else 4
        gold = int(row["gold"]) if "gold" in row else "ABCD".find(row["answer"])
        said = by_id.get(row.get("id", str(number)), {})
        options.append(many)
        golds.append(max(gold, 0))
        picks.append(["ABCDEFGHIJ".find((said.get(name) or "?").strip()[:1] or "?") for name in systems])
    shares = np.zeros((len(rows), len(systems), max(options)))
    for number, mine in enumerate(picks):
        # The gold is option 0; the others keep their order behind it.
        order = [golds[number], *(place for place in range(options[number]) if place != golds[number])]
        for system, pick in enumerate(mine):
            if pick in order:
                shares[number, system, order.index(pick)] = 1
    odds = gold_odds(shares, np.array(options, dtype=np.int64)).odds
    return {int(one) for one in np.argsort(-odds, kind="stable")[: int(len(rows) * LIST)]}


def lines(defects: list[dict[str, Any]], folder: Path, auditors: str, most: int) -> Iterator[str]:
    """The table, a line each."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{'---|' * 3}{'---:|' * (len(HEAD) - 3)}"
    for defect in defects:
        path = fetched(defect, folder)
        by = defect["says"].partition(":")[0]
        if not path.is_file():
            yield f"| {defect['name']} | {by} | {defect['kind']} | not here | | | | | | | |"
            continue
        rows = rows_of(path)
        for where, value in defect.get("only", {}).items():
            rows = [row for row in rows if at(row, where) == value]
        if "columns" in defect:
            rows = [{name: at(row, where) for name, where in defect["columns"].items()} for row in rows]
        wanted = named(rows, defect["rows"])
        with tempfile.TemporaryDirectory() as space:
            source = Path(space) / "rows.jsonl"
            source.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
            found = objected(source, defect, Path(space) / "out")
            asked = "not asked"
            if auditors:
                some = sorted(wanted)[:most]
                source.write_text(
                    "".join(json.dumps(rows[one], ensure_ascii=False) + "\n" for one in some), "utf-8"
                )
                said = objected(source, defect, Path(space) / "asked", auditors)
                asked = f"{sum('auditor' in one for one in said.values())} of {len(some)}"
        counts = [
            sum(kind in found.get(number, ()) for number in wanted) for kind in ("block", "flag", "merged")
        ]
        caught = sum(bool(found.get(number)) for number in wanted)
        others = set(range(len(rows))) - wanted
        share = (
            f"{sum(bool(found.get(one)) for one in others) / len(others):.1%} of {len(others):,}"
            if others
            else "-"
        )
        listed = suspects(rows, defect)
        by_answers = "no answers" if listed is None else f"{len(listed & wanted)} of {len(wanted)}"
        cells = (
            defect["name"],
            by,
            defect["kind"],
            len(wanted),
            *counts,
            f"{caught} of {len(wanted)}",
            share,
            by_answers,
            asked,
        )
        yield f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Fetches the files or prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("fetch", "table"))
    parser.add_argument("--folder", type=Path, default=settings().cache / "field_defects")
    parser.add_argument("--auditors", default="")
    parser.add_argument("--per-defect", type=int, default=20)
    asked = parser.parse_args()
    defects: list[dict[str, Any]] = yaml.safe_load(SET.read_text("utf-8"))
    if asked.what == "fetch":
        fetch(defects, asked.folder)
        return
    for line in lines(defects, asked.folder, asked.auditors, asked.per_defect):
        print(line, flush=True)


if __name__ == "__main__":
    main()
