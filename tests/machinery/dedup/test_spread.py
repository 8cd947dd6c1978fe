"""However a set is cut into parts, the passes find what one process finds in the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mihakk.machinery.dedup import near_duplicates
from mihakk.machinery.dedup.passes import Part
from mihakk.machinery.dedup.spread import DuplicatePasses, Wanted
from mihakk.machinery.lake.scratch import Scratch

LETTERS = "ابتجحدرسعفقکلمنهوی"
_WORD = st.text(LETTERS, min_size=1, max_size=6)
VERSE = st.lists(_WORD, max_size=8).map("".join)
FOLDERS = count()


@st.composite
def sets(draw: st.DrawFn) -> list[str]:
    """Verses, some of them changed copies of others."""
    keys = draw(st.lists(VERSE, max_size=14))
    for place, letter in draw(st.lists(st.tuples(st.integers(0, 99), st.sampled_from(LETTERS)), max_size=8)):
        if keys:
            copied = keys[place % len(keys)]
            keys.append(copied[: len(copied) // 2] + letter + copied[len(copied) // 2 + place % 2 :])
    return keys


def texts_of(keys: Sequence[str], start: int) -> tuple[np.ndarray[Any, Any], list[str]]:
    rows = [(start + place, key) for place, key in enumerate(keys) if key]
    return np.array([number for number, _ in rows], dtype=np.int64), [key for _, key in rows]


def in_turn(title: str, work: Callable[..., str], calls: Sequence[tuple[Any, ...]]) -> list[str]:
    """Last first, for the order of work must not matter."""
    return [work(*call) for call in reversed(calls)][::-1]


def parts(keys: Sequence[str], size: int) -> list[Part]:
    cut = [(keys[start : start + size], start) for start in range(0, len(keys), size)]
    return [Part(f"{start} {some}", texts_of, (some, start)) for some, start in cut]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sets(), st.integers(1, 9), st.sampled_from([0.7, 0.9, 1.0]))
def test_parts_give_the_pairs_of_the_whole(
    tmp_path: Path, keys: list[str], size: int, threshold: float
) -> None:
    spread = DuplicatePasses(Scratch(str(tmp_path / str(next(FOLDERS))), "x"), in_turn)
    found = spread.near_duplicates({"verse": Wanted(parts(keys, size), threshold)})
    assert found["verse"] == list(near_duplicates(keys, threshold))


def test_a_pass_that_was_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["صلاحکارکجاومنخرابکجا", "صلاحکارکجاومنحرابکجا", "ببینتفاوترهکزکجاست"]
    scratch = Scratch(str(tmp_path), "x")
    first = DuplicatePasses(scratch, in_turn)
    wanted = {"verse": Wanted(parts(keys, 2), 0.8)}
    expected = first.near_duplicates(wanted)
    assert [(pair.first, pair.second) for pair in expected["verse"]] == [(0, 1)]
    monkeypatch.setattr("mihakk.machinery.dedup.passes.rarest", None)
    monkeypatch.setattr("mihakk.machinery.dedup.passes.filed_together", None)
    again = DuplicatePasses(Scratch(str(tmp_path), "x"), in_turn)
    assert again.near_duplicates(wanted) == expected
    assert again.files == first.files


def test_files_of_earlier_runs_go_and_other_code_makes_its_own(tmp_path: Path) -> None:
    wanted = {"verse": Wanted(parts(["صلاحکارکجا", "صلاحکارکجا"], 1), 0.8)}
    old, new = (
        DuplicatePasses(Scratch(str(tmp_path), "old"), in_turn),
        DuplicatePasses(Scratch(str(tmp_path), "new"), in_turn),
    )
    assert old.near_duplicates(wanted) == new.near_duplicates(wanted)
    assert not old.files & new.files
    Scratch(str(tmp_path), "new").keep_only(new.files)
    assert {path.name for path in tmp_path.iterdir()} == new.files
