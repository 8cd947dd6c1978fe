"""Arguments and options that several commands share, with one wording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.completion import benchmarks

Benchmark = Annotated[
    Path, typer.Argument(help="A file, or a name in configs/benchmarks/.", autocompletion=benchmarks)
]
Lake = Annotated[str | None, typer.Option(help="Folder or URL of the lake, instead of MIHAKK_LAKE.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on standard output.")]
Engine = Annotated[
    str, typer.Option(help="processes, dask, or dask:ADDRESS of a scheduler; MIHAKK_ENGINE if empty.")
]
Workers = Annotated[int, typer.Option(min=0, help="Worker processes; 0: one per core.")]
Log = Annotated[
    str, typer.Option(help="Progress as text or json lines; auto: bars on a terminal, text elsewhere.")
]
