"""Findings of an external audit as text for other programs: SARIF, JSON lines or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from mihakk.machinery.spreadsheet import guarded
from mihakk.pipeline.external_summary import WORTH_MOST, Audited
from mihakk.validators.checks.check import check_titles
from mihakk.validators.checks.texts import told_place
from mihakk.validators.external.places import RowPlace, rejected_places, with_names

ExportFormat = Literal["sarif", "jsonl", "csv"]
SARIF_LEVEL = {"block": "error", "flag": "warning", "report": "note"}
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
PROPERTIES = ("item", "own_id", "subset", "split", "rows", "worth", "checks")
COLUMNS = (
    *("check", "severity", "title", "detail", "where", "item"),
    *("source", "table", "row", "line", "own_id", "subset", "split"),
)


def export_findings(audited: Audited, kind: ExportFormat) -> str:
    """All findings as text that ends with a line break.

    SARIF is what code hosts show beside the lines of a file: the causes worth most, each at one example, then
    the findings in the order of their causes. The rows of the other two have `COLUMNS`, with empty places
    where a finding is about the whole set.
    """
    rows = list(_rows(audited))
    if kind == "sarif":
        told = [*_causes(audited), *sorted(rows, key=_rank(audited))]
        return json.dumps(_sarif(audited, told), ensure_ascii=False, indent=1) + "\n"
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: guarded(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows
    )
    return out.getvalue()


def _rows(audited: Audited) -> Iterator[dict[str, Any]]:
    titles = check_titles()
    for finding in audited.findings:
        place = audited.places.get(finding.subject)
        at = place.model_dump() if place else dict.fromkeys(RowPlace.model_fields, "")
        yield {
            "check": finding.check,
            "severity": finding.severity,
            "title": titles.get(finding.check, ""),
            "detail": with_names(finding.detail, audited.places),
            "where": finding.where,
            "item": finding.subject if place else "",
            **at,
            "source": audited.benchmark.source,
        }
    for bad, place in rejected_places(audited.benchmark):
        yield {
            **dict.fromkeys(COLUMNS, ""),
            **place.model_dump(),
            "check": bad.reason,
            "severity": "block",
            "title": "every row can be read",
            "detail": bad.detail,
        }


def _causes(audited: Audited) -> Iterator[dict[str, Any]]:
    for cluster in audited.clusters[:WORTH_MOST]:
        if cluster.severity == "report":
            return
        place = audited.places.get(cluster.example)
        yield {
            **(place.model_dump() if place else dict.fromkeys(RowPlace.model_fields, "")),
            "check": f"cause_{cluster.cause}",
            "severity": cluster.severity,
            "title": "many rows are not wrong for one cause",
            "detail": f"{cluster.title}. For example: {cluster.detail}",
            "where": "",
            "item": cluster.example,
            "rows": cluster.rows,
            "worth": cluster.worth,
            "checks": list(cluster.checks),
        }


def _rank(audited: Audited) -> Callable[[dict[str, Any]], int]:
    """The place of a row's cluster; what is said of files and of the whole set comes last."""
    ranks: dict[tuple[str, str], int] = {}
    for rank, cluster in enumerate(audited.clusters):
        for check in cluster.checks:
            for item in cluster.items or ("",):
                ranks.setdefault((item, check), rank)
    return lambda row: ranks.get((row["item"], row["check"]), len(audited.clusters))


def _sarif(audited: Audited, rows: list[dict[str, Any]]) -> dict[str, Any]:
    rules = {row["check"]: row for row in reversed(rows)}
    order = {name: place for place, name in enumerate(sorted(rules))}
    source = Path(audited.benchmark.source)
    # A sheet of a workbook is a table of its own, and no file.
    files = {one.name: one.file or source / one.name for one in audited.benchmark.tables}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Mihakk",
                        "version": version("mihakk"),
                        "rules": [
                            {
                                "id": name,
                                "shortDescription": {"text": rules[name]["title"] or name},
                                "defaultConfiguration": {"level": SARIF_LEVEL[rules[name]["severity"]]},
                            }
                            for name in sorted(rules)
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(files.get(row["table"], source), row, order[row["check"]]) for row in rows
                ],
            }
        ],
    }


def _result(path: Path, row: dict[str, Any], rule: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(path.as_posix())}}
    if row["line"]:
        physical["region"] = {"startLine": row["line"]}
    location: dict[str, Any] = {"physicalLocation": physical}
    if row["table"]:
        name = f"{row['table']}#{row['row']}"
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "element"}]
    said = f"{told_place(row['where'])}: {row['detail']}" if row["where"] else row["detail"]
    return {
        "ruleId": row["check"],
        "ruleIndex": rule,
        "level": SARIF_LEVEL[row["severity"]],
        "message": {"text": said},
        "locations": [location],
        "properties": {name: row[name] for name in PROPERTIES if row.get(name)},
    }
