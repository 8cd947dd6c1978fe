"""Stage 4: curated records to items, each record accounted for."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from mihakk.generators.apart import groups_of_couplets, offered_in_turn
from mihakk.generators.corpus import Corpus, build_corpus
from mihakk.generators.corpus_rows import CorpusFacts, Phrase
from mihakk.generators.meaning import Meaning
from mihakk.generators.prompts import prompts_of
from mihakk.generators.task import TASKS, Context, Options, Skip, Task
from mihakk.generators.writing.writer import Writer, WriteRequest
from mihakk.machinery.configs import validate
from mihakk.machinery.draw import in_turns, lot
from mihakk.machinery.embeddings import Embedder, open_embedder
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import canonical_json
from mihakk.machinery.llm.structured import Reply
from mihakk.machinery.morphology import open_morphology
from mihakk.schemas.benchmark import BenchmarkConfig, SampleConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection


@dataclass(frozen=True, slots=True)
class Generated:
    """What came of one shard of records."""

    items: list[Item] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    """Records that yielded no item at all."""
    skipped: dict[str, int] = field(default_factory=dict)
    """`skipped.<task>.<reason>` to how often."""
    written: dict[str, int] = field(default_factory=dict)
    """`written.<prompt>.<outcome>` to how many replies of the writing model."""


def planned(config: BenchmarkConfig) -> list[tuple[Task, Options]]:
    """The config's tasks with their validated options.

    Raises:
        UsageError: An unknown task or option, a task named twice, or one that lacks the model it needs.
    """
    found: dict[str, tuple[Task, Options]] = {}
    for use in config.tasks:
        task = TASKS.get(use.use)
        if task.name in found:
            raise UsageError(f"tasks: {task.name} is named twice: keep one")
        if task.needs_model and config.generator is None:
            raise UsageError(f"tasks: {task.name} needs a model: set `generator`, or leave the task out")
        found[task.name] = task, validate(use.options, task.options, f"tasks.{task.name}.options")
    return list(found.values())


def prepare(
    records: Iterable[Poem | Idiom], config: BenchmarkConfig, *, embedder: Embedder | None = None
) -> Corpus:
    """The index every shard of this stage needs; computes vectors where a task chooses by meaning.

    Args:
        records: All curated records of the build.
        config: What to build.
        embedder: Used instead of the one the config names.

    Raises:
        UsageError: The config's tasks, embeddings or morphology can't be used.
    """
    embedder = (embedder or open_embedder(config.embeddings)) if uses_vectors(config) else None
    morphology = open_morphology(config.morphology)
    return build_corpus(
        records,
        embedder,
        build_seed=config.seed,
        test_share=config.release.test_share,
        morphology=morphology,
    )


def uses_vectors(config: BenchmarkConfig) -> bool:
    """Whether a task of the config chooses by meaning.

    Raises:
        UsageError: The config's tasks can't be used.
    """
    return any(
        task.uses_vectors and getattr(options, "take", "nearest") == "nearest"
        for task, options in planned(config)
    )


def generate_shard(
    records: Sequence[Poem | Idiom],
    corpus: Corpus,
    config: BenchmarkConfig,
    writer: Writer | None = None,
    *,
    refused: Mapping[str, frozenset[str]] | None = None,
    chosen: Mapping[str, tuple[str, str]] | None = None,
    draws: int | None = None,
) -> Generated:
    """Items of some records, in the records' order and within a record in the config's order of tasks.

    Args:
        records: Curated records of one shard.
        corpus: What `prepare` made of all records.
        config: The same config.
        writer: Model that writes parts of items, of which nothing was asked yet; it is asked about several
            records at once.
        refused: Couplet or idiom to the wrong options that people refused for it; others are made.
        chosen: Idiom to a sentence without it and the wrong idiom that people chose for it.
        draws: What all draws depend on, where it is not the config's seed.
    """
    drawn = None if config.sample is None else sampled(config.sample, corpus)
    shared: dict[str, Any] = {
        "build_seed": config.seed if draws is None else draws,
        "told_seed": config.seed,
        "corpus": corpus,
        "prompts": prompts_of(config.prompts),
        "writer": writer,
        "meaning": Meaning(config.embeddings),
        "couplets": None if config.sample is None else config.sample.per_record,
        "refused": refused or {},
        "chosen": chosen or {},
        "drawn": drawn,
    }
    contexts = [
        (task, Context(task=task.name, version=task.version, group=task.group, options=options, **shared))
        for task, options in planned(config)
    ]
    written_for = {task.name: _written_for(task, ctx.options, corpus) for task, ctx in contexts}

    def one(record: Poem | Idiom) -> _Made:
        if drawn is not None and record.id not in drawn:
            return [], [("sample", "not_in_sample")]
        return _generate(record, contexts, written_for, apart=config.parts_texts)

    made = list(map(one, records)) if writer is None else _at_once(one, records, writer.concurrency)
    out = Generated()
    counts: Counter[str] = Counter()
    for record, (items, skips) in zip(records, made, strict=True):
        out.items.extend(items)
        counts.update(f"skipped.{task}.{reason}" for task, reason in skips)
        if not items:
            out.rejected.append(_rejection(record, skips))
    out.skipped.update(sorted(counts.items()))
    outcomes = writer.outcomes.items() if writer else ()
    out.written.update(sorted(Counter(f"written.{one.name}.{outcome}" for one, outcome in outcomes).items()))
    return out


_Made = tuple[list[Item], list[tuple[str, str]]]
"""Items of a record, and task and reason of each that was not made."""


def _at_once(
    one: Callable[[Poem | Idiom], _Made], records: Sequence[Poem | Idiom], concurrency: int
) -> list[_Made]:
    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        try:
            return list(pool.map(one, records))
        except BaseException:
            # The model is gone or the run is stopped: records not begun would only fail again.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def sampled(asked: SampleConfig, corpus: Corpus) -> frozenset[str]:
    """Ids of the poems and explained idioms that items are made of, the same in every shard."""
    rows: Sequence[CorpusFacts | Phrase] = (*corpus.poems, *corpus.phrases)

    def strata(row: CorpusFacts | Phrase) -> tuple[str, ...]:
        return (type(row).__name__, *(getattr(row, name, "") for name in asked.strata))

    drawn = in_turns(sorted(rows, key=lambda row: lot(row.id)), strata)
    return frozenset(row.id for row in drawn[: asked.records])


def _written_for(task: Task, options: Options, corpus: Corpus) -> frozenset[str] | None:
    """Ids of the records the model writes for, the same in every shard; None where it writes for all."""
    if options.written is None:
        return None
    rows: Sequence[CorpusFacts | Phrase] = corpus.poems if task.reads == "poem" else corpus.phrases
    fitting = [n for n, row in enumerate(rows) if row.language in task.languages]
    drawn = corpus.drawn("written", "poems" if task.reads == "poem" else "phrases", fitting)
    return frozenset(rows[n].id for n in islice(drawn, options.written))


def _generate(
    record: Poem | Idiom,
    contexts: Sequence[tuple[Task, Context[Options]]],
    written_for: Mapping[str, frozenset[str] | None],
    *,
    apart: bool,
) -> _Made:
    """Items of a record, with reasons for what was not made.

    Where texts are kept apart, a poem's couplets are divided among the groups of tasks; an idiom goes to the
    first group that makes an item of it.
    """
    reading = [(task, ctx) for task, ctx in contexts if task.reads == record.kind]
    groups = {task.group for task, _ in reading if record.language in task.languages}
    if not apart:
        return _made(record, reading, written_for)
    if isinstance(record, Poem):
        homes = groups_of_couplets(record, groups)
        return _made(record, [(task, replace(ctx, homes=homes)) for task, ctx in reading], written_for)
    items: list[Item] = []
    skips: list[tuple[str, str]] = []
    for group in offered_in_turn(record.id, {task.group for task, _ in reading}):
        own = [(task, ctx) for task, ctx in reading if task.group == group]
        if items:
            skips += [(task.name, "other_task_group") for task, _ in own]
            continue
        items, more = _made(record, own, written_for)
        skips += more
    return items, skips


def _made(
    record: Poem | Idiom,
    contexts: Sequence[tuple[Task, Context[Options]]],
    written_for: Mapping[str, frozenset[str] | None],
) -> _Made:
    items: list[Item] = []
    skips: list[tuple[str, str]] = []
    for task, ctx in contexts:
        if record.language not in task.languages:
            skips.append((task.name, "language"))
            continue
        asked = written_for[task.name]
        if asked is not None and record.id not in asked:
            ctx = replace(ctx, writer=None)  # noqa: PLW2901 - the same context, for this record
        groups: dict[str, list[Item]] = {}
        try:
            for made in task.generate(ctx, record):
                if isinstance(made, Skip):
                    skips.append((task.name, made.reason))
                    continue
                group = made.pair_id if isinstance(made, ChoiceItem) and made.pair_id else made.id
                if group not in groups and len(groups) == ctx.options.per_record:
                    break
                groups.setdefault(group, []).append(made)
        except Skip as skip:
            skips.append((task.name, skip.reason))
        items += [item for group in groups.values() for item in group]
    return items, skips


def _rejection(record: Poem | Idiom, skips: Sequence[tuple[str, str]]) -> Rejection:
    reasons = Counter(reason for _, reason in skips)
    reason = min(reasons, key=lambda name: (-reasons[name], name)) if reasons else "no_task_reads_it"
    told = "; ".join(dict.fromkeys(f"{task}: {reason}" for task, reason in skips))
    return Rejection(
        record=record.id,
        source=record.provenance.source,
        reason=reason,
        detail=told or f"no task of this benchmark reads a {record.kind}",
        body=canonical_json(record).decode(),
    )


def expected_requests(
    records: Sequence[Poem | Idiom], corpus: Corpus, config: BenchmarkConfig
) -> list[WriteRequest]:
    """What a model would be asked to write for these records, each request once; nothing is asked.

    Repairs, and requests that rest on an earlier reply (the paraphrase of written prose), are not foreseen.
    """
    rehearsal = Writer(lambda asked: Reply(asked.tag, "", None, "rehearsal: nothing is written"), "", "", 1)
    generate_shard(records, corpus, config, rehearsal)
    return list(rehearsal.outcomes)
