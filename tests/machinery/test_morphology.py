"""Words that are akin and phrases that agree, by rules of our own and by camel-tools with data of its format."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mihakk.generators.generating import prepare
from mihakk.generators.plain_meaning import plain_meaning
from mihakk.machinery.errors import UsageError
from mihakk.machinery.morphology import LIGHT, camel_database, morphology_version, open_morphology
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.choose import open_engine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.pipeline.steps.generate import STEP
from tests.generators.generated import config
from tests.generators.records import make_idiom

# A database of camel-tools in its own format: two nouns, a verb, a plural ending and a pronoun.
DATABASE = """\
###DEFINES###
DEFINE pos pos:noun pos:verb pos:adj
DEFINE per per:1 per:2 per:3 per:na
DEFINE gen gen:m gen:f
DEFINE num num:s num:p
DEFINE enc0 enc0:0 enc0:3ms_poss
DEFINE diac diac:*open*
DEFINE lex lex:*open*
###DEFAULTS###
DEFAULT pos:noun per:na gen:m num:s enc0:0
DEFAULT pos:verb per:3 gen:m num:s enc0:0
DEFAULT pos:adj per:na gen:m num:s enc0:0
###ORDER###
ORDER pos per gen num enc0
###TOKENIZATIONS###
TOKENIZATION diac
###STEMBACKOFF###
STEMBACKOFF NONE NOAN
###PREFIXES###
\tPref-0\tdiac:
ال\tPref-Al\tdiac:ال
###SUFFIXES###
\tSuff-0\tdiac:
ه\tSuff-h\tdiac:ه enc0:3ms_poss
###STEMS###
كتاب\tN\tdiac:كتاب lex:كتاب pos:noun per:na gen:m num:s enc0:0
كتب\tN\tdiac:كتب lex:كتاب pos:noun per:na gen:m num:p enc0:0
مشي\tV\tdiac:مشي lex:مشي pos:verb per:3 gen:m num:s enc0:0
###TABLE AB###
Pref-0 N
Pref-Al N
Pref-0 V
###TABLE BC###
N Suff-0
N Suff-h
V Suff-0
###TABLE AC###
Pref-0 Suff-0
Pref-0 Suff-h
Pref-Al Suff-0
"""


@pytest.fixture
def camel_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for camel-tools' data; nothing of camel-tools is imported yet."""
    monkeypatch.setenv("CAMELTOOLS_DATA", str(tmp_path))
    settings.cache_clear()
    for name in [
        name for name in sys.modules if name.startswith(("camel_tools.data", "camel_tools.morphology"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    yield tmp_path
    settings.cache_clear()


def write_data(folder: Path, database: str = DATABASE) -> None:
    place = folder / "data" / "morphology_db" / "calima-msa-r13"
    place.mkdir(parents=True, exist_ok=True)
    (place / "morphology.db").write_text(database, encoding="utf-8")
    datasets = {"calima-msa-r13": {"path": "morphology_db/calima-msa-r13"}}
    components = {"MorphologyDB": {"default": "calima-msa-r13", "datasets": datasets}}
    (folder / "catalogue.json").write_text(
        json.dumps({"version": "1.6.0", "packages": {}, "components": components}), encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("one", "other", "akin"),
    [
        ("بلسانه", "اللسان", True),
        ("ما ينهضمش", "يهضم", True),
        ("غسيل", "الغسل", True),
        ("تقيل", "الثقل", True),
        ("سلمه", "تسليمه", True),
        ("وقف", "توقف", True),
        ("ملح", "ملحا", True),
        ("بيته", "مفتوح", False),
        ("قلبه", "الكرم", False),
        ("إيده", "البخل", False),
        ("بالرطل", "بالقوة", False),
    ],
)
def test_light_forms_tell_words_that_are_akin(one: str, other: str, akin: bool) -> None:
    mine, theirs = LIGHT.forms(one.rsplit(maxsplit=1)[-1], "ar"), LIGHT.forms(other, "ar")
    assert bool(mine & theirs) == akin


def test_light_agreement_goes_by_pronouns() -> None:
    assert LIGHT.agreement("إيده خفيفه", "ar") == LIGHT.agreement("قلبه أبيض", "ar")
    assert LIGHT.agreement("قلبه أبيض", "ar") != LIGHT.agreement("قلوبهم بيضا", "ar")
    assert LIGHT.agreement("من لا يملك شيئا", "ar").startswith("person")
    assert LIGHT.agreement("a red herring", "en") == LIGHT.agreement("", "ar") == ""


def test_without_morphology_only_whole_words_count() -> None:
    told = "كناية عن السفاهة والتطاول باللسان"
    assert plain_meaning("لسانه طويل", told, "ar").text == ""
    assert plain_meaning("لسانه طويل", told, "ar", open_morphology("none")).text == "السفاهة والتطاول باللسان"
    assert open_morphology("none").agreement("إيده خفيفه", "ar") == ""


def test_lemmas_of_camel_tools(camel_data: Path) -> None:
    pytest.importorskip("camel_tools")
    write_data(camel_data)
    camel = open_morphology("camel")
    assert camel.forms("الكتاب", "ar") == camel.forms("كتب", "ar") == camel.forms("كتابه", "ar") == {"كتاب"}
    assert not LIGHT.forms("الكتاب", "ar") & LIGHT.forms("أقلام", "ar")
    assert camel.forms("قلبه", "ar") == LIGHT.forms("قلبه", "ar"), "a word it does not know"
    assert camel.forms("کتاب", "fa") == LIGHT.forms("کتاب", "fa")
    assert camel.agreement("كتابه", "ar") == "noun na m s 3ms"
    assert camel.agreement("كتب", "ar") == "noun na m p"
    assert camel.agreement("مشي كتابه", "ar") == "verb 3 m s 3ms"


def test_a_build_depends_on_the_morphology_and_its_data_never_on_what_is_installed(
    camel_data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("camel_tools")

    def settings_of(name: str) -> object:
        made = config("meaning_choice").model_copy(update={"morphology": name})
        return STEP.settings(Build(made, str(tmp_path / "lake"), tmp_path / "run"))

    without = [settings_of(name) for name in ("none", "light")]
    write_data(camel_data)
    assert [settings_of(name) for name in ("none", "light")] == without
    told = settings_of("camel")
    assert told not in without
    write_data(camel_data, DATABASE.replace("كتب\tN", "كتبنا\tN"))
    assert settings_of("camel") != told, "other data, other items"


def test_data_that_are_not_there_are_said_with_the_command_and_nothing_is_downloaded(
    camel_data: Path,
) -> None:
    record = make_idiom("i1", "إيده طويلة", "اعتاد أخذ ما لا يملكه خفية")
    made = config("meaning_choice").model_copy(update={"morphology": "camel"})
    for call in (camel_database, lambda: morphology_version("camel"), lambda: prepare([record], made)):
        with pytest.raises(UsageError, match=r"camel_data -i morphology-db-msa-r13.*morphology: light"):
            call()
    assert "camel_tools.data" not in sys.modules
    assert not list(camel_data.iterdir())


def test_a_broken_database_is_said(camel_data: Path) -> None:
    pytest.importorskip("camel_tools")
    write_data(camel_data, "###DEFINES###\nnonsense\n")
    with pytest.raises(UsageError, match=r"can't read .*morphology\.db.*install it again"):
        open_morphology("camel")


def test_a_package_that_is_not_installed_is_said(camel_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_data(camel_data)
    monkeypatch.setitem(sys.modules, "camel_tools.morphology.analyzer", None)
    with pytest.raises(UsageError, match=r"pip install 'mihakk\[nlp\]'.*morphology: light"):
        open_morphology("camel")


def test_a_build_says_so_before_it_scrapes(camel_data: Path, tmp_path: Path) -> None:
    made = config("meaning_choice").model_copy(update={"morphology": "camel"})
    with pytest.raises(UsageError, match="camel_data -i"), open_engine("processes", 1) as engine:
        run_pipeline(Build(made, str(tmp_path / "lake"), tmp_path / "run"), engine, Silent())
