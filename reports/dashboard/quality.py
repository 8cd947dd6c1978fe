"""How good the items are, what each task left out, and what the generator model wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mihakk.pipeline.build import Build
from mihakk.pipeline.measured_quality import standing_quality
from mihakk.schemas.stages import GENERATED

if TYPE_CHECKING:
    from mihakk.generators.quality.item_quality import Baseline, ItemQuality, ValueSpread

SOLVERS = {
    "all_cues": "all cues together",
    "options_only": "options only",
    "longest": "most letters",
    "shortest": "fewest letters",
    "most_words": "most words",
    "fewest_words": "fewest words",
    "word_overlap": "words shared",
    "stem_overlap": "stems shared",
    "trigram_overlap": "letter groups shared",
    "rarest": "rarest in the set",
    "options_met": "same options elsewhere",
    "rhyme_only": "rhyme only",
    "rhyme_shown": "rhymes with what is shown",
    "metre_only": "metre only",
    "capital_first": "capital first",
    "punctuation": "most punctuation",
    "digits": "most digits",
    "most_similar": "most similar in meaning",
    "most_central": "nearest to the other options",
}
"""Baselines in the page's order; `random` is chance itself."""
MEASURES = {
    "cosine": "Cosine of right and wrong option",
    "length_ratio": "Characters of the wrong option for each of the right one",
}


@dataclass(frozen=True)
class NotMade:
    """A task and why it left couplets, poems or idioms out."""

    task: str
    items: int
    reasons: list[tuple[str, int]]


@dataclass(frozen=True)
class QualityFacts:
    """Everything the section shows."""

    measured: ItemQuality | None
    """None before a release measured the items as they stand."""
    not_made: list[NotMade]
    written: list[tuple[str, int, int, int]]
    """Prompt, and replies of the writing model accepted, repaired and rejected."""

    @property
    def baselines(self) -> dict[tuple[str, str], dict[str, Baseline]]:
        """Language and task to its baselines by name."""
        found: dict[tuple[str, str], dict[str, Baseline]] = defaultdict(dict)
        for one in self.measured.baselines if self.measured else ():
            found[one.language, one.task][one.name] = one
        return dict(sorted(found.items()))

    @property
    def solvers(self) -> dict[str, str]:
        """Measured baselines to what they go by."""
        seen = {name for found in self.baselines.values() for name in found}
        return {name: words for name, words in SOLVERS.items() if name in seen}

    @property
    def spreads(self) -> dict[str, str]:
        """What is measured of wrong options to its chart: a row a strategy, 5 to 95 % and the middle half."""
        from mihakk.releases.card.charts import Mark, spans

        rows: dict[str, list[ValueSpread]] = defaultdict(list)
        for one in self.measured.spreads if self.measured else ():
            rows[one.measure].append(one)
        return {
            title: spans(
                title,
                [
                    (
                        f"{one.language} {one.task}, {one.strategy} ({one.options:,})",
                        {measure: Mark(one.median, one.p05, one.p95, (one.p25, one.p75))},
                    )
                    for one in rows[measure]
                ],
            )
            for measure, title in MEASURES.items()
            if rows[measure]
        }


def quality_facts(build: Build) -> QualityFacts:
    """The facts as they stand; nothing is measured for them."""
    generated = build.stage(GENERATED)
    tasks = [use.use for use in build.config.tasks]
    if not generated.finished():
        return QualityFacts(None, left_out(tasks, {}, {}), [])
    made = Counter(task for (task,) in generated.values("items", "task"))
    notes = generated.manifest().counts.notes
    return QualityFacts(standing_quality(build), left_out(tasks, made, notes), replies(notes))


def left_out(tasks: Iterable[str], made: Mapping[str, int], notes: Mapping[str, Any]) -> list[NotMade]:
    """Every task of the config with its items and, from the stage's notes, why it made no more."""
    reasons: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, count in notes.items():
        kind, _, rest = name.partition(".")
        task, _, reason = rest.partition(".")
        if kind == "skipped":
            reasons[task].append((reason, int(count)))
    return [
        NotMade(task, made.get(task, 0), sorted(reasons[task], key=lambda pair: (-pair[1], pair[0])))
        for task in tasks
    ]


def replies(notes: Mapping[str, Any]) -> list[tuple[str, int, int, int]]:
    """Prompt, and replies of the writing model accepted, repaired and rejected, from the stage's notes."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, count in notes.items():
        kind, _, rest = name.partition(".")
        prompt, _, outcome = rest.partition(".")
        if kind == "written":
            counts[prompt][outcome] += int(count)
    return [
        (prompt, found["accepted"], found["repaired"], found["rejected"])
        for prompt, found in sorted(counts.items())
    ]
