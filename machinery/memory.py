"""How much memory a process may still take."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Bytes that are left to this process, of the machine or of its container; None where nothing says so."""
    found = []
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text("ascii").splitlines())
        found.append(1024 * int(lines["MemAvailable"].split()[0]))
    except (OSError, ValueError, KeyError):
        pass
    try:
        most = int((_CGROUP / "memory.max").read_text("ascii"))
        found.append(most - int((_CGROUP / "memory.current").read_text("ascii")))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        pass
    return max(0, min(found)) if found else None
