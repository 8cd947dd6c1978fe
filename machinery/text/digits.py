"""Digit systems: Western, Arabic-Indic (Arabic) and extended Arabic-Indic (Persian)."""

from typing import Final, Literal

System = Literal["western", "arabic", "persian"]

_ZERO: Final[dict[System, int]] = {"western": 0x30, "arabic": 0x660, "persian": 0x6F0}
_TABLES: Final = {
    system: {start + i: chr(zero + i) for start in _ZERO.values() for i in range(10)}
    for system, zero in _ZERO.items()
}


def convert(text: str, system: System) -> str:
    """`text` with every decimal digit of the three systems written in `system`."""
    return text.translate(_TABLES[system])
