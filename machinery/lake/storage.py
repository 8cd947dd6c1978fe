"""Files of the lake: whole or absent, on a folder or an object store."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.settings import install_command
from mihakk.machinery.whole import write_whole

SETTLE_SECONDS = 1.0
"""How long another writer's conflicting write could still be on its way to a store without conditions."""
_DRIVERS = ("botocore", "aiobotocore", "aiohttp", "gcsfs", "google", "azure", "adlfs")


class Storage:
    """A folder or fsspec URL whose files are written whole.

    Args:
        root: Local path, or URL such as `s3://bucket/lake`.
    """

    def __init__(self, root: str) -> None:
        try:
            self._fs, path = fsspec.core.url_to_fs(root)
        except ImportError as error:
            raise UsageError(
                f"{root} needs a driver that is not installed ({error}): for s3:// run "
                f"`{install_command('cluster')}`"
            ) from error
        self.root = path.rstrip("/")
        self.local = isinstance(self._fs, LocalFileSystem)

    def path(self, *parts: str) -> str:
        """Path of a file under the root."""
        return "/".join([self.root, *parts])

    def exists(self, path: str) -> bool:
        """Whether the file or folder is there, as of now."""
        self._fs.invalidate_cache()
        return bool(self._fs.exists(path))

    def read(self, path: str) -> bytes:
        """The file's bytes."""
        with _explained(path):
            return bytes(self._fs.cat_file(path))

    def open(self, path: str) -> Any:
        """The file for reading in places, in a `with` block: an object store sends only what is read."""
        with _explained(path):
            return self._fs.open(path, "rb")

    def write(self, path: str, data: bytes) -> None:
        """Writes a file so that a reader, or the next run, sees all of it or none.

        Raises:
            ExternalFailure: The disk is full or the store did not answer.
            UsageError: The lake is read-only.
        """
        with _explained(path):
            if not self.local:
                self._fs.pipe_file(path, data)
                return
            target = Path(path)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except FileNotFoundError as error:
                raise UsageError(
                    f"{target.parent} can't be made: its file system takes no folders. "
                    "Set MIHAKK_LAKE to a folder on a disk"
                ) from error
            write_whole(target, data)

    def create(self, path: str, data: bytes) -> str | None:
        """Writes a file of a store only where there is none; its stamp, or None when there was one."""
        with _explained(path):
            try:
                self._fs.pipe_file(path, data, mode="create")
            except FileExistsError:
                return None
        return self.stamp(path)

    def replace(self, path: str, data: bytes, stamp: str) -> str | None:
        """Writes a file of a store only over the version of that stamp; its new stamp, or None.

        Where the store's driver has no conditional write, it is read before and, after a moment, again.
        """
        with _explained(path):
            if hasattr(self._fs, "call_s3"):
                return self._replace_s3(path, data, stamp)
            if self.stamp(path) != stamp:
                return None
            self._fs.pipe_file(path, data)
            time.sleep(SETTLE_SECONDS)
            return self.stamp(path) if self.read(path) == data else None

    def _replace_s3(self, path: str, data: bytes, stamp: str) -> str | None:
        bucket, key, _ = self._fs.split_path(path)
        try:
            answer = self._fs.call_s3("put_object", Bucket=bucket, Key=key, Body=data, IfMatch=stamp)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.EINVAL or "pre-condition" in str(error):
                return None
            raise
        return str(answer["ETag"])

    def stamp(self, path: str) -> str | None:
        """The version of a file of a store, its ETag or digest; None where there is no file."""
        self._fs.invalidate_cache()
        with _explained(path):
            try:
                info = self._fs.info(path)
            except FileNotFoundError:
                return None
            return str(info.get("ETag") or info.get("etag") or sha256(bytes(self._fs.cat_file(path))))

    def modified(self, path: str) -> datetime | None:
        """When a file was last written, by the store's clock; None where there is no file."""
        self._fs.invalidate_cache()
        with _explained(path):
            try:
                found: datetime = self._fs.modified(path)
            except FileNotFoundError:
                return None
            return found

    def list(self, folder: str) -> list[str]:
        """Names of the files in a folder, sorted; none when there is no folder."""
        self._fs.invalidate_cache()
        if not self._fs.exists(folder):
            return []
        names = (str(entry).rstrip("/").rpartition("/")[2] for entry in self._fs.ls(folder, detail=False))
        return sorted(name for name in names if not name.startswith("."))

    def files(self) -> Sequence[str]:
        """Paths of all files under the root, hidden ones too; none where there is no such folder."""
        return sorted(map(str, self._fs.find(self.root))) if self.exists(self.root) else []

    def size(self, path: str) -> int:
        """Bytes of a file."""
        with _explained(path):
            return int(self._fs.size(path) or 0)

    def remove(self, path: str) -> None:
        """Removes a file or a whole folder; nothing happens when it is not there."""
        with _explained(path):
            if self.exists(path):
                self._fs.rm(path, recursive=True)


@contextlib.contextmanager
def _explained(path: str) -> Iterator[None]:
    """Turns what a disk or store says into what a person can do about it."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ExternalFailure(
                f"the disk is full: {path} could not be written. "
                "Free some space and run the same command again; finished shards are kept"
            ) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST):
            raise UsageError(
                f"{path} can't be written ({os.strerror(error.errno)}). "
                "Make the folder writable, or set MIHAKK_LAKE to one that is"
            ) from error
        if "bucket does not exist" in str(error):
            raise UsageError(f"{path}: there is no such bucket: create it, or correct MIHAKK_LAKE") from error
        raise
    except Exception as error:
        # Drivers of stores bring their own exceptions, which are not to be imported for a local lake.
        kind = type(error)
        if kind.__name__ in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
            raise UsageError(
                f"{path}: no credentials for the object store ({error}): set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or any credentials its own command line accepts"
            ) from error
        if kind.__module__.partition(".")[0] in _DRIVERS:
            raise ExternalFailure(
                f"the object store did not answer for {path} ({error}): run the same command again; "
                "finished shards are kept"
            ) from error
        raise
