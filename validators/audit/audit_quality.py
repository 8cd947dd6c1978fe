"""How good the checks and the auditors are: seeded defects beside their clean twins."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from mihakk.machinery.groups import grouped
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.seeds import rng
from mihakk.schemas.audit import CRITERIA, Audit, Criterion
from mihakk.schemas.benchmark import POLICIES, Policy
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.record import Record
from mihakk.validators.audit.auditing import Panel, audit_items
from mihakk.validators.audit.defects import DEFECTS, Defect, Seeded, seed_defects
from mihakk.validators.audit.policy import verdict
from mihakk.validators.audit.rates import AuditorAgreement, Rate, agreement

Findings = Callable[[Sequence[Item]], Sequence[Finding]]
"""The checks: from items to what they object to."""
ALL = "all"
MEASURED = {name: policy for name, policy in POLICIES.items() if not policy.blind}
"""Policies that need nothing but the audits."""


class KindQuality(Record):
    """How one detector fares on one kind of defect (`all` for all kinds together)."""

    detector: str
    """`check:<id>`, `rules`, `auditor:<name>` or `policy:<name>`."""
    kind: str
    recall: Rate
    """Defective items it objects to."""
    false_alarms: Rate
    """Clean twins it objects to all the same."""
    wrong_criterion: Rate
    """Auditors alone: of the defective items objected to, those where no fitting criterion was scored 0."""


class AuditorQuality(Record):
    """What an auditor's replies are like, whatever the defects."""

    auditor: str
    capable: bool
    invalid: Rate
    repaired: Rate
    repeated: AuditorAgreement
    """The same request with another sampling seed, over the ten criteria."""
    shuffled: AuditorAgreement
    """The same choice items with their options turned round, over the ten criteria."""


class AuditQuality(Record):
    """The report of one measurement."""

    seed: int
    clean_items: int
    defective_items: int
    kinds: tuple[KindQuality, ...]
    auditors: tuple[AuditorQuality, ...] = ()
    between: AuditorAgreement | None = None
    """The two auditors over the ten criteria of the clean and defective items both judged."""

    def rows(self, detector: str) -> dict[str, KindQuality]:
        """One detector's rows by kind."""
        return {row.kind: row for row in self.kinds if row.detector == detector}


def measure_quality(
    items: Sequence[Item],
    findings: Findings,
    panel: Panel | None,
    journal: Journal | None,
    *,
    per_kind: int = 20,
    seed: int = 0,
    policies: Mapping[str, Policy] = MEASURED,
    defects: Sequence[Defect] = DEFECTS,
    repeats: int = 10,
    progress: Callable[[int], None] = lambda _: None,
) -> AuditQuality:
    """Seeds defects into items that are taken to be clean, and asks everybody about both twins.

    Args:
        items: Items that passed; the better they are, the truer the false-alarm rates.
        findings: The checks; called once with the clean twins and once with the defective ones.
        panel: The auditors; None measures the checks alone.
        journal: Where the auditors' replies are kept; needed with a panel.
        per_kind: Defective items per kind, as far as the items offer places.
        seed: Changes which items are taken.
        policies: Measured with the findings of blocking and flagging checks included.
        defects: The kinds to seed.
        repeats: Clean items that are asked about again, as they are and with their options turned round.
        progress: Called with 1 after each audited item.

    Raises:
        ExternalFailure: An auditor failed; answered calls are kept.
    """
    seeded = seed_defects(items, seed, per_kind, defects)
    clean = list({twin.clean.id: twin.clean for twin in seeded}.values())
    bad = [twin.bad for twin in seeded]
    found = grouped([*findings(clean), *findings(bad)], lambda finding: finding.subject)
    audits: dict[str, list[Audit]] = {}
    about_auditors: tuple[AuditorQuality, ...] = ()
    between = None
    if panel is not None and journal is not None:
        blind = any(policy.blind for policy in policies.values())
        asked = audit_items([*clean, *bad], set(), panel, journal, progress, blind=blind)
        audits = grouped(asked, lambda audit: audit.item)
        about_auditors = _auditors(panel, journal, clean[:repeats], audits, seed)
        between = _same([both[0] for both in audits.values()], [both[1] for both in audits.values()])
    detectors = _detectors(found, audits, policies, panel)
    return AuditQuality(
        seed=seed,
        clean_items=len(clean),
        defective_items=len(bad),
        kinds=tuple(_kinds(seeded, detectors, audits)),
        auditors=about_auditors,
        between=between,
    )


def _detectors(
    found: Mapping[str, list[Finding]],
    audits: Mapping[str, list[Audit]],
    policies: Mapping[str, Policy],
    panel: Panel | None,
) -> dict[str, set[str]]:
    """Detector to the ids of the items it objects to."""
    detectors: dict[str, set[str]] = {"rules": set()}
    for item, objections in found.items():
        for finding in objections:
            detectors.setdefault(f"check:{finding.check}", set()).add(item)
            if finding.severity != "report":
                detectors["rules"].add(item)
    detectors = dict(sorted(detectors.items(), key=lambda entry: (entry[0] != "rules", entry[0])))
    if panel is None:
        return detectors
    for place, name in enumerate(panel.names):
        detectors[f"auditor:{name}"] = {
            item for item, both in audits.items() if 0 in both[place].scores.values()
        }
    for name, policy in policies.items():
        detectors[f"policy:{name}"] = {
            item
            for item, both in audits.items()
            if verdict(item, found.get(item, ()), both, policy).status != "pass"
        }
    return detectors


