"""`mihakk new`: a config for somebody's own files, with what speaks for each of its lines."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
import yaml
from rich.console import Console
from rich.markup import escape

from mihakk.flows.commands.options import AsJson
from mihakk.machinery.configs import OPEN_QUESTION, open_questions
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from mihakk.schemas.idiom import Idiom
    from mihakk.schemas.poem import Poem
    from mihakk.scrapers.own_proposal import Found, Question
    from mihakk.scrapers.trial import Trial

_FEW_POETS = 4
_SAMPLE = 200
"""Poems whose metres are looked up."""
_SPDX = re.compile(r"[\w.+-]+")
_LICENCE = (
    "Under which licence may these texts be given away? (an SPDX identifier such as CC-BY-4.0, "
    "public-domain, or unknown, which no release carries)"
)
_AUTHORS = "Who makes this benchmark? (names as they are to be cited, parted by commas)"
_DIED_BY = 1950


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(new)


def new(
    files: Annotated[list[Path], typer.Argument(help="Your folder or files: tables, or texts with verse.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The config; NAME.yaml when left out.")
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Ask nothing: what can't be told is left open in the file, which won't build."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Propose a benchmark's config for your own files, asking only what they can't tell.

    Example: mihakk new idioms.xlsx
    Example: mihakk new ghazals/ --out ghazals.yaml
    """
    from mihakk.scrapers.own_files import look
    from mihakk.scrapers.raw import RawStore

    for path in files:
        if not path.exists():
            raise UsageError(f"{path} does not exist: name a folder or files")
    console = open_console(stderr=True, soft_wrap=True)
    asks = _Asking(console, silent=yes)
    name = _name(files[0])
    out = out or Path(f"{name}.yaml")
    if out.exists():
        raise UsageError(f"{out} exists: name another file with --out, or remove it")
    sources, trials = [], []
    with tempfile.TemporaryDirectory(prefix="mihakk-new-") as folder:
        for found in look(files):
            _say(console, found)
            for question in found.questions:
                asks.of(found, question)
            trial = _trial(console, found, RawStore(folder))
            _ask_for_verse(asks, found, _poems(trial.records if trial else ()))
            found.options["licence"] = _public_domain(console, found, trial) or asks.open(
                "licence", *_licence(files)
            )
            sources.append(found)
            trials.append(trial)
    authors = asks.open("authors", _AUTHORS)
    out.write_text(_config(name, sources, trials, authors, asks.left), "utf-8")
    console.print(f"Wrote {escape(str(out))} after {asks.asked} answers; next:")
    then = f"answer {asks.left} questions in {out}" if asks.left else f"mihakk build {out} --dry-run"
    if as_json:
        told = [{"options": found.options, "evidence": found.evidence} for found in sources]
        print_json(
            {"config": str(out), "sources": told, "answers": asks.asked, "open": asks.left, "next": then}
        )
    else:
        print(then)


class _Asking:
    """Puts questions in a terminal, or leaves them open."""

    def __init__(self, console: Console, *, silent: bool) -> None:
        self._console = console
        self._silent = silent
        self._given: dict[str, str] = {}
        self.asked = 0
        self.left = 0

    def open(self, key: str, text: str, default: str = "") -> str:
        """The answer to a question about all sources; the mark of an open one where nobody is asked."""
        from mihakk.releases.licence import known

        while key not in self._given:
            given = default if default and self._silent else self._ask(text, default)
            if key != "licence" or known(given) or given in ("unknown", OPEN_QUESTION):
                self._given[key] = given
            else:
                self._console.print(escape(f"{given!r} is no licence that a release may carry"), style="red")
        return self._given[key]

    def of(self, found: Found, question: Question) -> None:
        """Puts a source's question and takes the answer into its options."""
        optional = question.key.startswith("fields.")
        text = question.text
        if question.choices:
            text += "".join(f"\n  {at}. {choice}" for at, choice in enumerate(question.choices, start=1))
        if self._silent:
            if not optional:
                self.left += 1
                name, _, field = question.key.partition(".")
                found.options[name] = (
                    found.options.get(name, {}) | {field: OPEN_QUESTION} if field else OPEN_QUESTION
                )
                told = [question.text if question.readings else " ".join(text.split())]
                for choice, options in zip(question.choices, question.readings, strict=False):
                    told.append(f"in place of `{name}` {_plain(options) if options else 'nothing'}: {choice}")
                found.evidence[:0] = told
            return
        while True:
            given = self._ask(text, "", empty=optional)
            if question.choices and given.isdecimal() and 0 < int(given) <= len(question.choices):
                given = question.choices[int(given) - 1]
            try:
                found.answer(question, given)
                return
            except UsageError as error:
                self._console.print(escape(str(error)), style="red")

    def _ask(self, text: str, default: str, *, empty: bool = False) -> str:
        if self._silent:
            self.left += 1
            return OPEN_QUESTION
        while True:
            self._console.print(escape(text) + (f" [dim]({escape(default)})[/]" if default else ""))
            try:
                given = input("> ").strip() or default
            except EOFError as error:
                raise UsageError("no more answers: give --yes, and answer in the file") from error
            if given or empty:
                self.asked += 1
                return given


