"""The step that makes items says how the replies of the writing model fared."""

from __future__ import annotations

import json
from pathlib import Path

from mihakk.machinery.lake import ShardOutput
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.pipeline.build import Build
from mihakk.pipeline.steps.generate import STEP
from mihakk.schemas.benchmark import BenchmarkConfig, SourceUse, TaskUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.manifest import ShardCounts
from mihakk.schemas.model import ModelConfig, Remote

SAYINGS = {
    "إيده طويلة": "يأخذ ما ليس له من أموال الناس",
    "قلبه أبيض": "يصفو للناس ولا يحمل لأحد ضغينة",
    "لسانه حلو": "يخاطب الناس بكلام لطيف يحبونه",
}


def idioms() -> list[Idiom]:
    provenance = {
        "source": "files",
        "url": "file:sample",
        "retrieved_at": None,
        "licence": "CC0-1.0",
        "attribution": "",
        "sha256": "0" * 64,
        "parser_version": "1",
    }
    return [
        Idiom.model_validate(
            {
                "kind": "idiom",
                "id": f"files:{n}",
                "language": "ar",
                "phrase": {"raw": phrase, "text": phrase},
                "explanation": {"raw": meaning, "text": meaning},
                "provenance": provenance,
            }
        )
        for n, (phrase, meaning) in enumerate(SAYINGS.items())
    ]


def wrong(call: Call) -> Answer:
    """At first repeats what is right of white hearts; else, and when told so, something wrong of that length."""
    right = SAYINGS["قلبه أبيض"]
    return Answer(
        text=json.dumps({"explanation": right if right in call.said else "يمشي مسرعا في طرق المدينة كلها"})
    )


def test_the_manifest_counts_what_became_of_the_models_replies(tmp_path: Path) -> None:
    with ScriptedServer(wrong) as server:
        config = BenchmarkConfig(
            name="small",
            title="Small",
            sources=(SourceUse(use="files"),),
            tasks=(TaskUse(use="meaning_choice", options={"strategy": "general"}),),
            embeddings="none",
            generator=ModelConfig(
                name="writer", family="scripted", model="m", serve=Remote(endpoints=(server.url,))
            ),
        )
        build = Build(config, str(tmp_path / "lake"), tmp_path / "run")
        before = build.stage("3_curated")
        made = ShardOutput({"idioms": (Idiom, idioms())}, ShardCounts(read=3, kept=3, written=3))
        before.finish([before.run("s-0", {}, lambda: made)], inputs={}, config_digest="c", code_version="v")
        with STEP.around(build, lambda calls: [call() for call in calls]) as share:
            (shard,) = STEP.run(build, "s-0", share("s-0"), lambda _: None)
    assert {name: n for name, n in shard.counts.notes.items() if name.startswith("written.")} == {
        "written.meaning_choice.accepted": 2,
        "written.meaning_choice.repaired": 1,
    }
