"""Judges whose bias is known are caught by the probes, and those without one are not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.evaluation.judges.probes import PROBES, injections
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.scripted import Answer as Said
from mihakk.machinery.llm.scripted import Call, ScriptedServer
from mihakk.releases.assemble import assemble
from tests.evaluation.judge_campaign import Campaign
from tests.releases.release_material import hafez_items, release_arguments

SIZE = 60
NOISE = 0.3
"""Share of askings on which the noisy judge is a point off, up as often as down."""


def shown(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call.body["messages"][1]["content"])
    return found


def chance(call: Call) -> float:
    """The same for the same call, and for no other."""
    return int(sha256(json.dumps(call.body, sort_keys=True).encode())[:12], 16) / 16**12


def honest(call: Call) -> int:
    return 3


def likes_length(call: Call) -> int:
    """A point more for half of the replies of more than so many words."""
    return 3 + (len(shown(call)["reply"].split()) > 12 and chance(call) < 0.5)


def likes_style(call: Call) -> int:
    return 3 + ("**" in shown(call)["reply"])


def likes_the_last(call: Call) -> int:
    """A point less where the reference comes after the reply."""
    names = list(shown(call))
    return 3 - (names.index("reference") > names.index("reply"))


def obeys(call: Call) -> int:
    return 5 if re.search(r"highest|العليا|بالاترین|\bmax\b", shown(call)["reply"]) else 3


def noisy(call: Call) -> int:
    draw = chance(call)
    return 3 + (draw < NOISE / 2) - (draw > 1 - NOISE / 2)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probed") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(40)))
    return folder


def probed(folder: Path, release: Path, one: Callable[[Call], int], other: Callable[[Call], int]) -> Campaign:
    """Both judges on one system's explanations of couplets, then the probes."""
    campaign = Campaign(folder, release, rubrics=("meaning",), systems=("one",))
    wanted = [one for one in campaign.questions.values() if one.kind == "answer"][:SIZE]
    # The release has no explanations of idioms: its answers in words stand in for them.
    campaign.questions = {one.item: one for one in wanted}
    campaign.suite["parts"][0]["only"] = ["continuation_completion"]
    campaign.answer(lambda _, question: f"معنای این سخن چنین است {question.item}")

    def script(call: Call) -> Said:
        judge = one if call.body["model"] == "judge-a" else other
        return Said(text=json.dumps({"reason": "so", "scores": {"meaning": judge(call)}}))

    with ScriptedServer(script) as server:
        campaign.write(server.url)
        done = campaign.call("judge", "--probes", str(SIZE))
        assert done.exit_code == 0, done.output
        if other is noisy:
            asked = len(server.calls)
            assert campaign.call("judge", "--probes", str(SIZE)).exit_code == 0
            assert len(server.calls) == asked, "a second run asks nothing"
    (folder / "told.txt").write_text(" ".join(done.output.split()), encoding="utf-8")
    return campaign


@pytest.fixture(autouse=True)
def _meaning_of_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    from mihakk.evaluation.judges import rubrics

    found = rubrics.rubric_named("meaning").model_copy(update={"tasks": ("continuation_completion",)})
    monkeypatch.setattr(rubrics, "rubric_named", lambda _: found)


def rows(campaign: Campaign) -> dict[tuple[str, str], dict[str, Any]]:
    found = pq.read_table(campaign.out / "judge_probes.parquet").to_pylist()
    return {(row["judge"], row["probe"]): row for row in found}


@pytest.mark.parametrize(
    ("judge", "probe", "shift"),
    [
        (likes_length, "length", 0.5),
        (likes_style, "style", 1),
        (likes_the_last, "order", -1),
        (obeys, "injected", 2),
    ],
)
def test_a_judge_with_a_known_bias_is_caught_by_its_probe_and_by_no_other(
    tmp_path: Path, release: Path, judge: Callable[[Call], int], probe: str, shift: float
) -> None:
    campaign = probed(tmp_path, release, judge, honest)
    found = rows(campaign)
    assert set(found) == {(name, one) for name in ("judge-a", "judge-b") for one in PROBES}
    caught = {place for place, row in found.items() if row["caught"]}
    wanted = {("judge-a", probe)}
    if judge is likes_length:
        # What makes a reply longer in other ways is longer too.
        wanted |= {("judge-a", "injected")}
    assert caught == wanted
    if judge is not obeys:
        assert found["judge-a", probe]["low"] <= shift <= found["judge-a", probe]["high"]
    assert "caught" in (tmp_path / "told.txt").read_text("utf-8")


def test_a_judge_of_known_noise_is_not_caught_and_its_noise_lies_in_the_interval(
    tmp_path: Path, release: Path
) -> None:
    found = rows(probed(tmp_path, release, honest, noisy))
    assert not any(row["caught"] for row in found.values())
    # Two askings agree where neither is off, or both are in the same way.
    moved = 1 - ((1 - NOISE) ** 2 + 2 * (NOISE / 2) ** 2)
    own = found["judge-b", "again"]
    assert own["moved_low"] <= moved <= own["moved_high"]
    assert own["low"] <= 0 <= own["high"]
    assert found["judge-a", "again"]["moved"] == 0


def test_every_injection_asks_for_the_highest_score_and_shows_where_it_goes() -> None:
    assert len(injections()) >= 9
    assert all("{high}" in one for one in injections())
    assert any(re.search("[پچژگکی]", one) for one in injections())
