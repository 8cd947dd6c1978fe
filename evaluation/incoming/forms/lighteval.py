"""Details of LightEval: a parquet file a task, of version .10 on (`doc`, `model_response`) and before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mihakk.evaluation.incoming.form import FORMS, Form, Records
from mihakk.evaluation.incoming.given import AskedThere, Given, Refused
from mihakk.evaluation.incoming.head import Head
from mihakk.machinery.errors import RecordRejected
from mihakk.validators.external.cells import listed

_NAME: Final = re.compile(r"details_(?P<task>.+?)_\d{4}-\d\d-\d\dT")
Row = dict[str, Any]


def _fits(head: Head) -> bool:
    if head.kind != "parquet":
        return False
    return {"doc", "model_response"} <= head.names or {"full_prompt", "predictions", "metrics"} <= head.names


def _read(head: Head) -> Records:
    import pyarrow.parquet as pq

    from mihakk.machinery.parquet import readable

    named = _NAME.match(head.path.name)
    task = named["task"] if named else ""
    system = _system(head) if named else ""
    with readable(head.path), pq.ParquetFile(head.path) as file:
        number = 0
        for batch in file.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                asked = AskedThere(f"row {number}", row, index=number, config=task)
                number += 1
                try:
                    yield from _answers(asked, row, system)
                except RecordRejected as error:
                    yield Refused(asked, system, error)
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    problem = RecordRejected("not_a_sample", f"no details of LightEval: {error}")
                    yield Refused(asked, system, problem)


def _system(head: Head) -> str:
    """Name of the system: LightEval writes details/OWNER/MODEL/TIME/details_TASK_TIME.parquet."""
    parents = [one.name for one in head.path.parents]
    if re.match(r"\d{4}-\d\d-\d\dT", parents[0]):
        parents = parents[1:]
    return parents[0]


def _answers(asked: AskedThere, row: Row, system: str) -> Iterator[Given]:
    new = isinstance(row.get("doc"), dict)
    doc = row["doc"] if new else _as_doc(row)
    said = row.get("model_response") if new else _as_response(row)
    if not isinstance(said, dict):
        raise RecordRejected("not_a_sample", "`model_response` holds nothing")
    asked.item = str(doc.get("id") or "")
    asked.text = str(doc.get("query") or "")
    choices = tuple(str(one).strip() for one in doc.get("choices") or ())
    gold = doc.get("gold_index")
    right = tuple(one for one in (gold if isinstance(gold, list) else [gold]) if isinstance(one, int))
    own = {
        name: float(value)
        for name, value in (row.get("metric" if new else "metrics") or {}).items()
        if isinstance(value, int | float)
    }
    chances = [float(one) for one in said.get("logprobs") or () if isinstance(one, int | float)]
    if chances and len(chances) == len(choices) > 1:
        asked.options, asked.gold, asked.compared = choices, right, choices
        yield Given(asked, system, likelihoods=tuple(chances), own=own)
        return
    texts = said.get("text_post_processed") or said.get("text") or ()
    if not texts:
        raise RecordRejected("no_reply", "it holds neither a reply nor a likelihood for each choice")
    if len(choices) > 1:
        asked.options, asked.gold = choices, right
    else:
        asked.answers = tuple(choices[place] for place in right if place < len(choices))
    for repeat, text in enumerate(texts):
        yield Given(asked, system, str(text), more={"repeat": repeat}, own=own if not repeat else {})


def _as_doc(row: Mapping[str, Any]) -> Row:
    """The columns of older versions as `doc`; lists may be written as text there."""
    gold = row.get("gold_index", row.get("gold"))
    found = listed(gold) if isinstance(gold, str) else gold
    choices = listed(row.get("choices")) or listed(row.get("gold")) or []
    if isinstance(found, list) and not all(isinstance(one, int) for one in found):
        found = [choices.index(one) for one in found if one in choices]
    return {
        "id": row.get("example_id") or "",
        "query": row.get("example") or row.get("full_prompt") or "",
        "choices": choices,
        "gold_index": found,
    }


def _as_response(row: Mapping[str, Any]) -> Row:
    """The predictions of older versions: a likelihood, or `[likelihood, is greedy]`, a choice; or texts."""
    given = listed(row.get("predictions")) or []
    firsts = [one[0] if isinstance(one, list | tuple) and one else one for one in given]
    if firsts and all(isinstance(one, int | float) for one in firsts):
        return {"logprobs": firsts}
    return {"text": [str(one) for one in firsts]}


FORMS.add("lighteval", Form("details of LightEval, parquet", _fits, _read))
