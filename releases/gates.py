"""What a release must meet before it is published, and the list of what it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from mihakk.machinery.errors import UsageError
from mihakk.releases.auditor_agreement import ALL
from mihakk.releases.cleaned_record import CleanedRecord
from mihakk.releases.content.split import places_of
from mihakk.releases.licence import forbids_derivatives, known
from mihakk.releases.release_facts import (
    AgreementFact,
    AuditorFact,
    MissRateFact,
    Override,
    ReleaseFacts,
)
from mihakk.schemas.audit import AUDIT_STATES, Verdict
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import Item
from mihakk.schemas.quality import Baseline
from mihakk.schemas.record import Record

SPLIT_MARGIN = 0.1
"""How far the test split's share may be from what is asked."""
SPLIT_JUDGED = 1_000
"""Items from which the share is judged: fewer fall unevenly by chance."""
GATES = (
    "licences",
    "losses",
    "unresolved",
    "splits",
    "full_audit",
    "capable_auditors",
    "answered_by",
    "auditor_agreement",
    "agreement",
    "miss_rate",
    "baselines",
    "sign_off",
)
"""Names of all gates, in their order."""
PUBLIC = frozenset(
    {
        *("licences", "losses", "splits", "full_audit", "capable_auditors"),
        *("answered_by", "miss_rate", "baselines"),
    }
)
"""Gates that a publication has to pass even where the config does not ask for them."""
NEVER_OVERRIDDEN = {
    "licences": "text may not be given away without a known licence that allows it",
    "losses": "accept each by name with its share, as the gate says",
    "answered_by": "declare each name under which a model answers in `served_as` of its config",
}
"""Gates that nobody's word opens, and why."""


class Gate(Record):
    """One condition and how a release stands to it."""

    name: str
    passed: bool
    asked: bool = False
    """Whether the config asks for it; what is not asked is told and stops nothing."""
    found: str
    """The figures, in one sentence."""
    remedy: str = ""
    """What to do when it is shut."""
    override: str = ""
    """Why a person let it stand shut; empty where nobody did."""

    @property
    def state(self) -> str:
        """How it stands, as people are told."""
        if self.passed or self.override:
            return "open" if self.passed else "shut, overridden"
        unasked = "shut for publication" if self.bars_publication else "not asked"
        return "shut" if self.asked else unasked

    @property
    def shut(self) -> bool:
        """Asked for, not met and not overridden: no version is made."""
        return self.asked and not self.passed and not self.override

    @property
    def bars_publication(self) -> bool:
        """Not met and not overridden, where the config or every publication asks for it."""
        return (self.asked or self.name in PUBLIC) and not self.passed and not self.override


def gates(
    items: Sequence[Item], verdicts: Iterable[Verdict], config: BenchmarkConfig, facts: ReleaseFacts
) -> tuple[Gate, ...]:
    """How a release stands to every condition, in the order people should fix them."""
    audited = {one.item for one in verdicts if one.audit_state == "both"}
    found = (
        _licences(items, config),
        _losses(facts),
        _unresolved(config, facts),
        _splits(items, config, facts),
        full_audit(
            sum(item.id in audited for item in items),
            len(items),
            asked=config.release.require_full_audit,
            remedy="Raise or remove audit.limit.",
        ),
        capable(
            facts.auditors,
            asked=config.release.require_capable_auditors,
            remedy="Name two large models of different families in audit.auditors and build again.",
        ),
        answered_by(facts.auditors),
        _auditor_agreement(config, facts),
        _agreement(config, facts),
        _miss_rate(config, facts),
        _baselines(config, facts),
        _sign_off(config, facts),
    )
    return with_overrides(found, facts.overrides)


def cleaned_gates(record: CleanedRecord) -> tuple[Gate, ...]:
    """How the cleaned release of a benchmark stands to the gates that it can meet."""
    audit = "Audit without --rules-only and --limit."
    found, remedy = (
        f"The benchmark's licence: {record.licence}.",
        "Read its licence and name it: --licence with its SPDX identifier.",
    )
    if forbids_derivatives(record.licence):
        found = f"The benchmark's licence {record.licence} forbids derivatives, and a cleaned copy is one."
        remedy = "Keep it to yourself and send the errata to the authors, or ask them for their leave."
    return (
        Gate(name="licences", passed=known(record.licence), found=found, remedy=remedy),
        Gate(
            name="unresolved",
            passed=record.facts.unresolved == 0,
            found=f"{record.facts.unresolved} rows wait for people and are left out until they decide.",
            remedy="`mihakk review push` the folder, have the rows decided, pull, and audit again.",
        ),
        full_audit(record.audit_states.get("both", 0), record.rows, of="rows", remedy=audit),
        capable(record.auditors, remedy="Name two large models of different families by --auditors."),
        answered_by(record.auditors),
        sampled_misses(
            record.miss_rate,
            of="rows",
            remedy="Set review.miss_rate_sample in audited.json, audit, push, and have the sample reviewed.",
        ),
    )


