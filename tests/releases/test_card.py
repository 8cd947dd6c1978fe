"""The card as a paper's author would publish it: its order, an example of each task, names that people use."""

from __future__ import annotations

import re
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import DatasetCard

from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.card.citation import bibtex
from mihakk.releases.card.structure import COLUMNS, LONGEST, spoken
from tests.releases.release_material import FACTS, hafez_config, idiom_items, release_arguments

CAPABLE = FACTS.model_copy(
    update={"auditors": tuple(one.model_copy(update={"capable": True}) for one in FACTS.auditors)}
)


@pytest.fixture(scope="module")
def text(first_release: AssembledRelease) -> str:
    return (first_release.folder / "README.md").read_text("utf-8")


def test_the_sections_stand_in_the_order_of_the_hubs_own_template(text: str) -> None:
    folder = Path(huggingface_hub.__file__).parent / "templates"
    template = (folder / "datasetcard_template.md").read_text("utf-8")
    theirs = re.findall(r"^##+ (.+?)(?: \[optional\])?$", template, re.MULTILINE)
    ours = [one for one in re.findall(r"^##+ (.+)$", text, re.MULTILINE) if one in theirs]
    assert ours == [one for one in theirs if one in ours]
    assert {"Dataset Details", "Uses", "Dataset Structure", "Dataset Creation", "Citation"} <= set(ours)
    assert DatasetCard(text).data.to_dict()["license"] == "cc-by-4.0", "the Hub's own reader reads it"


def test_every_config_has_an_example_that_stands_in_its_data(
    first_release: AssembledRelease, text: str
) -> None:
    import pyarrow.parquet as pq

    found = dict(re.findall(r"^\*\*(\w+)\*\* \([^`]+`([^`]+)`\)", text, re.MULTILINE))
    assert set(found) == set(first_release.rows)
    for config, name in found.items():
        split = "dev" if "dev" in first_release.rows[config] else "test"
        rows = pq.read_table(first_release.folder / config, columns=["id", "prompt"]).to_pylist()
        row = next(row for row in rows if row["id"] == name)
        assert (first_release.folder / config / f"{split}-00000-of-00001.parquet").is_file()
        first = row["prompt"][:LONGEST].splitlines()[0]
        assert " ".join(first.split())[:20] in text.replace("\\", "")


def test_every_column_is_explained(first_release: AssembledRelease) -> None:
    import pyarrow.parquet as pq

    columns = {
        name
        for config in first_release.rows
        for path in (first_release.folder / config).glob("*.parquet")
        for name in pq.read_schema(path).names
    }
    assert {name for names, _ in COLUMNS for name in names.split(", ")} >= columns


@pytest.mark.parametrize(
    ("field", "value", "language", "name"),
    [
        ("metre", "fa_7", "fa", "رمل مثمن مخبون محذوف"),
        ("metre", "fa_70", "fa", "مفاعلن فع مفاعلن فع مفاعلن فع مفاعلن فع"),
        ("era", "pre_islamic", "ar", "العصر الجاهلي (Pre-Islamic)"),
        ("genre", "praise", "ar", "مدح (Praise)"),
        ("metre", "not known", "fa", "not known"),
        ("poet", "hafez", "fa", "hafez"),
    ],
)
def test_metres_eras_and_genres_are_called_by_their_names(
    field: str, value: str, language: str, name: str
) -> None:
    assert spoken(field, value, language) == name


def test_no_agreement_of_toy_auditors_stands_without_saying_so(text: str, tmp_path: Path) -> None:
    said = "They are too small to judge, so their agreement says nothing about the items."
    figures = [line for line in text.splitlines() if "AC1" in line and "auditors" in line]
    assert figures
    assert all(said in line for line in figures)
    assert "language models that are too small to judge" in text
    capable = assemble(folder=tmp_path / "r", **release_arguments(idiom_items(), CAPABLE))
    assert "too small to judge" not in (capable.folder / "README.md").read_text("utf-8")


def test_bibtex_can_be_read_and_holds_the_version(text: str) -> None:
    (entry,) = re.findall(r"```bibtex\n(@misc\{[\w-]+[\d.]*,\n.*?\n\})\n```", text, re.DOTALL)
    assert "  version = {0.1.0}," in entry
    assert "  author = {{Mihakk contributors}}," in entry
    assert entry.count("{") == entry.count("}")


def test_bibtex_escapes_what_latex_would_run() -> None:
    config = hafez_config(title="Hafez & {Egypt} 100% _x_ \\input{a}", authors=("A & B",), repository="a/b_c")
    entry = bibtex(config, FACTS, "0.1.0")
    assert r"  title = {Hafez \& Egypt 100\% \_x\_ inputa}," in entry
    assert r"  author = {{A \& B}}," in entry
    assert r"  howpublished = {\url{https://huggingface.co/datasets/a/b_c}}," in entry


def test_words_that_people_wrote_into_a_card_stay_where_they_are(tmp_path: Path) -> None:
    first = assemble(folder=tmp_path / "first", **release_arguments(idiom_items()))
    page = first.folder / "README.md"
    page.write_text(page.read_text("utf-8").replace("# Touchstone", "Ours.\n\n# Touchstone", 1), "utf-8")
    later = assemble(folder=tmp_path / "later", previous=first.folder, **release_arguments(idiom_items()))
    assert "Ours.\n\n# Touchstone" in (later.folder / "README.md").read_text("utf-8")
