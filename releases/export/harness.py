"""Loads this release's items for an evaluation harness and scores replies; part of the release itself.

The data files lie beside this file in the release, and their digests in `pinned.json`: what is scored is this
version, byte for byte, whatever a cache or a moved tag holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""The release."""


def leave_nothing(spec: Any) -> None:
    """Remove the compiled copy that Python keeps beside a file of a release when it imports it.

    A release is only read: no run of it leaves a byte in its folder.
    """
    kept = Path(spec.cached) if spec is not None and spec.cached else None
    if kept is not None and ROOT in kept.parents:
        with contextlib.suppress(OSError):  # another process removed it first, or uses the folder
            kept.unlink()
            kept.parent.rmdir()


@cache
def pinned() -> dict[str, Any]:
    """Version, and digests of the data files by config and split."""
    stated: dict[str, Any] = json.loads(Path(__file__).with_name("pinned.json").read_text(encoding="utf-8"))
    return stated


@cache
def data_root() -> Path:
    """The folder that `datasets` loads the configs from: of an overlay, the benchmark as patched.

    Where this environment can't hold Mihakk, as LightEval's can't, `MIHAKK_PYTHON` names one that does.
    """
    if "overlay" not in pinned():
        return ROOT
    if importlib.util.find_spec("mihakk") is not None:
        patched: Path = importlib.import_module("mihakk.releases.overlay.tasks").patched_folder(ROOT)
        return patched
    python = os.environ.get("MIHAKK_PYTHON")
    if not python:
        raise RuntimeError(
            "an overlay is applied by Mihakk, which this environment lacks: install it here, or name the "
            "Python of an environment that has it by MIHAKK_PYTHON"
        )
    code = (
        "import pathlib, sys\n"
        "from mihakk.releases.overlay.tasks import patched_folder\n"
        "print(patched_folder(pathlib.Path(sys.argv[1])))"
    )
    done = subprocess.run([python, "-c", code, str(ROOT)], stdout=subprocess.PIPE, text=True, check=True)
    return Path(done.stdout.splitlines()[-1])


def data_files(config: str) -> dict[str, list[str]]:
    """Split -> data files of a config, each with the digest it was released with."""
    files: dict[str, list[str]] = {}
    if "overlay" in pinned():  # whose digests are compared while it is patched
        folder = data_root() / config
        return {split: sorted(map(str, folder.glob(f"{split}-*"))) for split in pinned()["configs"][config]}
    for split, parts in pinned()["configs"][config].items():
        for name, digest in parts.items():
            path = ROOT / name
            found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "nothing"
            if found != digest:
                raise ValueError(
                    f"{path} is not the file of version {pinned()['version']}: fetch the release again "
                    f"(expected sha256 {digest}, found {found})"
                )
            files.setdefault(split, []).append(str(path))
    return files


def load(config: str, **_: Any) -> Any:
    """The config's splits as a `datasets.DatasetDict`, read without any cache."""
    import datasets
    import pyarrow.parquet as pq

    return datasets.DatasetDict(
        {
            split: datasets.concatenate_datasets([datasets.Dataset(pq.read_table(part)) for part in parts])
            for split, parts in data_files(config).items()
        }
    )


@cache
def reader() -> ModuleType:
    """The rules that read replies: Mihakk's own, of which this release holds a copy."""
    folder = Path(__file__).with_name("reading")
    if not folder.is_dir() and not Path(__file__).with_name("pinned.json").is_file():
        return importlib.import_module("mihakk.evaluation.reading.written")  # inside Mihakk itself
    name = f"mihakk_reading_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None or not folder.is_dir():
        raise ImportError(f"{folder} is missing: fetch the release again")
    sys.modules[name] = package = importlib.util.module_from_spec(spec)
    wanted, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # a release is only read
    try:
        spec.loader.exec_module(package)
        return importlib.import_module(f"{name}.written")
    finally:
        sys.dont_write_bytecode = wanted


def chosen(reply: str, labels: list[str], options: Sequence[str] = ()) -> int | None:
    """Index of the option that a reply chooses, None where it chooses none or several."""
    picks = reader().read_written("choice", reply, labels, options).picks
    return picks[0] if len(picks) == 1 else None


def selected(reply: str, labels: list[str]) -> set[int] | None:
    """Indices of all labels a reply lists, None where it says anything besides labels."""
    return set(reader().read_written("choice", reply, labels, multiple=True).picks) or None


def distance(first: str, second: str) -> int:
    """Levenshtein distance in code points."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(second, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]


def reference(doc: dict[str, Any]) -> str:
    """The reference text of an explanation item."""
    lines = [f"{number}. {line}" for number, line in enumerate(doc["explanations"], 1)]
    return "\n".join([*lines, doc["overall"]]).strip()


def choice_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Accuracy of a written reply to a choice; one that names no single label counts 0 and is unparsed."""
    picked = chosen(results[0], list(doc["labels"]), list(doc.get("options") or ()))
    return {"acc": float(picked in doc["gold"]), "unparsed": float(picked is None)}


def selection_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Whether a written reply lists exactly the right labels, and F1 of the list; an unread one counts 0."""
    picked, right = selected(results[0], list(doc["labels"])), set(doc["gold"])
    both = 2 * len((picked or set()) & right)
    return {
        "exact_set": float(picked == right),
        "set_f1": both / (len(picked or ()) + len(right)) if right else 0.0,
        "unparsed": float(picked is None),
    }


def likely_selection(doc: dict[str, Any], results: list[Any]) -> dict[str, float]:
    """Whether the likeliest labels, as many as are right, are the right ones."""
    order = sorted(range(len(results)), key=lambda place: -results[place][0])
    return {"exact_set": float(set(order[: len(doc["gold"])]) == set(doc["gold"]))}


def answer_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Exact match of folded letters, and character error rate capped at 1, against the nearest answer."""
    read, key, language = reader().read_written, reader().key, doc["language"]
    given = key(read("answer", results[0]).text, language)
    right = [folded for text in (doc["answer"], *doc["accepted"]) if (folded := key(text, language))]
    # A reply twice as long as the answer has as many errors as letters at least.
    errors = min(min(1.0, distance(given[: 2 * len(one)], one) / len(one)) for one in right)
    return {"exact": float(given in right), "cer": errors, "empty": float(not given)}


def explanation_scores(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """chrF of a poem's explanation against the reference, from 0 to 1."""
    from sacrebleu.metrics import CHRF

    given = "" if reader().is_too_long(results[0]) else results[0]
    found = CHRF().sentence_score(given, [reference(doc)]).score / 100
    return {"chrf": found, "empty": float(not given.strip())}


if Path(__file__).with_name("pinned.json").is_file():
    leave_nothing(__spec__)