def with_overrides(found: Iterable[Gate], overrides: Iterable[Override]) -> tuple[Gate, ...]:
    """The gates, those that stay shut by a person's word with the reason."""
    reasons = {one.gate: one.why for one in overrides}
    return tuple(
        gate if gate.passed else gate.model_copy(update={"override": reasons.get(gate.name, "")})
        for gate in found
    )


def require(found: Iterable[Gate]) -> None:
    """Raise `UsageError` that names every shut gate and what opens it."""
    shut = [gate for gate in found if gate.shut]
    if shut:
        raise UsageError(f"{len(shut)} conditions for this release are not met:\n{listed(shut)}")


def overridable(gate: str, why: str, gates: Sequence[str] = GATES) -> str:
    """Why a gate may stay shut, in one line; `UsageError` where it may not, or no reason is given."""
    if gate not in gates:
        near = get_close_matches(gate, gates, n=1)
        meant = f"; did you mean {near[0]}?" if near else "."
        raise UsageError(f"no gate is named {gate!r}{meant} There are: {', '.join(gates)}")
    if gate in NEVER_OVERRIDDEN:
        raise UsageError(f"the gate {gate} can't be overridden: {NEVER_OVERRIDDEN[gate]}")
    reason = " ".join(why.split())
    if not reason:
        raise UsageError(f"say why {gate} may stay shut: --why TEXT; the card prints it")
    return reason


def listed(shut: Iterable[Gate]) -> str:
    """Gates with their figures and what opens them, one a line."""
    return "\n".join(f"  {gate.name}: {gate.found} {gate.remedy}".rstrip() for gate in shut)


def _licences(items: Sequence[Item], config: BenchmarkConfig) -> Gate:
    unknown = Counter(item.licence or "(empty)" for item in items if not known(item.licence))
    if not known(config.release.licence):
        unknown[f"{config.release.licence} (the release's own)"] += 1
    named = ", ".join(f"{licence}: {count}" for licence, count in sorted(unknown.items()))
    return Gate(
        name="licences",
        passed=not unknown,
        asked=True,
        found=f"Records under a licence nobody knows: {named or 'none'}.",
        remedy="State the licence in the source, or leave the source out.",
    )


def _losses(facts: ReleaseFacts) -> Gate:
    refused = [one.sentence for one in facts.losses if not one.is_accepted]
    return Gate(
        name="losses",
        passed=not refused,
        found=f"Sources and tasks that lost much and nobody accepted: {'; '.join(refused) or 'none'}.",
        remedy="Correct the source or task, or accept the share in the config, and build again.",
    )


