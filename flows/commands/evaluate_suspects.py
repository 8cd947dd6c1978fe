"""`mihakk evaluate suspects`, `auditors`: what answers say of items and of auditors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mihakk.flows.commands.evaluate_import import names_file, results_of
from mihakk.flows.commands.options import AsJson, Csv, SuiteFolder, SuiteName, Systems
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from mihakk.evaluation.results import Said
    from mihakk.schemas.evaluation import Answer, Question


def suspects(
    results: Annotated[
        list[str],
        typer.Argument(
            help="A suite that was run; or folders of imported results, or files that show their questions.",
        ),
    ],
    model: Systems = None,
    out: SuiteFolder = None,
    share: Annotated[
        float, typer.Option(min=0.001, max=1, help="Share of the items to show, and to bring to people.")
    ] = 0.1,
    csv: Csv = None,
    review: Annotated[
        Path | None,
        typer.Option(
            help="Benchmark, or folder of an audit, whose next `mihakk review push` brings them to people."
        ),
    ] = None,
    lake: Annotated[str | None, typer.Option(help="Folder or URL of the lake, with --review.")] = None,
    as_json: AsJson = False,
) -> None:
    """Rank items by what the answers of six or more systems say against them; asks no model.

    First come those where systems that are right elsewhere agree on another answer; then split, inverted and
    dead items. All of them stand in suspects.parquet: in the suite's or imported folder, or in --out.

    Example: mihakk evaluate suspects demo --review demo
    """
    from rich.table import Table

    from mihakk.evaluation.rows import write_rows
    from mihakk.evaluation.suspects import suspects as rank
    from mihakk.machinery.collection import no_collection
    from mihakk.schemas.suspect import Suspect

    answers, questions, folder = (
        _of_suite(results[0], model, out) if _is_suite(results) else _of_results(results, out)
    )
    with no_collection():
        found = rank(answers, questions)
    console = open_console(soft_wrap=True, stderr=as_json)
    reasons = Counter(one.reason for one in found)
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in sorted(reasons.items()))
    place = ""
    if folder is not None:
        write_rows(folder / "suspects.parquet", found, Suspect)
        place = f"; all in {folder / 'suspects.parquet'}"
    console.print(f"{len(found):,} items: {counts}{place}")
    if csv is not None:
        from mihakk.evaluation.suspects import as_frame

        csv.parent.mkdir(parents=True, exist_ok=True)
        as_frame(found).to_csv(csv, index=False)
    first = [one for one in found[: max(1, round(share * len(found)))] if one.reason != "always_right"]
    if as_json:
        print_json(first)
    table = Table("", "item", "why", "confidence", "evidence")
    for one in first:
        table.add_row(
            str(one.rank), one.items[0], one.reason.replace("_", " "), f"{one.confidence:.0%}", one.evidence
        )
    if not as_json:
        console.print(table)
    if review is not None:
        from mihakk.pipeline.opened_review import open_review
        from mihakk.pipeline.suspects import keep_suspects

        opened = open_review(review, lake)
        new = keep_suspects(opened.name, opened.stores, opened.items, first)
        console.print(f"{len(new):,} suspects are new: `mihakk review push {review}` brings them to people")


def _is_suite(results: list[str]) -> bool:
    path = Path(results[0])
    is_name = not path.exists() and not names_file(path)
    return len(results) == 1 and (is_name or path.suffix in (".yaml", ".yml"))


def _of_suite(
    suite: str, model: list[str] | None, out: Path | None
) -> tuple[Iterator[Answer], dict[str, Question], Path]:
    """The stored answers of a suite, its questions, and its folder."""
    from mihakk.evaluation.report import score_files
    from mihakk.evaluation.rows import read_rows
    from mihakk.evaluation.running.asking import asked_of_suite, questions_of
    from mihakk.evaluation.running.suites import open_suite
    from mihakk.releases.hub.load import named_folder
    from mihakk.schemas.evaluation import Answer

    chosen, systems, folder = open_suite(suite, model, out)
    files = score_files(folder, systems, ("answers.parquet",))
    if not files:
        raise UsageError(f"no system has answers in {folder}: `mihakk evaluate run {chosen.name}` first")
    questions = questions_of(asked_of_suite(chosen, named_folder))
    return (one for path in files for one in read_rows(path, Answer)), questions, folder


def _of_results(
    results: list[str], out: Path | None
) -> tuple[Iterator[Said], dict[str, Question], Path | None]:
    from mihakk.evaluation.imported import QUESTIONS
    from mihakk.evaluation.results import said

    paths = [Path(one) for one in results]
    joined = results_of(paths)
    # Among the logs of others it would be read as a table the next time.
    folder = out or (paths[0] if len(paths) == 1 and (paths[0] / QUESTIONS).is_file() else None)
    return said(joined), joined.benchmark.questions, folder


def auditors(
    suite: SuiteName,
    review: Annotated[Path, typer.Option(help="Benchmark, or folder of an audit, that people reviewed.")],
    out: SuiteFolder = None,
    lake: Annotated[str | None, typer.Option(help="Folder or URL of the lake.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how often auditors were right, from people's decisions and systems' answers.

    Right: share of their objections that are defects. Found: share of all defects that they objected to. Run
    `mihakk evaluate suspects` before; a figure that rests on too few decisions is not given.

    Example: mihakk evaluate auditors demo --review demo
    """
    from rich.table import Table

    from mihakk.annotation.statistics.auditor_accuracy import LEAST
    from mihakk.evaluation.rows import read_rows
    from mihakk.evaluation.running.suites import load_suite, suite_folder
    from mihakk.pipeline.opened_review import open_review
    from mihakk.schemas.suspect import Suspect

    path = suite_folder(load_suite(suite), out) / "suspects.parquet"
    if not path.is_file():
        raise UsageError(f"there is no {path}: run `mihakk evaluate suspects {suite}` first")
    opened = open_review(review, lake)
    found = opened.auditor_accuracy(read_rows(path, Suspect))
    if not found:
        raise UsageError(
            f"no auditor gave an opinion of an item of {opened.name}: there is nothing to estimate"
        )
    if as_json:
        print_json(found)
        return
    table = Table("auditor", "questions", "objections", "decided", "right", "found", "false alarms", "missed")
    for one in found:
        few = f"{one.decided} of {LEAST} objections decided" if one.decided < LEAST else ""
        sample = few or f"{one.sampled} of {LEAST} sampled passes decided"
        table.add_row(
            one.auditor,
            *(f"{count:,}" for count in (one.questions, one.objected, one.decided)),
            _share(one.right, one.right_low, one.right_high) or few,
            _share(one.found, one.found_low, one.found_high) or sample,
            _share(one.false_alarms, one.false_alarms_low, one.false_alarms_high) or sample,
            str(one.missed),
        )
    open_console(soft_wrap=True).print(table)


def _share(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval; empty where it is not given."""
    if value is None or low is None or high is None:
        return ""
    return f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def scores_in(folder: Path) -> list[Path]:
    """A file of scores itself, or those in a system's folder or a suite's.

    Raises:
        UsageError: There are none; where a suite of that name was run, the message names its folder.
    """
    from mihakk.machinery.settings import settings

    if folder.suffix == ".parquet" or folder.is_file():
        return [folder]
    found = sorted([*folder.glob("scores.parquet"), *folder.glob("*/scores.parquet")])
    if not found:
        own = settings().runs / "evaluate" / folder
        raise UsageError(
            f"there are no scores in {folder}: name "
            + (
                f"{own}, where the suite {folder} lies"
                if own.is_dir()
                else "the folder of a suite that was run"
            )
        )
    return found
