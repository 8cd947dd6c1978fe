"""The journal keeps every answered call, whatever kills the process."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.ids import digest
from mihakk.machinery.llm.journal import Entry, Journal


def entry(n: int, text: str = "{}") -> Entry:
    return Entry(
        key=digest(n),
        model="m",
        revision="r",
        text=text,
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=2,
        latency=0.1,
        at="2026-01-01T00:00:00.000+00:00",
        meta={"item": f"i{n}"},
    )


def test_entries_come_back_whole_after_reopening(tmp_path: Path) -> None:
    text = 'سطر أول\nسطر ثانٍ "مقتبس" \u2028 \x00'
    with Journal(tmp_path, "a") as journal:
        journal.append(entry(1, text))
        assert journal.get(digest(1)) == entry(1, text)
    with Journal(tmp_path, "a") as journal:
        assert journal.get(digest(1)) == entry(1, text)
        assert digest(2) not in journal
        assert journal.get(digest(2)) is None


def test_every_journal_of_the_folder_is_searched(tmp_path: Path) -> None:
    for n, name in enumerate(("shard-1", "shard-0", "shard-2")):
        with Journal(tmp_path, name) as journal:
            journal.append(entry(n))
    with Journal(tmp_path, "aaa") as journal:
        journal.append(entry(3))
        assert [journal.get(digest(n)) for n in range(4)] == [entry(n) for n in range(4)]
        assert len(journal) == 4
        assert len(list(journal.entries())) == 4


@given(cut=st.integers(min_value=0), texts=st.lists(st.text(max_size=40), min_size=1, max_size=5))
@settings(max_examples=60)
def test_a_file_cut_anywhere_loses_the_cut_line_alone(
    tmp_path_factory: pytest.TempPathFactory, cut: int, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    with Journal(folder, "j") as journal:
        for n, text in enumerate(texts):
            journal.append(entry(n, text))
    path = folder / "j.jsonl"
    whole = path.read_bytes()
    kept = whole[: cut % (len(whole) + 1)]
    path.write_bytes(kept)
    survivors = kept.count(b"\n")
    with Journal(folder, "j") as journal:
        found = [journal.get(digest(n)) for n in range(len(texts))]
        assert found[:survivors] == [entry(n, texts[n]) for n in range(survivors)]
        assert all(one is None or one == entry(n, texts[n]) for n, one in enumerate(found))
        journal.append(entry(99, "after"))
    with Journal(folder, "j") as journal:
        assert journal.get(digest(99)) == entry(99, "after")
        assert [journal.get(digest(n)) for n in range(survivors)] == found[:survivors]


def test_a_damaged_line_counts_as_never_answered(tmp_path: Path) -> None:
    with Journal(tmp_path, "j") as journal:
        journal.append(entry(1))
    path = tmp_path / "j.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"prompt_tokens":1', b'"prompt_tokens":"?'))
    with Journal(tmp_path, "j") as journal:
        assert journal.get(digest(1)) is None
        assert digest(1) not in journal


def test_two_writers_of_one_name_write_beside_each_other(tmp_path: Path) -> None:
    with Journal(tmp_path, "j") as first, Journal(tmp_path, "j") as second:
        first.append(entry(1))
        second.append(entry(2))
        assert first.path != second.path
    with Journal(tmp_path, "j") as journal:
        assert journal.get(digest(1)) == entry(1)
        assert journal.get(digest(2)) == entry(2)


def test_a_folder_that_cannot_be_written_is_an_external_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ExternalFailure, match="can't keep the journal"):
        Journal(tmp_path / "file" / "journals", "j")


def test_a_line_that_did_not_fit_spoils_no_later_one(tmp_path: Path) -> None:
    class Disk:
        """Takes ten bytes of a line and no more, as a disk does that fills up."""

        def __init__(self, file: Any) -> None:
            self.file, self.room = file, 10

        def write(self, data: bytes) -> int:
            if not self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            taken = int(self.file.write(data[: self.room]))
            self.room -= taken
            return taken

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

    with Journal(tmp_path, "j") as journal:
        own = journal._out
        journal.append(entry(1))
        journal._out = Disk(own)
        with pytest.raises(ExternalFailure, match="No space left"):
            journal.append(entry(2))
        journal._out = own
        journal.append(entry(3))
    with Journal(tmp_path, "j") as journal:
        assert [one.text for one in journal.entries()] == [entry(1).text, entry(3).text]
        assert len(journal) == 2


def test_a_full_disk_stops_the_run_resumably(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with Journal(tmp_path, "j") as journal, full.open("ab", buffering=0) as device:
        working, journal._out = journal._out, device
        with pytest.raises(ExternalFailure, match="can't write the journal"):
            journal.append(entry(1))
        journal._out = working
        assert digest(1) not in journal


@pytest.mark.parametrize("key", ["", "z" * 64, "ab" * 31 + "é ", "custom-1"])
def test_a_name_that_is_no_key_stands_in_no_journal(journal: Journal, key: str) -> None:
    assert key not in journal
