"""The registry of a Hub: what one benchmark seals no other prints, and what was printed is never sealed."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.machinery.settings import SAMPLES, settings
from mihakk.pipeline.steps.release import _whole_poems
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.cleaned.assemble import assemble_cleaned
from mihakk.releases.cleaned.errata import RowErratum
from mihakk.releases.cleaned_record import CleanedRecord, CleanedTable
from mihakk.releases.content.fingerprints import fingerprints
from mihakk.releases.content.seals import Seals, Works, repository_marks, row_tells
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.registry import UNREAD, Registry
from mihakk.releases.printed import printed
from mihakk.schemas.audit import Issue
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item, Origin
from mihakk.schemas.rejection import Cluster
from mihakk.schemas.review import ReviewedContent, Vote
from mihakk.schemas.withdrawal import Withdrawal
from tests.releases import release_material
from tests.releases.attacker import rows as public_rows
from tests.releases.release_material import FACTS, audits_of, divan, hafez_items, release_arguments

SECRET = "a secret of enough characters"
GHAZALS = tuple(item for item in hafez_items(32) if item.language == "fa")
FEW = tuple(item for item in hafez_items(12) if item.language == "fa")
"""Where what happens to each item is the same, and how many there are says nothing: a build takes a third."""
SOME = FEW[:90]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", SECRET)
    settings.cache_clear()


@pytest.fixture
def hub(tmp_path: Path) -> EmbeddedHub:
    return EmbeddedHub(tmp_path / "hub")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[EmbeddedHub, AssembledRelease]:
    """A Hub with one blind benchmark of few items, half of it sealed; tests get a copy."""
    return half_sealed(tmp_path_factory.mktemp("sealed"), FEW)


@pytest.fixture(scope="module")
def with_many_sealed(tmp_path_factory: pytest.TempPathFactory) -> tuple[EmbeddedHub, AssembledRelease]:
    """The same of all items; nothing is published there."""
    return half_sealed(tmp_path_factory.mktemp("many"), GHAZALS)


def half_sealed(folder: Path, items: Sequence[Item]) -> tuple[EmbeddedHub, AssembledRelease]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIHAKK_BLIND_KEY", SECRET)
        settings.cache_clear()
        found = EmbeddedHub(folder / "hub")
        return found, Maker(folder)(found, "blind", items, blind="repository", test_share=0.5)


@pytest.fixture
def blind(published: tuple[EmbeddedHub, AssembledRelease]) -> AssembledRelease:
    """What `sealed_hub` holds."""
    return published[1]


@pytest.fixture
def sealed_hub(published: tuple[EmbeddedHub, AssembledRelease], tmp_path: Path) -> EmbeddedHub:
    return EmbeddedHub(shutil.copytree(published[0].root, tmp_path / "sealed", symlinks=True))


class Maker:
    """Builds benchmarks as the release step does, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0
        self.findings: tuple[Finding, ...] = ()

    def assemble(
        self, hub: EmbeddedHub, name: str, items: Sequence[Item], works: Works | None = None, **release: Any
    ) -> AssembledRelease:
        self.made += 1
        own = self.folder / f"build{self.made}"
        given = release_arguments(tuple(items), **release)
        given["config"] = given["config"].model_copy(update={"name": name})
        given["findings"] = self.findings or given["findings"]
        blind = release.get("blind", "off") != "off"
        with hub.previous(name) as previous:
            return assemble(
                folder=own / "release",
                previous=previous,
                earlier=hub.older(name, own) if blind else (),
                siblings=hub.siblings(name, own) if blind else (),
                seals=replace(hub.seals(name, blind=blind), works=works or {}),
                **given,
            )

    def __call__(
        self,
        hub: EmbeddedHub,
        name: str,
        items: Sequence[Item] = FEW,
        works: Works | None = None,
        **release: Any,
    ) -> AssembledRelease:
        made = self.assemble(hub, name, items, works, **release)
        hub.publish(made)
        return made


@pytest.fixture
def build(tmp_path: Path) -> Maker:
    return Maker(tmp_path)


def letters(text: str) -> str:
    """Letters alone, by the standard library: what any reader would call the same line."""
    bare = unicodedata.normalize("NFKD", text).translate(str.maketrans("يىكةأإآ", "ییکهااا"))
    return "".join(char for char in bare if char.isalpha() and char != "ـ")


def sealed_lines(release: AssembledRelease) -> set[str]:
    """Every couplet's first line that the release asks about with its gold sealed, as an outsider reads it."""
    return {letters(row["fields"]["first"]) for row in public_rows(release.folder) if row["sealed"]}


def printed_lines(release: AssembledRelease) -> set[str]:
    found = set()
    for row in public_rows(release.folder):
        if not row["sealed"]:
            found |= {letters(text) for text in (row["fields"]["first"], *(row.get("options") or ()))}
    return found


def reasons(release: AssembledRelease) -> list[str]:
    return [row.reason for row in release.left_out]


