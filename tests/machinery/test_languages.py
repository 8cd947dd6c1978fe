"""A language is data: code asks its pack, and a language without one is read by what Unicode tells."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import (
    found_script,
    language_named,
    languages,
    pack,
    require_level,
    stand_in,
)
from mihakk.machinery.settings import ROOT
from mihakk.machinery.text import canonical, key, words_key
from mihakk.machinery.text.comparison import comparison_key

CODES = frozenset(("ar", "fa", "en"))
WORDS = "words of prompts, of level items"
COMPARE = {
    "evaluation/adapters/kinayat.py": "reads one published benchmark",
    "evaluation/benchmarks.py": "labels as published boards print them",
    "generators/plain_meaning.py": "expressions of dictionaries of idioms",
    "generators/writing/replies.py": WORDS,
    "machinery/morphology.py": "rules and camel-tools' analyzer are of Arabic alone",
    "machinery/taxonomy.py": "names the tables of eras, metres and poets",
    "machinery/text/references.py": "expressions of dictionaries of idioms",
    "reports/leaderboard/site.py": "languages of the board's own pages",
    "scrapers/ganjoor/poem.py": "codes of one site",
    "scrapers/own_tables.py": "dialects are of Arabic alone",
}
"""Modules that may still compare codes or hold tables by code, and why."""


def compared(tree: ast.AST) -> Iterator[ast.AST]:
    """Comparisons with a language's code, tables by code, and types that list codes."""

    def codes(node: ast.AST) -> int:
        several = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
        return sum(isinstance(one, ast.Constant) and one.value in CODES for one in several)

    for node in ast.walk(tree):
        told = (
            (isinstance(node, ast.Compare) and any(map(codes, [node.left, *node.comparators])))
            or (isinstance(node, ast.Dict) and sum(one is not None and codes(one) for one in node.keys) > 1)
            or (isinstance(node, ast.Subscript) and codes(node.slice) > 1)
            or (isinstance(node, ast.MatchValue) and codes(node.value))
        )
        if told:
            yield node


def test_only_named_modules_compare_codes_of_languages() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    product = [name for name in tracked if not name.startswith(("tests/", "tools/", "performance/", "docs/"))]
    assert len(product) > 400
    found = {name for name in product if any(compared(ast.parse((ROOT / name).read_text("utf-8"))))}
    assert found == set(COMPARE)


def test_what_the_test_of_codes_sees() -> None:
    seen = ('x == "ar"', 'x in ("ar", "fa")', 'y = {"ar": 1, "en": 2}', 'Literal["ar", "fa"]', '"en" != x')
    assert all(any(compared(ast.parse(code))) for code in seen)
    unseen = ('key(text, "ar")', 'language: str = "ar"', 'y = {"en": 1}', 'x == "art"')
    assert not any(any(compared(ast.parse(code))) for code in unseen)


def test_the_packs_and_their_levels() -> None:
    assert languages() == ("ar", "fa", "en", "ur", "de", "es", "fr", "tr", "zh")
    assert languages("items") == languages("verse") == ("ar", "fa", "en")
    assert {pack(one).direction for one in ("ar", "fa", "ur")} == {"rtl"}
    assert all(pack(one).source for one in languages())


def test_a_language_without_a_pack_is_what_unicode_tells() -> None:
    assert pack("hu") == pack("hu").model_copy(update={"script": "", "direction": "auto", "level": "audit"})
    assert (pack("ckb-Arab").direction, pack("sr-Cyrl").direction) == ("rtl", "ltr")
    assert pack("ar-EG").name == "Arabic"
    assert pack("ar-Latn").writing.alphabet == ""
    with pytest.raises(UsageError, match="BCP 47"):
        pack("Turkish")


def test_the_script_is_that_of_nearly_all_texts() -> None:
    assert found_script(["Колико је сати?", "Шта је pH?"]) == "Cyrl"
    assert found_script(["Колико је сати?", "Koliko je sati?"]) == ""
    assert found_script(["次の文章を読んで答えなさい。", "正解はどれか。"]) == "Jpan"
    assert found_script(["1 + 1", "?"]) == ""


def test_what_needs_a_higher_level_is_refused_by_name() -> None:
    require_level("fa", "verse", "poems")
    with pytest.raises(
        UsageError, match="'tr': poems need a pack of level verse, and its pack is of level audit"
    ):
        require_level("tr", "verse", "poems")
    with pytest.raises(UsageError, match=r"'hu': prompts need .* it has none, .* ar, fa, en"):
        require_level("hu", "items", "prompts")


