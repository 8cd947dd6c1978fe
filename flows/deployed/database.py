"""A PostgreSQL of the Prefect server's own: a cluster in a folder, on loopback, stopped with the server."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ports import free_port

START_SECONDS = 120
USER = "postgres"
"""The database's owner; under root also the user that PostgreSQL runs as, for it refuses root."""
PACKAGED = Path("/usr/lib/postgresql")
"""Where Debian puts the programs, a folder per version, outside PATH."""


class Database:
    """A PostgreSQL cluster; a context manager that stops what it started.

    Raises:
        UsageError: PostgreSQL is not installed, or its folder can't be its own.
        ExternalFailure: It ended or did not answer in time; the message shows the end of its log.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._programs = _programs()
        self._identity = _unprivileged()
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def __enter__(self) -> Database:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Address and password, as SQLAlchemy takes them: valid while it runs."""
        password = self._password.read_text("ascii").strip()
        return f"postgresql+asyncpg://{USER}:{password}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Starts it on a free port of 127.0.0.1; the first start makes the cluster."""
        self._make_folder()
        if not (self._data / "PG_VERSION").exists():
            self._initialize()
        self._port = free_port()
        options = {"port": self._port, "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        settings = [f"--{key}={value}" for key, value in options.items()]
        with self._log.open("ab") as log:
            self._process = self._popen("postgres", "-D", str(self._data), *settings, log=log)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise ExternalFailure(f"PostgreSQL did not start in {self.folder}: {self._log_end()}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Ends it in order: SIGINT makes PostgreSQL close connections and write what it holds."""
        if self._process is None:
            return
        self._process.send_signal(2)
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _log(self) -> Path:
        return self.folder / "postgres.log"

    @property
    def _password(self) -> Path:
        return self.folder / "password"

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        if self._identity:
            os.chown(self.folder, *self._identity)
            self._check_reachable()
        if not self._password.exists():
            with os.fdopen(os.open(self._password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(24))
            if self._identity:
                os.chown(self._password, *self._identity)

    def _check_reachable(self) -> None:
        closed = [str(up) for up in self.folder.parents if not up.stat().st_mode & 0o001]
        if closed:
            raise UsageError(
                f"Mihakk runs as root, so PostgreSQL runs as {USER!r}, who may not enter {closed[-1]}. "
                "Name a folder it can reach with --data, or run Mihakk as another user"
            )

    def _initialize(self) -> None:
        # A cluster that was cut off while it was made has no version yet: nothing is lost with it.
        shutil.rmtree(self._data, ignore_errors=True)
        with self._log.open("ab") as log:
            made = self._popen(
                *("initdb", "-D", str(self._data), "--username", USER, "--pwfile", str(self._password)),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"),
                log=log,
            )
        if made.wait():
            raise ExternalFailure(f"initdb failed in {self.folder}: {self._log_end()}")

    def _popen(self, program: str, *options: str, log: IO[bytes]) -> subprocess.Popen[bytes]:
        user, group = self._identity if self._identity else (None, None)
        others: list[int] | None = [] if self._identity else None
        return subprocess.Popen(
            [str(self._programs / program), *options],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            user=user,
            group=group,
            extra_groups=others,
        )

    def _answers(self) -> bool:
        ready = [str(self._programs / "pg_isready"), "--quiet", "--host=127.0.0.1", f"--port={self._port}"]
        return subprocess.run(ready, check=False).returncode == 0

    def _log_end(self) -> str:
        lines = self._log.read_text("utf-8", errors="replace").splitlines() if self._log.exists() else []
        return " | ".join(lines[-5:])[-600:]


def _programs() -> Path:
    """Folder of `initdb`, `postgres` and `pg_isready`: on PATH, else the newest of Debian's packages."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = [path for path in PACKAGED.glob("*/bin") if re.fullmatch(r"\d+", path.parent.name)]
    if not versions:
        raise UsageError(
            "PostgreSQL is not installed: install it (Debian: apt-get install postgresql), or name a server "
            "that runs already with --database postgresql+asyncpg://user:password@host:5432/name"
        )
    return max(versions, key=lambda path: int(path.parent.name))


def _unprivileged() -> tuple[int, int] | None:
    """Numbers of user and group for PostgreSQL where this process is root's; None where it is not."""
    if os.geteuid() != 0:
        return None
    try:
        found = pwd.getpwnam(USER)
    except KeyError:
        raise UsageError(
            f"PostgreSQL refuses to run as root and there is no user {USER!r}: install Debian's package "
            "postgresql, which makes one, or run Mihakk as another user"
        ) from None
    return found.pw_uid, found.pw_gid
