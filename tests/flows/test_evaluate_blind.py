"""`mihakk evaluate submit | score` over a real blind release: checked in public, scored where the golds lie."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner, Result

from mihakk.evaluation.blind.keys import private_key
from mihakk.evaluation.blind.submission import read_submission, sign_submission
from mihakk.evaluation.questions import questions_of_release
from mihakk.flows.cli import app
from mihakk.generators.abilities import ability_of
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.settings import ROOT, settings
from mihakk.pipeline.blind_scoring import close_season, open_board, score_files, score_inbox
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.schemas.blind import RANKED
from mihakk.schemas.item import Item
from tests.evaluation.test_blind_board import recounted
from tests.prefect_server import PrefectServer
from tests.releases.release_material import release_arguments
from tests.releases.test_blind_attack import items as labelled
from tests.reports.leaderboard.material import SKILL, SYSTEMS, answered, on_disk, suite

RUNNER = CliRunner(env={"COLUMNS": "200"})
SECRET = "a secret of enough characters"
TODAY = datetime.now(UTC).date()
CARD = {
    **{
        "board": "spring",
        "team": "alpha",
        "model": "jais-2-8b",
        "revision": "2026-01-01",
        "release": "touchstone",
    },
    **{"version": "0.1.0", "open": True, "kind": "arabic", "contact": "alpha@example.org"},
}


def items() -> tuple[Item, ...]:
    """Labels of couplets that no program computes, as those of metres are not ranked."""
    return tuple(
        item.model_copy(update={"task": "genre_choice"}) if item.task == "metre_choice" else item
        for item in labelled()
    )


def call(*arguments: str | Path) -> Result:
    return RUNNER.invoke(app, ["evaluate", *map(str, arguments)])


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> AssembledRelease:
    """A blind release of Hafez: a label of a couplet is a skill, the choice of its continuation is recall."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIHAKK_BLIND_KEY", SECRET)
        settings.cache_clear()
        folder = tmp_path_factory.mktemp("blind") / "release"
        made = assemble(
            folder=folder, **release_arguments(items(), blind="repository", submit_to="board@example.org")
        )
    settings.cache_clear()
    return made


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", SECRET)
    settings.cache_clear()


def keyed(folder: Path, *teams: str) -> Path:
    """A store in which the teams' keys are registered, made by the commands; the keys lie beside it."""
    for team in teams or ("alpha", "beta", "gamma"):
        key = folder / f"{team}.key"
        assert call("team", "key", key).exit_code == 0
        done = call("team", "register", team, f"{key}.pub", "--store", folder / "private")
        assert done.exit_code == 0, done.output
    return folder / "private"