@pytest.mark.parametrize(
    ("named", "code"),
    [("Turkish", "tr"), ("tur", "tr"), ("pt_BR", "pt-BR"), ("العربية", "ar"), ("SR-cyrl", "sr-Cyrl"), ("Klingon", None)],
)  # fmt: skip
def test_cells_name_languages_by_code_or_name(named: str, code: str | None) -> None:
    assert language_named(named) == code


def test_words_stand_in_for_those_a_language_lacks() -> None:
    assert [stand_in(one, languages("items")) for one in ("fa-AF", "fa", "tr")] == ["fa", "fa", "en"]


def test_marks_count_where_nobody_said_that_they_do_not() -> None:
    assert words_key("má mà mả", "vi") != words_key("ma ma ma", "vi")
    assert words_key("की का", "hi") != words_key("क क", "hi")
    assert key("كَتَبَ", "ar") == key("كتب", "ar")
    assert words_key("Ön SÖZ", "tr") == words_key("ön söz", "tr")
    assert canonical("क्\u200dष", "hi") == "क्\u200dष"


def test_case_tells_symbols_apart_in_any_alphabet() -> None:
    assert comparison_key("ААВВ", "bg") != comparison_key("АаВВ", "bg")
    assert comparison_key("Аа и аа", "bg") != comparison_key("АА и аа", "bg")
    assert comparison_key("Bb和Bb", "zh") != comparison_key("BB和BB", "zh")
    assert comparison_key("Врховен бог", "mk") == comparison_key("врховен бог", "mk")


@pytest.fixture
def swahili(tmp_path: Path) -> Path:
    """A folder of packages beside those of this environment, with the one that the guide describes."""
    page = (ROOT / "docs" / "how-to-add-a-language.md").read_text("utf-8")
    project = tomllib.loads(page.split("```toml\n")[1].split("```")[0])["project"]
    ((code, package),) = project["entry-points"]["mihakk.languages"].items()
    (tmp_path / package).mkdir()
    (tmp_path / package / "pack.yaml").write_text(page.split("```yaml\n")[1].split("```")[0], "utf-8")
    info = tmp_path / f"{package}-{project['version']}.dist-info"
    info.mkdir()
    told = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(told, "utf-8")
    (info / "entry_points.txt").write_text(f"[mihakk.languages]\n{code} = {package}\n", "utf-8")
    return tmp_path


def mihakk(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that sees the packages of a folder."""
    env = os.environ | {"PYTHONPATH": str(site), "COLUMNS": "200", "MIHAKK_RUNS": str(site / "runs")}
    command = [sys.executable, "-m", "mihakk.flows.cli", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


EXAM = """\
id,question,A,B,answer
1,Je jua huzunguka dunia kama mwezi unavyofanya kila siku?,kweli,uongo,B
2,Kulingana na jedwali lifuatalo mji mkubwa ni upi?,Dodoma,Mombasa,B
3,Mji mkuu wa Tanzania ni upi kwa sasa?,Dodoma (jibu sahihi),Mombasa,A
"""


def test_a_language_is_added_by_the_data_of_another_package(swahili: Path) -> None:
    (swahili / "exam.csv").write_text(EXAM, "utf-8")
    job = ("audit", "exam.csv", "--map", "question=question,choices=A+B,gold=answer,id=id", "--rules-only")
    done = mihakk(swahili, *job, "--language", "sw", "--out", "with", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"QU01", "CH14"} <= {one["check"] for one in found["checks"]}
    (note,) = (one for one in found["notes"] if one.startswith("3 rows in sw"))
    assert "QU01" not in note
    assert "SE01" in note
    # Another language that nobody has a pack of says what it could not look for, and none of its words.
    done = mihakk(swahili, *job, "--language", "sn", "--out", "without", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "QU01" not in {one["check"] for one in found["checks"]}
    assert any("3 rows in sn-Latn: " in one and "QU01" in one for one in found["notes"])


def test_a_broken_pack_of_another_package_is_named(swahili: Path) -> None:
    (swahili / "mihakk_swahili" / "pack.yaml").write_text("name: Swahili\nletters: abc\n", "utf-8")
    (swahili / "exam.csv").write_text(EXAM, "utf-8")
    job = ("audit", "exam.csv", "--map", "question=question,choices=A+B,gold=answer", "--rules-only")
    done = mihakk(swahili, *job, "--language", "sw")
    assert done.returncode == 2
    assert "the language 'sw' of the package mihakk-swahili 0.1.0 can't be used" in done.stderr
    assert "unknown key 'letters'" in done.stderr


def test_our_packs_lie_in_folders_of_their_codes() -> None:
    folder = Path(ROOT / "machinery" / "languages")
    own = sorted(one.parent.name for one in folder.glob("*/pack.yaml"))
    assert own == sorted(languages())
