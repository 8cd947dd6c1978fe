"""`mihakk new` on files as people keep them: what it proposes, asks, writes, and what a build makes of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.scrapers.own_columns import guess_field
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import run

ROOT = Path(__file__).parents[2]
GHAZALS = 12
Verse = list[tuple[str, str]]


@pytest.fixture(scope="module")
def ghazals(tmp_path_factory: pytest.TempPathFactory) -> list[Verse]:
    """Couplets, from the Python package hafez."""
    raw = RawStore(str(tmp_path_factory.mktemp("hafez")))
    poems = [one for one in run(SourceUse(use="hafez", limit=GHAZALS), raw) if isinstance(one, Poem)]
    return [[(one.first.raw, one.second.raw) for one in poem.couplets if one.second] for poem in poems]


@pytest.fixture(scope="module")
def idioms() -> list[tuple[str, str]]:
    """Phrase and explanation of our sample."""
    lines = (ROOT / "data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines()
    return [(row["text"], row["explanation"]) for row in map(json.loads, lines)]


def propose(path: Path, answers: str = "", *options: str) -> tuple[dict[str, Any], str]:
    """The config proposed for files, by a person's answers, and what the screen said."""
    out = path.parent / "proposed.yaml"
    out.unlink(missing_ok=True)
    done = CliRunner().invoke(app, ["new", str(path), "--out", str(out), *options], input=answers)
    assert done.exit_code == 0, done.output
    text = out.read_text("utf-8")
    assert len(text.splitlines()) <= 30
    return yaml.safe_load(text), done.output


def options_of(config: dict[str, Any]) -> dict[str, Any]:
    (source,) = config["sources"]
    options: dict[str, Any] = source["options"]
    return options


def read(config: dict[str, Any], tmp_path: Path) -> list[Verse]:
    """The poems that a build would read."""
    use = SourceUse(use="files", name="own", options=options_of(config))
    found = [one for one in run(use, RawStore(str(tmp_path / "raw"))) if isinstance(one, Poem)]
    return [
        [(one.first.raw, one.second.raw if one.second else "") for one in poem.couplets] for poem in found
    ]


TEXTS = {
    "titled, halves in one line": lambda n, v: (
        f"غزل {n}\n\n" + "".join(f"{a}\t{b}\n" for a, b in v) + "\n***\n"
    ),
    "titled, one half a line": lambda n, v: f"غزل {n}\n" + "".join(f"{a}\n{b}\n" for a, b in v) + "\n",
    "title above, wide gap": lambda n, v: f"{n}- غزل\n\n" + "".join(f"{a}     {b}\n" for a, b in v) + "\n\n",
    "no title, two spaces": lambda n, v: "".join(f"{a}  {b}\n" for a, b in v) + "\n",
    "couplets apart": lambda n, v: f"غزل {n}\n\n" + "".join(f"{a}\n      {b}\n\n" for a, b in v) + "\n",
    "a number above": lambda n, v: f"{n}\n" + "".join(f"{a}\n{b}\n" for a, b in v),
    "no empty line": lambda n, v: f"غزل شمارهٔ {n}\n" + "".join(f"{a} - {b}\n" for a, b in v),
    "poet above": lambda n, v: f"حافظ\nغزل {n}\n" + "".join(f"{a}\t{b}\n" for a, b in v) + "\n",
    "poet below": lambda n, v: f"غزل {n}\nحافظ\n" + "".join(f"{a}\n{b}\n" for a, b in v) + "\n",
    "numbered couplets": lambda n, v: (
        f"غزل {n}\n" + "".join(f"{at}- {a}\n{b}\n" for at, (a, b) in enumerate(v, 1)) + "\n"
    ),
    "numbered behind": lambda n, v: (
        f"غزل {n}\n" + "".join(f"{a} / {b} ({at})\n" for at, (a, b) in enumerate(v, 1)) + "\n"
    ),
    "its opening is its title": lambda n, v: f"«{v[0][0]}»\n" + "".join(f"{a}؛ {b}\n" for a, b in v) + "\n",
    "metre below": lambda n, v: f"......{n}......\n[بحر رمل]\n" + "".join(f"{a}\n{b}\n" for a, b in v) + "\n",
    "its occasion above": lambda n, v: (
        f"غزلی در ستایش وزیر که به سال {n} در شیراز سروده شد و نزد او فرستاده آمد تا بخواند\n"
        + "".join(f"{a} / {b}\n" for a, b in v)
        + "\n"
    ),
    "slashes and marks": lambda n, v: f"# غزل {n}\n" + "".join(f"{a} // {b}\n" for a, b in v) + "---\n",
}


