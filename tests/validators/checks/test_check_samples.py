"""Every check objects to its bad samples, to them alone, and to no good one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mihakk.machinery.settings import ROOT
from mihakk.validators.checks import CHECKS
from tests.validators.checks.check_samples import FOLDER, Sample, read_sample, samples

ALL = samples()


def _named(sample: Sample) -> str:
    return f"{sample.check}/{sample.name}"


@pytest.mark.parametrize("identifier", CHECKS.names())
def test_every_check_has_a_bad_and_a_tempting_good_sample(identifier: str) -> None:
    kinds = {sample.bad for sample in ALL if sample.check == identifier}
    assert kinds == {True, False}, f"{identifier} needs bad_*.json and good_*.json in {FOLDER / identifier}"


def test_no_samples_of_checks_that_do_not_exist() -> None:
    assert {path.name for path in FOLDER.iterdir()} <= set(CHECKS.names())


@pytest.mark.parametrize("sample", [one for one in ALL if one.bad], ids=_named)
def test_a_bad_sample_raises_its_check_and_no_other(sample: Sample) -> None:
    findings = sample.findings()
    hit = {finding.subject for finding in findings if finding.check == sample.check}
    assert hit == set(sample.hit), [finding.detail for finding in findings]
    assert {finding.check for finding in findings} - {sample.check} == sample.also


@pytest.mark.parametrize("sample", [one for one in ALL if not one.bad], ids=_named)
def test_a_good_sample_raises_nothing(sample: Sample) -> None:
    findings = sample.findings()
    assert {finding.check for finding in findings} == sample.also, [finding.detail for finding in findings]
    assert sample.check not in sample.also


def test_the_docs_name_every_check_as_it_is() -> None:
    page = (FOLDER.parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    listed = {
        row[0]: (row[1], row[2])
        for line in page.splitlines()
        if len(row := line.strip("| ").split(" | ")) == 4
    }
    assert {name: (one.title, one.severity) for name, one in CHECKS} == {
        name: row for name, row in listed.items() if name in CHECKS.names()
    }


def test_ids_have_a_family_and_a_number_and_titles_say_what_holds() -> None:
    for identifier, check in CHECKS:
        assert re.fullmatch(r"[A-Z]{2}\d{2}", identifier)
        assert check.title
        assert not check.title.endswith(".")


def test_the_example_in_how_to_add_a_check_is_a_check_that_its_samples_pass(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to-add-a-check.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    named = re.findall(r"`tests/fixtures/checks/(CH20/\w+\.json)`.*?```json\n(.*?)```", page, re.DOTALL)
    assert [name for name, _ in named] == ["CH20/bad_gold.json", "CH20/good_all.json"]
    CHECKS.discover()
    try:
        exec(compile(code, "how-to-add-a-check.md", "exec"), {})
        for name, text in named:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sample = read_sample(path)
            assert {one.check for one in sample.findings()} == ({"CH20"} if sample.bad else set()), name
    finally:
        CHECKS._plugins.pop("CH20", None)
