"""The flat layout holds (docs/decisions/0001)."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

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
    # Releases below data/ carry packages of their own, once somebody has built or fetched one.
    assert not [*(ROOT / "data").glob("*.py"), *(ROOT / "data" / "reference").rglob("*.py")]


def test_the_command_line_starts_without_the_heavy_packages() -> None:
    code = f"import sys, flows.cli; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def pins(name: str) -> list[str]:
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("lock", ["cpu.txt", "cuda.txt", "label-studio.txt", "weights.txt"])
def test_every_pin_is_exact_and_has_digests(lock: str) -> None:
    pin = re.compile(r"[a-z0-9.-]+==[\w.]+( ; [^#]+?)?( --hash=sha256:[0-9a-f]{64})+")
    assert pins(lock)
    assert [line for line in pins(lock) if not pin.fullmatch(line)] == []


def test_the_lock_for_cpu_brings_nothing_of_cuda_and_the_one_for_cuda_all_of_it() -> None:
    names = {lock: {line.partition("==")[0] for line in pins(lock)} for lock in ("cpu.txt", "cuda.txt")}
    of_cuda = ("nvidia-", "cuda-", "triton", "torch", "vllm")
    assert [name for name in names["cpu.txt"] if name.startswith(of_cuda)] == []
    assert {"torch", "triton", "vllm", "nvidia-cudnn-cu13"} <= names["cuda.txt"]
    assert names["cpu.txt"] <= names["cuda.txt"]
