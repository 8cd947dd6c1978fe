"""Task files for lm-eval and LightEval, pinned to one release by the digests of its data files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml

HARNESS = Path(__file__).with_name("harness.py")
LIGHTEVAL = Path(__file__).with_name("lighteval_tasks.py")
FOLDER = Path("eval") / "lm_eval"


@dataclass(frozen=True)
class ConfigFiles:
    """What a harness needs to know of one config."""

    name: str
    kind: str
    files: Mapping[str, Mapping[str, str]]
    """Split -> path in the release -> sha256."""

    @property
    def test_split(self) -> str:
        """The split that is scored."""
        return "test" if "test" in self.files else next(iter(self.files))

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


def _metric(name: str, *, higher: bool = True) -> dict[str, Any]:
    return {"metric": name, "aggregation": "mean", "higher_is_better": higher}


def _choice(task: dict[str, Any]) -> list[dict[str, Any]]:
    by_likelihood = task | {
        "output_type": "multiple_choice",
        "doc_to_choice": "labels",
        "doc_to_target": "{{gold[0]}}",
        "target_delimiter": "",
        "metric_list": [_metric("acc")],
    }
    written = task | {
        "task": f"{task['task']}_written",
        "output_type": "generate_until",
        "doc_to_target": "{{labels[gold[0]]}}",
        "target_delimiter": "",
        "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 16, "do_sample": False},
        "process_results": _Function("harness.choice_scores"),
        "metric_list": [_metric("acc"), _metric("unparsed", higher=False)],
    }
    return [by_likelihood, written]


def _answer(task: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        task
        | {
            "output_type": "generate_until",
            "doc_to_target": "<answer>{{answer}}</answer>",
            "target_delimiter": "",
            "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 128, "do_sample": False},
            "process_results": _Function("harness.answer_scores"),
            "metric_list": [_metric("exact"), _metric("cer", higher=False), _metric("empty", higher=False)],
        }
    ]


def _explanation(task: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        task
        | {
            "output_type": "generate_until",
            "doc_to_target": _Function("harness.reference"),
            "target_delimiter": "",
            "generation_kwargs": {"until": ["</s>"], "max_gen_toks": 1024, "do_sample": False},
            "metric_list": [{"metric": "chrf"}, {"metric": "bleu"}],
        }
    ]


_BY_KIND = {"choice": _choice, "answer": _answer, "explanation": _explanation}


def lm_eval_tasks(name: str, version: str, config: ConfigFiles) -> list[dict[str, Any]]:
    """The tasks of one config, as lm-eval reads them."""
    task: dict[str, Any] = {
        "task": f"{name}_{config.name}",
        "tag": name,
        "custom_dataset": _Function("harness.load"),
        "test_split": config.test_split,
        "doc_to_text": "{{prompt}}",
        "metadata": {"config": config.name, "version": version},
    }
    if config.shot_split:
        task["fewshot_split"] = config.shot_split
    return _BY_KIND[config.kind](task)


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

    Tag `<name>` runs them all. A choice has two tasks: by likelihood of the labels, and `_written` for
    servers that give no likelihoods.
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
