"""Lines per second of canonical form and keys beside camel-tools, pyarabic and hazm, on real verse.

    python -m performance.text [FOLDER OF REAL DATA]

Real couplets are resampled with a fixed seed to 60,000 lines of each language. The tools take turns on the
same lines, five rounds, and each is given its best one, in processor time. `ratio`: how many lines ours does
while the peer does one; that both give the same is shown by tests. Exits 1 when a stated goal is missed.
hazm needs Python 3.12 or newer; mihakk.machinery.text has no dependencies, so
`python3.12 -m performance.text` in any environment with hazm compares it too.
"""

from __future__ import annotations

import math
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mihakk.machinery.text import Language, canonical, key, words_key
from performance._measure import data_folder, ganjoor, metrec, slope, verdict

SIZE = 60_000
ROUNDS = 5
SEED = 20261121
CAMEL_GOAL, HAZM_GOAL, SLOPE_GOAL = 3.0, 15.0, 1.1

Step = Callable[[str], str]
OURS: dict[str, Callable[[str, Language], str]] = {"canonical": canonical, "key": key, "words_key": words_key}
INVISIBLE = "\u200b\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u00ad\u061c"
DROPPED = re.compile(f"[{INVISIBLE}\u0640]")
NOT_LETTERS = re.compile(r"[\W_\u0640]")
LETTERS: dict[Language, dict[str, str]] = {
    "ar": {"ی": "ي", "ک": "ك", "\u00a0": " "},
    "fa": {"ي": "ی", "ى": "ی", "ك": "ک", "\u00a0": " "},
}


class Peer(NamedTuple):
    """Another tool's way to what one function of ours does."""

    name: str
    step: Step
    ours: str
    """Our function of the same purpose, in `OURS`."""
    goal: float = 0.0


def main() -> int:
    """Print every table; 1 when a goal is missed."""
    data = data_folder(*sys.argv[1:2])
    arabic = resample([f"{first} {second}" for _, first, second in metrec(data)])
    persian = resample(list(verses(data)))
    met = [
        report("Arabic couplets (MetRec)", arabic, "ar", [*camel("ar"), *pyarabic()]),
        report("Persian couplets (Hafez)", persian, "fa", [*camel("fa"), *hazm()]),
        scaling(arabic),
    ]
    return 0 if all(met) else 1


def verses(data: Path) -> Iterator[str]:
    """The couplets of Hafez as lines, three in ten typed on an Arabic keyboard."""
    draw = random.Random(SEED)
    for texts in ganjoor(data):
        for pair in zip(texts[::2], texts[1::2], strict=False):
            line = " ".join(pair)
            yield line.replace("ی", "ي").replace("ک", "ك") if draw.random() < 0.3 else line


def resample(lines: list[str]) -> list[str]:
    """`SIZE` lines drawn with repetition, always the same."""
    return random.Random(SEED).choices(lines, k=SIZE)


def camel(language: Language) -> Iterator[Peer]:
    """camel-tools: chains of its functions with the rest of our steps."""
    try:
        from camel_tools.utils import normalize
        from camel_tools.utils.charmap import CharMapper
        from camel_tools.utils.dediac import dediac_ar
    except ImportError as error:
        print(f"skipped camel-tools: {error}")
        return
    unicode = normalize.normalize_unicode
    mapped = CharMapper({**LETTERS[language], **dict.fromkeys(INVISIBLE + "\u0640", "")})

    def folded(line: str) -> str:
        bare = normalize.normalize_alef_maksura_ar(normalize.normalize_alef_ar(dediac_ar(unicode(line))))
        return NOT_LETTERS.sub("", normalize.normalize_teh_marbuta_ar(bare))

    yield Peer(
        "camel normalize_unicode + CharMapper (controls, letters) + spaces",
        lambda line: " ".join(mapped(unicode(line)).split()),
        "canonical",
        CAMEL_GOAL,
    )
    if language == "ar":  # in Persian these chains leave the letters mixed, so they are no equivalent there
        yield Peer(
            "camel normalize_unicode + regex (controls, kashida) + spaces",
            lambda line: " ".join(DROPPED.sub("", unicode(line)).split()),
            "canonical",
            CAMEL_GOAL,
        )
        name = "camel normalize_unicode + dediac + alef, maksura, teh marbuta"
        yield Peer(name, folded, "key", CAMEL_GOAL)


def pyarabic() -> Iterator[Peer]:
    """pyarabic: the functions that leave letters alone, and the chain that makes a matching form."""
    try:
        from pyarabic import araby
    except ImportError as error:
        print(f"skipped pyarabic: {error}")
        return

    def folded(line: str) -> str:
        bare = araby.normalize_ligature(araby.strip_tatweel(araby.strip_tashkeel(line)))
        return " ".join(araby.normalize_hamza(araby.normalize_teh(bare), method="tasheel").split())

    def displayed(line: str) -> str:
        return " ".join(araby.normalize_ligature(araby.strip_tatweel(line)).split())

    yield Peer("pyarabic tatweel, ligature, spaces", displayed, "canonical")
    yield Peer("pyarabic tashkeel, tatweel, ligature, teh, hamza", folded, "words_key")


def hazm() -> Iterator[Peer]:
    """hazm's Normalizer."""
    try:
        from hazm import Normalizer
    except (ImportError, SyntaxError) as error:
        print(f"skipped hazm (it needs Python 3.12 or newer): {error}")
        return
    yield Peer("hazm Normalizer", Normalizer().normalize, "canonical", HAZM_GOAL)


def report(title: str, lines: list[str], language: Language, peers: list[Peer]) -> bool:
    """One table; whether every goal in it was met."""
    ours: dict[str, Step] = {name: partial(step, language=language) for name, step in OURS.items()}
    seconds = race(ours | {peer.name: peer.step for peer in peers}, lines)
    print(f"\n{title}: {len(lines):,} lines")
    for name in OURS:
        print(f"  ours {name:<61} {len(lines) / seconds[name]:>9,.0f} lines/s")
    ratios = {peer: seconds[peer.name] / seconds[peer.ours] for peer in peers}
    for peer, ratio in ratios.items():
        goal = f"  goal {peer.goal:g}: {verdict(ratio >= peer.goal)}" if peer.goal else ""
        speed = len(lines) / seconds[peer.name]
        print(f"  {peer.name:<66} {speed:>9,.0f} lines/s, against {peer.ours}: ratio {ratio:.1f}{goal}")
    return all(ratio >= peer.goal for peer, ratio in ratios.items())


def race(steps: dict[str, Step], lines: list[str]) -> dict[str, float]:
    """Seconds of the best round of each step, the steps taking turns."""
    best = dict.fromkeys(steps, math.inf)
    for _ in range(ROUNDS):
        for name, step in steps.items():
            start = time.process_time()
            for line in lines:
                step(line)
            best[name] = min(best[name], time.process_time() - start)
    return best


def scaling(lines: list[str]) -> bool:
    """Cost against size, as the slope of a line through the logarithms; whether it is nearly linear."""
    sizes = [SIZE // 30, SIZE // 10, SIZE // 3, SIZE]
    step: dict[str, Step] = {"canonical": partial(canonical, language="ar")}
    steepness = slope(sizes, [race(step, lines[:size])["canonical"] for size in sizes])
    print(
        f"\nCost against size: slope {steepness:.2f}  goal {SLOPE_GOAL:g}: {verdict(steepness <= SLOPE_GOAL)}"
    )
    return steepness <= SLOPE_GOAL


if __name__ == "__main__":
    sys.exit(main())
