"""The audit by batch files: writes calls and reads replies, for `vllm run-batch` and hosted batch APIs.

For clusters without a lasting server. Calls go out in the OpenAI batch format, one JSON line each, with the
journal key as `custom_id`; replies come back into the journal, where the audit stage finds them. A reply that
needs a repair request is asked for by exporting again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from mihakk.machinery.errors import ExternalFailure, RecordRejected, UsageError
from mihakk.machinery.llm.budget import Meter
from mihakk.machinery.llm.client import Broken, completion
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import Model, api_key, open_model
from mihakk.machinery.llm.redaction import Redaction
from mihakk.machinery.llm.spending import Ledger
from mihakk.machinery.llm.structured import Request
from mihakk.schemas.item import Item
from mihakk.schemas.model import ModelConfig, Remote
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.validators.audit.auditing import all_requests


class Imported(Record):
    """What a file of replies came to."""

    answered: int = 0
    """Replies taken into the journal."""
    known: int = 0
    """Replies the journal already had."""
    foreign: int = 0
    """Replies to calls that these items and this auditor don't need: another prompt, model or set."""
    failed: int = 0
    """Calls the server could not answer; they go out again with the next export."""
    rejected: tuple[Rejection, ...] = ()
    """Lines that are no batch output, with the reason; their calls go out again too."""


def export_batch(
    items: Sequence[Item], config: ModelConfig, journal: Journal, target: Path, *, blind: bool = False
) -> int:
    """Writes the calls one auditor still needs; returns how many. The file appears whole or not at all.

    Raises:
        ExternalFailure: The file can't be written.
    """
    half = target.with_name(f"{target.name}.part")
    count = 0
    try:
        with open_model(_keyless(config)) as model, half.open("wb") as out:
            for key, _, body in _outstanding(items, model, journal, blind=blind):
                line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
                out.write(orjson.dumps(line) + b"\n")
                count += 1
        half.replace(target)
    except OSError as error:
        raise ExternalFailure(f"can't write {target}: {error}") from error
    return count


def import_batch(
    items: Sequence[Item],
    config: ModelConfig,
    journal: Journal,
    source: Path,
    *,
    blind: bool = False,
    spending: Path | None = None,
) -> Imported:
    """Takes a file of replies into the journal, and what they cost into the ledger in the folder `spending`.

    Raises:
        UsageError: The file is missing, or no line of it is batch output.
        ExternalFailure: Another model answered than the config names; lines before that one are kept.
    """
    if not source.is_file():
        raise UsageError(f"there is no file {source}: name the output of the batch run")
    counts: Counter[str] = Counter()
    redaction = Redaction(api_key(config))
    rejected: list[Rejection] = []
    keyless = _keyless(config)
    with (
        Ledger(spending) as ledger,
        open_model(keyless, meter=Meter(keyless, ledger)) as model,
        source.open("rb") as lines,
    ):
        wanted = {key: asked for key, asked, _ in _outstanding(items, model, journal, blind=blind)}
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                key, body = _reply(line)
            except RecordRejected as error:
                detail, text = redaction.clean_all(error.detail, line.decode("utf-8", "replace"))
                place = f"line {number}"
                rejected.append(
                    Rejection(record=place, source=source.name, reason=error.reason, detail=detail, body=text)
                )
                continue
            if key in wanted and body is not None:
                try:
                    reply = completion(body, 0.0).without_key(redaction)
                except Broken:
                    counts["failed"] += 1
                    continue
                model.accept(key, reply, wanted.pop(key), journal)
                counts["answered"] += 1
            elif body is None:
                counts["failed"] += 1
            else:
                counts["known" if len(key) == 64 and key in journal else "foreign"] += 1
    if rejected and not counts:
        raise UsageError(f"{source}, {rejected[0].record}: {rejected[0].detail}; nor is any line below")
    return Imported(**counts, rejected=tuple(rejected))


def _keyless(config: ModelConfig) -> ModelConfig:
    """The model without its key: nothing is asked here, and whoever writes the files need not have one."""
    if not isinstance(config.serve, Remote):
        return config
    return config.model_copy(update={"serve": config.serve.model_copy(update={"api_key_env": ""})})


def _outstanding(
    items: Sequence[Item], model: Model, journal: Journal, *, blind: bool
) -> Iterator[tuple[str, Request[Any], dict[str, Any]]]:
    """Key, request and payload of every call still needed, each once."""
    seen = set()
    for asked in all_requests(items, model, blind=blind):
        found = model.outstanding(asked, journal)
        if found is not None and found[0] not in seen:
            seen.add(found[0])
            yield found[0], asked, found[1]


def _reply(line: bytes) -> tuple[str, bytes | None]:
    """Journal key and response body of one line; no body when the call failed."""
    try:
        row = orjson.loads(line)
        key = str(row["custom_id"])
        response = row.get("response") or {}
        body = response.get("body")
        good = int(response.get("status_code") or 200) == 200 and isinstance(body, dict)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordRejected("not_batch_output", f"not a line of batch output ({error})") from error
    return key, orjson.dumps(body) if good and not row.get("error") else None
