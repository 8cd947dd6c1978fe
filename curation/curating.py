"""Curation of one shard (stage 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mihakk.curation.duplicates import Duplicates
from mihakk.curation.fitness import fit
from mihakk.curation.normalization import output_of, reject, remove
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.lake import ShardOutput
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.rejection import Cluster, Rejection


def curate(records: Iterable[Poem | Idiom], duplicates: Duplicates, config: CurateConfig) -> ShardOutput:
    """One shard of normalised records: metadata in the taxonomy's terms, verse alone, each text once.

    Tables: `poems`, `idioms`, `removed` (couplets taken out of kept poems) and `clusters` (kept records of
    this shard with what was merged into them or, method `half`, shares a hemistich with them).
    """
    kept: list[Poem | Idiom] = []
    removed: list[Rejection] = []
    rejections: list[Rejection] = []
    notes: Counter[str] = Counter()
    ids: set[str] = set()
    merged = 0
    for record in records:
        ids.add(record.id)
        if cluster := duplicates.of(record.id):
            rejections.append(_merged(record, record, cluster))
            merged += 1
            continue
        try:
            fitting = fit(record, config)
            if isinstance(fitting.record, Poem):
                ids.update(couplet.id for couplet in fitting.record.couplets)
                whole = _with_contested(fitting.record, duplicates)
                kept.append(_without_duplicates(whole, duplicates, removed))
            else:
                kept.append(fitting.record)
            removed += fitting.removed
            notes.update(fitting.notes)
        except RecordRejected as error:
            rejections.append(reject(record, error))
    clusters = [cluster for cluster in duplicates.clusters if cluster.kept in ids]
    return output_of(
        kept,
        rejections,
        {**notes, **Counter(f"removed.{row.reason}" for row in removed)},
        merged=merged,
        tables={"removed": (Rejection, removed), "clusters": (Cluster, clusters)},
    )


def _with_contested(poem: Poem, duplicates: Duplicates) -> Poem:
    """The poem with the labels contradicted by its copies, the table of poets (era) or its sounds (metre)."""
    said = [c.contested for c in duplicates.concerning.get(poem.id, ()) if c.kept == poem.id]
    names = {name for labels in said for name in labels}
    named = {"era_of_poet": "era", "metre_by_scansion": "metre"}
    names |= {label for told, label in named.items() if told in poem.source_labels}
    if not names:
        return poem
    labels = poem.source_labels | {"contested": ", ".join(sorted(names))}
    return poem.model_copy(update={"source_labels": labels})


def _merged(part: Poem | Idiom | Couplet, of: Poem | Idiom, cluster: Cluster) -> Rejection:
    detail = f"{cluster.similarity:.0%} the same as {cluster.kept}, which is kept"
    return remove(part, of, f"{cluster.method}_duplicate", detail, cluster.kept)


def _without_duplicates(poem: Poem, duplicates: Duplicates, removed: list[Rejection]) -> Poem:
    """The poem without couplets that an earlier poem has.

    Raises:
        RecordRejected: `all_couplets_duplicate`.
    """
    couplets = []
    copies = []
    for couplet in poem.couplets:
        cluster = duplicates.of(couplet.id)
        if cluster is None:
            couplets.append(couplet)
            continue
        copies.append(_merged(couplet, poem, cluster))
    if not couplets:
        raise RecordRejected("all_couplets_duplicate", "every couplet of the poem stands in earlier poems")
    removed += copies
    return (
        poem if len(couplets) == len(poem.couplets) else poem.model_copy(update={"couplets": tuple(couplets)})
    )
