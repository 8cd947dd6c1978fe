"""What a release must meet before it is published, and the list of what it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mihakk.errors import UsageError
from releases.agreement import ALL
from releases.facts import ReleaseFacts
from releases.licence import known
from releases.split import group_items, split_of
from releases.tables import AnyItem
from schemas.audit import Verdict
from schemas.benchmark import BenchmarkConfig
from schemas.record import Record

SPLIT_MARGIN = 0.1
"""How far the test split's share may be from what is asked."""
SPLIT_JUDGED = 1_000
"""Items from which the share is judged: fewer fall unevenly by chance."""


class Gate(Record):
    """One condition and how a release stands to it."""

    name: str
    passed: bool
    asked: bool
    """Whether the config asks for it; what is not asked is told and stops nothing."""
    found: str
    """The figures, in one sentence."""
    remedy: str = ""
    """What to do when it is shut."""

    @property
    def shut(self) -> bool:
        """Asked for and not met."""
        return self.asked and not self.passed


def gates(
    items: Sequence[AnyItem], verdicts: Iterable[Verdict], config: BenchmarkConfig, facts: ReleaseFacts
) -> tuple[Gate, ...]:
    """How a release stands to every condition, in the order people should mend them."""
    audited = {one.item for one in verdicts if one.audited}
    return (
        _licences(items, config),
        _unresolved(config, facts),
        _splits(items, config, facts),
        _full_audit(items, audited, config),
        _capable(config, facts),
        _auditor_agreement(config, facts),
        _agreement(config, facts),
        _miss_rate(config, facts),
        _baselines(config, facts),
        _sign_off(config, facts),
    )


def require(found: Iterable[Gate]) -> None:
    """Raise `UsageError` that names every shut gate and what opens it."""
    shut = [gate for gate in found if gate.shut]
    if shut:
        lines = [f"  {gate.name}: {gate.found} {gate.remedy}".rstrip() for gate in shut]
        raise UsageError(f"{len(shut)} conditions for this release are not met:\n" + "\n".join(lines))


def _licences(items: Sequence[AnyItem], config: BenchmarkConfig) -> Gate:
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


def _unresolved(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    return Gate(
        name="unresolved",
        passed=facts.unresolved == 0,
        asked=config.review.unresolved == "wait",
        found=f"{facts.unresolved} flagged items wait for people.",
        remedy="Decide them in the review project, or set review.unresolved to leave_out.",
    )


def _splits(items: Sequence[AnyItem], config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    """Whether chains of like works leave both splits about as large as asked."""
    ours = [item for item in items if not item.split]
    share = config.release.test_share
    groups = group_items(ours, facts.clusters)
    sizes = Counter(groups.values())
    tested = sum(size for group, size in sizes.items() if split_of(group, share) == "test")
    largest, most = max(sizes.items(), key=lambda one: (one[1], one[0]), default=("none", 0))
    whole = max(1, len(ours))
    return Gate(
        name="splits",
        passed=not ours or abs(tested / whole - share) <= SPLIT_MARGIN,
        asked=0 < share < 1 and len(ours) >= SPLIT_JUDGED,
        found=f"{tested / whole:.1%} of the items fall to test, asked {share:.1%}; {len(sizes)} groups, the "
        f"largest ({largest}) with {most / whole:.1%}.",
        remedy="Items about one work or pair can't be parted: make fewer of the largest work (per_record), "
        "add works, or set release.test_share near what comes out.",
    )


def _full_audit(items: Sequence[AnyItem], audited: set[str], config: BenchmarkConfig) -> Gate:
    seen = sum(item.id in audited for item in items)
    return Gate(
        name="full_audit",
        passed=seen == len(items),
        asked=config.release.require_full_audit,
        found=f"Both auditors saw {seen} of {len(items)} items.",
        remedy="Raise or remove audit.limit.",
    )


def _capable(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    weak = [one.name for one in facts.auditors if not one.capable]
    enough = len(facts.auditors) >= 2 and not weak
    named = f"; too small to judge: {', '.join(weak)}" if weak else ""
    return Gate(
        name="capable_auditors",
        passed=enough,
        asked=config.release.require_capable_auditors,
        found=f"{len(facts.auditors)} auditors{named}.",
        remedy="Name two large models of different families in audit.auditors.",
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
        passed=found is not None and _reached(least, found.value),
        asked=least is not None,
        found="The people's agreement is not known: too few items have two votes, or all votes are the same."
        if found is None
        else f"{found.annotators} people agree on {found.items} items: {found.coefficient} "
        f"{found.value:.3f}, {_allowed(least)}.",
        remedy="Review with overlap, and mend the guidelines where people differ.",
    )


def _miss_rate(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    bound = config.release.miss_rate_bound
    measured = facts.miss_rate
    if measured is None:
        found = "No unflagged items were sampled."
    else:
        found = (
            f"{measured.defective} of {measured.sampled} sampled unflagged items were defective: at most "
            f"{measured.upper_bound:.2%}, allowed {'not set' if bound is None else f'{bound:.2%}'}."
        )
    return Gate(
        name="miss_rate",
        passed=measured is not None and (bound is None or measured.upper_bound <= bound),
        asked=bound is not None,
        found=found,
        remedy="Set review.miss_rate_sample and have the sample reviewed; a larger one lowers the bound.",
    )


def _sign_off(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    word = facts.sign_off
    found = "Nobody has signed off these tables."
    if word is not None:
        said = "approved" if word.decision == "approve" else "rejected"
        found = f"{word.name} {said} these tables{f': {word.note}' if word.note else ''}."
    return Gate(
        name="sign_off",
        passed=word is not None and word.decision == "approve",
        asked=config.release.sign_off,
        found=found,
        remedy="Approve them in the paused `release` run, or by `mihakk release BENCHMARK --sign-off NAME`.",
    )


def _baselines(config: BenchmarkConfig, facts: ReleaseFacts) -> Gate:
    margin = config.release.baseline_margin
    above = [one for one in facts.baselines if one.accuracy > one.chance + margin]
    named = "; ".join(
        f"{one.config} {one.name} {one.accuracy:.3f} against chance {one.chance:.3f}" for one in above
    )
    return Gate(
        name="baselines",
        passed=not above,
        asked=True,
        found=f"Baselines that never read the question and beat chance by more than {margin}: "
        f"{named or 'none'} (of {len(facts.baselines)} measured).",
        remedy="Make better wrong options, or raise release.baseline_margin knowingly.",
    )
