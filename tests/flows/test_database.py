"""`mihakk server`: PostgreSQL of its own, found, made, guarded by a password, and whole after a crash."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.flows.deployed import database
from mihakk.flows.deployed.database import Database
from mihakk.machinery.errors import UsageError


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that root's PostgreSQL can enter, as a test's own is not."""
    made = Path(tempfile.mkdtemp(prefix="mihakk-postgres-"))
    made.chmod(0o755)
    yield made / "cluster"
    shutil.rmtree(made)


def asked(url: str, question: str) -> object:
    async def ask() -> object:
        connection = await asyncpg.connect(url.replace("+asyncpg", ""))
        try:
            return await connection.fetchval(question)
        finally:
            await connection.close()

    return asyncio.run(ask())


@pytest.mark.services
def test_the_database_keeps_its_rows_through_a_crash_and_lets_in_nobody_without_the_password(
    folder: Path,
) -> None:
    with Database(folder) as first:
        asked(first.url, "create table nights as select 7 as n")
        password = first.url.partition("postgres:")[2].partition("@")[0]
        assert len(password) >= 32
        with pytest.raises(asyncpg.InvalidPasswordError):
            asked(first.url.replace(password, "guessed"), "select 1")
        assert asked(first.url, "show listen_addresses") == "127.0.0.1"
        (pid, *_) = (folder / "data" / "postmaster.pid").read_text().split()
        os.kill(int(pid), signal.SIGKILL)
    assert (folder / "password").stat().st_mode & 0o077 == 0
    with Database(folder) as second:
        assert asked(second.url, "select n from nights") == 7


def test_postgresql_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(database, "PACKAGED", tmp_path)
    with pytest.raises(UsageError, match="apt-get install postgresql"):
        Database(tmp_path / "cluster")


def test_the_newest_of_debians_packages_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("9", "15", "old"):
        (tmp_path / version / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(database, "PACKAGED", tmp_path)
    assert database._programs() == tmp_path / "15" / "bin"


def test_a_database_of_another_kind_is_refused_and_its_password_is_not_printed() -> None:
    done = CliRunner().invoke(app, ["server", "--database", "mysql://me:hidden-word@host/name"])
    assert done.exit_code == 2
    assert "postgresql+asyncpg://user:password@host:5432/name" in done.output
    assert "hidden-word" not in done.output
