"""Findings by their cause: what is wrong with many rows for one reason is one cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from mihakk.machinery.groups import grouped
from mihakk.schemas.finding import SEVERITIES, Finding, Severity
from mihakk.schemas.item import QuestionItem
from mihakk.schemas.record import Language, Record
from mihakk.validators.checks import effect
from mihakk.validators.checks.check import check_titles
from mihakk.validators.checks.gathering import part_of, table_of
from mihakk.validators.checks.texts import excerpt

if TYPE_CHECKING:
    from mihakk.schemas.rejection import Rejection
    from mihakk.validators.checks.setindex import SetIndex

Cause = Literal[
    "foreign_text", "shifted", "key", "copied", "encoding", "mapping", "same_evidence", "unreadable", "rule"
]
FOREIGN, SHIFTED, KEY = "RW03", "RW04", "RW05"
DAMAGE = frozenset(
    ("TX03", "TX04", "TX05", "TX06", "TX08", "TX09", "TX10", "TX11", "TX13", "TX14", "TX19", "TX22")
)
"""Checks whose findings in many rows of one file say that the file was decoded or stored wrongly."""
SHAPE = frozenset(("CH01", "CH02", "TX01"))
"""Checks whose findings in most rows of one file say that the mapping names a wrong column or key."""
OF_SHIFT = frozenset((SHIFTED, "CH01", "CH05", "LK01", "LK02", "DU03", "DU06"))
OF_KEY = frozenset((KEY, "CH01", "CH05", "DU03", "DU06"))
OF_COPY = frozenset(("DU01", "DU02", "DU03", "DU04"))
LEAST_ROWS = 5
"""Rows from which the same evidence, or damage of one file, is told apart from a check's other findings."""
LEAST_COPIED = 0.5
"""Share of a part's rows that stand in another part too from which the part is a copy."""
LEAST_DAMAGED = 0.1
"""Share of a part's rows from which damage speaks of the whole part."""
MOST_ROWS = 0.5
"""Share of a part's rows from which findings of shape speak of the mapping."""
DENSE = 5.0
"""How many times as often a part's rows must be damaged as all others."""


class Precision(NamedTuple):
    """What share of a check's findings is worth a maintainer's time."""

    share: float
    measured: bool
    """Read by people on sets that the check was not tuned to; otherwise what its severity stands for."""


PrecisionOf = Callable[[str, Language, Severity], Precision]
"""The precision of a check (its id) in a language, at the severity that it has in this audit."""
_UNREAD: Mapping[Severity, float] = {"block": 0.9, "flag": 0.5, "report": 0.0}


def read_precision(check: str, language: Language, severity: Severity) -> Precision:
    """What was read of a check's findings on sets nobody tuned to, drawn to what its severity stands for.

    Findings that only count are worth nothing here, however right they are.
    """
    usual = _UNREAD[severity]
    found = effect.precision(check, (language,))
    if not found.read or not usual:
        return Precision(usual, measured=False)
    return Precision((found.right + 2 * usual) / (found.read + 2), measured=True)


class ClusterFigures(Record):
    """Findings with one cause, in figures."""

    cause: Cause
    title: str
    """The cause in one line."""
    checks: tuple[str, ...]
    """Checks that objected, the one that tells the cause first; reasons of rejection for unreadable rows."""
    severity: Severity
    rows: int
    grown: int
    """Rows to which no other check objected."""
    findings: int
    precision: float
    measured: bool
    """Whether people have read findings of the check, or its severity stands for its precision."""
    worth: float
    """Rows by precision."""
    example: str
    """Id of the item that shows it best; empty for rows that are no items."""
    detail: str
    """What is wrong with the example."""


class Cluster(ClusterFigures):
    """Findings with one cause, and every row that shares it."""

    items: tuple[str, ...]
    """Ids of the rows; none for rows that are no items."""

    @property
    def figures(self) -> ClusterFigures:
        """All but the rows."""
        return ClusterFigures.model_validate(self.model_dump(exclude={"items"}))


@dataclass(frozen=True)
class _Group:
    """A cluster before it is weighed."""

    cause: Cause
    title: str
    items: Sequence[str]
    findings: Sequence[Finding]
    lead: str = ""
    """Check that tells the cause, where it is not the one with most findings."""
    language: Language = ""
    """Of the texts that it speaks of, where it is not their rows'."""
    example: str = ""


