"""Raw records to their canonical display form and matching key (stage 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.ids import canonical_json
from mihakk.machinery.lake import ShardOutput
from mihakk.machinery.lake.columns import Row
from mihakk.machinery.text import canonicalize, key, split_mudawwar
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.manifest import ShardCounts
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Form, Language, Record
from mihakk.schemas.rejection import Rejection

Changes = Counter[str]
"""How often each kind of change was made, `canonical.<kind>`."""


def normalize(records: Iterable[Poem | Idiom]) -> ShardOutput:
    """One shard of scraped records with `text` and `key` filled; every kind of change is counted.

    Rejects `no_text` (nothing readable is left), and lists couplets without a letter in the table `removed`.
    """
    kept: list[Poem | Idiom] = []
    removed: list[Rejection] = []
    rejections: list[Rejection] = []
    changes: Changes = Counter()
    for record in records:
        try:
            if isinstance(record, Poem):
                kept.append(normalize_poem(record, changes, removed))
            else:
                kept.append(normalize_idiom(record, changes))
        except RecordRejected as error:
            rejections.append(reject(record, error))
    notes = {**changes, **Counter(f"removed.{row.reason}" for row in removed)}
    return output_of(kept, rejections, notes, tables={"removed": (Rejection, removed)})


def output_of(
    records: Sequence[Poem | Idiom],
    rejections: Sequence[Rejection],
    notes: Mapping[str, int],
    *,
    merged: int = 0,
    tables: Mapping[str, tuple[Row, Sequence[Record]]],
) -> ShardOutput:
    """What a stage made of a shard of records: all that it read is among the records or the rejections.

    Args:
        records: Those that are kept.
        rejections: The others.
        notes: What else was counted.
        merged: How many of the rejections are duplicates of kept records.
        tables: Further tables of the stage.
    """
    poems = [record for record in records if isinstance(record, Poem)]
    idioms = [record for record in records if isinstance(record, Idiom)]
    return ShardOutput(
        tables={**tables, "poems": (Poem, poems), "idioms": (Idiom, idioms)},
        counts=ShardCounts(
            read=len(records) + len(rejections),
            kept=len(records),
            rejected=len(rejections) - merged,
            merged=merged,
            written=len(records),
            reasons=dict(Counter(row.reason for row in rejections)),
            notes=dict(notes),
        ),
        rejections=rejections,
    )


def reject(record: Poem | Idiom, error: RecordRejected) -> Rejection:
    """The rejection of a whole record, its body kept."""
    return remove(record, record, error.reason, error.detail)


def remove(
    part: Poem | Idiom | Couplet, of: Poem | Idiom, reason: str, detail: str, kept: str = ""
) -> Rejection:
    """The rejection of a whole record, or of one couplet `of` a poem; a duplicate was merged into `kept`."""
    return Rejection(
        record=part.id,
        source=of.provenance.source,
        reason=reason,
        detail=detail,
        kept=kept,
        body=canonical_json(part).decode(),
    )


def normalize_poem(poem: Poem, changes: Changes, removed: list[Rejection]) -> Poem:
    """A poem with every line in its three forms; lines without a letter go to `removed`.

    Raises:
        RecordRejected: `no_text`.
    """
    couplets: list[Couplet] = []
    for couplet in poem.couplets:
        normal = _normalize_couplet(couplet, poem.language, changes)
        if normal.first.key or (normal.second and normal.second.key):
            couplets.append(normal)
        else:
            detail = "the line holds no letter (a separator or an empty line)"
            removed.append(remove(couplet, poem, "no_letters", detail))
    if not couplets:
        raise RecordRejected("no_text", "no line of the poem holds a letter")
    text = {
        name: _line(getattr(poem, name), poem.language, changes) for name in ("title", "poet", "explanation")
    }
    return poem.model_copy(update={**text, "couplets": tuple(couplets)})


def normalize_idiom(idiom: Idiom, changes: Changes) -> Idiom:
    """An idiom with phrase and explanation in their three forms.

    Raises:
        RecordRejected: `no_text`.
    """
    phrase = _form(idiom.phrase.raw, idiom.language, changes)
    if not phrase.key:
        raise RecordRejected("no_text", "the phrase holds no letter")
    return idiom.model_copy(
        update={
            "phrase": phrase,
            "explanation": _form(idiom.explanation.raw, idiom.language, changes),
            "examples": tuple(filter(None, (_line(one, idiom.language, changes) for one in idiom.examples))),
        }
    )


def _normalize_couplet(couplet: Couplet, language: Language, changes: Changes) -> Couplet:
    prose = {name: _line(getattr(couplet, name), language, changes) for name in ("prose", "explanation")}
    if couplet.second is None:
        return couplet.model_copy(update={**prose, "first": _form(couplet.first.raw, language, changes)})
    split = split_mudawwar(couplet.first.raw, couplet.second.raw)
    if split.mudawwar:
        changes["canonical.mudawwar"] += 1
    return couplet.model_copy(
        update={
            **prose,
            "first": _form(couplet.first.raw, language, changes, split.sadr),
            "second": _form(couplet.second.raw, language, changes, split.ajuz),
            "mudawwar": couplet.mudawwar or split.mudawwar,
        }
    )


def _form(raw: str, language: Language, changes: Changes, shown: str | None = None) -> Form:
    """The three forms of `raw`; `shown` is what is displayed where a join sign was read out of it."""
    text = _line(raw if shown is None else shown, language, changes)
    return Form(raw=raw, text=text, key=key(text, language))


def _line(raw: str, language: Language, changes: Changes) -> str:
    if not raw:
        return ""
    form = canonicalize(raw, language)
    changes.update({f"canonical.{kind}": count for kind, count in form.changes.items()})
    return form.text
