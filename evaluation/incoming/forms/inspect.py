"""Logs of Inspect: `.eval` archives and `.json` documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mihakk.evaluation.incoming.form import FORMS, Form, Records
from mihakk.evaluation.incoming.given import AskedThere, Given, Refused
from mihakk.evaluation.incoming.head import Head
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.unpacked import DAMAGED, archive_at

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""As Inspect labels choices and names their targets."""
_VALUES: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_STOPS: Final = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
Sample = dict[str, Any]


def _fits(head: Head) -> bool:
    if head.kind == "zip":
        return "header.json" in head.names or "_journal/start.json" in head.names
    return head.kind in ("json", "lines") and {"eval", "status"} <= head.first.keys()


def _read(head: Head) -> Records:
    header, samples = _archive(head) if head.kind == "zip" else (head.whole, head.whole.get("samples") or [])
    told = header["eval"] if isinstance(header.get("eval"), dict) else {}
    system, task = str(told.get("model") or "").removeprefix("mihakk/"), str(told.get("task") or "")
    for number, sample in enumerate(samples):
        asked = AskedThere(f"sample {number}", sample, config=task.rpartition("/")[2])
        try:
            yield _answer(asked, sample, system)
        except RecordRejected as error:
            yield Refused(asked, system, error)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            yield Refused(asked, system, RecordRejected("not_a_sample", f"no sample of Inspect: {error}"))


def _archive(head: Head) -> tuple[Sample, Iterator[Sample]]:
    name = "header.json" if "header.json" in head.names else "_journal/start.json"
    try:
        with archive_at(head.path) as archive:
            header = json.loads(archive.read(name))
    except (ValueError, RecursionError, *DAMAGED) as error:
        raise UsageError(f"{head.path} is a damaged log ({error}): get it again") from error

    def samples() -> Iterator[Sample]:
        with archive_at(head.path) as archive:
            for entry in sorted(n for n in head.names if re.fullmatch(r"samples/.+\.json", n)):
                try:
                    found = json.loads(archive.read(entry))
                except (ValueError, RecursionError, *DAMAGED) as error:
                    found = {"id": entry, "problem": str(error)}
                yield found

    return header, samples()


def _answer(asked: AskedThere, sample: Sample, system: str) -> Given:
    asked.item = str(sample.get("id", ""))
    if "problem" in sample:
        raise RecordRejected("not_json", f"{asked.item}: {sample['problem']}")
    kept = sample.get("attachments") or {}
    asked.text = _text(sample.get("input"), kept)
    targets = sample.get("target")
    said = [str(one) for one in targets] if isinstance(targets, list) else [str(targets or "")]
    if choices := sample.get("choices"):
        asked.options = tuple(_text(one, kept) for one in choices)
        asked.labels = tuple(_LETTERS[: len(choices)])
        right = {_LETTERS.find(letter) for one in said for letter in one.replace(" ", "")}
        # A target in words has letters too: they name no choice.
        asked.gold = tuple(sorted(right)) if right <= set(range(len(choices))) else ()
    else:
        asked.answers = tuple(one for one in said if one)
    output = sample.get("output") or {}
    more: dict[str, Any] = {"repeat": int(sample.get("epoch") or 1) - 1}
    facts = sample.get("metadata") or {}
    if facts.get("content_hash") and facts.get("item"):  # a log of ours names more than its viewer shows
        asked.item, asked.content_hash = str(facts["item"]), str(facts["content_hash"])
        more |= {"repeat": int(facts.get("repeat") or 0), "variant": int(facts.get("wording") or 0)}
    error = sample.get("error") or output.get("error")
    if error:
        more["error"] = str(error.get("message") if isinstance(error, dict) else error)
    first = next(iter(output.get("choices") or ()), None)
    if first is None and not error:
        raise RecordRejected("no_reply", "the sample has no output")
    if first:
        more["finish_reason"] = _STOPS.get(first.get("stop_reason"), first.get("stop_reason") or "")
    usage = output.get("usage") or {}
    more |= {
        name: usage[there]
        for name, there in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens"))
        if isinstance(usage.get(there), int)
    }
    content = (first or {}).get("message", {}).get("content")
    return Given(asked, system, _text(content, kept), more=more, own=_scores(sample))


def _text(content: Any, kept: Mapping[str, Any]) -> str:
    """The words of an input or message; long ones lie among the attachments. Reasoning is left out."""
    if isinstance(content, str):
        name = content.removeprefix("attachment://")
        return str(kept.get(name, content)) if name != content else content
    if not isinstance(content, list):
        return ""
    texts = []
    for part in content:
        if isinstance(part, dict) and part.get("role") in (None, "user"):
            texts.append(_text(part.get("text", part.get("content")), kept))
    return "\n".join(text for text in texts if text)


def _scores(sample: Sample) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, score in (sample.get("scores") or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        for inner, one in value.items() if isinstance(value, dict) else ((name, value),):
            number = _VALUES.get(one) if isinstance(one, str) else one
            if isinstance(number, int | float):
                found[inner] = float(number)
    return found


FORMS.add("inspect", Form("logs of Inspect, .eval and .json", _fits, _read))
