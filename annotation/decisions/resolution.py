"""What the decisions of several people on one item come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import digest, language_of
from mihakk.machinery.text import Language, as_seen, canonical
from mihakk.schemas.review import Resolution, Review, ReviewOutcome

V = TypeVar("V")
By = Literal["", "agreement", "majority", "adjudicator", "single"]


def resolve(
    reviews: Iterable[Review],
    content_hashes: Mapping[str, str],
    overlap: int = 2,
    *,
    adjudicators: Collection[str] = (),
) -> list[Resolution]:
    """One resolution for every item that anybody decided on, by item id.

    A decision binds only while the item's content is what the person saw; the latest decision of a person
    stands, latest meaning last in the store, since clocks differ. An adjudicator's decision settles an item.
    Else two questions are settled apart, each by `overlap` votes that say the same (`single` where one vote
    is enough) or by more than half of three or more. Is it defective? A keep says no, unless it ticks that
    the answer or a fact is wrong; a fix or a discard says yes. Then, among those who object, which repair: to
    discard it, or a fix, field by field as people see texts.
    A field stays as it is unless they agree that it is wrong; where they agree on that and not on its text,
    or on no field at all, the item is `defective`. docs/review.md has the outcome of every pattern.

    Args:
        content_hashes: Item id to the hash of its content now; items not named here are left out.
        overlap: Votes an item needs, or fewer where fewer people are assigned to it.
    """
    votes = grouped((one for one in reviews if one.item in content_hashes), lambda one: one.item)
    return [
        _resolve(item, votes[item], content_hashes[item], overlap, adjudicators) for item in sorted(votes)
    ]


def binding(reviews: Iterable[Review], content_hash: str) -> list[Review]:
    """Of one item's decisions those that still bind: on this very content, the last of each person."""
    latest: dict[str, Review] = {}
    for review in reviews:
        if review.content_hash == content_hash:
            latest.pop(review.annotator, None)
            latest[review.annotator] = review
    return list(latest.values())


def votes_needed(votes: Sequence[Review], overlap: int) -> int:
    """Votes that an item needs: `overlap`, or fewer where fewer people are assigned to it."""
    return min(overlap, votes[-1].assigned or overlap) if votes else overlap


def fix_key(corrections: Mapping[str, str]) -> str:
    """Short digest of a set of corrections, which `Resolution.reason` of a fix holds."""
    return digest(dict(corrections))[:16]


def _resolve(
    item: str, reviews: list[Review], content_hash: str, overlap: int, adjudicators: Collection[str]
) -> Resolution:
    votes = binding(reviews, content_hash)
    if not votes:
        return Resolution(item=item, outcome="none", reason=f"content changed after {len(reviews)} decisions")

    def told(outcome: ReviewOutcome, by: By = "", reason: str = "", **more: Any) -> Resolution:
        return Resolution(item=item, outcome=outcome, by=by, reason=reason, votes=len(votes), **more)

    needed = votes_needed(votes, overlap)
    won = settling(votes, needed, lambda vote: vote.objects, lambda vote: vote.annotator in adjudicators)
    if won is None:
        few = len(votes) < needed
        return told(
            "unresolved", reason=f"{len(votes)} of {needed} decisions" if few else f"split: {_tally(votes)}"
        )
    camp, by = won
    if not camp[0].objects:
        return told("keep", by, _reason(camp))
    repair = winning(camp, lambda vote: vote.decision)
    if repair is None or repair[0][0].decision == "keep":
        return told("defective", by, f"no agreed repair: {_tally(camp)}")
    if repair[1] == "majority":
        by = "majority"
    if repair[0][0].decision == "discard":
        return told("discard", by, _reason(repair[0]))
    language = language_of(item)
    settled, open_fields = settled_fields([vote.corrections for vote in repair[0]], language)
    if open_fields or not settled:
        return told("defective", by, f"no agreed repair of {', '.join(open_fields) or 'any field'}")
    alike = all(
        said_in(name, vote.corrections.get(name, ""), language) == said_in(name, text, language)
        for vote in repair[0]
        for name, text in settled.items()
    )
    return told("fix", by if alike else "majority", fix_key(settled), corrections=settled)


def settled_fields(
    fixes: Sequence[Mapping[str, str]], language: Language
) -> tuple[dict[str, str], list[str]]:
    """Fields that people correct alike, in canonical form; and those they only agree to be wrong."""
    settled: dict[str, str] = {}
    open_fields = []
    for field in sorted({name for fix in fixes for name in fix}):
        wrong = winning(fixes, _has(field))
        if wrong is None or field not in wrong[0][0]:
            continue
        texts = winning([fix[field] for fix in wrong[0]], partial(said_in, field, language=language))
        if texts is None:
            open_fields.append(field)
        else:
            settled[field] = commonest(
                text if field == "gold" else canonical(text, language) for text in texts[0]
            )
    return settled, open_fields


def commonest(texts: Iterable[str]) -> str:
    """The text that most people gave; of several the first by code points: the order of votes is none."""
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], text))


def _has(field: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda fix: field in fix


def said_in(field: str, text: str, language: Language) -> Hashable:
    """What a correction of a field says: several golds or answers in any order, a text as it is seen."""
    if field == "gold":
        return frozenset(as_seen(part, language) for part in text.split(","))
    if field == "accepted":
        return frozenset(as_seen(line, language) for line in text.split("\n") if line.strip())
    return as_seen(text, language)


def disputed(told: Resolution, needed: int) -> bool:
    """Whether as many people voted on an item as it needs, and differ whether or how to repair it."""
    return told.outcome == "defective" or (told.outcome == "unresolved" and told.votes >= needed)


def waits(told: Resolution, *, objects: bool) -> bool:
    """Whether an item waits for people: somebody or something `objects` to it, and nobody has settled that.

    A fix that is settled counts as open until the checks have seen the corrected item.
    """
    return told.outcome in ("unresolved", "none", "fix") and objects


def winning(
    votes: Collection[V], says: Callable[[V], Hashable]
) -> tuple[list[V], Literal["single", "agreement", "majority"]] | None:
    """Those who say the same, if they are all who voted or more than half of three or more."""
    camp = max(grouped(votes, says).values(), key=len)
    if len(camp) == len(votes):
        return camp, "agreement" if len(votes) > 1 else "single"
    return (camp, "majority") if len(votes) >= 3 and 2 * len(camp) > len(votes) else None


def settling(
    votes: Sequence[V], needed: int, says: Callable[[V], Hashable], rules: Callable[[V], bool]
) -> tuple[list[V], By] | None:
    """Those whose word settles a question; None while nobody's does.

    The last adjudicator alone (`rules`); else those who win, where as many voted as it needs.
    """
    if ruling := [vote for vote in votes if rules(vote)]:
        return ruling[-1:], "adjudicator"
    return winning(votes, says) if len(votes) >= needed else None


def _reason(camp: list[Review]) -> str:
    return commonest(reasons) if (reasons := [vote.reason for vote in camp if vote.reason]) else ""


def _tally(votes: Iterable[Review]) -> str:
    counts = Counter(vote.decision for vote in votes)
    return ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