def with_marks(text: str) -> str:
    return "".join(char + ("\u064e" if char.isalpha() else "") for char in text)


CHANGES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "marks": with_marks,
    "other spaces": lambda text: text.replace(" ", "  ").replace("\u200c", ""),
    "words joined": lambda text: text.replace(" ", "", 2),
    "Arabic letters": lambda text: text.replace("ی", "ي").replace("ک", "ك"),
    "kashida": lambda text: re.sub(r"(?<=[سشبتن])(?=[ا-ی])", "ـ", text),
    "punctuation": lambda text: f"«{text.replace(' ', '، ', 1)}»!",
}


def changed(item: Item, change: Callable[[str], str]) -> Item:
    texts: dict[str, Any] = {"fields": {**item.fields, "first": change(item.fields["first"])}}
    texts["question"] = item.question.replace(item.fields["first"], texts["fields"]["first"])
    if item.kind == "choice":
        texts["options"] = tuple(map(change, item.options))
    elif item.kind == "answer":
        texts["answer"] = change(item.answer)
    return item.model_copy(update=texts)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_sealed_waits_in_every_other_benchmark(
    change: str, with_many_sealed: tuple[EmbeddedHub, AssembledRelease], build: Maker
) -> None:
    hub, blind = with_many_sealed
    sealed = sealed_lines(blind)
    assert len(sealed) >= 60
    other = build.assemble(hub, "renamed", [changed(item, CHANGES[change]) for item in GHAZALS])
    assert not sealed & printed_lines(other)
    assert reasons(other).count("waits_for_seal") >= len(sealed)
    assert other.items >= 300, "what is not sealed is released"


