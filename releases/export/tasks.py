"""Task files for lm-eval, LightEval and Inspect, pinned to one release by the digests of its data files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

from mihakk.generators.abilities import ability_of
from mihakk.releases.content.checksum import file_digest
from mihakk.releases.content.item_tables import CORE, core_file, data_files
from mihakk.releases.export.reading import write_reading

HARNESS = Path(__file__).with_name("harness.py")
LIGHTEVAL = Path(__file__).with_name("lighteval_tasks.py")
INSPECT = Path(__file__).with_name("inspect_tasks.py")
FOLDER = Path("eval") / "lm_eval"


@dataclass(frozen=True)
class ConfigFiles:
    """What a harness needs to know of one config."""

    name: str
    kind: str
    """Of its items; `selection` where several options may be right."""
    files: Mapping[str, Mapping[str, str]]
    """Split -> path in the release -> sha256."""
    core: bool = False
    """The core of another config: its tasks have a tag of their own."""

    @property
    def test_split(self) -> str:
        """The split that is scored."""
        return "test" if "test" in self.files else next(iter(self.files))

    @property
    def ability(self) -> str:
        """`recall` or `skill`."""
        return ability_of(self.name.removesuffix(CORE if self.core else "").partition("_")[2])

    @property
    def task(self) -> str:
        """What its task is called: a release that can't score its test split says which split it scores."""
        return self.name if self.test_split == "test" else f"{self.name}_{self.test_split}"

    @property
    def shot_split(self) -> str | None:
        """The split examples are drawn from, never the scored one."""
        return next(
            (
                split
                for split in ("dev", "train", "validation")
                if split in self.files and split != self.test_split
            ),
            None,
        )


class _Function(str):
    """Written as lm-eval's `!function` tag."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


class _Way(NamedTuple):
    """One way to ask items of a kind."""

    target: str
    metrics: tuple[str, ...]
    scores: str = ""
    """Function of `harness.py` that gives the metrics; lm-eval's own where empty."""
    suffix: str = ""
    """Of the task's name."""
    tokens: int = 0
    """The longest reply; 0: the likelihoods of the labels are compared."""
    until: str = "\n\n"


_ALL_LABELS = "{% for place in gold %}{{ labels[place] }}{{ ', ' if not loop.last }}{% endfor %}"
_WAYS = {
    "choice": (
        _Way("{{gold[0]}}", ("acc",)),
        _Way("{{labels[gold[0]]}}", ("acc", "unparsed"), "choice_scores", "_written", 16),
    ),
    # Choices of which several options may be right: the whole set counts.
    "selection": (
        _Way(_ALL_LABELS, ("exact_set",), "likely_selection"),
        _Way(_ALL_LABELS, ("exact_set", "set_f1", "unparsed"), "selection_scores", "_written", 32),
    ),
    "answer": (_Way("<answer>{{answer}}</answer>", ("exact", "cer", "empty"), "answer_scores", tokens=128),),
    "explanation": (_Way(_Function("harness.reference"), ("chrf", "bleu"), tokens=1024, until="</s>"),),
}
_LOWER = ("unparsed", "cer", "empty")
"""Figures of which less is better."""


def _asked(task: dict[str, Any], way: _Way) -> dict[str, Any]:
    """A task as lm-eval reads it."""
    asked = task | {"task": f"{task['task']}{way.suffix}"}
    if way.tokens:
        limits = {"until": [way.until], "max_gen_toks": way.tokens, "do_sample": False}
        asked |= {"output_type": "generate_until", "doc_to_target": way.target, "target_delimiter": ""}
        asked |= {"generation_kwargs": limits}
    else:
        asked |= {"output_type": "multiple_choice", "doc_to_choice": "labels", "doc_to_target": way.target}
        asked |= {"target_delimiter": ""}
    if way.scores:
        asked["process_results"] = _Function(f"harness.{way.scores}")
    own = way.scores or not way.tokens
    asked["metric_list"] = [
        {"metric": name, "aggregation": "mean", "higher_is_better": name not in _LOWER}
        if own
        else {"metric": name}
        for name in way.metrics
    ]
    return asked


