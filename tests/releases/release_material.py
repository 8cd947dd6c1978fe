"""Real items to release: the ghazals of the package `hafez` and some idioms of our own writing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mihakk.machinery.draw import split_of
from mihakk.machinery.ids import content_hash, digest, item_id
from mihakk.machinery.seeds import rng
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.release_facts import (
    AgreementFact,
    AuditorAgreementFact,
    AuditorFact,
    FunnelRow,
    ReleaseFacts,
    SourceFact,
)
from mihakk.schemas.audit import CRITERIA, Audit, Issue, Verdict
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item, Origin
from mihakk.schemas.quality import ValueSpread
from mihakk.schemas.rejection import Cluster, Rejection
from mihakk.schemas.review import Resolution
from mihakk.scrapers.hafez import data_file

IDIOMS = (
    ("إيده طويلة", "يسرق ما ليس له", "قامته أطول من غيره", "كريم مع ضيوفه"),
    ("قلبه أبيض", "لا يحمل ضغينة لأحد", "يخاف من كل شيء", "شاحب من المرض"),
    ("على راسي من فوق", "أقبل طلبك مكرما", "أشكو صداعا شديدا", "لا أريد أن أراك"),
    ("بلع لسانه", "سكت ولم يجب", "أكل بنهم", "تكلم كثيرا"),
    ("عينه فارغة", "لا يشبع مما عند غيره", "لا يرى جيدا", "ينام طوال اليوم"),
    ("ماشي جنب الحيط", "يتجنب المشاكل", "يعمل في البناء", "يسير ببطء لمرضه"),
)


def hafez_config(**release: Any) -> BenchmarkConfig:
    """A benchmark's config as the demo's would be."""
    return BenchmarkConfig.model_validate(
        {
            "name": "touchstone",
            "title": "Touchstone of verse",
            "seed": 7,
            "sources": [{"use": "hafez"}],
            "tasks": [{"use": "continuation"}],
            "release": {"authors": ["Mihakk contributors"], "licence": "CC-BY-4.0", **release},
        }
    )


def plain_prompt(item: Item, language: str) -> str:
    """A prompt for tasks that have no words in the repository."""
    parts = [item.question, item.context]
    if isinstance(item, ChoiceItem):
        parts += [f"{number}) {option}" for number, option in enumerate(item.options, 1)]
    return "\n".join(part for part in parts if part)


@cache
def divan() -> dict[int, list[str]]:
    """Lines of each ghazal; the package itself reads its whole file for every one it is asked for."""
    path, _ = data_file()
    return {row["id"]: row["poem"] for row in json.loads(path.read_bytes())}


@cache
def hafez_items(ghazals: int = 40) -> tuple[Item, ...]:
    """Continuation items, both orders of a choice and one completion per couplet, of the first ghazals."""
    poems = {number: divan()[number] for number in range(1, ghazals + 1)}
    made: list[Item] = []
    for number, lines in poems.items():
        for place in range(len(lines) // 2):
            made += _couplet_items(poems, number, place)
    return (*made, *idiom_items())


def _couplet_items(poems: dict[int, list[str]], number: int, place: int) -> list[Item]:
    lines, record = poems[number], f"hafez:{number}:{place}"
    draw = rng(7, record, "distractors")
    first, gold = lines[2 * place], lines[2 * place + 1]
    # Of the split that the ghazal falls to, as generators draw it: else dev would lose what test offers.
    split = split_of(f"hafez:{number}", 0.8)
    others = [one for one in poems if one != number]
    other = draw.choice([one for one in others if split_of(f"hafez:{one}", 0.8) == split] or others)
    spots = [spot for spot in range(len(lines) // 2) if spot != place]
    wrong = [lines[2 * draw.choice(spots) + 1], poems[other][2 * draw.randrange(len(poems[other]) // 2) + 1]]
    shared: dict[str, Any] = {
        "language": "fa",
        "fields": {"first": first, "poet": "حافظ"},
        "metadata": {"poet": "hafez", "form": "ghazal"},
        "licence": "public-domain",
        "attribution": "Package hafez 0.4.2",
    }
    origin = {"generator_version": "1", "seed": 7}
    choices: list[Item] = []
    for order in (0, 1):
        options = [gold, *wrong]
        options = options[order:] + options[:order]
        choices.append(
            ChoiceItem(
                id=item_id("continuation_choice", "fa", [record], f"order{order}"),
                task="continuation_choice",
                question=f"مصراع دوم این بیت کدام است؟ «{first}»",
                options=tuple(options),
                gold=(options.index(gold),),
                pair_id=item_id("continuation_choice", "fa", [record], "pair"),
                order=order,
                origin=Origin(
                    records=(record, f"hafez:{other}:0"),
                    generator="continuation_choice",
                    strategy="same_metre",
                    **origin,
                ),
                **shared,
            )
        )
    completion = AnswerItem(
        id=item_id("continuation_completion", "fa", [record]),
        task="continuation_completion",
        question=f"مصراع دوم را بنویس: «{first}»",
        answer=gold,
        origin=Origin(records=(record,), generator="continuation_completion", **origin),
        **shared,
    )
    return [*choices, completion]


def idiom_items() -> tuple[Item, ...]:
    """Egyptian idioms with explanations, and one explained poem, so that all three kinds are there."""
    made: list[Item] = []
    for number, (phrase, *options) in enumerate(IDIOMS):
        record = f"own-idioms:{number}"
        turned = options[number % 3 :] + options[: number % 3]
        made.append(
            ChoiceItem(
                id=item_id("meaning_choice", "ar", [record]),
                task="meaning_choice",
                language="ar",
                dialect="egyptian",
                question=f"ما معنى «{phrase}»؟",
                options=tuple(turned),
                gold=(turned.index(options[0]),),
                fields={"phrase": phrase},
                origin=Origin(
                    records=(record.replace(":", "-"),), generator="meaning_choice", generator_version="1"
                ),
                licence="CC-BY-4.0",
                attribution="Mihakk contributors",
            )
        )
    made.append(
        ExplanationItem(
            id=item_id("verse_explanation", "ar", ["own:1"]),
            task="verse_explanation",
            language="ar",
            question="اشرح كل بيت.",
            verses=("نمضي إلى الفجر والأحلام تسبقنا", "ونترك الليل خلف الباب منتظرا"),
            explanations=("نسير نحو الصباح بأمل.", "نترك الحزن وراءنا."),
            overall="قصيدة عن الأمل.",
            metadata={"poet": "own", "era": "modern"},
            origin=Origin(records=("own:1",), generator="verse_explanation", generator_version="1"),
            licence="CC-BY-4.0",
        )
    )
    return tuple(made)


def verdict_of(item: Item, status: str = "pass") -> Verdict:
    """A verdict as the strict policy gives it."""
    return Verdict.model_validate(
        {"item": item.id, "status": status, "audited": True, "policy": "strict",
         "reasons": [] if status == "pass" else ["critical"],
         "rules": {"least_total": False, "critical": status == "flag"}}
    )  # fmt: skip


def audits_of(item: Item) -> list[Audit]:
    """Both auditors' opinions; the second finds fault with one criterion of every seventh item."""
    strict = int(digest(item.id)[:4], 16) % 7 == 0
    good = dict.fromkeys(CRITERIA, 1)
    return [
        Audit(item=item.id, auditor="first", status="valid", scores=good, reply_key=digest([item.id, 1])),
        Audit(
            item=item.id,
            auditor="second",
            status="valid",
            scores={**good, "question_clarity": int(not strict)},
            issues=(Issue(criterion="question_clarity", explanation="The poet is not named."),)
            if strict
            else (),
            reply_key=digest([item.id, 2]),
        ),
    ]