def test_what_a_benchmark_of_the_hub_printed_is_never_sealed(hub: EmbeddedHub, build: Maker) -> None:
    printed = printed_lines(build(hub, "open", GHAZALS[: len(GHAZALS) // 2]))
    blind = build(hub, "blind", [changed(one, with_marks) for one in GHAZALS], blind="repository")
    assert len(sealed_lines(blind)) >= 50
    assert not sealed_lines(blind) & printed
    assert reasons(blind).count("blind_printed") >= 100
    with pytest.raises(UsageError, match="another benchmark of this hub"):
        build(hub, "copy", GHAZALS[: len(GHAZALS) // 2], blind="repository")


def test_a_withdrawn_or_replaced_version_has_still_printed_its_golds(hub: EmbeddedHub, build: Maker) -> None:
    first = build(hub, "open")
    build(hub, "open", GHAZALS[:30])
    hub.withdraw("open", Withdrawal(version=first.version, why="a mistake", withdrawn_on=date(2026, 1, 2)))
    with pytest.raises(UsageError, match="printed them with their golds"):
        build(hub, "blind", blind="repository")


def test_a_blind_benchmark_that_becomes_open_prints_nothing_it_sealed(hub: EmbeddedHub, build: Maker) -> None:
    sealed = sealed_lines(build(hub, "verse", blind="repository", test_share=0.5))
    opened = build(hub, "verse")
    assert not sealed & printed_lines(opened)
    hub.end_seal("verse")
    assert sealed <= {letters(row["fields"]["first"]) for row in public_rows(build(hub, "verse").folder)}
    with pytest.raises(UsageError, match="printed them with their golds"):
        build(hub, "another", blind="repository")


def test_a_second_build_of_a_blind_benchmark_changes_nothing(sealed_hub: EmbeddedHub, build: Maker) -> None:
    build(sealed_hub, "open")
    again = build.assemble(sealed_hub, "blind", FEW, blind="repository", test_share=0.5)
    assert again.unchanged


def test_texts_of_this_repositorys_data_are_not_sealed(hub: EmbeddedHub, build: Maker) -> None:
    lines = (SAMPLES / "egyptian_idioms.jsonl").read_text(encoding="utf-8").splitlines()
    idioms = [json.loads(line) for line in lines][:40]
    items: list[Item] = [
        ChoiceItem(
            id=f"ar-meaning_choice-{number:016x}",
            task="meaning_choice",
            language="ar",
            question=f"ما معنى «{idiom['text']}»؟",
            options=(idiom["explanation"], f"معنى آخر لا يعرفه أحد رقم {number} من المعاني"),
            option_kinds=("right", "other_meaning"),
            gold=(0,),
            fields={"phrase": with_marks(idiom["text"])},
            origin=Origin(
                records=(f"somewhere-{number}",), generator="meaning_choice", generator_version="1"
            ),
            licence="CC-BY-4.0",
        )
        for number, idiom in enumerate(idioms)
    ]
    with pytest.raises(UsageError, match="this repository's data"):
        build(hub, "idioms", items, blind="repository")


def metre(prefix: str, number: int, couplet: int = 1) -> Item:
    metres = ("رمل", "مجتث", "مضارع", "هزج")
    verse = "\n".join(divan()[number][2 * couplet : 2 * couplet + 2])
    return ChoiceItem(
        id=f"fa-metre_choice-{number * 100 + couplet:016x}",
        task="metre_choice",
        language="fa",
        question=f"وزن این بیت چیست؟ «{verse}»",
        fields={"verse": verse},
        options=metres,
        gold=(number * 7 % 4,),
        option_kinds=tuple("right" if place == number * 7 % 4 else "other_label" for place in range(4)),
        origin=Origin(
            records=(f"{prefix}-{number}:{couplet}",), generator="metre_choice", generator_version="1"
        ),
        licence="public-domain",
    )


def test_metres_that_stand_in_this_repositorys_tables_are_not_sealed(hub: EmbeddedHub, build: Maker) -> None:
    with pytest.raises(UsageError, match="this repository's data"):
        build(hub, "metres", [metre("hafez", number) for number in range(1, 41)], blind="repository")
    other = [metre("divan", number) for number in range(1, 41)]
    assert build(hub, "metres", other, blind="repository").items >= 10


def edition(prefix: str, number: int, couplets: slice) -> dict[str, list[str]]:
    """A poem as an edition has it."""
    lines = divan()[number]
    return {
        f"{prefix}-{number}": [
            line for two in range(len(lines) // 2)[couplets] for line in lines[2 * two :][:2]
        ]
    }


SHORT = {
    name: text for number in range(1, 41) for name, text in edition("short", number, slice(0, 3)).items()
}
LONG = {
    name: text for number in range(1, 61) for name, text in edition("long", number, slice(2, None)).items()
}
ABOUT_SHORT = [metre("short", number, 1) for number in range(1, 41)]
ABOUT_LONG = [metre("long", number, 3) for number in range(1, 61)]
"""About a couplet that the short edition lacks; a third of the poems are in none."""


def test_a_label_that_is_sealed_is_told_by_no_couplet_of_a_longer_edition(
    hub: EmbeddedHub, build: Maker
) -> None:
    blind = build(hub, "blind", ABOUT_SHORT, SHORT, blind="repository", test_share=1.0)
    asked = {letters(row["fields"]["verse"]) for row in public_rows(blind.folder) if row["sealed"]}
    sealed = {number for number in range(1, 41) if letters(metre("short", number).fields["verse"]) in asked}
    assert len(sealed) >= 10
    other = build(hub, "open", ABOUT_LONG, LONG)
    printed = {
        int(row["origin"]["records"][0].split("-")[1].split(":")[0]) for row in public_rows(other.folder)
    }
    assert printed == set(range(1, 61)) - sealed


def test_a_label_that_a_longer_edition_printed_is_not_sealed(hub: EmbeddedHub, build: Maker) -> None:
    build(hub, "open", ABOUT_LONG[:20], LONG)
    blind = build(hub, "blind", ABOUT_SHORT, SHORT, blind="repository", test_share=1.0)
    asked = {letters(row["fields"]["verse"]) for row in public_rows(blind.folder) if row["sealed"]}
    assert asked
    assert not asked & {letters(item.fields["verse"]) for item in ABOUT_SHORT[:20]}
    assert reasons(blind).count("blind_printed") == 20


def test_one_benchmark_parts_two_editions_of_a_poem_and_stays_as_it_is(
    hub: EmbeddedHub, build: Maker
) -> None:
    both, works = [*ABOUT_SHORT, *ABOUT_LONG], SHORT | LONG
    blind = build(hub, "blind", both, works, blind="repository", test_share=0.5)
    rows = public_rows(blind.folder)
    number = {letters(one.fields["verse"]): one.origin.records[0].split("-")[1].split(":")[0] for one in both}
    asked = {number[letters(row["fields"]["verse"])] for row in rows if row["sealed"]}
    told = {number[letters(row["fields"]["verse"])] for row in rows if not row["sealed"]}
    assert min(len(asked), len(told)) >= 10
    assert not asked & told
    again = build.assemble(hub, "blind", both, works, blind="repository", test_share=0.5)
    assert again.unchanged


def test_poems_that_were_merged_share_their_lines() -> None:
    """The one that stands for both is held for what the other one shows, though only the earlier stage has it."""

    def poem(name: str, *lines: str) -> Any:
        halves = [SimpleNamespace(text=line) for line in lines]
        return SimpleNamespace(id=name, couplets=[SimpleNamespace(halves=halves)])

    kept, other, alone = poem("kept", "a"), poem("other", "b", "c"), poem("alone", "d")
    tables = {"3_curated": [kept, alone], "2_normalized": [kept, other, alone]}
    lake: Any = SimpleNamespace(stage=lambda name: SimpleNamespace(read_all=lambda *_: iter(tables[name])))
    items = [metre(name, 1).model_copy(update={"origin": origin(f"{name}:1")}) for name in ("kept", "alone")]
    cluster = Cluster(kept="kept", merged=("other",), level="poem", method="near", similarity=0.9)
    assert _whole_poems(lake, items, [cluster]) == {"kept": ("a", "b", "c"), "alone": ("d",)}


def origin(record: str) -> Origin:
    return Origin(records=(record,), generator="metre_choice", generator_version="1")


def outside(folder: Path, rows: list[dict[str, str]], ending: str, **told: Any) -> AssembledRelease:
    """The cleaned release of somebody's benchmark, as an audit drafts it."""
    frame, name = pd.DataFrame(rows), f"rows.{ending}"

    def write(target: Path) -> None:
        path = target / name
        if ending == "jsonl":
            frame.to_json(path, orient="records", lines=True)  # letters as \\u0627
        elif ending == "xlsx":
            frame.to_excel(path, index=False)
        elif ending == "parquet":
            frame.to_parquet(path)
        else:
            frame.replace("ی", "ي", regex=True).to_csv(path, index=False, encoding="cp1256")

    table = CleanedTable(path=name, format=ending, rows=len(rows), original_rows=len(rows))
    record = CleanedRecord(
        name="outside",
        title="Outside",
        version="",
        source=name,
        original="",
        data="",
        licence="CC-BY-4.0",
        languages=("fa",),
        tables=(table,),
        changes={},
        audit_states={},
        policy="strict",
    )
    return assemble_cleaned(
        record,
        told.get("errata", ()),
        folder,
        write_data=told.get("write", write),
        write_audit=lambda _: None,
    )


def couplets(items: Sequence[AnswerItem]) -> list[dict[str, str]]:
    """Rows in columns of their own."""
    return [{"Q": one.fields["first"], "A": one.answer, "n": str(n)} for n, one in enumerate(items)]


COMPLETIONS = [one for one in GHAZALS if isinstance(one, AnswerItem)]


ENDINGS = ("jsonl", "csv", "parquet", "xlsx")


def test_an_audits_release_prints_nothing_that_is_sealed(
    hub: EmbeddedHub, build: Maker, tmp_path: Path
) -> None:
    sealed = sealed_lines(build(hub, "blind", blind="repository", test_share=0.5))
    for ending in ENDINGS:
        mixed = outside(tmp_path / ending, couplets(COMPLETIONS), ending)
        with pytest.raises(
            UsageError, match=rf"outside 0\.1\.0 prints texts that are sealed .*rows\.{ending}, (row|line|xl)"
        ):
            hub.publish(mixed)
    free = [one for one in COMPLETIONS if letters(one.fields["first"]) not in sealed]
    gone = next(one for one in COMPLETIONS if letters(one.fields["first"]) in sealed)
    row = RowErratum(
        table="t", row=1, line=1, own_id="", subset="", split="", change="blocked", evidence=(),
        before=json.dumps({"Q": gone.fields["first"]}), after="",
    )  # fmt: skip
    with_errata = outside(tmp_path / "errata", couplets(free[:3]), "csv", errata=[row])
    with pytest.raises(UsageError, match=r"errata/changes\.parquet, row 1"):
        hub.publish(with_errata)


WRITTEN: dict[str, Callable[[str], str]] = {
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(char):x};" for char in text),
    "escapes": lambda text: text.encode("ascii", "backslashreplace").decode(),
    "of an address": quote,
    "read as Latin-1": lambda text: text.encode().decode("latin-1"),
    "of one byte a letter": lambda text: text.encode("cp1256", "replace").decode("cp1252", "replace"),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_text_as_scraped_tables_hold_it_is_known(
    form: str, blind: AssembledRelease, sealed_hub: EmbeddedHub, tmp_path: Path
) -> None:
    sealed = next(row["fields"]["first"] for row in public_rows(blind.folder) if row["sealed"])
    rows = [{"Q": "ما ضد الطول؟", "A": "القصر"}, {"Q": WRITTEN[form](sealed), "A": "x"}]
    with pytest.raises(UsageError, match=r"prints texts that are sealed .*rows\.jsonl, line 2"):
        sealed_hub.publish(outside(tmp_path / "outside", rows, "jsonl"))


def said_twice(path: Path, text: str) -> None:
    path.with_suffix(".jsonl").write_text(f'{{"Q": "{text}", "Q": "ما ضد الطول؟"}}\n', encoding="utf-8")


def as_bytes(path: Path, text: str) -> None:
    pq.write_table(pa.table({"Q": ["ما ضد الطول؟"], "b": [text.encode()]}), path.with_suffix(".parquet"))


def as_metadata(path: Path, text: str) -> None:
    table = pa.table({"Q": ["ما ضد الطول؟"]}).replace_schema_metadata({"note": text})
    pq.write_table(table, path.with_suffix(".parquet"))


@pytest.mark.parametrize("write", [said_twice, as_bytes, as_metadata], ids=lambda one: one.__name__)
def test_what_a_parser_drops_is_printed_too(
    write: Callable[[Path, str], None], blind: AssembledRelease, sealed_hub: EmbeddedHub, tmp_path: Path
) -> None:
    sealed = next(row["fields"]["first"] for row in public_rows(blind.folder) if row["sealed"])
    ending = "jsonl" if write is said_twice else "parquet"
    made = outside(
        tmp_path / "outside",
        [{"Q": "ما ضد الطول؟"}],
        ending,
        write=lambda folder: write(folder / "rows", sealed),
    )
    with pytest.raises(UsageError, match=r"prints texts that are sealed .*rows\."):
        sealed_hub.publish(made)


def test_a_finding_that_quotes_what_is_sealed_is_withheld(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker
) -> None:
    sealed = next(row["fields"]["first"] for row in public_rows(blind.folder) if row["sealed"])
    build.findings = (Finding(check="TX12", severity="flag", subject="x", detail=f"«{sealed}»"),)
    made = build(sealed_hub, "open")
    details = pq.read_table(made.folder / "audit" / "findings.parquet").column("detail").to_pylist()
    assert details == ["withheld: quotes what blind sealed"]


def test_of_items_that_wait_an_open_release_says_no_more_than_that(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker
) -> None:
    """They may ask what is sealed, and whoever has a hash or the key of a prompt can try it with each option."""
    judged = [
        ReviewedContent(
            item=item.id,
            content_hash=content_hash(item),
            language="fa",
            stratum="fa",
            stratum_items=len(FEW),
            unflagged_items=0,
            sampled=True,
            votes_needed=1,
            scores={},
        )
        for item in FEW
    ]
    votes = [
        Vote(
            item=one.item,
            content_hash=one.content_hash,
            vote=1,
            voter=1,
            decision="keep",
            first=True,
            last=True,
            adjudicator=False,
        )
        for one in judged
    ]
    facts = FACTS.model_copy(update={"reviewed": tuple(judged), "votes": tuple(votes)})
    made = build(sealed_hub, "open", facts=facts)
    released = {row["id"] for row in public_rows(made.folder)}
    assert 0 < len(released) < len(FEW)
    for name in ("verdicts", "scores", "reviewed", "votes"):
        told = set(pq.read_table(made.folder / "audit" / f"{name}.parquet").column("item").to_pylist())
        assert set() < told <= released, name


def test_an_auditor_who_quotes_what_is_sealed_stops_no_release(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = next(row["fields"]["first"] for row in public_rows(blind.folder) if row["sealed"])
    quoting = Issue(criterion="question_clarity", explanation=f"It asks for «{sealed}».")
    monkeypatch.setattr(
        release_material,
        "audits_of",
        lambda item: [one.model_copy(update={"issues": (quoting,)}) for one in audits_of(item)],
    )
    made = build(sealed_hub, "open")
    issues = pq.read_table(made.folder / "audit" / "scores.parquet").column("issues").to_pylist()
    assert {one["explanation"] for row in issues for one in row} == {"withheld: quotes what blind sealed"}


def beside(item: Item, text: str, place: str) -> Item:
    """The item with a text in a place that says what it is from, and asks nothing."""
    told: dict[str, dict[str, Any]] = {
        "attribution": {"attribution": f"See: {text}"},
        "metadata": {"metadata": {**item.metadata, "title": text}},
        "poet": {"metadata": {**item.metadata, "poet": text}, "fields": {**item.fields, "poet": text}},
        "title": {"fields": {**item.fields, "title": text}},
        "record": {"origin": item.origin.model_copy(update={"records": (f"{text.replace(' ', '_')}:1",)})},
        "subset": {"subset": text},
    }
    return item.model_copy(update=told[place])


PLACES = ("attribution", "metadata", "poet", "title", "record", "subset")


def test_what_is_sealed_waits_wherever_in_a_row_it_stands(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker
) -> None:
    rows, lines = public_rows(blind.folder), sealed_lines(blind)
    sealed = [row["fields"]["first"] for row in rows if row["sealed"]][: len(PLACES)]
    free = [one for one in COMPLETIONS if letters(one.fields["first"]) not in lines]
    hiding = [beside(*three) for three in zip(free, sealed, PLACES, strict=False)]
    other = build(sealed_hub, "open", [*hiding, *free[len(hiding) :][:20]])
    waiting = {row.record for row in other.left_out if row.reason == "waits_for_seal"}
    assert {one.id for one in hiding} <= waiting
    assert other.items >= 10, "the build leaves out what the hub would refuse, and no more"


def test_what_was_printed_anywhere_in_a_row_is_never_sealed(hub: EmbeddedHub, build: Maker) -> None:
    shown, asked = COMPLETIONS[: len(PLACES)], COMPLETIONS[40:]
    lines = [one.fields["first"] for one in asked[: len(PLACES)]]
    build(hub, "open", [beside(*three) for three in zip(shown, lines, PLACES, strict=True)])
    sealed = sealed_lines(build(hub, "blind", asked, blind="repository"))
    assert sealed
    assert not sealed & set(map(letters, lines))


def test_what_an_older_mihakk_registered_is_completed(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker, hub: EmbeddedHub
) -> None:
    """It read less: an open version is read again, and of a blind one the hub says that the owner has to."""

    def age(one: EmbeddedHub) -> None:
        registry = Registry(one.root)
        index = registry.index()
        versions = {name: entry.model_copy(update={"reader": 1}) for name, entry in index.versions.items()}
        data = index.model_copy(update={"versions": versions}).signed(registry.key()).model_dump_json()
        assert "reader" not in data
        (registry.folder / "index.json").write_text(data)

    build(hub, "open", [beside(COMPLETIONS[0], COMPLETIONS[40].fields["first"], "attribution")])
    assert Registry(hub.root).index().versions["open@0.1.0"].reader == UNREAD, "nothing is sealed yet"
    hub.seals("other", blind=True)
    whole = Registry(hub.root).index().versions
    age(hub)
    hub.seals("other")
    assert Registry(hub.root).index().versions == whole
    end = sealed_hub.end_seal("blind")
    age(sealed_hub)
    with pytest.raises(UsageError, match=r"read less of blind@0\.1\.0.*mihakk seal rebuild"):
        build(sealed_hub, "open")
    assert sealed_hub.rebuild_registry() == end
    assert Registry(sealed_hub.root).index().ended == tuple(end), "a seal that has ended stays so"
    assert sealed_lines(blind) <= printed_lines(build(sealed_hub, "open"))


def test_what_a_killed_publisher_left_is_no_benchmark(sealed_hub: EmbeddedHub, build: Maker) -> None:
    (sealed_hub.root / ".other.publishing-abcd1234" / ".git").mkdir(parents=True)
    assert build(sealed_hub, "open").version == "0.1.0"


def test_samples_whose_encoding_a_build_repairs_are_not_sealed() -> None:
    line = "ظمئت وأي الناس تصفو مشاربه"
    assert fingerprints([line]) <= repository_marks()


def test_what_a_person_writes_into_a_release_tells_nothing_sealed(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker
) -> None:
    sealed = next(row["fields"]["first"] for row in public_rows(blind.folder) if row["sealed"])
    with pytest.raises(UsageError, match=r"open 0\.1\.0 prints texts that are sealed .*CITATION\.cff, line"):
        build(sealed_hub, "open", authors=[f"{sealed} group"])
    assert sealed_hub.latest("open") is None


def test_the_reason_of_a_withdrawal_tells_nothing_sealed(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = next(row["fields"]["first"] for row in public_rows(blind.folder) if row["sealed"])
    day = date(2026, 1, 1)
    for text in (sealed, with_marks(sealed)):
        one = Withdrawal(version="0.1.0", why=f"The gold of «{text}» was wrong.", withdrawn_on=day)
        with pytest.raises(UsageError, match="holds a text that blind has sealed"):
            sealed_hub.withdraw("blind", one)
    plain = Withdrawal(version="0.1.0", why="Two golds were exchanged.", withdrawn_on=day)
    with monkeypatch.context() as patch:
        patch.setenv("MIHAKK_BLIND_KEY", "")
        settings.cache_clear()
        with pytest.raises(UsageError, match="nobody knows what must wait"):
            sealed_hub.withdraw("blind", plain)
    settings.cache_clear()
    assert not sealed_hub.withdrawals("blind")
    assert sealed_hub.withdraw("blind", plain)


def test_what_an_audits_release_printed_is_never_sealed(
    hub: EmbeddedHub, build: Maker, tmp_path: Path
) -> None:
    versions, index = {}, hub.root / ".registry" / "index.json"
    for place, ending in enumerate(ENDINGS):
        made = outside(tmp_path / ending, couplets(COMPLETIONS[50 * place :][:50]), ending)
        hub.publish(replace(made, name=ending))
        versions[f"{ending}@0.1.0"] = {"printed": 0, "sealed": 0, "digest": hashlib.sha256(b"").hexdigest()}
    # As a Mihakk left it that read no such release.
    for path in index.parent.glob("*.digests"):
        path.write_bytes(b"")
    index.write_text(json.dumps({"versions": versions}))
    blind = build(hub, "blind", GHAZALS, blind="repository", test_share=0.5)
    assert sealed_lines(blind)
    assert not sealed_lines(blind) & {letters(one.fields["first"]) for one in COMPLETIONS[:200]}


def test_nothing_is_sealed_beside_a_release_that_cannot_be_read(
    hub: EmbeddedHub, sealed_hub: EmbeddedHub, build: Maker, tmp_path: Path
) -> None:
    def damaged(target: Path) -> None:
        (target / "rows.parquet").write_bytes(b"PAR1 and no more")

    release = outside(tmp_path / "damaged", couplets(COMPLETIONS[:3]), "parquet", write=damaged)
    with pytest.raises(UsageError, match=r"outside 0\.1\.0: rows\.parquet can't be read"):
        sealed_hub.publish(release)
    assert sealed_hub.latest("outside") is None
    hub.publish(release)
    with pytest.raises(UsageError, match=r"outside@0\.1\.0: rows\.parquet can't be read .* another hub"):
        build(hub, "blind", GHAZALS, blind="repository", test_share=0.5)


def test_a_line_in_two_halves_and_another_word_in_each_are_found(hub: EmbeddedHub, build: Maker) -> None:
    """What the row's texts show beside each other, though none of them holds twenty letters in a row."""
    sealed = build(hub, "blind", COMPLETIONS, blind="repository", test_share=0.5)
    lines = sealed_lines(sealed)
    asked = [one for one in COMPLETIONS if letters(one.fields["first"]) in lines]

    def row(first: str, second: str, number: int) -> Item:
        return asked[0].model_copy(
            update={
                "id": f"fa-continuation_completion-{number:016x}",
                "question": "مصراع دوم را بنویس",
                "fields": {"first": first},
                "answer": second,
                "origin": asked[0].origin.model_copy(update={"records": (f"elsewhere-{number}:1",)}),
            }
        )

    halves, seals = [], hub.seals("open")
    for number, one in enumerate(asked):
        words = one.fields["first"].split()
        halves.append(row(" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :]), number))
    found = seals.waiting((one, one.model_dump()) for one in halves)
    assert len(found) == len(halves) >= 60
    other = []
    for number, one in enumerate(asked):
        first, second = one.fields["first"].split(), one.answer.split()
        first[1], second[-2] = "دگرگون", "دگرگون"
        other.append(row(" ".join(first), " ".join(second), number))
    assert len(seals.waiting((one, one.model_dump()) for one in other)) >= 0.95 * len(other)


@pytest.mark.parametrize("release", [{}, {"blind": "repository", "test_share": 0.5}], ids=["open", "blind"])
def test_what_is_looked_at_before_a_release_is_all_that_its_rows_print(
    sealed_hub: EmbeddedHub, build: Maker, monkeypatch: pytest.MonkeyPatch, release: dict[str, Any]
) -> None:
    """Else a build is refused at its end, again and again, for cells that make a sealed text beside each other."""
    looked_at: dict[str, frozenset[str]] = {}
    waiting = Seals.waiting

    def watched(seals: Seals, items: Iterable[tuple[Item, Mapping[str, Any]]]) -> dict[str, str]:
        pairs = list(items)
        looked_at.update((row["id"], row_tells(row)) for _, row in pairs)
        return waiting(seals, pairs)

    monkeypatch.setattr(Seals, "waiting", watched)
    made = build.assemble(sealed_hub, "other", FEW, **release)
    rows = [one for one in printed(made.folder) if one.place in looked_at]
    assert len(rows) > 60
    for one in rows:
        # The version and what a config is ranked under are not known before; no sealed text has such letters.
        unseen = {mark for mark in one.marks - looked_at[one.place] if not re.search("[0-9a-z]", mark)}
        assert not unseen, one.place


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no folder": shutil.rmtree,
    "no index": lambda folder: (folder / "index.json").unlink(),
    "truncated index": lambda folder: (folder / "index.json").write_bytes(
        (folder / "index.json").read_bytes()[:-30]
    ),
    "empty index": lambda folder: (folder / "index.json").write_bytes(b""),
    "index of nothing": lambda folder: (folder / "index.json").write_bytes(b"{}"),
    "truncated digests": lambda folder: (folder / "blind@0.1.0.digests").write_bytes(
        (folder / "blind@0.1.0.digests").read_bytes()[:-16]
    ),
    "no digests": lambda folder: (folder / "blind@0.1.0.digests").unlink(),
    "emptied, and consistent": lambda folder: edit(folder, {"printed": 0, "sealed": 0}, b""),
    "said to be open": lambda folder: edit(folder, {"printed": 1, "sealed": 0}, bytes(16)),
    "most of it gone": lambda folder: edit(folder, {"printed": 0, "sealed": 1}, bytes(16)),
    "no signature": lambda folder: edit(folder, {}, None, mac=""),
    "said to have ended": lambda folder: edit(folder, {}, None, ended=["blind@0.1.0"]),
    "no key and no signature": lambda folder: edit(folder, {}, None, key="", mac=""),
}


def edit(folder: Path, entry: dict[str, Any], data: bytes | None, **index: Any) -> None:
    """As somebody would who can write the folder and lacks the secret."""
    said = json.loads((folder / "index.json").read_bytes())
    if data is not None:
        (folder / "blind@0.1.0.digests").write_bytes(data)
        entry["digest"] = hashlib.sha256(data).hexdigest()
    said["versions"]["blind@0.1.0"] |= entry
    (folder / "index.json").write_text(json.dumps(said | index))


@pytest.mark.parametrize("damage", DAMAGE)
def test_without_its_registry_a_hub_publishes_nothing(
    damage: str, blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker
) -> None:
    DAMAGE[damage](sealed_hub.root / ".registry")
    with pytest.raises(UsageError, match="mihakk seal rebuild"):
        build(sealed_hub, "open", SOME)
    assert sealed_hub.latest("open") is None
    assert "blind@0.1.0" in sealed_hub.rebuild_registry()
    assert sealed_lines(blind) & {letters(item.fields["first"]) for item in SOME}
    assert not sealed_lines(blind) & printed_lines(build(sealed_hub, "open", SOME))


def test_a_copied_hub_keeps_its_seals_or_refuses(
    blind: AssembledRelease, sealed_hub: EmbeddedHub, build: Maker, tmp_path: Path
) -> None:
    whole = EmbeddedHub(shutil.copytree(sealed_hub.root, tmp_path / "whole"))
    assert not sealed_lines(blind) & printed_lines(build(whole, "open"))
    (tmp_path / "visible").mkdir()
    for folder in sealed_hub.root.glob("[!.]*"):
        shutil.copytree(folder, tmp_path / "visible" / folder.name)
    with pytest.raises(UsageError, match=r"lacks blind@0\.1\.0, which is blind"):
        build(EmbeddedHub(tmp_path / "visible"), "open")


def test_an_open_build_needs_the_secret_of_the_hubs_seals(
    sealed_hub: EmbeddedHub, build: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for secret, said in (("", "nobody knows what must wait"), ("quite another secret 123", "not the secret")):
        monkeypatch.setenv("MIHAKK_BLIND_KEY", secret)
        settings.cache_clear()
        with pytest.raises(UsageError, match=said):
            build(sealed_hub, "open")


def test_the_hub_refuses_a_release_that_heeded_nothing(
    hub: EmbeddedHub, sealed_hub: EmbeddedHub, build: Maker
) -> None:
    """Tables that come to the Hub by another way than a build, or were made before something was sealed."""
    early = build.assemble(hub, "open", FEW)
    late = build.assemble(hub, "late", FEW, blind="repository", test_share=0.5)
    with pytest.raises(UsageError, match=r"open 0\.1\.0 prints texts that are sealed \(\d+ of blind\)"):
        sealed_hub.publish(early)
    with pytest.raises(UsageError, match=r"late 0\.1\.0 prints texts that are sealed"):
        sealed_hub.publish(late)


def test_the_registry_tells_nothing_without_the_secret(hub: EmbeddedHub, build: Maker) -> None:
    """An attacker with the registry and the public files: the same texts under another secret share no digest."""
    release = build(hub, "blind", GHAZALS, blind="repository", test_share=0.9)
    entry = json.loads((hub.root / ".registry" / "index.json").read_bytes())["versions"]["blind@0.1.0"]
    data = (hub.root / ".registry" / "blind@0.1.0.digests").read_bytes()
    digests = {data[start : start + 16] for start in range(16 * entry["printed"], len(data), 16)}
    assert len(digests) == entry["sealed"] > 200
    tried = set()
    for row in public_rows(release.folder):
        if row["sealed"]:
            for text in (row["fields"]["first"], *(row.get("options") or ())):
                own = letters(text)
                runs = {
                    own,
                    *(own[n : n + size] for size in (12, 16, 20) for n in range(len(own) - size + 1)),
                }
                tried |= {
                    hashlib.sha256(f"{lead}{run}".encode()).digest()[:16]
                    for run in runs
                    for lead in ("", "=")
                }
    assert len(tried) > 5000
    assert not tried & digests
    assert not any(path.stat().st_mode & 0o077 for path in (hub.root / ".registry").iterdir())


def test_lookup_says_where_the_questions_stand_in_public(
    blind: AssembledRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "divan"
    folder.mkdir()
    (folder / "poems.txt").write_text(
        "\n".join(line.replace("ی", "ي") for n in range(1, 7) for line in divan()[n]), "utf-8"
    )
    known = {letters(line) for n in range(1, 7) for line in divan()[n]}
    done = CliRunner().invoke(app, ["seal", "lookup", str(blind.folder), "--in", str(folder), "--json"])
    assert done.exit_code == 0, done.output
    found = {(one["config"], one["in"]): one for one in json.loads(done.stdout)}
    for config in ("fa_continuation_choice", "fa_continuation_completion"):
        rows = [r for r in public_rows(blind.folder) if r["sealed"] and r["config"] == config]
        there = sum(letters(row["fields"]["first"]) in known for row in rows)
        assert 0 < there < len(rows)
        assert abs(found[config, str(folder)]["found"] - there) <= 2
        assert found[config, "our data"]["found"] == 0
    missing = CliRunner().invoke(app, ["seal", "lookup", str(blind.folder), "--in", "nowhere"])
    assert missing.exit_code == 2
