"""Two folders change names in one step, so that a reader sees the old or the new one and never neither."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(first: Path, second: Path) -> None:
    """Swap two folders of one file system.

    Where the system can't swap in one step (not Linux, some network file systems) the second is moved aside
    for the moment the first takes its place.
    """
    if _exchanged(first, second):
        return
    aside = second.with_name(f".{second.name}.aside")
    second.rename(aside)
    first.rename(second)
    aside.rename(first)


def _exchanged(first: Path, second: Path) -> bool:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = os.fsencode(first), os.fsencode(second)
    if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(second))
