"""The flat layout holds (docs/decisions/0001)."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.packages import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
HEAVY = (
    "prefect",
    "torch",
    "datasets",
    "great_expectations",
    "openai",
    "scrapy",
    "pandas",
    "sentence_transformers",
    "label_studio_sdk",
    "xllamacpp",
    "pyarrow",
)


def test_no_other_distribution_provides_our_names() -> None:
    provided = packages_distributions()
    foreign = {name: set(provided.get(name, [])) - {"mihakk"} for name in PACKAGES}
    assert {name: by for name, by in foreign.items() if by} == {}


def test_no_file_in_flows_shadows_a_package_and_data_is_no_package() -> None:
    assert not {path.stem for path in (ROOT / "flows").glob("*.py")} & set(PACKAGES)
    assert not list((ROOT / "data").rglob("__init__.py"))


def test_the_command_line_starts_without_the_heavy_packages() -> None:
    code = f"import sys, flows.cli; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_every_pin_is_exact() -> None:
    lines = (ROOT / "requirements" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.partition(";")[0].strip() for line in lines if line.strip() and not line.startswith("#")]
    assert pins
    assert [pin for pin in pins if "==" not in pin or "+" in pin or "@" in pin] == []
