"""A release folder that was fetched, as the assembled release it once was."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from mihakk.errors import ExternalFailure
from releases.assemble import AssembledRelease
from releases.cleaned_record import read_cleaned
from releases.content.checksum import faults, read_manifest
from releases.content.item_tables import data_files
from releases.versions.diff import release_version


def read_release(name: str, folder: Path) -> AssembledRelease:
    """The release in a folder; `ExternalFailure` where a file is damaged, missing or foreign."""
    if wrong := faults(folder, fetched=True):
        raise ExternalFailure(f"{folder} is not the release its manifest describes: {'; '.join(wrong[:5])}")
    cleaned = read_cleaned(folder)
    rows = cleaned.rows_by_split if cleaned else {}
    for config, split, path in data_files(folder):
        splits = rows.setdefault(config, {})
        splits[split] = splits.get(split, 0) + pq.read_metadata(path).num_rows
    return AssembledRelease(
        name=name,
        version=release_version(folder),
        folder=folder,
        rows=rows,
        digests=read_manifest(folder),
        diff=None,
    )
