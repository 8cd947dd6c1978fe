"""Words by which a reply names its answer, in Arabic, Persian and English, folded once."""

from __future__ import annotations

import re
from typing import Final

from mihakk.machinery.text import key


def _folded(words: str) -> frozenset[str]:
    return frozenset(key(word, "fa") for word in words.split())


ANSWER: Final = _folded(
    "answer ans الإجابة إجابة إجابتي الجواب جواب جوابي الحل ANSWER پاسخ پاسخم پاسخِ جوابِ جواب‌ پاسخ‌ي والإجابة"
    " والجواب فالإجابة فالجواب للإجابة"
)
"""What follows is the answer."""
BOXED: Final = _folded("boxed")
"""As `ANSWER`, in LaTeX."""
OPTION: Final = _folded(
    "option choice letter الخيار الاختيار الحرف البديل گزینه گزینهٔ گزینه‌ی گزينه‌ي حرف والخيار فالخيار"
)
"""Names an option; an answer only where it is called right."""
RIGHT: Final = _folded(
    "correct right best الصحيح الصحيحة صحيح صحيحة الأصح الأنسب الأفضل الأدق المناسب درست صحیح مناسب بهترین"
)
CHOOSE: Final = _folded("choose chose choosing pick picked select selected أختار اخترت نختار سأختار انتخاب")
"""What follows is chosen, perhaps only for now: the weakest of the words of answering."""
NOT: Final = _folded(
    "not isn't wasn't never cannot eliminate eliminates eliminating eliminated exclude excludes"
    " ليس ليست وليس وليست لا ولا غير نستبعد استبعاد نیست نمی"
)
"""Denies what follows."""
IS_NOT: Final = _folded("نیست نمی‌باشد نمی")
"""Denies what stands before it, as Persian has it."""
WRONG: Final = _folded("incorrect wrong خطأ خاطئ خاطئة الخاطئة الخطأ نادرست غلط اشتباه")
"""Denies what it is said of."""
NEGATION: Final = NOT | WRONG
BUT: Final = _folded("but rather instead بل لكن ولكن بلکه ولی اما")
"""What follows is no longer denied."""
BECAUSE: Final = _folded("because since as لأن لأنه لأنها حيث إذ زیرا چون که")
"""What follows is about the reasons."""
IF: Final = _folded("if whether unless suppose assuming إذا لو فلو اگر چنانچه")
"""What follows is only supposed."""
MAYBE: Final = _folded("could might may can قد ربما ممکن شاید")
"""What follows is only thought of."""
EITHER: Final = _folded("either both إما كلا هم")
"""Several follow as equals."""
PLURAL: Final = _folded(
    "choices options answers letters الخيارات الإجابات الأجوبة الحروف گزینه‌ها گزینه‌های پاسخ‌ها"
)
"""What follows are all options, or some."""
ORDINAL: Final = _folded(
    "first second third fourth fifth next another other each every previous which"
    " الأول الأولى الثاني الثانية التالي اول دوم بعدی هر"
)
"""The option is one of those gone through."""
REVISED: Final = _folded("wait actually correction reconsidering انتظر لحظة تصحيح عفوا صبر تصحیح")
"""What was said before is taken back."""
TAKEN_BACK: Final = WRONG | _folded("however mistake mistaken sorry")
"""In a sentence between two statements: the second is no repetition."""
FINAL: Final = _folded("final finally النهائية النهائي أخيرا نهایی")
COPULA: Final = _folded("is be are هو هي است می‌باشد s")
SO: Final = _folded(
    "so therefore thus hence إذن إذا لذلك لذا بالتالي پس بنابراین it that leaves إنها إنه أنها"
)
"""May stand before a label that ends a reply."""
JOINER: Final = _folded("or and أو و یا ثم")
FILLER: Final = (
    _folded("the would must should be probably also therefore so thus hence that to this question my")
    | _folded(
        "most likely closest only nearest appropriate suitable accurate above below following given number"
    )
    | _folded("provided one text textbf mathbf mathrm textit bf rm")
    | _folded("إذن هنا على عن السؤال هذا رقم رمز رمزها المطلوبة المطلوب عبارت از این من همان برابر با هستند")
    | RIGHT
    | OPTION
    | COPULA
    | FINAL
    | ANSWER
)
"""May stand between the word for answer and its label."""

LATIN: Final = (
    *("answer", "ans:", "boxed", "option", "choice", "letter", "correct", "right", "best"),
    *("choos", "chose", "pick", "select"),
)
"""What the words of answering in Latin letters begin with, in small letters."""
ARABIC: Final = re.compile(r"[\u0620-\u06ff\ufb50-\ufefc][\u0610-\u06ff\u200c\u200d\ufb50-\ufefc]++")
"""A word in Arabic letters."""
