"""Assembling: layout, determinism, versions, refusals."""

from __future__ import annotations

import re
import shutil
from importlib import import_module
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import content_hash
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content.canary import canary_guid
from mihakk.releases.content.checksum import MANIFEST, faults, write_manifest
from mihakk.releases.content.item_tables import data_files, row_hash, row_item
from mihakk.releases.hub._verification import listed, load_all, verify_folder
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.finding import Finding
from tests.releases.release_material import (
    FACTS,
    corrected_arguments,
    hafez_config,
    hafez_items,
    hashes,
    idiom_items,
    plain_prompt,
    release_arguments,
    verdict_of,
)


def test_the_layout_is_the_documented_one(first_release: AssembledRelease) -> None:
    present = {
        path.relative_to(first_release.folder).as_posix()
        for path in first_release.folder.rglob("*")
        if path.is_file()
    }
    assert present >= {"README.md", "CHANGELOG.md", "CITATION.cff", MANIFEST, "croissant.json", "errata/removed.parquet",
                       "audit/verdicts.parquet", "audit/scores.parquet", "audit/findings.parquet",
                       "fa_continuation_choice/test-00000-of-00001.parquet",
                       "ar_verse_explanation/test-00000-of-00001.parquet"}  # fmt: skip
    assert faults(first_release.folder) == []


def test_equal_arguments_give_equal_bytes(first_release: AssembledRelease, tmp_path: Path) -> None:
    again = assemble(folder=tmp_path / "again", **release_arguments(tuple(reversed(hafez_items()))))
    assert again.digests == first_release.digests


def test_every_item_comes_back_from_the_files_as_it_went_in(first_release: AssembledRelease) -> None:
    back = {}
    for _, _, path in data_files(first_release.folder):
        for row in pq.read_table(path).to_pylist():
            item = row_item(row)
            assert row_hash(row) == content_hash(item) == row["content_hash"]
            back[item.id] = item.model_copy(update={"split": ""})
    assert back == {item.id: item for item in hafez_items()}


def test_canary_and_version_stand_in_the_rows_and_never_in_a_prompt(first_release: AssembledRelease) -> None:
    guid = canary_guid(hafez_config())
    for _, _, path in data_files(first_release.folder):
        for row in pq.read_table(path).to_pylist():
            assert row["canary"] == guid
            assert row["version"] == "0.1.0"
            assert guid not in row["prompt"]
            assert row["licence"]
    assert guid in (first_release.folder / "README.md").read_text(encoding="utf-8")


def canaries(folder: Path) -> set[str]:
    return {text for _, _, path in data_files(folder) for text in pq.read_table(path)["canary"].to_pylist()}


def test_two_benchmarks_of_one_name_have_canaries_of_their_own_and_keep_them(tmp_path: Path) -> None:
    given = release_arguments(idiom_items())
    mine = assemble(folder=tmp_path / "mine", **given).folder
    again = assemble(folder=tmp_path / "again", **given).folder
    found = [canaries(mine)]
    for number, change in enumerate(
        (
            {"title": "Another"},
            {"seed": 8},
            {"release": {"authors": ["Mihakk contributors"], "repository": "a/b"}},
        )
    ):
        config = given["config"].model_dump() | change
        other = given | {"config": BenchmarkConfig.model_validate(config)}
        assert other["config"].name == "touchstone"
        found.append(canaries(assemble(folder=tmp_path / f"other{number}", **other).folder))
    assert [len(one) for one in found] == [1, 1, 1, 1]
    assert len(set.union(*found)) == 4
    assert canaries(again) == canaries(mine)
    renamed = given | {"config": given["config"].model_copy(update={"title": "Renamed", "seed": 9})}
    later = assemble(folder=tmp_path / "later", previous=mine, **renamed)
    assert later.version != "0.1.0"
    assert canaries(later.folder) == canaries(mine)
    assert canaries(mine).pop() in (later.folder / "README.md").read_text(encoding="utf-8")


