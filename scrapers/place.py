"""Where a local input named in a config lies."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mihakk.errors import UsageError
from mihakk.settings import ROOT


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
    given = Path(filled).expanduser()
    for place in [given] if given.is_absolute() else [Path.cwd() / given, ROOT / given]:
        if place.exists():
            return place
    raise UsageError(f"{filled} does not exist: set the option `{option}` to an existing file or folder")