def _kinds(
    seeded: Sequence[Seeded], detectors: Mapping[str, set[str]], audits: Mapping[str, list[Audit]]
) -> Iterable[KindQuality]:
    by_kind: dict[str, list[Seeded]] = {ALL: list(seeded)}
    for twin in seeded:
        by_kind.setdefault(twin.defect.kind, []).append(twin)
    for detector, objected in detectors.items():
        for kind, twins in by_kind.items():
            caught = [twin for twin in twins if twin.bad.id in objected]
            clean = {twin.clean.id for twin in twins}
            kind_of, _, name = detector.partition(":")
            judged = [twin for twin in caught if twin.defect.criteria and kind_of == "auditor"]
            missed = [
                twin for twin in judged if not _zeros(audits[twin.bad.id], name) & set(twin.defect.criteria)
            ]
            yield KindQuality(
                detector=detector,
                kind=kind,
                recall=Rate(hits=len(caught), cases=len(twins)),
                false_alarms=Rate(hits=len(clean & objected), cases=len(clean)),
                wrong_criterion=Rate(hits=len(missed), cases=len(judged)),
            )


def _zeros(audits: Sequence[Audit], auditor: str) -> set[Criterion]:
    return {
        key
        for audit in audits
        if audit.auditor == auditor
        for key, score in audit.scores.items()
        if not score
    }


def _auditors(
    panel: Panel, journal: Journal, again: Sequence[Item], audits: Mapping[str, list[Audit]], seed: int
) -> tuple[AuditorQuality, ...]:
    repeated = audit_items(again, set(), panel, journal, variant=1)
    choices = [item for item in again if isinstance(item, ChoiceItem)]
    shuffled = audit_items([_turned(item, seed) for item in choices], set(), panel, journal)
    rows = []
    for place, model in enumerate(panel.models):
        own = [both[place] for both in audits.values()]
        rows.append(
            AuditorQuality(
                auditor=model.config.name,
                capable=model.config.capable,
                invalid=Rate(hits=sum(a.status == "invalid" for a in own), cases=len(own)),
                repaired=Rate(hits=sum(a.status == "repaired" for a in own), cases=len(own)),
                repeated=_same([audits[item.id][place] for item in again], repeated[place::2]),
                shuffled=_same([audits[item.id][place] for item in choices], shuffled[place::2]),
            )
        )
    return tuple(rows)


def _turned(item: ChoiceItem, seed: int) -> ChoiceItem:
    """The item with its options in another order."""
    places = list(range(len(item.options)))
    rng(seed, item.id, "audit_quality_order").shuffle(places)
    if places == sorted(places):
        places.reverse()
    return item.model_copy(
        update={
            "options": tuple(item.options[place] for place in places),
            "gold": tuple(sorted(places.index(gold) for gold in item.gold if gold in places)),
        }
    )


def _same(first: Sequence[Audit], second: Sequence[Audit]) -> AuditorAgreement:
    """Agreement over the criteria of the items both times judged validly."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if a.scores and b.scores]
    return agreement(
        [a.scores[key] for a, _ in both for key in CRITERIA],
        [b.scores[key] for _, b in both for key in CRITERIA],
    )


def table(quality: AuditQuality, detectors: Sequence[str] = ()) -> str:
    """The report as Markdown: a row per kind, a column per detector, then the auditors themselves.

    Args:
        quality: What was measured.
        detectors: Which to show; the rules together, the auditors and the policies when empty.
    """
    shown = list(detectors) or list(
        dict.fromkeys(row.detector for row in quality.kinds if not row.detector.startswith("check:"))
    )
    lines = [f"| defect | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    rows = {detector: quality.rows(detector) for detector in shown}
    kinds = dict.fromkeys(row.kind for row in quality.kinds)
    for kind in kinds:
        lines.append(f"| {kind} | {' | '.join(rows[one][kind].recall.shown() for one in shown)} |")
    alarms = " | ".join(rows[one][ALL].false_alarms.shown() for one in shown)
    lines.append(f"| *clean twins objected to* | {alarms} |")
    wrong = " | ".join(rows[one][ALL].wrong_criterion.shown() for one in shown)
    lines.append(f"| *objected to, but for something else* | {wrong} |")
    if quality.auditors:
        lines += [
            "",
            "| auditor | a judge | invalid | repaired | asked again | options turned |",
            "|---" * 6 + "|",
        ]
    for one in quality.auditors:
        again, turned = _agreed(one.repeated), _agreed(one.shuffled)
        judge = "yes" if one.capable else "no: too small"
        replies = f"{one.invalid.shown()} | {one.repaired.shown()}"
        lines.append(f"| {one.auditor} | {judge} | {replies} | {again} | {turned} |")
    if quality.between is not None:
        lines += ["", f"The two auditors with each other: {_agreed(quality.between)}."]
    return "\n".join(lines) + "\n"


def _agreed(found: AuditorAgreement) -> str:
    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    return f"{number(found.observed)} alike, AC1 {number(found.ac1)}, kappa {number(found.kappa)}"