def test_card_lists_every_config_and_split_with_its_rows(first_release: AssembledRelease) -> None:
    text = (first_release.folder / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    listed = {one["config_name"]: {file["split"] for file in one["data_files"]} for one in front["configs"]}
    assert listed == {config: set(splits) for config, splits in first_release.rows.items()}
    for config, splits in first_release.rows.items():
        for split, rows in splits.items():
            assert re.search(rf"\| {config} \| [^|]+ \| {split} \| \w+ \| {rows} \|", text)
    assert len(yaml.safe_dump(front).splitlines()) < 60
    assert front["language"] == ["ar", "fa"]
    assert front["license"] == "cc-by-4.0"


def test_the_card_says_what_of_a_source_rests_on_a_persons_word(first_release: AssembledRelease) -> None:
    text = (first_release.folder / "README.md").read_text(encoding="utf-8")
    told = text.partition("### Source Data")[2].partition("\n## ")[0]
    assert (
        "Own idioms: signs of a misreading that a person looked at and took for right: `short_lines`, "
        "`page_marks`; a person counted 334 entries in it."
    ) in told
    assert told.count("a person looked at") == 1, "the ghazals have none"


def test_unknown_licence_is_refused(tmp_path: Path) -> None:
    items = hafez_items()
    bad = items[5].model_copy(update={"licence": "unknown"})
    with pytest.raises(UsageError, match=r"unknown: 1, e\.g\. fa-"):
        assemble(folder=tmp_path / "r", **release_arguments((*items[:5], bad, *items[6:])))
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("status", ["flag", "block"])
def test_an_item_that_nobody_kept_is_refused(status: str, tmp_path: Path) -> None:
    arguments = release_arguments(hafez_items())
    item = arguments["items"][9]
    arguments["verdicts"] = [
        verdict_of(item, status) if one.item == item.id else one for one in arguments["verdicts"]
    ]
    with pytest.raises(UsageError, match=item.id):
        assemble(folder=tmp_path / "r", **arguments)


def test_two_items_of_one_id_and_no_items_are_refused(tmp_path: Path) -> None:
    items = hafez_items()
    with pytest.raises(UsageError, match="two items have the id"):
        assemble(folder=tmp_path / "r", **release_arguments((*items, items[3])))
    with pytest.raises(UsageError, match="no item is left"):
        assemble(folder=tmp_path / "r", **(release_arguments(items) | {"items": ()}))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        assemble(folder=tmp_path, **release_arguments(hafez_items()))
    assert (tmp_path / "note.txt").read_text() == "mine"


@pytest.mark.parametrize("code_version", [FACTS.code_version, "0123456789abcdef"])
def test_the_same_content_keeps_its_version_whatever_code_made_it(
    first_release: AssembledRelease, tmp_path: Path, code_version: str
) -> None:
    facts = FACTS.model_copy(update={"code_version": code_version})
    again = assemble(
        folder=tmp_path / "again", previous=first_release.folder, **release_arguments(hafez_items(), facts)
    )
    assert (again.version, again.unchanged) == ("0.1.0", True)
    assert again.digests == first_release.digests


def test_papers_alone_raise_the_last_number(first_release: AssembledRelease, tmp_path: Path) -> None:
    arguments = release_arguments(hafez_items())
    arguments["findings"] = [
        *arguments["findings"],
        Finding(check="CH03", severity="report", subject="*", detail="none"),
    ]
    later = assemble(folder=tmp_path / "later", previous=first_release.folder, **arguments)
    assert later.version == "0.1.1"
    assert later.diff is not None
    assert not later.diff.changes


def test_a_changed_gold_raises_the_middle_number_before_one(second_release: AssembledRelease) -> None:
    assert second_release.version == "0.2.0"
    assert second_release.diff is not None
    assert {kind: count for kind, count in second_release.diff.counts.items() if count} == {
        "added": 1, "removed": 1, "gold_changed": 1, "text_changed": 1,
    }  # fmt: skip


def test_a_version_too_low_for_its_changes_is_refused(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    arguments = corrected_arguments()
    arguments["config"] = release_arguments(hafez_items(), version="0.1.1")["config"]
    with pytest.raises(UsageError, match=r"0\.1\.1 is too low.*at least 0\.2\.0"):
        assemble(folder=tmp_path / "r", previous=first_release.folder, **arguments)


def test_changelog_and_errata_say_exactly_what_changed(
    first_release: AssembledRelease, second_release: AssembledRelease
) -> None:
    before = hashes(hafez_items())
    after = hashes(corrected_arguments()["items"])
    gone, new = before.keys() - after.keys(), after.keys() - before.keys()
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    text = (second_release.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    section = text.split("## 0.1.0")[0].split("## 0.2.0")[1]
    named = {part for part in section.split("`") if "-" in part and " " not in part}
    assert named == gone | new | changed
    assert "(wrong_gold)" in section
    rows = pq.read_table(second_release.folder / "errata" / "changes.parquet").to_pylist()
    assert {(row["id"], row["kind"]) for row in rows if row["kind"] in ("added", "removed")} == {
        *((name, "removed") for name in gone), *((name, "added") for name in new)
    }  # fmt: skip
    errata = {
        row["id"]: row["reason"]
        for row in pq.read_table(second_release.folder / "errata" / "removed.parquet").to_pylist()
    }
    assert errata[next(iter(gone))] == "wrong_gold"


def test_human_text_of_the_card_survives(first_release: AssembledRelease, tmp_path: Path) -> None:
    previous = tmp_path / "previous"
    shutil.copytree(first_release.folder, previous)
    readme = previous / "README.md"
    readme.write_text(
        readme.read_text(encoding="utf-8").replace(
            "# Touchstone of verse\n", "# Touchstone\n\nWritten by people: ينبغي أن يبقى.\n"
        ),
        encoding="utf-8",
    )
    arguments = corrected_arguments()
    second = assemble(folder=tmp_path / "second", previous=previous, **arguments)
    text = (second.folder / "README.md").read_text(encoding="utf-8")
    assert "Written by people: ينبغي أن يبقى." in text
    assert "**Version 0.2.0**" in text
    assert "0.1.0" not in text.split("---\n")[1]
    facts = FACTS.model_copy(update={"card": "# Other words\n"})
    third = assemble(
        folder=tmp_path / "third", previous=previous, **(corrected_arguments() | {"facts": facts})
    )
    assert (
        (third.folder / "README.md")
        .read_text(encoding="utf-8")
        .split("---\n")[2]
        .startswith("# Other words\n")
    )


def test_prompts_are_part_of_the_comparison(first_release: AssembledRelease, tmp_path: Path) -> None:
    def louder(item: object, language: str) -> str:
        return plain_prompt(item, language) + "\nأجب!"

    later = assemble(
        folder=tmp_path / "later",
        previous=first_release.folder,
        **(release_arguments(hafez_items()) | {"render": louder}),
    )
    assert later.version == "0.2.0"
    assert later.diff is not None
    assert later.diff.counts["prompt_changed"] == len(hafez_items())


def test_errata_go_on_through_later_releases_until_the_item_is_back(
    second_release: AssembledRelease, tmp_path: Path
) -> None:
    gone = next(item for item in hafez_items() if item.task == "continuation_choice")
    arguments = corrected_arguments()
    quiet = arguments | {"removed": [], "items": arguments["items"][:-1]}
    third = assemble(folder=tmp_path / "third", previous=second_release.folder, **quiet)
    rows = {row["id"]: row for row in pq.read_table(third.folder / "errata" / "removed.parquet").to_pylist()}
    assert (rows[gone.id]["reason"], rows[gone.id]["last_version"]) == ("wrong_gold", "0.1.0")
    idiom = arguments["items"][-1]
    assert (rows[idiom.id]["reason"], rows[idiom.id]["last_version"]) == ("not_generated", "0.2.0")
    assert len(rows) == 2, "what was never released is forgotten when the build no longer names it"
    again = assemble(folder=tmp_path / "again", previous=third.folder, **quiet)
    assert again.unchanged
    back = assemble(
        folder=tmp_path / "back", previous=third.folder, **(quiet | {"items": (*quiet["items"], gone)})
    )
    assert set(pq.read_table(back.folder / "errata" / "removed.parquet").column("id").to_pylist()) == {
        idiom.id
    }


def test_the_same_words_written_another_way_are_called_renormalised(
    first_release: AssembledRelease, tmp_path: Path
) -> None:
    items = list(hafez_items())
    place, item = next((place, item) for place, item in enumerate(items) if "ی" in item.question)
    items[place] = item.model_copy(update={"question": item.question.replace("ی", "ي")})
    later = assemble(
        folder=tmp_path / "later", previous=first_release.folder, **release_arguments(tuple(items))
    )
    assert later.diff is not None
    assert {kind: count for kind, count in later.diff.counts.items() if count} == {"renormalised": 1}
    assert later.version == "0.2.0"


@pytest.mark.parametrize("has_datasets", [True, False])
def test_verification_notices_a_row_whose_content_and_hash_disagree(
    first_release: AssembledRelease, tmp_path: Path, has_datasets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa

    monkeypatch.setattr(import_module("mihakk.releases.hub._verification"), "HAS_DATASETS", has_datasets)
    folder = tmp_path / "r"
    shutil.copytree(first_release.folder, folder)
    path = folder / "ar_meaning_choice" / "test-00000-of-00001.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index("question")
    questions = ["another question", *table.column("question").to_pylist()[1:]]
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(questions)), path)
    write_manifest(folder)
    with pytest.raises(ExternalFailure, match="came back with other content"):
        verify_folder(folder, "0.1.0")


def test_frames_of_a_release_are_what_datasets_load(first_release: AssembledRelease) -> None:
    frames, loaded = listed(first_release.folder), load_all(first_release.folder)
    assert frames.keys() == loaded.keys()
    for config, splits in loaded.items():
        assert frames[config].keys() == splits.keys()
        for split, rows in splits.items():
            assert frames[config][split].to_pylist() == rows.to_list()
