"""Speed and memory of a release: facts, gates, assembling, publishing, loading back, comparing.

    python -m performance.release [--items 100000] [--json FILE]

Items are made of real verse: the couplets of the package `hafez`, repeated under new ids with a number in the
question until there are enough; two thirds are choices in both orders, a third answers, all audited by two.
Seconds are of the clock and, after the slash, of this process's CPU. Goal (2 cores): 100,000 items measured,
assembled, compared and written within 60 s of CPU and 2 GB, card and charts included; a missed goal exits 1.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from generators.prompts import Prompts
from generators.quality.item_quality import measure_quality
from mihakk.ids import item_id
from performance._measure import peak_mb
from pipeline.steps.release import baseline_facts
from releases.assemble import assemble
from releases.auditor_agreement import auditor_agreement
from releases.card.similarity import letter_spreads
from releases.gates import gates, require
from releases.hub.embedded import EmbeddedHub
from releases.release_facts import FunnelRow, ReleaseFacts
from releases.versions.diff import diff
from schemas.audit import CRITERIA, Audit, Verdict
from schemas.benchmark import BenchmarkConfig
from schemas.item import AnswerItem, ChoiceItem, Origin
from schemas.rejection import Cluster
from schemas.stages import CURATED

GOAL_SECONDS, GOAL_MB = 60, 2048


def items(count: int) -> list[ChoiceItem | AnswerItem]:
    """Both orders of a choice and an answer for each couplet of Hafez, round after round."""
    import hafez

    lines = [line for number in range(1, 496) for line in hafez.get_poem(number)["poem"]]
    made: list[ChoiceItem | AnswerItem] = []
    for number in range(count):
        couplet, variant = divmod(number, 3)
        place = 2 * (couplet % (len(lines) // 2 - 2))
        record = f"hafez:{couplet // 8}:{couplet % 8}"
        shared: dict[str, Any] = {
            "language": "fa",
            "fields": {"first": lines[place], "poet": "حافظ", "number": str(couplet)},
            "metadata": {
                "poet": "hafez",
                "form": "ghazal",
                "era": f"era-{couplet // 8 % 7}",
                "genre": f"genre-{couplet // 8 % 11}",
                "metre": f"metre-{couplet % 12}",
            },
            "licence": "public-domain",
        }
        origin = {"records": (record,), "generator_version": "1", "seed": 7}
        if variant == 2:
            made.append(
                AnswerItem(
                    id=item_id("continuation", "fa", [record]),
                    task="continuation",
                    question=f"مصراع دوم بیت {couplet} را بنویس: «{lines[place]}»",
                    answer=lines[place + 1],
                    origin=Origin(generator="continuation", **origin),
                    **shared,
                )
            )
            continue
        options = [lines[place + 1], lines[place + 3], lines[(7 * place + 1) % len(lines)]]
        made.append(
            ChoiceItem(
                id=item_id("continuation_choice", "fa", [record], f"order{variant}"),
                task="continuation_choice",
                question=f"مصراع دوم بیت {couplet} کدام است؟ «{lines[place]}»",
                options=tuple(options[variant:] + options[:variant]),
                gold=((3 - variant) % 3,),
                pair_id=item_id("continuation_choice", "fa", [record], "pair"),
                order=variant,
                origin=Origin(generator="continuation_choice", strategy="same_metre", **origin),
                **shared,
            )
        )
    return made


def clusters(made: list[ChoiceItem | AnswerItem]) -> tuple[Cluster, ...]:
    """One couplet in a hundred is like one of another poem, as among real ones."""
    couplets = list(dict.fromkeys(item.origin.records[0] for item in made))
    return tuple(
        Cluster(
            kept=couplets[place],
            merged=(couplets[(place * 7919 + 8) % len(couplets)],),
            level="couplet",
            method="similar",
            similarity=0.68 + place % 30 / 100,
        )
        for place in range(0, len(couplets), 100)
    )


def facts(made: list[ChoiceItem | AnswerItem], audits: list[Audit]) -> ReleaseFacts:
    """What the pipeline's last step measures before it assembles."""
    quality = measure_quality(made)
    return ReleaseFacts(
        code_version="benchmark",
        clusters=clusters(made),
        funnel=(FunnelRow(stage=CURATED, source="hafez", read=4_192, kept=4_100, rejected=92),),
        auditor_agreement=auditor_agreement(audits),
        spreads=letter_spreads(made),
        baselines=tuple(baseline_facts(quality)),
    )


