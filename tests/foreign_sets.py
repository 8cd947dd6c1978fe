"""Somebody's benchmark for a test: rows in any format, two auditors behind one server, and its audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.pipeline.external_audit import AuditJob
from mihakk.pipeline.external_summary import Audited, AuditSummary
from mihakk.reports.external.page import audit_to_page


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows in the format that the ending names."""
    frame = pd.DataFrame(rows)
    match path.suffix:
        case ".jsonl":
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            path.write_text("".join(lines), encoding="utf-8")
        case ".json":
            path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        case ".xlsx":
            frame.to_excel(path, index=False)
        case _:
            frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def read_rows(path: Path) -> pd.DataFrame:
    """What a reader of such a file gets."""
    match path.suffix:
        case ".jsonl" | ".json":
            return pd.read_json(path, lines=path.suffix == ".jsonl")
        case ".parquet":
            return pd.read_parquet(path)
        case ".xlsx":
            return pd.read_excel(path)
        case _:
            return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")


def two_auditors(path: Path, *urls: str, names: tuple[str, str] = ("first", "second"), **more: Any) -> str:
    """A config of two auditors, who answer at the one server or each at an own one; returns its path."""
    served = zip(names, urls if len(urls) > 1 else urls * 2, strict=True)
    judges = [
        {"name": n, "family": n, "model": n, "serve": {"engine": "openai", "endpoints": [url]}, **more}
        for n, url in served
    ]
    path.write_text(json.dumps({"auditors": judges}), encoding="utf-8")
    return str(path)


def audit_set(source: Path, mapping: str, out: Path, **more: Any) -> tuple[Audited, AuditSummary]:
    """The audit with its page, as the command makes it."""
    return audit_to_page(AuditJob(str(source), mapping, out, **more), lambda _: None)
