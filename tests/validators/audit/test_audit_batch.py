"""Calls out and replies in by file come to the same audits as asking a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.schemas.model import AuditorsConfig
from mihakk.validators.audit.auditing import audit_items, open_panel
from mihakk.validators.audit.batch import export_batch, import_batch


def answered(calls: Path, replies: Path, text: Callable[[dict[str, Any]], str], broken: int = 0) -> None:
    """Answers a file of calls as `vllm run-batch` writes it; the first few fail."""
    lines = []
    for n, line in enumerate(calls.read_text().splitlines()):
        call = json.loads(line)
        assert (call["method"], call["url"]) == ("POST", "/v1/chat/completions")
        body = {
            "choices": [
                {"message": {"role": "assistant", "content": text(call["body"])}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }
        response = {"status_code": 500 if n < broken else 200, "request_id": "r", "body": body}
        row = {"id": f"vllm-{n}", "custom_id": call["custom_id"], "response": response, "error": None}
        lines.append(json.dumps(row))
    replies.write_text("\n".join([*lines[::-1], ""]))


def test_the_whole_way_with_repairs_and_failures(
    auditors: Callable[..., AuditorsConfig],
    tmp_path: Path,
    items: list[Any],
    said: Callable[..., str],
) -> None:
    def text(body: dict[str, Any]) -> str:
        first = len(body["messages"]) == 2
        return "```" if first and "رقم 3 " in body["messages"][1]["content"] else said("question_clarity")

    def script(call: Call) -> Answer:
        return Answer(text=text(call.body))

    calls, replies = tmp_path / "calls.jsonl", tmp_path / "replies.jsonl"
    with ScriptedServer(script) as server, Journal(tmp_path / "served", "a") as journal:
        config = auditors(server.url, server.url)
        with open_panel(config, settings()) as panel:
            expected = audit_items(items, set(), panel, journal)
    with Journal(tmp_path / "batched", "a") as journal:
        for auditor in config.auditors:
            assert export_batch(items, auditor, journal, calls) == len(items)
            answered(calls, replies, text, broken=2)
            found = import_batch(items, auditor, journal, replies)
            assert (found.answered, found.failed) == (len(items) - 2, 2)
            assert import_batch(items, auditor, journal, replies).known == len(items) - 2
            assert export_batch(items, auditor, journal, calls) == 3
            answered(calls, replies, text)
            assert import_batch(items, auditor, journal, replies).answered == 3
            while export_batch(items, auditor, journal, calls):
                answered(calls, replies, text)
                import_batch(items, auditor, journal, replies)
        with open_panel(config, settings()) as panel:
            assert audit_items(items, set(), panel, journal) == expected
            assert not any(model.running for model in panel.models)


def test_replies_to_something_else_are_not_taken(
    auditors: Callable[..., AuditorsConfig], tmp_path: Path, items: list[Any], said: Callable[..., str]
) -> None:
    first, second = auditors("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1").auditors
    calls, replies = tmp_path / "calls.jsonl", tmp_path / "replies.jsonl"
    with Journal(tmp_path / "j", "a") as journal:
        export_batch(items, first, journal, calls)
        answered(calls, replies, lambda _: said())
        found = import_batch(items, second, journal, replies)
        assert (found.answered, found.foreign) == (0, len(items))
        assert len(journal) == 0


def test_a_line_that_is_no_batch_output_costs_its_own_call_alone(
    auditors: Callable[..., AuditorsConfig], tmp_path: Path, items: list[Any], said: Callable[..., str]
) -> None:
    config = auditors("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1").auditors[0]
    calls, replies = tmp_path / "calls.jsonl", tmp_path / "replies.jsonl"
    with Journal(tmp_path / "j", "a") as journal:
        export_batch(items, config, journal, calls)
        answered(calls, replies, lambda _: said())
        first, rest = replies.read_bytes().split(b"\n", 1)
        replies.write_bytes(first[:-9] + b"\n" + rest)
        found = import_batch(items, config, journal, replies)
        assert found.answered == len(items) - 1
        assert [(one.record, one.reason) for one in found.rejected] == [("line 1", "not_batch_output")]
        assert found.rejected[0].body.encode() == first[:-9] + b"\n"
        assert export_batch(items, config, journal, calls) == 1


def test_a_file_that_is_no_batch_output(
    auditors: Callable[..., AuditorsConfig], tmp_path: Path, items: list[Any]
) -> None:
    config = auditors("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1").auditors[0]
    with Journal(tmp_path / "j", "a") as journal:
        with pytest.raises(UsageError, match="there is no file"):
            import_batch(items, config, journal, tmp_path / "none.jsonl")
        (tmp_path / "bad.jsonl").write_text('{"custom_id": 5')
        with pytest.raises(UsageError, match="line 1: not a line of batch output"):
            import_batch(items, config, journal, tmp_path / "bad.jsonl")
        with pytest.raises(ExternalFailure, match="can't write"):
            export_batch(items, config, journal, tmp_path / "no" / "such" / "folder.jsonl")