@pytest.mark.parametrize("layout", TEXTS)
def test_many_poems_in_one_text(layout: str, ghazals: list[Verse], tmp_path: Path) -> None:
    path = tmp_path / "divan.txt"
    path.write_text("".join(TEXTS[layout](number, verse) for number, verse in enumerate(ghazals)), "utf-8")
    answers = "Sara Amin\n" if layout.startswith("poet") else "حافظ\nSara Amin\n"
    config, screen = propose(path, answers)
    assert read(config, tmp_path) == ghazals
    assert config["release"]["authors"] == ["Sara Amin"]
    assert options_of(config)["licence"] == "public-domain"
    assert f"after {len(answers.splitlines())} answers" in screen
    assert f"mihakk build {tmp_path / 'proposed.yaml'} --dry-run" in screen.replace("\n", "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1256"])
def test_a_folder_of_one_poem_a_file(encoding: str, tmp_path: Path) -> None:
    lines = (ROOT / "data/samples/arabic_poems.jsonl").read_text("utf-8").splitlines()
    poems = [row for row in map(json.loads, lines) if row["poet"] in ("المتنبي", "أبو نواس", "البحتري")]
    folder = tmp_path / "divans"
    for poem in poems:
        place = folder / poem["poet"]
        place.mkdir(parents=True, exist_ok=True)
        verse = "\n".join(" ... ".join(both) for both in poem["couplets"])
        (place / f"{poem['id']}.txt").write_text(f"{poem['title']}\n{verse}\n", encoding)
    (folder / "README.txt").write_text("Poems I like", "utf-8")
    config, _ = propose(folder, "Sara Amin, Reza Karimi\n")
    options = options_of(config)
    assert options["folder_gives"] == "poet"
    assert options["language"] == "ar"
    assert options["licence"] == "public-domain"
    assert config["release"]["authors"] == ["Sara Amin", "Reza Karimi"]
    assert sorted(read(config, tmp_path)) == sorted(
        [tuple(both) for both in poem["couplets"]] for poem in poems
    )


def test_what_stands_above_the_first_ghazal_is_rejected_and_said(
    ghazals: list[Verse], tmp_path: Path
) -> None:
    text = "".join(TEXTS["titled, one half a line"](number, verse) for number, verse in enumerate(ghazals))
    path = tmp_path / "divan.txt"
    path.write_text(f"حافظ\nبه تصحیح قزوینی\nچاپ اول\n\n{text}", "utf-8")
    config, screen = propose(path, "Sara\n")
    assert read(config, tmp_path) == ghazals
    assert options_of(config)["fields"] == {"poet": "حافظ"}
    assert "1 above_headings" in screen


