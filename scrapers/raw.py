"""Every byte that a record was parsed from, kept under its digest.

<root>/raw/<first two digits>/<sha256>.gz    the bytes, gzip without a time stamp
<root>/raw/index.jsonl                       one line per fetch, appended, never edited
<root>/raw/index/*.jsonl                     on an object store, which can't append: an object per fetch
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import fsspec
import orjson
from fsspec.implementations.local import LocalFileSystem
from pydantic import Field

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256 as digest_of
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.schemas.record import Record

_CHUNK = 1 << 20
_LOOSE = 256
"""Objects of an index on a store that are read one by one before they become one."""


class Fetched(Record):
    """One fetch of one address, as the index notes it."""

    url: str
    retrieved_at: datetime
    """UTC."""
    sha256: str
    """Digest of the body, under which the store holds it."""
    status: int = 200
    content_type: str = ""
    """As the server said, charset included."""
    etag: str = ""
    last_modified: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    """Other headers that a parser needs, lower-cased, e.g. `paging-headers`."""


class RawStore:
    """Content-addressed store of raw bytes with an index of fetches.

    Args:
        root: Folder or fsspec URL of the lake; the store lives in its `raw` folder.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)
        self._fs, base = fsspec.core.url_to_fs(str(root))
        self._base = f"{base.rstrip('/')}/raw"
        self._local = isinstance(self._fs, LocalFileSystem)
        self._index_path = f"{self._base}/index.jsonl"
        self._index_folder = f"{self._base}/index"
        self._latest: dict[str, Fetched] | None = None

    def keep(self, data: bytes) -> str:
        """Stores bytes and gives their SHA-256; bytes that are there already are not written again."""
        digest = digest_of(data)
        path = self._blob(digest)
        if not self._fs.exists(path):
            self._place(path, io.BytesIO(gzip.compress(data, compresslevel=6, mtime=0)))
        return digest

    def keep_file(self, path: Path) -> str:
        """Stores a local file without holding it in memory, and gives its SHA-256."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            blob = self._blob(digest)
            if self._fs.exists(blob):
                return digest
            file.seek(0)
            # Packed here first: a store keeps a file that is closed half written as if it were whole.
            with tempfile.TemporaryFile() as packed:
                with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=6, mtime=0) as out:
                    shutil.copyfileobj(file, out, _CHUNK)
                packed.seek(0)
                self._place(blob, packed)
        return digest

    def read(self, digest: str) -> bytes:
        """The bytes of that digest.

        Raises:
            UsageError: They are not in the store, or no longer what they were.
        """
        path = self._blob(digest)
        try:
            data = gzip.decompress(self._fs.cat_file(path))
        except FileNotFoundError:
            raise UsageError(f"{path} is not in the raw store: scrape its source again") from None
        except (OSError, EOFError) as error:
            raise UsageError(f"{path} is damaged ({error}): delete it and scrape its source again") from error
        if digest_of(data) != digest:
            raise UsageError(f"{path} is not what its name says: delete it and scrape its source again")
        return data

    def add(
        self,
        url: str,
        data: bytes,
        *,
        status: int = 200,
        content_type: str = "",
        etag: str = "",
        last_modified: str = "",
        headers: dict[str, str] | None = None,
    ) -> Fetched:
        """Stores the body of one fetch and appends it to the index."""
        fetched = Fetched(
            url=url,
            retrieved_at=datetime.now(UTC),
            sha256=self.keep(data),
            status=status,
            content_type=content_type,
            etag=etag,
            last_modified=last_modified,
            headers=headers or {},
        )
        self._append(fetched)
        return fetched

    def confirm(self, fetched: Fetched) -> Fetched:
        """Notes that the server called the stored bytes current (304)."""
        again = fetched.model_copy(update={"retrieved_at": datetime.now(UTC), "status": 304})
        self._append(again)
        return again

    def latest(self, url: str) -> Fetched | None:
        """The last fetch of an address, or None."""
        return self._index().get(url)

    def fetched(self) -> list[Fetched]:
        """The last fetch of every address, in the order first fetched."""
        return list(self._index().values())

    def reload(self) -> None:
        """Forgets the index in memory; the next look reads what another process has appended."""
        self._latest = None

    def _blob(self, digest: str) -> str:
        return f"{self._base}/{digest[:2]}/{digest}.gz"

    def _place(self, path: str, packed: IO[bytes]) -> None:
        """A blob exists whole or not at all: in a folder it is written beside and moved."""
        part = path
        if self._local:
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            part = f"{path}.{uuid.uuid4().hex[:8]}.part"
        with self._fs.open(part, "wb") as out:
            shutil.copyfileobj(packed, out, _CHUNK)
        if self._local:
            self._fs.mv(part, path)

    def _append(self, fetched: Fetched) -> None:
        line = seal(orjson.dumps(fetched.model_dump(mode="json", exclude_defaults=True)))
        if self._local:
            self._fs.makedirs(self._base, exist_ok=True)
            # The leading newline ends a line that a killed process left torn.
            with self._fs.open(self._index_path, "ab") as out:
                out.write(b"\n" + line)
        else:
            # Names in the order of time; the random end keeps two processes of one moment apart.
            name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.jsonl"
            self._fs.pipe_file(f"{self._index_folder}/{name}", line + b"\n")
        if self._latest is not None:
            self._latest[fetched.url] = fetched

    def _index(self) -> dict[str, Fetched]:
        if self._latest is None:
            self._latest = {}
            for line in self._lines():
                if fetched := _parse(line):
                    self._latest[fetched.url] = fetched
        return self._latest

    def _lines(self) -> list[bytes]:
        """Every line of the index, oldest first."""
        if self._local:
            there = self._fs.exists(self._index_path)
            return self._fs.cat_file(self._index_path).split(b"\n") if there else []
        self._fs.invalidate_cache()
        if not self._fs.exists(self._index_folder):
            return []
        names = sorted(self._fs.ls(self._index_folder, detail=False))
        held = self._fs.cat(names)
        lines = b"".join(held[name] for name in names)
        if len(names) > _LOOSE:
            # Under the name of the last, so that it keeps its place in time; whole before the others go.
            self._fs.pipe_file(names[-1], lines)
            self._fs.rm(names[:-1])
        return lines.split(b"\n")


def _parse(line: bytes) -> Fetched | None:
    """One index line; None for blank and torn ones, which cost no more than fetching that page again."""
    if not line.strip():
        return None
    try:
        return Fetched.model_validate(unsealed(line))
    except ValueError:
        return None
