"""The audit by files, as a person does it: an outside benchmark whose auditors no server ever serves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.schemas.audit import CRITERIA

SOUND = json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})


def call(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


@pytest.fixture
def exam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    rows = [
        {
            "q": f"ما عاصمة البلد رقم {n} في القائمة؟",
            "A": place,
            "B": f"قرية قرب {place}",
            "gold": "AB"[n % 2],
        }
        for n, place in enumerate(["بغداد", "دمشق", "تونس", "الرباط"])
    ]
    path = tmp_path / "exam.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    serve = {"engine": "openai", "endpoints": ["http://127.0.0.1:9/v1"], "api_key_env": "NO_SUCH_KEY"}
    judges = [{"name": n, "family": n, "model": f"org/{n}", "serve": serve} for n in ("one", "two")]
    (tmp_path / "auditors.yaml").write_text(json.dumps({"auditors": judges}), encoding="utf-8")
    return path


def test_calls_out_replies_in_and_nobody_is_asked(
    exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, files, judges = str(tmp_path / "out"), tmp_path / "calls", str(tmp_path / "auditors.yaml")
    audit = ["audit", str(exam), "--map", "question=q,choices=A+B,gold=gold", "--out", out]
    assert "run `mihakk audit" in call("batch", "export", str(tmp_path), str(files), code=2)
    call(*audit, "--rules-only")
    said = call("batch", "export", out, str(files), "--auditors", judges)
    assert "one: 4 calls" in said
    assert "--model org/two" in said
    missing = call("batch", "import", out, str(files), "--auditors", judges, code=2)
    assert "name them one.replies.jsonl, two.replies.jsonl" in missing
    for name in ("one", "two"):
        lines = (files / f"{name}.calls.jsonl").read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["body"]["model"] for line in lines} == {f"org/{name}"}
        choice = {"message": {"role": "assistant", "content": SOUND}, "finish_reason": "stop"}
        answers = [
            {
                "custom_id": json.loads(line)["custom_id"],
                "response": {"status_code": 200, "body": {"choices": [choice]}},
            }
            for line in lines
        ]
        text = "".join(json.dumps(answer) + "\n" for answer in answers)
        (files / f"{name}.replies.jsonl").write_text(text, encoding="utf-8")
    assert "two: 4 taken, 0 known already" in call("batch", "import", out, str(files), "--auditors", judges)
    assert "one: no call is missing" in call("batch", "export", out, str(files), "--auditors", judges)
    monkeypatch.setenv("NO_SUCH_KEY", "x")
    found = call(*audit, "--auditors", judges)
    assert "every reply usable" in found
