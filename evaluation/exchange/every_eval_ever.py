"""Records in the format every_eval_ever 0.3.0: an aggregate per system and release, a line per sample."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from mihakk.evaluation.exchange.outputs import answer_rows
from mihakk.evaluation.metrics.metric import known_metric
from mihakk.evaluation.reading import read
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.table.results import Results, Row, grouped
from mihakk.machinery.ids import digest, sha256
from mihakk.schemas.suite import Suite, System

SCHEMA: Final = "0.3.0"


def write_records(
    suite: Suite,
    systems: Sequence[System],
    found: Results,
    asked: Mapping[str, Asked],
    *,
    folder: Path,
    out: Path,
    sealed: frozenset[str],
    day: date,
) -> int:
    """Writes `data/<suite>/<developer>/<model>/<uuid>.json` with its samples beside; how many aggregates.

    Samples of `sealed` items are left out, and those of items that `asked` has no prompt of.
    """
    count = 0
    for system in systems:
        cells = found.figures_of(system.name)
        rows = list(answer_rows(folder, system, sealed)) if cells else []
        for (release,), own in grouped(cells, ("release",)):
            name = str(uuid.UUID(digest([suite.name, system.name, release])[:32], version=4))
            place = Path("data") / suite.name / _plain(system.family) / _plain(system.name)
            (out / place).mkdir(parents=True, exist_ok=True)
            told = _aggregate(suite, system, release, own, day)
            scored = {cell["metric"] for cell in own}
            mine = [
                row
                for row in rows
                if row["release"] == release and row["item"] in asked and not row["variant"]
            ]
            lines = [
                _line(told, row, metric, value, asked[row["item"]])
                for row in mine
                for metric, value in sorted(row["scores"].items())
                if value is not None and metric in scored
            ]
            if lines:
                data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
                (out / place / f"{name}_samples.jsonl").write_bytes(data)
                told["detailed_evaluation_results"] = {
                    "format": "jsonl",
                    "file_path": f"{place.as_posix()}/{name}_samples.jsonl",
                    "hash_algorithm": "sha256",
                    "checksum": sha256(data),
                    "total_rows": len(lines),
                }
            text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
            (out / place / f"{name}.json").write_text(text, encoding="utf-8")
            count += 1
    return count


def _aggregate(suite: Suite, system: System, release: str, cells: Sequence[Row], day: date) -> Row:
    moment = f"{datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp():.0f}"
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{suite.name}/{system.name}/{release.replace('/', '_')}/{moment}",
        "evaluation_timestamp": moment,
        "retrieved_timestamp": moment,
        "source_metadata": {
            "source_name": suite.title,
            "source_type": "evaluation_run",
            "source_organization_name": "Mihakk",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "mihakk", "version": version("mihakk")},
        "model_info": {
            "name": system.name,
            "id": f"{_plain(system.family)}/{_plain(system.name)}",
            "developer": system.family,
            "additional_details": {
                "model": system.model,
                "kind": system.kind,
                "model_availability": "open_weights" if system.open else "closed_weights",
                "deployment_type": "unknown" if system.serve.engine == "openai" else "self_deployed",
                **({"parameters_1e9": str(system.parameters)} if system.parameters else {}),
            },
        },
        "evaluation_results": [_result(system, release, row) for row in cells],
    }


def _result(system: System, release: str, row: Row) -> Row:
    metric = known_metric(row["metric"])
    source: Row = {"dataset_name": f"{release}/{row['config']}"}
    source |= (
        {"source_type": "hf_dataset", "hf_repo": release, "samples_number": row["items"]}
        if "/" in release
        else {"source_type": "other"}
    )
    uncertainty: Row = {"num_samples": row["items"]}
    if row["se"] is not None:
        uncertainty["standard_error"] = {"value": row["se"], "method": "clustered"}
    if row["ci_low"] is not None:
        uncertainty["confidence_interval"] = {
            **{"lower": row["ci_low"], "upper": row["ci_high"]},
            **{"confidence_level": 0.95, "method": "clustered by poem or idiom"},
        }
    config: Row = {
        "metric_id": row["metric"],
        "lower_is_better": bool(metric and not metric.higher_is_better),
    }
    if metric is not None:
        config |= {
            "metric_name": metric.title,
            "evaluation_description": metric.meaning,
            "score_type": "continuous",
        }
        config |= {"min_score": metric.low, "max_score": metric.high}
    return {
        "evaluation_result_id": _result_id(row["config"], row["metric"], row["method"]),
        "evaluation_name": f"{row['config']} {row['metric']} {row['method']}",
        "source_data": source,
        "metric_config": config,
        "score_details": {"score": row["figure"], "uncertainty": uncertainty},
        "generation_config": {
            "generation_args": {
                **{"temperature": system.sampling.temperature, "top_p": system.sampling.top_p},
                "reasoning": system.reasoning_tokens > 0,
            }
        },
    }


def _result_id(config: str, metric: str, method: str) -> str:
    return f"{config}.{metric}.{method}"


def _line(told: Row, row: Row, metric: str, value: float, asked: Asked) -> Row:
    question = asked.question
    known = known_metric(metric)
    best = known.high if known else None
    references = list(question.references)
    facts = {"status": row["status"], "repeat": row["repeat"], "content_hash": row["content_hash"]}
    line: Row = {
        "schema_version": SCHEMA,
        "evaluation_id": told["evaluation_id"],
        "model_id": told["model_info"]["id"],
        "evaluation_name": f"{row['config']} {metric} {row['method']}",
        "evaluation_result_id": _result_id(row["config"], metric, row["method"]),
        "sample_id": row["item"],
        "sample_hash": sha256((asked.whole + "\n".join(references)).encode()),
        "interaction_type": "single_turn",
        "input": {"raw": asked.whole, "reference": references},
        "output": {"raw": [row["reply"]]},
        "answer_attribution": [],
        "evaluation": {"score": float(value), "is_correct": best is not None and value >= best},
        "metadata": {name: str(fact) for name, fact in facts.items()},
    }
    if question.kind == "choice":
        line["input"]["choices"] = list(question.options)
    if row["rule"]:
        found = read(question, row["method"], row["reply"], tuple(row["likelihoods"] or ())).text
        attribution = {"turn_idx": 0, "source": "output.raw", "extracted_value": found or row["reply"]}
        line["answer_attribution"] = [attribution | {"extraction_method": row["rule"], "is_terminal": True}]
    if row["tokens_in"] is not None and row["tokens_out"] is not None:
        tokens = {"input_tokens": row["tokens_in"], "output_tokens": row["tokens_out"]}
        line["token_usage"] = tokens | {"total_tokens": row["tokens_in"] + row["tokens_out"]}
    if row["error"]:
        line["error"] = row["error"]
    return line


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name) or "unknown"
