"""Nights on a real server: new rows, corrected rows, a truncated file, a sign-off, a provider that is down, a full
disk; after each, the digest and the page alone say what happened."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from mihakk.machinery.llm.scripted import ScriptedServer
from tests.drills.test_lake import may_mount, mounted
from tests.drills.test_nightly import place
from tests.end_to_end.conftest import Workshop, make_workshop, opinion
from tests.end_to_end.sayings import ROWS, Sayings, corrected
from tests.prefect_server import PATIENCE, PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.drill, pytest.mark.timeout(3600)]


class Nights:
    """A benchmark whose source changes from night to night, its server and worker, and what people are told."""

    def __init__(
        self, folder: Path, shop: Workshop, sayings: Sayings, server: PrefectServer, told: list[str]
    ) -> None:
        self.folder, self.shop, self.sayings, self.server, self._told = folder, shop, sayings, server, told
        self.readme = shop.hub("nights") / "small" / "README.md"
        self._release = server.deployment("release/small")["id"]

    def night(self, rows: Sequence[dict[str, Any]]) -> str:
        """The file as that night finds it; how the night ended."""
        self.sayings.write(rows)
        run = self.server.submit("nightly/small", runs=str(self.folder / "runs"))
        return str(self.server.ended(run)["type"])

    def morning(self, name: str) -> tuple[str, str]:
        """Digest and page of the morning after, as words; both are kept in the test's folder."""
        before = len(self._told)
        run = self.server.submit("digest/small", runs=str(self.folder / "runs"))
        assert self.server.ended(run)["type"] == "COMPLETED"
        assert len(self._told) == before + 1
        digest: str = json.loads(self._told[-1])["text"]
        page = self.folder / f"{name}.html"
        self.server.run(
            *(sys.executable, "-m", "mihakk.flows.cli", "report", str(self.shop.config), "--out", str(page)),
            **place(self.shop, "nights"),
        )
        words = words_of(page.read_text("utf-8"))
        page.with_suffix(".txt").write_text(f"{digest}\n\n{words}", encoding="utf-8")
        return digest, words

    def paused(self) -> list[str]:
        """Runs of the release that wait for a person."""
        found = self.server.rows("flow_runs")
        mine = [one for one in found if one["deployment_id"] == self._release]
        return [one["id"] for one in mine if one["state"]["type"] == "PAUSED"]


def words_of(page: str) -> str:
    """What a reader of an HTML page sees, a line for each block."""
    tree = LexborHTMLParser(page)
    tree.strip_tags(["style", "script", "svg"])
    assert tree.body is not None
    lines = (" ".join(line.split()) for line in tree.body.text(separator="\n").splitlines())
    return "\n".join(line for line in lines if line)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """No room on the disk of a folder, as long as the block lasts."""
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(folder).free))
    yield
    ballast.unlink()


def alerts(server: PrefectServer) -> list[str]:
    """What the job `alert` noted."""
    return [row["data"] for row in server.rows("artifacts") if row["key"] == "alert"]


def first_point(digest: str) -> str:
    return next(line for line in digest.splitlines() if line.startswith("- "))


