"""`mihakk batch`: the audit without a server, by files of calls and replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mihakk.flows.commands.options import AsJson, Lake
from mihakk.reports.console import open_console, print_json

SWITCHES = """--structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'"""
"""Of vLLM: without it models indent their JSON and run into `max_tokens`."""
What = Annotated[
    Path,
    typer.Argument(
        help="A benchmark (file, or name in configs/benchmarks/), or a folder of `mihakk audit`.",
    ),
]
Auditors = Annotated[str, typer.Option(help="A name in configs/auditors/, or a file; the config's if empty.")]


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(
        help="Ask the auditors by files, for `vllm run-batch` or a hosted batch API.", no_args_is_help=True
    )
    group.command(name="export")(export)
    group.command(name="import")(take)
    app.add_typer(group, name="batch")


def export(
    what: What,
    folder: Annotated[Path, typer.Argument(help="Where NAME.calls.jsonl of each auditor goes.")],
    auditors: Auditors = "",
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Write the calls that each auditor still needs, in OpenAI's batch format.

    Example: mihakk batch export demo calls --auditors vllm-example
    """
    from mihakk.pipeline.batch_audit import export_calls, open_batch

    console = open_console()
    batch = open_batch(what, auditors, lake)
    models = {one.name: one.model for one in batch.auditors.auditors}
    exported = export_calls(batch, folder)
    if as_json:
        print_json(
            {
                name: {"calls": count, "file": path, "model": models[name]}
                for name, (path, count) in exported.items()
            }
        )
        return
    for name, (path, count) in exported.items():
        if not count:
            console.print(f"{name}: no call is missing")
            continue
        replies = path.with_name(f"{name}.replies.jsonl")
        console.print(f"{name}: {count:,} calls")
        console.print(
            f"  vllm run-batch -i {path} -o {replies} --model {models[name]} {SWITCHES}",
            soft_wrap=True,
        )


def take(
    what: What,
    folder: Annotated[Path, typer.Argument(help="Where NAME.replies.jsonl of each auditor lies.")],
    auditors: Auditors = "",
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Take replies into the journal, where the audit finds them; then export again for what is left.

    Example: mihakk batch import demo calls --auditors vllm-example
    """
    from mihakk.pipeline.batch_audit import import_replies, open_batch

    taken = import_replies(open_batch(what, auditors, lake), folder)
    if as_json:
        print_json(taken)
        return
    console = open_console()
    for name, found in taken.items():
        console.print(
            f"{name}: {found.answered:,} taken, {found.known:,} known already, "
            f"{found.failed:,} failed calls, {found.foreign:,} to other calls",
        )
        for one in found.rejected:
            console.print(f"  {one.record}: {one.detail}", style="red", markup=False, soft_wrap=True)
