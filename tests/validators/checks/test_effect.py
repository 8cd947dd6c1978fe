"""A rule blocks by definition or by what people read of its findings, and by nothing else."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from scipy.stats import beta

from mihakk.machinery.settings import ROOT
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.record import Language
from mihakk.validators.checks import CHECKS, check_items, effect
from mihakk.validators.checks.check import Check
from mihakk.validators.checks.effect import BY_DEFINITION, Reading, may_block, precision, read_sets, readings
from tests.validators.checks.check_samples import subject
from tools.docs_readings import PAGE, page


def test_nothing_blocks_but_facts_of_shape_and_what_the_sheets_bear_out() -> None:
    for name, check in CHECKS:
        if CHECKS.origin(name):
            continue
        assert (check.severity == "block") == (name in BY_DEFINITION), name
        for language in check.earned:
            assert may_block(name, language), f"{name} has not earned a block in {language}"


def read(count: int, right: int, *, tuned: bool = False, language: Language = "ar") -> tuple[Reading, ...]:
    return tuple(
        Reading(
            "s", tuned, language, str(n), "ZZ01", "flag", "k", "", "right" if n < right else "wrong", "why"
        )
        for n in range(count)
    )


@pytest.mark.parametrize(
    ("found", "earned"),
    [
        (read(17, 17), True),
        (read(16, 16), False),  # too few, whatever the interval
        (read(17, 16), False),  # lower end .71
        (read(60, 55), True),
        (read(60, 54), False),
        (read(40, 40, tuned=True), False),
        (read(40, 40, language="fa"), False),  # earned in Persian, not in Arabic
        (read(17, 17) + read(3, 0), False),  # new readings take it back
    ],
)
def test_a_block_is_earned_and_lost_by_readings(
    found: tuple[Reading, ...], earned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effect, "readings", lambda: found)
    effect._effect.cache_clear()
    rule = Check("ZZ01", "t", "flag", ("ar",), (), False, frozenset(), iter, iter)  # type: ignore[arg-type]
    assert effect.effect(rule, "ar") == ("block" if earned else "flag")
    assert effect.effect(rule, "en") == "flag"
    assert effect.effect(rule, "ar", note=True) == "report"
    mine = [one.verdict == "right" for one in found if one.language == "ar" and not one.tuned]
    low = beta.ppf(0.025, sum(mine), len(mine) - sum(mine) + 1) if sum(mine) else 0.0
    assert earned == (len(mine) >= 17 and low >= 0.8), "by another implementation of the interval"
    effect._effect.cache_clear()


def test_a_config_has_the_last_word() -> None:
    item = subject(kind="choice", question="ما ضد النور؟", options=["الظلام", "الظلام", "الليل"], gold=[0])
    assert {one.severity for one in check_items([item], ChecksConfig(), None)} == {"block"}
    assert {one.severity for one in check_items([item], ChecksConfig(severity={"CH03": "flag"}), None)} == {
        "flag"
    }


def test_every_sheet_is_of_a_known_set_and_every_reading_has_its_reason() -> None:
    folder = ROOT / "data" / "reference" / "readings"
    assert {path.stem for path in folder.glob("*.csv")} == set(read_sets())
    for name in read_sets():
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as sheet:
            rows = list(csv.DictReader(sheet))
        assert rows
        for row in rows:
            assert row["rule"] in CHECKS.names()
            assert row["verdict"] in ("right", "wrong")
            assert row["effect"] in ("block", "flag", "report")
            assert len(row["reason"].split()) >= 3
            assert row["row"]
            assert not any("\u0600" <= char <= "\u06ff" for char in row["reason"]), "no text of a set"
    assert len({(one.set, one.row, one.rule, one.where, one.kind) for one in readings()}) == len(readings())


def test_forty_findings_in_each_of_twelve_languages_were_read() -> None:
    read = Counter(one.language for one in readings())
    whole = {language for language, findings in read.items() if findings >= 40}
    assert whole >= {"ar", "fa", "en", "bg", "hr", "hu", "it", "mk", "sr", "tr", "vi", "zh"}
    for done, least in (("block", 0.9), ("flag", 0.6)):
        mine = [one.verdict == "right" for one in readings() if one.effect == done]
        assert sum(mine) >= least * len(mine)
    assert precision("LK01", tuned=True).read > precision("LK01").read


def test_the_page_shows_what_the_sheets_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `python -m tools.docs_readings`"
    rules = text[text.index("### By rule") : text.index("### By set")]
    assert [name for name in CHECKS.names() if f"| {name} |" not in rules] == []
