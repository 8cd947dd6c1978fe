"""Where a local input named in a config lies, and its bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT


def find(path: str, option: str = "path") -> Path:
    """A file or folder named in a config; `$NAME` and `~` are filled in.

    Args:
        path: Absolute, or relative to the working folder or else to the repository.
        option: Names the option in messages.

    Raises:
        UsageError: It names a variable that is not set, or nothing that exists.
    """
    filled = os.path.expandvars(path)
    unset = re.search(r"\$\{?(\w+)", filled)
    if unset:
        raise UsageError(f"option `{option}` is {path!r}: set the environment variable {unset[1]}")
    try:
        given = Path(filled).expanduser()
        for place in [given] if given.is_absolute() else [Path.cwd() / given, ROOT / given]:
            if place.exists():
                return place
    except (ValueError, OSError, RuntimeError) as error:
        raise UsageError(f"option `{option}`: {path!r} can't be the name of a file: {error}") from error
    raise UsageError(f"{filled} does not exist: set the option `{option}` to an existing file or folder")


def find_file(path: str, option: str = "path") -> tuple[Path, bytes]:
    """A file named in a config, as `find` finds it, and its bytes.

    Raises:
        UsageError: As `find`, or it is a folder or can't be read.
    """
    place = find(path, option)
    try:
        return place, place.read_bytes()
    except OSError as error:
        raise UsageError(f"{place} can't be read ({error}): set the option `{option}` to a file") from error


def inside(folder: Path, pattern: str) -> Iterator[Path]:
    """Files below a folder in the order of their names; links that lead out of it are passed over."""
    top = folder.resolve()
    for place in sorted(folder.rglob(pattern)):
        if place.is_file() and place.resolve().is_relative_to(top):
            yield place


def readable(folder: Path) -> list[Path]:
    """Files in a folder that may hold texts; notes about the folder, hidden and lock files are none."""
    return [
        file
        for file in inside(folder, "*")
        if not any(part.startswith((".", "~$")) for part in file.relative_to(folder).parts)
        and file.stem.casefold() not in ("readme", "license", "licence", "copying")
    ]
