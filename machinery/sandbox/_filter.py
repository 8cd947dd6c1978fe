"""The system calls that a process in the sandbox may make; every other is refused."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache
from typing import Final

from mihakk.machinery.errors import UsageError

_ALLOWED: Final = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2
dup3 open openat openat2 creat stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2
fcntl ioctl getdents getdents64 getcwd chdir fchdir chmod fchmod fchmodat chown fchown lchown fchownat umask
utime utimes utimensat futimesat mkdir mkdirat rmdir link linkat symlink symlinkat readlink readlinkat
unlink unlinkat rename renameat renameat2 truncate ftruncate fallocate fadvise64 fsync fdatasync flock mknod
mknodat getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr sendfile copy_file_range pipe pipe2
poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd
eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
socketpair connect bind listen accept accept4 getsockname getpeername getsockopt setsockopt sendto recvfrom
sendmsg recvmsg sendmmsg recvmmsg shutdown
brk mmap munmap mprotect mremap madvise msync mincore
execve fork vfork wait4 waitid exit exit_group kill tkill tgkill getpid getppid gettid getpgid getpgrp
setpgid setsid getsid getuid geteuid getgid getegid getgroups getresuid getresgid setuid setgid setreuid
setregid setresuid setresgid setgroups capget prctl arch_prctl set_tid_address set_robust_list
get_robust_list rseq futex futex_waitv membarrier restart_syscall pause getcpu getrlimit setrlimit prlimit64
getrusage getpriority setpriority sysinfo uname sched_yield sched_getaffinity sched_setaffinity
sched_getscheduler sched_getparam sched_get_priority_max sched_get_priority_min rt_sigaction rt_sigprocmask
rt_sigreturn rt_sigsuspend rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack
time gettimeofday times clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer
timer_create timer_settime timer_gettime timer_getoverrun timer_delete getrandom
""".split()  # noqa: SIM905 # one name a line would hide what is next to what
"""What an interpreter, its libraries and its child processes need. Left out, among all others: keys, name
spaces and mounts, memory that no limit of a process counts (`memfd_create`, System V, POSIX queues, pipes
joined by `splice`), other processes' memory, and interfaces of the kernel that are no part of computing."""
_FAMILIES: Final = (1, 2, 10)
"""Of sockets: Unix, IPv4 and IPv6. Others leave the name space of the network (AF_VSOCK) or reach drivers."""
_NAMESPACES: Final = 0x7E020000
"""The flags of `clone` that make a name space of any kind."""
_JOIN_SESSION_KEYRING: Final = 1
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.ENOSYS
_EQUAL, _MASKED_EQUAL, _OTHER_ARCHITECTURE = 4, 7, 2


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@cache
def system_calls() -> tuple[bytes, int]:
    """The filter, as bubblewrap loads it, and the number of `keyctl` here.

    A call that is not on the list fails with ENOSYS, as on a kernel without it; a call of another
    architecture (32 bits on a machine of 64) ends the process.

    Raises:
        UsageError: libseccomp is not installed.
    """
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError as error:
        raise UsageError(
            f"code is run behind a filter of system calls, which libseccomp makes: {error}. Install it "
            "(Debian, Ubuntu: apt-get install libseccomp2; Fedora: dnf install libseccomp)"
        ) from None
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(_REFUSE))
    library.seccomp_attr_set(rules, _OTHER_ARCHITECTURE, _KILL)

    def allow(name: str, *wanted: _Comparison) -> None:
        # A name that this architecture does not have resolves to a negative number: nothing to allow.
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            given = (_Comparison * len(wanted))(*wanted)
            failed = library.seccomp_rule_add_array(
                rules, ctypes.c_uint32(_ALLOW), number, len(wanted), given
            )
            if failed:
                raise OSError(-failed, f"libseccomp: {name}")

    try:
        for name in _ALLOWED:
            allow(name)
        for family in _FAMILIES:
            allow("socket", _Comparison(0, _EQUAL, family, 0))
        allow("clone", _Comparison(0, _MASKED_EQUAL, _NAMESPACES, 0))
        # The single thing done with keys: `_inside.confine` takes an empty keyring for the inherited one.
        allow("keyctl", _Comparison(0, _EQUAL, _JOIN_SESSION_KEYRING, 0), _Comparison(1, _EQUAL, 0, 0))
        with os.fdopen(os.memfd_create("filter"), "rb") as file:
            library.seccomp_export_bpf(rules, file.fileno())
            file.seek(0)
            return file.read(), library.seccomp_syscall_resolve_name(b"keyctl")
    finally:
        library.seccomp_release(rules)
