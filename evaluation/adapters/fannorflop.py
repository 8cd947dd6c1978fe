"""Fann or Flop: Arabic poems explained verse by verse, asked for as the JSON that the paper describes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from evaluation.adapters.adapter import ADAPTERS, Published, published, reason_of
from mihakk.errors import SourceChanged

PROMPT: Final = """\
Explain the following Arabic poem verse by verse, in Arabic. Reply with one JSON object and nothing else:
{{"verse_explanations": [{{"verse": "...", "explanation": "..."}}], "overall": "the poem as a whole"}}
Give one entry for each verse, in their order.

Title: {title}
{verses}"""


class FannOrFlop:
    """Files of the authors' format: a list of poems with `verse_explanations`."""

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """Every JSON file of the folder."""
        return sorted(folder.glob("*.json"))

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question per poem."""
        for path in self.files(folder):
            try:
                poems = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise SourceChanged(f"{path}: not JSON ({error})") from error
            for number, poem in enumerate(poems, 1):
                try:
                    yield _question(poem, digest)
                except (KeyError, TypeError, AttributeError) as error:
                    raise SourceChanged(
                        f"{path}, poem {number}: not a poem of Fann or Flop ({reason_of(error)})"
                    ) from error


def _question(poem: dict[str, Any], digest: str) -> Published:
    pairs = [(one["verse"], one["explanation"]) for one in poem["verse_explanations"]]
    verses = [" … ".join(_lines(verse)) for verse, _ in pairs]
    numbered = "\n".join(f"{number}. {verse}" for number, verse in enumerate(verses, 1))
    prompt = PROMPT.format(title=poem["title"], verses=numbered)
    facts = {"era": poem.get("era"), "genre": poem.get("genre"), "metre": poem.get("meter")}
    more = {
        "verses": verses,
        "explanations": [str(text).strip() for _, text in pairs],
        "overall": str(poem.get("complete_explanation") or ""),
    }
    return published(
        prompt,
        [prompt, more],
        item=f"fannorflop-{poem['id']}",
        release="fannorflop",
        digest=digest,
        config="ar_verse_explanation",
        task="verse_explanation",
        kind="explanation",
        language="ar",
        slices={name: str(value) for name, value in facts.items() if value},
        **more,
    )


def _lines(verse: Any) -> list[str]:
    """A verse is a text with a line a hemistich, or a list of these."""
    lines = verse if isinstance(verse, list) else str(verse).split("\n")
    return [str(line).strip() for line in lines if str(line).strip()]


ADAPTERS.add("fannorflop", FannOrFlop())
