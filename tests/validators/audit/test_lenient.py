"""Auditors that think aloud, write fences or another language; what an audit costs, and where it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.llm.lenient import unwrapped
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.schemas.audit import CRITERIA
from mihakk.validators.audit.auditing import foreign_language
from tests.foreign_sets import audit_set, two_auditors, write_rows

SOUND = json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})
MAPPING = "question=q,choices=A+B+C,gold=gold"
WORDS = ["قلم", "كتاب", "بيت", "نهر", "جبل", "بحر", "سيف", "ليث", "غيث", "ورد"]
ROWS = [
    {"q": f"ما معنى كلمة {word} في هذا البيت؟", "A": f"معنى {word}", "B": "شيء آخر", "C": "لا شيء", "gold": "ABC"[at % 3]}
    for at, word in enumerate(WORDS)
]  # fmt: skip

AROUND = [
    ("{}", ()),
    ('<think>A {{draft}}: {{"scores": 1}}</think>\n{}', ("reasoning",)),
    ("thoughts the template had opened</think>{}", ("reasoning",)),
    ("<think>never ended, {{so}} it goes on: {}", ("reasoning",)),
    ("[THINK]hm[/THINK]\n```json\n{}\n```", ("reasoning", "fence")),
    ("```\n{}\n```\n", ("fence",)),
    ("Reasoning: the gold {{A}} is right.\n\n{}", ("preamble",)),
    ("Here it is:\n```json\n{}\n```", ("fence", "preamble")),
]


@pytest.mark.parametrize(("around", "taken"), AROUND)
def test_what_stands_around_the_object_is_taken_off_and_named(around: str, taken: tuple[str, ...]) -> None:
    assert unwrapped(around.format(SOUND)) == (SOUND, taken)


@pytest.mark.parametrize(
    "reply", [f"{SOUND} and more", f"{SOUND}\n{SOUND}x", "no object", "<think>cut {", "", "[1]"]
)
def test_a_reply_that_ends_in_no_object_stays_as_it_is(reply: str) -> None:
    assert unwrapped(reply) == (reply, ())


def test_of_two_answers_that_contradict_each_other_none_is_taken() -> None:
    other = json.dumps({"scores": dict.fromkeys(CRITERIA, 0), "issues": []})
    assert unwrapped(f"{other}\nNo, rather: {SOUND}") == (f"{other}\nNo, rather: {SOUND}", ())
    assert unwrapped(f"{SOUND}\nAgain: {SOUND}") == (SOUND, ("preamble",))


@given(st.text(st.sampled_from('{}[]"`<>/think \n\\a1:,'), max_size=80))
def test_whatever_is_taken_off_an_object_is_left_or_all_stays(reply: str) -> None:
    text, taken = unwrapped(reply)
    if taken:
        assert isinstance(json.loads(text), dict)
        assert text in reply
    else:
        assert text in (reply, reply.strip())


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("La réponse marquée est fausse, car le mot ne veut pas dire cela.", "French"),
        ("Die Antwort ist falsch, weil das Wort nicht in den Satz passt.", "German"),
        ("La opción B es la correcta porque el poeta no lo dice.", "Spanish"),
        ("Jawaban yang benar adalah B, bukan A.", "Indonesian"),
        ("یہ جواب غلط ہے کیونکہ اس میں کوئی بات نہیں ہے اور وہ بھی نہیں", "Urdu"),
        ("The marked option is wrong: the word means a river.", ""),
        ("The words «le», «la» and «les» are French articles, so the gold is wrong.", ""),
        ("الجواب خطأ لأن الكلمة لا تعني ذلك في هذا البيت", ""),
        ("أدوات التعريف في السؤال le و la و les، والجواب خطأ", ""),
        ("پاسخ نادرست است، چون این واژه در این بیت معنای دیگری دارد", ""),
        ("Wrong gold.", ""),
        ("", ""),
    ],
)
def test_explanations_in_another_language_are_told(text: str, language: str) -> None:
    assert foreign_language(text) == language


def script(call: Call) -> Answer:
    """The first auditor thinks aloud and writes fences, the second explains one row in French."""
    said = str(call.body["messages"])
    if call.body["model"] == "first":
        return Answer(text=f"<think>let me see</think>\n```json\n{SOUND}\n```")
    if WORDS[0] not in said:
        return Answer(text=SOUND)
    told = "Le mot choisi est une faute et ne va pas dans la phrase."
    scores = dict.fromkeys(CRITERIA, 1) | {"terminology_precision": 0}
    issues = [{"criterion": "terminology_precision", "explanation": told}]
    return Answer(text=json.dumps({"scores": scores, "issues": issues}))


def config(path: Path, url: str, **more: Any) -> str:
    """Two auditors of whom the first is read leniently."""
    name = two_auditors(path, url, **more)
    told = json.loads(path.read_text("utf-8"))
    told["auditors"][0]["reply"] = "lenient"
    told["unusable"] = {"share": 1}
    path.write_text(json.dumps(told), "utf-8")
    return name


def test_lenient_replies_count_with_their_repairs_and_strict_ones_are_refused(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "bench.jsonl", ROWS)
    with ScriptedServer(script) as server:
        lenient = config(tmp_path / "lenient.yaml", server.url)
        audited, found = audit_set(source, MAPPING, tmp_path / "out", auditors=lenient)
        calls = len(server.calls)
        strict = two_auditors(tmp_path / "strict.yaml", server.url)
        told = json.loads(Path(strict).read_text("utf-8")) | {"unusable": {"share": 1}}
        Path(strict).write_text(json.dumps(told), "utf-8")
        _, refused = audit_set(source, MAPPING, tmp_path / "strict", auditors=strict)
    assert calls == 2 * len(ROWS), "nothing was asked twice"
    assert found.auditors == {"first": {"repaired": 10}, "second": {"valid": 10}}
    assert found.reply_notes == {"first": {"reasoning": 10, "fence": 10}, "second": {"in French": 1}}
    assert sum(audit.problem == "explained in French" for audit in audited.audits) == 1
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "fence 10, reasoning 10" in page
    assert "in French 1" in page
    assert refused.auditors["first"] == {"invalid": 10}


PRICE = {"prompt": 1000, "completion": 1000, "currency": "EUR"}


def audit(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["audit", "bench.jsonl", "--map", MAPPING, "--out", "out", *arguments])
    return done.exit_code, " ".join(done.output.split())


def test_an_audit_says_what_it_costs_and_stops_at_its_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "bench.jsonl", ROWS)
    said_first: list[bool] = []

    def answer(call: Call) -> Answer:
        said_first.append(True)
        return script(call)

    with ScriptedServer(answer) as server:
        limits = {"concurrency": 2}
        name = config(
            tmp_path / "a.yaml", server.url, price=PRICE, limits=limits, sampling={"max_tokens": 200}
        )
        code, said = audit("--auditors", name, "--max-cost", "9")
        assert code == 75, said
        assert "20 model calls to make, 0 answered by the journal" in said
        assert "length" in said
        assert "EUR" in said
        assert "(10.0 s a call, assumed)" in said
        assert "Stops before 9 is passed in this month; that may be before the end" in said
        assert "could pass `budget.cost` (9 a month, of which" in said
        asked = len(said_first)
        assert 2 <= asked < 20
        most = (
            sum(len(str(call.body["messages"])) // 4 + len(SOUND) // 3 for call in server.calls) * 1000 / 1e6
        )
        assert most < 9
        code, said = audit("--auditors", name, "--max-cost", "9")
        assert code == 75, said
        assert "Stops before 9 is passed in this month, of which" in said
        assert len(said_first) == asked, "the same command, and another folder, get no second budget"
        code, said = audit("--auditors", name, "--max-cost", "9", "--out", "elsewhere")
        assert (code, len(said_first)) == (75, asked)
        code, said = audit("--auditors", name)
        assert code == 0, said
        assert len(said_first) == 20, "answered calls are kept"
    unpriced = config(tmp_path / "b.yaml", "http://127.0.0.1:9/v1")
    code, said = audit("--auditors", unpriced, "--max-cost", "9")
    assert code == 2
    assert "give first a `price`" in said


@pytest.mark.parametrize("signals", [1, 2])
def test_sigterm_ends_an_audit_with_its_code_and_without_a_traceback(tmp_path: Path, signals: int) -> None:
    source = write_rows(tmp_path / "bench.jsonl", ROWS)
    with ScriptedServer(lambda _: Answer(text=SOUND, delay=90)) as server:
        name = two_auditors(tmp_path / "a.yaml", server.url)
        command = [
            sys.executable,
            "-m",
            "mihakk.flows.cli",
            "audit",
            str(source),
            "--map",
            MAPPING,
            "--auditors",
            name,
            "--out",
            "out",
        ]
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        ) as run:
            until = time.monotonic() + 300
            while not server.calls and time.monotonic() < until:
                time.sleep(0.05)
            for _ in range(signals):
                run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=60)  # no call that was sent is waited for
    assert run.returncode == 143
    assert "Traceback" not in out + err
    assert "ignored" not in err
    assert "stopped by SIGTERM" in err
