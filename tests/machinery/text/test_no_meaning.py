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
        ("هي نصائح في هذه الأمور", "ar", "entry"),
        ("في النهي عن ذلك", "ar", "entry"),
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
        ("للعظيم يظهر الصغير عليه فلا يؤثر ذلك فيه", "ar", None),
        ("آدم خسیس", "fa", None),
        ("حرف مردم را باور کردن", "fa", None),
        ("to tell a secret", "en", None),
        ("a plain speaker", "en", None),
    ],
)  # fmt: skip
def test_what_a_text_names_in_place_of_a_meaning(text: str, language: str, kind: str | None) -> None:
    assert named_instead(text, language) == kind


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


@pytest.mark.parametrize(
    ("phrase", "explanation", "meaning"),
    [
        # A proverb's use is its meaning, behind all glosses and variants.
        ("اكسر للعيل ضلع", "العيل: الولد. ويروى: «دق». يضرب في الحث على التأديب.", "في الحث على التأديب"),
        ("أبوك خلف لك إيه", "أي قيل: ما ورثت؟ يضرب فيمن يصيب القليل.", "فيمن يصيب القليل"),
        # A figure that is a part of the proverb is not the whole's meaning.
        ("داير تهز وسطك", "وهز الوسط كناية عن المرح. يضرب لمن يختال بلا مبرر.", "لمن يختال بلا مبرر"),
        ("مسح جوخ", "كناية عن التملق، والعرب تقول: «ألين من زبد» يضرب للكلام الحسن.", "التملق"),
        # What follows `that is` explains the idiom, not one word, and no example further on.
        ("كان لك راجل اخرجي", "أي: إن كانت الدار للرجل؛ أي الزوج، فلا تدخلي.", ""),
        ("طظ فش", "يقولون: كلام طظ فش، أي خلي من المعنى تافه.", "خلي من المعنى تافه"),
        ("جهاز العروس", "اعتادوا أن يغالوا في جهاز العروس. وفي الأفراح، أي إنجال إسماعيل.", ""),
        ("والا اعمى", "يضرب للأمر الواضح ينكره بعضهم.", "للأمر الواضح ينكره بعضهم"),
    ],
)
def test_where_an_explanation_states_the_meaning(phrase: str, explanation: str, meaning: str) -> None:
    assert plain_meaning(phrase, explanation, "ar").text == meaning


def test_the_golds_of_a_real_book_are_meanings(shared_data: Path) -> None:
    """Of 743 entries 219 have a gold; all were read by eye in the book."""
    options = OpenitiOptions(
        path=str(shared_data / "openiti" / "amthal_head.txt"), layout="quoted", sections="^# [|] حرف"
    )
    golds = {}
    for entry in read(open_file(options).lines, options).entries:
        text = canonicalize("\n".join(entry.paragraphs), "ar").text
        golds[entry.head] = plain_meaning(entry.head, without_apparatus(text, entry.head).text, "ar")
    given = [gold.text for gold in golds.values() if gold.text]
    refused = [gold.lacks for gold in golds.values() if gold.lacks]
    assert 210 <= len(given) <= 225
    assert refused.count("clarity") >= 12
    for no_meaning in ("معناه", "رواية", "السجع", "بمعنى", "يريدون ب", "يقولون", "كقول", "المضارع"):
        assert not [gold for gold in given if no_meaning in gold], no_meaning
    assert golds["آخر خدمة الغز علقة"].text == "لقبح المكافأة على العمل الحسن"
    assert golds["أقرع ونزهي"].text == "لمن يضع نفسه في غير موضعها ويعمى عن عيوبه"
    assert golds["اتبع البوم يوديك الخراب"].text == "لمن يقتدي بالمشئوم الفاسد الرأي"
