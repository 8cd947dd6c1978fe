"""Journals written by an older program: each reply in them is found, and no answered call is asked again.

`python -m tests.end_to_end.test_journals_before` writes `tests/fixtures/journals` anew, which only a wanted change of
what is asked makes necessary.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from mihakk.evaluation.judges.asking import judge_cases, judged_of
from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.rows import read_rows
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.running.run import Job, run_system
from mihakk.generators.writing.writer import WriteRequest, chosen, open_writer, prose
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer as Said
from mihakk.machinery.llm.scripted import Call, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.evaluation import Answer
from mihakk.schemas.model import AuditorsConfig, Limits, ModelConfig, Remote, ReplyForm, Sampling
from mihakk.schemas.suite import Suite, System
from mihakk.validators.audit.auditing import audit_items, open_panel
from mihakk.validators.audit.batch import export_batch, import_batch
from tests.evaluation.material import choice as question
from tests.evaluation.material import explained, reply_to, worded
from tests.validators.audit.conftest import answer, choice, explanation

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "journals"
ITEMS = [
    *(choice(number) for number in range(3)),
    choice(5).model_copy(update={"gold": (0, 2)}),
    choice(6, task="external_exam").model_copy(update={"context": "نص القطعة"}),
    answer(0),
    explanation(0),
]
NOBODY = "http://127.0.0.1:9/v1"
"""Where no server listens."""


class Sentence(BaseModel):
    """What a writer is asked for."""

    sentence: str = prose("One sentence.")
    role: str = chosen("One of the roles.")


def model(name: str, url: str, **facts: Any) -> ModelConfig:
    return ModelConfig(
        name=name,
        family=f"family-{name}",
        model=f"model-{name}",
        revision="1",
        serve=Remote(endpoints=(url,)),
        sampling=Sampling(max_tokens=400, seed=7),
        limits=Limits(concurrency=2, timeout_seconds=5, attempts=1),
        **facts,
    )


def auditors(url: str, form: ReplyForm = "scores") -> AuditorsConfig:
    return AuditorsConfig(auditors=(model("one", url), model("two", url, reply=form)))


def audit(url: str, folder: Path) -> Any:
    """Both forms of reply, blind answers, a repaired reply and an unusable one, and everything asked anew."""
    found = []
    with Journal(folder, "audit") as journal, open_panel(auditors(url, "issues"), settings()) as panel:
        for variant in (0, 1):
            found += audit_items(ITEMS, set(), panel, journal, variant=variant, blind=True)
    return [one.model_dump(mode="json") for one in found]


def judge(url: str, folder: Path) -> Any:
    """A rubric that extracts first and one that does not; a case judged twice and one shown the other way round."""
    found = []
    with Journal(folder, "judge") as journal, open_model(model("judge", url)) as judging:
        for name, asked in (("answer", worded()), ("interpretive_depth", explained())):
            one = Asked(asked, "ما الجواب؟", "release", "1", 0, 1)
            case = judged_of(reply_to(asked, "الحيط", revision="r1", prompt="release"), one)
            assert case is not None
            cases = [
                case,
                case._replace(repeat=1),
                case._replace(name=f"{case.name}+order", reply_first=True),
            ]
            found += judge_cases(judging, journal, rubric_named(name), cases, seed=3)
    return [one.model_dump(mode="json") for one in found]


def write(url: str, folder: Path) -> Any:
    """Fields in the language's own script and fields with choices, in two languages."""
    found = []
    with open_writer(model("writer", url), folder) as writer:
        assert writer.model == "writer", "items name the config's model, which a rebuild must not change"
        for language in ("ar", "en"):
            asked = WriteRequest("r1", "sentence", "3", language, "اكتب جملة.", "المثل", ("agent", "patient"))
            found.append(writer.write(asked, Sentence, lambda _: "").model_dump())
    return found