def arguments(made: list[ChoiceItem | AnswerItem]) -> dict[str, Any]:
    """What `assemble` takes beside the folder; every item audited by two."""
    good = dict.fromkeys(CRITERIA, 1)
    verdicts = [Verdict(item=item.id, status="pass", audited=True, policy="strict") for item in made]
    audits = [
        Audit(item=item.id, auditor=name, status="valid", scores=good, reply_key=item.id)
        for item in made
        for name in ("first", "second")
    ]
    config = BenchmarkConfig.model_validate(
        {
            "name": "speed",
            "title": "Speed",
            "sources": [{"use": "hafez"}],
            "tasks": [{"use": "continuation"}],
            "release": {"baseline_margin": 1},
        }
    )
    return {
        "items": made,
        "verdicts": verdicts,
        "audits": audits,
        "findings": [],
        "resolutions": [],
        "removed": [],
        "config": config,
        "render": Prompts().render,
    }


def measure(count: int, folder: Path) -> tuple[dict[str, float | str], float]:
    """Seconds of each step and the peak of memory in MB; and the CPU seconds that the goal is about."""
    made = items(count)
    given = arguments(made)
    seconds: dict[str, float | str] = {"items": count}
    used: dict[str, float] = {}
    hub = EmbeddedHub(folder / "hub")

    def timed(name: str, work: Any) -> Any:
        start, cpu = time.perf_counter(), time.process_time()
        result = work()
        used[name] = time.process_time() - cpu
        seconds[name] = f"{time.perf_counter() - start:.1f} / {used[name]:.1f}"
        return result

    seconds["memory_before_mb"] = round(peak_mb(), 1)
    given["facts"] = timed("facts", lambda: facts(made, given["audits"]))
    timed("gates", lambda: require(gates(made, given["verdicts"], given["config"], given["facts"])))
    first = timed("assemble_first", lambda: assemble(folder=folder / "first", **given))
    timed("publish", lambda: hub.publish(first))
    timed("load_back", lambda: hub.verify(first.name, first.version, first.folder))
    changed = [
        item.model_copy(update={"gold": ((item.gold[0] + 1) % 3,)})
        if place % 1000 == 0 and isinstance(item, ChoiceItem)
        else item
        for place, item in enumerate(made)
        if place % 500 != 1
    ]
    following = given | {"items": changed}
    timed("assemble_next", lambda: assemble(folder=folder / "next", previous=folder / "first", **following))
    found = timed("diff", lambda: diff(folder / "first", folder / "next"))
    if (expected := _changes(made, changed)) != (found.counts["removed"], found.counts["gold_changed"]):
        raise SystemExit(f"the diff says {found.counts}, expected {expected} removed and gold changed")
    seconds["memory_peak_mb"] = round(peak_mb(), 1)
    return seconds, used["facts"] + used["gates"] + used["assemble_next"] + used["diff"]


def _changes(made: list[ChoiceItem | AnswerItem], changed: list[ChoiceItem | AnswerItem]) -> tuple[int, int]:
    """Items taken out and golds changed by the benchmark itself; less those that no split could hold."""
    after = {item.id: item for item in changed}
    corrected = sum(
        isinstance(item, ChoiceItem) and item.id in after and after[item.id] is not item for item in made
    )
    return len(made) - len(changed), corrected


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mihakk-speed-") as scratch:
        figures, cpu = measure(given.items, Path(scratch))
    print(json.dumps(figures, indent=2))
    met = cpu <= GOAL_SECONDS and float(figures["memory_peak_mb"]) <= GOAL_MB
    print(f"a version measured, gated, assembled beside the one before and compared: {cpu:.1f} s of CPU")
    print(f"goal {GOAL_SECONDS} s and {GOAL_MB} MB for 100,000 items: {'met' if met else 'missed'}")
    if given.json:
        given.json.write_text(json.dumps(figures), encoding="utf-8")
    if not met:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