def _say(console: Console, found: Found) -> None:
    console.print(f"[bold]{escape(found.options['path'])}[/]: {found.options['kind']}s")
    for line in found.evidence:
        console.print(f"  {escape(line)}")


def _trial(console: Console, found: Found, raw: Any) -> Trial | None:
    """What a build would read, told; None where a question is open.

    Raises:
        UsageError: A build would refuse the files.
    """
    if any(open_questions(found.options)):
        return None
    found.options["licence"] = "unknown"
    trial = found.trial(raw)
    if trial.problem or len(trial.rejections) > len(trial.records) or not trial.records:
        rejected = [f"{len(told)} {reason}: {told[0]}" for reason, told in trial.reasons()[:3]]
        why = [trial.problem] if trial.problem and trial.records else rejected or [trial.problem]
        raise UsageError(f"{found.options['path']}: {'; '.join(why)}")
    told = f"{len(trial.records):,} {found.options['kind']}s read"
    if trial.rejections:
        told += f", {len(trial.rejections):,} rows rejected: " + "; ".join(
            f"{len(details)} {reason} ({details[0][:120]})" for reason, details in trial.reasons()[:3]
        )
    found.evidence.append(told)
    console.print(f"  {escape(told)}")
    return trial


def _ask_for_verse(asks: _Asking, found: Found, poems: Sequence[Poem]) -> None:
    """Asks whether texts are verse where most of those that could rhyme do not.

    Raises:
        UsageError: They are none.
    """
    from mihakk.scrapers.own_proposal import Question, rhyming

    single = [poem for poem in poems if len(poem.couplets) == 1]
    if 0 < 2 * len(single) < len(poems):
        one = single[0].couplets[0]
        verse = " / ".join(half.raw for half in (one.first, one.second) if half)
        told = f"{len(single):,} of {len(poems):,} poems are a single couplet, such as {verse[:80]!r}"
        choices, readings = ["poems", "none, to be left out"], [{}, {"least_couplets": 2}]
        asks.of(found, Question("least_couplets", f"{told}. Are they poems?", choices, readings))
    could, do = rhyming(poems)
    if 2 * do >= could or "verse" in found.options:
        return
    text = f"Of {could:,} poems {do:,} rhyme. Are they verse all the same?"
    asks.of(found, Question("kind", text, ["verse", "prose"], [{"kind": "poem"}, {"kind": "prose"}]))
    if found.options["kind"] == "prose":
        raise UsageError(f"{found.options['path']}: no benchmark is built of prose: take it out")


def _public_domain(console: Console, found: Found, trial: Trial | None) -> str:
    """`public-domain` where every poem is by a known poet who died long ago."""
    from mihakk.machinery.taxonomy import vocabulary

    died = []
    for poet, language in {(one.poet, one.language) for one in _poems(trial.records if trial else ())}:
        known = vocabulary("poet", language)
        died.append(known.find(poet).get("died", _DIED_BY + 1) if known and poet else _DIED_BY + 1)
    if not died or max(died) > _DIED_BY:
        return ""
    told = f"public domain: of its poets ({len(died)}) the last died in {max(died)}"
    found.evidence.append(told)
    console.print(f"  {escape(told)}")
    return "public-domain"


def _name(path: Path) -> str:
    """A benchmark's name from that of the file or folder."""
    plain = re.sub(r"[^a-z0-9]+", "_", path.resolve().stem.lower()).strip("_")
    return plain or "own"