def public_rows(release: AssembledRelease) -> list[dict[str, Any]]:
    return [
        row
        for path in sorted(release.folder.glob("*/test-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def golds(release: AssembledRelease) -> dict[str, dict[str, Any]]:
    assert release.answers is not None
    (path,) = release.answers.folder.glob("answers/*.parquet")
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def replies(path: Path, release: AssembledRelease, every: int) -> Path:
    """A team's own file: right answers but for each so-many-th question."""
    answers, lines = golds(release), []
    for number, row in enumerate(public_rows(release)):
        gold = (answers[row["id"]]["gold"] or [0])[0]
        place = gold if number % every else gold - 1
        said = answers[row["id"]]["answer"] if number % every else "نمی‌دانم"
        reply = row["labels"][place] if row["kind"] == "choice" else f"<answer>{said}</answer>"
        lines.append(json.dumps({"item": row["id"], "reply": reply}, ensure_ascii=False))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def submitted(own: Path, card: Path, release: AssembledRelease, to: Path, key: Path) -> Result:
    arguments = ("--card", card, "--release", release.folder, "--to", to, "--key", key)
    return call("submit", own, *arguments)


def carded(folder: Path, **changes: Any) -> Path:
    path = folder / "card.yaml"
    path.write_text(yaml.safe_dump(CARD | changes), encoding="utf-8")
    return path


def ruled(folder: Path, release: AssembledRelease, **changes: Any) -> Path:
    rules = {
        **{"name": "spring", "title": "Spring", "release": str(release.folder), "teams": ["alpha", "beta"]},
        **{"opens": str(TODAY - timedelta(days=1)), "closes": str(TODAY + timedelta(days=7))},
        **{"gain": 0.5, "slices": ["task"]},
    }
    path = folder / "board.yaml"
    path.write_text(yaml.safe_dump(rules | changes), encoding="utf-8")
    return path


def test_from_a_teams_file_to_the_public_board_without_a_network(
    release: AssembledRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replies(tmp_path / "own.jsonl", release, 4)
    monkeypatch.delenv("MIHAKK_BLIND_KEY")  # a team has no secret
    store = keyed(tmp_path)
    done = submitted(own, carded(tmp_path), release, tmp_path / "out", tmp_path / "alpha.key")
    assert done.exit_code == 0, done.output
    ranked = sum(
        row["task"] != "continuation_choice" and row["kind"] != "explanation" for row in public_rows(release)
    )
    assert f"{ranked} answers, as many as there are ranked items" in done.stdout
    assert "answers to items that are not ranked are left out" in done.stdout
    (sent,) = (tmp_path / "out").iterdir()
    assert sent.name.startswith("alpha--jais-2-8b--")

    monkeypatch.setenv("MIHAKK_BLIND_KEY", SECRET)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("scoring used the network"))
    rules = ruled(tmp_path, release)
    scored = call(
        "score", sent, "--board", rules, "--store", tmp_path / "private", "--public", tmp_path / "public"
    )
    assert scored.exit_code == 0, scored.output
    assert re.search(r": shown, \d\.\d{3}\n", scored.stdout)
    board = json.loads((tmp_path / "public" / "board.json").read_bytes())
    (row,) = board["entries"]
    assert row["low"] < 0.75 < row["high"]
    assert (row["team"], "rank_low" in row) == ("alpha", False)
    again = call(
        "score", sent, "--board", rules, "--store", tmp_path / "private", "--public", tmp_path / "public"
    )
    assert again.exit_code == 2
    assert f"and told {row['figure']}: a signed file counts once" in again.output.replace("\n", " ")
    anew = call("team", "sign", sent, "--key", tmp_path / "alpha.key")
    assert anew.exit_code == 0, anew.output
    same = call("score", sent, "--board", rules, "--store", store, "--public", tmp_path / "public")
    assert f": known, {row['figure']:.3f}" in same.stdout
    log = (tmp_path / "public" / "log.jsonl").read_bytes()
    assert log == (store / "spring" / "log.jsonl").read_bytes()
    recounted(tmp_path / "public" / "log.jsonl")

    published = "".join(path.read_text("utf-8") for path in (tmp_path / "public").rglob("*"))
    answers = golds(release)
    words = set(re.findall(r"[\w-]+", published))
    told = words & {*answers, *(one["group"] for one in answers.values())}
    assert not told
    assert "alpha@example.org" not in published
    assert not (tmp_path / "private" / "public").exists()


def test_the_card_says_how_and_where_to_submit(release: AssembledRelease) -> None:
    card = (release.folder / "README.md").read_text("utf-8")
    assert "mihakk evaluate submit REPLIES.jsonl --card CARD.yaml --release touchstone@0.1.0 --to ." in card
    assert "to be sent to board@example.org" in card
    assert "Send predictions" not in card


def test_encrypted_answers_are_opened_with_the_identity_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyrage = pytest.importorskip("pyrage")
    identity = pyrage.x25519.Identity.generate()
    made = assemble(
        folder=tmp_path / "release",
        **release_arguments(items()[-90:], blind="age", answers_recipient=str(identity.to_public())),
    )
    place = (
        "--board",
        ruled(tmp_path, made),
        "--store",
        tmp_path / "private",
        "--public",
        tmp_path / "public",
    )
    refused = call("score", tmp_path / "none.jsonl", *place)
    assert refused.exit_code == 2
    assert "can't be opened with this key" in refused.output
    (tmp_path / "identity").write_text(f"# created\n{identity}\n", encoding="utf-8")
    monkeypatch.setenv("MIHAKK_ANSWERS_IDENTITY_FILE", str(tmp_path / "identity"))
    settings.cache_clear()
    opened = call("score", tmp_path / "none.jsonl", *place)
    assert "none.jsonl can't be read" in opened.output


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: lines[1:], r"1 of \d+ items are not answered, e\.g\. "),
        (lambda lines: [*lines, lines[0]], r"line \d+: .* is answered twice"),
        (
            lambda lines: [*lines, '{"item": "fa-x-1", "reply": "1"}'],
            r"1 answers to items that are not among",
        ),
        (lambda lines: [*lines, '{"item": "a", "reply": "b", "gold": 1}'], "unknown key 'gold'"),
        (lambda lines: [*lines, '{"item": "a", "item": "b", "reply": ""}'], "stands twice in one object"),
        (lambda lines: [*lines, '{"item": "a", "reply": NaN}'], "NaN is not JSON"),
        (lambda lines: [*lines, '{"item": "a", "reply": 3}'], "reply is 3; it must be text"),
        (lambda lines: [*lines, '{"item": "a", "reply": "\\ud800"}'], "write it as UTF-8"),
        (
            lambda lines: [*lines, json.dumps({"item": "a", "reply": "ب" * 2049})],
            "has 4,098 bytes; at most 4,096",
        ),
        (lambda lines: [*lines, "[" * 20000], "not JSON"),
        (lambda lines: [*lines, '"' + "a" * 40000 + '"'], "longer than 32,768 bytes"),
        (lambda lines: [*lines, "{"], "not JSON"),
        (lambda lines: [*lines, '{"item": "\\u001b[2J", "reply": "1"}'], r"e\.g\. '\\x1b\[2J'"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_place(
    release: AssembledRelease, tmp_path: Path, spoil: Callable[[list[str]], list[str]], said: str
) -> None:
    own = replies(tmp_path / "own.jsonl", release, 4)
    lines = [
        line
        for line in own.read_text("utf-8").split("\n")
        if "continuation_choice" not in line and "explanation" not in line
    ]
    own.write_text("\n".join(spoil(lines)), encoding="utf-8")
    done = call("submit", own, "--card", carded(tmp_path), "--release", release.folder)
    assert done.exit_code == 2, done.output
    assert re.search(said, done.output.replace("\n", " ")), done.output


def test_a_refused_file_stops_no_other_and_the_exit_code_tells(
    release: AssembledRelease, tmp_path: Path
) -> None:
    sent = []
    keyed(tmp_path)
    for team, every in (("alpha", 3), ("gamma", 5), ("beta", 2)):
        own = replies(tmp_path / f"{team}.jsonl", release, every)
        card = carded(tmp_path, team=team)
        assert submitted(own, card, release, tmp_path / "out", tmp_path / f"{team}.key").exit_code == 0
        sent += [path for path in (tmp_path / "out").iterdir() if path not in sent]
    place = ("--store", tmp_path / "private", "--public", tmp_path / "public")
    done = call("score", *sent, "--board", ruled(tmp_path, release), *place)
    assert done.exit_code == 2
    assert "1 of 3 files refused: team 'gamma' is not registered" in done.output.replace("\n", " ")
    board = json.loads((tmp_path / "public" / "board.json").read_bytes())
    assert {row["team"] for row in board["entries"]} == {"alpha", "beta"}


def test_what_was_published_is_never_written_over_by_another_or_shorter_log(
    release: AssembledRelease, tmp_path: Path
) -> None:
    own = replies(tmp_path / "own.jsonl", release, 4)
    store, public = keyed(tmp_path), tmp_path / "public"
    submitted(own, carded(tmp_path), release, tmp_path / "out", tmp_path / "alpha.key")
    (sent,) = (tmp_path / "out").iterdir()
    place = ("--board", ruled(tmp_path, release), "--store", store)
    assert call("score", sent, *place, "--public", public).exit_code == 0
    published = (public / "log.jsonl").read_bytes()
    # The whole private folder comes back from an older backup, its head too.
    (store / "spring" / "log.jsonl").write_bytes(published.splitlines(keepends=True)[0])
    (store / ".spring.head").unlink()
    for more in ((sent,), ("--close",)):
        done = call("score", *more, *place, "--public", public)
        assert (done.exit_code, "is not how" in done.output) == (2, True)
    assert (public / "log.jsonl").read_bytes() == published
    (store / "spring" / "log.jsonl").write_bytes(published)
    assert "signed file counts once" in call("score", sent, *place, "--public", public).output
    for inner in (store / "public", tmp_path):
        done = call("score", sent, *place, "--public", inner)
        assert (done.exit_code, "one lies in the other" in done.output.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize("name", ["board.json", "log.jsonl", "final.json"])
def test_a_folder_where_a_file_is_published_is_told_before_anything_is_scored(
    release: AssembledRelease, tmp_path: Path, name: str
) -> None:
    own = replies(tmp_path / "own.jsonl", release, 4)
    store, public = keyed(tmp_path), tmp_path / "public"
    submitted(own, carded(tmp_path), release, tmp_path / "out", tmp_path / "alpha.key")
    (sent,) = (tmp_path / "out").iterdir()
    (public / name).mkdir(parents=True)
    done = call("score", sent, "--board", ruled(tmp_path, release), "--store", store, "--public", public)
    assert (done.exit_code, "move it away" in done.output) == (2, True)
    assert not (store / "spring" / "log.jsonl").exists()


def test_a_full_disk_leaves_no_half_line_and_the_file_is_scored_when_there_is_room(
    release: AssembledRelease, tmp_path: Path
) -> None:
    own = replies(tmp_path / "own.jsonl", release, 4)
    place = ("--store", keyed(tmp_path), "--public", tmp_path / "public", "--board", ruled(tmp_path, release))
    submitted(own, carded(tmp_path), release, tmp_path / "out", tmp_path / "alpha.key")
    (sent,) = (tmp_path / "out").iterdir()
    with pytest.MonkeyPatch.context() as patch:

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr("os.fsync", full)
        done = call("score", sent, *place)
    assert (done.exit_code, "Make room and run the same command again" in done.output) == (75, True)
    log = tmp_path / "private" / "spring" / "log.jsonl"
    assert not log.is_file() or log.read_bytes() == b""
    assert ": shown, " in call("score", sent, *place).stdout


def dropped(folder: Path, release: AssembledRelease) -> Path:
    """An inbox with two teams' files, a stranger's and one that is still being written."""
    inbox = folder / "inbox"
    keyed(folder)
    for team, every in (("alpha", 3), ("gamma", 5), ("beta", 2)):
        own = replies(folder / f"{team}.jsonl", release, every)
        card = carded(folder, team=team)
        assert submitted(own, card, release, inbox, folder / f"{team}.key").exit_code == 0
    (inbox / ".half.jsonl").write_text("{", encoding="utf-8")
    return inbox


def filed(inbox: Path) -> dict[str, set[str]]:
    """What lies in the inbox's folders, by the team or name that files begin with."""
    return {
        place.name: {f"{path.name.partition('--')[0]}{path.suffix}" for path in place.iterdir()}
        for place in inbox.iterdir()
        if place.is_dir()
    }


FILED = {
    "scored": {"alpha.jsonl", "alpha.json", "beta.jsonl", "beta.json"},
    "refused": {"gamma.jsonl", "gamma.txt"},
}


def test_dropped_files_are_scored_and_filed_away_with_what_is_told(
    release: AssembledRelease, tmp_path: Path
) -> None:
    inbox = dropped(tmp_path, release)
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    received = score_inbox(board, inbox, tmp_path / "public")
    assert [bool(one.reply) for one in received] == [True, False, True], "the oldest is scored first"
    assert filed(inbox) == FILED
    assert (inbox / ".half.jsonl").exists()
    (told,) = (inbox / "scored").glob("alpha*.json")
    assert json.loads(told.read_bytes())["told"] == "shown"
    (reason,) = (inbox / "refused").glob("*.txt")
    assert "team 'gamma' is not registered" in reason.read_text("utf-8")
    assert score_inbox(board, inbox, tmp_path / "public") == []
    shown = json.loads((tmp_path / "public" / "board.json").read_bytes())["entries"]
    assert {row["team"] for row in shown} == {"alpha", "beta"}


def test_no_file_stops_the_others_whatever_its_name_and_whatever_lies_there(
    release: AssembledRelease, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    store = keyed(tmp_path, "alpha")
    own = replies(tmp_path / "own.jsonl", release, 4)
    assert submitted(own, carded(tmp_path), release, inbox, tmp_path / "alpha.key").exit_code == 0
    (sent,) = inbox.iterdir()
    answered = sent.read_bytes()
    sent.rename(inbox / f"{'z' * 249}.jsonl")  # the longest name that a folder takes
    board = open_board(ruled(tmp_path, release), store)
    (first,) = score_inbox(board, inbox, tmp_path / "public")
    assert first.reply
    nobodys = (b"z" * 249, b"z" * 249, "x\u202ey".encode(), b"\xff", b"folder", b"link", b"loop")
    for number, name in enumerate(nobodys):
        path = inbox / os.fsdecode(name + b".jsonl")
        match name:
            case b"folder":
                path.mkdir()
            case b"link":
                path.symlink_to(tmp_path / ("n" * 300))
            case b"loop":
                path.symlink_to(path)
            case _:
                path.write_bytes(b"{}")
        os.utime(path, (1, 1), follow_symlinks=False)
        fresh = inbox / f"fresh{number}.jsonl"
        fresh.write_bytes(answered)
        sign_submission(fresh, private_key(tmp_path / "alpha.key"))
        refused, scored = score_inbox(board, inbox, tmp_path / "public")
        assert (refused.path, bool(refused.reply)) == (path, False)
        assert scored.reply is not None
        assert scored.reply.told == "known"
    assert not list(inbox.glob("*.jsonl"))
    assert len(list((inbox / "refused").glob("*.txt"))) == len(nobodys)


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_becomes_a_pipe_or_link_while_it_is_opened_is_refused_at_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "alpha.jsonl"
    path.write_text("{}")
    opened = os.open

    def swapped(name: str, flags: int) -> int:
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        else:
            (tmp_path / "other").write_text("{}")
            path.symlink_to(tmp_path / "other")
        return opened(name, flags)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(UsageError, match=r"alpha\.jsonl can't be read"):
        read_submission(path, 4)


def test_two_runs_over_one_inbox_wait_for_each_other(release: AssembledRelease, tmp_path: Path) -> None:
    inbox = dropped(tmp_path, release)
    boards = [open_board(ruled(tmp_path, release), tmp_path / "private") for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        both = [*pool.map(lambda board: score_inbox(board, inbox, tmp_path / "public"), boards)]
    assert sorted(map(len, both)) == [0, 3]
    assert filed(inbox) == FILED


def test_what_is_sent_back_names_no_folder_of_the_owner(release: AssembledRelease, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "alpha--bad.jsonl").write_text("{", encoding="utf-8")
    board = open_board(ruled(tmp_path, release), keyed(tmp_path, "alpha"))
    (received,) = score_inbox(board, inbox, tmp_path / "public")
    reason = (inbox / "refused" / "alpha--bad.txt").read_text("utf-8")
    assert reason.startswith("alpha--bad.jsonl, line 1: ")
    assert str(tmp_path) not in f"{reason} {received.refused}"


def test_a_release_that_can_hold_no_board_says_so_and_neither_side_starts_one(tmp_path: Path) -> None:
    ranked = [item for item in items() if ability_of(item.task) == "skill" and item.kind in RANKED]
    few = [
        *(item for item in items() if item not in ranked),
        ranked[0].model_copy(update={"split": "test"}),
    ]
    with pytest.warns(
        MihakkWarning, match="no blind board can be held over it, as its test split has 1 groups"
    ):
        made = assemble(folder=tmp_path / "release", **release_arguments(tuple(few), blind="repository"))
    card = (made.folder / "README.md").read_text("utf-8")
    assert "No board is held over this version" in card
    assert "questions about fewer than 4 poems and idioms" in card
    assert "mihakk evaluate submit" not in card
    own = replies(tmp_path / "own.jsonl", made, 4)
    key = tmp_path / "alpha.key"
    place = ("--store", keyed(tmp_path, "alpha"), "--public", tmp_path / "public")
    sent = submitted(own, carded(tmp_path), made, tmp_path / "out", key)
    scored = call("score", own, "--board", ruled(tmp_path, made), *place)
    for done in (sent, scored):
        assert done.exit_code == 2
        assert "1 groups of ranked questions can't be parted" in done.output.replace("\n", " ")
    assert not (tmp_path / "out").exists()


@pytest.mark.services
def test_the_flow_scores_what_was_dropped_and_writes_the_pages_anew(
    release: AssembledRelease, tmp_path: Path, prefect_server: PrefectServer
) -> None:
    opened = tmp_path / "opened"
    assemble(folder=opened, **release_arguments(items()[-90:]))
    answered(tmp_path / "runs", questions_of_release(opened), SYSTEMS[:2], SKILL[:2])
    models = [str(tmp_path / f"{one.name}.yaml") for one in SYSTEMS[:2]]
    file, _ = on_disk(tmp_path, suite(opened, published=[], models=models), SYSTEMS[:2])
    inbox = dropped(tmp_path, release)
    arguments = {
        **{"board": str(ruled(tmp_path, release)), "inbox": str(inbox), "store": str(tmp_path / "private")},
        **{"public": str(tmp_path / "public"), "suite": file},
        **{"answers": str(tmp_path / "runs"), "site": str(tmp_path / "site")},
    }
    code = f"from mihakk.flows.deployed.score import score; score(**{arguments!r})"
    prefect_server.run(sys.executable, "-c", code, cwd=ROOT, MIHAKK_BLIND_KEY=SECRET)
    assert filed(inbox) == FILED
    assert '"team":"alpha"' in (tmp_path / "site" / "data" / "board.js").read_text("utf-8")
    (artifact,) = [row for row in prefect_server.rows("artifacts") if row["key"] == "blind-scores"]
    assert artifact["data"].count("| shown |") == 2
    assert artifact["data"].count("| refused |") == 1


@pytest.mark.drill
def test_an_event_has_dropped_files_scored_by_a_worker(
    release: AssembledRelease, tmp_path: Path, prefect_server: PrefectServer
) -> None:
    inbox = dropped(tmp_path, release)
    prefect_server.deploy(ROOT / "configs" / "benchmarks" / "demo.yaml")
    prefect_server.unschedule()
    prefect_server.worker(MIHAKK_BLIND_KEY=SECRET)
    arguments = {
        **{"board": str(ruled(tmp_path, release)), "inbox": str(inbox)},
        **{"store": str(tmp_path / "private"), "public": str(tmp_path / "public")},
    }
    told = ("--resource-id", "mihakk.benchmark.demo", "--payload", json.dumps(arguments))
    prefect_server.run(
        sys.executable, "-m", "prefect", "--no-prompt", "event", "emit", "mihakk.blind.dropped", *told
    )
    place = prefect_server.deployment("score/on-demand")["id"]

    def started() -> list[dict[str, Any]]:
        return [run for run in prefect_server.rows("flow_runs") if run["deployment_id"] == place]

    prefect_server.wait(started, 180, "the event started no run")
    state = prefect_server.ended(started()[0]["id"])
    assert state["type"] == "COMPLETED", state
    assert filed(inbox) == FILED


def test_the_season_is_opened_when_it_is_over_and_not_before(
    release: AssembledRelease, tmp_path: Path
) -> None:
    own = replies(tmp_path / "own.jsonl", release, 4)
    place = ("--store", keyed(tmp_path), "--public", tmp_path / "public")
    submitted(own, carded(tmp_path), release, tmp_path / "out", tmp_path / "alpha.key")
    (sent,) = (tmp_path / "out").iterdir()
    assert call("score", sent, "--board", ruled(tmp_path, release), *place).exit_code == 0
    early = call("score", "--close", "--board", ruled(tmp_path, release), *place)
    assert early.exit_code == 2
    assert f"is open until {TODAY + timedelta(days=7)}" in early.output
    over = ruled(tmp_path, release, closes=str(TODAY))
    done = call("score", "--close", "--board", over, *place)
    assert done.exit_code == 0, done.output
    (final,) = json.loads((tmp_path / "public" / "final.json").read_bytes())
    stated = json.loads((tmp_path / "public" / "board.json").read_bytes())["gain"]["so_far"]
    assert f"add at most {stated:.1%} to what" in done.stdout
    assert final["low"] < 0.75 < final["high"]
    assert final["public_low"] < 0.75 < final["public_high"]
    assert final["gap_low"] < 0 < final["gap_high"]


def test_the_end_scores_what_waits_in_an_inbox_and_misses_none(
    release: AssembledRelease, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    place = ("--store", keyed(tmp_path, "alpha", "beta"), "--public", tmp_path / "public")
    for team in ("alpha", "beta"):
        own = replies(tmp_path / f"{team}.jsonl", release, 4)
        card = carded(tmp_path, team=team)
        assert submitted(own, card, release, inbox, tmp_path / f"{team}.key").exit_code == 0
        if team == "alpha":
            board = open_board(ruled(tmp_path, release), tmp_path / "private")
            assert score_inbox(board, inbox, tmp_path / "public")
    over = ruled(tmp_path, release, closes=str(TODAY))
    inbox.rename(tmp_path / "elsewhere")
    lost = call("score", "--close", "--board", over, *place)
    assert lost.exit_code == 2
    assert f"the inbox {inbox} is not there: put it back" in lost.output.replace("\n", " ")
    (tmp_path / "elsewhere").rename(inbox)
    done = call("score", "--close", "--board", over, *place)
    assert done.exit_code == 0, done.output
    assert filed(inbox)["refused"] == {"beta.jsonl", "beta.txt"}, "it came after the season's last day"
    assert not [*inbox.glob("*.jsonl")]


def test_a_file_that_waits_in_time_is_in_the_finals(
    release: AssembledRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = dropped(tmp_path, release)
    waiting = [*inbox.glob("beta--*.jsonl")]
    waiting[0].rename(tmp_path / waiting[0].name)
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    score_inbox(board, inbox, tmp_path / "public")
    (tmp_path / waiting[0].name).rename(waiting[0])
    close = board.close
    monkeypatch.setattr(board, "close", lambda: close(now=datetime.now(UTC) + timedelta(days=30)))
    assert {one.team for one in close_season(board, tmp_path / "public")} == {"alpha", "beta"}


@pytest.mark.parametrize("name", ["scored", "refused"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_nobody_decides_where_files_are_filed_away(
    name: str, kind: str, release: AssembledRelease, tmp_path: Path
) -> None:
    inbox = dropped(tmp_path, release)
    (tmp_path / "theirs").mkdir()
    if kind == "link":
        (inbox / name).symlink_to(tmp_path / "theirs")
    else:
        (inbox / name).write_text("")
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    with pytest.raises(UsageError, match=f"{name} is no folder of the inbox"):
        score_inbox(board, inbox, tmp_path / "public")
    (inbox / name).unlink()
    score_inbox(board, inbox, tmp_path / "public")
    assert filed(inbox) == FILED
    assert not [*(tmp_path / "theirs").iterdir()]


def test_a_killed_run_leaves_its_file_in_the_inbox_and_the_file_gets_its_reply(
    release: AssembledRelease, tmp_path: Path
) -> None:
    inbox = dropped(tmp_path, release)
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    (sent,) = inbox.glob("alpha--*.jsonl")
    reply = board.receive(read_submission(sent))  # and the process ends before the file is filed away
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    score_inbox(board, inbox, tmp_path / "public")
    assert filed(inbox) == FILED
    (told,) = (inbox / "scored").glob("alpha--*.json")
    assert json.loads(told.read_bytes()) == reply.model_dump(mode="json")
    assert [entry.card.team for entry in board.log.entries].count("alpha") == 1
    # A rival's file of the same name takes the place of neither file nor reply.
    (again,) = (inbox / "scored").glob("beta--*.jsonl")
    sign_submission(again, private_key(tmp_path / "beta.key"))
    again.rename(inbox / f"{told.stem}.jsonl")
    score_inbox(board, inbox, tmp_path / "public")
    assert json.loads(told.read_bytes()) == reply.model_dump(mode="json")
    assert (inbox / "scored" / f"{told.stem}-2.json").is_file()


def test_answers_that_were_lost_come_back_with_the_file_that_was_scored(
    release: AssembledRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last day, too, when nobody can send them again."""
    inbox = dropped(tmp_path, release)
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    score_inbox(board, inbox, tmp_path / "public")
    (tmp_path / "private" / "spring" / "answers" / f"{board.log.entries[0].answers}.json").write_text("[")
    with pytest.warns(MihakkWarning, match="missing or damaged"):
        board = open_board(ruled(tmp_path, release), tmp_path / "private")
    close = board.close
    monkeypatch.setattr(board, "close", lambda: close(now=datetime.now(UTC) + timedelta(days=30)))
    with pytest.raises(ExternalFailure, match="move the file that was scored from `scored/` back"):
        close_season(board, tmp_path / "public")
    for path in (inbox / "scored").glob("alpha--*.jsonl"):
        path.rename(inbox / path.name)
    assert {one.team for one in close_season(board, tmp_path / "public")} == {"alpha", "beta"}
    assert len([entry for entry in board.log.entries if entry.reply]) == 2


def test_a_copy_of_a_scored_file_with_another_signature_is_refused_in_an_inbox(
    release: AssembledRelease, tmp_path: Path
) -> None:
    inbox = dropped(tmp_path, release)
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    score_inbox(board, inbox, tmp_path / "public")
    (there,) = (inbox / "scored").glob("alpha--*.jsonl")
    *lines, last = there.read_bytes().splitlines()
    said = json.loads(last)
    said["signature"]["value"] = said["signature"]["value"][::-1].lstrip("=") + "=="
    (inbox / "copy.jsonl").write_bytes(b"\n".join([*lines, json.dumps(said).encode()]))
    score_inbox(board, inbox, tmp_path / "public")
    assert "is not what was signed" in (inbox / "refused" / "copy.txt").read_text("utf-8")


def test_a_reason_is_no_longer_than_people_read(release: AssembledRelease, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps({"card": {f"{number}": number for number in range(1000)}}), encoding="utf-8")
    board = open_board(ruled(tmp_path, release), tmp_path / "private")
    (found,) = score_files(board, [path], tmp_path / "public")
    assert found.refused.endswith(" …")
    assert len(found.refused) < 2100


def test_files_are_signed_checked_and_keys_revoked_by_commands(
    release: AssembledRelease, tmp_path: Path
) -> None:
    store = keyed(tmp_path, "alpha")
    own = replies(tmp_path / "own.jsonl", release, 4)
    card = carded(tmp_path)
    done = call("submit", own, "--card", card, "--release", release.folder, "--to", tmp_path / "out")
    assert "sign this file before you send it: mihakk evaluate team sign" in done.stdout.replace("\n", " ")
    (sent,) = (tmp_path / "out").iterdir()
    bad = call("team", "verify", sent, "--store", store)
    assert (bad.exit_code, "alpha's file is not signed" in bad.output) == (2, True)
    assert call("team", "sign", sent, "--key", tmp_path / "alpha.key").exit_code == 0
    for by in (("--store", store), ("--key", tmp_path / "alpha.key.pub")):
        good = call("team", "verify", sent, *by, "--json")
        assert good.exit_code == 0, good.output
        assert json.loads(good.stdout)["team"] == "alpha"
    assert call("team", "verify", sent).exit_code == 2
    gone = call("team", "revoke", tmp_path / "alpha.key.pub", "--store", store, "--why", "lost")
    assert gone.exit_code == 0, gone.output
    listed = call("team", "list", "--store", store)
    assert "revoked on" in listed.stdout
    place = ("--store", store, "--public", tmp_path / "public")
    scored = call("score", sent, "--board", ruled(tmp_path, release), *place)
    assert scored.exit_code == 2
    assert "(lost): register another" in scored.output.replace("\n", " ")


def test_a_file_name_forges_no_line_and_stops_nothing(release: AssembledRelease, tmp_path: Path) -> None:
    keyed(tmp_path)
    rules = ruled(tmp_path, release)
    names = (b"e\xff.jsonl", b"x\ngamma--m.jsonl: shown, 0.990.jsonl", b"\x1b[2Jy.jsonl")
    files = [Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)) for name in names]
    for file in files:
        file.write_text("no submission")
    told = call(
        "score", *files, "--board", rules, "--store", tmp_path / "p", "--public", tmp_path / "q", "--json"
    )
    assert told.exit_code == 2
    assert "\x1b" not in told.output
    assert len(json.loads(told.stdout)["files"]) == len(files)
    assert not any(line.startswith("gamma") for line in told.output.splitlines())
