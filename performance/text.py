"""Lines per second of canonical form and keys beside camel-tools, pyarabic and hazm, on real verse.

    python -m performance.text [FOLDER OF REAL DATA]

Real couplets are resampled with a fixed seed to 60,000 lines of each language. The tools take turns on the
same lines, five rounds, and each is given its best one, in processor time. `ratio`: how many lines ours does
while the peer does one. `agrees` is the share of lines with the same result, of those that both mean to treat
alike: where ours made a change the peer has no step for, the line is not compared.
Exits 1 when a stated goal is missed. hazm needs Python 3.12 or newer; mihakk.text has no dependencies, so
`python3.12 -m performance.text` in any environment with hazm compares it too.
"""

from __future__ import annotations

import math
import random
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mihakk.text import Language, canonical, canonicalize, key, strip_marks, words_key
from performance._measure import data_folder, ganjoor, metrec, slope, verdict

SIZE = 60_000
ROUNDS = 5
SEED = 20261121
CAMEL_GOAL = 3.0
HAZM_GOAL = 15.0
SLOPE_GOAL = 1.1

Step = Callable[[str], str]
TIDY = frozenset({"nfc", "kashida", "space", "space_variant", "zero_width", "bidi_control", "soft_hyphen"})
INVISIBLE = "\u200b\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u00ad\u061c"
DROPPED = re.compile(f"[{INVISIBLE}\u0640]")
NOT_LETTERS = re.compile(r"[\W_\u0640]")
EDGE = re.compile("\u0640")
TO_ARABIC = {"ی": "ي", "ک": "ك", "\u00a0": " "}
TO_PERSIAN = {"ي": "ی", "ى": "ی", "ك": "ک", "\u00a0": " "}


class Peer(NamedTuple):
    """Another tool's way to what one function of ours does."""

    name: str
    step: Step
    ours: str
    """Our function of the same purpose, in `OURS`."""
    kinds: frozenset[str]
    """The changes both make; a line with another kind of change is not compared."""
    seen: Step = str
    """What of either result is compared: the identity, or what takes out a difference of policy."""
    goal: float | None = None


OURS: dict[str, Callable[[str, Language], str]] = {
    "canonical": canonical,
    "canonicalize": lambda line, language: canonicalize(line, language).text,
    "key": key,
    "words_key": words_key,
    "strip_marks": lambda line, _: strip_marks(line),
}


def main() -> int:
    """Print every table; 1 when a goal is missed."""
    data = data_folder(*sys.argv[1:2])
    arabic = resample([f"{first} {second}" for _, first, second in metrec(data)])
    persian = resample(verses(data))
    met = [
        report("Arabic couplets (MetRec)", arabic, "ar", [*camel("ar"), *pyarabic()]),
        report(
            "Persian couplets (Hafez, 3 in 10 with Arabic yeh and kaf)",
            persian,
            "fa",
            [*camel("fa"), *hazm()],
        ),
        scaling(arabic),
    ]
    return 0 if all(met) else 1


def verses(data: Path) -> list[str]:
    """The couplets of Hafez as lines, three in ten typed on an Arabic keyboard."""
    lines = []
    for texts in ganjoor(data):
        lines += [f"{first} {second}" for first, second in zip(texts[::2], texts[1::2], strict=False)]
    draw = random.Random(SEED)
    return [line.replace("ی", "ي").replace("ک", "ك") if draw.random() < 0.3 else line for line in lines]


def resample(lines: list[str]) -> list[str]:
    """`SIZE` lines drawn with repetition, always the same."""
    return random.Random(SEED).choices(lines, k=SIZE)


def camel(language: Language) -> list[Peer]:
    """camel-tools: Unicode alone, and chains of its functions with the rest of our steps."""
    try:
        from camel_tools.utils import normalize as camel_normalize
        from camel_tools.utils.charmap import CharMapper
        from camel_tools.utils.dediac import dediac_ar
    except ImportError as error:
        print(f"skipped camel-tools: {error}")
        return []
    unicode = camel_normalize.normalize_unicode
    mapped = CharMapper(
        {**(TO_ARABIC if language == "ar" else TO_PERSIAN), **dict.fromkeys(INVISIBLE + "\u0640", "")}
    )

    def cleaned(line: str) -> str:
        return " ".join(DROPPED.sub("", unicode(line)).split())

    def spelt(line: str) -> str:
        return " ".join(mapped(unicode(line)).split())

    def folded(line: str) -> str:
        bare = camel_normalize.normalize_alef_ar(dediac_ar(unicode(line)))
        bare = camel_normalize.normalize_alef_maksura_ar(bare)
        return NOT_LETTERS.sub("", camel_normalize.normalize_teh_marbuta_ar(bare))

    without_edges = partial(EDGE.sub, "")
    letters = frozenset({"yeh", "kaf"})
    peers = [Peer("camel normalize_unicode alone", unicode, "canonical", frozenset({"nfc"}))]
    if language == "ar":
        # In Persian this chain leaves the letters mixed, so it is no equivalent there.
        name = "camel normalize_unicode + regex (controls, kashida) + spaces"
        peers.append(Peer(name, cleaned, "canonical", TIDY, without_edges, CAMEL_GOAL))
    name = "camel normalize_unicode + CharMapper (controls, letters) + spaces"
    peers.append(Peer(name, spelt, "canonical", TIDY | letters, without_edges, CAMEL_GOAL))
    if language == "ar":
        name = "camel normalize_unicode + dediac + alef, maksura, teh marbuta"
        peers.append(Peer(name, folded, "key", TIDY, partial(key, language="ar"), CAMEL_GOAL))
    return peers