FACTS = ReleaseFacts(
    code_version="0.1.0+test",
    sources=(
        SourceFact(
            name="hafez", title="hafez (package)", home="https://example.org/hafez/", licence="public-domain",
            attribution="Package hafez 0.4.2", revision="0.4.2", records=4192,
        ),
        SourceFact(
            name="own-idioms", title="Own idioms", licence="CC-BY-4.0", records=6,
            accepted=("short_lines", "page_marks"), stated=334,
        ),
    ),
    auditors=(
        AuditorFact(name="first", family="qwen", model="Qwen2.5-0.5B", revision="a" * 40, replies=100),
        AuditorFact(name="second", family="smollm", model="SmolLM2-135M", revision="b" * 40, replies=100, invalid=3),
    ),
    funnel=(
        FunnelRow(stage="1_scraped", source="hafez", read=495, kept=495, written=495),
        FunnelRow(stage="3_curated", source="hafez", read=495, kept=490, rejected=3, merged=2, written=490),
    ),
    clusters=(
        Cluster(kept="hafez:900:0", merged=("hafez:901:3",), level="couplet", method="similar", similarity=0.74),
    ),
    spreads=(
        ValueSpread(task="continuation_choice", language="fa", strategy="same_metre", measure="letters", options=9,
                   mean=0.4, p05=0.2, p25=0.3, median=0.4, p75=0.5, p95=0.6),
    ),
    auditor_agreement=(
        AuditorAgreementFact(criterion="all", scores=1000, observed=0.985, ac1=0.984, kappa=-0.01),
        AuditorAgreementFact(criterion="question_clarity", scores=100, observed=0.86, ac1=0.84),
    ),
    agreement=AgreementFact(value=0.71, low=0.6, high=0.8, observed=0.9, ac1=0.86, items=60, annotators=2),
)  # fmt: skip


