"""Everything is imported as `mihakk.*` and installed below that one name (docs/decisions/0014)."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from zipfile import ZipFile

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


BARE = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(PACKAGES)})(?:\.|\s|$)", re.MULTILINE)


def test_no_other_distribution_provides_our_name() -> None:
    assert set(packages_distributions().get("mihakk", ["mihakk"])) == {"mihakk"}


def test_nothing_imports_a_folder_by_its_bare_name() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(tracked) > 500
    assert [name for name in tracked if BARE.search((ROOT / name).read_text("utf-8"))] == []


def test_a_wheel_holds_one_name_with_its_data_and_nothing_of_a_run(tmp_path: Path) -> None:
    for place in ("lake", "hub", "cache"):
        (ROOT / "data" / place).mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(ROOT)],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as opened:
        names = opened.namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"mihakk"}
    parts = {name.split("/")[1] for name in names if name.startswith("mihakk/")}
    assert parts == {
        *PACKAGES,
        "__init__.py",
        "library.py",
        "py.typed",
        "data",
        "configs",
        "requirements",
        "prefect.yaml",
    }
    assert {name.split("/")[2] for name in names if name.startswith("mihakk/data/")} == {
        "checks",
        "reference",
        "samples",
    }
    for package in PACKAGES:
        code = {str(one.relative_to(ROOT)) for one in (ROOT / package).rglob("*.py")}
        assert code == {
            name[7:] for name in names if name.startswith(f"mihakk/{package}/") and name[-3:] == ".py"
        }


def test_the_command_line_starts_without_the_heavy_packages() -> None:
    code = f"import sys, mihakk.flows.cli; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
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


MISSION = (
    "prefect datasets pandas camel-tools pyarabic openai vllm label-studio-sdk sentence-transformers "
    "great-expectations"
)
ROW = re.compile(
    r"^\| `(?P<package>[\w-]+)` \|.*\| `(?P<file>[\w/.]+)` \| \[[^]]+\]\((?P<guide>[\w./-]+)\) \| `(?P<test>.+)` \|$",
    re.M,
)


def test_each_package_of_the_mission_works_on_a_documented_path() -> None:
    rows = {found["package"]: found for found in ROW.finditer((ROOT / "docs/packages.md").read_text("utf-8"))}
    assert set(rows) == set(MISSION.split())
    brought = (ROOT / "pyproject.toml").read_text("utf-8")
    for package, row in rows.items():
        module = package.replace("-", "_")
        source = (ROOT / row["file"]).read_text("utf-8")
        run = rf'"{module}\.' if package == "vllm" else rf"^\s*(?:from|import) {module}\b"
        assert re.search(run, source, re.M), f"{row['file']} does not use {package}"
        assert (ROOT / "docs" / row["guide"]).is_file()
        assert re.search(rf'"{package}[\[><=" ]', brought), package
        file, _, name = row["test"].partition("::")
        assert re.search(rf"^(?:async )?def {name}\(", (ROOT / file).read_text("utf-8"), re.M), row["test"]


def test_what_is_listed_as_heavy_is_there() -> None:
    for line in (ROOT / "tests/heavy.txt").read_text("utf-8").split():
        file, _, name = line.partition("::")
        assert f"def {name}" in (ROOT / file).read_text("utf-8"), line
