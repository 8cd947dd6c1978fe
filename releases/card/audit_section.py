"""The card's sections on audit and review and on limits: who looked, how far they agree, what nobody saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mihakk.machinery.markdown import Columns, plain, table, table_of
from mihakk.releases.auditor_agreement import ALL
from mihakk.releases.release_facts import AgreementFact, AuditorFact, Override, ReleaseFacts
from mihakk.schemas.audit import AUDIT_STATES, AuditState, by_audit_state
from mihakk.schemas.campaign import CampaignFigure
from mihakk.schemas.quality import Baseline
from mihakk.schemas.review import HumanAccuracy

AUDITORS: Columns[AuditorFact] = {
    "auditor": lambda one: plain(one.name),
    "family": lambda one: plain(one.family),
    "model": lambda one: plain(one.model),
    "revision": lambda one: plain(one.revision[:12]),
    "answered by": lambda one: plain(
        ", ".join(name or "not named" for name in one.answered_by) or "not known"
    ),
    "fingerprints": lambda one: plain(", ".join(one.fingerprints) or "none"),
    "capable": lambda one: "yes" if one.capable else "no",
    "replies": lambda one: one.replies,
    "unusable": lambda one: one.invalid,
}
LOOKED_LESS: tuple[AuditState, ...] = ("short", "checks")
"""States of an audit in which an item was not seen by two auditors."""
OPEN = "open items"
"""What figures of a blind release are of."""
TOY = " They are too small to judge, so their agreement says nothing about the items."


def audit_section(
    facts: ReleaseFacts,
    audit_states: Mapping[AuditState, int],
    statuses: Mapping[str, int],
    of: str = "items",
) -> str:
    """The section's text; `of` is what the figures are of."""
    parts = ["### Annotations: audit and review"]
    if facts.auditors:
        parts.append(table_of(AUDITORS, facts.auditors))
    verdicts = ", ".join(f"{count} {name}" for name, count in sorted(statuses.items())) or "none"
    parts.append(
        f"Released: {by_audit_state(audit_states, of)}. "
        f"Verdicts over all {'items made' if of == 'items' else of}: {verdicts}"
        + (
            "."
            if facts.unresolved is None
            else f"; {facts.unresolved} flagged items wait for people and are not in this release."
        )
    )
    toy = TOY if any(not one.capable for one in facts.auditors) else ""
    parts += [
        f"The auditors gave the same score {one.observed:.2%} of {one.scores} times: Gwet's AC1 {one.ac1:.3f}"
        f"{'' if one.kappa is None else f', Cohen kappa {one.kappa:.3f}'}. The charts show it by criterion."
        f"{toy}"
        for one in facts.auditor_agreement
        if one.criterion == ALL
    ]
    people = [*([facts.agreement] if facts.agreement else []), *facts.criteria_agreement]
    if people:
        parts.append(_people_agree(people))
    if facts.miss_rate is not None:
        parts.append(f"{facts.miss_rate.sentence}.")
    if facts.votes:
        parts.append(
            f"`audit/votes.parquet` has {len(facts.votes)} votes of people, without names and times, and "
            "`audit/reviewed.parquet` what they judged"
            + (
                ": these figures can be recomputed from the two."
                if of != OPEN
                else ", of the open items alone."
            )
        )
    if facts.campaign_figures:
        parts.append(_people_said(facts.campaign_figures))
    if facts.human_accuracy:
        parts.append(_people_answer(facts.human_accuracy))
    return "\n\n".join(parts)


def _people_said(figures: Sequence[CampaignFigure]) -> str:
    columns: Columns[CampaignFigure] = {
        "people were asked about": lambda one: plain(one.template.replace("_", " ")),
        "of": lambda one: plain(one.group),
        "figure": lambda one: plain(one.figure),
        "questions": lambda one: one.questions,
        "unanswered": lambda one: one.unanswered,
        "value": lambda one: one.shown,
        "95 % interval": lambda one: one.interval,
    }
    return f"What people said of samples of records and items:\n\n{table_of(columns, figures)}"


