"""The smallest bad and the most tempting good sample of every check, as items and records.

A sample file holds `why`, `subjects` (fields that matter, the rest filled in here), and for a bad one `hit` (which
subjects must be objected to; all of them unless it says so; `*` is the set) and `also` (checks that rightly object
as well). `vectors` gives texts' vectors where meanings are compared. `repeat` makes so many of its one subject, with `{n}` counting in every text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mihakk.machinery.embeddings import Vectors
from mihakk.machinery.text import key
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM
from mihakk.schemas.poem import Poem
from mihakk.validators.checks import check_items, check_records, check_set, gather, prepare

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "checks"


@dataclass(frozen=True)
class Sample:
    """One file."""

    check: str
    name: str
    bad: bool
    subjects: tuple[Any, ...]
    hit: tuple[str, ...]
    also: frozenset[str]
    vectors: dict[str, tuple[float, float]]
    """Vectors of the options, where the check compares meanings."""

    def findings(self) -> list[Finding]:
        """What all checks together say of the subjects."""
        items = [one for one in self.subjects if not isinstance(one, (Poem, Idiom))]
        records = [one for one in self.subjects if isinstance(one, (Poem, Idiom))]
        whole = prepare([gather(items, Given(self.vectors) if self.vectors else None)])
        config = ChecksConfig()
        return [
            *check_items(items, config, whole),
            *check_records(records, config),
            *(check_set(whole, config) if items else []),
        ]


class Given:
    """The vectors a sample file gives its texts."""

    name = "given"

    def __init__(self, vectors: dict[str, tuple[float, float]]) -> None:
        self._vectors = vectors

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 2)."""
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


def samples() -> list[Sample]:
    """All samples, by check and name."""
    return [read_sample(path) for path in sorted(FOLDER.glob("*/*.json"))]


def read_sample(path: Path) -> Sample:
    """A file `<check>/bad_*.json` or `<check>/good_*.json`."""
    content = json.loads(path.read_text(encoding="utf-8"))
    raw = content["subjects"]
    if "repeat" in content:
        raw = [json.loads(json.dumps(raw[0]).replace("{n}", str(n))) for n in range(content["repeat"])]
    subjects = tuple(subject(place, **fields) for place, fields in enumerate(raw))
    hit = content.get("hit", list(range(len(subjects))))
    return Sample(
        check=path.parent.name,
        name=path.stem,
        bad=path.stem.startswith("bad"),
        subjects=subjects,
        hit=tuple("*" if one == "*" else subjects[one].id for one in hit),
        also=frozenset(content.get("also", ())),
        vectors=content.get("vectors", {}),
    )


def subject(place: int = 0, **fields: Any) -> Any:
    """An item, poem or idiom of the fields that matter; its `kind` says which."""
    fields = {"id": f"s{place}", "language": "ar", **fields}
    if fields["kind"] == "poem":
        return Poem.model_validate(_poem(fields))
    if fields["kind"] == "idiom":
        forms = {name: _form(fields[name]) for name in ("phrase", "explanation")}
        return Idiom.model_validate({**fields, **forms, "provenance": PROVENANCE})
    origin = {
        "records": fields.pop("records", [f"r:{place}"]),
        "generator": fields.pop("origin", "sample"),
        "generator_version": "1",
    }
    return ITEM.validate_python({"task": "sample", "licence": "CC0-1.0", "origin": origin, **fields})


def _form(given: Any) -> Any:
    """The three forms of a text, or forms as they are given."""
    return {"raw": given, "text": given, "key": key(given, "ar")} if isinstance(given, str) else given


def _poem(fields: dict[str, Any]) -> dict[str, Any]:
    couplets = []
    for place, given in enumerate(fields["couplets"]):
        couplet = dict(zip(("first", "second"), given, strict=True)) if isinstance(given, list) else given
        halves = {half: _form(couplet[half]) for half in ("first", "second") if couplet.get(half) is not None}
        couplets.append(
            {**couplet, "second": None, **halves, "id": f"{fields['id']}:{place}", "position": place}
        )
    return {"poet": "شاعر", "provenance": PROVENANCE, **fields, "couplets": couplets}


PROVENANCE = {
    "source": "sample",
    "url": "file:sample#1",
    "licence": "CC0-1.0",
    "sha256": "0" * 64,
    "parser_version": "1",
}
