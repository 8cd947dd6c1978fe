"""The report's section on the quality of items, and on what was not made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.build import Build
from pipeline.measured_quality import measured
from schemas.item import ITEM_ROWS
from schemas.manifest import StageManifest
from schemas.stages import GENERATED, REVIEWED

if TYPE_CHECKING:
    from generators.quality.item_quality import Baseline, GoldPositions, Paraphrases, ValueSpread

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
}
"""Baselines in the report's order; `random` is chance itself."""
SPANS = {"cosine": (0.5, 1.0), "length_ratio": (0.0, 2.0)}
"""Ends of the scale on which a measure is drawn."""


@dataclass(frozen=True)
class BaselineRow:
    """One task's baselines."""

    task: str
    language: str
    questions: int
    chance: float
    found: Mapping[str, Baseline]


@dataclass(frozen=True)
class SpreadRow:
    """One measure of one strategy, and where its marks stand on the scale, in per cent."""

    spread: ValueSpread
    start: float
    width: float
    median: float


@dataclass(frozen=True)
class NotMade:
    """A task and why it left couplets, poems or idioms out."""

    task: str
    items: int
    reasons: list[tuple[str, int]]


@dataclass(frozen=True)
class QualityFacts:
    """Everything the section shows."""

    embedder: str
    solvers: dict[str, str]
    """Measured baselines to what they go by."""
    margin: float
    """How far the lower end of a baseline may stand above chance before the gate closes."""
    margins: Mapping[str, float]
    """The same for tasks that have their own."""
    baselines: list[BaselineRow]
    spreads: dict[str, list[SpreadRow]]
    positions: list[GoldPositions]
    paraphrases: list[Paraphrases]
    not_made: list[NotMade]
    written: list[tuple[str, int, int, int]]
    """Prompt, and replies of the writing model accepted, repaired and rejected."""


def quality_facts(build: Build, generated: StageManifest) -> QualityFacts:
    """The facts of a finished build."""
    quality = measured(build, build.stage(REVIEWED).read_all("items", ITEM_ROWS))
    made = Counter(build.stage(GENERATED).frame("items", ["task"]).get("task", ()))
    rows = list(_baselines(quality.baselines))
    seen = {name for row in rows for name in row.found}
    return QualityFacts(
        embedder=quality.embedder,
        solvers={name: words for name, words in SOLVERS.items() if name in seen},
        margin=build.config.release.baseline_margin,
        margins=build.config.release.baseline_margins,
        baselines=rows,
        spreads={
            measure: [placed(one, *ends) for one in quality.spreads if one.measure == measure]
            for measure, ends in SPANS.items()
        },
        positions=list(quality.positions),
        paraphrases=list(quality.paraphrases),
        not_made=left_out([use.use for use in build.config.tasks], made, generated.counts.notes),
        written=replies(generated.counts.notes),
    )


def _baselines(found: Iterable[Baseline]) -> Iterable[BaselineRow]:
    grouped: dict[tuple[str, str], dict[str, Baseline]] = defaultdict(dict)
    for one in found:
        grouped[one.language, one.task][one.name] = one
    for (language, task), mine in sorted(grouped.items()):
        known = mine["random"]
        yield BaselineRow(task, language, known.questions, known.chance, mine)


def placed(spread: ValueSpread, low: float, high: float) -> SpreadRow:
    """A spread with its marks on a scale from `low` to `high`; what lies beyond stands at the end."""

    def place(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 1)

    start = place(spread.p05)
    return SpreadRow(spread, start, round(place(spread.p95) - start, 1), place(spread.median))


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
