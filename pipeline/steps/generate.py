"""4_generated: turns curated records into items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mihakk.machinery.ids import digest, sha256
from mihakk.machinery.lake import ShardOutput
from mihakk.machinery.lake.scratch import Scratch
from mihakk.machinery.morphology import morphology_version
from mihakk.pipeline.build import Build, inputs_of, whole_input
from mihakk.pipeline.campaigns import amendments_of
from mihakk.pipeline.embedder import OpenedEmbedder
from mihakk.pipeline.rows import records
from mihakk.pipeline.sealed import (
    DEV,
    Part,
    Sides,
    carried_inputs,
    carried_items,
    parts,
    side_names,
    sides,
)
from mihakk.pipeline.step import (
    Call,
    Share,
    Spread,
    Step,
    Tick,
    Where,
    drop_prepared,
    prepared,
    shards_before,
)
from mihakk.releases.content.secret import blind_key, keyed
from mihakk.releases.content.split import work
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.campaign import OF_ITEMS, Amendment
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardCounts, ShardManifest
from mihakk.schemas.poem import Poem
from mihakk.schemas.stages import GENERATED

if TYPE_CHECKING:
    from mihakk.generators.corpus import Corpus
    from mihakk.generators.writing.writer import Writer

STAGE = GENERATED


class Shared(NamedTuple):
    """What every shard needs: the corpus all distractors come from, and the model that writes parts."""

    scratch: Scratch
    corpus: str
    """Name of the corpus; each process reads it once."""
    draws: int
    """What all draws depend on."""
    writer: Writer | None = None
    part: Part = Part({})
    """What of the shard is made anew."""
    sides: str = ""
    """Digest of where the works of a blind benchmark belong; empty in an open one."""


@contextmanager
def _corpus(build: Build, spread: Spread) -> Iterator[Share]:
    """The index of all records, made shard by shard and embedded piece by piece on the engine."""
    scratch = build.lake.scratch(STAGE, digest([STEP.code(), STEP.settings(build)]))
    shards, draws = build.before(STAGE).shards(), draws_seed(build)
    placed = sides(build)
    corpus, used = _write_corpus(build, scratch, spread, shards, placed)
    part, state = parts(build, placed), placed.digest if placed else ""
    if build.config.generator is None:
        yield lambda shard: Shared(scratch, corpus, draws, None, part(shard), state)
    else:
        from mihakk.generators.writing.writer import open_writer

        with open_writer(
            build.config.generator, build.lake.folder("journals", "generator"), build.spending
        ) as writer:
            yield lambda shard: Shared(scratch, corpus, draws, writer, part(shard), state)
    for side in side_names(build):
        drop_prepared(f"corpus {side}")
    scratch.keep_only(used)


def _write_corpus(
    build: Build, scratch: Scratch, spread: Spread, shards: Sequence[str], placed: Sides | None
) -> tuple[str, list[str]]:
    """Name of the corpus, and all its files."""
    open_to = None if placed is None else placed.unclosed
    from mihakk.generators.generating import uses_vectors
    from mihakk.generators.index import pieces, write_corpus, write_index, write_vectors
    from mihakk.machinery.embeddings import model_version

    files = spread(
        [
            Call(
                f"{STAGE} index {shard}",
                write_index,
                (
                    scratch,
                    inputs_of(build, STAGE, shard),
                    records,
                    (build, STAGE, shard),
                    build.config.morphology,
                ),
            )
            for shard in shards
        ]
    )
    model = build.config.embeddings if uses_vectors(build.config) else "none"
    if model == "none":
        corpus = write_corpus(scratch, files, [], "", open_to)
        return corpus, [*files, corpus]
    version = model_version(model)
    wanted = [(file, piece) for file in files for piece in pieces(scratch, file)]
    made = spread(
        [
            Call(
                f"{STAGE} embed {number}",
                write_vectors,
                (scratch, file, piece, version, OpenedEmbedder(model)),
            )
            for number, (file, piece) in enumerate(wanted)
        ]
    )
    by_file: dict[str, list[str]] = {file: [] for file in files}
    for (file, _), name in zip(wanted, made, strict=True):
        by_file[file].append(name)
    corpus = write_corpus(scratch, files, [by_file[file] for file in files], version, open_to)
    return corpus, [*files, *made, corpus]


def _generate(build: Build, shard: str, shared: Shared, tick: Tick) -> list[ShardManifest]:
    settled = _settled(build, records(build, STAGE, shard))
    inputs = STEP.shard_inputs(
        build,
        shard,
        corpus=whole_input(build, STAGE),
        people=[row.model_dump() for row in settled],
        **carried_inputs(build, shared.part.carried),
        **({"sides": shared.sides} if shared.sides else {}),
        **({} if shared.draws == build.config.seed else {"draws": sha256(f"{shared.draws}".encode())}),
    )
    manifest = build.stage(STAGE).run(shard, inputs, lambda: _output(build, shard, shared, settled))
    tick(1)
    return [manifest]


def _settled(build: Build, found: Sequence[Poem | Idiom]) -> list[Amendment]:
    """What people settled about the items of these records."""
    mine = {record.id for record in found}
    mine |= {couplet.id for record in found if isinstance(record, Poem) for couplet in record.couplets}
    return [row for row in amendments_of(build) if row.field in OF_ITEMS and row.record in mine]


def _output(build: Build, shard: str, shared: Shared, settled: Sequence[Amendment]) -> ShardOutput:
    from mihakk.generators.generating import generate_shard

    found = records(build, STAGE, shard)
    refused: dict[str, set[str]] = {}
    for row in settled:
        if row.field == "wrong":
            refused.setdefault(row.record, set()).add(row.before)
    every = [
        generate_shard(
            [record for record in found if not side or shared.part.of.get(work(record.id)) == side],
            _read_corpus(build, shared, side),
            _of_side(build.config, side),
            shared.writer and shared.writer.anew(),
            refused={record: frozenset(texts) for record, texts in refused.items()},
            chosen={row.record: (row.before, row.after) for row in settled if row.field == "wrong_idiom"},
            draws=shared.draws,
        )
        for side in side_names(build)
    ]
    items = [*(item for made in every for item in made.items), *carried_items(build, shared.part.carried)]
    rejections = [row for made in every for row in made.rejected]
    rejected = len(rejections)
    notes: Counter[str] = Counter()
    for made in every:
        notes.update(made.skipped)
        notes.update(made.written)
    return ShardOutput(
        tables={"items": (ITEM_ROWS, items)},
        counts=ShardCounts(
            read=len(found),
            kept=len(found) - rejected,
            rejected=rejected,
            written=len(items),
            reasons=dict(Counter(row.reason for row in rejections)),
            notes=dict(notes),
        ),
        rejections=rejections,
    )


def _read_corpus(build: Build, shared: Shared, side: str) -> Corpus:
    """The corpus, of a side alone where there is one; read once per process."""
    from mihakk.generators.index import read_corpus

    name, seed, share = shared.corpus, shared.draws, build.config.release.test_share
    return prepared(
        f"corpus {side}",
        digest([shared.scratch.root, name, f"{seed}", share]),
        lambda: read_corpus(shared.scratch, name, seed, share, side),
    )


def _of_side(config: BenchmarkConfig, side: str) -> BenchmarkConfig:
    """The config with a side's own share of the sample, which is drawn from its works alone."""
    if not side or config.sample is None:
        return config
    test = config.release.test_share
    share = 1 - test if side == DEV else test
    sample = config.sample.model_copy(update={"records": round(config.sample.records * share)})
    return config.model_copy(update={"sample": sample})