def clusters(
    items: Sequence[QuestionItem],
    findings: Iterable[Finding],
    index: SetIndex,
    rejected: Sequence[Rejection] = (),
    precision: PrecisionOf = read_precision,
) -> list[Cluster]:
    """Every finding about a row in one cluster of its cause, the most worth first, mere counts last.

    Args:
        items: All items, in the order of their rows.
        findings: What the checks found; those about the whole set are in no cluster.
        index: The prepared set.
        rejected: Rows that could not be read.
        precision: What share of a check's findings is worth a maintainer's time.
    """
    known = _Known(items, {item.id: item for item in items}, index)
    left = [one for one in findings if one.subject in known.by_id]
    groups: list[_Group] = []
    for cause in (_foreign, _shifted, _keyed, _copied, _damaged, _misread):
        found, left = cause(known, left)
        groups += found
    groups += _by_check(known, left)
    language = Counter(item.language for item in items).most_common(1)[0][0] if items else "ar"
    weighed = [_weighed(group, group.language or language, precision) for group in groups]
    weighed += _unreadable(rejected)
    return sorted(weighed, key=lambda one: (one.severity == "report", -one.worth, -one.rows, one.title))


@dataclass(frozen=True)
class _Known:
    """What is known of a set but its findings."""

    items: Sequence[QuestionItem]
    by_id: Mapping[str, QuestionItem]
    index: SetIndex


_Split = tuple[list[_Group], list[Finding]]


def _take(
    findings: Sequence[Finding], names: set[str], checks: frozenset[str] | None
) -> tuple[list[Finding], list[Finding]]:
    """Findings about some items, of some checks or all, and the rest."""
    mine: list[Finding] = []
    rest: list[Finding] = []
    for one in findings:
        ours = one.subject in names and (checks is None or one.check in checks)
        (mine if ours else rest).append(one)
    return mine, rest


def _foreign(known: _Known, left: list[Finding]) -> _Split:
    groups = []
    told = _told_by(left, FOREIGN)
    for seed, names in grouped(told, lambda name: known.index.foreign[name][0]).items():
        mine, left = _take(left, set(names), None)
        said = excerpt(" ".join(known.by_id[seed].question.split()))
        title = f"{len(names):,} rows hold one text in place of their own, however worded: {said}"
        groups.append(_Group("foreign_text", title, names, mine, FOREIGN, seed))
    return groups, left