def _people_answer(accuracy: Sequence[HumanAccuracy]) -> str:
    columns: Columns[HumanAccuracy] = {
        "people's own answers to": lambda one: plain(one.group.replace("_", " ")),
        "questions": lambda one: one.questions,
        "unanswered": lambda one: one.unanswered,
        "answers": lambda one: one.answers,
        "right": lambda one: f"{one.accuracy:.1%}",
        "95 % interval": lambda one: f"{one.low:.1%} to {one.high:.1%}",
        "did not know": lambda one: one.unknown,
    }
    said = (
        "How often the people who reviewed items gave the reference's answer before they were shown it. "
        "`sampled` items were drawn at random from those that neither checks nor auditors object to. "
        "Intervals are Clopper and Pearson's, as if all answers to a question were one, and hold whatever "
        "the missing answers are."
    )
    return f"{said}\n\n{table_of(columns, accuracy)}"


def _between(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" + ("" if low is None or high is None else f" ({low:.1%} to {high:.1%})")


def _people_agree(people: Sequence[AgreementFact]) -> str:
    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    columns: Columns[AgreementFact] = {
        "people on": lambda one: plain(one.label.replace("_", " ")),
        "alpha": lambda one: number(one.value),
        "95 % interval": lambda one: "–" if one.low is None else f"{number(one.low)} to {number(one.high)}",
        "raw agreement": lambda one: _between(one.observed, one.observed_low, one.observed_high),
        "AC1": lambda one: number(one.ac1),
        "AC1, 95 %": lambda one: (
            "–" if one.ac1_low is None else f"{number(one.ac1_low)} to {number(one.ac1_high)}"
        ),
        "items": lambda one: one.items,
        "unanswered": lambda one: one.unanswered,
        "annotators": lambda one: one.annotators,
    }
    said = (
        f"Agreement of people over the first votes on each item: {people[0].coefficient} (low if nearly all "
        "votes are equal, undefined if all are), raw agreement and Gwet's AC1. Intervals (95 %) hold "
        "whatever the votes are that unanswered items lack."
    )
    if people[0].edited:
        said += f" {people[0].edited} votes that were changed before they were first stored are left out."
    return f"{said}\n\n{table_of(columns, people)}"


def limits(
    facts: ReleaseFacts,
    overrides: Iterable[Override],
    audit_states: Mapping[AuditState, int],
    of: str = "items",
) -> str:
    """The section's text; `of` is what the release holds."""
    whole = sum(audit_states.values())
    lines = ["## Bias, Risks, and Limitations", ""]
    weak = [one.name for one in facts.auditors if not one.capable]
    if weak:
        lines.append(
            f"- {plain(' and '.join(weak))} are too small to judge: their scores show that the audit runs, "
            f"not that the {of} are good. Do not rank models on this release."
        )
    lines += [f"- **{plain(one.sentence)}**" for one in facts.losses]
    lines += [
        f"- Version {plain(one.version)} went out although the gate `{one.gate}` was shut. The reason given: "
        f"{plain(one.why)}"
        for one in overrides
    ]
    lines += [
        f"- {plain(one.name)} judged {one.own_family} {of} of which a model of its own family "
        f"({plain(one.family)}) wrote a part."
        for one in facts.auditors
        if one.own_family
    ]
    if not facts.auditors:
        lines.append(f"- No model audited these {of}.")
    lines += [
        f"- {audit_states[state]} of {whole} released {of}: {AUDIT_STATES[state]}."
        for state in LOOKED_LESS
        if audit_states.get(state)
    ]
    if facts.miss_rate is None and of != OPEN:
        lines.append(f"- Nobody has sampled the unflagged {of}, so the share of defects left is not known.")
    if facts.baselines:
        lines += [
            "- What solvers that go by form alone score, with 95 % intervals:",
            "",
            _baselines(facts.baselines),
        ]
    return "\n".join(lines)


def _baselines(measured: Sequence[Baseline]) -> str:
    names = [name for name in dict.fromkeys(one.name for one in measured) if name != "random"]
    rows = []
    for config in dict.fromkeys(one.config for one in measured):
        mine = {one.name: one for one in measured if one.config == config}
        items = max(one.questions for one in mine.values())
        chance = next(iter(mine.values())).chance
        found = [_interval(mine.get(name)) for name in names]
        rows.append((plain(config), items, f"{chance:.3f}", *found))
    return table(("config", "items", "chance", *(f"`{name}`" for name in names)), rows)


def _interval(one: Baseline | None) -> str:
    return f"{one.accuracy:.3f} ({one.low:.2f}–{one.high:.2f})" if one else ""
