"""CITATION.cff: how to cite a release."""

from __future__ import annotations

import re

import yaml

from mihakk.releases.licence import licences
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.benchmark import BenchmarkConfig


def citation(config: BenchmarkConfig, facts: ReleaseFacts, version: str) -> str:
    """The file's text, Citation File Format 1.2.0."""
    entry: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use this benchmark, please cite it with its version.",
        "type": "dataset",
        "title": config.release.title or config.title,
        "version": version,
        "authors": [{"name": author} for author in config.release.authors],
    }
    if config.release.licence in licences() and config.release.licence != "public-domain":
        entry["license"] = config.release.licence
    if facts.date:
        entry["date-released"] = facts.date
    if config.release.repository:
        entry["repository"] = f"https://huggingface.co/datasets/{config.release.repository}"
    if facts.sources:
        entry["references"] = [
            {
                "type": "generic",
                "title": source.title or source.name,
                "authors": [{"name": source.attribution or source.title or source.name}],
                **({"url": source.home} if source.home.startswith("http") else {}),
            }
            for source in facts.sources
        ]
    return yaml.safe_dump(entry, allow_unicode=True, sort_keys=False, width=110)


def bibtex(config: BenchmarkConfig, facts: ReleaseFacts, version: str) -> str:
    """The same as a BibTeX entry; without a year where no date is known."""
    fields = {
        "title": config.release.title or config.title,
        "author": " and ".join(f"{{{_braced(author)}}}" for author in config.release.authors),
        "version": version,
        **({"year": facts.date[:4]} if facts.date else {}),
        **(
            {"howpublished": f"\\url{{https://huggingface.co/datasets/{config.release.repository}}}"}
            if config.release.repository
            else {}
        ),
    }
    lines = [
        f"  {name} = {{{value if name in ('author', 'howpublished') else _braced(value)}}},"
        for name, value in fields.items()
    ]
    key = "".join(letter for letter in config.name if letter.isalnum())
    return "\n".join([f"@misc{{{key}-{version},", *lines, "}"])


def _braced(text: str) -> str:
    """Text on one line in which nothing closes a field, ends a fence, starts a command or turns direction."""
    shown = (letter for letter in text if letter.isprintable() or letter.isspace() or letter == "\u200c")
    line = " ".join("".join(letter for letter in shown if letter not in "{}\\`<>").split())
    return re.sub(r"[&%$#_]", r"\\\g<0>", line)
