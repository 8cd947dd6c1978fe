"""A server of one's own: what it is given, what it keeps, what it says when it can't start."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exchange import connect
from mihakk.annotation.label_studio.server import LocalServer, install
from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ports import free_port
from mihakk.machinery.settings import Settings


@pytest.fixture
def port() -> int:
    return free_port()


def test_secrets_are_made_once_and_readable_by_the_owner_alone(tmp_path, port):
    server = LocalServer(tmp_path / "home", port)
    made = server.secrets
    assert LocalServer(tmp_path / "home", port).secrets == made
    assert (tmp_path / "home" / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert len(made.token) == 40


def test_the_server_gets_no_secret_of_other_services_and_sends_nothing_out(tmp_path, port, monkeypatch):
    monkeypatch.setenv("MIHAKK_HF_TOKEN", "hf_secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    given = LocalServer(tmp_path, port)._environment()
    assert not {"hf_secret", "sk-secret"} & set(given.values())
    assert (given["COLLECT_ANALYTICS"], given["LATEST_VERSION_CHECK"]) == ("false", "false")
    assert given["SENTRY_DSN"] == given["FRONTEND_SENTRY_DSN"] == ""
    assert given["DJANGO_DB"] == "sqlite"


FAKE_UV = """#!/bin/sh
# Installs nothing, and fails where another copy of itself is at work.
mkdir "$0.busy" || exit 1
sleep 0.3
[ "$1" = venv ] && mkdir -p "$5/bin" && touch "$5/bin/python"
[ "$1" = pip ] && touch "$(dirname "$5")/label-studio" && echo once >> "$0.installed"
rmdir "$0.busy"
"""


def test_two_at_once_install_it_once(tmp_path, monkeypatch):
    uv = tmp_path / "uv"
    uv.write_text(FAKE_UV)
    uv.chmod(0o755)
    monkeypatch.setattr("mihakk.annotation.label_studio.server.shutil.which", lambda *_, **__: str(uv))
    with ThreadPoolExecutor(3) as people:
        found = [people.submit(install, tmp_path / "venv") for _ in range(3)]
    assert {one.result() for one in found} == {tmp_path / "venv" / "bin" / "label-studio"}
    assert (tmp_path / "uv.installed").read_text() == "once\n"


def test_postgresql_by_url(tmp_path, port):
    server = LocalServer(tmp_path, port, database="postgresql://ls:pw@127.0.0.1:5433/review")
    given = server._environment()
    assert {name: given[name] for name in given if name.startswith("POSTGRE")} == {
        "POSTGRE_HOST": "127.0.0.1", "POSTGRE_PORT": "5433", "POSTGRE_USER": "ls",
        "POSTGRE_PASSWORD": "pw", "POSTGRE_NAME": "review",
    }  # fmt: skip
    with pytest.raises(UsageError, match="postgresql://"):
        LocalServer(tmp_path, port, database="mysql://x/y")._environment()


def test_a_server_that_ends_at_once_shows_its_last_words(tmp_path, port):
    program = tmp_path / "label-studio"
    program.write_text("#!/bin/sh\necho 'database is broken'\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ExternalFailure, match="database is broken"):
        LocalServer(tmp_path / "home", port, command=program).start(patience=20)


def test_a_port_that_another_program_holds_is_told_before_anything_is_set_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        server = LocalServer(tmp_path / "home", other.getsockname()[1], command=Path("/bin/false"))
        with pytest.raises(UsageError, match="choose a free port with --port"):
            server.start()
    assert not (tmp_path / "home").exists()


def test_somebody_elses_label_studio_on_the_port_is_told_from_ones_own(tmp_path):
    class Theirs(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(
                200 if self.path == "/health" or self.headers["Authorization"] == mine else 401
            )
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Theirs) as theirs:
        threading.Thread(target=theirs.serve_forever, daemon=True).start()
        server = LocalServer(tmp_path, theirs.server_port, command=Path("/bin/false"))
        mine = ""
        with pytest.raises(UsageError, match="another database"):
            server.start()
        mine = f"Token {server.secrets.token}"
        server.start()
        theirs.shutdown()


def test_a_server_that_never_answers_is_given_up_and_stopped(tmp_path, port):
    program = tmp_path / "label-studio"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    server = LocalServer(tmp_path / "home", port, command=program)
    with pytest.raises(ExternalFailure, match="did not start"):
        server.start(patience=1)
    assert server._process is None


def test_a_first_start_is_waited_for_while_migrations_go_on_and_says_so(tmp_path, port, monkeypatch):
    program = tmp_path / "label-studio"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    server = LocalServer(tmp_path / "home", port, command=program)
    now = [0.0]

    def a_migration(seconds: float) -> None:
        now[0] += seconds
        with closing(sqlite3.connect(server.home / "label_studio.sqlite3", isolation_level=None)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS django_migrations (name TEXT)")
            if now[0] < 5:
                database.execute("INSERT INTO django_migrations VALUES ('0001_initial')")

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=a_migration)
    monkeypatch.setattr("mihakk.annotation.label_studio.server.time", clock)
    said: list[str] = []
    with pytest.raises(ExternalFailure, match="did not start"):
        server.start(patience=2, tell=said.append)
    assert 6.5 <= now[0] <= 7.5, "it is given up only when no migration comes any more"
    assert len(said) == 9
    assert all("migrations done" in line for line in said)


def test_a_server_that_dies_is_reported(tmp_path, port):
    server = LocalServer(tmp_path / "home", port)
    server.home.mkdir()
    server.log.write_text("out of memory\n")
    server._process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    server._process.kill()
    with pytest.raises(ExternalFailure, match=r"ended by itself \(exit -9\).*out of memory"):
        server.wait()


def test_serve_on_a_fresh_clone_says_what_to_run_first(tmp_path, monkeypatch):
    monkeypatch.setattr(LocalServer, "start", lambda *_, **__: pytest.fail("started for nothing"))
    done = CliRunner().invoke(app, ["review", "serve", "demo", "--lake", str(tmp_path)])
    assert done.exit_code == 2
    assert "run `make demo` first" in done.stderr


def test_nobody_at_the_address(port, monkeypatch):
    pytest.importorskip("label_studio_sdk")
    monkeypatch.setattr("mihakk.annotation.label_studio.connection.time.sleep", lambda _: None)
    with pytest.raises(ExternalFailure, match="mihakk review serve"):
        Connection(f"http://127.0.0.1:{port}", "0" * 40).check()


class Stranger(BaseHTTPRequestHandler):
    """A web server that is no Label Studio."""

    def do_GET(self) -> None:
        status, body = {"/page": (200, b"<html>hello</html>"), "/list": (200, b"[]")}.get(
            self.server.answer, (404, b"nothing here")
        )
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.mark.parametrize("answer", ["/page", "/list", "/none"])
def test_another_web_server_at_the_address(answer):
    pytest.importorskip("label_studio_sdk")
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        server.answer = answer
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with (
            Connection(f"http://127.0.0.1:{server.server_port}", "0" * 40) as connection,
            pytest.raises(UsageError, match="MIHAKK_LABEL_STUDIO_URL"),
        ):
            connection.check()
        server.shutdown()


def test_no_token_says_how_to_get_one(tmp_path):
    with pytest.raises(UsageError, match="mihakk review serve"):
        connect(Settings(label_studio_home=tmp_path))
