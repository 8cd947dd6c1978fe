"""The rules on real benchmarks and sources: what they must find there, and what they must leave alone."""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Form, Provenance
from mihakk.validators.checks import check_items, check_records, check_set, index
from mihakk.validators.external import ExternalBenchmark, parse_mapping, read_benchmark

PROVENANCE = Provenance(source="s", url="file:a", licence="CC0-1.0", sha256="0" * 64, parser_version="1")


@pytest.fixture(scope="module")
def exams(shared_data: Path) -> ExternalBenchmark:
    path = shared_data / "exams" / "exams_arabic_562.jsonl"
    mapping = parse_mapping("question=question,choices=A+B+C+D,gold=answer,id=id")
    return read_benchmark(str(path), mapping, licence="CC-BY-SA-4.0")


@pytest.fixture(scope="module")
def found(exams: ExternalBenchmark) -> dict[str, list[Finding]]:
    whole = index(exams.items)
    names = {item.id: item.metadata["id"] for item in exams.items}
    by_check = defaultdict(list)
    for finding in check_items(exams.items, ChecksConfig(), whole):
        by_check[finding.check].append(finding.model_copy(update={"subject": names[finding.subject]}))
    assert check_set(whole, ChecksConfig()) == []
    return by_check


def _subjects(findings: list[Finding]) -> set[str]:
    return {finding.subject for finding in findings}


def test_exams_known_defects_are_found(found: dict[str, list[Finding]]) -> None:
    assert _subjects(found["CH03"]) == {"Islamic Studies-29", "Science-108"}
    assert _subjects(found["DU03"]) == {
        *("Islamic Studies-40", "Islamic Studies-45", "Islamic Studies-41"),
        *("Islamic Studies-47", "Biology-33", "Biology-39"),
    }
    assert len(_subjects(found["DU01"])) == 8
    assert len(_subjects(found["TX11"])) >= 57
    assert len(_subjects(found["TX07"])) >= 11
    assert _subjects(found["QU01"]) == {"Social-52", "Science-59"}
    assert len(_subjects(found["CH10"])) == 8


def test_exams_sound_rows_are_left_alone(found: dict[str, list[Finding]]) -> None:
    told = [finding for findings in found.values() for finding in findings]
    touched = _subjects([finding for finding in told if finding.severity != "report"])
    assert len(touched) <= 126  # as read, in 121 of them something is wrong
    for read_and_sound in (
        "Science-72",
        "Social-30",
        "Islamic Studies-59",
        "Science-115",
        "Social-262",
        "Physics-16",
    ):
        assert read_and_sound not in touched


def test_see_also_entries_of_the_kinayat_are_found_and_no_others(shared_data: Path) -> None:
    text = (shared_data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n{2,}(?=[^\n:]{2,60}:\n\n)", text[text.index("# | حرف الألف") :])
    idioms = []
    for number, entry in enumerate(entries):
        head, _, body = entry.strip().partition(":\n\n")
        meaning = body.partition("# |")[0].strip()
        if meaning:
            idioms.append(Idiom(id=f"k{number}", language="ar", phrase=Form(raw=head), explanation=Form(raw=meaning), provenance=PROVENANCE))  # fmt: skip
    findings = [one for one in check_records(idioms, ChecksConfig()) if one.check == "EX01"]
    by_id = {idiom.id: idiom.explanation.raw for idiom in idioms}
    assert len(findings) == 19
    assert all(by_id[one.subject].startswith("انظر") for one in findings)
    cited = {one.subject for one in check_records(idioms, ChecksConfig()) if one.check == "EX02"}
    assert 80 <= len(cited) <= 130


def test_couplets_of_a_real_corpus_are_called_damaged_only_where_they_are(shared_data: Path) -> None:
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").partition(" ")[2].partition("#") for line in lines][:6000]
    poems = [
        Poem(
            id=f"m{n}", language="ar", title="بلا", poet="شاعر", provenance=PROVENANCE,
            couplets=tuple(
                Couplet(id=f"m{n}:{k}", position=k, first=Form(raw=a.strip()), second=Form(raw=b.strip()))
                for k, (a, _, b) in enumerate(rows[n : n + 6])
            ),
        )
        for n in range(0, len(rows), 6)
    ]  # fmt: skip
    counts = Counter(one.check for one in check_records(poems, ChecksConfig()))
    assert counts["TX13"] == 0
    assert counts["TX04"] == 0
    assert 0 < counts["TX11"] < 0.005 * len(rows)
    assert counts["TX22"] <= 0.001 * len(rows)