def _shifted(known: _Known, left: list[Finding]) -> _Split:
    groups = []
    told = _told_by(left, SHIFTED)
    for (first, last, _), names in grouped(told, lambda name: known.index.shifted[name]).items():
        mine, left = _take(left, set(names), OF_SHIFT)
        title = f"{len(names):,} rows have their answers in the row beside them: {first} to {last}"
        groups.append(_Group("shifted", title, names, mine, SHIFTED, names[len(names) // 2]))
    return groups, left


def _keyed(known: _Known, left: list[Finding]) -> _Split:
    groups = []
    told = _told_by(left, KEY)
    for part, names in grouped(told, lambda name: part_of(known.by_id[name])).items():
        mine, left = _take(left, set(names), OF_KEY)
        title = f"{len(names):,} rows of {part} have a key that counts one too far"
        groups.append(_Group("key", title, names, mine, KEY))
    return groups, left


def _told_by(findings: Iterable[Finding], check: str) -> list[str]:
    return list(dict.fromkeys(one.subject for one in findings if one.check == check))


def _copied(known: _Known, left: list[Finding]) -> _Split:
    """Parts of which most rows stand in another part too, by subset and by file."""
    groups = []
    for part_name in (part_of, _table):
        part = {item.id: part_name(item) for item in known.items}
        sizes = Counter(part.values())
        shared: dict[tuple[str, str], set[str]] = defaultdict(set)
        for links in (known.index.copies, known.index.rivals):
            for name, others in links.items():
                for other in others:
                    if part[name] != part.get(other, part[name]):
                        shared[part[name], part[other]].add(name)
        for one, other in sorted(shared, key=lambda pair: (-len(shared[pair]), pair)):
            names = shared.pop((one, other), set())
            if len(names) < max(LEAST_ROWS, LEAST_COPIED * sizes[one]):
                continue
            names |= shared.pop((other, one), set())
            mine, left = _take(left, names, OF_COPY)
            if not mine:
                continue
            count = sum(part[name] == one for name in names)
            copied = f"{count:,} of the {sizes[one]:,} of {one} stand in {other} too"
            title = f"{len(names):,} rows are of a copied part: {copied}"
            groups.append(
                _Group("copied", title, [item.id for item in known.items if item.id in names], mine)
            )
    return groups, left


def _table(item: QuestionItem) -> str:
    return table_of(item.origin.records)[0]


def _damaged(known: _Known, left: list[Finding]) -> _Split:
    return _dense(known, left, DAMAGE, "encoding")


def _misread(known: _Known, left: list[Finding]) -> _Split:
    return _dense(known, left, SHAPE, "mapping")


def _dense(
    known: _Known, left: list[Finding], checks: frozenset[str], cause: Literal["encoding", "mapping"]
) -> _Split:
    """Parts in which these checks object to far more rows than elsewhere, or to most of a set's only part."""
    groups = []
    for part_name in (part_of, _table):
        parts = {item.id: part_name(item) for item in known.items}
        sizes = Counter(parts.values())
        mine = [one for one in left if one.check in checks]
        hit = len({one.subject for one in mine})
        for part, found in _by_part(mine, parts).items():
            names = list(dict.fromkeys(one.subject for one in found))
            others = (hit - len(names)) / max(1, len(known.items) - sizes[part])
            least = MOST_ROWS if cause == "mapping" else max(LEAST_DAMAGED, DENSE * others)
            if len(names) < max(LEAST_ROWS, least * sizes[part]):
                continue
            if cause == "encoding":
                title = f"{len(names):,} of the {sizes[part]:,} rows of {part} were decoded or stored wrongly"
            else:
                title = (
                    f"{len(names):,} of the {sizes[part]:,} rows of {part} lack a text, or a gold among "
                    "their options: is the mapping right?"
                )
            groups.append(_Group(cause, title, names, found))
            taken = set(map(id, found))
            left = [one for one in left if id(one) not in taken]
    return groups, left


def _by_part(findings: Sequence[Finding], parts: Mapping[str, str]) -> dict[str, list[Finding]]:
    return grouped(findings, lambda one: parts[one.subject])


def _by_check(known: _Known, left: Sequence[Finding]) -> Iterator[_Group]:
    """What is left, by check and declared language; the same evidence in many rows is a group of its own."""
    titles = check_titles()

    def declared(one: Finding) -> Language:
        item = known.by_id[one.subject]
        language = item.language_of(one.where)
        return "" if language == item.language else language

    by_cause = grouped(left, lambda one: (one.check, one.severity, declared(one)))
    for (check, severity, language), found in by_cause.items():
        spoken = f", in their texts in {language}" if language else ""
        rest: list[Finding] = []
        for detail, same in grouped(found, lambda one: one.detail).items():
            names = list(dict.fromkeys(one.subject for one in same))
            if len(names) < LEAST_ROWS or severity == "report" or "«" not in detail:
                rest += same
            else:
                title = f"{len(names):,} rows have the same{spoken}: {detail}"
                yield _Group("same_evidence", title, names, same, language=language)
        if rest:
            names = list(dict.fromkeys(one.subject for one in rest))
            failing = "row fails" if len(names) == 1 else "rows fail"
            title = f"{len(names):,} {failing} {check}{spoken}: {titles.get(check, '')}"
            yield _Group("rule", title, names, rest, language=language)


def _weighed(group: _Group, language: Language, precision: PrecisionOf) -> Cluster:
    counts = Counter(one.check for one in group.findings)
    lead = group.lead or counts.most_common(1)[0][0]
    severity = min((one.severity for one in group.findings if one.check == lead), key=SEVERITIES.index)
    read = precision(lead, language, severity)
    first = group.example or next(one.subject for one in group.findings if one.check == lead)
    said = [one.detail for one in group.findings if one.subject == first and one.check == lead]
    others = {one.subject for one in group.findings if one.check != lead}
    return Cluster(
        cause=group.cause,
        title=group.title,
        checks=(lead, *sorted(counts.keys() - {lead})),
        severity=severity,
        rows=len(group.items),
        grown=len(set(group.items) - others) if group.lead else 0,
        findings=len(group.findings),
        precision=read.share,
        measured=read.measured,
        worth=round(len(group.items) * read.share, 2),
        example=first,
        detail=said[0] if said else "",
        items=tuple(group.items),
    )


def _unreadable(rejected: Sequence[Rejection]) -> Iterator[Cluster]:
    """Rows that are no items, by reason: shape, so certain."""
    for reason, rows in grouped(rejected, lambda one: one.reason).items():
        yield Cluster(
            cause="unreadable",
            title=f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'} can't be read: {reason}",
            checks=(reason,),
            severity="block",
            rows=len(rows),
            grown=0,
            findings=len(rows),
            precision=1.0,
            measured=True,
            worth=float(len(rows)),
            example="",
            detail=f"{rows[0].record}: {rows[0].detail}",
            items=(),
        )
