"""A consumer's report reaches the next build, and only while it is still about the same item."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.blind import Papers
from mihakk.releases.content.canary import canary_guid
from mihakk.releases.paper_trail.audit_tables import Erratum, errata, write_removed
from mihakk.releases.paper_trail.errata import DefectReport, read_reports, report_defect, report_findings
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.releases.told import told_facts
from mihakk.schemas.rejection import Cluster, Rejection
from tests.releases.release_material import hafez_config, hafez_items

ITEM = hafez_items()[0]


def test_a_report_comes_back_as_a_finding_that_flags_its_item(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    written = report_defect(
        first_release.folder, ITEM.id, "wrong_gold", "The printed divan has the other hemistich (p. 12).",
        corrections={"gold": "1"}, reporter="قارئ", folder=tmp_path,
    )  # fmt: skip
    again = report_defect(
        first_release.folder, ITEM.id, "wrong_gold", "The printed divan has the other hemistich (p. 12).",
        corrections={"gold": "1"}, reporter="قارئ", folder=tmp_path,
    )  # fmt: skip
    assert again == written
    (report,) = read_reports(tmp_path)
    assert (report.version, report.reporter) == ("0.1.0", "قارئ")
    (finding,) = report_findings([report], hafez_items())
    assert (finding.check, finding.severity, finding.subject, finding.where) == (
        "ER01",
        "flag",
        ITEM.id,
        "gold",
    )
    assert finding.detail == f"reported in 0.1.0 as wrong_gold: {report.name}", (
        "the reporter's words stay in it"
    )


def test_a_report_binds_no_longer_once_the_item_changed_or_for_another_benchmark(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    report_defect(
        first_release.folder, ITEM.id, "ambiguous", "Two options continue the verse.", folder=tmp_path
    )
    reports = read_reports(tmp_path)
    assert report_findings(reports, [ITEM.model_copy(update={"question": "another"})]) == []
    assert report_findings(reports, []) == []
    assert read_reports(tmp_path, canary_guid(hafez_config())) == reports
    assert read_reports(tmp_path, "another") == []


def test_a_report_that_says_nothing_or_names_nothing_is_refused(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="has no item nothing"):
        report_defect(first_release.folder, "nothing", "other", "It is all wrong, I think.", folder=tmp_path)
    with pytest.raises(UsageError, match="says too little"):
        report_defect(first_release.folder, ITEM.id, "other", "bad", folder=tmp_path)
    (tmp_path / "broken.yaml").write_text("item: [", encoding="utf-8")
    with pytest.raises(UsageError, match=r"broken\.yaml is not a defect report"):
        read_reports(tmp_path)


@pytest.mark.parametrize("name", ["../../out", "/etc/out", "a/b", ".hidden", "x" * 300, "س\n"])
def test_an_id_that_leads_out_of_the_folder_names_no_file(name: str, tmp_path: Path) -> None:
    report = DefectReport(
        canary="c", version="0.1.0", item=name, content_hash="h", problem="other", evidence="It is all wrong."
    )
    assert (tmp_path / report.name).resolve().parent == tmp_path
    assert not report.name.startswith(".")
    assert len(report.name) < 130


@pytest.mark.parametrize(("blind", "said"), [(True, "blind_options_changed"), (False, "unresolved")])
def test_a_blind_release_says_why_an_item_left_once(blind: bool, said: str, tmp_path: Path) -> None:
    """A reason that is worked out anew may rest on labels of others."""
    first = Erratum(id="q1", reason="blind_options_changed", evidence="", last_version="0.1.0")
    write_removed([first], tmp_path / "errata" / "removed.parquet")
    now = [
        Rejection(record="q1", reason="unresolved", detail=""),
        Rejection(record="q2", reason="unresolved", detail=""),
    ]
    told = {one.id: one.reason for one in errata(now, set(), tmp_path, None, blind=blind)}
    assert told == {"q1": said} | ({} if blind else {"q2": "unresolved"})


def test_a_blind_release_counts_like_records_of_open_works_alone() -> None:
    def like(kept: str, merged: str, level: str = "couplet") -> Cluster:
        return Cluster(kept=kept, merged=(merged,), level=level, method="similar", similarity=0.8)

    opened = [like("a:1", "b:1"), like("a", "gone", "poem")]
    sealed = [like("a:2", "c:2"), like("c", "gone", "poem"), like("nobody", "a", "poem")]
    facts = ReleaseFacts(
        code_version="t", clusters=(*opened, *sealed), sides={"a": "dev", "b": "dev", "c": "test"}
    )
    assert told_facts(facts, [], Papers([], [], [], (), ()), b"key").clusters == tuple(opened)
