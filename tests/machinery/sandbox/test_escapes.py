"""Programs that try to forge an answer, to leave the sandbox or to take more than it gives: what each ends in.

Needs bubblewrap that may make namespaces: without it these tests fail with the sandbox's own message.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.machinery.sandbox import Limits, Trial, memory_held_by, require_sandbox, run_trial
from mihakk.machinery.sandbox import _memory as memory
from mihakk.machinery.sandbox._filter import system_calls

pytestmark = pytest.mark.services
TESTS = "def check(f):\n    assert f(1) == 2\n    assert f(5) == 6\n"
SHORT = Limits(seconds=4.0)
MIB = 1 << 20


def body(*lines: str) -> str:
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


def forged(message: str) -> str:
    """Writes a message of the protocol into every descriptor before it answers."""
    return (
        f"import os, struct\nsaid = {message}\n"
        "def f(x):\n    for place in range(3, 64):\n        try: os.write(place, struct.pack('!I', len(said)) + said)\n"
        "        except OSError: pass\n    return x + 1\n"
    )


def tried(*lines: str) -> str:
    """Raises what the lines left in `found`, so that the outcome shows it."""
    return body("import ctypes, os, socket", "found = ''", *lines, "raise ValueError(found)")


def refused(statement: str) -> str:
    return tried("try:", f"    found = {statement}", "except OSError as error:", "    found = error.strerror")


ENDS: dict[str, tuple[str, str, str]] = {
    "another answer": (body("return x"), "failed", "line 2"),
    "an answer learnt from the arguments": (body("return {1: 2, 5: 6}.get(x)"), "passed", ""),
    "an answer that is no number": (body("return float('nan')"), "failed", ""),
    "an int that converts to another": (
        "class One(int):\n    def __int__(self): return 2\n" + body("return One(0)"),
        "failed",
        "line 3",
    ),
    "the end of an iterator": (body("raise StopIteration('x')"), "raised", "StopIteration: x"),
    "an answer forged for the next call": (forged('b\'["returned", ["int", "0x2"]]\''), "failed", "line 3"),
    "an exit forged": (forged('b\'["raised", "SystemExit", "0"]\''), "raised", "SystemExit"),
    "a failed assertion forged": (forged('b\'["raised", "AssertionError", "x"]\''), "failed", "line 2"),
    "a range without end forged": (
        forged('b\'["returned", ["range", ["0", "9999999999999999999", "1"]]]\''),
        "failed",
        "line 2",
    ),
    "a message nested too deeply": (forged("b'[' * 100_000 + b']' * 100_000"), "ended", "at call 1"),
    "a message longer than any may be": (forged("b'[' * (17 << 20)"), "ended", "at call 1"),
    "deaf to every signal": (
        "import signal\nfor one in range(1, 64):\n    try: signal.signal(one, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n" + body("import time", "time.sleep(60)"),
        "time",
        "after 4 s",
    ),
    "a process that outlives the call": (
        body(
            "import os, time", "if os.fork() == 0:", "    os.setsid()", "    time.sleep(60)", "return x + 1"
        ),
        "passed",
        "",
    ),
    "becomes root": (refused("os.setuid(0)"), "raised", "Operation not permitted"),
    "kills the first process": (refused("os.kill(1, 9)"), "raised", "Operation not permitted"),
    "reads the first process": (refused("os.listdir('/proc/1/fd')"), "raised", "Permission denied"),
    "reads the kernel's log": (refused("open('/dev/kmsg').read(1)"), "raised", "No such file"),
    "reads the kernel's keys": (refused("open('/proc/keys').read()"), "raised", "Permission denied"),
    "writes a setting of the kernel": (
        refused("open('/proc/sys/kernel/core_pattern', 'w')"),
        "raised",
        "Permission denied|Read-only",
    ),
    "reaches this machine": (
        refused("socket.create_connection(('127.0.0.1', 22), 1)"),
        "raised",
        "Connection refused",
    ),
    "reaches an abstract socket": (
        refused("socket.socket(socket.AF_UNIX).connect('\\0mihakk')"),
        "raised",
        "Connection refused",
    ),
    "asks the kernel about routes": (refused("socket.socket(16, 3, 0)"), "raised", "not implemented"),
    "reaches the machine around a virtual one": (
        refused("socket.socket(40, 1)"),
        "raised",
        "not implemented",
    ),
    "reads packets": (refused("socket.socket(17, 3, 3)"), "raised", "not implemented"),
    "keeps files in memory": (refused("os.memfd_create('a')"), "raised", "not implemented"),
    "sees its own frames, not the tests": (
        tried(
            "import sys",
            "frame = sys._getframe()",
            "while frame:",
            "    found += f'{frame.f_code.co_name} '",
            "    frame = frame.f_back",
        ),
        "raised",
        "f answer_calls main <module>",
    ),
    "fills the disk": (
        tried(
            "try:",
            "    for one in range(500):",
            "        with open(f'/tmp/{one}', 'wb') as file:",
            "            file.write(bytes(1 << 20))",
            "except OSError as error:",
            "    found = f'{one} MiB'",
        ),
        "raised",
        "ValueError: 6[0-4] MiB",
    ),
}
if platform.machine() == "x86_64":
    MACHINE_CODE = (
        "import ctypes, mmap\n"
        "def f(x):\n    code = mmap.mmap(-1, 4096, prot=7)\n    code.write({code!r})\n"
        "    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()\n"
    )
    ENDS["calls the kernel as a program of 32 bits"] = (
        MACHINE_CODE.format(code=b"\xb8\x14\0\0\0\xcd\x80\xc3"),
        "ended",
        "at call 1",
    )
    ENDS["calls the kernel by the numbers of x32"] = (
        body("import ctypes", "return ctypes.CDLL(None).syscall(0x40000000 | 39)"),
        "ended",
        "at call 1",
    )


@pytest.mark.parametrize("name", ENDS)
def test_a_program_that_tries_more_ends_as_stated(name: str) -> None:
    solution, status, detail = ENDS[name]
    outcome = run_trial(Trial(solution, TESTS, "f"), SHORT)
    assert outcome.status == status, outcome
    assert re.search(detail, outcome.detail), outcome


REFUSED = [
    "keyctl",
    "add_key",
    "request_key",
    "unshare",
    "setns",
    "clone3",
    "mount",
    "umount2",
    "pivot_root",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "mount_setattr",
    "chroot",
    "memfd_create",
    "memfd_secret",
    "shmget",
    "shmat",
    "msgget",
    "semget",
    "mq_open",
    "splice",
    "vmsplice",
    "tee",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "pidfd_open",
    "kcmp",
    "kexec_load",
    "open_by_handle_at",
    "name_to_handle_at",
    "seccomp",
    "personality",
    "fanotify_init",
    "init_module",
    "finit_module",
    "syslog",
    "swapon",
    "acct",
    "quotactl",
    "reboot",
    "settimeofday",
    "clock_settime",
    "add_key",
    "mbind",
    "migrate_pages",
    "setxattr",
    "landlock_create_ruleset",
]


def test_interfaces_of_the_kernel_that_solutions_do_not_need_do_not_exist_for_them() -> None:
    resolve = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name
    numbers = {name: resolve(name.encode()) for name in REFUSED}
    assert numbers["keyctl"] == system_calls()[1]
    solution = body(
        "import ctypes",
        "kernel = ctypes.CDLL(None, use_errno=True)",
        "there = []",
        "for name, number in x.items():",
        "    ctypes.set_errno(0)",
        "    if number >= 0 and kernel.syscall(number, *[ctypes.c_long(0)] * 6) != -1 or ctypes.get_errno() not in (0, 38):",
        "        there.append(name)",
        "for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):",
        "    if kernel.syscall(clone, ctypes.c_long(flag | 17), None, None, None, None) != -1: there.append(hex(flag))",
        "return there",
    ).replace("clone, ", f"{resolve(b'clone')}, ")
    outcome = run_trial(Trial(solution, f"assert f({numbers!r}) == [], f({numbers!r})", "f"), SHORT)
    assert outcome.passed, outcome


def test_a_key_of_the_machine_is_not_found() -> None:
    """The session's keyring is inherited from whoever runs Mihakk; a sandbox has an empty one."""
    kernel = ctypes.CDLL(None, use_errno=True)
    add = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(b"add_key")
    name = f"mihakk-{os.getpid()}".encode()
    key = kernel.syscall(add, b"user", name, b"a secret", 8, ctypes.c_long(-3))
    assert key > 0, os.strerror(ctypes.get_errno())
    search = f"ctypes.CDLL(None).syscall({system_calls()[1]}, {{}}, -3, b'user', {name!r}, 0)"
    here = subprocess.run(
        ["python3", "-c", f"import ctypes; print({search.format(10)})"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(here.stdout) == key
    found = run_trial(Trial(body("import ctypes", f"return {search.format(10)}"), "assert f(1) == -1", "f"))
    assert found.passed, found


GREEDY = {
    "four processes": body(
        "import os, time",
        "for _ in range(4):",
        "    if os.fork() == 0:",
        "        held = bytearray(b'x') * (100 << 20)",
        "        time.sleep(30)",
        "        os._exit(0)",
        "time.sleep(30)",
    ),
    "memory shared by processes": body(
        "import mmap, os, time",
        "for _ in range(4):",
        "    if os.fork() == 0:",
        "        mmap.mmap(-1, 100 << 20).write(bytes(100 << 20))",
        "        time.sleep(30)",
        "        os._exit(0)",
        "time.sleep(30)",
    ),
    "empty files without number": body(
        "import os", "for number in range(10**7):", "    os.close(os.open(f'/tmp/{number}', os.O_CREAT))"
    ),
}


@pytest.fixture(params=["cgroup", "watched"])
def held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two ways of limiting memory; only the watch where this machine has no control groups to give."""
    if request.param == "watched":
        monkeypatch.setattr(memory, "group_parent", lambda: None)
    elif memory.group_parent() is None:
        with pytest.raises(UsageError, match="have to run in a control group"):
            require_sandbox("cgroup")
        monkeypatch.setattr(memory, "group_parent", lambda: None)
    return str(request.param)


@pytest.mark.parametrize("name", GREEDY)
def test_processes_of_one_solution_share_one_limit_of_memory(name: str, held: str) -> None:
    limits = Limits(seconds=10.0, memory=256 * MIB)
    outcome = run_trial(Trial(GREEDY[name], TESTS, "f"), limits)
    assert outcome.status == "ended", outcome
    assert "256 MiB together" in outcome.detail, outcome
    assert run_trial(Trial(body("return x + 1"), TESTS, "f"), limits).passed


def test_many_processes_that_share_their_memory_are_not_counted_many_times(held: str) -> None:
    solution = body(
        "import os, time",
        "kept = bytes(b'x') * (100 << 20)",
        "children = []",
        "for _ in range(4):",
        "    if (child := os.fork()) == 0:",
        "        time.sleep(.3)",
        "        os._exit(0)",
        "    children.append(child)",
        "for child in children: os.waitpid(child, 0)",
        "return x + 1",
    )
    assert run_trial(Trial(solution, TESTS, "f"), Limits(memory=256 * MIB)).passed


def test_no_control_group_is_left_behind() -> None:
    parent = memory.group_parent()
    run_trial(Trial(body("import os, time", "os.fork()", "time.sleep(30)"), TESTS, "f"), Limits(seconds=2.0))
    assert not list(parent.glob(f"mihakk-{os.getpid()}-*")) if parent else memory_held_by() == "watched"


def test_where_no_group_can_be_made_code_is_watched_or_by_wish_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mihakk.machinery.sandbox._bubblewrap.group_parent", lambda: None)
    assert memory_held_by() == "watched"
    require_sandbox()
    with pytest.raises(UsageError, match="have to run in a control group"):
        require_sandbox("cgroup")


def test_without_libseccomp_nothing_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from mihakk.machinery.sandbox import _bubblewrap

    def absent(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    system_calls.cache_clear()
    _bubblewrap._problem.cache_clear()
    try:
        with pytest.raises(UsageError, match="apt-get install libseccomp2"):
            run_trial(Trial(body("return x + 1"), TESTS, "f"))
    finally:
        system_calls.cache_clear()
        _bubblewrap._problem.cache_clear()
