"""What one pass works out comes back as it was in whatever worker reads it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mihakk.machinery.lake.scratch import Scratch
from mihakk.validators.checks.gathering import Fingerprint, Tally
from mihakk.validators.checks.setindex import SetIndex


def test_the_index_of_a_set_is_kept_whole(tmp_path: Path) -> None:
    hashes = frozenset([2**64 - 1, 1])
    mark = Fingerprint(
        "a", "t", "", "s", "", 2**63, 7, 8, hashes, hashes, ("r", "q"), short_answer=True, words=5
    )
    found = SetIndex(
        prints={"a": mark},
        copies={"a": ("b",)},
        rivals={"a": ("c", "d")},
        near={"a": (("b", 0.9),)},
        tallies={("s", "t", 4): Tally(items=2, positions=Counter([0, 3]), longest_right=0.5)},
        held={("t", "f"): 0.25},
        values={("t", "f"): {2**64 - 1: 3}, ("t", "g, \x1f"): {}},
        subsets=Counter(["s", "s"]),
        repeated_ids=frozenset([("s", "", "1")]),
        negated={"a": ("e",)},
        disputed={"a": ("f",)},
        usual_options={("s", "t"): 4},
        wordy={"t": 1 / 3},
        metres={5: "fa_1"},
        eras={("ar", "poet"): ("x", "y")},
        strangers={"a": ((1, 0.5),)},
        band=(0.1, 0.9),
        split_of_records={"r": ("dev", "test")},
    )
    for index in (found, SetIndex()):
        scratch = Scratch(str(tmp_path), "state")
        name = scratch.packed("index", [len(index.prints)], lambda: index)  # noqa: B023 # called at once
        assert scratch.unpacked(SetIndex, name) == index
        assert scratch.packed("index", [len(index.prints)], lambda: None) == name, "made once"
