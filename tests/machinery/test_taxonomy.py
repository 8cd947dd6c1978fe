"""Labels are found in any known spelling, and one that can't be mapped says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery import taxonomy
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.taxonomy import NEVER, TABLES, Kind, Vocabulary, vocabulary
from mihakk.schemas.record import Language


def known(kind: Kind, language: Language) -> Vocabulary:
    table = vocabulary(kind, language)
    assert table is not None
    return table


@pytest.mark.parametrize(("kind", "language"), sorted(TABLES))
def test_every_table_loads_and_knows_its_own_identifiers(kind: Kind, language: Language) -> None:
    table = known(kind, language)
    assert len(table.spellings) > len(table.entries) > 0
    assert [table.match(identifier) for identifier in table.entries] == list(table.entries)
    assert set(table.spellings.values()) <= set(table.entries)


def test_a_language_without_a_taxonomy_has_no_table() -> None:
    assert vocabulary("era", "fa") is None
    assert vocabulary("genre", "en") is None


@pytest.mark.parametrize(("kind", "language"), sorted(TABLES))
def test_every_refused_label_gives_its_reason_and_says_why(kind: Kind, language: Language) -> None:
    table = known(kind, language)
    path = REFERENCE / f"{TABLES[kind, language][0]}.yaml"
    rows = {name: yaml.safe_load(path.read_text("utf-8")).get(name) or [] for name in NEVER}
    seen = 0
    for name, reason in NEVER.items():
        for row in rows[name]:
            entry = {"label": row} if isinstance(row, str) else row
            named = (entry.get("label"), entry.get("en"))
            for label in [*entry.get("labels", ()), *entry.get("aliases", ()), *named]:
                if label is None:
                    continue
                with pytest.raises(RecordRejected) as refused:
                    table.match(label)
                assert refused.value.reason == f"{kind}_{reason.format(kind=kind)}"
                assert label in refused.value.detail
                seen += 1
    assert seen >= len(table.refused)


def test_missing_and_unknown_labels_are_told_apart() -> None:
    for label, reason in (("", "era_missing"), (" ـ ", "era_missing"), ("عصر الذرة", "era_unknown")):
        with pytest.raises(RecordRejected) as refused:
            known("era", "ar").match(label)
        assert refused.value.reason == reason


@given(st.data())
def test_marks_spaces_and_prefixes_do_not_matter(data: st.DataObject) -> None:
    table = known("metre", "ar")
    row = data.draw(st.sampled_from(list(table.entries.values())))
    label = data.draw(st.sampled_from([row["ar"], *(variant["ar"] for variant in row["variants"])]))
    marked = "".join(letter + data.draw(st.sampled_from(["", "\u064e", "\u0640", " "])) for letter in label)
    prefix = data.draw(st.sampled_from(["", "بحر ", "البحر "]))
    assert table.match(prefix + marked) == row["id"]


def test_every_rhythm_of_the_export_and_every_number_of_it_is_known(shared_data: Path) -> None:
    table = known("metre", "fa")
    rhythms = json.loads((shared_data / "ganjoor" / "metres.json").read_text("utf-8"))
    assert len(rhythms) == 207
    for row in rhythms:
        # A record may carry Ganjoor's number or its words; both lead to one metre.
        assert table.match(f"fa_{row['Id']}") == table.match(row["Rhythm"])


def test_a_table_that_contradicts_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "eras.yaml").write_text(
        "eras:\n  - {id: one, ar: الأول}\n  - {id: two, ar: الثاني, aliases: [أوّل, الاول]}\n", "utf-8"
    )
    monkeypatch.setattr(taxonomy, "REFERENCE", tmp_path)
    with pytest.raises(UsageError, match="stands for both 'one' and 'two'"):
        vocabulary.__wrapped__("era", "ar")
