"""One process inside bubblewrap: what it sees, what it may use, and what is said where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

import orjson

from mihakk.machinery.errors import UsageError
from mihakk.machinery.sandbox._filter import system_calls
from mihakk.machinery.sandbox._memory import Group, Held, Watch, group_parent, limiter

_INSIDE: Final = Path(__file__).with_name("_inside.py").read_bytes()
_PACKAGES: Final = ("numpy",)
"""What tests and solutions may import beside the standard library: EvalPlus' tests compare by numpy."""
_SCRATCH: Final = "/tmp"  # nosec B108
"""Of the sandbox, in memory: no folder of this machine."""
_FIRST_UID: Final = 1 << 20
_UIDS: Final = count(os.getpid() % (1 << 16) * (1 << 12))
_UID_LOCK: Final = threading.Lock()
INSTALL: Final = (
    "install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap). It is for "
    "Linux alone; code under test is never run unconfined"
)


@dataclass(frozen=True)
class Limits:
    """What one solution may use with all its tests."""

    seconds: float = 10.0
    """Wall clock, with the start of the interpreter; processor time may be as much."""
    memory: int = 4 << 30
    """Bytes that all processes and files hold together; and of address space, each process."""
    processes: int = 16
    """Processes and threads."""
    file_size: int = 16 << 20
    """Bytes of one file."""
    disk: int = 64 << 20
    """Bytes of all files together: `/tmp`, in memory, gone at the end."""
    files: int = 64
    """Files open at once."""


@dataclass(frozen=True)
class Box:
    """A sandbox that was started."""

    process: subprocess.Popen[bytes]
    memory: Group | Watch

    def end(self) -> bytes:
        """Ends it with everything in it; what bubblewrap said."""
        told = b""
        with suppress(ProcessLookupError):
            self.process.kill()
        with suppress(ValueError):
            _, told = self.process.communicate()
        self.memory.end()
        return told


def memory_held_by() -> Held:
    """Who limits what a sandbox's processes hold together: the kernel, or a watch that is a moment behind."""
    return "watched" if group_parent() is None else "cgroup"


def require_sandbox(memory: Held = "watched") -> None:
    """Makes sure that code can be run confined here.

    Args:
        memory: `cgroup` asks for the kernel's limit of all processes together.

    Raises:
        UsageError: bubblewrap or libseccomp is not installed, this machine doesn't let it make namespaces, or
            no control group can be made though one is asked for.
    """
    problem = _problem()
    if not problem and memory == "cgroup" != memory_held_by():
        problem = (
            "programs under test have to run in a control group that limits their memory, and none can be "
            "made here: run as root or in a session of systemd (`systemd-run --user --scope ...`), or "
            "leave the watch of their memory to Mihakk (`code_memory: watched`)"
        )
    if problem:
        raise UsageError(problem)


@cache
def _problem() -> str:
    if shutil.which("bwrap") is None:
        return f"code is run inside bubblewrap, and there is no program `bwrap` here: {INSTALL}"
    try:
        box = start(b"", "probe", {}, Limits(), stdin=subprocess.DEVNULL)
    except UsageError as error:
        return str(error)
    process = box.process
    try:
        out, told = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        return "bubblewrap is installed, but a process inside it did not end within a minute"
    finally:
        box.end()
    if process.returncode == 0 and out.strip() == b"ready":
        return ""
    last = told.decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
    return (
        f"bubblewrap is installed, but can't confine a process here ({last[-1]}): allow user namespaces "
        "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), and in "
        "a container give it CAP_SYS_ADMIN with an unmasked /proc; code under test is never run unconfined"
    )