def _licence(files: Sequence[Path]) -> tuple[str, str]:
    """The question, and the licence that a file beside the texts names, if it names one alone."""
    from mihakk.releases.licence import licences

    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in files)
    texts = [
        one.read_text("utf-8", errors="replace")[:5_000]
        for folder in folders
        for one in sorted(folder.iterdir())
        if one.is_file() and one.stem.casefold() in ("license", "licence", "copying", "readme")
    ]
    words = {word.strip(".") for text in texts for word in _SPDX.findall(text)}
    held = {
        name
        for name, one in licences().items()
        if name in words or any(one.title in text or one.url in text for text in texts)
    }
    return (_LICENCE, held.pop()) if len(held) == 1 else (_LICENCE, "")


def _config(
    name: str, sources: Sequence[Found], trials: Sequence[Trial | None], authors: str, left: int
) -> str:
    """The file, of at most thirty lines where there is one source."""
    records = [record for trial in trials if trial for record in trial.records]
    lines = ["# Proposed by `mihakk new`, with what speaks for it."]
    if left:
        lines = [
            f"# Proposed by `mihakk new`; open questions, {left}: write an answer for each {OPEN_QUESTION!r}."
        ]
    lines += [f"name: {name}", f"title: {_plain(name.replace('_', ' ').capitalize())}", "sources:"]
    for number, found in enumerate(sources, start=1):
        said = found.evidence
        if len(said) > (most := max(2, 6 // len(sources))):
            said = [*said[: most - 1], said[-1]]
        lines += [f"  # {line}" for line in said]
        options = {key: value for key, value in found.options.items() if value not in ("", [], {})}
        label = name if len(sources) == 1 else f"{name}_{number}"
        lines += ["  - use: files", f"    name: {label}", "    options:"]
        lines += [f"      {key}: {_plain(value)}" for key, value in options.items()]
    lines += _curate(records)
    lines += ["tasks:  # every task: docs/tasks.md"]
    lines += [f"  - use: {task}" for task in _tasks(records, {found.options["kind"] for found in sources})]
    lines += ["embeddings: none", "audit: {limit: 0}  # how many items two models audit; docs/auditors.md"]
    names = [one.strip() for one in authors.split(",") if one.strip()]
    lines += ["release:", f"  authors: {_plain(names)}"]
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    """A value on one line of YAML."""
    return (
        yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
        .removesuffix("\n")
        .removesuffix("\n...")
    )


def _poems(records: Sequence[Poem | Idiom]) -> list[Poem]:
    return [one for one in records if one.kind == "poem"]


def _curate(records: Sequence[Poem | Idiom]) -> list[str]:
    """Poems without a poet are kept where most have none."""
    poems = _poems(records)
    if not poems or sum(bool(one.poet) for one in poems) >= 0.5 * len(poems):
        return []
    return ["curate: {required: []}  # most poems name no poet"]


def _tasks(records: Sequence[Poem | Idiom], kinds: AbstractSet[str]) -> list[str]:
    """Tasks that these records allow."""
    tasks = []
    kinds = kinds | {one.kind for one in records}
    if "idiom" in kinds:
        tasks += ["meaning_choice", "completion"]
    if "poem" in kinds:
        poems = _poems(records)
        tasks += ["shuffled_choice"]
        # Other verses of the same metre are the wrong options of the two; without it one goes on freely.
        tasks += (
            ["continuation_choice", "verse_choice", "metre_choice"] if _metred(poems) else ["continuation"]
        )
        if len({one.poet for one in poems if one.poet}) >= _FEW_POETS:
            tasks.append("poet_choice")
    return tasks


def _metred(poems: Sequence[Poem]) -> bool:
    """Whether most poems have a metre, named or surely scanned, as curation finds it."""
    from mihakk.curation.metadata import match_metadata
    from mihakk.curation.normalization import normalize
    from mihakk.schemas.benchmark import CurateConfig

    config = CurateConfig(required=())
    read = cast("Sequence[Poem]", normalize(poems[:_SAMPLE]).tables["poems"][1])
    found = [any(part.metre for part in match_metadata(one, config).sections) for one in read]
    return sum(found) > 0.5 * len(found)
