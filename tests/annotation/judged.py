"""Small items, findings, audits and decisions that the tests of this folder speak about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mihakk.machinery.ids import content_hash, item_id
from mihakk.schemas.audit import CRITERIA, Audit, Issue, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item, Origin
from mihakk.schemas.review import Review

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def origin(*records: str) -> Origin:
    return Origin(records=records, generator="idiom_meaning", generator_version="1", strategy="general")


def choice(number: int = 0, **changes: Any) -> ChoiceItem:
    """An idiom's meaning with two options, the first right."""
    fields: dict[str, Any] = {
        "id": item_id("meaning_choice", "ar", [f"idiom-{number}"]),
        "task": "meaning_choice",
        "language": "ar",
        "dialect": "egyptian",
        "question": f"ما معنى «إيده طويلة» ({number})؟",
        "options": ("يأخذ ما ليس له", "يعمل في الحقل كل يوم"),
        "gold": (0,),
        "metadata": {"form": "idiom"},
        "origin": origin(f"idiom-{number}"),
        "licence": "CC-BY-4.0",
    }
    return ChoiceItem(**fields | changes)


def answer(number: int = 0, **changes: Any) -> AnswerItem:
    """A Persian completion."""
    fields: dict[str, Any] = {
        "id": item_id("last_word", "fa", [f"couplet-{number}"]),
        "task": "last_word",
        "language": "fa",
        "question": "واژهٔ پایانی را بنویسید.",
        "context": "الا یا ایها الساقی ادر کاسا و",
        "answer": "ناولها",
        "accepted": ("ناولها.",),
        "metadata": {"poet": "hafez"},
        "origin": origin(f"couplet-{number}"),
        "licence": "public-domain",
    }
    return AnswerItem(**fields | changes)


def explanation(**changes: Any) -> ExplanationItem:
    """Two verses, each with its explanation."""
    fields: dict[str, Any] = {
        "id": item_id("verse_explanation", "ar", ["poem-1"]),
        "task": "verse_explanation",
        "language": "ar",
        "question": "اشرح الأبيات.",
        "verses": ("قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل"),
        "explanations": ("يدعو صاحبيه إلى الوقوف\nوالبكاء", "يسمّي مواضع الديار"),
        "overall": "وقوف على الأطلال",
        "origin": origin("poem-1"),
        "licence": "public-domain",
    }
    return ExplanationItem(**fields | changes)


def audit(item: str, auditor: str = "first", *, failed: tuple[str, ...] = ()) -> Audit:
    return Audit(
        item=item,
        auditor=auditor,
        status="valid",
        scores={name: int(name not in failed) for name in CRITERIA},
        issues=tuple(
            Issue(criterion=name, explanation="الجواب لا يناسب السؤال.")
            for name in CRITERIA
            if name in failed
        ),
        reply_key="k",
    )


def finding(item: str, severity: str = "flag") -> Finding:
    return Finding(
        check="CH07", severity=severity, subject=item, detail="الخيار الصحيح أطول", where="options[0]"
    )  # type: ignore[arg-type]


def verdict(item: str, status: str = "flag") -> Verdict:
    return Verdict(
        item=item, status=status, audited=True, policy="strict", reasons=("CH07",) if status != "pass" else ()
    )  # type: ignore[arg-type]


def review(item: Item, annotator: str, decision: str = "keep", **changes: Any) -> Review:
    fields: dict[str, Any] = {
        "item": item.id,
        "content_hash": content_hash(item),
        "annotator": annotator,
        "decision": decision,
        "decided_at": NOON + timedelta(minutes=changes.pop("minute", 0)),
    }
    return Review(**fields | changes)
