"""A review store of an older version gives what it gave, and servers are sent what they were sent."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.statistics.review_report import review_report
from mihakk.pipeline.people import agreement_facts, miss_rate_fact
from tests.annotation.judged import choice
from tests.annotation.people_round import told, wire

FROZEN: dict[str, Any] = json.loads(
    lzma.decompress((Path(__file__).parent.parent / "fixtures/frozen/people.json.xz").read_bytes())
)


def rounded(value: Any) -> Any:
    """The same with floats to twelve digits: the order of a sum may change the last ones."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return list(map(rounded, value))
    return float(f"{value:.12g}") if isinstance(value, float) else value


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("store")
    for name, text in FROZEN["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return told(folder)


@pytest.mark.parametrize("what", sorted(FROZEN["told"]))
def test_what_a_store_of_an_older_version_comes_to(found: dict[str, Any], what: str) -> None:
    assert rounded(found[what]) == rounded(FROZEN["told"][what])


def test_servers_are_sent_what_they_were_sent() -> None:
    sent = wire()
    assert {name for name in FROZEN["wire"] if sent.get(name) != FROZEN["wire"][name]} == set()


def test_before_anybody_decided_there_are_no_facts(tmp_path: Path) -> None:
    state = review_report(Stores.under(str(tmp_path)), [choice()], [], seed=1)
    assert (agreement_facts(state), miss_rate_fact(state)) == ((), None)
