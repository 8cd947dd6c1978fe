"""Attacks on a blind release from outside: `attacker.py` reads its public files and nothing of this project."""

from __future__ import annotations

import ast
import json
import random
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.errors import UsageError
from mihakk.settings import settings
from releases import gathered
from releases.assemble import AssembledRelease, assemble
from schemas.item import ChoiceItem, Item, Origin
from tests.releases.attack import ATTACKER, attacked, right_of, told_more_than_chance
from tests.releases.release_material import hafez_items, release_arguments

METRES = ("رمل", "مجتث", "مضارع", "هزج", "خفیف", "منسرح")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "a secret of enough characters")
    settings.cache_clear()


@cache
def items() -> tuple[Item, ...]:
    """The continuations of the first ghazals, and the metre of each couplet: several a ghazal."""
    import hafez

    made = list(hafez_items(60))
    for number in range(1, 61):
        draw = random.Random(number)  # nosec B311 # a fixture
        right = draw.choice(METRES)
        lines = hafez.get_poem(number)["poem"]
        for place in range(len(lines) // 2):
            wrong = draw.sample([one for one in METRES if one != right], 3)
            options = draw.sample([right, *wrong], 4)
            verse = f"{lines[2 * place]} … {lines[2 * place + 1]}"
            made.append(
                ChoiceItem(
                    id=f"fa-metre_choice-{number:04x}{place:012x}",
                    task="metre_choice",
                    language="fa",
                    question=f"وزن این بیت چیست؟ «{verse}»",
                    fields={"verse": verse},
                    options=tuple(options),
                    gold=(options.index(right),),
                    option_kinds=tuple("right" if one == right else "other_label" for one in options),
                    origin=Origin(
                        records=(f"hafez:{number}:{place}",), generator="metre_choice", generator_version="1"
                    ),
                    metadata={"poet": "حافظ", "metre": right},
                    licence="public-domain",
                    attribution="حافظ، 1325",
                )
            )
    return tuple(made)


def records() -> list[str]:
    return sorted({record for item in items() for record in item.origin.records})


def answers_of(release: AssembledRelease) -> dict[str, Any]:
    assert release.answers is not None
    path = release.answers.folder / "answers" / "test-00000-of-00001.parquet"
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def test_the_attacker_knows_nothing_of_this_project() -> None:
    tree = ast.parse(ATTACKER.read_text("utf-8"))
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) == {"pyarrow"}


def test_a_blind_release_tells_an_attacker_nothing(
    tmp_path: Path, measured: Callable[[str, float], None]
) -> None:
    release = assemble(folder=tmp_path / "blind", **release_arguments(items(), blind="repository"))
    told = attacked(release.folder, records(), tmp_path)
    figures = right_of(release.folder, answers_of(release), told)
    assert told["sources"] == {}
    assert {"rarest_option", "group_intersection", "first_by_alphabet"} <= {attack for attack, _ in figures}
    assert sum(count for (attack, _), (_, _, count) in figures.items() if attack == "rarest_option") >= 60
    assert told_more_than_chance(figures) == {}
    measured("blind-tells-nothing", len(told_more_than_chance(figures)))


def test_the_attacker_finds_the_golds_of_items_that_share_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attacks work: without the selection they recover what they recovered of the first blind releases."""
    monkeypatch.setattr(gathered, "keep_apart", lambda placed, *_: (placed, []))
    monkeypatch.setattr(gathered, "require", lambda _: None)
    release = assemble(folder=tmp_path / "leaky", **release_arguments(items(), blind="repository"))
    found = told_more_than_chance(
        right_of(release.folder, answers_of(release), attacked(release.folder, records(), tmp_path))
    )
    assert ("cross_task", "fa_continuation_choice") in found
    assert ("cross_task", "fa_continuation_completion") in found


def test_a_release_that_tells_golds_is_refused_with_the_attack_that_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered, "keep_apart", lambda placed, *_: (placed, []))
    with pytest.raises(UsageError, match=r"leaks: .* attacks on .* cross_task on fa_continuation_choice: "):
        assemble(folder=tmp_path / "leaky", **release_arguments(items(), blind="repository"))


def test_public_ids_that_name_their_records_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("releases.content.secret.public_id", lambda _, name: name)
    with pytest.raises(UsageError, match=r"leaks: .* ids or groups name the source of"):
        assemble(folder=tmp_path / "named", **release_arguments(items(), blind="repository"))


def test_the_gate_stands_in_the_release(tmp_path: Path) -> None:
    release = assemble(folder=tmp_path / "blind", **release_arguments(items(), blind="repository"))
    gates = {
        gate["name"]: gate
        for gate in json.loads((release.folder / "audit" / "gates.json").read_bytes())["gates"]
    }
    assert gates["leaks"]["passed"]
    assert "none finds more than chance explains" in gates["leaks"]["found"]
