"""Probes for contamination as questions of a suite's part: asked, kept and scored like all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from mihakk.evaluation.metrics.continued import LEAST_CONTINUED
from mihakk.evaluation.questions import listed
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.machinery.languages import pack
from mihakk.machinery.seeds import rng
from mihakk.machinery.text import key
from mihakk.schemas.evaluation import Question
from mihakk.schemas.record import Language
from mihakk.schemas.suite import Probe

VERSION: Final = "1"
"""Raised with every change of what a probe asks."""
OPTIONS_ALONE: Final = "probe_options"
"""Task of the probes that show the options and no question."""


class Cut(NamedTuple):
    """A text to be continued, and how it goes on."""

    shown: str
    hidden: str


def probes_of(
    question: Question, row: Mapping[str, Any], kinds: tuple[Probe, ...], seed: int
) -> Iterator[tuple[Question, str]]:
    """The probes made of one item (`row`: as the release has it), each with its prompt."""
    if "options" in kinds and question.kind == "choice":
        prompt = pack(question.language).made_with.probes.choose.format(
            labels=", ".join(question.labels), options=listed(question.labels, question.options)
        )
        yield _probe(question, "options", prompt, {}), prompt
    if "continuation" in kinds and question.order == 0:
        text = "\n".join(
            part
            for part in (row.get("context"), row["question"], *question.options, *question.verses)
            if part
        )
        twin = shuffled_twin(text, seed=seed, name=question.item)
        cuts = (
            ("continuation", cut_in_middle(text, question.language)),
            ("twin", cut_in_middle(twin, question.language)),
        )
        if all(cut is not None for _, cut in cuts):
            for name, cut in cuts:
                assert cut is not None
                yield _continued(question, name, cut)


def canary_probe(question: Question, guid: str, card: Path) -> tuple[Question, str]:
    """The probe for a release's canary, from any of its items and its README, which has the whole line.

    Raises:
        UsageError: It has not.
    """
    lines = card.read_text(encoding="utf-8").splitlines() if card.is_file() else []
    line = next((one.strip("> ") for one in lines if guid in one and len(one.split()) > 4), None)
    if line is None:
        raise UsageError(f"{card} has no line with the canary {guid}: the probe needs it")
    probe, prompt = _continued(question, "canary", cut_canary(line, guid), "en")
    changed = {"answer": guid, "item": f"{question.release}#canary", "group": "canary"}
    return probe.model_copy(update=changed), prompt


def _continued(
    question: Question, name: str, cut: Cut, language: Language | None = None
) -> tuple[Question, str]:
    prompt = pack(language or question.language).made_with.probes.go_on.format(shown=cut.shown)
    return _probe(question, name, prompt, {"kind": "answer", "answer": cut.hidden}), prompt


def _probe(question: Question, name: str, prompt: str, changed: Mapping[str, Any]) -> Question:
    """A question of its own: it belongs to the item's cluster and record, and to no average."""
    kept = question.model_dump()
    if changed.get("kind") == "answer":
        for field in ("options", "labels", "gold", "option_kinds", "verses", "explanations"):
            kept[field] = ()
        kept |= {"accepted": (), "multiple": False, "overall": "", "pair_id": "", "order": 0}
    slices = {"record": question.item, **question.slices} if name == "options" else {}
    return Question.model_validate(
        kept
        | {
            "item": f"{question.item}#{name}",
            "content_hash": digest([question.content_hash, VERSION, prompt]),
            "config": "probe_canary" if name == "canary" else f"{question.config}_{name}",
            "task": f"probe_{name}",
            "ability": "probe",
            "slices": slices or {"record": question.item},
            **changed,
        }
    )


def cut_canary(line: str, guid: str) -> Cut:
    """The first half of a canary's sentence; the identifier is in what is hidden.

    Raises:
        ValueError: The line does not hold the identifier.
    """
    if guid not in line:
        raise ValueError(f"the canary's line does not hold {guid}")
    words = line[: line.index(guid)].split()
    shown = " ".join(words[: max(1, len(words) // 2)])
    return Cut(shown, line[len(shown) :].strip())


def cut_in_middle(text: str, language: Language) -> Cut | None:
    """A text cut between two words, its hidden half too long to be guessed; None where it is short."""
    words = text.split()
    for place in range(len(words) // 2, 0, -1):
        hidden = " ".join(words[place:])
        if len(key(hidden, language)) >= LEAST_CONTINUED:
            return Cut(" ".join(words[:place]), hidden)
    return None


def shuffled_twin(text: str, *, seed: int, name: str) -> str:
    """The text with its words in another order: as hard to continue for whoever has not seen it."""
    words = text.split()
    rng(seed, name, "contamination_twin").shuffle(words)
    return " ".join(words)
