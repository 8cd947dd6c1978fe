"""What happens to a lake's files and clock: named, corrected by the next run, and nothing paid twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import orjson
import psutil
import pytest

from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.schemas.stages import STAGES
from tests.end_to_end.conftest import Workshop, make_workshop, opinion

pytestmark = pytest.mark.slow

CALLS = 120
"""Sixty items, two auditors."""
IN_FLIGHT = 2 * 4
"""Answers that can be on the wire of one run when it stops."""


def build(shop: Workshop, name: str = "a") -> tuple[int, str]:
    """A build in this process: its exit code and what it said."""
    done = shop.run(name, "build", str(shop.config))
    return done.exit_code, " ".join(done.stderr.split())


def finish(shop: Workshop, name: str, **environment: str) -> tuple[int, str]:
    """The same in a process of its own."""
    process = shop.start(name, **environment)
    _, err = process.communicate(timeout=300)
    assert "Traceback" not in err, err
    return process.returncode, " ".join(err.split())


def twice(auditors: ScriptedServer) -> int:
    """Calls that were asked more than once."""
    asked = Counter(json.dumps(call.body, sort_keys=True) for call in auditors.calls)
    assert len(asked) == CALLS
    return asked.total() - len(asked)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tables and release of an undisturbed run."""
    with ScriptedServer(opinion) as server:
        shop = make_workshop(tmp_path_factory.mktemp("calm"), server.url)
        code, said = build(shop, "calm")
        assert code == 0, said
        return shop.tables("calm")


def test_parts_that_rotted_or_were_cut_short_are_named_and_made_again(
    workshop: Workshop, auditors: ScriptedServer, calm: dict[str, str]
) -> None:
    assert build(workshop)[0] == 0
    reviewed = rot(workshop, "7_reviewed", "items")
    done = workshop.run("a", "release", str(workshop.config))
    assert done.exit_code == 75, done.stderr
    assert reviewed.name in done.stderr
    assert "mihakk build" in done.stderr
    for stage, table in (("1_scraped", "poems"), ("3_curated", "poems")):
        rot(workshop, stage, table)
    for stage in ("4_generated", "6_audited"):
        part = next((workshop.lake("a") / "small" / stage / "items").glob("part-*.parquet"))
        part.write_bytes(part.read_bytes()[:-100])
    assert build(workshop)[0] == 0
    assert workshop.tables("a") == calm
    assert twice(auditors) == 0


def rot(shop: Workshop, stage: str, table: str) -> Path:
    """One byte in the middle of a part becomes another."""
    part = max((shop.lake("a") / "small" / stage / table).glob("part-*.parquet"))
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 0x55
    part.write_bytes(data)
    return part


def test_of_two_runs_on_one_lake_one_says_why_it_stops(
    workshop: Workshop, auditors: ScriptedServer, calm: dict[str, str]
) -> None:
    pair = [workshop.start("a"), workshop.start("a")]
    said = [process.communicate(timeout=300)[1] for process in pair]
    codes = sorted(process.returncode for process in pair)
    assert codes == [0, 2], said
    refused = next(text for text, process in zip(said, pair, strict=True) if process.returncode == 2)
    assert "is working on" in " ".join(refused.split())
    assert "another run (process " in " ".join(refused.split())
    assert build(workshop)[0] == 0
    assert workshop.tables("a") == calm
    assert twice(auditors) == 0


def test_a_half_upgraded_lake_is_upgraded_and_a_newer_one_refused(
    workshop: Workshop, auditors: ScriptedServer, calm: dict[str, str]
) -> None:
    assert build(workshop)[0] == 0
    lake = workshop.lake("a") / "small"
    for stage in ("4_generated", "5_checked", "6_audited"):
        for path in (lake / stage / "manifest.json", *(lake / stage / "shards").glob("*.json")):
            old = {**orjson.loads(path.read_bytes()), "format": 0, "a_field_that_was_dropped": 1}
            path.write_bytes(orjson.dumps(old))
        for part in (lake / stage / "items").glob("*.parquet"):
            part.write_bytes(b"a table of another form")
    assert build(workshop)[0] == 0
    assert workshop.tables("a") == calm
    assert twice(auditors) == 0
    manifest = lake / "5_checked" / "manifest.json"
    manifest.write_bytes(orjson.dumps({**orjson.loads(manifest.read_bytes()), "format": 99}))
    code, said = build(workshop)
    assert code == 2, said
    assert "newer Mihakk" in said
    assert workshop.tables("a") == calm


