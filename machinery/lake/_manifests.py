"""Manifests as this version of the code reads them: its own format, an older one, a newer one."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import orjson
from pydantic import ValidationError

from mihakk.machinery.errors import UsageError
from mihakk.machinery.lake.seal import KEY, broken
from mihakk.machinery.lake.storage import Storage
from mihakk.schemas.manifest import FORMAT, OLDEST_FORMAT, ShardManifest, StageManifest

M = TypeVar("M", ShardManifest, StageManifest)


def read_manifest(storage: Storage, path: str, model: type[M]) -> M | None:
    """The manifest; None where there is none that counts: missing, damaged, or too old to be read.

    What has no manifest is made again, and so is what the code of today would make otherwise: an older lake
    moves to this generation shard by shard, and one that was stopped on the way goes on. Journals and
    decisions have no manifests: nothing is paid or asked again.

    Raises:
        UsageError: A newer Mihakk wrote it.
    """
    return _parsed(storage.read(path), model, path) if storage.exists(path) else None


@lru_cache(32)  # each shard of a stage asks the manifest of the stage before
def _parsed(data: bytes, model: type[M], path: str) -> M | None:
    try:
        plain = orjson.loads(data)
        written = int(plain.get("format", 1))
    except (orjson.JSONDecodeError, AttributeError, TypeError, ValueError):
        return None
    if written > FORMAT:
        raise UsageError(
            f"{path} was written by a newer Mihakk (lake generation {written}; this one knows {FORMAT}): "
            "update this checkout, or set MIHAKK_LAKE to another folder. Nothing was changed"
        )
    if written < OLDEST_FORMAT or broken(data):
        return None
    plain.pop(KEY, None)
    try:
        return model.model_validate(plain)
    except ValidationError:
        return None


def refuse_newer(storage: Storage) -> None:
    """Looks at every stage before a run touches the first.

    Raises:
        UsageError: A newer Mihakk wrote one of them.
    """
    for folder in storage.list(storage.root):
        if folder[:1].isdigit():
            read_manifest(storage, storage.path(folder, "manifest.json"), StageManifest)
