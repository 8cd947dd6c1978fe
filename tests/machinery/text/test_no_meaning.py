"""Texts that state no meaning, told from meanings: by eye, over the first quarter of a real book."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.curation.apparatus import without_apparatus
from mihakk.generators.plain_meaning import plain_meaning
from mihakk.machinery.text import canonicalize
from mihakk.machinery.text.no_meaning import breaks_off, glosses_word, named_instead
from mihakk.scrapers.book import read
from mihakk.scrapers.openiti import OpenitiOptions, open_file


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("معناه ظاهر", "ar", "clarity"),
        ("الخف معروف", "ar", "clarity"),
        ("معناه ظاهر مشاهد في كل حين", "ar", "clarity"),
        ("وفي رواية", "ar", "edition"),
        ("وفي بعض نواحي الشرقية يقولون", "ar", "edition"),
        ("فيه الجمع بين الحاء والهاء في السجع، وهو عيب", "ar", "grammar"),
        ("بصيغة المضارع", "ar", "grammar"),
        ("حكمة جرت مجرى الأمثال", "ar", "source"),
        ("وهو كسابقه", "ar", "entry"),
        ("معنایش روشن است", "fa", "clarity"),
        ("در برخی نسخه‌ها", "fa", "edition"),
        ("همان مثل بالا", "fa", "entry"),
        ("The meaning is plain", "en", "clarity"),
        ("an old proverb", "en", "source"),
        ("the same as the preceding", "en", "entry"),
        # Meanings, short ones and those with words of the tables.
        ("الجود", "ar", None),
        ("ولد الزنا", "ar", None),
        ("عمل غير مثمر، وقول غير مسموع", "ar", None),
        ("للأمر الواضح الذي لا يحتاج في الكشف عنه إلى عناية", "ar", None),
        ("المسافة القصيرة", "ar", None),
        ("آدم خسیس", "fa", None),
        ("حرف مردم را باور کردن", "fa", None),
        ("to tell a secret", "en", None),
        ("a plain speaker", "en", None),
    ],
)  # fmt: skip
def test_what_a_text_names_in_place_of_a_meaning(text: str, language: str, kind: str | None) -> None:
    assert named_instead(text, language) == kind  # type: ignore[arg-type]


def test_a_meaning_breaks_off_or_only_gives_a_reason() -> None:
    assert breaks_off("هو في معنى", "ar")
    assert breaks_off("لأن من طبعه اللدغ", "ar")
    assert breaks_off("because it is", "en")
    assert not breaks_off("من ينفق ما معه ولا يبالي", "ar")
    assert glosses_word("البق يريدون به الفم", "ar")
    assert not glosses_word("لمن يقول ما لا يريدون به خيرا", "ar")


def test_a_clause_that_needs_its_quotation_states_no_meaning() -> None:
    told = plain_meaning("ابن", "من سكن «زويلة» من الأمراء القدماء", "ar")
    assert told == ("", "breaks_off")
    assert plain_meaning("بلط", "من كسل عن عمله، وهو مثل قولهم: «نام»", "ar") == ("من كسل عن عمله", "")
    assert plain_meaning("زيد", "معناه ظاهر، فكم من غني افتقر", "ar") == ("", "clarity")


def test_the_golds_of_a_real_book_are_meanings(shared_data: Path) -> None:
    """Of 743 entries 197 had a gold; 41 of these stated no meaning, read by eye in the book."""
    options = OpenitiOptions(
        path=str(shared_data / "openiti" / "amthal_head.txt"), layout="quoted", sections="^# [|] حرف"
    )
    golds = {}
    for entry in read(open_file(options).lines, options).entries:
        text = canonicalize("\n".join(entry.paragraphs), "ar").text
        golds[entry.head] = plain_meaning(entry.head, without_apparatus(text, entry.head).text, "ar")
    given = [gold.text for gold in golds.values() if gold.text]
    refused = [gold.lacks for gold in golds.values() if gold.lacks]
    assert 150 <= len(given) <= 165
    assert refused.count("clarity") >= 12
    for no_meaning in ("معناه", "رواية", "السجع", "بمعنى", "يريدون ب", "يقولون", "كقول", "المضارع"):
        assert not [gold for gold in given if no_meaning in gold], no_meaning
    assert golds["آخر خدمة الغز علقة"].text == "لقبح المكافأة على العمل الحسن"
    assert golds["أقرع ونزهي"].text == "لمن يضع نفسه في غير موضعها ويعمى عن عيوبه"
    assert golds["اتبع البوم يوديك الخراب"].text == "لمن يقتدي بالمشئوم الفاسد الرأي"
