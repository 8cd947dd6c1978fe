"""Model usage and cost of one run, counted from the journals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from mihakk.schemas.model import Price
from mihakk.schemas.record import Record


class Usage(Record):
    """Calls that one model answered in one run."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    """Sum of the calls' latencies; calls overlap, so it is more than wall time."""
    cost: float | None = None
    """At the price the config gave when the run was; None where it gives none."""
    currency: str = ""
    answered_by: tuple[str, ...] = ()
    """Models that answered, as servers named them, in order; an empty name where none was given."""
    fingerprints: tuple[str, ...] = ()
    """What servers said of weights and settings together (`system_fingerprint`), in order."""


def describe(used: Usage) -> str:
    """A model's calls, tokens and cost in words."""
    cost = "" if used.cost is None else f", {used.cost:,.2f} {used.currency}"
    return (
        f"{used.calls:,} calls answered in this run, {used.prompt_tokens:,} prompt tokens, "
        f"{used.completion_tokens:,} of replies{cost}{_who(used)}"
    )


def _who(used: Usage) -> str:
    named = ", ".join(name or "a model not named" for name in used.answered_by)
    prints = f", fingerprints in order {', '.join(used.fingerprints)}" if used.fingerprints else ""
    return f"; answered by {named}{prints}" if named else ""


def costs(usages: Iterable[Usage]) -> dict[str, float]:
    """What the priced models cost, by currency."""
    found: dict[str, float] = {}
    for usage in usages:
        if usage.cost is not None:
            found[usage.currency] = found.get(usage.currency, 0.0) + usage.cost
    return found


class JournalMeter:
    """Counts what is appended to journals from now on; each line is read once.

    Args:
        folder: Holds a folder of journals for each purpose; None where nothing can be counted.
        prices: `<purpose>/<model>` to its price.
    """

    def __init__(self, folder: Path | None, prices: Mapping[str, Price]) -> None:
        self._folder = folder
        self._prices = prices
        self._places = {path: path.stat().st_size for path in self._journals()}
        self._usage: dict[str, Usage] = {}

    def read(self) -> dict[str, Usage]:
        """Everything counted so far, by `<purpose>/<model>`."""
        for path in self._journals():
            with path.open("rb") as lines:
                lines.seek(self._places.get(path, 0))
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    self._places[path] = self._places.get(path, 0) + len(line)
                    self._add(path.parent.name, line)
        return dict(self._usage)

    def _journals(self) -> list[Path]:
        return sorted(self._folder.glob("*/*.jsonl")) if self._folder else []

    def _add(self, purpose: str, line: bytes) -> None:
        try:
            entry = orjson.loads(line)
            name, latency = f"{purpose}/{entry['model']}", float(entry["latency"])
            tokens = {
                key: int(entry.get(key, 0)) for key in ("prompt_tokens", "completion_tokens", "cached_tokens")
            }
        except (ValueError, KeyError, TypeError):
            return  # a line that a killed run left torn
        before = self._usage.get(name, Usage())
        price = self._prices.get(name)
        self._usage[name] = Usage(
            calls=before.calls + 1,
            seconds=round(before.seconds + latency, 3),
            **{key: getattr(before, key) + count for key, count in tokens.items()},
            cost=None if price is None else (before.cost or 0.0) + price.of(**tokens),
            currency="" if price is None else price.currency,
            answered_by=_with(before.answered_by, str(entry.get("response_model", ""))),
            fingerprints=_with(before.fingerprints, *filter(None, [entry.get("system_fingerprint")])),
        )


def _with(known: tuple[str, ...], *new: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *new)))
