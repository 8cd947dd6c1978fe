"""The remote Hub through the real client: one commit, tag last, races, deaths, moved tags, damage."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.checksum import MANIFEST
from mihakk.releases.hub.load import load, release_folder
from mihakk.releases.hub.remote import RemoteHub
from tests.releases.hub_server import HubServer
from tests.releases.hub_state import altered

NAME = "someone/touchstone"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    with HubServer().running() as running:
        yield running


@pytest.fixture
def hub(server: HubServer) -> RemoteHub:
    return RemoteHub(NAME, server.endpoint, patience=0.001)


def test_two_versions_are_published_and_come_back(
    hub: RemoteHub,
    server: HubServer,
    first_release: AssembledRelease,
    second_release: AssembledRelease,
    tmp_path: Path,
) -> None:
    first, second = hub.publish(first_release), hub.publish(second_release)
    assert server.repositories[NAME].parents[second.commit] == first.commit
    assert hub.versions() == ["0.1.0", "0.2.0"]
    assert hub.verify("0.1.0", first_release.folder) == first_release.rows
    assert hub.verify("0.2.0", second_release.folder) == second_release.rows
    folder = hub.fetch(second.commit, tmp_path)
    assert (folder / MANIFEST).read_bytes() == (second_release.folder / MANIFEST).read_bytes()


def test_one_commit_holds_all_files_and_the_tag_comes_last(
    hub: RemoteHub, server: HubServer, small: AssembledRelease
) -> None:
    hub.publish(small)
    writes = [request for request in server.requests if request.startswith(("POST /api/datasets", "DELETE"))]
    assert [request.split("/")[5] for request in writes] == ["preupload", "commit", "tag"]


def test_files_that_left_the_release_leave_the_repository(
    hub: RemoteHub, server: HubServer, small: AssembledRelease, small_next: AssembledRelease
) -> None:
    hub.publish(small)
    second = hub.publish(small_next)
    tree = server.repositories[NAME].commits[second.commit]
    assert set(tree) == {*small_next.digests, MANIFEST, ".gitattributes"}


def test_the_same_bytes_again_change_nothing(
    hub: RemoteHub, server: HubServer, small: AssembledRelease
) -> None:
    first = hub.publish(small)
    server.requests.clear()
    again = hub.publish(small)
    assert (again.commit, again.created) == (first.commit, False)
    assert {request.split()[0] for request in server.requests} <= {"GET", "HEAD"}


def test_a_tag_on_other_bytes_is_refused(
    hub: RemoteHub, server: HubServer, small: AssembledRelease, small_next: AssembledRelease
) -> None:
    hub.publish(small)
    second = hub.publish(small_next)
    server.repositories[NAME].tags["0.1.0"] = second.commit
    with pytest.raises(UsageError, match=r"0\.1\.0 is published with other bytes"):
        hub.publish(small)
    assert server.repositories[NAME].tags["0.1.0"] == second.commit


def test_a_tag_set_meanwhile_on_another_commit_is_noticed(
    hub: RemoteHub, server: HubServer, small: AssembledRelease
) -> None:
    """The client's `create_tag(exist_ok=True)` would have said that all is well."""

    def elsewhere() -> None:
        repository = server.repositories[NAME]
        repository.tags["0.1.0"] = repository.main

    server.before_commit = elsewhere
    with pytest.raises(UsageError, match="published with other bytes"):
        hub.publish(small)


def test_a_commit_made_meanwhile_is_refetched(
    hub: RemoteHub, server: HubServer, small: AssembledRelease
) -> None:
    def somebody_else() -> None:
        repository = server.repositories[NAME]
        repository.commit({**repository.commits[repository.main], "note.txt": b"hello"})

    server.before_commit = somebody_else
    published = hub.publish(small)
    assert sum(request.endswith("/commit/main") for request in server.requests) == 2
    assert "note.txt" not in server.repositories[NAME].commits[published.commit]


