"""Samples in the format every_eval_ever, and the aggregates that name their file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mihakk.evaluation.incoming.form import FORMS, Form, Records, of_lines
from mihakk.evaluation.incoming.given import AskedThere, Given
from mihakk.evaluation.incoming.head import Head
from mihakk.machinery.errors import RecordRejected, UsageError

Seen = dict[tuple[Any, ...], dict[str, float]]
"""A sample to its scores: each has a line of its own."""


def _fits(head: Head) -> bool:
    return head.kind == "lines" and {"sample_id", "evaluation", "model_id"} <= head.first.keys()


def _is_aggregate(head: Head) -> bool:
    return head.kind in ("json", "lines") and {"evaluation_results", "model_info"} <= head.first.keys()


def _read(head: Head) -> Records:
    seen: Seen = {}
    return of_lines(head, lambda line, asked: _answer(line, asked, seen))


def _of_aggregate(head: Head) -> Records:
    named = (head.whole.get("detailed_evaluation_results") or {}).get("file_path")
    if not named:
        raise UsageError(f"{head.path} holds figures over whole data sets: give the file of its samples")
    # The path is that of the whole collection; the file lies beside.
    beside = head.path.with_name(Path(str(named)).name)
    return _read(Head(beside))


def _answer(line: dict[str, Any], asked: AskedThere, seen: Seen) -> Iterator[Given]:
    try:
        facts, told = line.get("metadata") or {}, line["input"]
        asked.item, system = str(line["sample_id"]), str(line["model_id"])
        asked.text = str(told.get("raw") or told.get("formatted") or "")
        asked.config = str(line.get("evaluation_name") or "").split(" ")[0]
        asked.content_hash = str(facts.get("content_hash") or "")
        right = [str(one) for one in told.get("reference") or ()]
        asked.options = tuple(map(str, told.get("choices") or ()))
        asked.gold = tuple(place for place, one in enumerate(asked.options) if one in right)
        if not asked.options:
            asked.answers = tuple(right)
        # Of likelihoods that were compared only the label is told that they chose.
        chosen = next((one.get("extracted_value") for one in line.get("answer_attribution") or ()), "")
        replies = [one or chosen or "" for one in (line.get("output") or {}).get("raw") or [""]]
        score = float(line["evaluation"]["score"])
        repeat = int(facts.get("repeat") or 0)
        usage = line.get("token_usage") or {}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RecordRejected("not_a_sample", f"not a sample of every_eval_ever: {error}") from error
    name = str(line.get("evaluation_name") or "score")
    for number, reply in enumerate(replies):
        key = system, asked.item, asked.config, repeat + number, reply
        if key in seen:
            seen[key][name] = score
            continue
        more: dict[str, Any] = {"repeat": repeat + number}
        more |= {"error": str(line["error"])} if line.get("error") else {}
        more |= {
            ours: usage[theirs]
            for ours, theirs in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens"))
            if isinstance(usage.get(theirs), int)
        }
        seen[key] = {name: score}
        yield Given(asked, system, str(reply), more=more, own=seen[key])


FORMS.add("every-eval-ever", Form("samples of every_eval_ever", _fits, _read))
FORMS.add("every-eval-ever-aggregate", Form("an aggregate of every_eval_ever", _is_aggregate, _of_aggregate))
