"""Parquet of others: read in the declared types, or refused with the file's name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mihakk.machinery.errors import UsageError
from mihakk.machinery.parquet import read_parquet

SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int32())])


def written(path: Path, **columns: pa.Array) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_columns_come_in_the_declared_types(tmp_path: Path) -> None:
    path = written(
        tmp_path / "t.parquet",
        id=pa.array(["a", "b"]).dictionary_encode(),
        n=pa.array([1, 2]),
        more=pa.nulls(2),
    )
    table = read_parquet(path, SCHEMA, filled=["id"])
    assert table.schema.field("id").type == pa.string()
    assert table.to_pylist() == [{"id": "a", "n": 1, "more": None}, {"id": "b", "n": 2, "more": None}]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"n": pa.array([1])}, "0 columns 'id'"),
        ({"id": pa.array(["a", None])}, "'id' is empty in 1 rows"),
        ({"id": pa.array(["a"]), "n": pa.array([2**40])}, "column 'n' holds int64, not int32"),
        ({"id": pa.array([["a"]])}, "column 'id' holds list"),
        ({"id": pa.array([b"\xff"])}, "column 'id' holds binary"),
        ({"id": pa.array(["a"]), "n": pa.array([True])}, "column 'n' holds bool, not int32"),
    ],
)
def test_another_table_is_refused_with_file_and_column(
    tmp_path: Path, columns: dict[str, pa.Array], message: str
) -> None:
    path = written(tmp_path / "t.parquet", **columns)
    with pytest.raises(UsageError, match=rf"t\.parquet.*{message}"):
        read_parquet(path, SCHEMA, filled=["id"])


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["x", "x"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(UsageError, match="two columns of one name"):
        read_parquet(tmp_path / "t.parquet", SCHEMA)


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_a_damaged_file_is_named(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "t.parquet", id=pa.array(["a"] * 50))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UsageError, match=r"t\.parquet can't be read as Parquet"):
        read_parquet(path, SCHEMA)
    with pytest.raises(UsageError, match="there is no file"):
        read_parquet(tmp_path / "none.parquet", SCHEMA)