def write_tasks(
    name: str,
    version: str,
    kinds: Mapping[str, str],
    release: Path,
    *,
    code_version: str,
    core: Iterable[str],
    sealed: str = "",
) -> None:
    """Write the task files of every harness, after the data files; the split `sealed` can't be scored."""
    files: dict[str, dict[str, dict[str, str]]] = {}
    for config, split, path in data_files(release):
        if split != sealed:
            where = path.relative_to(release).as_posix()
            files.setdefault(config, {}).setdefault(split, {})[where] = file_digest(path)
    kinds = {config: _exported_kind(kind, release, files.get(config, {})) for config, kind in kinds.items()}
    configs = [ConfigFiles(config, kinds[config], splits) for config, splits in files.items()]
    for config in core:
        path = core_file(release, config)
        splits = files[config] | {"test": {path.relative_to(release).as_posix(): file_digest(path)}}
        configs.append(ConfigFiles(f"{config}{CORE}", kinds[config], splits, core=True))
    write_lm_eval(name, version, configs, release)
    write_reading(release / FOLDER / "reading", code_version)
    write_lighteval(release)
    write_inspect(configs, release)


def _exported_kind(kind: str, release: Path, files: Mapping[str, Mapping[str, str]]) -> str:
    """`selection` for a config of choices in which any item has several right options; else the kind."""
    if kind != "choice":
        return kind
    for parts in files.values():
        for path in parts:
            golds = pq.read_table(release / path, columns=["gold"]).column("gold")
            if (pc.max(pc.list_value_length(golds)).as_py() or 0) > 1:
                return "selection"
    return kind


def lm_eval_tasks(name: str, version: str, config: ConfigFiles) -> list[dict[str, Any]]:
    """The tasks of one config, as lm-eval reads them."""
    task: dict[str, Any] = {
        "task": f"{name}_{config.task}",
        "tag": f"{name}{CORE}" if config.core else name,
        "custom_dataset": _Function("harness.load"),
        "test_split": config.test_split,
        "doc_to_text": "{{prompt}}",
        "metadata": {"config": config.name, "version": version, "ability": config.ability},
    }
    if config.shot_split:
        task["fewshot_split"] = config.shot_split
    return [_asked(task, way) for way in _WAYS[config.kind]]


def pins(name: str, version: str, configs: list[ConfigFiles]) -> bytes:
    """`pinned.json`: name, version, kinds and digests."""
    stated = {
        "name": name,
        "version": version,
        "kinds": {config.name: config.kind for config in configs},
        "configs": {config.name: config.files for config in configs},
    }
    return orjson.dumps(stated, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def write_lm_eval(name: str, version: str, configs: list[ConfigFiles], release: Path) -> None:
    """Write `eval/lm_eval/`: a YAML file per task, the loader they call and the digests it checks.

    Tag `<name>` runs them all, `<name>_core` those of the core alone. A choice has two tasks: by likelihood
    of the labels, and `_written` for servers that give no likelihoods.
    """
    folder = release / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "harness.py").write_bytes(HARNESS.read_bytes())
    (folder / "pinned.json").write_bytes(pins(name, version, configs))
    for config in configs:
        for task in lm_eval_tasks(name, version, config):
            text = yaml.dump(task, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)
            (folder / f"{task['task']}.yaml").write_text(text, encoding="utf-8")


def write_lighteval(release: Path) -> None:
    """Write `eval/lighteval/tasks.py`; it reads the same pins and scores with the same functions."""
    folder = release / "eval" / "lighteval"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tasks.py").write_bytes(LIGHTEVAL.read_bytes())


_INSPECT_TASK = '''

@task
def {task}(split: str = "") -> Task:
    """{kind}; the scored split unless another is named: `-T split=dev`."""
    return _task("{name}", split)
'''
"""Inspect finds tasks by reading a file before it runs it, so each stands there word by word."""


def write_inspect(configs: list[ConfigFiles], release: Path) -> None:
    """Write `eval/inspect/tasks.py`: a task a config, with the same pins and scoring functions."""
    folder = release / "eval" / "inspect"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = "".join(
        _INSPECT_TASK.format(name=config.name, task=config.task, kind=config.kind.capitalize())
        for config in configs
    )
    (folder / "tasks.py").write_text(INSPECT.read_text(encoding="utf-8") + tasks, encoding="utf-8")
