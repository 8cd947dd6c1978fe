"""What a person writes in their own words goes nowhere; what an older version let out is taken back or named."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from types import SimpleNamespace

import orjson
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.store import add
from mihakk.annotation.decisions.words import add_split, words
from mihakk.flows.cli import app
from mihakk.machinery.ids import content_hash
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build
from mihakk.pipeline.people import review_stores
from mihakk.reports.dashboard.page import write_report
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.review import Review
from tests.end_to_end.conftest import Workshop, make_workshop, smaller

ADDRESS = "canary.layla@example.org"
NAME = "Layla Canary-Haddad"
NOTE = f'I, {NAME}, call this "vulgar" & wrong'
PIECES = (b"Canary-Haddad", b"canary.layla", b"vulgar")


def contents(path: Path) -> str:
    """A file as text: tables, packed files and loose git objects unpacked."""
    data = path.read_bytes()
    if data.startswith(b"PAR1"):
        return "\n".join(map(str, pq.read_table(path).to_pylist()))
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    elif "objects" in path.parts and data[:1] == b"x":
        data = zlib.decompress(data)
        if b"PAR1" in data[:64]:
            packed = pq.read_table(io.BytesIO(data.partition(b"\0")[2]))
            return "\n".join(map(str, packed.to_pylist()))
    return data.decode("utf-8", "replace")


def holding(root: Path) -> set[str]:
    """Files below a folder that hold a piece of the note, the name or the address."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(root))
        for path in files
        if any(piece.decode() in contents(path) for piece in PIECES)
    }


def discards(build: Build, count: int = 2) -> list[Review]:
    """Decisions with notes by the person, on the first items that passed."""
    audited = build.stage("6_audited")
    passed = {one.item for one in audited.read_all("verdicts", Verdict) if one.status == "pass"}
    (person,) = pseudonyms(review_stores(build).people, {4: ADDRESS}).values()
    rows = [row for row in audited.read_all("items", ITEM_ROWS) if row.id in passed][:count]
    return [
        Review(
            item=row.id,
            content_hash=content_hash(row),
            annotator=person,
            decision="discard",
            reason="sensitive",
            notes=NOTE,
            decided_at=datetime(2026, 3, 1, tzinfo=UTC),
            annotation=f"made/{number}",
        )
        for number, row in enumerate(rows)
    ]


@pytest.fixture
def shop(tmp_path: Path, auditors, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A small benchmark, built once; the working directory is its folder."""
    made = make_workshop(tmp_path, auditors.url, smaller)
    made.build("a", monkeypatch)
    monkeypatch.chdir(tmp_path / "a")
    monkeypatch.setenv("MIHAKK_LABEL_STUDIO_HOME", str(tmp_path / "a" / "server"))
    monkeypatch.setenv("MIHAKK_ERRATA", str(tmp_path / "a" / "errata"))
    settings.cache_clear()
    return made


def forgetting(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, *more: str, members: dict[int, str] | None = None
) -> Result:
    """`mihakk review forget` against a server with these members."""
    server = SimpleNamespace(users=lambda: dict(members or {}), remove_user=lambda _: None)
    monkeypatch.setattr("mihakk.annotation.label_studio.exchange.connect", lambda _: nullcontext(server))
    call = ["review", "forget", str(shop.config), ADDRESS, "--lake", str(shop.lake("a")), *more]
    return CliRunner().invoke(app, call, catch_exceptions=False)


def test_a_note_and_a_name_reach_no_stage_report_or_release_and_forgetting_changes_no_build(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = shop.open("a", monkeypatch)
    stores = review_stores(build)
    add_split(stores, stores.decisions, Review, discards(build))
    shop.build("a", monkeypatch)
    assert [row.reason for row in build.stage("7_reviewed").rejections()].count("discarded_sensitive") == 2
    write_report(build)
    (held,) = holding(Path.cwd())
    assert held.startswith("lake/small/review/words/"), "the one private table"
    before = {**shop.tables("a")}
    done = forgetting(shop, monkeypatch, "--also", NAME)
    assert (done.exit_code, "0 places still hold" in done.stdout) == (0, True), done.stdout
    assert holding(Path.cwd()) == set()
    shop.build("a", monkeypatch)
    assert shop.tables("a") == before, "every build stays as it was"


def test_what_an_older_version_let_out_is_taken_back_or_named_with_the_account_gone_too(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = shop.open("a", monkeypatch)
    add(review_stores(build).decisions, Review, discards(build))
    assert {one.text for one in words(review_stores(build))} == {NOTE}, "read from where it lies"
    shop.build("a", monkeypatch)
    assert {name.split("/")[2] for name in holding(Path.cwd())} == {"decisions"}, "and copied nowhere"
    leaked(build, shop)
    done = forgetting(shop, monkeypatch, "--also", NAME, "--in", "exports")
    assert done.exit_code == 1
    said = done.stdout
    named = {line.split(": ")[0].removeprefix("left in ") for line in said.splitlines() if "left in" in line}
    assert {Path(name).name for name in named} == {
        "small 9.9.9:leak.html",
        "leak.html",
        "mine.csv",
        "x.jsonl",
        "index.jsonl.gz",
        "ascii.json",
    }
    assert "small 9.9.9:leak.html: published, can't be recalled" in said
    left = {name for name in holding(Path.cwd()) if ".git/objects" not in name}
    assert left == {
        "hub/small/leak.html",
        "exports/mine.csv",
        "lake/small/journals/x.jsonl",
        "lake/small/index.jsonl.gz",
        "lake/ascii.json",
    }
    assert all("notes" not in row.detail for row in build.stage("7_reviewed").rejections())
    assert build.stage("7_reviewed").read_all("items", ITEM_ROWS), "the manifests hold the tables' digests"
    assert "[deleted]" in Path("runs/small/report.html").read_text("utf-8")


def leaked(build: Build, shop: Workshop) -> None:
    """What older versions and people did: notes in a stage, a report, a release, an export, a journal."""
    count = build.stage("7_reviewed").rewrite_rejections(
        lambda row: (
            row.model_copy(update={"detail": f"{row.detail}; notes: {NOTE}"})
            if row.reason == "discarded_sensitive"
            else row
        )
    )
    assert count == 2
    files: dict[str, Callable[[], str]] = {
        "runs/small/report.html": lambda: f"<p>{escape(NOTE)}</p>",
        "exports/mine.csv": lambda: '"' + NOTE.replace('"', '""') + '"',
        "lake/small/journals/x.jsonl": lambda: orjson.dumps({"said": NOTE}).decode(),
        "hub/small/leak.html": lambda: f"<p>{escape(NOTE)}</p>",
    }
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text(), "utf-8")
    Path("lake/small/index.jsonl.gz").write_bytes(gzip.compress(ADDRESS.encode()))
    Path("lake/ascii.json").write_text(json.dumps({"said": f"\u0642 {NOTE}"}), "utf-8")
    hub = shop.hub("a") / "small"
    who = {**os.environ, "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@x"}
    who |= {"GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@x"}
    (hub / "lost.txt").write_text(NOTE, "utf-8")
    for command in (
        ["hash-object", "-w", "lost.txt"],  # in no version: a file of a publication that was killed
        ["add", "leak.html"],
        ["commit", "-qm", "9.9.9"],
        ["tag", "9.9.9"],
    ):
        subprocess.run(["git", "-C", str(hub), *command], check=True, env=who, capture_output=True)
    (hub / "lost.txt").unlink()