def test_two_publishers_at_once_agree(server: HubServer, small: AssembledRelease) -> None:
    hubs = [RemoteHub(NAME, server.endpoint, patience=0.05) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        published = list(pool.map(lambda hub: hub.publish(small), hubs))
    assert len({one.commit for one in published}) == 1
    assert server.repositories[NAME].tags == {"0.1.0": published[0].commit}


def test_of_two_publishers_with_other_bytes_under_one_version_one_wins_whole(
    server: HubServer, small: AssembledRelease, tmp_path: Path
) -> None:
    other = altered(small, tmp_path / "other")

    def publish(release: AssembledRelease) -> tuple[str, str]:
        try:
            return RemoteHub(NAME, server.endpoint, patience=0.05).publish(release).commit, ""
        except UsageError as refused:
            return "", str(refused)

    with ThreadPoolExecutor(2) as pool:
        (first, one_told), (second, other_told) = pool.map(publish, (small, other))
    assert bool(first) != bool(second), "one is refused"
    assert "published with other bytes" in one_told + other_told
    winner = small if first else other
    hub = RemoteHub(NAME, server.endpoint, patience=0.05)
    assert server.repositories[NAME].tags == {"0.1.0": first or second}
    assert hub.verify("0.1.0", winner.folder) == winner.rows
    assert not hub.publish(winner).created


def test_a_folder_that_differs_from_its_manifest_asks_the_hub_for_nothing(
    server: HubServer, hub: RemoteHub, small: AssembledRelease, tmp_path: Path
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(small.folder, folder)
    (folder / MANIFEST).write_text((folder / MANIFEST).read_text().replace("a", "b"), encoding="utf-8")
    with pytest.raises(UsageError, match=f"not what its {MANIFEST} says"):
        hub.publish(replace(small, folder=folder))
    assert server.requests == []


def test_a_hub_that_is_gone_is_told_and_the_next_publication_succeeds(
    server: HubServer, hub: RemoteHub, small: AssembledRelease
) -> None:
    server.die_at = (1, "before")
    with pytest.raises(ExternalFailure, match="can't be reached"):
        hub.publish(small)
    assert server.repositories == {}
    server.revive()
    assert hub.publish(small).created


def _requests_of_a_publication(server: HubServer, hub: RemoteHub, small: AssembledRelease) -> int:
    hub.publish(small)
    count = len(server.requests)
    server.repositories.clear()
    server.objects.clear()
    server.revive()
    return count


def _die_and_go_on(
    server: HubServer, hub: RemoteHub, release: AssembledRelease, number: int, when: str
) -> None:
    server.die_at = (number, when)
    try:
        hub.publish(release)
    except ExternalFailure:
        repository = server.repositories.get(NAME)
        tagged = repository.tags if repository else {}
        if when == "before" or "tag" not in server.requests[number - 1]:
            assert tagged == {} or "refs" in server.requests[number - 1], server.requests[number - 1]
    server.revive()
    published = hub.publish(release)
    repository = server.repositories[NAME]
    assert repository.tags == {"0.1.0": published.commit}
    assert len(repository.commits) == 2, "one by the Hub, one by us"
    server.repositories.clear()
    server.objects.clear()
    server.revive()


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_server_dies_on_the_way_and_the_next_run_ends_it(
    when: str, server: HubServer, hub: RemoteHub, small: AssembledRelease
) -> None:
    count = _requests_of_a_publication(server, hub, small)
    for number in (1, 7, count // 2, count - 1):
        _die_and_go_on(server, hub, small, number, when)


@pytest.mark.drill
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_server_dies_at_each_request_in_turn(
    when: str, server: HubServer, hub: RemoteHub, small: AssembledRelease
) -> None:
    count = _requests_of_a_publication(server, hub, small)
    assert count > 30
    for number in range(1, count + 1):
        _die_and_go_on(server, hub, small, number, when)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_outlasted(
    status: int, server: HubServer, hub: RemoteHub, small: AssembledRelease
) -> None:
    server.statuses = [("/commit/main", status), (r"/tag/", status)]
    assert hub.publish(small).created
    assert server.statuses == []


def test_a_token_is_asked_for_and_never_shown(
    server: HubServer, small: AssembledRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.token = "hf_the_secret_one"
    with pytest.raises(UsageError, match="MIHAKK_HF_TOKEN"):
        RemoteHub(NAME, server.endpoint, private=True, patience=0.001).publish(small)
    monkeypatch.setenv("MIHAKK_HF_TOKEN", "hf_a_wrong_one")
    settings.cache_clear()
    with pytest.raises(UsageError, match="MIHAKK_HF_TOKEN") as refused:
        RemoteHub(NAME, server.endpoint, private=True, patience=0.001).publish(small)
    assert "hf_a_wrong_one" not in str(refused.value)
    monkeypatch.setenv("MIHAKK_HF_TOKEN", "hf_the_secret_one")
    settings.cache_clear()
    assert RemoteHub(NAME, server.endpoint, private=True, patience=0.001).publish(small).created
    assert server.repositories[NAME].private


def test_damaged_bytes_are_never_tagged(server: HubServer, hub: RemoteHub, small: AssembledRelease) -> None:
    server.damage = r"meaning_choice/test"
    with pytest.raises(ExternalFailure, match=r"meaning_choice/test.* other bytes"):
        hub.publish(small)
    assert server.repositories[NAME].tags == {}
    server.damage = ""
    assert hub.publish(small).created


def test_load_gives_the_version_asked_for(
    hub: RemoteHub, server: HubServer, small: AssembledRelease, small_next: AssembledRelease
) -> None:
    hub.publish(small)
    hub.publish(small_next)
    loaded = load(NAME, "0.1.0", "ar_meaning_choice", "test", endpoint=server.endpoint)
    assert loaded.num_rows == small.rows["ar_meaning_choice"]["test"]
    assert set(loaded["version"]) == {"0.1.0"}
    assert set(load(NAME, "0.2.0", endpoint=server.endpoint)) == set(small_next.rows)
    with pytest.raises(UsageError, match=r"no version 0\.3\.0 .*did you mean .0\.2\.0"):
        load(NAME, "0.3.0", endpoint=server.endpoint)
    with pytest.raises(UsageError, match="no config 'en_other': it has ar_meaning_choice"):
        load(NAME, "0.2.0", "en_other", endpoint=server.endpoint)


def test_an_unreachable_hub_never_yields_another_version(
    hub: RemoteHub, server: HubServer, small: AssembledRelease, small_next: AssembledRelease
) -> None:
    first = hub.publish(small)
    hub.publish(small_next)
    load(NAME, "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)
    server.die_at = (len(server.requests) + 1, "before")
    for version in ("0.2.0", "0.1.0", "9.9.9"):
        with pytest.raises(ExternalFailure, match="can't be reached"):
            load(NAME, version, "ar_meaning_choice", endpoint=server.endpoint)
    offline = load(NAME, "0.1.0", "ar_meaning_choice", "test", commit=first.commit, endpoint=server.endpoint)
    assert set(offline["version"]) == {"0.1.0"}
    with pytest.raises(ExternalFailure, match=r"says it is 0\.1\.0; the tag was moved"):
        load(NAME, "0.2.0", "ar_meaning_choice", commit=first.commit, endpoint=server.endpoint)


def test_a_refused_token_never_yields_another_version(
    hub: RemoteHub, server: HubServer, small: AssembledRelease
) -> None:
    hub.publish(small)
    load(NAME, "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)
    server.token = "needed now"
    server.repositories[NAME].private = True
    with pytest.raises(UsageError, match="refuses the token"):
        load(NAME, "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)


def test_a_damaged_part_and_a_wrong_manifest_are_noticed_by_the_loader(
    hub: RemoteHub, server: HubServer, small: AssembledRelease, tmp_path: Path
) -> None:
    hub.publish(small)
    server.damage = r"meaning_choice/test"
    with pytest.raises(ExternalFailure, match="damaged"):
        release_folder(NAME, "0.1.0", endpoint=server.endpoint)
    server.damage = ""
    folder = release_folder(NAME, "0.1.0", endpoint=server.endpoint)
    manifest = folder / MANIFEST
    manifest.write_text(manifest.read_text().replace(manifest.read_text()[:8], "0" * 8), encoding="utf-8")
    with pytest.raises(ExternalFailure, match="other bytes than the manifest states"):
        load(NAME, "0.1.0", endpoint=server.endpoint)
