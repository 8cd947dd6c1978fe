"""Digit systems: Western, Arabic-Indic (Arabic) and extended Arabic-Indic (Persian)."""

import re
from typing import Final, Literal

System = Literal["western", "arabic", "persian"]

_ZERO: Final[dict[System, int]] = {"western": 0x30, "arabic": 0x660, "persian": 0x6F0}
_TABLES: Final = {
    system: {start + i: chr(zero + i) for start in _ZERO.values() for i in range(10)}
    for system, zero in _ZERO.items()
}
# Separators of thousands, each between a digit and exactly three more.
_THOUSANDS: Final = re.compile(r"(?<=\d)[٬,،’ \u00a0\u202f](?=\d{3}(?!\d))")
_NUMBER: Final = re.compile(r"[+-]?\d+")


def convert(text: str, system: System) -> str:
    """`text` with every decimal digit of the three systems written in `system`."""
    return text.translate(_TABLES[system])


def parse_int(text: str) -> int:
    """The whole number `text` writes in any digit system, thousands separated or not ("١٬٢٠٠" is 1200).

    Raises ValueError for anything else.
    """
    number = text.strip().replace("\u2212", "-")
    while (joined := _THOUSANDS.sub("", number)) != number:
        number = joined
    if not _NUMBER.fullmatch(number):
        raise ValueError(f"not a whole number: {text!r}")
    return int(number)