def release_arguments(items: tuple[Item, ...], facts: ReleaseFacts = FACTS, **release: Any) -> dict[str, Any]:
    """Everything `assemble` takes but the folder: one item removed, one flagged and kept by people."""
    kept = sorted(items, key=lambda item: item.id)
    flagged, gone = kept[0], "fa-continuation_choice-ffffffffffffffff"
    return {
        "items": items,
        "verdicts": [verdict_of(item, "flag" if item is flagged else "pass") for item in kept],
        "audits": [audit for item in kept for audit in audits_of(item)],
        "findings": [
            Finding(check="CH03", severity="block", subject=gone, detail="options 0 and 2 read the same")
        ],
        "resolutions": [Resolution(item=flagged.id, outcome="keep", by="agreement", votes=2)],
        "removed": [
            Rejection(record=gone, source="hafez", reason="blocked_CH03", detail="options read the same")
        ],
        "config": hafez_config(**release),
        "facts": facts,
        "render": plain_prompt,
    }


def hashes(items: tuple[Item, ...]) -> dict[str, str]:
    """Id to content hash."""
    return {item.id: content_hash(item) for item in items}


def corrected_items() -> tuple[tuple[Item, ...], Rejection]:
    """The first release's items after a correction, and why one of them is gone.

    Gone: the first Persian choice. Gold corrected: the second. Reworded: the first completion. New: an idiom.
    """
    items = list(hafez_items())
    choices = [item for item in items if item.task == "continuation_choice"]
    completion = next(item for item in items if item.task == "continuation_completion")
    gone, corrected = choices[0], choices[1]
    assert isinstance(corrected, ChoiceItem)
    items.remove(gone)
    items[items.index(corrected)] = corrected.model_copy(update={"gold": ((corrected.gold[0] + 1) % 3,)})
    items[items.index(completion)] = completion.model_copy(
        update={"question": completion.question + " (کامل)"}
    )
    idiom = next(item for item in items if item.task == "meaning_choice")
    items.append(
        idiom.model_copy(
            update={
                "id": item_id("meaning_choice", "ar", ["own-idioms:99"]),
                "question": "ما معنى «روحه في مناخيره»؟",
                "fields": {"phrase": "روحه في مناخيره"},
                "options": ("سريع الغضب", "شديد الزكام", "واسع الصدر"),
                "gold": (0,),
                "origin": idiom.origin.model_copy(update={"records": ("own-idioms-99",)}),
            }
        )
    )
    removed = Rejection(
        record=gone.id, source="hafez", reason="wrong_gold", detail="two people found it wrong"
    )
    return tuple(items), removed


def corrected_arguments() -> dict[str, Any]:
    """Arguments of the second release."""
    items, removed = corrected_items()
    arguments = release_arguments(items)
    arguments["removed"] = [*arguments["removed"], removed]
    return arguments


def only_read(release: AssembledRelease) -> Iterator[AssembledRelease]:
    """A release that tests share: one that writes into its folder, or leaves a byte there, is at fault."""
    before = _bytes(release.folder)
    yield release
    assert _bytes(release.folder) == before, "a test wrote into a folder that others share: give it a copy"


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
