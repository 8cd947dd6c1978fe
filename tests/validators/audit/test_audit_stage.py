"""The stage: who is asked what, in which order, and what a fault of one auditor does to the run."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.ids import content_hash
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.schemas.audit import CRITERIA, Audit
from mihakk.schemas.benchmark import STRICT
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Origin
from mihakk.schemas.model import AuditorsConfig, Price, UnusableLimit
from mihakk.validators.audit.auditing import audit_items, estimate, open_panel, same_family, select, verdicts

Auditors = Callable[..., AuditorsConfig]
Said = Callable[..., str]
Sound = Callable[[Call], Answer]


def test_both_auditors_see_every_item_that_is_not_blocked(
    auditors: Auditors, journal: Journal, items: list[Any], said: Said, sound: Sound
) -> None:
    def harsh(call: Call) -> Answer:
        verse = "completion" in call.body["messages"][0]["content"] or "واژهٔ" in call.said
        return Answer(text=said("question_clarity", "answer_alignment") if verse else said())

    blocked = {items[0].id, items[9].id}
    ticks: list[int] = []
    with ScriptedServer(sound) as one, ScriptedServer(harsh) as two:
        with open_panel(auditors(one.url, two.url), settings()) as panel:
            audits = audit_items(items, blocked, panel, journal, ticks.append)
        asked = [item for item in items if item.id not in blocked]
        assert [(a.item, a.auditor) for a in audits] == [(i.id, n) for i in asked for n in ("one", "two")]
        assert ticks == [1] * len(asked)
        assert len(one.calls) == len(two.calls) == len(asked)
    hard = [a for a in audits if a.scores and a.scores["answer_alignment"] == 0]
    assert [a.item for a in hard] == [i.id for i in asked if i.kind == "answer"]
    assert [issue.criterion for issue in hard[0].issues] == ["question_clarity", "answer_alignment"]
    findings = [Finding(check="CH01", severity="block", subject=i, detail="d") for i in sorted(blocked)]
    found = verdicts(items, findings, audits, STRICT, {item.id for item in items})
    status = {verdict.item: verdict.status for verdict in found}
    assert [status[item.id] for item in items] == [
        "block" if item.id in blocked else "flag" if item.kind == "answer" else "pass" for item in items
    ]


def test_what_the_journal_keeps_beside_a_reply(
    auditors: Auditors, journal: Journal, items: list[Any], sound: Sound
) -> None:
    with ScriptedServer(sound) as server, open_panel(auditors(server.url, server.url), settings()) as panel:
        audits = audit_items(items[:1], set(), panel, journal)
    entry = journal.get(audits[0].reply_key)
    assert entry is not None
    assert entry.meta["content_hash"] == content_hash(items[0])
    assert {"item", "prompt", "prompt_version", "prompt_digest", "schema_digest", "sampling"} <= set(
        entry.meta
    )
    assert (entry.model, entry.revision, entry.latency > 0) == ("model-one", "1", True)


def test_one_auditor_down_stops_the_run_and_passes_nothing(
    auditors: Auditors, journal: Journal, items: list[Any], sound: Sound
) -> None:
    with ScriptedServer(sound) as well, ScriptedServer(lambda _: Answer(status=500)) as down:
        with (
            open_panel(auditors(well.url, down.url), settings()) as panel,
            pytest.raises(ExternalFailure, match=r"two (did not answer|never answered)"),
        ):
            audit_items(items, set(), panel, journal)
        kept = len(journal)
        assert kept == len(well.calls)
    with ScriptedServer(sound) as server:
        with open_panel(auditors(server.url, server.url), settings()) as panel:
            assert len(audit_items(items, set(), panel, journal)) == 2 * len(items)
        assert len(server.calls) == 2 * len(items) - kept


def test_invalid_replies_go_to_people(
    auditors: Auditors, journal: Journal, items: list[Any], said: Said
) -> None:
    cascade = json.dumps(
        {
            "scores": {key: int(key != "text_readability") for key in CRITERIA},
            "issues": [{"criterion": "text_readability", "explanation": "Garbled."}],
        }
    )
    faults = [
        "",
        "I cannot help with that.",
        "```json\n" + said() + "\n```",
        said()[:-5],
        said() + "\nDone.",
        said().replace('"question_clarity":1', '"question_clarity":1,"question_clarity":0'),
        said().replace('"issues"', '"problems"'),
        said().replace("1", '"1"'),
        said().replace("1", "true"),
        "[" + said() + "]",
        said("answer_quality").replace("The answer_quality is not met.", "这个答案不正确。"),
        cascade,
        said(),
    ]

    def faulty(call: Call) -> Answer:
        shown = json.loads(call.body["messages"][1]["content"])
        return Answer(text=faults[int(shown["question"].split()[4])])

    asked = [
        items[0].model_copy(update={"id": f"x{n}", "question": f"ما معنى المثل رقم {n} ؟"}) for n in range(13)
    ]
    with ScriptedServer(faulty) as one, ScriptedServer(lambda _: Answer(text=said())) as two:
        never = {"unusable": UnusableLimit(share=1)}
        with open_panel(auditors(one.url, two.url).model_copy(update=never), settings()) as panel:
            audits = audit_items(asked, set(), panel, journal)
        assert len(one.calls) == 2 * 11 + 2
    first = [audit for audit in audits if audit.auditor == "one"]
    assert [audit.status for audit in first] == ["invalid"] * 11 + ["repaired", "valid"]
    assert all(audit.problem and not audit.scores and audit.total is None for audit in first[:11])
    assert first[11].total == 3
    found = verdicts(asked, [], audits, STRICT, {item.id for item in asked})
    assert [verdict.status for verdict in found] == ["flag"] * 12 + ["pass"]


def test_a_cut_off_reply_is_invalid_even_if_it_parses(
    auditors: Auditors, journal: Journal, items: list[Any], said: Said
) -> None:
    with (
        ScriptedServer(lambda _: Answer(text=said(), finish_reason="length")) as server,
        open_panel(auditors(server.url, server.url), settings()) as panel,
    ):
        audits = audit_items(items[:1], set(), panel, journal)
    assert [audit.status for audit in audits] == ["invalid", "invalid"]
    assert "cut off" in audits[0].problem


def test_an_item_without_both_audits_never_gets_a_verdict(items: list[Any]) -> None:
    with pytest.raises(ValueError, match="not two"):
        verdicts(items, [], [], STRICT, {items[0].id})
    assert {v.status for v in verdicts(items, [], [], STRICT, set())} == {"pass"}
    assert not any(v.audited for v in verdicts(items, [], [], STRICT, set()))


def test_selection_is_stratified_and_depends_on_nothing_else() -> None:
    tasks = {"a": 50, "b": 30, "c": 19, "d": 1}
    many = {f"{task}{n}": task for task, size in tasks.items() for n in range(size)}
    chosen = select(many, 10, seed=3)
    counts = {task: sum(name.startswith(task) for name in chosen) for task in tasks}
    assert sum(counts.values()) == 10
    assert counts["a"] in (4, 5)
    assert counts["d"] == 1
    names = random.Random(1).sample(sorted(many), len(many))
    assert select({name: many[name] for name in names}, 10, seed=3) == chosen
    assert select(many, 10, seed=4) != chosen
    assert len(select(many, 2, seed=3)) == 2
    assert len(select(many, None, seed=3)) == len(select(many, 1000, seed=3)) == 100
    assert select(many, 0, seed=3) == set()


def test_the_estimate_counts_what_is_missing_and_says_how(
    auditors: Auditors, journal: Journal, items: list[Any], sound: Sound
) -> None:
    with ScriptedServer(sound) as server, open_panel(auditors(server.url, server.url), settings()) as panel:
        before = estimate(items, panel, journal)
        audit_items(items[:5], set(), panel, journal)
        after = estimate(items, panel, journal)
    assert (before.calls, before.cached, before.basis) == (2 * len(items), 0, "characters")
    assert (after.calls, after.cached) == (2 * len(items) - 10, 10)
    assert 0 < after.prompt_tokens < before.prompt_tokens


def test_the_estimate_says_what_the_calls_would_cost(
    auditors: Auditors, journal: Journal, items: list[Any]
) -> None:
    config = auditors("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1")
    one, two = config.auditors
    price = Price(prompt=2.0, completion=8.0, cached=0.5, currency="EUR")
    priced = config.model_copy(update={"auditors": (one.model_copy(update={"price": price}), two)})
    with open_panel(priced, settings()) as panel:
        found = estimate(items, panel, journal)
    (cost,) = found.costs
    assert cost.currency == "EUR"
    assert cost.prompts == pytest.approx(2.0 * found.prompt_tokens / 2 / 1e6), "both are asked the same"
    assert cost.most == pytest.approx(cost.prompts + 8.0 * len(items) * one.sampling.max_tokens / 1e6)
    assert found.unpriced == (two.name,)
    assert priced.model_dump() == config.model_dump(), "a new price would audit everything anew"
    assert price.of(1_000_000, 500_000, cached_tokens=400_000) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.5 * 8)


def test_auditors_of_the_family_that_wrote_a_part_are_counted(auditors: Auditors, items: list[Any]) -> None:
    origin = Origin(
        records=("r",), generator="g", generator_version="1", model="m", model_family="Family-TWO"
    )
    mixed = [items[0].model_copy(update={"origin": origin}), *items[1:]]
    config = auditors("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1")
    said = [
        Audit(item=item.id, auditor=name, status="invalid", reply_key="k")
        for item in mixed[:2]
        for name in ("one", "two")
    ]
    wrote = [(item.id, item.origin.model_family) for item in mixed]
    assert same_family(wrote, said, config.auditors) == {"one": 0, "two": 1}
    assert same_family(wrote, said[2:], config.auditors) == {"one": 0, "two": 0}, (
        "it judged nothing of theirs"
    )
    assert same_family(wrote[1:], said, config.auditors) == {"one": 0, "two": 0}


def test_each_auditor_is_asked_in_the_form_its_config_names(
    auditors: Auditors, journal: Journal, items: list[Any], said: Said
) -> None:
    """The same opinion in both forms; the short one asks in other words, so its replies have keys of their own."""
    long = said("answer_alignment")
    short = json.dumps({"issues": json.loads(long)["issues"]})
    with (
        ScriptedServer(lambda _: Answer(text=short)) as one,
        ScriptedServer(lambda _: Answer(text=long)) as two,
    ):
        config = auditors(one.url, two.url)
        first, second = config.auditors
        mixed = config.model_copy(update={"auditors": (first.model_copy(update={"reply": "issues"}), second)})
        with open_panel(mixed, settings()) as panel:
            audits = audit_items(items[:3], set(), panel, journal)
            assert estimate(items[:3], panel, journal).calls == 0
    pairs = list(zip(audits[::2], audits[1::2], strict=True))
    assert [a.status for a in audits] == ["valid"] * 6
    assert all(a.scores == b.scores and a.issues == b.issues for a, b in pairs)
    asked = [server.calls[0].body["response_format"]["json_schema"]["schema"] for server in (one, two)]
    assert [list(schema["properties"]) for schema in asked] == [["issues"], ["scores", "issues"]]
    assert one.calls[0].body["messages"][0]["content"].endswith('{"issues":[]}')


def test_the_second_auditor_does_not_wait_for_the_first(
    auditors: Auditors, journal: Journal, items: list[Any], sound: Sound
) -> None:
    second_asked = threading.Event()
    waited: list[bool] = []

    def waits(call: Call) -> Answer:
        waited.append(second_asked.wait(20))
        return sound(call)

    def asked(call: Call) -> Answer:
        second_asked.set()
        return sound(call)

    with (
        ScriptedServer(waits) as one,
        ScriptedServer(asked) as two,
        open_panel(auditors(one.url, two.url), settings()) as panel,
    ):
        audit_items(items[:1], set(), panel, journal)
    assert waited == [True]
