"""Fann or Flop: Arabic poems explained verse by verse, asked for as JSON in a prompt of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts, Row
from mihakk.machinery.errors import SourceChanged

PROMPT: Final = """\
Explain the following Arabic poem verse by verse, in Arabic. Reply with one JSON object and nothing else:
{{"verse_explanations": [{{"verse": "...", "explanation": "..."}}], "overall": "the poem as a whole"}}
Give one entry for each verse, in their order.

Title: {title}
{verses}"""


_FACTS: Final = {"poet": "author", "era": "era", "genre": "genre", "metre": "meter"}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _rows(folder: Path) -> Iterator[tuple[str, Any]]:
    """Poems of the authors' format: a list of objects with `verse_explanations`."""
    for path in _files(folder):
        try:
            poems = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise SourceChanged(f"{path}: not JSON ({error})") from error
        yield from ((f"{path}, poem {number}", poem) for number, poem in enumerate(poems, 1))


def _ask(poem: Row) -> Iterator[Facts]:
    pairs = [(one["verse"], one["explanation"]) for one in poem["verse_explanations"]]
    verses = [" … ".join(_lines(verse)) for verse, _ in pairs]
    numbered = "\n".join(f"{number}. {verse}" for number, verse in enumerate(verses, 1))
    prompt = PROMPT.format(title=poem["title"], verses=numbered)
    facts = {name: poem.get(column) for name, column in _FACTS.items()}
    more = {
        "verses": verses,
        "explanations": [str(text).strip() for _, text in pairs],
        "overall": str(poem.get("complete_explanation") or ""),
    }
    yield {
        "shown": prompt,
        "content": [prompt, more],
        "fields": {"poem_content": numbered},
        "item": f"fannorflop-{poem['id']}",
        "config": "ar_verse_explanation",
        "task": "verse_explanation",
        "kind": "explanation",
        "language": "ar",
        "slices": {name: str(value) for name, value in facts.items() if value},
        **more,
    }


def _lines(verse: Any) -> list[str]:
    """A verse is a text with a line a hemistich, or a list of these."""
    lines = verse if isinstance(verse, list) else str(verse).split("\n")
    return [str(line).strip() for line in lines if str(line).strip()]


_PUBLISHED: Final = {"verse_explanation": "621202709156c70bdddd861bdd04b8ca9d362f5737a06e6a45370db105e8f6bf"}
"""Digest of the paper's figure 7."""
ADAPTERS.add("fannorflop", Adapter("Fann or Flop", _files, _rows, _ask, "fannorflop", published=_PUBLISHED))
