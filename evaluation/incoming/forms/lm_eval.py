"""Samples of lm-eval: `samples_<task>_<time>.jsonl`, of choices by likelihood and of written replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mihakk.evaluation.incoming.form import FORMS, Form, Records, of_lines
from mihakk.evaluation.incoming.given import AskedThere, Given
from mihakk.evaluation.incoming.head import Head
from mihakk.evaluation.reading.run_on import up_to_stop
from mihakk.machinery.errors import RecordRejected

_STEM: Final = ("question", "query", "problem", "ctx", "sentence", "premise", "goal", "input", "prompt")
_NOT_SCORES: Final = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"})
_NAME: Final = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT")
"""Of the file; its folder is the system's name as lm-eval writes it."""


def _fits(head: Head) -> bool:
    return head.kind == "lines" and {"doc", "resps"} <= head.first.keys()


def _read(head: Head) -> Records:
    filters: list[Any] = []
    named = _NAME.match(head.path.name)
    task = named["task"] if named else ""
    system = head.path.parent.name if named else ""

    def answers(line: dict[str, Any], asked: AskedThere) -> Iterator[Given]:
        doc, resps = line.get("doc"), line.get("resps")
        if not isinstance(doc, dict) or "resps" not in line:
            raise RecordRejected("not_a_sample", "not a sample of lm-eval: it needs `doc` and `resps`")
        name = line.get("filter")
        if name is not None and not isinstance(name, str):
            raise RecordRejected("not_a_sample", "`filter` is no name")
        # Of several ways to filter one reply the first one's lines are taken.
        if filters and name != filters[0]:
            return
        found = _reply(resps)
        if "reply" in found:  # some servers never hear of the stop strings that the log names
            found["reply"] = up_to_stop(found["reply"], stop_strings(line.get("arguments")))
        _describe(asked, doc, line, task, "likelihoods" in found)
        yield Given(asked, system, more=found, own=_scores(line))
        filters.append(name)

    return of_lines(head, answers)


def _reply(replies: Any) -> dict[str, Any]:
    try:
        if not isinstance(replies, list):
            raise TypeError("no list")
        if replies and all(isinstance(one[0], list) for one in replies):
            return {"likelihoods": tuple(float(one[0][0]) for one in replies)}
        return {"reply": str(replies[0][0])}
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise RecordRejected("no_reply", "`resps` holds neither likelihoods nor a reply") from error


def _describe(
    asked: AskedThere, doc: Mapping[str, Any], line: Mapping[str, Any], task: str, compared: bool
) -> None:
    """What was asked: the document, and what lm-eval made of it."""
    asked.item = next((str(doc[name]) for name in ("id", "idx") if doc.get(name) is not None), "")
    index = line.get("doc_id")
    asked.index = index if isinstance(index, int) else None
    asked.config = task
    asked.content_hash = str(doc.get("content_hash") or "")
    asked.text = next((text for name in _STEM if isinstance(text := doc.get(name), str)), "")
    arguments = line.get("arguments")
    pairs = list(arguments.values()) if isinstance(arguments, dict) else arguments
    texts = [_pair(one) for one in pairs] if isinstance(pairs, list) else []
    if not asked.text and texts:
        asked.text = texts[0][0]
    asked.compared = tuple(text for _, text in texts) if compared else ()
    target = line.get("target")
    if not compared:
        asked.answers = tuple(map(str, target)) if isinstance(target, list) else (str(target),)
        return
    asked.options = _options(doc, len(texts)) or tuple(text.strip() for text in asked.compared)
    asked.gold = _gold(target, asked.options, asked.compared, line)


def _pair(one: Any) -> tuple[str, str]:
    """Context and continuation of one request, as lm-eval of any version lists them."""
    if isinstance(one, dict):
        one = [one.get("arg_0"), one.get("arg_1")]
    if isinstance(one, list) and len(one) > 1:
        return tuple("" if not isinstance(text, str) else text for text in one[:2])  # type: ignore[return-value]
    return "", ""


def _options(doc: Mapping[str, Any], count: int) -> tuple[str, ...]:
    """The options in the document, if it has as many as were compared."""
    for name in ("options", "choices", "endings"):
        found = doc.get(name)
        found = found.get("text") if isinstance(found, dict) else found
        if isinstance(found, list) and len(found) == count and all(isinstance(one, str) for one in found):
            return tuple(found)
    return ()


def _gold(
    target: Any, options: tuple[str, ...], compared: tuple[str, ...], line: Mapping[str, Any]
) -> tuple[int, ...]:
    """The right options: lm-eval writes an index from 0, or the text; where both fit, its `acc` decides."""
    if isinstance(target, list):
        return tuple(sorted({place for one in target for place in _gold(one, options, compared, {})}))
    said = str(target).strip()
    texts = [
        n for n, pair in enumerate(zip(options, compared or options, strict=False)) if said in _bare(pair)
    ]
    index = int(said) if said.isdecimal() and int(said) < len(options) else None
    if index is None or not texts:
        return tuple(texts[:1]) if index is None else (index,)
    likeliest = _likeliest(line)
    right = line.get("acc")
    return (index,) if right is None or (likeliest == index) == bool(right) else (texts[0],)


def _bare(pair: tuple[str, str]) -> tuple[str, str]:
    return pair[0].strip(), pair[1].strip()


def _likeliest(line: Mapping[str, Any]) -> int | None:
    try:
        chances = [float(one[0][0]) for one in line["resps"]]
    except (LookupError, TypeError, ValueError):
        return None
    return chances.index(max(chances)) if chances else None


def _scores(line: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in line.items()
        if name not in _NOT_SCORES and isinstance(value, int | float) and not name.endswith("_hash")
    }


FORMS.add("lm-eval", Form("samples_*.jsonl of lm-eval", _fits, _read))


def stop_strings(arguments: Any) -> tuple[str, ...]:
    """`until` in the `arguments` of a sample: of lists as older versions write them, or of `gen_args_0`."""
    return tuple(dict.fromkeys(_found(arguments, 0)))


def _found(value: Any, depth: int) -> Iterator[str]:
    if depth > 3 or not isinstance(value, dict | list | tuple):
        return
    if not isinstance(value, dict):
        for one in value:
            yield from _found(one, depth + 1)
        return
    until = value.get("until", ())
    yield from (one for one in ([until] if isinstance(until, str) else until or ()) if isinstance(one, str))
    for inner in value.values():
        yield from _found(inner, depth + 1)
