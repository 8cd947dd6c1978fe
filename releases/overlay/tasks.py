"""Tasks of lm-eval, LightEval and Inspect in an overlay: they fetch the benchmark, patch it and ask it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from mihakk.generators.prompts import outside_prompt
from mihakk.machinery.ids import sha256
from mihakk.machinery.settings import settings
from mihakk.releases.content.item_tables import (
    Placed,
    Renders,
    config_name,
    item_schema,
    item_table,
    write_split,
)
from mihakk.releases.export.reading import write_reading
from mihakk.releases.export.tasks import FOLDER, ConfigFiles, write_inspect, write_lighteval, write_lm_eval
from mihakk.releases.overlay.changes import HEAD, LINES, Overlay, read_overlay
from mihakk.releases.overlay.patching import apply
from mihakk.schemas.item import ChoiceItem, QuestionItem

UPSTREAM: Final = "MIHAKK_UPSTREAM"
"""Environment variable: file or folder of the benchmark; it is fetched from the Hub where that is empty."""
_README: Final = "README.md"


def write_tasks(overlay: Overlay, files: Mapping[str, bytes], folder: Path) -> None:
    """Writes `eval/` and README.md of an overlay.

    Args:
        overlay: As it was written.
        files: The patched files, by path; which configs and kinds of questions there are is read from them.
        folder: Of the overlay.
    """
    with tempfile.TemporaryDirectory() as space:
        root = Path(space)
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        by_config = _by_config(overlay, root)
    digests = {one.path: one.patched for one in overlay.tables}
    configs = []
    for config, splits in by_config.items():
        items = [item for some in splits.values() for item in some]
        several = any(isinstance(item, ChoiceItem) and len(item.gold) > 1 for item in items)
        kind = "selection" if several else items[0].kind
        configs.append(ConfigFiles(config, kind, dict.fromkeys(splits, digests)))
    if (folder / "eval").exists():
        shutil.rmtree(folder / "eval")
    write_lm_eval(overlay.name, overlay.version, configs, folder)
    pinned = folder / FOLDER / "pinned.json"
    told = orjson.loads(pinned.read_bytes()) | {"overlay": sha256((folder / HEAD).read_bytes())}
    pinned.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
    write_reading(folder / FOLDER / "reading", version("mihakk"))
    write_lighteval(folder)
    write_inspect(configs, folder)
    (folder / _README).write_text(_readme(overlay), encoding="utf-8")


def patched_folder(folder: Path) -> Path:
    """The patched benchmark as a release's tables, made once for each state of overlay and benchmark.

    Where the benchmark lies says `MIHAKK_UPSTREAM`, or else it is fetched from the Hub.

    Raises:
        MihakkError: As of `apply`.
    """
    overlay, _ = read_overlay(folder)
    upstream = os.environ.get(UPSTREAM, "")
    files = (folder / HEAD, folder / LINES)
    # Another Mihakk may read the same rows in another way.
    state = sha256(version("mihakk").encode() + b"".join(path.read_bytes() for path in files))
    kept = settings().cache / "overlays" / state[:32]
    # What a local benchmark holds is compared anew each time: it may have changed since.
    if not upstream and kept.is_dir():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as space:
        root, made = Path(space) / "patched", Path(space) / "tables"
        apply(folder, root, upstream)
        if not kept.is_dir():
            _write_tables(overlay, root, made)
            with suppress(OSError):  # another process made it meanwhile
                made.rename(kept)
    return kept


def _write_tables(overlay: Overlay, root: Path, made: Path) -> None:
    card: list[dict[str, Any]] = []
    for config, splits in _by_config(overlay, root).items():
        schema = item_schema(config, [item for some in splits.values() for item in some])
        renders = Renders(lambda item, _: outside_prompt(item))
        for split, items in splits.items():
            placed = (Placed(item, split, item.id, "pass", "checks") for item in items)
            write_split(item_table(schema, placed, "", renders), made / config, split)
        files = [{"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits]
        card.append({"config_name": config, "data_files": files})
    (made / _README).write_text(f"---\n{yaml.safe_dump({'configs': card})}---\n", encoding="utf-8")


def _by_config(overlay: Overlay, root: Path) -> dict[str, dict[str, list[QuestionItem]]]:
    """Config and split to the questions of a patched benchmark."""
    from mihakk.validators.external import parse_mapping, read_benchmark

    source = root if len(overlay.paths) > 1 or "/" in overlay.paths[0] else root / overlay.paths[0]
    benchmark = read_benchmark(
        str(source), parse_mapping(overlay.mapping), language=overlay.language, licence=overlay.licence
    )
    stated = {one.path: one.split for one in overlay.tables}
    found: dict[str, dict[str, list[QuestionItem]]] = defaultdict(lambda: defaultdict(list))
    for item in benchmark.items:
        table = benchmark.tables[benchmark.place[item.id][0]]
        path = table.file.relative_to(root).as_posix() if table.file else ""
        split = item.split or item.metadata.get("split") or stated.get(path) or "test"
        # As files and `datasets` may call it: `test-*` would take the files of `test-hard` too.
        found[config_name(item)][re.sub(r"\W+", "_", split)].append(item)
    return {config: dict(splits) for config, splits in found.items()}


def _readme(overlay: Overlay) -> str:
    at = f" at revision `{overlay.revision}`" if overlay.revision else ""
    rows = "\n".join(f"| {reason} | {count} |" for reason, count in overlay.changes.items())
    kind = "It leaves rows out and changes none. " if overlay.exclusions_only else ""
    return f"""# {overlay.title}: errata as a patch

A patch of `{overlay.dataset}`{at}, which stays where it is: nothing of it is in here but the changed cells.
{kind}Which rows, why, and on whose word stands in `changes`; `overlay.json` has the digests of the files.

| reason | rows |
|---|---|
{rows}

```bash
mihakk overlay verify .                 # whether the benchmark is the one that this is a patch of
mihakk overlay apply . PATCHED          # fetch it and write the patched copy
lm-eval run --model hf --model_args pretrained=MODEL --include_path eval/lm_eval --tasks {overlay.name}
inspect eval eval/inspect/tasks.py --model openai/gpt-4o
lighteval accelerate "model_name=MODEL" "{overlay.name}-{overlay.version}:<config>|0" \
  --custom-tasks eval/lighteval/tasks.py
```

```python
from mihakk.releases.overlay import load
rows = load(".")
```

All of it needs Mihakk. An environment that can't hold it, as LightEval's, names the Python of one that does
by `MIHAKK_PYTHON`. A benchmark that lies here already is named behind the folder, or by `{UPSTREAM}` for the
harnesses.
"""
