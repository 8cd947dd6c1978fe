"""Arguments and options that several commands share, with one wording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Benchmark = Annotated[Path, typer.Argument(help="A file, or a name in configs/benchmarks/.")]
Reviewed = Annotated[
    Path,
    typer.Argument(
        help="A file, a name in configs/benchmarks/, or the folder of an external audit.",
    ),
]
Lake = Annotated[str | None, typer.Option(help="Folder or URL of the lake, instead of MIHAKK_LAKE.")]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the result as one JSON document on standard output."),
]
SuiteName = Annotated[str, typer.Argument(help="A name in configs/suites/, or a file.")]
Systems = Annotated[
    list[str] | None,
    typer.Option(help="A name in configs/models/, or a file; the suite's own when left out."),
]
SuiteFolder = Annotated[
    Path | None, typer.Option(help="Folder of answers and scores; runs/evaluate/SUITE when left out.")
]
Engine = Annotated[
    str, typer.Option(help="processes, dask, or dask:ADDRESS of a scheduler; MIHAKK_ENGINE if empty.")
]
Workers = Annotated[int, typer.Option(min=0, help="Worker processes; 0: one per core.")]
Log = Annotated[
    str, typer.Option(help="Progress as text or json lines; auto: bars on a terminal, text elsewhere.")
]
Endpoint = Annotated[str, typer.Option(help="Address of the Hub; huggingface.co when empty.")]
Repository = Annotated[str, typer.Option(help="owner/name on the Hub, instead of the config's.")]
Csv = Annotated[Path | None, typer.Option("--csv", help="Write the table to this file too.")]
Address = Annotated[str, typer.Argument(help="E-mail address of their Label Studio account.")]
OfBenchmark = Annotated[Path, typer.Option("--benchmark", "-b", help="The benchmark's config.")]
