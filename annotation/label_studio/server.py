"""A Label Studio of one's own: installed in its own environment, on loopback, sending nothing out."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from filelock import FileLock

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ports import is_free
from mihakk.machinery.settings import ROOT
from mihakk.machinery.telemetry import NO_TELEMETRY

REQUIREMENTS = ROOT / "requirements" / "label-studio.txt"
ENVIRONMENT = ROOT / ".venv-labelstudio"
FIRST_START_SECONDS = 300
"""A first start runs the database migrations: about 90 s on two busy cores."""


@dataclass(frozen=True)
class Secrets:
    """What the first start of a server makes up; kept beside its database, readable by its owner alone."""

    email: str
    password: str
    token: str


def install(environment: Path = ENVIRONMENT) -> Path:
    """Path of the `label-studio` command; installs the pinned version where it is missing.

    Label Studio's dependencies clash with the pipeline's, so it lives in an environment of its own. A second
    process waits while one installs. `ExternalFailure` where the package registry can't be reached.
    """
    with FileLock(environment.with_name(f"{environment.name}.lock")):
        return _installed(environment)


def installed(environment: Path = ENVIRONMENT) -> bool:
    """Whether the pinned version is there."""
    stamp = environment / "requirements.txt"
    return (
        (environment / "bin" / "label-studio").exists()
        and stamp.exists()
        and stamp.read_text("utf-8") == REQUIREMENTS.read_text("utf-8")
    )


def _installed(environment: Path) -> Path:
    command = environment / "bin" / "label-studio"
    if installed(environment):
        return command
    uv = shutil.which(
        "uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    )
    if uv is None:
        raise UsageError("installing Label Studio needs uv; run `make setup` first")
    steps: list[list[str]] = []
    if not (environment / "bin" / "python").exists():
        steps.append([uv, "venv", "--quiet", "--python", sys.executable, str(environment)])
    python = str(environment / "bin" / "python")
    steps.append([uv, "pip", "install", "--quiet", "--python", python])
    steps[-1] += ["--require-hashes", "-r", str(REQUIREMENTS)]
    settings = dict(os.environ)
    if links := settings.get("PIP_FIND_LINKS"):
        settings.setdefault("UV_FIND_LINKS", links)
    for step in steps:
        done = subprocess.run(step, env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ExternalFailure(f"installing Label Studio failed: {done.stderr.strip()[-500:]}")
    (environment / "requirements.txt").write_text(REQUIREMENTS.read_text("utf-8"), "utf-8")
    return command


class LocalServer:
    """A Label Studio process and its database; a context manager that stops what it started.

    Args:
        home: Folder of the database, secrets and log; made on the first start and reused by the next.
        port: TCP port on 127.0.0.1.
        database: `postgresql://user:password@host:port/name` for more than about five people at once;
            SQLite in write-ahead mode when empty.
        command: The `label-studio` program; installed when None.
    """

    def __init__(
        self, home: Path, port: int = 8090, *, database: str = "", command: Path | None = None
    ) -> None:
        self.home = home
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._database = database
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LocalServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def secrets(self) -> Secrets:
        """Account and token of the organisation's owner, made up on first use."""
        path = self.home / "secrets.json"
        if not path.exists():
            self.home.mkdir(parents=True, exist_ok=True)
            made = Secrets("owner@mihakk.invalid", secrets.token_urlsafe(18), secrets.token_hex(20))
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                json.dump(asdict(made), file)
        return Secrets(**json.loads(path.read_text("utf-8")))

    def exists(self) -> bool:
        """Whether it was ever started in this home."""
        return (self.home / "secrets.json").exists()

    @property
    def log(self) -> Path:
        """What the server prints."""
        return self.home / "server.log"

    def answers(self) -> bool:
        """Whether a server at this address says that it is up."""
        try:
            return httpx.get(f"{self.url}/health", timeout=5).is_success
        except httpx.TransportError:
            return False

    def start(
        self, patience: float = FIRST_START_SECONDS, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Starts the server and waits until it answers; one that runs already is used as it is.

        Args:
            patience: Seconds without an answer and without a further database migration after which it is
                given up.

        Raises:
            UsageError: Another program, or somebody else's Label Studio, listens on its port.
            ExternalFailure: It ended or didn't answer in time; the message shows the end of its log.
        """
        if self.answers():
            known = {"Authorization": f"Token {self.secrets.token}"}
            if httpx.get(f"{self.url}/api/current-user/whoami", headers=known, timeout=30).status_code == 401:
                raise UsageError(
                    f"a Label Studio with another database runs on port {self.port}; stop it, or choose a "
                    "free port with --port"
                )
            return
        if not is_free(self.port):  # the server itself would say so only after minutes of migrations
            raise UsageError(f"another program listens on port {self.port}; choose a free port with --port")
        if self._command is None and not installed():
            tell("Installing Label Studio (1 GB, a few minutes)…")
        command = self._command or install()
        self.home.mkdir(parents=True, exist_ok=True)
        if not self._database:
            _write_ahead(self.home / "label_studio.sqlite3")
        options = [
            "--no-browser",
            "--internal-host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--log-level",
            "WARNING",
        ]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(command), "start", *options],
                env=self._environment(),
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline, done = time.monotonic() + patience, self._migrations()
        while not self.answers():
            if (now := self._migrations()) > done:
                deadline, done = time.monotonic() + patience, now
                tell(f"Setting up Label Studio's database, a minute or two: {done} migrations done…")
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise ExternalFailure(
                    f"Label Studio did not start on {self.url}; the log ends: {self._log_end()}"
                )
            time.sleep(0.5)

    def stop(self) -> None:
        """Stops the server this object started, and nothing else."""
        if self._process is None:
            return
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, sign)
                self._process.wait(timeout=10)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self._process = None

    def wait(self) -> None:
        """Blocks while a server in the foreground runs; `ExternalFailure` where it ended by itself."""
        if self._process is not None:
            code = self._process.wait()
            raise ExternalFailure(
                f"Label Studio on {self.url} ended by itself (exit {code}); run the same command again: "
                f"nothing that people submitted is lost. The log ends: {self._log_end()}"
            )

    def _migrations(self) -> int:
        """Database migrations made so far; 0 where that can't be told, as with PostgreSQL."""
        path = self.home / "label_studio.sqlite3"
        if self._database or not path.exists():
            return 0
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)) as database:
                return int(database.execute("SELECT count(*) FROM django_migrations").fetchone()[0])
        except sqlite3.Error:
            return 0

    def _log_end(self) -> str:
        lines = self.log.read_text("utf-8", errors="replace").splitlines() if self.log.exists() else []
        return " | ".join(lines[-5:])[-600:]

    def _environment(self) -> dict[str, str]:
        own = self.secrets
        # Only what a program needs to run: tokens of other services are none of this server's business.
        kept = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            **_database(self._database),
            "LABEL_STUDIO_BASE_DATA_DIR": str(self.home),
            "LABEL_STUDIO_HOST": self.url,
            "LABEL_STUDIO_USERNAME": own.email,
            "LABEL_STUDIO_PASSWORD": own.password,
            "LABEL_STUDIO_USER_TOKEN": own.token,
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",  # nosec B105 # a switch; read only when the organisation is first made
            "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
            **NO_TELEMETRY,
            "SENTRY_DSN": "",  # both default to the vendor's address; empty turns reporting off
            "FRONTEND_SENTRY_DSN": "",
            # What somebody left open, or had open when the server was killed, is theirs for an hour; the
            # server's own default is a day, in which nobody else is offered it.
            "TASK_LOCK_TTL": "3600",
            # Webhooks to loopback are refused otherwise; cloud metadata stays out of reach.
            "USE_DEFAULT_BANNED_SUBNETS": "false",
            "USER_ADDITIONAL_BANNED_SUBNETS": "169.254.0.0/16",
        }


def _write_ahead(path: Path) -> None:
    """Puts the database, made if missing, into write-ahead mode, which it then stays in."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")


def _database(url: str) -> dict[str, str]:
    if not url:
        return {"DJANGO_DB": "sqlite"}
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql") or not parts.path.strip("/"):
        raise UsageError(
            "a review database is postgresql://user:password@host:port/name, or empty for SQLite"
        )
    return {
        "DJANGO_DB": "default",
        "POSTGRE_HOST": parts.hostname or "127.0.0.1",
        "POSTGRE_PORT": str(parts.port or 5432),
        "POSTGRE_USER": parts.username or "",
        "POSTGRE_PASSWORD": parts.password or "",
        "POSTGRE_NAME": parts.path.strip("/"),
    }
