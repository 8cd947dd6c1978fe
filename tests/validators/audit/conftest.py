"""Items to audit, auditors that answer by script, and a journal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, Call
from mihakk.schemas.audit import CRITERIA, Criterion
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item, Origin
from mihakk.schemas.model import AuditorsConfig, Limits, ModelConfig, Remote, Sampling
from tests.machinery.llm.conftest import _short_patience  # noqa: F401 - a fixture

ORIGIN = Origin(records=("r",), generator="external", generator_version="1")
MEANINGS = ["الماضي انتهى", "الموت حق", "من تأخر خسر", "السفر متعب", "الصبر مفتاح", "العلم نور", "الكلام فضة"]


def choice(n: int, task: str = "idiom_meaning") -> ChoiceItem:
    options = tuple(f"{MEANINGS[(n + i) % 7]} {n + i}" for i in range(4))
    return ChoiceItem(
        id=f"ar-{task}-{n:04}",
        task=task,
        language="ar",
        dialect="egyptian",
        question=f"ما معنى المثل المصري رقم {n} في قولهم: اللي فات مات؟",
        options=options,
        gold=(n % 4,),
        origin=ORIGIN,
        licence="CC0-1.0",
    )


def answer(n: int) -> AnswerItem:
    return AnswerItem(
        id=f"fa-completion-{n:04}",
        task="completion",
        language="fa",
        question=f"واژهٔ پایانی بیت {n} را بنویسید.",
        context="الا یا ایها الساقی ادر کاسا و ناولها\nکه عشق آسان نمود اول ولی افتاد ...",
        answer="مشکل‌ها",
        accepted=("مشکلها",),
        origin=ORIGIN,
        licence="CC0-1.0",
    )


def explanation(n: int) -> ExplanationItem:
    return ExplanationItem(
        id=f"ar-explanation-{n:04}",
        task="explanation",
        language="ar",
        question="اشرح أبيات القصيدة.",
        verses=("قفا نبك من ذكرى حبيب ومنزل", "فتوضح فالمقراة لم يعف رسمها"),
        explanations=("يطلب من صاحبيه الوقوف والبكاء", "يذكر أماكن لم تمح آثارها"),
        overall=f"وقوف على الأطلال {n}",
        origin=ORIGIN,
        licence="CC0-1.0",
    )


@pytest.fixture
def said() -> Callable[..., str]:
    """A valid reply with those criteria scored 0."""

    def write(*zeros: Criterion) -> str:
        scores = {key: int(key not in zeros) for key in CRITERIA}
        issues = [{"criterion": key, "explanation": f"The {key} is not met."} for key in zeros]
        return json.dumps({"scores": scores, "issues": issues}, separators=(",", ":"))

    return write


@pytest.fixture
def sound(said: Callable[..., str]) -> Callable[[Call], Answer]:
    """An auditor that finds nothing."""
    return lambda _: Answer(text=said())


@pytest.fixture
def auditors() -> Callable[..., AuditorsConfig]:
    def config(first: str, second: str, **limits: int) -> AuditorsConfig:
        def model(name: str, url: str) -> ModelConfig:
            return ModelConfig(
                name=name,
                family=f"family-{name}",
                model=f"model-{name}",
                revision="1",
                serve=Remote(endpoints=(url,)),
                sampling=Sampling(max_tokens=400),
                limits=Limits(**{"concurrency": 4, "timeout_seconds": 60, "attempts": 3, **limits}),
            )

        return AuditorsConfig(auditors=(model("one", first), model("two", second)))

    return config


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journals", "audit") as opened:
        yield opened


@pytest.fixture
def items() -> list[Item]:
    return [*(choice(n) for n in range(8)), *(answer(n) for n in range(4)), explanation(0), explanation(1)]