def test_a_worker_process_that_is_killed_stops_the_run_and_nothing_is_lost(
    workshop: Workshop, auditors: ScriptedServer, calm: dict[str, str]
) -> None:
    process = workshop.start("a", MIHAKK_WORKERS="2")
    generated = workshop.lake("a") / "small" / "4_generated"
    while process.poll() is None and not generated.is_dir():
        time.sleep(0.01)
    workers = [
        child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())
    ]
    workers[0].kill()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 75, err
    assert "a worker died" in " ".join(err.split())
    assert build(workshop)[0] == 0
    assert workshop.tables("a") == calm
    assert twice(auditors) == 0


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], None]]:
    """The folder on a disk of one page of memory, full after a file or two, and what makes it larger."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder))
    try:
        yield lambda: mounted("mount", "-o", "remount,size=64m", str(folder))
    finally:
        mounted("umount", "--lazy", str(folder))


@contextmanager
def refusing_disk(library: Path, folder: Path) -> Iterator[Callable[[], None]]:
    """The same without the right to mount: whatever opens a file there to write is told that the disk is full."""
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        patch.setenv("FULL_DISK", str(folder.resolve()))
        yield patch.undo


def may_mount(folder: Path) -> bool:
    """Whether this process has the mount command and the right to it."""
    try:
        with small_disk(folder):
            return True
    except (FileNotFoundError, subprocess.CalledProcessError):
        return False


@pytest.fixture
def full_disk(tmp_path: Path) -> Callable[[Path], AbstractContextManager[Callable[[], None]]]:
    """A folder on a full disk, and what makes room there."""
    if may_mount(tmp_path / "probe"):
        return small_disk
    library = tmp_path / "full_disk.so"
    source = Path(__file__).with_name("full_disk.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return partial(refusing_disk, library)


def mounted(*command: str) -> None:
    subprocess.run(command, check=True)


def test_a_full_disk_in_each_stage_stops_the_run_until_there_is_room(
    workshop: Workshop,
    auditors: ScriptedServer,
    calm: dict[str, str],
    full_disk: Callable[[Path], AbstractContextManager[Callable[[], None]]],
) -> None:
    lake = workshop.lake("a") / "small"
    before, after = STAGES[:5], STAGES[5:]
    places = [*(lake / stage for stage in before), lake / "journals", *(lake / stage for stage in after)]
    places.insert(-1, workshop.hub("a"))
    with ExitStack() as disks:
        for place in places:
            grow = disks.enter_context(full_disk(place))
            code, said = finish(workshop, "a")
            assert code == 75, said
            # The last line says what is wrong, where, and what to do.
            stopped = said.rpartition("Stopped, can be resumed: ")[2]
            assert "No space left on device" in stopped or "the disk is full" in stopped, said
            assert str(place) in stopped, said
            assert not list(lake.rglob("*.tmp")), "a half-written file was left"
            grow()
        code, said = finish(workshop, "a")
        assert code == 0, said
        assert workshop.tables("a") == calm
        assert twice(auditors) <= IN_FLIGHT


class Clock:
    """The system's clock as the runs of a test see it: libfaketime moves it."""

    def __init__(self, folder: Path, library: Path) -> None:
        self._file = folder / "clock"
        self.jump(0)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # a jump of the wall clock leaves that one alone
            "DONT_FAKE_MONOTONIC": "1",
        }

    def jump(self, seconds: int) -> None:
        """From now on the clock is so far off."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}", encoding="utf-8")
        fresh.replace(self._file)


@pytest.mark.drill
def test_a_clock_that_jumps_a_day_changes_nothing(tmp_path: Path, calm: dict[str, str]) -> None:
    library = next(Path("/usr/lib").rglob("libfaketime.so.1"), None)
    if library is None:
        pytest.skip("needs libfaketime (Debian: apt-get install faketime)")
    (tmp_path / "clock").mkdir()
    clock = Clock(tmp_path / "clock", library)
    day = 24 * 3600

    def jumping(call: Call) -> Answer:
        if call.number in (20, 60):
            clock.jump(day if call.number == 20 else -day)
        return opinion(call)

    with ScriptedServer(jumping) as server:
        shop = make_workshop(tmp_path, server.url)
        code, said = finish(shop, "a", **clock.environment)
        assert code == 0, said
        assert shop.tables("a") == calm, "a jump during the run"
        clock.jump(-2 * day)
        code, said = finish(shop, "a", **clock.environment)
        assert code == 0, said
        assert shop.tables("a") == calm, "a jump between runs"
        assert twice(server) == 0
        assert clock_of(clock) < time.time() - day, "the clock was never moved"


def clock_of(clock: Clock) -> float:
    """What time a process under the clock believes it is."""
    code = "import time; print(time.time())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=clock.environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)
