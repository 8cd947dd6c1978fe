"""A source file of real sayings that changes from night to night."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.end_to_end.conftest import ROOT

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (ROOT / "data/samples/egyptian_idioms.jsonl").read_text(encoding="utf-8").splitlines()
]


class Sayings:
    """The file; `source` puts it into a config in the place of the sample."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "sayings.jsonl"

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """The file as a night finds it."""
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        self.path.write_text(text, encoding="utf-8")

    @property
    def source(self) -> Callable[[dict[str, Any]], None]:
        """A change for `make_workshop`."""

        def change(config: dict[str, Any]) -> None:
            (use,) = (one for one in config["sources"] if one.get("name") == "sayings")
            del use["limit"]
            use["options"]["path"] = str(self.path)
            use["accept"] = {"lost": 1}
            config["tasks"] = [one for one in config["tasks"] if one["use"] != "completion"]
            config["audit"]["limit"] = 6

        return change


def corrected(rows: Sequence[dict[str, Any]], *numbers: int) -> list[dict[str, Any]]:
    """The rows, some with one word more in their explanation; numbers count from 1."""
    return [
        row | {"explanation": f"{row['explanation']} دائمًا"} if number in numbers else row
        for number, row in enumerate(rows, 1)
    ]
