"""Loading a release back as a consumer would, and comparing what came with what was made."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from mihakk.machinery.errors import ExternalFailure
from mihakk.releases.cleaned_record import CleanedRecord, read_cleaned
from mihakk.releases.content.checksum import faults, read_manifest
from mihakk.releases.content.item_tables import CORE, core_file, data_files, row_hash, split_files

Rows = dict[str, dict[str, int]]
"""Config -> split -> rows."""
HAS_DATASETS: Final = find_spec("datasets") is not None
"""Whether `datasets` is installed, which reads a release as most who use it do. Without it the files that the
card lists are read by themselves."""


def verify_folder(folder: Path, version: str, expected: Path | None = None) -> Rows:
    """Check a release that was fetched: manifest, version, and every config and split as it is loaded.

    Args:
        version: What the data must say it is.
        expected: The folder that was assembled, where there is one to compare with.

    Raises:
        ExternalFailure: Anything differs; the message names the first difference.
    """
    wrong = faults(folder, fetched=True)
    if wrong:
        raise ExternalFailure(f"the release came back damaged, publish it again: {'; '.join(wrong[:5])}")
    if expected is not None and read_manifest(expected) != read_manifest(folder):
        raise ExternalFailure(
            "the release that came back is not the one that was assembled; publish it again"
        )
    cleaned = read_cleaned(folder)
    if cleaned is not None:
        return _verify_cleaned(folder, version, cleaned)
    rows: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="mihakk-datasets-") as cache:
        for config, splits in _loaded(folder, cache) if HAS_DATASETS else listed(folder).items():
            for split, loaded in splits.items():
                _check_rows(loaded, _hashes(folder, config, split), version, f"{config}/{split}")
                if not core_file(folder, config.removesuffix(CORE)).is_file() or not config.endswith(CORE):
                    rows.setdefault(config, {})[split] = loaded.num_rows
    on_disk = {(config, split) for config, split, _ in data_files(folder)}
    missing = on_disk - {(config, split) for config, splits in rows.items() for split in splits}
    if missing:
        raise ExternalFailure(f"the card does not list {sorted(missing)}: consumers would not see them")
    return rows


def _verify_cleaned(folder: Path, version: str, record: CleanedRecord) -> Rows:
    """Rows of a cleaned benchmark have no ids or digests of ours: its bytes and its counts are compared."""
    if record.version != version:
        raise ExternalFailure(f"the release says that it is of version {record.version}, not {version}")
    loadable = {one.config for one in record.tables if one.config}
    wanted = {config: splits for config, splits in record.rows_by_split.items() if config in loadable}
    rows: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="mihakk-datasets-") as cache:
        for config, splits in load_all(folder, cache).items() if wanted else ():
            rows[config] = {split: loaded.num_rows for split, loaded in splits.items()}
    if rows != wanted:
        raise ExternalFailure(f"rows loaded: {rows}; written: {wanted}")
    return rows


def listed(folder: Path) -> dict[str, dict[str, pa.Table]]:
    """Config -> split -> rows of a built release, from the files that its card lists."""
    card = (folder / "README.md").read_text(encoding="utf-8")
    configs = yaml.safe_load(card.split("---\n", 2)[1])["configs"]
    return {
        one["config_name"]: {
            files["split"]: pa.concat_tables(
                pq.read_table(path, partitioning=None) for path in sorted(folder.glob(files["path"]))
            )
            for files in one["data_files"]
        }
        for one in configs
    }


def _loaded(folder: Path, cache: str) -> Iterator[tuple[str, dict[str, pa.Table]]]:
    """The same, as `datasets` loads them, one config in memory at a time."""
    for config, splits in _load_each(folder, cache):
        yield config, {split: loaded.data.table for split, loaded in splits.items()}


def load_all(folder: Path, cache: str | None = None, split: str | None = None) -> dict[str, Any]:
    """Config -> what `load_dataset` gives of a release folder: its splits, or the one named."""
    return dict(_load_each(folder, cache, split))


def _load_each(folder: Path, cache: str | None, split: str | None = None) -> Iterator[tuple[str, Any]]:
    import datasets

    datasets.disable_progress_bars()
    for config in datasets.get_dataset_config_names(str(folder)):
        yield config, datasets.load_dataset(str(folder), config, split=split, cache_dir=cache)  # nosec B615 # local


def _hashes(folder: Path, config: str, split: str) -> dict[str, str]:
    hashes: dict[str, str] = {}
    for path in split_files(folder, config, split):
        table = pq.read_table(path, columns=["id", "content_hash"])
        hashes |= dict(zip(*(table.column(name).to_pylist() for name in ("id", "content_hash")), strict=True))
    return hashes


def _check_rows(loaded: pa.Table, expected: Mapping[str, str], version: str, place: str) -> None:
    if loaded.num_rows != len(expected):
        raise ExternalFailure(f"{place}: {loaded.num_rows} rows loaded, {len(expected)} written")
    for batch in loaded.to_batches(max_chunksize=5_000):
        for row in batch.to_pylist():
            if row["version"] != version:
                raise ExternalFailure(f"{place}: {row['id']} is of version {row['version']}, not {version}")
            plain = "question" in row and not row["sealed"]
            found = row_hash(row) if plain else row["content_hash"]
            if not expected.get(row["id"]) == row["content_hash"] == found:
                raise ExternalFailure(f"{place}: {row['id']} came back with other content than was written")
