"""The sixteen Arabic metres as strings of moved (1) and quiescent (0) letters, with their usual variations.

Al-Khalil's prosody as the handbooks have it. A variation costs a little, so that of two metres that allow a
line the one that needs no variation is preferred: a kamil in which every foot is lightened is a rajaz.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final

Feet = dict[str, float]
"""Forms of a foot and what each costs."""

FAULUN: Final[Feet] = {"11010": 0.0, "1101": 0.2}
MAFAILUN: Final[Feet] = {"1101010": 0.0, "110110": 0.6, "110101": 0.9}
MAFAILUN_OF_TAWIL: Final[Feet] = {"1101010": 0.0, "110110": 0.3}
MUSTAFILUN: Final[Feet] = {"1010110": 0.0, "110110": 0.4, "101110": 0.5, "11110": 1.5}
FAILUN: Final[Feet] = {"10110": 0.0, "1110": 0.2}
FAILATUN: Final[Feet] = {"1011010": 0.0, "111010": 0.3, "101101": 1.2}
MUFAALATUN: Final[Feet] = {"1101110": 0.0, "1101010": 0.3}
MUTAFAILUN: Final[Feet] = {"1110110": 0.0, "1010110": 0.3, "110110": 1.8}
MUSTAFI_LUN: Final[Feet] = {"1010110": 0.2, "110110": 0.0}
MAFULATU: Final[Feet] = {"101101": 0.0, "1010101": 0.8, "110101": 1.0}
KHABAB: Final[Feet] = {"1110": 0.3, "1010": 0.3}

HEMISTICHS: Final[dict[str, tuple[tuple[Feet, ...], ...]]] = {
    "tawil": ((FAULUN, MAFAILUN_OF_TAWIL, FAULUN, {"110110": 0.0, "1101010": 0.2, "11010": 0.4}),),
    "madid": (
        (
            FAILATUN,
            FAILUN,
            {"1011010": 0.0, "111010": 0.3, "10110": 0.3, "1110": 0.3, "1010": 0.6, "101100": 0.6},
        ),
    ),
    "basit": (
        (MUSTAFILUN, FAILUN, MUSTAFILUN, {"1110": 0.0, "1010": 0.0, "10110": 0.9}),
        (MUSTAFILUN, FAILUN, {"11010": 0.2, "1010110": 0.6, "101010": 0.6, "110110": 0.9, "10101100": 0.9}),
    ),
    "wafir": (
        (MUFAALATUN, MUFAALATUN, {"11010": 0.0}),
        (MUFAALATUN, {"1101110": 0.2, "1101010": 0.6}),
    ),
    "kamil": (
        (
            MUTAFAILUN,
            MUTAFAILUN,
            {"1110110": 0.0, "1010110": 0.3, "111010": 0.3, "101010": 0.3, "1110": 0.4, "1010": 0.4},
        ),
        (
            MUTAFAILUN,
            {"1110110": 0.2, "1010110": 0.5, "111011010": 0.3, "101011010": 0.5, "11101100": 0.6}
            | {"10101100": 0.8, "111010": 0.8, "101010": 1.0},
        ),
    ),
    "hazaj": ((MAFAILUN, {"1101010": 0.0, "11010": 0.5}),),
    "rajaz": (
        (MUSTAFILUN, MUSTAFILUN, MUSTAFILUN | {"101010": 0.4, "11010": 0.5, "10101100": 1.0}),
        (MUSTAFILUN, MUSTAFILUN | {"101010": 0.5, "11010": 0.6}),
    ),
    "ramal": (
        (FAILATUN, FAILATUN, {"10110": 0.0, "1110": 0.2, "1011010": 0.3, "111010": 0.4, "101100": 0.4}),
        (
            FAILATUN,
            {"1011010": 0.1, "111010": 0.3, "10110": 0.4, "1110": 0.5, "10110100": 0.6, "101100": 0.6},
        ),
    ),
    "sari": ((MUSTAFILUN, MUSTAFILUN, {"10110": 0.0, "1010": 0.3, "1110": 0.4, "101100": 0.3}),),
    "munsarih": (
        (MUSTAFILUN, MAFULATU, {"101110": 0.0, "101010": 0.2, "1010110": 1.0, "110110": 1.2}),
        (MUSTAFILUN, {"101010": 1.2, "1010100": 1.2}),
    ),
    "khafif": (
        (FAILATUN, MUSTAFI_LUN, {"1011010": 0.0, "111010": 0.2, "101010": 0.3, "10110": 0.6, "1110": 0.6}),
        (FAILATUN, {"110110": 0.3, "1010110": 0.6, "11010": 0.8}),
    ),
    "mutaqarib": (
        (FAULUN, FAULUN, FAULUN, {"110": 0.0, "11010": 0.1, "1100": 0.4, "10": 0.8, "1101": 0.6}),
        (FAULUN, FAULUN, {"110": 0.4, "11010": 0.5, "10": 0.9}),
    ),
    "mutadarik": (
        (KHABAB, KHABAB, KHABAB, KHABAB | {"11100": 0.6, "10100": 0.6}),
        (FAILUN, FAILUN, FAILUN, FAILUN | {"101100": 0.5, "11100": 0.5}),
        (FAILUN, FAILUN, FAILUN | {"111010": 0.4, "1011010": 0.4}),
        (KHABAB, KHABAB, KHABAB),
    ),
    "mujtathth": ((MUSTAFI_LUN, {"1011010": 0.0, "111010": 0.1, "101010": 0.3}),),
    "mudari": (({"110101": 0.3, "110110": 0.5}, {"1011010": 0.3}),),
    "muqtadab": (({"101101": 0.3, "110101": 0.6}, {"101110": 0.3}),),
}
"""Metre to its hemistichs, the whole one and the shortened ones, foot by foot."""
RARE: Final = {"madid": 0.5, "mutadarik": 0.7, "mudari": 1.5, "muqtadab": 1.5}
"""Cost of a metre that few poets used."""


@cache
def forms() -> dict[str, dict[str, float]]:
    """All forms of a hemistich by their letters: the metres that have the form, and what it costs in each."""
    found: dict[str, dict[str, float]] = {}
    for metre, shapes in HEMISTICHS.items():
        for feet in shapes:
            for chosen in product(*(foot.items() for foot in feet)):
                metres = found.setdefault("".join(form for form, _ in chosen), {})
                cost = RARE.get(metre, 0.0) + sum(cost for _, cost in chosen)
                metres[metre] = min(metres.get(metre, cost), cost)
    return found
