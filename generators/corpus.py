"""What generators know of all records at once, prepared once per stage and handed to every worker."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from mihakk.generators.corpus_rows import CorpusFacts, Line, Phrase, embedded, indexed, without_shared
from mihakk.generators.neighbours import POOL, Neighbours, one_of_each
from mihakk.machinery.draw import split_of
from mihakk.machinery.embeddings import Embedder
from mihakk.machinery.morphology import LIGHT, Morphology
from mihakk.machinery.seeds import rng
from mihakk.machinery.text.key import word_keys
from mihakk.machinery.text.rhyme import SHARED
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language

K = TypeVar("K")

_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd constant: a product with it spreads what two salts differ in over all bits."""

Numbers = NDArray[np.int64]

FEW = 64
"""Numbers of a draw that are put in order before the rest."""
ENDING = 8
"""Longest ending of a hemistich, in letters of its key, that lines are grouped by."""


@dataclass(frozen=True)
class Corpus:
    """Compact index over all curated records; picklable, so that shards can run in other processes."""

    build_seed: int = 0
    test_share: float = 1.0
    """Share of works in the release's test split. Wrong options come from the item's own split: whoever knows
    the answers of dev would know that they are wrong in test."""
    lines: tuple[Line, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    poems: tuple[CorpusFacts, ...] = ()
    line_vectors: NDArray[np.float16] | None = None
    """Vectors of second hemistichs, one row per line; None without embeddings."""
    phrase_vectors: NDArray[np.float16] | None = None
    """Vectors of meanings, one row per phrase (of the phrase itself where it has none)."""
    embedder: str = ""
    """Name of the model behind the vectors."""
    sealed: bool = False
    """Whether what is made of it may be sealed: options must not tell by how often they are offered."""

    @cached_property
    def together(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Task and language to works with those they are asked with, see `generators.parts.together`."""
        return {}

    @cached_property
    def line_number(self) -> dict[str, int]:
        """Line number by couplet id."""
        return {line.id: number for number, line in enumerate(self.lines)}

    @cached_property
    def phrase_number(self) -> dict[str, int]:
        """Phrase number by idiom id."""
        return {phrase.id: number for number, phrase in enumerate(self.phrases)}

    @cached_property
    def splits(self) -> dict[str, str]:
        """`test` or `dev` by the id of a poem or idiom, as a release draws it for one that stands alone."""
        works = {line.poem for line in self.lines} | {phrase.id for phrase in self.phrases}
        return {work: split_of(work, self.test_share) for work in works}

    @cached_property
    def in_poem(self) -> dict[str, list[int]]:
        """Line numbers by poem id."""
        return _grouped((line.poem, n) for n, line in enumerate(self.lines))

    def radif(self, poem: str) -> frozenset[str]:
        """Keys of the words that three quarters of a poem's second hemistichs close with."""
        if poem not in self._radifs:
            self._radifs[poem] = _radif([self.lines[n] for n in self.in_poem[poem]])
        return self._radifs[poem]

    @cached_property
    def _radifs(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def in_language(self) -> dict[Language, list[int]]:
        """Poem numbers by language."""
        return _grouped((poem.language, n) for n, poem in enumerate(self.poems))

    @cached_property
    def label_counts(self) -> dict[tuple[str, Language], tuple[tuple[str, int], ...]]:
        """How many poems bear each label, by its kind (era, genre, metre) and language."""
        found: dict[tuple[str, Language], Counter[str]] = defaultdict(Counter)
        for poem in self.poems:
            for kind in ("era", "genre", "metre"):
                found[kind, poem.language][getattr(poem, kind)] += 1
        return {key: tuple(sorted(counts.items())) for key, counts in found.items()}

    @cached_property
    def in_metre(self) -> dict[tuple[str, Language, str], Numbers]:
        """Line numbers by split, language and metre, ascending; lines of unknown metre are in no group."""
        return _arrays(
            ((self.splits[line.poem], line.language, line.metre), n)
            for n, line in enumerate(self.lines)
            if line.metre
        )

    @cached_property
    def with_ending(self) -> dict[tuple[str, Language, str, str], Numbers]:
        """Line numbers by split, language, metre and ending of the second hemistich's key."""
        return _arrays(
            ((self.splits[line.poem], line.language, line.metre, line.second_key[-size:]), n)
            for n, line in enumerate(self.lines)
            if line.metre
            for size in range(1, min(ENDING, len(line.second_key)) + 1)
        )

    @cached_property
    def continuations(self) -> dict[tuple[Language, str], frozenset[str]]:
        """Keys of all second hemistichs by the key of the first one they follow, whoever wrote them."""
        return _sets(((line.language, line.first_key), line.second_key) for line in self.lines)

    @cached_property
    def openings(self) -> dict[tuple[Language, str], frozenset[str]]:
        """Keys of all first hemistichs by the key of the second one that follows them."""
        return _sets(((line.language, line.second_key), line.first_key) for line in self.lines)

    @cached_property
    def line_keys(self) -> frozenset[tuple[Language, str]]:
        """Keys of all hemistichs, so that nothing made by rule reads like a real one."""
        return frozenset(
            (line.language, part) for line in self.lines for part in (line.first_key, line.second_key)
        )

    @cached_property
    def in_dialect(self) -> dict[tuple[str, Language, str], list[int]]:
        """Phrase numbers by split, language and dialect."""
        return _grouped(
            ((self.splits[phrase.id], phrase.language, phrase.dialect), n)
            for n, phrase in enumerate(self.phrases)
        )

    def after(self, phrase: Phrase) -> Iterator[Phrase]:
        """The other phrases of its ring, from the next one round.

        A ring holds the phrases of one split, dialect, kind and licence that have a sentence, or those that
        have none: those that agree in person and number beside each other, in seeded order. Where each takes
        the next one, each is taken once: none is rarer. Removing a phrase changes only the one before it.
        """
        ring = self._rings[self._ring(phrase)]
        place = ring.index(self.phrase_number[phrase.id])
        yield from (self.phrases[n] for n in (*ring[place + 1 :], *ring[:place]))

    @cached_property
    def _rings(self) -> dict[tuple[str, ...], list[int]]:
        salts = self._salts["phrases"]
        numbers = sorted(range(len(self.phrases)), key=lambda n: (self.phrases[n].agreement, salts[n], n))
        return _grouped((self._ring(self.phrases[n]), n) for n in numbers)

    def _ring(self, phrase: Phrase) -> tuple[str, ...]:
        shared = self.splits[phrase.id], phrase.language, phrase.dialect, phrase.genre, phrase.licence
        return *shared, str(phrase.used)

    @cached_property
    def wrong_meanings(self) -> dict[str, tuple[Phrase, ...]]:
        """Idiom to the others whose meanings are wrong for it, see `Neighbours`."""
        salts = self._salts["phrases"]
        pools = _grouped(
            ((self.splits[one.id], one.language, one.dialect, one.licence), n)
            for n, one in enumerate(self.phrases)
            if one.meaning
        )
        found: dict[str, tuple[Phrase, ...]] = {}
        for pool in pools.values():
            pieces = 1 << max(0, (len(pool) - 1) // POOL).bit_length()
            for piece in _grouped((int(salts[n]) % pieces, n) for n in pool).values():
                numbers = sorted(piece, key=lambda n: (salts[n], n))
                vectors = self.phrase_vectors
                rows = None if vectors is None else vectors[numbers].astype(np.float32)
                shared_out = Neighbours([self.phrases[n] for n in numbers], rows, salts[numbers])
                found |= {own.id: others for own, others in shared_out.chosen()}
        return found

    @cached_property
    def one_wrong_meaning(self) -> dict[str, str]:
        """Idiom to the one of these that tasks with a single wrong meaning take."""
        return one_of_each({own: [one.id for one in others] for own, others in self.wrong_meanings.items()})

    @cached_property
    def next_words(self) -> dict[tuple[Language, tuple[str, ...]], frozenset[str]]:
        """Words that follow a phrase's first words in any phrase, by language and those words."""
        return _sets(
            ((phrase.language, phrase.words[:size]), phrase.words[size])
            for phrase in self.phrases
            for size in range(1, len(phrase.words))
        )

    def ambiguous(self, line: Line) -> bool:
        """The first hemistich opens couplets that go on differently, whoever wrote them.

        Were it this poet's alone, a question that is not made would tell whose a sealed verse is.
        """
        return len(self.continuations[line.language, line.first_key]) > 1

    def drawn(
        self, item: str, kind: Literal["lines", "poems", "phrases"], numbers: Sequence[int] | Numbers
    ) -> Iterator[int]:
        """The numbers in an order that depends on the item and, for each, on its own record alone.

        So removing a record changes only the draws that took it. Numbers come one by one: most callers take
        one of the first few, and sorting a whole language for each would not scale.
        """
        if not len(numbers):
            return iter(())
        chosen = np.asarray(numbers, dtype=np.int64)
        mixed = (self._salts[kind][chosen] ^ np.uint64(salt(self.build_seed, item))) * _MIX
        return _ordered(chosen, (mixed ^ (mixed >> np.uint64(29))) * _MIX)

    def in_turn(self, line: int, numbers: Sequence[int] | Numbers) -> Iterator[int]:
        """The lines in seeded order, from the one that follows the given line round to it.

        Where each takes the next, each is taken once; removing a line changes only those that took it.
        """
        if not len(numbers):
            return iter(())
        chosen = np.asarray(numbers, dtype=np.int64)
        return _ordered(chosen, self._salts["lines"][chosen] - self._salts["lines"][line])

    @cached_property
    def _salts(self) -> dict[str, NDArray[np.uint64]]:
        tables: dict[str, Sequence[Line | CorpusFacts | Phrase]] = {
            "lines": self.lines,
            "poems": self.poems,
            "phrases": self.phrases,
        }
        return {
            kind: np.array([salt(self.build_seed, row.id) for row in rows], dtype=np.uint64)
            for kind, rows in tables.items()
        }

    def line_similarity(self, one: int, others: Sequence[int] | Numbers) -> NDArray[np.float32] | None:
        """Cosines of one line's second hemistich with others'; None without embeddings."""
        return _cosines(self.line_vectors, one, others)

    def phrase_similarity(self, one: int, others: Sequence[int]) -> NDArray[np.float32] | None:
        """Cosines of one meaning with others; None without embeddings."""
        return _cosines(self.phrase_vectors, one, others)


def _radif(lines: Sequence[Line]) -> frozenset[str]:
    closes = [word_keys(line.second, line.language) for line in lines]
    found: list[str] = []
    for size in range(1, max(map(len, closes), default=0)):
        tails = Counter(tuple(words[-size:]) for words in closes if len(words) > size)
        tail, count = tails.most_common(1)[0]
        if count < max(2, SHARED * len(closes)):
            break
        found = list(tail)
    return frozenset(found)


def salt(build_seed: int, identifier: str) -> int:
    """64 bits that a record or item brings to every draw."""
    return rng(build_seed, identifier, "draw").getrandbits(64)


def _ordered(numbers: Numbers, ranks: NDArray[np.uint64]) -> Iterator[int]:
    """The numbers by rank, the first few before the rest is put in order."""
    done = 0
    if len(numbers) > 4 * FEW:
        first = np.sort(np.argpartition(ranks, FEW)[:FEW])
        yield from numbers[first[np.argsort(ranks[first], kind="stable")]].tolist()
        done = FEW
    yield from numbers[np.argsort(ranks, kind="stable")[done:]].tolist()


def _sets(pairs: Iterable[tuple[K, str]]) -> dict[K, frozenset[str]]:
    groups: dict[K, set[str]] = defaultdict(set)
    for name, member in pairs:
        groups[name].add(member)
    return {name: frozenset(members) for name, members in groups.items()}


def _grouped(pairs: Iterable[tuple[K, int]]) -> dict[K, list[int]]:
    groups: dict[K, list[int]] = defaultdict(list)
    for name, number in pairs:
        groups[name].append(number)
    return dict(groups)


def _arrays(pairs: Iterable[tuple[K, int]]) -> dict[K, Numbers]:
    return {name: np.array(numbers, dtype=np.int64) for name, numbers in _grouped(pairs).items()}


def _cosines(
    vectors: NDArray[np.float16] | None, one: int, others: Sequence[int] | Numbers
) -> NDArray[np.float32] | None:
    if vectors is None:
        return None
    rows = vectors[np.asarray(others, dtype=np.int64)].astype(np.float32)
    # einsum sums each row by itself: a BLAS product may round a row differently beside other rows.
    similarity: NDArray[np.float32] = np.einsum("ij,j->i", rows, vectors[one].astype(np.float32))
    return similarity


def build_corpus(
    records: Iterable[Poem | Idiom],
    embedder: Embedder | None = None,
    *,
    build_seed: int = 0,
    test_share: float = 1.0,
    morphology: Morphology = LIGHT,
) -> Corpus:
    """Indexes all curated records.

    Args:
        records: Curated poems and idioms, each with its keys filled.
        build_seed: Seed of the build, which all draws depend on.
        embedder: Model for meaning; None leaves choices to form alone.
        test_share: Share of the works in the release's test split.
        morphology: Tells words that are akin, and phrases that agree.
    """
    lines, phrases, poems = indexed(records, morphology)
    lines.sort(key=lambda line: line.id)
    phrases.sort(key=lambda phrase: phrase.id)
    poems.sort(key=lambda poem: poem.id)
    return Corpus(
        build_seed=build_seed,
        test_share=test_share,
        lines=tuple(lines),
        phrases=without_shared(phrases),
        poems=tuple(poems),
        line_vectors=_vectors(embedder, [line.second for line in lines]),
        phrase_vectors=_vectors(embedder, [embedded(phrase) for phrase in phrases]),
        embedder=embedder.name if embedder else "",
    )


def _vectors(embedder: Embedder | None, texts: Sequence[str]) -> NDArray[np.float16] | None:
    if embedder is None:
        return None
    return embedder.encode(texts).astype(np.float16)
