"""A file that a reader, or the next run, sees all of or none."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from pathlib import Path


def append_whole(path: Path, data: bytes) -> None:
    """Adds to the end of a file, on disk before anything else happens: all or nothing.

    Raises:
        OSError: It can't be written, for a full disk takes half a line; the file is as it was.
    """
    size = path.stat().st_size if path.is_file() else 0
    try:
        with path.open("ab") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
    except OSError:
        if path.is_file():
            os.truncate(path, size)
        raise


def write_whole(path: Path, data: bytes | Iterable[bytes], mode: int | None = None) -> Path:
    """Writes a file in one step, and the folders above it; what was there stays until then.

    Args:
        path: Of the file.
        data: All of it, or its pieces.
        mode: Permissions of the file; the usual ones if None.

    Returns:
        The path.

    Raises:
        OSError: It can't be written; nothing is left of the attempt.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as handle:
            handle.writelines([data] if isinstance(data, bytes) else data)
            handle.flush()
            os.fsync(handle.fileno())
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
