"""The digest by mail: a server that speaks SMTP gets it whole, and what goes wrong is one line without secrets."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import settings
from mihakk.reports.mail import mail

TEXT = "# Mihakk since yesterday\n\n## Ghazals · غزل\n.\n- Runs: 1 finished.\n"


class Desk(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as one message needs."""

    def handle(self) -> None:
        server: Office = self.server  # type: ignore[assignment]
        self.say(220, "here")
        while line := self.rfile.readline().decode().strip():
            server.heard.append(line)
            verb = line.split(" ", maxsplit=1)[0].upper()
            if verb in server.refused:
                self.say(*server.refused[verb])
            elif verb == "EHLO":
                self.wfile.write(b"250-here\r\n250-AUTH PLAIN\r\n250 SMTPUTF8\r\n")
            elif verb == "AUTH":
                self.say(235, "welcome")
            elif verb == "DATA":
                self.say(354, "go on")
                body = []
                while (row := self.rfile.readline()) != b".\r\n":
                    body.append(row[1:] if row.startswith(b"..") else row)
                server.kept.append(b"".join(body))
                self.say(250, "kept")
            elif verb == "QUIT":
                self.say(221, "bye")
                return
            else:
                self.say(250, "well")

    def say(self, code: int, words: str) -> None:
        self.wfile.write(f"{code} {words}\r\n".encode())


class Office(socketserver.ThreadingTCPServer):
    """A mail server in a thread."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, refused: dict[str, tuple[int, str]]) -> None:
        super().__init__(("127.0.0.1", 0), Desk)
        self.refused, self.heard, self.kept = refused, list[str](), list[bytes]()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextmanager
def office(monkeypatch: pytest.MonkeyPatch, user: str = "", **refused: tuple[int, str]) -> Iterator[Office]:
    with Office(refused) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("MIHAKK_SMTP", f"smtp://{user}127.0.0.1:{server.port}")
        settings.cache_clear()
        yield server
        server.shutdown()
    settings.cache_clear()


def test_everybody_gets_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    people = ["layla@example.org", "omid@example.org"]
    with office(monkeypatch) as server:
        mail("Mihakk: bad · غزل", TEXT, people)
    (kept,) = server.kept
    found = email.message_from_bytes(kept, policy=email.policy.default)
    assert found.get_content().replace("\r\n", "\n") == TEXT
    assert found["Subject"] == "Mihakk: bad · غزل"
    assert [one.addr_spec for one in found["To"].addresses] == people
    assert [line for line in server.heard if line.upper().startswith("RCPT")] == [
        f"rcpt TO:<{one}>" for one in people
    ]


def test_a_password_is_not_sent_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    with office(monkeypatch, "bell:hush%40hush@") as server, pytest.raises(UsageError, match="smtps://"):
        mail("s", TEXT, ["layla@example.org"])
    assert not any("AUTH" in line.upper() for line in server.heard)


@pytest.mark.parametrize(
    ("verb", "code", "kind"), [("RCPT", 550, ExternalFailure), ("DATA", 451, ExternalFailure)]
)
def test_a_refusal_is_one_line_without_the_address(
    monkeypatch: pytest.MonkeyPatch, verb: str, code: int, kind: type[Exception]
) -> None:
    with office(monkeypatch, **{verb: (code, "no")}) as server, pytest.raises(kind) as error:
        mail("s", TEXT, ["layla@example.org"])
    assert "\n" not in str(error.value)
    assert str(server.port) not in str(error.value)
    assert server.kept == []


def test_a_server_that_is_gone_is_an_outside_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with office(monkeypatch) as server:
        server.server_close()
    monkeypatch.setenv("MIHAKK_SMTP", f"smtp://127.0.0.1:{server.port}")
    settings.cache_clear()
    with pytest.raises(ExternalFailure, match="run again later"):
        mail("s", TEXT, ["layla@example.org"])


@pytest.mark.parametrize(("server", "to"), [("", "a@b.c"), ("http://x", "a@b.c"), ("smtp://x", "Layla")])
def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, server: str, to: str) -> None:
    monkeypatch.setenv("MIHAKK_SMTP", server)
    settings.cache_clear()
    with pytest.raises(UsageError, match=r"MIHAKK_SMTP|NAME@HOST"):
        mail("s", TEXT, [to])


def test_the_digest_goes_by_mail(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    with office(monkeypatch) as server:
        done = CliRunner().invoke(
            app, ["digest", "demo", "--lake", str(tmp_path), "--mail", "layla@example.org"]
        )
    assert done.exit_code == 0, done.output
    (kept,) = server.kept
    found = email.message_from_bytes(kept, policy=email.policy.default)
    assert found["Subject"].startswith("Mihakk: demo ")
    assert found.get_content().replace("\r\n", "\n") == done.stdout
