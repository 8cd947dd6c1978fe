"""Suites and systems by name, from `configs/suites/` and `configs/models/`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT, settings
from mihakk.schemas.suite import Suite, System

SUITES = ROOT / "configs" / "suites"
SYSTEMS = ROOT / "configs" / "models"


def load_suite(name: str) -> Suite:
    """A suite by name, or from a file.

    Raises:
        UsageError: There is none, or it does not fit.
    """
    return load_config(_file(name, SUITES), Suite)


def load_systems(suite: Suite, names: Sequence[str] = ()) -> list[System]:
    """The systems named, or those of the suite; each a name in configs/models/ or a file.

    Raises:
        UsageError: None is named, there is none of that name, two have the same, or one has no price for
            `limits.cost`.
    """
    chosen = list(names) or list(suite.models)
    if not chosen:
        raise UsageError(f"{suite.name} names no models: give --model NAME, of {SYSTEMS}")
    systems = load_priced(chosen, suite, "limits")
    known = [one.name for one in systems]
    for name in known:
        if known.count(name) > 1:
            raise UsageError(f"two systems are named {name!r}: their answers would lie in one folder")
    return systems


def load_priced(
    names: Iterable[str], suite: Suite, setting: Literal["limits", "judges.budget"]
) -> list[System]:
    """Systems or judges by name; where a setting of the suite limits their cost, each has a price.

    Raises:
        UsageError: There is none of that name, or a limit of costs would limit nothing.
    """
    found = [load_config(_file(name, SYSTEMS), System) for name in names]
    limits = suite.judges.budget if suite.judges and setting == "judges.budget" else suite.limits
    for one in found:
        if limits.cost is not None and one.price is None and one.serve.engine != "embedded":
            raise UsageError(
                f"{suite.name}: `{setting}.cost` can't be kept, for {one.name} has no `price`: add it to its "
                f"config (0 where calls cost nothing), or limit `{setting}.requests` instead"
            )
    return found


def suite_folder(suite: Suite, named: Path | str | None = None) -> Path:
    """The folder of a suite's answers and scores: the one named, else its own."""
    return Path(named) if named else settings().runs / "evaluate" / suite.name


def open_suite(
    name: str, models: Sequence[str] | None, folder: Path | None
) -> tuple[Suite, list[System], Path]:
    """A suite, its systems and its folder as the command line names them; commas part several systems."""
    suite = load_suite(name)
    systems = load_systems(suite, [one for several in models or () for one in several.split(",") if one])
    return suite, systems, suite_folder(suite, folder)


def _file(name: str, folder: Path) -> Path:
    return Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
