"""One build: its config, its lake, and what its steps need to know about each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.machinery.lake import Lake, Stage
from mihakk.machinery.languages import require_level
from mihakk.machinery.llm.spending import FOLDER as SPENDING
from mihakk.machinery.registry import plugin_files
from mihakk.machinery.settings import ROOT, settings
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.model import AuditorsConfig
from mihakk.schemas.stages import STAGES
from mihakk.validators.expectations.contracts import keep_contract

CONFIGS = ROOT / "configs"
_PLUGGED_INTO = {
    "source": "scrapers",
    "task": "generators",
    "check": "validators/checks",
    "language": "machinery",
}
"""Kind of plugin to the folder whose stages run again when one changes."""


@dataclass(frozen=True)
class Build:
    """A benchmark being built in one lake; small enough to send to a worker process."""

    config: BenchmarkConfig
    lake_root: str
    run_folder: Path
    """Where this run's report and review queue go."""
    pages: str | None = None
    """Folder or URL whose raw pages are used, where not the lake's own."""

    @property
    def lake(self) -> Lake:
        """The benchmark's stage tables."""
        return Lake(self.lake_root, self.config.name)

    def stage(self, name: str) -> Stage:
        """One stage's tables, which take only rows that keep their contract."""
        return self.lake.stage(name, keep_contract)

    def before(self, stage: str) -> Stage:
        """The stage that `stage` reads."""
        return self.stage(STAGES[STAGES.index(stage) - 1])

    @property
    def spending(self) -> Path:
        """Folder of the ledger of what models cost this benchmark."""
        return self.lake.folder("journals", SPENDING)

    def auditors(self) -> AuditorsConfig:
        """The two auditors the config names."""
        return load_auditors(self.config.audit.auditors)


def open_build(config_path: Path, run_folder: Path | None = None, lake: str | None = None) -> Build:
    """A build of the config file, with the lake and the folder of runs that the settings name unless given.

    Raises:
        UsageError: The config is missing or wrong.
    """
    config = load_config(find_config(config_path), BenchmarkConfig, proposed=True)
    for language in config.prompt_languages:
        require_level(language, "items", "prompts")
    return Build(config, lake or settings().lake, run_folder or settings().runs)


def run_folder(runs: Path, name: str) -> Path:
    """A folder below `runs` for a run that begins now."""
    return runs / name / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def overridden(opened: Build, audit_limit: int | None, auditors: str | None) -> Build:
    """The build with what the command line says instead of the config."""
    changes: dict[str, object] = {}
    if audit_limit is not None:
        changes["limit"] = audit_limit
    if auditors is not None:
        changes["auditors"] = auditors
    if not changes:
        return opened
    audit = opened.config.audit.model_copy(update=changes)
    return replace(opened, config=opened.config.model_copy(update={"audit": audit}))


def find_config(path: Path) -> Path:
    """The file itself, or `configs/benchmarks/<name>.yaml` for a bare name."""
    if path.exists() or path.suffix:
        return path
    return CONFIGS / "benchmarks" / f"{path}.yaml"


def load_auditors(name: str) -> AuditorsConfig:
    """Auditors by name in `configs/auditors/` or by path."""
    path = Path(name)
    if not path.suffix:
        path = CONFIGS / "auditors" / f"{name}.yaml"
    return _auditors_in(path, path.read_bytes() if path.is_file() else b"")


@lru_cache(8)  # each shard of the audit asks
def _auditors_in(path: Path, written: bytes) -> AuditorsConfig:  # noqa: ARG001 # read anew where it changed
    return load_config(path, AuditorsConfig)


@cache
def code_version(packages: tuple[str, ...]) -> str:
    """Digest of the code and data files of our packages and folders: a stage runs again when it changes."""
    hasher = hashlib.sha256()
    for path in _code_files(packages):
        hasher.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    for noun, package in _PLUGGED_INTO.items():
        if package in packages:
            hasher.update("\0".join(plugin_files(noun)).encode())
    return hasher.hexdigest()[:16]


def _code_files(packages: Iterable[str]) -> list[Path]:
    wanted = {".py", ".yaml", ".tsv", ".jsonl", ".xml", ".html", ".md", ".jinja"}
    found: list[Path] = []
    for package in packages:
        folder = ROOT / package
        if not folder.is_dir():
            raise UsageError(f"{folder} is missing: the checkout is not whole; clone it again")
        found += [p for p in folder.rglob("*") if p.suffix in wanted and "__pycache__" not in p.parts]
    return sorted(found)


def inputs_of(build: Build, stage: str, shard: str) -> dict[str, str]:
    """Digests of the parts of `shard` that `stage` reads from the stage before."""
    for manifest in build.before(stage).manifest().shards:
        if manifest.shard == shard:
            return dict(manifest.parts)
    raise UsageError(f"stage {stage} has no shard {shard!r} to read: run `mihakk build` again")


def whole_input(build: Build, stage: str) -> str:
    """Digest of everything the stage before holds, for steps that look across shards."""
    parts: list[Any] = [(s.shard, s.parts) for s in build.before(stage).manifest().shards]
    return digest(parts)
