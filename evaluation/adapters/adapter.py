"""What an adapter of a published benchmark is: one file that says where its rows lie and what each asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mihakk.evaluation.declared_labels import declared_in
from mihakk.generators.abilities import ability_of
from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.machinery.ids import digest as digest_of
from mihakk.machinery.ids import sha256
from mihakk.machinery.registry import Registry
from mihakk.schemas.evaluation import Question
from mihakk.scrapers.tables import FORMATS, read_rows

PUBLISHED = "@published"
"""End of the name of a prompt that is the authors' own, from the user's copy."""
UNCHECKED = "-unchecked"
"""Behind that where the print can't be copied letter by letter, so that no digest of it is known."""
Row = dict[str, Any]
Facts = dict[str, Any]
"""`shown`, the prompt as it is sent; `content`, what the question's digest covers; maybe `fields`, what the
authors' own prompt has places for; and fields of `Question`, at least `item`, `config`, `task`, `language`
and `kind`."""


class Published(NamedTuple):
    """One question of a published benchmark, with its prompt."""

    question: Question
    prompt: str
    fields: Mapping[str, str]
    """What the authors' own prompt has places for, by the places' names."""


@dataclass(frozen=True)
class Adapter:
    """One published benchmark."""

    title: str
    """As messages name it."""
    files: Callable[[Path], Sequence[Path]]
    """The files of a folder that are read, in a fixed order: their digest pins the benchmark."""
    rows: Callable[[Path], Iterator[tuple[str, Any]]]
    """Every row of a folder, as `ask` wants it, behind where it stands."""
    ask: Callable[[Any], Iterator[Facts]]
    """What one row asks."""
    release: str = ""
    """Name of the benchmark in results, where no question says another."""
    version: str = "1"
    """Raised with every change of what is asked or counts as right."""
    like: str = ""
    """Pattern of files that look like more of the benchmark: those that are not read are named."""
    prompts: Literal["theirs", "ours"] = "ours"
    """Whose words are asked: theirs stand in their files."""
    published: Mapping[str, str] = field(default_factory=dict)
    """Task to the digest of the prompt that the authors published, where their files hold none; empty where
    only its places are known."""

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """Every question of a folder whose files have that digest.

        Raises:
            SourceChanged: A file is not of the benchmark's form; the message names the row.
        """
        for where, row in self.rows(folder):
            try:
                for facts in self.ask(row):
                    yield _published({"release": self.release, "digest": digest, **facts})
            except (AttributeError, KeyError, SyntaxError, TypeError, ValueError) as error:
                raise not_of(self.title, where, error) from error


def _published(facts: Facts) -> Published:
    """A question as its authors put it; a cluster of its own where no `group` is named."""
    shown, content = facts.pop("shown"), facts.pop("content")
    known = {"version": "published", "group": facts["item"], "ability": ability_of(facts["task"])}
    fields = facts.pop("fields", {})
    question = Question.model_validate({**known, "content_hash": digest_of(content), **facts})
    return Published(question, shown, fields)


def published_prompts(adapter: Adapter, folder: Path) -> dict[str, str]:
    """Task to its authors' prompt, from the user's own copy: a file `TASK.txt` each, places in brackets.

    Raises:
        UsageError: There are none, or a file is missing or not the published prompt: other letters a to z.
    """
    if not adapter.published:
        has = "the files hold them" if adapter.prompts == "theirs" else "no digest of them is known here"
        raise UsageError(f"`protocol: published` does nothing for {adapter.title}'s prompts: {has}")
    found = {}
    for task, digest in adapter.published.items():
        path = folder / f"{task}.txt"
        if not path.is_file():
            raise UsageError(f"there is no file {path} with the prompt that {adapter.title} asks {task} in")
        found[task] = path.read_text(encoding="utf-8").strip()
        if "[" not in found[task]:
            raise UsageError(f"{path} has no place in brackets, as [PROVERB], for what is asked about")
        if digest:
            require_letters(found[task], digest, path, f"{adapter.title}'s prompt")
    return found


def require_letters(text: str, digest: str, path: Path, what: str) -> None:
    """Refuses a copy of a published text with other Latin letters; spaces, marks and line breaks may differ.

    Raises:
        UsageError: Its letters have another digest.
    """
    letters = sha256(re.sub("[^a-z]", "", text.lower()).encode())
    if letters != digest:
        raise UsageError(
            f"{path} is not {what} (letters {letters[:12]}, published {digest[:12]}): copy it anew, or ask "
            "in ours"
        )


def filled(prompt: str, fields: Mapping[str, str]) -> str:
    """A published prompt with its places filled; what it calls a proverb is called what the row is."""
    text = prompt.replace("*", "")
    if fields.get("kind") == "idiom":
        text = text.replace("proverb", "idiom").replace("Proverb", "Idiom").replace("[PROVERB", "[IDIOM")
    return re.sub(r"\[([^\[\]\n]+)\]", lambda place: fields.get(place[1].lower(), place[0]), text)


def whose(prompt: str) -> str:
    """Whose words a prompt of that name is in."""
    name, protocol, unchecked = prompt.partition("+")[0].partition(PUBLISHED)
    known = ADAPTERS.get(name).prompts if name in ADAPTERS.names() else "ours"
    if known == "ours" and not protocol:
        return "ours"
    told = "the authors', from an unchecked copy" if unchecked else "the authors'"
    return f"{told}, under declared labels" if declared_in(prompt) else told


def not_of(title: str, where: str, error: Exception, what: str = "row") -> SourceChanged:
    """The error of a row or file that is none of a benchmark's: the column it lacks, or what does not fit."""
    reason = f"no column {error}" if isinstance(error, KeyError) else str(error) or repr(error)
    return SourceChanged(f"{where}: not a {what} of {title} ({reason})")


def tables_in(folder: Path, pattern: str = "**/*") -> list[Path]:
    """Tables below a folder whose paths fit the pattern, in a fixed order."""
    return sorted(path for path in folder.glob(pattern) if path.suffix.lower() in FORMATS and path.is_file())


def rows_with(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Rows of a table: where each stands, and its fields.

    Raises:
        SourceChanged: The table has no row or lacks a column, or a row can't be read.
    """
    empty = True
    for row in read_rows(path):
        where, empty = f"{path}, row {row.number}", False
        if row.problem:
            raise SourceChanged(f"{where}: {': '.join(row.problem)}")
        if missing := [name for name in needed if name not in row.fields]:
            raise SourceChanged(f"{where}: no column {missing[0]!r}; it has: {', '.join(row.fields)}")
        yield where, row.fields
    if empty:
        raise SourceChanged(f"{path} has no rows")


ADAPTERS: Registry[Adapter] = Registry("adapter", "mihakk.evaluation.adapters")