def test_each_morning_says_what_happened_in_the_night(
    tmp_path: Path,
    auditors: ScriptedServer,
    prefect_server: PrefectServer,
    pager: tuple[str, list[str]],
) -> None:
    if not may_mount(tmp_path / "probe"):
        pytest.skip("needs the right to mount a small disk")
    sayings = Sayings(tmp_path)
    shop = make_workshop(tmp_path, auditors.url, sayings.source)
    address, told = pager
    quiet = prefect_server.start(sys.executable, "-m", "mihakk.flows.cli", "deploy", str(shop.config))
    assert quiet.wait(PATIENCE) == 0
    warned = max(prefect_server.folder.glob("process-*.log"), key=lambda log: log.stat().st_mtime)
    assert "nobody is told when a job fails" in warned.read_text("utf-8").replace("\n", " ")
    prefect_server.unschedule()
    prefect_server.worker(**place(shop, "nights"), MIHAKK_DIGEST_WEBHOOK=address)
    nights = Nights(tmp_path, shop, sayings, prefect_server, told)
    lake = shop.lake("nights")
    lake.mkdir(parents=True)
    mounted("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(lake))
    try:
        of_rows(nights)
        of_faults(nights, auditors, lake)
    finally:
        mounted("umount", "--lazy", str(lake))


def of_rows(nights: Nights) -> None:
    """New and corrected rows, a truncated file, and the person who releases what is left."""
    assert nights.night(ROWS[:40]) == "COMPLETED"

    assert nights.night(ROWS[:42]) == "COMPLETED"
    digest, _ = nights.morning("1-new-rows")
    assert "sayings: 42 rows seen, 2 new, 0 changed, 0 vanished, 0 rejected" in digest

    assert nights.night(corrected(ROWS[:42], 3, 6)) == "COMPLETED"
    assert not nights.paused()
    digest, _ = nights.morning("2-corrected-rows")
    assert "sayings: 42 rows seen, 0 new, 2 changed, 0 vanished, 0 rejected" in digest
    assert "because of rows of source sayings: 2 changed" in digest
    assert "Held" not in digest
    released = nights.readme.read_text("utf-8")

    assert nights.night(corrected(ROWS[:20], 3, 6)) == "COMPLETED"
    server = nights.server
    server.wait(nights.paused, PATIENCE, "nobody was asked")
    assert nights.readme.read_text("utf-8") == released, "released without a word"
    server.wait(lambda: alerts(server), PATIENCE, "nobody was told that a release waits")
    assert "Read the artifact sign-off of this run" in alerts(server)[-1]
    assert nights.paused()[0] in alerts(server)[-1].split("/flow-run/")[-1], "the run is not linked"
    digest, _ = nights.morning("3-truncated-file")
    first = first_point(digest)
    assert first.startswith("- Held: more changed since version ")
    assert "22 of 42 rows of source sayings vanished (52.4%, allowed 10.0%)" in first
    assert "--sign-off NAME" in first
    (shown, *_) = [row["data"] for row in server.rows("artifacts") if row["key"] == "sign-off"]
    assert "22 of 42 rows of source sayings vanished" in shown

    (waiting,) = nights.paused()
    word = {"decision": "approve", "name": "Layla", "note": "the publisher withdrew the second half"}
    server.ask("POST", f"flow_runs/{waiting}/resume", {"run_input": word})
    assert server.ended(waiting)["type"] == "COMPLETED"
    assert "Signed off by Layla" in nights.readme.read_text("utf-8")
    digest, _ = nights.morning("4-sign-off")
    assert "Held" not in digest
    assert "rows of source sayings: 22 vanished; signed off by Layla" in digest


def of_faults(nights: Nights, auditors: ScriptedServer, lake: Path) -> None:
    """No provider, no room, and a night that makes both good."""
    auditors.stop()
    assert nights.night(corrected(ROWS[:23], 3, 6)) == "FAILED"
    digest, page = nights.morning("5-provider-down")
    (told,) = [line for line in digest.splitlines() if "did not answer" in line]
    assert told.startswith("- bad: 6_audited has failed since ")
    assert "did not answer" in page

    with ScriptedServer(opinion, port=auditors.port), full(lake):
        assert nights.night(corrected(ROWS[:24], 3, 6)) == "FAILED"
        digest, page = nights.morning("6-full-disk")
        assert f"- bad: the disk of {lake / 'small'} is full" in digest
        assert "is full" in page

    with ScriptedServer(opinion, port=auditors.port):
        assert nights.night(corrected(ROWS[:24], 3, 6)) == "COMPLETED"
    digest, _ = nights.morning("7-all-well")
    assert "rows of source sayings: 4 new" in digest
    (over,) = [line for line in digest.splitlines() if line.startswith("- Failed, and done since: ")]
    assert "did not answer" in over
    assert "- bad: " not in digest
