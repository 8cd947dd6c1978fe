"""EX02: an explanation without its book's apparatus."""

import re

from mihakk.schemas.item import AnswerItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.explained import Explained, explained
from mihakk.validators.checks.texts import excerpt

_DIGIT = "[0-9٠-٩۰-۹]"
KINDS = {
    "a citation": re.compile(
        rf"\bص\s?{_DIGIT}|\bج\s?{_DIGIT}+\s?[،,]?\s?ص|\bرقم\s{_DIGIT}|صفحة\s{_DIGIT}|صفحهٔ?\s{_DIGIT}"
        rf"|\(انظر|\bibid\b|\bp\.\s?{_DIGIT}|\[{_DIGIT}{{1,3}}\]"
    ),
    "a note on pronunciation": re.compile(
        r"(?<!\w)ب(?:كسر|ضم|فتح|سكون|تشديد)\s(?:فضم|ففتح|فسكون|فكسر|الأول|أول[هـ]?|الحرف|ال\w+ة|ال\w+)\b"
        r"|[—–(-]\s*بال(?:كسر|ضم|فتح|سكون|تشديد)|به (?:فتح|کسر|ضم) "
    ),
    "a parsing note": re.compile(
        r"مفعول به|مبتدأ و?خبر|فعل ماض|فعل مضارع|حرف جر|في محل (?:رفع|نصب|جر)|(?:مرفوع|منصوب|مجرور) ب"
        r"|مضاف إليه|الضمير (?:في|يعود|عائد)"
    ),
}


@check(
    "EX02",
    severity="flag",
    on=Explained,
    title="no citation, pronunciation or parsing note in an explanation",
)
def apparatus(subject: Explained) -> Objections:
    """No page or shelf number, no `with kasra on the first`, no grammatical parsing in an explanation."""
    for where, _, explanation in explained(subject):
        if isinstance(subject, AnswerItem) and len(explanation) < 40:
            continue
        for kind, pattern in KINDS.items():
            match = pattern.search(explanation)
            if match:
                start = max(0, match.start() - 10)
                yield Objection(f"carries {kind}: {excerpt(explanation[start : match.end() + 20])}", where)
