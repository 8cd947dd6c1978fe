"""Stage tables in DuckDB: queries over many parts without loading the parts whole."""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from mihakk.machinery.lake.columns import arrow_schema
from mihakk.pipeline.rows import ROWS

if TYPE_CHECKING:
    from mihakk.pipeline.build import Build

_VARIANTS, _PLAIN = "أإآٱىیکةۀ", "ااااييكهه"
_DROPPED = "".join(
    chr(point)
    for first, last in ((0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6ED), (0x200B, 0x200F))
    for point in range(first, last + 1)
)
FOLD = f"CREATE MACRO fold(said) AS translate(lower(said), '{_VARIANTS}{_DROPPED}', '{_PLAIN}')"
"""Letter variants folded, marks and joiners (which stand for nothing in the second list) dropped, so that a
search finds what a reader would."""
SHARD = "regexp_extract(filename, 'part-([^/]*)[.]parquet$', 1)"


MEMORY = "256MB"
"""What answering a question takes at most; what needs more goes through files."""


class Tables:
    """One build's tables, open for questions; cheap to make, one for each request."""

    def __init__(self, build: Build) -> None:
        import duckdb

        self._build = build
        self._spill = TemporaryDirectory(prefix="mihakk-tables-")
        self._db = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": MEMORY,
                "temp_directory": self._spill.name,
            }
        )
        self._db.execute(FOLD)
        fs, root = url_to_fs(f"{build.lake_root.rstrip('/')}/{build.config.name}")
        self._root = root
        if not isinstance(fs, LocalFileSystem):
            self._db.register_filesystem(fs)
            self._root = fs.unstrip_protocol(root)

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._spill.cleanup()

    def view(self, name: str, stage: str, table: str) -> None:
        """Makes a table of a stage known under a name, with the columns `shard`, `source` and `place`.

        A stage that has not finished, or wrote no such table, is a view without rows.
        """
        parts = self._parts(stage, table)
        if not parts:
            self._db.register(f"no_{name}", pa.Table.from_batches([], arrow_schema(ROWS[table])))
            chosen = f"SELECT *, '' AS shard, '' AS source, 0 AS place FROM no_{name}"
        else:
            # Paths are ours and hold no quotes of anybody else's making, but a folder may be named anything.
            listed = ", ".join("'" + part.replace("'", "''") + "'" for part in parts)
            chosen = (
                f"SELECT * EXCLUDE (filename, file_row_number), {SHARD} AS shard, "
                f"regexp_replace({SHARD}, '-[0-9]+$', '') AS source, file_row_number AS place "
                f"FROM read_parquet([{listed}], filename=true, file_row_number=true, union_by_name=true)"
            )
        self._db.execute(f"CREATE OR REPLACE VIEW {name} AS {chosen}")

    def rows(self, question: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Answer of a question; whatever a person typed goes into `values`, never into the question."""
        found = self._db.execute(question, list(values))
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def one(self, question: str, values: Sequence[Any] = ()) -> Any:
        """First value of the first row, or None."""
        # Read to the end: DuckDB takes no other question on a connection with an unread answer.
        found = self._db.execute(question, list(values)).fetchall()
        return found[0][0] if found else None

    def _parts(self, stage: str, table: str) -> list[str]:
        opened = self._build.stage(stage)
        if not opened.finished():
            return []
        return [
            f"{self._root}/{stage}/{table}/part-{shard.shard}.parquet"
            for shard in opened.manifest().shards
            if table in shard.parts
        ]
