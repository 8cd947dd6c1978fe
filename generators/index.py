"""The corpus in files: each shard's rows indexed, and its texts embedded, by whatever worker is free."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from mihakk.generators.corpus import Corpus
from mihakk.generators.corpus_rows import CorpusFacts, Line, Phrase, embedded, indexed, without_shared
from mihakk.machinery.embeddings import Embedder
from mihakk.machinery.lake.scratch import Scratch
from mihakk.machinery.morphology import open_morphology
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem

PIECE: Final = 256
"""Texts embedded at a time: some seconds of work, so that workers finish together whatever a shard holds."""
_CELL: Final = pa.schema([("data", pa.large_binary())])
LINES, PHRASES, POEMS = range(3)

Records = Callable[..., Iterable[Poem | Idiom]]
"""Reads the records of one shard; a function known by its name, so that workers can be told it."""


def write_index(
    scratch: Scratch, inputs: Any, records: Records, arguments: tuple[Any, ...], morphology: str = "light"
) -> str:
    """What the corpus takes from one shard; `inputs` and the scratch's name say all that it depends on."""

    def make() -> list[pa.RecordBatch]:
        found = indexed(records(*arguments), open_morphology(morphology))
        return [_cell(orjson.dumps([_plain(row) for row in rows])) for rows in found]

    return scratch.made("index", inputs, make)


def pieces(scratch: Scratch, file: str) -> list[tuple[int, int, int]]:
    """What of a shard's index is embedded: (batch, first row, last row and one)."""
    return [
        (batch, start, min(start + PIECE, count))
        for batch in (LINES, PHRASES)
        for count in [len(_rows(scratch, file, batch))]
        for start in range(0, count, PIECE)
    ]


def write_vectors(
    scratch: Scratch, file: str, piece: tuple[int, int, int], model: str, embedder: Callable[[], Embedder]
) -> str:
    """Vectors of a piece of a shard's index: second hemistichs of its lines, meanings of its idioms.

    Args:
        scratch: Where the index lies.
        file: The shard's index.
        piece: As of `pieces`.
        model: The model and its version; part of what the vectors depend on.
        embedder: Opens the model, which is not done where the vectors are there.
    """

    def make() -> list[pa.RecordBatch]:
        batch, first, last = piece
        rows = _rows(scratch, file, batch)[first:last]
        texts = [Line(*row).second if batch == LINES else embedded(_phrase(row)) for row in rows]
        return [_cell(embedder().encode(texts).astype("<f2").tobytes())]

    return scratch.made("vectors", [file, piece, model], make)


def write_corpus(
    scratch: Scratch,
    files: Sequence[str],
    vectors: Sequence[Sequence[str]],
    model: str,
    sides: Mapping[str, str] | None = None,
) -> str:
    """The list of the corpus's files: its name is all that a worker needs.

    Args:
        scratch: Where they lie.
        files: Indexes of all shards.
        vectors: For each of them its pieces in order; empty without embeddings.
        model: Name of the model behind the vectors; empty without.
        sides: Poem or idiom to the works beside which items of it are made, of a corpus that is read side by
            side; of others no wrong option is taken.
    """
    listed: dict[str, Any] = {"files": list(files), "vectors": [list(some) for some in vectors]}
    listed |= {"model": model, **({"sides": dict(sorted(sides.items()))} if sides is not None else {})}
    return scratch.made("corpus", listed, lambda: [_cell(orjson.dumps(listed))])


def read_corpus(scratch: Scratch, name: str, build_seed: int, test_share: float, side: str = "") -> Corpus:
    """The corpus of a list of files: the same as `build_corpus` makes of all records at once.

    With a `side`, of its works alone, as if there were no others.
    """
    listed = orjson.loads(_data(scratch, name, 0))
    sides = listed.get("sides", {})

    def stands(work: str) -> bool:
        return not side or sides.get(work) == side

    rows = [[row for file in listed["files"] for row in _rows(scratch, file, batch)] for batch in range(3)]
    lines, line_order = _ordered((Line(*row) for row in rows[LINES]), lambda line: stands(line.poem))
    phrases, phrase_order = _ordered(map(_phrase, rows[PHRASES]), lambda phrase: stands(phrase.id))
    poems, _ = _ordered((CorpusFacts(*row) for row in rows[POEMS]), lambda poem: stands(poem.id))
    read = partial(_vectors, scratch, listed["files"], listed["vectors"])
    return Corpus(
        build_seed=build_seed,
        test_share=float(side != "dev") if side else test_share,
        sealed=side not in ("", "dev"),
        lines=lines,
        phrases=without_shared(phrases),
        poems=poems,
        line_vectors=read(LINES, line_order) if listed["vectors"] else None,
        phrase_vectors=read(PHRASES, phrase_order) if listed["vectors"] else None,
        embedder=listed["model"],
    )


def _ordered(rows: Iterable[Any], stands: Callable[[Any], bool]) -> tuple[tuple[Any, ...], list[int]]:
    """The rows that stand by id, and where each stood."""
    found = list(rows)
    order = sorted(
        (place for place, row in enumerate(found) if stands(row)), key=lambda place: found[place].id
    )
    return tuple(found[place] for place in order), order


def _vectors(
    scratch: Scratch, files: Sequence[str], vectors: Sequence[Sequence[str]], batch: int, order: Sequence[int]
) -> NDArray[np.float16]:
    parts = [
        np.frombuffer(_data(scratch, name, 0), dtype="<f2").reshape(last - first, -1)
        for file, names in zip(files, vectors, strict=True)
        for (of, first, last), name in zip(pieces(scratch, file), names, strict=True)
        if of == batch
    ]
    if not parts:
        return np.empty((0, 0), dtype=np.float16)
    rows: NDArray[np.float16] = np.concatenate(parts).astype(np.float16)[order]
    return rows


def _phrase(row: Sequence[Any]) -> Phrase:
    values: list[Any] = [*row[:-4], tuple(row[-4]), *map(frozenset, row[-3:])]
    return Phrase(*values)


def _rows(scratch: Scratch, file: str, batch: int) -> list[Any]:
    rows: list[Any] = orjson.loads(_data(scratch, file, batch))
    return rows


def _data(scratch: Scratch, file: str, batch: int) -> bytes:
    found: bytes = scratch.read(file, batch)["data"][0].as_py()
    return found


def _cell(data: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([data], pa.large_binary())], schema=_CELL)


def _plain(row: Any) -> list[Any]:
    """A row's fields; sets in order, so that equal indexes have equal bytes."""
    values = [getattr(row, field.name) for field in fields(row)]
    return [sorted(value) if isinstance(value, frozenset) else value for value in values]
