"""`mihakk source try`: one file or page through its source, before anything is built."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.markup import escape

from flows.commands.options import AsJson
from mihakk.errors import UsageError
from reports.console import open_console, print_json

if TYPE_CHECKING:
    from schemas.idiom import Idiom
    from schemas.poem import Poem
    from scrapers.trial import Trial

group = typer.Typer(no_args_is_help=True, help="Try a source on one file or page.")
_SHOWN = 10
_WIDTH = 150


def register(app: typer.Typer) -> None:
    """Adds the command group."""
    app.add_typer(group, name="source", rich_help_panel="Look")


@group.command(name="try")
def try_(
    target: Annotated[str, typer.Argument(help="A book, table, EPUB, export or page: a file or an address.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="NAME=VALUE as in a config's `options`; may be repeated."),
    ] = None,
    source: Annotated[str, typer.Option(help="Name of the source; guessed when empty.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show the entries, the shape they were found by and what is left over; exit 1 where a build stops.

    Example: mihakk source try page.html --source hindawi
    """
    from scrapers.raw import RawStore
    from scrapers.trial import attempt, guess_use

    use = guess_use(target, _options(option or []), source)
    with tempfile.TemporaryDirectory(prefix="mihakk-try-") as folder:
        trial = attempt(use, RawStore(folder))
    if as_json:
        print_json(_as_json(trial))
    else:
        _print(trial)
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
        "rejected": {reason: count for reason, count, _ in trial.reasons()},
        "problem": trial.problem,
        "examples": [_one_line(record) for record in _ends(trial.records)],
    }
    if (reading := trial.reading) is not None:
        body["shape"] = str(reading.shape)
        body["entries"] = len(reading.entries)
        body["shape_count"] = reading.counted
        body["second_count"] = reading.alphabet.counted
        body["share_in_entries"] = round(reading.share, 4)
        body["median_words"] = reading.median
        body["far_longer"] = [[entry.line, entry.head, entry.words] for entry in reading.far_longer()]
        body["accepted"] = dict(reading.accepted)
        body["leftovers"] = [[one.line, one.text, one.why] for one in reading.leftovers]
    return body


def _print(trial: Trial) -> None:
    console = open_console()

    def say(text: str, style: str = "") -> None:
        console.print(escape(text), style=style, soft_wrap=True, highlight=False)

    options = ", ".join(f"{name}={value}" for name, value in trial.use.options.items())
    say(f"source {trial.use.use} ({options})", "dim")
    if (reading := trial.reading) is not None:
        say(f"Shape      {reading.shape}")
        say(f"Entries    {len(reading.entries)}; an expression for the shape counts {reading.counted}")
        say(f"Alphabet   {reading.alphabet}")
        say(f"Text       {reading.share:.1%} of what was read stands in entries; {reading.headings} headings")
        say(f"Length     {reading.median:g} words in the middle")
        for entry in reading.far_longer()[:_SHOWN]:
            say(
                f"  line {entry.line}: {entry.head[:60]} has {entry.words} words: does it hide a head?",
                "yellow",
            )
        for name, text in reading.accepted.items():
            say(f"Accepted   {name}: {text}", "yellow")
        say(f"Leftover   {len(reading.leftovers)} lines in no entry")
        for one in reading.leftovers[:_SHOWN]:
            say(f"  line {one.line}: {one.text[:80]} ({one.why})", "dim")
    say(f"Records    {len(trial.records)}")
    for record in _ends(trial.records):
        say(f"  {_one_line(record)}")
    say(f"Rejected   {len(trial.rejections)}")
    for reason, count, examples in trial.reasons():
        say(f"  {count} {reason}")
        for example in examples:
            say(f"    {example[:_WIDTH]}", "dim")
    if trial.problem:
        say(f"A build would stop here: {trial.problem}", "bold red")


def _ends(records: list[Any]) -> list[Any]:
    return records if len(records) <= 4 else [*records[:3], records[-1]]


def _one_line(record: Poem | Idiom) -> str:
    if record.kind == "idiom":
        text = f"{record.phrase.raw} ⇒ {record.explanation.raw}"
    else:
        first = record.couplets[0]
        verse = first.first.raw + (f" / {first.second.raw}" if first.second else "")
        text = f"{record.poet}, {record.title} ({len(record.couplets)} units, {first.kind}): {verse}"
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
