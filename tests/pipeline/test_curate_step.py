"""A record that a rule blocks makes no items, and the account still holds."""

from __future__ import annotations

from mihakk.machinery.lake import ShardOutput
from mihakk.pipeline.steps.curate import without_blocked
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.manifest import ShardCounts
from mihakk.schemas.poem import Poem
from tests.machinery.records import idiom, poem


def test_blocked_records_are_rejected_with_the_check_and_flagged_ones_stay() -> None:
    poems = [poem("a", [("الف", "ب")]), poem("b", [("پ", "ت")])]
    idioms = [idiom("c", "إيده طايلة", "صاحب نفوذ")]
    output = ShardOutput(
        {"poems": (Poem, poems), "idioms": (Idiom, idioms)}, ShardCounts(read=3, kept=3, written=3)
    )
    findings = [
        Finding(check="PO01", severity="block", subject="a", detail="no verse"),
        Finding(check="PO02", severity="block", subject="a", detail="no verse either"),
        Finding(check="SE01", severity="flag", subject="c", detail="a word to look at"),
    ]
    left = without_blocked(output, findings)
    assert [record.id for record in left.tables["poems"][1]] == ["b"]  # type: ignore[attr-defined]
    assert [record.id for record in left.tables["idioms"][1]] == ["c"]  # type: ignore[attr-defined]
    assert [(r.record, r.reason) for r in left.rejections] == [("a", "check_PO01")]
    counts = left.counts
    assert (counts.read, counts.kept, counts.rejected) == (3, 2, 1)
    assert counts.reasons == {"check_PO01": 1}
    assert counts.notes == {"block.PO01": 1, "block.PO02": 1, "flag.SE01": 1}