def evaluate(url: str, folder: Path) -> Any:
    """Three kinds of question, repeats and a model that thinks first."""
    facts = {"kind": "arabic", "open": True, "reasoning_tokens": 30}
    system = System.model_validate(model("system", url).model_dump() | facts)
    suite = Suite.model_validate({"name": "s", "title": "S", "parts": [{"release": "demo@0.1.0"}]})
    asked = [
        Asked(one, f"السؤال {one.item}؟", "release", "1", 0, repeats)
        for one, repeats in ((question(), 3), (worded(), 2), (explained(), 1))
    ]
    run_system(Job(suite, asked, system, folder, settings()))
    return [one.model_dump(mode="json") for one in read_rows(folder / "system" / "answers.parquet", Answer)]


def batch(url: str, folder: Path) -> Any:
    """The calls that a file asks; their replies are taken into the journal, then those to repairs."""
    config, calls = auditors(url).auditors[0], []
    with Journal(folder, "audit") as journal:
        for number in range(3):
            target = folder / f"{number}.calls"
            export_batch(ITEMS, config, journal, target, blind=True)
            calls.append([json.loads(line) for line in target.read_text("utf-8").splitlines()])
            target.unlink()
            replies = FIXTURES / "replies" / f"{number}.jsonl"
            if not replies.is_file():
                replies.parent.mkdir(exist_ok=True)
                replies.write_text("".join(json.dumps(batch_reply(one)) + "\n" for one in calls[-1]))
            if calls[-1]:
                import_batch(ITEMS, config, journal, replies, blind=True)
    return calls


def batch_reply(asked: dict[str, Any]) -> dict[str, Any]:
    """A line of a batch run's output."""
    text = script(Call(0, asked["body"], {}, 0.0)).text
    choices = [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    body = {
        "model": asked["body"]["model"],
        "choices": choices,
        "usage": {"prompt_tokens": 5, "completion_tokens": 3},
    }
    return {"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": body}}


def script(call: Call) -> Said:
    """A reply for every purpose."""
    told = call.body.get("response_format", {}).get("json_schema", {})
    messages = call.body["messages"]
    if not told:
        return Said(text=f"أ {len(messages[0]['content']) % 3}")
    fields = told["schema"]["properties"]
    if told["name"] == "audit":
        if "0001" in messages[1]["content"] or "رقم 1 " in messages[1]["content"]:
            return Said(
                text="not JSON"
                if len(messages) == 2
                else '{"issues":[]}'
                if "scores" not in fields
                else sound()
            )
        if "رقم 2 " in messages[1]["content"]:
            return Said(text="{}")
        return Said(text=sound() if "scores" in fields else '{"issues":[]}')
    if told["name"] == "blind":
        one = fields["answer"]
        kind = "A" if "enum" in one else ["A", "C"] if one["type"] == "array" else "مشکل‌ها"
        return Said(text=json.dumps({"answer": kind}))
    if told["name"] == "extraction":
        return Said(text=json.dumps({"extracted": "الحيط"}))
    if told["name"] == "judgement":
        scores = {name: max(one["enum"]) for name, one in fields["scores"]["properties"].items()}
        return Said(text=json.dumps({"reason": "so", "scores": scores}))
    return Said(text=json.dumps({"sentence": "جملة", "role": "agent"}))


def sound() -> str:
    return json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})


PURPOSES: dict[str, Callable[[str, Path], Any]] = {
    "audit": audit,
    "judge": judge,
    "writing": write,
    "evaluation": evaluate,
    "batch": batch,
}


@pytest.mark.parametrize("purpose", PURPOSES)
def test_an_older_journal_answers_everything(purpose: str, tmp_path: Path) -> None:
    expected = json.loads((FIXTURES / "results.json").read_text(encoding="utf-8"))[purpose]
    if purpose != "batch":
        shutil.copytree(FIXTURES / purpose, tmp_path / "kept")
    assert PURPOSES[purpose](NOBODY, tmp_path / "kept") == expected


def main() -> None:
    """Writes the journals and what comes of them."""
    shutil.rmtree(FIXTURES, ignore_errors=True)
    results = {}
    with ScriptedServer(script) as server:
        for name, ask in PURPOSES.items():
            (FIXTURES / name).mkdir(parents=True)
            results[name] = ask(server.url, FIXTURES / name)
    shutil.rmtree(FIXTURES / "batch")
    shutil.rmtree(FIXTURES / "evaluation" / "system")
    text = json.dumps(results, ensure_ascii=False, indent=1, sort_keys=True)
    (FIXTURES / "results.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
