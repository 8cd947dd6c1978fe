"""Runs of HELM: `scenario_state.json`, `display_predictions.json`, `per_instance_stats.json`.

A run's folder has all three: the first that is there gives the answers, the last the scores beside.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mihakk.evaluation.incoming.form import FORMS, Form, Records
from mihakk.evaluation.incoming.given import NOTHING, AskedThere, Given, Refused
from mihakk.evaluation.incoming.head import Head
from mihakk.machinery.errors import RecordRejected

_SCORES: Final = (
    *("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match"),
    *("f1_score", "rouge_l", "bleu_1", "bleu_4"),
)
_RIGHT: Final = ("quasi_exact_match", "exact_match")
"""Scores that say whether an answer was right."""
Object = dict[str, Any]
Key = tuple[str, int]
"""An instance, and the trial."""


def _is_state(head: Head) -> bool:
    return head.kind in ("json", "lines") and "request_states" in head.first


def _is_shown(head: Head) -> bool:
    return head.is_list and {"instance_id", "predicted_text"} <= head.first.keys()


def _is_stats(head: Head) -> bool:
    return head.is_list and {"instance_id", "stats"} <= head.first.keys() and not _is_shown(head)


def _state(head: Head) -> Records:
    run = head.whole
    system = str((run.get("adapter_spec") or {}).get("model") or "") or _system(head.path)
    scores = _stats(head.path.with_name("per_instance_stats.json"))
    separate: dict[Key, list[tuple[AskedThere, Object]]] = defaultdict(list)
    for number, state in enumerate(run["request_states"]):
        asked = AskedThere(f"request {number}", state)
        try:
            _describe(asked, state["instance"], state.get("output_mapping"))
            key = asked.item, int(state.get("train_trial_index") or 0)
            _plain(state)
            if state.get("reference_index") is not None:
                separate[key].append((asked, state))
                continue
            said = state["result"]["completions"][0]["text"]
        except RecordRejected as error:
            yield Refused(asked, system, error)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            yield Refused(asked, system, RecordRejected("no_reply", f"no {error} in the request's state"))
        else:
            yield Given(asked, system, str(said), more={"repeat": key[1]}, own=scores.get(key, NOTHING))
    for key, states in separate.items():
        yield _by_likelihood(key, states, system, scores.get(key, NOTHING))


def _by_likelihood(
    key: Key, states: list[tuple[AskedThere, Object]], system: str, own: Mapping[str, float]
) -> Given | Refused:
    """One answer from the requests that each asked for the likelihood of one option."""
    asked = states[0][0]
    chances: dict[int, float] = {}
    for _, state in states:
        if state.get("request_mode") in (None, "original"):
            completions = (state.get("result") or {}).get("completions") or [{}]
            if isinstance(chance := completions[0].get("logprob"), int | float):
                chances[state["reference_index"]] = float(chance)
    if sorted(chances) != list(range(len(asked.options))):
        detail = f"{len(chances)} likelihoods for {len(asked.options)} options of {key[0]}"
        return Refused(asked, system, RecordRejected("no_reply", detail))
    found = tuple(chances[place] for place in sorted(chances))
    return Given(asked, system, likelihoods=found, more={"repeat": key[1]}, own=own)


def _shown(head: Head) -> Records:
    def read(row: Object) -> dict[str, Any]:
        own = {name: float(value) for name, value in row["stats"].items() if name in _SCORES}
        mapped = row.get("mapped_output")
        # The option's own words: labels are known from the mapping alone, which this file has not.
        return {"reply": str(row["predicted_text"] if mapped is None else mapped), "own": own}

    return _each(head, "prediction", "prediction", read)


def _right(head: Head) -> Records:
    def read(row: Object) -> dict[str, Any]:
        own = _scores(row)
        found = next((own[name] for name in _RIGHT if name in own), None)
        if found not in (0.0, 1.0):
            raise RecordRejected("no_reply", f"none of its statistics says right or wrong ({_RIGHT[1]})")
        return {"correct": found == 1, "own": own}

    return _each(head, "instance", "statistics", read)


def _each(head: Head, name: str, part: str, read: Callable[[Object], dict[str, Any]]) -> Records:
    """What `read` says of each object of a file, described by the run's instances where these lie near."""
    system = _system(head.path)
    known = _instances(head.path)
    for number, row in enumerate(_objects(head.document)):
        asked = AskedThere(f"{name} {number}", row, item=str(row.get("instance_id")))
        try:
            _plain(row)
            if asked.item in known:
                _describe(asked, known[asked.item], None)
            said = read(row) | {"more": {"repeat": int(row.get("train_trial_index") or 0)}}
        except RecordRejected as error:
            yield Refused(asked, system, error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Refused(asked, system, RecordRejected("not_a_sample", f"no {error} in the {part}"))
        else:
            yield Given(asked, system, **said)


def _describe(asked: AskedThere, instance: Mapping[str, Any], mapping: Mapping[str, str] | None) -> None:
    asked.item = str(instance["id"])
    asked.text = str(instance["input"]["text"])
    references = instance.get("references") or []
    texts = [str(one["output"]["text"]) for one in references]
    right = [place for place, one in enumerate(references) if "correct" in (one.get("tags") or ())]
    if mapping:
        asked.labels, asked.options = tuple(mapping), tuple(map(str, mapping.values()))
        asked.gold = tuple(
            place for place, one in enumerate(asked.options) if one in {texts[n] for n in right}
        )
    elif len(right) < len(texts):
        asked.options, asked.gold = tuple(texts), tuple(right)
    else:
        asked.answers = tuple(texts)


def _plain(row: Mapping[str, Any]) -> None:
    if row.get("perturbation") or (row.get("instance") or {}).get("perturbation"):
        raise RecordRejected("perturbed", "asked in altered words (HELM's perturbation), not as it stands")


def _scores(row: Mapping[str, Any]) -> dict[str, float]:
    return {
        one["name"]["name"]: float(one["mean"])
        for one in row["stats"]
        if one["name"]["name"] in _SCORES and isinstance(one.get("mean"), int | float)
    }


def _stats(path: Path) -> dict[Key, dict[str, float]]:
    return {
        (str(row.get("instance_id")), int(row.get("train_trial_index") or 0)): _scores(row)
        for row in _beside(path)
        if not row.get("perturbation")
    }


def _instances(path: Path) -> dict[str, Object]:
    """The run's instances, from whichever file beside has them."""
    rows: list[Object] = list(_beside(path.with_name("instances.json")))
    if not rows:
        states = path.with_name("scenario_state.json")
        rows = [one["instance"] for one in _document(states).get("request_states", ())]
    return {str(row.get("id")): row for row in rows}


def _beside(path: Path) -> Iterator[Object]:
    found = _document(path)
    return iter(found if isinstance(found, list) else ())


def _objects(rows: list[Any]) -> Iterator[Object]:
    """What is no object lacks everything that is looked for."""
    return (row if isinstance(row, dict) else {} for row in rows)


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}


def _system(path: Path) -> str:
    """The system: of the run's specification, or of its folder's name (`...,model=openai_gpt2`)."""
    spec = _document(path.with_name("run_spec.json"))
    if found := (spec.get("adapter_spec") or {}).get("model"):
        return str(found)
    return next(
        (
            part[6:]
            for part in path.absolute().parent.name.replace(":", ",").split(",")
            if part[:6] == "model="
        ),
        "",
    )


FORMS.add("helm", Form("scenario_state.json of HELM", _is_state, _state))
FORMS.add("helm-predictions", Form("display_predictions.json of HELM", _is_shown, _shown, rank=1))
FORMS.add("helm-instances", Form("per_instance_stats.json of HELM", _is_stats, _right, rank=2))
