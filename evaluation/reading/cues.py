"""Words by which a reply names its answer, in Arabic, Persian and English, folded once."""

from __future__ import annotations

from typing import Final

from mihakk.machinery.text import key


def _folded(words: str) -> frozenset[str]:
    return frozenset(key(word, "fa") for word in words.split())


ANSWER: Final = _folded(
    "answer ans الإجابة إجابة إجابتي الجواب جواب جوابي الحل ANSWER پاسخ پاسخم پاسخِ جوابِ جواب‌ پاسخ‌ي"
)
"""What follows is the answer."""
OPTION: Final = _folded("option choice letter الخيار الاختيار الحرف البديل گزینه گزینهٔ گزینه‌ی گزينه‌ي حرف")
"""Names an option; an answer only where the line calls it right."""
RIGHT: Final = _folded("correct right best الصحيح الصحيحة صحيح صحيحة الأصح الأنسب الأفضل درست صحیح")
NOT: Final = _folded("not isn't wasn't never ليس ليست وليس وليست لا ولا غير نیست")
"""Denies what follows."""
WRONG: Final = _folded("incorrect wrong خطأ خاطئ خاطئة نادرست غلط اشتباه")
"""Denies what it is said of."""
NEGATION: Final = NOT | WRONG
BUT: Final = _folded("but rather instead بل لكن ولكن بلکه ولی اما")
"""What follows is no longer denied."""
BECAUSE: Final = _folded("because since as لأن لأنه لأنها حيث إذ زیرا چون که")
"""What follows is about the reasons."""
COPULA: Final = _folded("is هو هي است")
JOINER: Final = _folded("or and أو و یا ثم")
FILLER: Final = (
    _folded("the final would be therefore so thus that to this question my النهائية النهائي إذن هنا على عن")
    | _folded("السؤال هذا رقم رمز رمزها نهایی عبارت از این سؤال من همان برابر با می‌باشد هستند")
    | RIGHT
    | OPTION
    | COPULA
)
"""May stand between the word for answer and its label."""
