"""What all processes of a sandbox hold together: limited by a control group, or else watched."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import ClassVar, Final, Literal

Held = Literal["cgroup", "watched"]
"""Who limits it: the kernel at every page, or we, who look every few hundredths of a second."""
_MOUNT: Final = Path("/sys/fs/cgroup")
_NUMBERS: Final = count()
_EVERY: Final = 0.02
_FILE: Final = 1 << 10
"""Bytes of the kernel's memory that a file in `/tmp` takes beside its content, at least."""
_PATIENCE: Final = 5.0


class Group:
    """A control group for one sandbox, made before and removed after it.

    Raises:
        OSError: None can be made in this folder, or none that limits memory.
    """

    held: ClassVar[Held] = "cgroup"

    def __init__(self, parent: Path, memory: int, processes: int) -> None:
        self._folder = parent / f"mihakk-{os.getpid()}-{next(_NUMBERS)}"
        self._folder.mkdir()
        try:
            if (self._folder / "memory.max").exists():
                limits = {"memory.max": memory, "memory.swap.max": 0, "memory.oom.group": 1}
                limits["pids.max"] = processes + 2  # bubblewrap's own two
                needed = "memory.max"
            else:  # version 1
                limits = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
                needed = "memory.limit_in_bytes"
            for name, most in limits.items():
                file = self._folder / name
                if name == needed or file.exists():
                    # Opened without O_CREAT, which these file systems refuse.
                    with file.open("r+") as opened:
                        opened.write(str(most))
        except OSError:
            self._folder.rmdir()
            raise
        # The shell moves itself, and so all that it becomes, before anything else is run.
        self.command = ["/bin/sh", "-c", 'echo 0 > "$0" && exec "$@"', str(self._folder / "cgroup.procs")]

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """Nothing: the kernel watches from the start."""

    @property
    def exceeded(self) -> bool:
        """Whether the kernel ended a process for the group's memory."""
        for name in ("memory.events", "memory.oom_control"):
            with suppress(OSError):
                lines = dict(line.split() for line in (self._folder / name).read_text().splitlines())
                return lines["oom_kill"] != "0"
        return False

    def end(self) -> None:
        """Ends what is left in the group and removes it."""
        began = time.monotonic()
        while time.monotonic() - began < _PATIENCE:
            with suppress(OSError):
                self._folder.rmdir()
                return
            with suppress(OSError):
                for pid in (self._folder / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.002)


class Watch:
    """A thread that adds up what a sandbox holds, and ends it beyond the limit."""

    held: ClassVar[Held] = "watched"

    def __init__(self, memory: int) -> None:
        self.command: list[str] = []
        self.exceeded = False
        self._most, self._ended = memory, threading.Event()

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """Starts to look."""
        threading.Thread(target=self._look, args=(process,), daemon=True).start()

    def _look(self, process: subprocess.Popen[bytes]) -> None:
        while not self._ended.wait(_EVERY):
            if memory_of(process.pid) > self._most:
                self.exceeded = True
                process.kill()
                return

    def end(self) -> None:
        """Looks no longer."""
        self._ended.set()


def memory_of(pid: int) -> int:
    """Bytes held by a sandbox: all its processes, pages that several share counted once, and its `/tmp`.

    Args:
        pid: Of its outermost process, bubblewrap itself.
    """
    held = files = 0
    for one in _descendants(pid):
        with suppress(OSError, ValueError, IndexError):
            rolled = Path(f"/proc/{one}/smaps_rollup").read_text()
            held += int(rolled.split("\nPss:")[1].split()[0]) << 10
        with suppress(OSError):
            root = Path(f"/proc/{one}/root")
            if (root / "box").exists():  # before, while bubblewrap makes it, /tmp is the machine's own
                there = os.statvfs(root / "tmp")
                used = (there.f_blocks - there.f_bfree) * there.f_frsize
                files = max(files, used + (there.f_files - there.f_ffree) * _FILE)
    return held + files


def _descendants(pid: int) -> Iterator[int]:
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, file.read_text().split()):
                yield child
                yield from _descendants(child)


def limiter(memory: int, processes: int) -> Group | Watch:
    """What limits the next sandbox."""
    parent = group_parent()
    return Watch(memory) if parent is None else Group(parent, memory, processes)


@cache
def group_parent() -> Path | None:
    """The folder in which this process may make control groups that limit memory; None: there is none."""
    for place in _places():
        with suppress(OSError):
            group = Group(place, 1 << 30, 1)
            try:
                subprocess.run([*group.command, "true"], check=True, capture_output=True)
            finally:
                group.end()
            return place
    return None


def _places() -> Iterator[Path]:
    """This process's own group of each hierarchy and the one around it; a container may see neither."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers or "memory" in controllers.split(","):
            top = _MOUNT / controllers if controllers else _MOUNT
            own = top / path.strip("/")
            # Version 2 gives no memory controller to groups below one that holds processes: beside it may do.
            yield from dict.fromkeys((own, own.parent if own != top else own, top))
