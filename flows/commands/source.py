"""`mihakk source try`: one file or page through its source, before anything is built."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.markup import escape

from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from mihakk.schemas.benchmark import SourceUse
    from mihakk.schemas.idiom import Idiom
    from mihakk.schemas.poem import Poem
    from mihakk.scrapers.trial import Trial

group = typer.Typer(no_args_is_help=True, help="Try a source on one file or page.")
_SHOWN = 10
_EXAMPLES = 3
_WIDTH = 150


def register(app: typer.Typer) -> None:
    """Adds the command group."""
    app.add_typer(group, name="source")


@group.command(name="try")
def try_(
    target: Annotated[str, typer.Argument(help="A book, table, EPUB, export or page: a file or an address.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="NAME=VALUE as in a config's `options`; may be repeated."),
    ] = None,
    source: Annotated[str, typer.Option(help="Name of the source; guessed when empty.")] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Every entry, rejection and leftover, whole; not the first few.")
    ] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Print a declaration of the book to edit; reads nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the entries, the evidence for them and what is left over; exit 1 where a build stops.

    Example: mihakk source try book.txt --suggest
    Example: mihakk source try book.txt -o layout=quoted --all --json
    """
    from mihakk.scrapers.raw import RawStore
    from mihakk.scrapers.trial import attempt, guess_use

    use = guess_use(target, _options(option or []), source)
    if suggest:
        _print_suggestions(use)
        return
    with tempfile.TemporaryDirectory(prefix="mihakk-try-") as folder:
        trial = attempt(use, RawStore(folder))
    if as_json:
        print_json(_as_json(trial) | (_whole(trial) if every else {}))
    else:
        _print(trial, every)
    if trial.problem:
        raise typer.Exit(1)


def _options(given: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option takes NAME=VALUE, not {text!r}")
        try:
            found[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--option {name}: {value!r} is not YAML: {error}") from error
    return found


def _as_json(trial: Trial) -> dict[str, Any]:
    body: dict[str, Any] = {
        "use": trial.use.use,
        "options": trial.use.options,
        "records": len(trial.records),
        "language": trial.language,
        "rejected": {reason: len(details) for reason, details in trial.reasons()},
        "problem": trial.problem,
        "examples": [_one_line(record) for record in _ends(trial.records)],
    }
    if (reading := trial.reading) is not None:
        body["entries"] = len(reading.entries)
        body["evidence"] = [asdict(one) for one in reading.evidence]
        body["dropped"] = [[line.number, line.text] for line in reading.dropped]
        body["leftovers"] = [[one.line, one.text, one.why] for one in reading.leftovers]
    return body


def _whole(trial: Trial) -> dict[str, Any]:
    """Every record and rejection, with all their fields."""
    return {"all_records": trial.records, "all_rejections": trial.rejections}


def _print(trial: Trial, every: bool) -> None:
    console = open_console()
    shown = None if every else _SHOWN

    def say(text: str, style: str = "") -> None:
        console.print(escape(text), style=style, soft_wrap=True)

    options = ", ".join(f"{name}={value}" for name, value in trial.use.options.items())
    say(f"source {trial.use.use} ({options})", "dim")
    if (reading := trial.reading) is not None:
        say(f"Entries    {len(reading.entries)} under {reading.headings} headings")
        for one in reading.evidence:
            looked = f"; accepted with {one.figure:g}" if one.accepted else ""
            style = "red" if one.refuses else "yellow" if one.accepted else ""
            say(f"  {one.name:14} {one.says}{looked}", style)
            for place, text in one.places[: None if every else _EXAMPLES if one.refuses else 0]:
                say(f"    line {place}: {text[: None if every else 80]}", "dim")
        say(f"Dropped    {len(reading.dropped)} lines that fit `drop`")
        for line in reading.dropped[: None if every else _EXAMPLES]:
            say(f"  line {line.number}: {line.text[: None if every else 80]}", "dim")
        say(f"Leftover   {len(reading.leftovers)} lines in no entry")
        for left in reading.leftovers[:shown]:
            say(f"  line {left.line}: {left.text[: None if every else 80]} ({left.why})", "dim")
    say(f"Records    {len(trial.records)}")
    say(f"Language   {trial.language}")
    for record in trial.records if every else _ends(trial.records):
        say(f"  {_one_line(record, None if every else _WIDTH)}")
    say(f"Rejected   {len(trial.rejections)}")
    for reason, details in trial.reasons():
        say(f"  {len(details)} {reason}")
        for detail in details if every else details[:_EXAMPLES]:
            say(f"    {detail[: None if every else _WIDTH]}", "dim")
    if trial.problem:
        say(f"A build would stop here: {trial.problem}", "bold red")


def _print_suggestions(use: SourceUse) -> None:
    """Every declaration that fits, with what it reads; exit 1 where none does."""
    from mihakk.scrapers.trial import suggestions

    found = suggestions(use)
    if not found:
        print("# No ready pattern fits: write one in `entry`, as docs/how-to-read-a-book.md shows.")
        raise typer.Exit(1)
    if len(found) > 1:
        print(f"# {len(found)} patterns fit about as well: compare what they read, and keep one.")
    for one in found:
        first, last = one.reading.entries[0].head, one.reading.entries[-1].head
        print(f"\n# {len(one.reading.entries)} entries, from {first[:40]!r} to {last[:40]!r}")
        for line in (str(evidence.says) for evidence in one.reading.evidence if evidence.refuses):
            print(f"# look: {line}")
        print(one)


def _ends(records: list[Any]) -> list[Any]:
    return records if len(records) <= 4 else [*records[:3], records[-1]]


def _one_line(record: Poem | Idiom, width: int | None = _WIDTH) -> str:
    if record.kind == "idiom":
        text = f"{record.phrase.raw} ⇒ {record.explanation.raw}"
    else:
        units = record.couplets[: 1 if width else None]
        verse = " | ".join(one.first.raw + (f" / {one.second.raw}" if one.second else "") for one in units)
        named = ", ".join(filter(None, (record.poet, record.title)))
        text = f"{named} ({len(record.couplets)} units, {units[0].kind}): {verse}"
    text = " ".join(text.split())
    return text if width is None or len(text) <= width else text[: width - 1] + "…"