def table(path: Path, header: list[str], rows: list[list[Any]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return path


def test_a_long_table_is_grouped_and_put_in_order(ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [
        [number, "حافظ", place, first, second, "ن"]
        for number, verse in enumerate(ghazals)
        for place, (first, second) in enumerate(verse, start=1)
    ]
    header = ["شماره غزل", "شاعر", "بیت", "مصرع ۱", "مصرع ۲", "یادداشت"]
    config, screen = propose(table(tmp_path / "verses.csv", header, rows), "Sara\n")
    options = options_of(config)
    assert (options["group_by"], options["order"], options["ignore"]) == (["شماره غزل"], "بیت", ["یادداشت"])
    assert f"{len(rows)} rows are {GHAZALS} poems" in screen
    assert "left out: یادداشت" in screen
    assert read(config, tmp_path) == ghazals


def test_titles_that_stand_once_and_lines_one_a_row(ghazals: list[Verse], tmp_path: Path) -> None:
    once = [
        [f"غزل {number}" if not place else "", *both]
        for number, verse in enumerate(ghazals)
        for place, both in enumerate(verse)
    ]
    config, _ = propose(
        table(tmp_path / "a.csv", ["عنوان", "مصراع اول", "مصراع دوم"], once, ";"), "\nCC0-1.0\nS\n"
    )
    assert options_of(config)["fill"] == options_of(config)["group_by"] == ["عنوان"]
    assert read(config, tmp_path) == ghazals
    halves: list[list[Any]] = []
    for number, verse in enumerate(ghazals):
        lines = [half for both in verse for half in both]
        halves += [[len(halves) + at, number, at + 1, line] for at, line in enumerate(lines)]
    path = table(tmp_path / "b.csv", ["id", "poem", "order", "hemistich"], halves)
    config, _ = propose(path, "\nCC0-1.0\nS\n")
    assert options_of(config)["order"] == "order"
    assert read(config, tmp_path) == ghazals


LONG: dict[str, Callable[[int, int, tuple[str, str]], list[list[Any]]]] = {
    "counts begin anew": lambda _, at, both: [[at, *both]],
    "empty rows": lambda number, at, both: [*[["", "", ""]][: at == 1 and number > 0], ["", *both]],
    "titles in rows of their own": lambda number, at, both: (
        [*[[f"غزل {number}", "", ""]][: at == 1], ["", *both]]
    ),
}


@pytest.mark.parametrize("layout", LONG)
def test_rows_make_poems_that_no_column_names(layout: str, ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [
        [*row, "", ""]
        for number, verse in enumerate(ghazals)
        for at, both in enumerate(verse, start=1)
        for row in LONG[layout](number, at, both)
    ]
    first = "عنوان" if layout.startswith("titles") else "شماره"
    path = table(tmp_path / "verses.csv", [first, "مصرع اول", "مصرع دوم", "", ""], rows)
    config, screen = propose(path, "\nCC0-1.0\nS\n")
    assert read(config, tmp_path) == ghazals
    assert f"are {GHAZALS} poems" in screen


@pytest.mark.parametrize("cell", ["\n".join, repr, json.dumps])
def test_whole_poems_in_a_cell(
    cell: Callable[[list[str]], str], ghazals: list[Verse], tmp_path: Path
) -> None:
    rows = [[at, cell([half for both in verse for half in both])] for at, verse in enumerate(ghazals)]
    config, _ = propose(table(tmp_path / "poems.csv", ["n", "verses"], rows), "\nCC0-1.0\nS\n")
    assert read(config, tmp_path) == ghazals


def test_french_headers_and_labels_that_differ_within_poems(ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [
        ["Hafez", f"Ghazal {number}", at, *both, "amour" if at % 2 else "vin"]
        for number, verse in enumerate(ghazals)
        for at, both in enumerate(verse, start=1)
    ]
    header = ["Poète", "Titre", "Vers n°", "Premier hémistiche", "Second hémistiche", "Theme"]
    config, screen = propose(table(tmp_path / "v.csv", header, rows, ";"), "S\n")
    assert read(config, tmp_path) == ghazals
    assert options_of(config)["group_by"] == ["Titre", "Poète"]
    assert f"'Theme' differs within {GHAZALS} poems and is left out" in screen


def test_what_stands_beside_a_couplet_explains_it(ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [
        [number, *both, f"شرح بیت {at}"]
        for number, verse in enumerate(ghazals)
        for at, both in enumerate(verse, start=1)
    ]
    path = table(tmp_path / "v.csv", ["غزل", "صدر البيت", "عجز البيت", "شرح البيت"], rows)
    config, _ = propose(path, "حافظ\nS\n")
    assert options_of(config)["columns"]["explanations"] == "شرح البيت"
    use = SourceUse(use="files", name="own", options=options_of(config))
    poem = next(one for one in run(use, RawStore(str(tmp_path / "raw"))) if isinstance(one, Poem))
    assert [one.explanation for one in poem.couplets[:2]] == ["شرح بیت 1", "شرح بیت 2"]


@pytest.mark.parametrize("head", ["{}- {}", "({}) {}", "{} {}", "{}.{}", "{1} ({0})"])
def test_numbers_of_phrases(head: str, idioms: list[tuple[str, str]], tmp_path: Path) -> None:
    rows = [[head.format(n, phrase), said] for n, (phrase, said) in enumerate(idioms, start=1)]
    config, _ = propose(table(tmp_path / "i.csv", ["Idioms", "Meanings"], rows), "\nCC0-1.0\nS\n")
    use = SourceUse(use="files", name="own", options=options_of(config))
    found = [one for one in run(use, RawStore(str(tmp_path / "raw"))) if isinstance(one, Idiom)]
    assert [one.phrase.raw for one in found] == [phrase for phrase, _ in idioms]


def test_rows_that_all_rhyme_may_be_one_poem(ghazals: list[Verse], tmp_path: Path) -> None:
    path = table(tmp_path / "v.csv", ["مصرع اول", "مصرع دوم"], [list(both) for both in ghazals[1]])
    config, screen = propose(path, "2\nحافظ\nS\n")
    assert read(config, tmp_path) == [ghazals[1]]
    assert "could begin a poem. What are they?" in screen
    config, _ = propose(path, "1\nحافظ\nS\n")
    assert read(config, tmp_path) == [[both] for both in ghazals[1]]
    rows = [[first.replace("ا", ""), second] for first, second in ghazals[1]]
    config, screen = propose(table(tmp_path / "w.csv", ["مصرع اول", "مصرع دوم"], rows), "حافظ\nS\n")
    assert len(read(config, tmp_path)) == 1
    assert "share a rhyme: they are one poem" in screen


def test_verses_of_one_poet_are_no_poem(ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [[poet, *both] for poet in "ab" for verse in ghazals for both in verse[1:3]]
    path = table(tmp_path / "v.csv", ["شاعر", "مصرع اول", "مصرع دوم"], rows)
    config, screen = propose(path, "CC0-1.0\nS\n")
    assert len(read(config, tmp_path)) == len(rows)
    assert "give the table a column with the poem's number or title" in " ".join(screen.split())


def test_every_sheet_is_read_or_said_to_be_left_out(idioms: list[tuple[str, str]], tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Proverbs of Egypt"], ["collected by hand"]):
        book.active.append(row)
    first, second = book.create_sheet("one"), book.create_sheet("two")
    for row in (["المثل", "حرفيا", "الشرح"], ["Proverb", "Literal meaning", "Meaning"]):
        first.append(row)
    for number, (phrase, said) in enumerate(idioms[:20], start=1):
        first.append([f"{number}- {phrase}", f"حرفيا {said}", said])
    second.append(["Idiome", "Sens littéral", "Sens"])
    for phrase, said in idioms[20:]:
        second.append([phrase, f"حرفيا {said}", said])
    path = tmp_path / "Expressions égyptiennes.xlsx"
    book.save(path)
    out = tmp_path / "two.yaml"
    done = CliRunner().invoke(app, ["new", str(path), "--out", str(out)], input="CC0-1.0\nS\n")
    assert done.exit_code == 0, done.output
    one, two = (source["options"] for source in yaml.safe_load(out.read_text("utf-8"))["sources"])
    assert (one["sheet"], one["header_row"], one["numbered"]) == ("one", 2, True)
    assert (two["sheet"], two["columns"]) == ("two", {"phrase": "Idiome", "explanation": "Sens"})
    assert one["fields"]["dialect"] == two["fields"]["dialect"] == "egyptian"
    assert "sheet 'Sheet': no column of texts can be the explanation" in " ".join(done.output.split())
    uses = [SourceUse(use="files", name="own", options=options) for options in (one, two)]
    found = [entry for use in uses for entry in run(use, RawStore(str(tmp_path / "raw")))]
    assert [(one.phrase.raw, one.explanation.raw) for one in found if isinstance(one, Idiom)] == idioms


def test_a_folder_of_tables_and_texts_gives_a_source_for_each(
    idioms: list[tuple[str, str]], ghazals: list[Verse], tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    table(folder / "sayings.csv", ["phrase", "meaning"], [list(both) for both in idioms])
    table(folder / "todo.csv", ["task", "done"], [["type the rest", "no"]])
    text = "".join(TEXTS["poet above"](number, verse) for number, verse in enumerate(ghazals))
    (folder / "divan.txt").write_text(text, "utf-8")
    (folder / "book.docx").write_bytes(b"PK")
    out = tmp_path / "mine.yaml"
    done = CliRunner().invoke(app, ["new", str(folder), "--out", str(out), "--yes"])
    assert done.exit_code == 0, done.output
    kinds = [source["options"]["kind"] for source in yaml.safe_load(out.read_text("utf-8"))["sources"]]
    assert kinds == ["poem", "idiom"]
    screen = " ".join(done.output.split())
    assert "todo.csv: its columns 'task', 'done'" in screen
    assert "LEFT OUT: book.docx: save as plain text" in screen


def test_an_expression_without_a_column_for_its_meaning_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["n", "المثل"], [[at, f"مثل رقم {at} طويل"] for at in range(9)])
    done = CliRunner().invoke(app, ["new", str(path)])
    assert done.exit_code == 2
    assert "no column of texts can be the explanation" in " ".join(done.output.split())


def test_a_workbook_of_proverbs_below_a_title(idioms: list[tuple[str, str]], tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["أمثال مصرية", None, None])
    sheet.merge_cells("A1:C1")
    sheet.append(["م", "المثل الشعبي", "المقصود به"])
    for number, both in enumerate(idioms, start=1):
        sheet.append([number, *both])
    path = tmp_path / "نسخة.xlsx"
    book.save(path)
    (tmp_path / "LICENSE").write_text("Our texts are under CC-BY-SA-4.0.", "utf-8")
    config, screen = propose(path, "egyptian\n\nSara\n")
    options = options_of(config)
    assert options["header_row"] == 2
    assert options["columns"] == {"phrase": "المثل الشعبي", "explanation": "المقصود به"}
    assert options["fields"] == {"genre": "proverb", "dialect": "egyptian"}
    assert options["licence"] == "CC-BY-SA-4.0"
    assert f"{len(idioms)} idioms read" in screen


def test_columns_whose_names_say_nothing_are_told_by_what_they_hold(
    idioms: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = table(tmp_path / "list.csv", ["A", "B"], [[b, a] for a, b in idioms])
    config, screen = propose(path, "\nnone of these\nCC-BY-4.0\nSara\n")
    assert options_of(config)["columns"] == {"phrase": "B", "explanation": "A"}
    assert "'none of these' is no licence" in screen
    headless = table(tmp_path / "headless.csv", list(idioms[0]), [list(both) for both in idioms[1:]])
    done = CliRunner().invoke(app, ["new", str(headless)])
    assert done.exit_code == 2
    assert "no row names the columns" in done.output


def test_what_nobody_answers_stays_open_and_does_not_build(
    idioms: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = table(tmp_path / "sayings.csv", ["phrase", "meaning"], [list(both) for both in idioms])
    config, screen = propose(path, "", "--yes")
    assert (options_of(config)["licence"], config["release"]["authors"]) == ("?", ["?"])
    assert "answer 2 questions" in screen
    refused = CliRunner().invoke(app, ["build", "proposed.yaml", "--dry-run"])
    assert refused.exit_code == 2
    told = " ".join(refused.output.split())
    assert "proposed.yaml asks for sources[0].options.licence, release.authors[0]: write the answer" in told
    again = CliRunner().invoke(app, ["new", str(path), "--out", "proposed.yaml"])
    assert (again.exit_code, "exists" in again.output) == (2, True)
    cut = CliRunner().invoke(app, ["new", str(path)], input="\n")
    assert (cut.exit_code, "no more answers" in cut.output) == (2, True)


def test_what_can_be_read_in_two_ways_says_what_to_write(ghazals: list[Verse], tmp_path: Path) -> None:
    path = tmp_path / "divan.txt"
    pages = [
        f"غزل {n}\n"
        + "".join(f"{a}\n{b}\n" for a, b in v[:3])
        + f"{n + 9}\n"
        + "".join(f"{a}\n{b}\n" for a, b in v[3:])
        + "\n"
        for n, v in enumerate(ghazals)
    ]
    path.write_text("".join(pages), "utf-8")
    config, _ = propose(path, "", "--yes")
    assert options_of(config)["reading"] == "?"
    text = (tmp_path / "proposed.yaml").read_text("utf-8")
    assert "  # in place of `reading` {verse: {poems: blank_lines, title: first_line}}: 12 poems" in text
    path = table(
        tmp_path / "a.csv",
        ["المثل", "x", "y"],
        [[f"مثل {n} هنا", f"كلام {n} طويل", f"غيره {n}"] for n in range(9)],
    )
    config, _ = propose(path, "", "--yes")
    assert options_of(config)["columns"] == {"explanation": "?"}


def test_the_proposal_builds_to_a_release(
    idioms: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = table(tmp_path / "sayings.csv", ["phrase", "meaning"], [list(both) for both in idioms])
    propose(path, "\nCC-BY-4.0\nSara Amin\n")
    for name, folder in (("LAKE", "lake"), ("HUB", "hub"), ("RUNS", "runs")):
        monkeypatch.setenv(f"MIHAKK_{name}", str(tmp_path / folder))
    done = CliRunner().invoke(app, ["build", "proposed.yaml", "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "sayings 0.1.0" in done.output
    shown = CliRunner().invoke(app, ["show", "8_released", "-b", "proposed.yaml"])
    assert shown.exit_code == 0
    without = (tmp_path / "proposed.yaml").read_text("utf-8").replace("authors: [Sara Amin]", "authors: []")
    (tmp_path / "nobody.yaml").write_text(without, "utf-8")
    refused = CliRunner().invoke(app, ["build", "nobody.yaml"])
    assert refused.exit_code == 2
    assert "nobody is named as its author" in " ".join(refused.output.split())


@pytest.mark.parametrize("heads", [("مصراع {}", "مصراع {}"), ("صدر {}", "عجز {}")])
def test_a_poem_a_row_with_a_column_for_each_hemistich(
    heads: tuple[str, str], ghazals: list[Verse], tmp_path: Path
) -> None:
    most = max(map(len, ghazals))
    one_name = heads[0] == heads[1]
    header = [
        head.format(2 * at + half + 1 if one_name else at + 1)
        for at in range(most)
        for half, head in enumerate(heads)
    ]
    rows = [
        [number, *[half for both in verse for half in both], *[""] * (2 * (most - len(verse)))]
        for number, verse in enumerate(ghazals)
    ]
    path = table(tmp_path / "wide.csv", ["شماره", *header], rows)
    config, _ = propose(path, "حافظ\nSara\n")
    assert options_of(config)["columns"] == {"hemistichs": "مصراع *" if one_name else "صدر * + عجز *"}
    assert options_of(config)["ignore"] == ["شماره"]
    assert read(config, tmp_path) == ghazals
    rows[3][4] = ""
    path.unlink()
    table(path, ["شماره", *header], rows)
    assert read(config, tmp_path) == ghazals[:3] + ghazals[4:]


def test_single_couplets_with_a_slash_are_no_lists(ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [[number, " / ".join(verse[0]), "حافظ"] for number, verse in enumerate(ghazals)]
    config, _ = propose(table(tmp_path / "v.csv", ["poem_id", "verses", "poet"], rows), "Sara\n")
    assert read(config, tmp_path) == [verse[:1] for verse in ghazals]


def test_a_question_may_be_answered_by_a_column(ghazals: list[Verse], tmp_path: Path) -> None:
    rows = [["Hâfız", number, *both] for number, verse in enumerate(ghazals) for both in verse]
    path = table(tmp_path / "a.csv", ["Şair", "Gazel No", "Mısra 1", "Mısra 2"], rows)
    config, screen = propose(path, "Şair\nCC0-1.0\nSara\n")
    assert "A column that says it may be named: 'Şair'" in screen
    assert options_of(config)["columns"]["poet"] == "Şair"
    assert "ignore" not in options_of(config)


def test_prose_in_a_column_of_verses_is_asked_about(tmp_path: Path) -> None:
    ends = ["سماء", "جبل", "كتاب", "طريق", "بيت", "بحر", "عمل", "سيف"]
    rows = [[at // 4, f"هذا من النثر الذي لا وزن له ولا قافية فيه وهو {end}"] for at, end in enumerate(ends)]
    path = table(tmp_path / "verses.csv", ["sura", "verse_text"], rows)
    config, screen = propose(path, "\nverse\nCC0-1.0\nSara\n")
    assert "Of 2 poems 0 rhyme" in screen
    assert options_of(config)["kind"] == "poem"
    (tmp_path / "proposed.yaml").unlink()
    done = CliRunner().invoke(app, ["new", str(path), "--out", str(tmp_path / "b.yaml")], input="\nprose\n")
    assert done.exit_code == 2
    assert "no benchmark is built of prose" in done.output
    config, _ = propose(path, "", "--yes")
    assert options_of(config)["kind"] == "?"


def test_latin_letters_alone_are_no_english(tmp_path: Path) -> None:
    rows = [[f"Aba altında er yatar {number}", "giyim kuşam kişiliğe ölçü olamaz"] for number in range(8)]
    config, _ = propose(table(tmp_path / "a.csv", ["proverb", "meaning"], rows), "", "--yes")
    assert options_of(config)["language"] == "?"


def test_a_diwan_of_openiti_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "diwan.txt"
    head = "#META# 010.AuthorNAME\t:: أبو نواس\n#META# 020.BookTITLE\t:: ديوان\n#META#Header#End#\n"
    path.write_text(f"######OpenITI#\n{head}\n# % دع عنك لومي % وداوني بالتي %\n", "utf-8")
    done = CliRunner().invoke(app, ["new", str(path), "--out", str(tmp_path / "b.yaml")])
    assert done.exit_code == 2
    assert "keep the verse alone" in done.output


def test_what_is_no_table_and_no_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "book.docx").write_bytes(b"PK")
    done = CliRunner().invoke(app, ["new", str(tmp_path)])
    assert done.exit_code == 2
    assert "save as plain text (UTF-8), or its entries as .csv" in " ".join(done.output.split())
    (tmp_path / "news.txt").write_text(
        "The council met. It agreed on the budget, and went home.\n" * 40, "utf-8"
    )
    done = CliRunner().invoke(app, ["new", str(tmp_path / "news.txt")])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("kind", "name", "field"),
    [
        ("idiom", "Arabic proverb", "phrase"),
        ("idiom", "meaning_ar", "explanation"),
        ("idiom", "الأمثال", "phrase"),
        ("idiom", "شرح المثل ومعناه", ""),
        ("poem", "الشطر الأول", "first"),
        ("poem", "hemistich_2", "second"),
        ("poem", "hemistich", "hemistichs"),
        ("poem", "صدر البيت", "first"),
        ("poem", "Second hemistich", "second"),
        ("poem", "شرح البيت", "explanation"),
        ("poem", "مصرع ۲", "second"),
        ("poem", "page", ""),
    ],
)
def test_names_of_columns(kind: Any, name: str, field: str) -> None:
    assert guess_field(kind, name) == field


def test_a_book_of_prose_is_no_verse_and_names_what_reads_it(tmp_path: Path) -> None:
    explained = (ROOT / "data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in explained]
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(f"{row['text']}:\n{row['explanation']}" for row in rows), "utf-8")
    done = CliRunner().invoke(app, ["new", str(book)])
    assert done.exit_code == 2
    assert "no verse with a rhyme" in " ".join(done.output.split())
    assert "mihakk source try" in " ".join(done.output.split())


def test_texts_of_a_folder_may_have_headings_numbers_and_feet_or_none(
    ghazals: list[Verse], tmp_path: Path
) -> None:
    folder = tmp_path / "ghazals"
    folder.mkdir()
    for at, verse in enumerate(ghazals):
        pages = (
            f"غزل {at}\n\n" + "".join(f"{a}    {b}\n" for a, b in verse),
            "".join(f"{a}\n{b}\n" for a, b in verse),
            "".join(f"{n}. {a} / {b}\n" for n, (a, b) in enumerate(verse, 1)) + "\n— حافظ\n",
            f"حافظ شیرازی\nغزل شماره {at}\n\n"
            + "".join(f"{a}\n{b}\n\n" for a, b in verse)
            + f"منبع: گنجور\nhttps://ganjoor.net/hafez/ghazal/sh{at}\n",
        )
        (folder / f"{at:02}.txt").write_text(pages[at % 4], "utf-8")
    config, screen = propose(folder, "حافظ\nSara Amin\n")
    assert read(config, tmp_path) == ghazals
    assert set(options_of(config)["verse"]["drop"]) == {"— حافظ", "منبع: گنجور", "حافظ شیرازی"}
    assert "no verse, as they stand in several texts" in screen


@pytest.mark.parametrize("alone", [False, True])
def test_two_columns_named_alike_for_hemistichs_are_asked_about(
    alone: bool, ghazals: list[Verse], tmp_path: Path
) -> None:
    def cells(a: str, b: str) -> list[str]:
        return [f"{a} / {b}", f"{a} / {b}".replace("\N{ARABIC KASRA}", "")] if alone else [a, b]

    path = tmp_path / "list.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["رقم_القصيدة", "شطر أ", "شطر ب", "قائلها"])
        rows.writerows([n, *cells(a, b), "حافظ"] for n, verse in enumerate(ghazals) for a, b in verse)
    config, screen = propose(path, f"{2 if alone else 1}\nقائلها\nSara Amin\n")
    assert "'شطر أ' and 'شطر ب' both hold hemistichs" in screen
    assert options_of(config)["columns"]["poet"] == "قائلها"
    assert ("شطر ب" in options_of(config).get("ignore", [])) == alone
    assert read(config, tmp_path) == ghazals


@pytest.mark.parametrize("together", [True, False])
def test_meanings_below_one_merged_expression_are_read_together_or_left_out(
    together: bool, idioms: list[tuple[str, str]], tmp_path: Path
) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["معجم الكنايات"])
    sheet.merge_cells("A1:C1")
    sheet["A3"], sheet["B3"], sheet["C3"] = "م", "الكناية", "المعنى"
    sheet["A4"] = "باب الألف"
    sheet.merge_cells("A4:C4")
    for at, (phrase, meaning) in enumerate(idioms[:20], start=5):
        sheet.cell(at, 1, at), sheet.cell(at, 2, phrase), sheet.cell(at, 3, meaning)
    sheet.cell(25, 2, "شال إيده")
    sheet.cell(25, 3, "ترك الأمر.")
    sheet.cell(26, 3, "ورفض المساعدة.")
    sheet.merge_cells("B25:B26")
    sheet["A29"] = "المجموع: ٢١"
    path = tmp_path / "kinayat.xlsx"
    book.save(path)
    config, screen = propose(path, f"{1 if together else 2}\n\nCC-BY-4.0\nSara Amin\n")
    assert "row 3 names the columns" in screen
    use = SourceUse(use="files", name="own", options=options_of(config))
    found = [one for one in run(use, RawStore(str(tmp_path / "raw"))) if isinstance(one, Idiom)]
    last = [("شال إيده", "ترك الأمر.\nورفض المساعدة.")] if together else []
    assert [(one.phrase.raw, one.explanation.raw) for one in found] == [*idioms[:20], *last]


def test_a_sheet_that_begins_with_verse_has_no_header(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    verse = [("شربت ونادمت الملوك فلم أجد", "على الكأس ندمانا لها مثل ديكل")] * 2
    for row in [*verse, ("ترى البازل الكوماء فوق خوانه", "مفصلة أعضاؤها لم تفصل")]:
        sheet.append(row)
    path = tmp_path / "class.xlsx"
    book.save(path)
    done = CliRunner().invoke(app, ["new", str(path), "--out", str(tmp_path / "own.yaml")], input="")
    assert done.exit_code == 2
    assert "no row names the columns" in done.output


def test_glosses_between_ghazals_are_asked_about_and_take_no_verse_for_a_title(
    ghazals: list[Verse], tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    page = []
    for at, verse in enumerate(ghazals):
        page += [f"غزل {at}", *(["وزن: فاعلاتن فاعلاتن فاعلن"] if at % 3 == 0 else []), ""]
        page += [*(f"{a}\t\t{b}" for a, b in verse), ""]
        page += ["واژه‌ها:", "ساقی: کسی که شراب می‌دهد", "میکده: خرابات، جای باده‌نوشی", ""] if at % 2 else []
    path.write_text("\n".join(page), "utf-8")
    config, screen = propose(path, "حافظ\n2\nSara Amin\n")
    assert "are a single couplet" in screen
    assert options_of(config)["least_couplets"] == 2
    assert read(config, tmp_path) == ghazals


def test_poems_in_cells_with_breaks_and_dashes(ghazals: list[Verse], tmp_path: Path) -> None:
    path = tmp_path / "lesson.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["سراینده", "نام شعر", "متن شعر"])
        for at, verse in enumerate(ghazals):
            rows.writerow(
                ["حافظ", "" if at % 3 else f"غزل {at}", "<br>".join(" - ".join(both) for both in verse)]
            )
    config, _ = propose(path, "Sara Amin\n")
    assert read(config, tmp_path) == ghazals