def pyarabic() -> list[Peer]:
    """pyarabic: the functions that leave letters alone, and the chain that makes a matching form."""
    try:
        from pyarabic import araby
    except ImportError as error:
        print(f"skipped pyarabic: {error}")
        return []

    def displayed(line: str) -> str:
        return " ".join(araby.normalize_ligature(araby.strip_tatweel(line)).split())

    def folded(line: str) -> str:
        bare = araby.normalize_ligature(araby.strip_tatweel(araby.strip_tashkeel(line)))
        return " ".join(araby.normalize_hamza(araby.normalize_teh(bare), method="tasheel").split())

    kinds = frozenset({"kashida", "space"})
    return [
        Peer("pyarabic tatweel, ligature, spaces", displayed, "canonical", kinds, partial(EDGE.sub, "")),
        Peer(
            "pyarabic tashkeel, tatweel, ligature, teh, hamza",
            folded,
            "words_key",
            TIDY,
            partial(key, language="ar"),
        ),
        Peer("pyarabic strip_tashkeel", araby.strip_tashkeel, "strip_marks", TIDY),
    ]


def hazm() -> list[Peer]:
    """hazm's Normalizer, compared without marks, joiners and punctuation, which it rewrites."""
    try:
        from hazm import Normalizer
    except (ImportError, SyntaxError) as error:
        print(f"skipped hazm (it needs Python 3.12 or newer): {error}")
        return []
    step = Normalizer().normalize
    kinds = TIDY | {"yeh", "kaf", "zwnj"}
    return [Peer("hazm Normalizer", step, "canonical", kinds, partial(key, language="fa"), HAZM_GOAL)]


def report(title: str, lines: list[str], language: Language, peers: list[Peer]) -> bool:
    """One table; whether every goal in it was met."""
    steps: dict[str, Step] = {
        name: partial(ours, language=language) for name, ours in OURS.items() if name != "strip_marks"
    }
    steps["strip_marks"] = strip_marks
    steps |= {peer.name: peer.step for peer in peers}
    seconds = race(steps, lines)
    marks = sum(map(len, lines)) / len(lines)
    print(f"\n{title}: {len(lines):,} lines of {marks:.0f} characters")
    for name in OURS:
        print(f"  ours {name:<14} {len(lines) / seconds[name]:>10,.0f} lines/s")
    print(f"  {'peer':<66} {'lines/s':>9} {'against':>12} {'ratio':>6} {'agrees':>8} {'compared':>9}")
    met = True
    for peer in peers:
        ratio = seconds[peer.name] / seconds[peer.ours]
        share, compared = agreement(peer, lines, language)
        print(
            f"  {peer.name:<66} {len(lines) / seconds[peer.name]:>9,.0f} {peer.ours:>12} {ratio:>6.1f}"
            f" {share:>8.2%} {compared:>9,}"
            + (f"  goal {peer.goal:g}: {verdict(ratio >= peer.goal)}" if peer.goal else "")
        )
        met = met and (peer.goal is None or ratio >= peer.goal)
    return met


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


def agreement(peer: Peer, lines: list[str], language: Language) -> tuple[float, int]:
    """(share of the lines on which both agree, lines compared)."""
    ours = OURS[peer.ours]
    compared = [line for line in set(lines) if canonicalize(line, language).changes.keys() <= peer.kinds]
    agreed = sum(peer.seen(peer.step(line)) == peer.seen(ours(line, language)) for line in compared)
    return agreed / len(compared), len(compared)


def scaling(lines: list[str]) -> bool:
    """Cost against size, as the slope of a line through the logarithms; whether it is nearly linear."""
    sizes = [SIZE // 30, SIZE // 10, SIZE // 3, SIZE]
    step: dict[str, Step] = {"canonical": partial(canonical, language="ar")}
    seconds = [race(step, lines[:size])["canonical"] for size in sizes]
    steepness = slope(sizes, seconds)
    costs = ", ".join(f"{size:,}: {cost:.3f} s" for size, cost in zip(sizes, seconds, strict=True))
    print(f"\nCost against size: {costs}; slope {steepness:.2f}  goal at most {SLOPE_GOAL:g}")
    return steepness <= SLOPE_GOAL


if __name__ == "__main__":
    sys.exit(main())