def draws_seed(build: Build) -> int:
    """What draws depend on: the config's seed, or of a blind benchmark a number that its secret tells.

    Who knows a source and the seed could else draw each shuffled line again, and tell it from the right one.
    """
    seed = build.config.seed
    if build.config.release.blind == "off":
        return seed
    return int(keyed(blind_key(), "draws", f"{build.config.name}\x1f{seed}")[:32], 16)


def _where(build: Build) -> Where:
    """A model that writes parts is open in the run's own process, and so is its journal."""
    return "anywhere" if build.config.generator is None else "process"


def _own_words(folder: str) -> list[tuple[str, str]]:
    """Name and digest of each prompt file of the config's own: other words make other items."""
    files = sorted(Path(folder).glob("*.yaml")) if folder else []
    return [(file.name, sha256(file.read_bytes())) for file in files]


def _settings(build: Build) -> list[Any]:
    return [
        build.config.seed,
        *([] if build.config.release.blind == "off" else ["drawn by the secret"]),
        build.config.release.test_share,
        build.config.parts_texts,
        [task.model_dump(exclude={"accept"}) for task in build.config.tasks],
        build.config.embeddings,
        morphology_version(build.config.morphology),
        _own_words(build.config.prompts),
        build.config.generator and build.config.generator.model_dump(),
        *([build.config.sample.model_dump()] if build.config.sample else []),
    ]


STEP = Step(
    stage=STAGE,
    title="Generate items",
    units=shards_before(STAGE),
    run=_generate,
    settings=_settings,
    packages=("generators",),
    where=_where,
    around=_corpus,
)