def start(program: bytes, role: str, setup: Mapping[str, Any], limits: Limits, *, stdin: Any) -> Box:
    """Starts `_inside.py` in a sandbox of its own.

    Args:
        program: File `/box/program`, all that the process is given.
        role: What it does with it: a key of `_inside.main`.
        setup: What it is told besides.
        limits: What it may use.
        stdin: Its only way to another process, besides its standard output.
    """
    root = os.geteuid() == 0
    calls, keyctl = system_calls()
    told = {**asdict(limits), **setup, "role": role, "uid": _next_uid() if root else 0, "keyctl": keyctl}
    held = [_memory_file(calls)]
    memory = limiter(limits.memory, limits.processes)
    try:
        command = ["bwrap", "--seccomp", str(held[0].fileno()), *_namespaces(root), *_view(limits)]
        for name, content in {
            "inside.py": _INSIDE,
            "program": program,
            "setup.json": orjson.dumps(told),
        }.items():
            held.append(_memory_file(content))
            # Whoever reads it inside is neither root nor the owner.
            command += ["--perms", "0444", "--ro-bind-data", str(held[-1].fileno()), f"/box/{name}"]
        # The interpreter itself, not the environment's link to it: nothing of the environment is seen inside.
        interpreter = str(Path(sys.executable).resolve())
        command += ["--remount-ro", "/", "--chdir", _SCRATCH, "--", interpreter, "-I", "-S", "-B"]
        process = subprocess.Popen(
            [*memory.command, *command, "/box/inside.py"],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[file.fileno() for file in held],
            env={"PATH": os.environ.get("PATH", os.defpath)},
            start_new_session=True,
        )
        memory.begin(process)
        return Box(process, memory)
    except BaseException:
        memory.end()
        raise
    finally:
        for file in held:
            file.close()


def _namespaces(root: bool) -> list[str]:
    """Everything unshared. Root needs no user namespace: inside, it becomes a user of its own.

    That nobody inside makes another user namespace is seen to by the filter (`system_calls`).
    """
    if root:
        unshared = [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try")]
        privileges = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        unshared = ["--unshare-all", "--unshare-user", "--disable-userns"]
        privileges = ["--uid", "65534", "--gid", "65534"]
    return [*unshared, *privileges, "--hostname", "box", "--die-with-parent", "--new-session", "--clearenv"]


def _view(limits: Limits) -> list[str]:
    """The file system: the interpreter and its libraries, read-only, and a small `/tmp` in memory."""
    view = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            view += ["--symlink", f"usr/{name}", f"/{name}"]
        elif Path("/", name).is_dir():
            view += ["--ro-bind", f"/{name}", f"/{name}"]
    interpreter = Path(sys.base_prefix)
    # Folders that bubblewrap makes on the way to a mount can be read by their owner alone.
    for folder in (*reversed(interpreter.parents[:-1]), Path("/packages"), Path("/box"), Path("/dev")):
        view += ["--perms", "0755", "--dir", str(folder)]
    if not interpreter.is_relative_to("/usr"):
        view += ["--ro-bind", str(interpreter), str(interpreter)]
    for package in _PACKAGES:
        found = find_spec(package)
        for place in (found.submodule_search_locations or ()) if found else ():
            view += ["--ro-bind", place, f"/packages/{package}"]
            view += ["--ro-bind-try", f"{place}.libs", f"/packages/{package}.libs"]
    for device in ("null", "zero", "urandom", "random"):
        view += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    view += ["--proc", "/proc"]
    for keys in ("keys", "key-users"):
        view += ["--ro-bind-try", "/dev/null", f"/proc/{keys}"]
    view += ["--perms", "1777", "--size", str(limits.disk), "--tmpfs", _SCRATCH]
    for name, value in (("LANG", "C.UTF-8"), ("PATH", "/usr/bin"), ("HOME", _SCRATCH)):
        view += ["--setenv", name, value]
    return view


def _memory_file(content: bytes) -> IO[bytes]:
    file = os.fdopen(os.memfd_create("box"), "w+b")
    file.write(content)
    file.flush()
    file.seek(0)
    return file


def _next_uid() -> int:
    """A user id of its own for every sandbox, so that each has its own count of processes."""
    with _UID_LOCK:
        return _FIRST_UID + next(_UIDS) % (1 << 28)