def _unresolved(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    return Gate(
        name="unresolved",
        passed=facts.unresolved == 0,
        asked=config.review.unresolved == "wait",
        found=f"{facts.unresolved} flagged items wait for people.",
        remedy="Decide them in the review project, or set review.unresolved to leave_out.",
    )


def _splits(items: Sequence[Item], config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    """Whether chains of like works leave both splits about as large as asked."""
    share = config.release.test_share
    came_with_one = {item.id for item in items if item.split}
    places = places_of(items, share, facts.clusters, facts.sides)
    groups = {name: place for name, place in places.items() if name not in came_with_one}
    sizes = Counter(group for _, group in groups.values())
    tested = sum(split == "test" for split, _ in groups.values())
    largest, most = max(sizes.items(), key=lambda one: (one[1], one[0]), default=("none", 0))
    whole = max(1, len(groups))
    judged = 0 < share < 1 and len(groups) >= SPLIT_JUDGED
    return Gate(
        name="splits",
        passed=not judged or abs(tested / whole - share) <= SPLIT_MARGIN,
        asked=judged,
        found=f"{tested / whole:.1%} of the items fall to test, asked {share:.1%}; "
        f"{len(sizes)} groups, the largest ({largest}) with {most / whole:.1%}.",
        remedy="Items about one work or pair can't be parted: make fewer of the largest work (per_record), "
        "add works, or set release.test_share near what comes out.",
    )


def full_audit(seen: int, whole: int, *, of: str = "items", asked: bool = False, remedy: str) -> Gate:
    """Whether both auditors gave usable replies on all items, or rows."""
    found = f"{seen} of {whole} {of}: {AUDIT_STATES['both']}."
    return Gate(name="full_audit", passed=seen == whole, asked=asked, found=found, remedy=remedy)


def capable(auditors: Sequence[AuditorFact], *, asked: bool = False, remedy: str) -> Gate:
    """Whether two auditors or more judged, all of them large enough to judge."""
    weak = [one.name for one in auditors if not one.capable]
    named = f"; too small to judge: {', '.join(weak)}" if weak else ""
    return Gate(
        name="capable_auditors",
        passed=len(auditors) >= 2 and not weak,
        asked=asked,
        found=f"{len(auditors)} auditors{named}.",
        remedy=remedy,
    )


def answered_by(auditors: Sequence[AuditorFact]) -> Gate:
    """Whether no reply is another model's than the config names; replies that name none are told alone."""
    others = [
        f"{one.name} ({one.model}) by {', '.join(one.undeclared)}" for one in auditors if one.undeclared
    ]
    unknown = [one.name for one in auditors if one.answered_by in ((), ("",))]
    told = [f"answered by another model: {'; '.join(others)}"] if others else []
    told += [f"not known who answered: {', '.join(unknown)}"] if unknown else []
    return Gate(
        name="answered_by",
        passed=not others,
        found=f"{len(auditors)} auditors{''.join(f'; {one}' for one in told)}.",
        remedy="If it is the same model, add the name to `served_as` in the auditor's config; if not, "
        "correct the server. Then build again.",
    )


def _auditor_agreement(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    least = config.release.least_auditor_agreement
    found = next((one for one in facts.auditor_agreement if one.criterion == ALL), None)
    return Gate(
        name="auditor_agreement",
        passed=found is not None and _reached(least, found.ac1),
        asked=least is not None,
        found="No item has two usable audits."
        if found is None
        else f"The auditors gave the same score {found.observed:.2%} of {found.scores} times "
        f"(AC1 {found.ac1:.3f}), {_allowed(least)}.",
        remedy="Read where they differ (audit/scores.parquet); change an auditor or the audit's prompt.",
    )


def _reached(least: float | None, coefficient: float) -> bool:
    return least is None or coefficient >= least


def _allowed(least: float | None) -> str:
    return f"least allowed {'not set' if least is None else least}"


def _agreement(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    least = config.release.least_agreement
    found = facts.agreement
    return Gate(
        name="agreement",
        passed=found is not None
        and found.value is not None
        and _reached(least, found.value if found.least is None else found.least),
        asked=least is not None,
        found="The people's agreement is not known: too few items have two votes, or all votes are the same."
        if found is None or found.value is None
        else f"{found.annotators} people agree on {found.items} items: {found.coefficient} "
        f"{found.value:.3f}{_beside(found)}{_lacking(found)}, {_allowed(least)}.",
        remedy="Review with overlap, and fix the guidelines where people differ.",
    )


def _lacking(found: AgreementFact) -> str:
    if found.least is None:
        return ""
    return f"; {found.unanswered} items lack votes, and at worst it is {found.least:.3f}"


def _beside(found: AgreementFact) -> str:
    raw = "" if found.observed is None else f" (raw agreement {found.observed:.1%}"
    return raw and raw + (")" if found.ac1 is None else f", AC1 {found.ac1:.3f})")


def _miss_rate(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    bound = config.release.miss_rate_bound
    allowed = f"allowed {'not set' if bound is None else f'{bound:.2%}'}"
    return sampled_misses(
        facts.miss_rate,
        bound,
        of="items",
        allowed=f"; {allowed}",
        asked=bound is not None,
        remedy="Set review.miss_rate_sample and have the sample reviewed; a larger one lowers the bound. "
        "Where most of it was made anew since, raise review.miss_rate_draw for another.",
    )


def sampled_misses(
    measured: MissRateFact | None,
    bound: float | None = None,
    *,
    of: str,
    allowed: str = "",
    asked: bool = False,
    remedy: str,
) -> Gate:
    """Whether the miss rate is known, and below the bound even if all that is not known were defective.

    Without a bound the whole sample has to be answered, for nobody said how much may stay unknown.
    """
    passed = False
    if measured is not None and not measured.is_outdated:
        # Facts stored by older versions count what nobody answered in `covered` alone.
        worst = max(measured.upper_bound, 1 - measured.covered)
        passed = measured.complete if bound is None else worst <= bound
    return Gate(
        name="miss_rate",
        passed=passed,
        asked=asked,
        found=f"No unflagged {of} were sampled." if measured is None else f"{measured.sentence}{allowed}.",
        remedy=remedy,
    )


def _sign_off(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    word = facts.sign_off
    found = "Nobody has signed off these tables."
    if word is not None:
        said = "approved" if word.decision == "approve" else "rejected"
        found = f"{word.name} {said} these tables."
    return Gate(
        name="sign_off",
        passed=word is not None and word.decision == "approve",
        asked=config.release.sign_off,
        found=found,
        remedy="Approve them in the paused `release` run, or by `mihakk release BENCHMARK --sign-off NAME`.",
    )


def _baselines(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    """Goes by the interval: few questions close it where the cue is plain, many where it is faint."""
    release = config.release

    def margin(one: Baseline) -> float:
        return release.baseline_margins.get(one.task, release.baseline_margin)

    def excess(one: Baseline) -> tuple[float, str, str]:
        return one.chance - one.low, one.config, one.name

    above = sorted((one for one in facts.baselines if one.low > one.chance + margin(one)), key=excess)
    named = "; ".join(
        f"{one.config} {one.name} {one.accuracy:.3f} of {one.questions} (at least {one.low:.3f}), "
        f"chance {one.chance:.3f} + {margin(one):g}"
        for one in above
    )
    return Gate(
        name="baselines",
        passed=not above,
        asked=True,
        found=f"Form alone answers more than chance and the margin allow: {named or 'nowhere'} "
        f"(of {len(facts.baselines)} baselines measured).",
        remedy="Make better wrong options, leave the task out, or raise release.baseline_margins for it "
        "knowingly.",
    )
