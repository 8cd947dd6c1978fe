"""What `mihakk review push` and `pull` print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from mihakk.flows.commands.review_lead import show_disputes

if TYPE_CHECKING:
    from mihakk.annotation.label_studio.exchange import ReviewPulled
    from mihakk.annotation.label_studio.push import Pushed
    from mihakk.pipeline.opened_review import OpenReview
    from mihakk.schemas.benchmark import ReviewConfig
    from mihakk.schemas.campaign import Campaign

LEFT = {
    "unanswered": "reviews follow once their questions are answered: pull, then push again",
    "size": "questions were not drawn; a larger `size` adds them",
}
"""What is said of tasks that a push left out, by `Pushed.why_left`."""


def show_pushed(pushed: dict[str, Pushed], console: Console, *, quiet: bool = False) -> None:
    """Tells what a push changed on the server."""
    for language, what in pushed.items():
        console.print(
            f"{language}: {what.created} tasks new, {what.unchanged} unchanged, {what.withdrawn} withdrawn, "
            f"{what.reopened} reopened" + (f"; for {', '.join(what.judges)}" if what.judges else "")
        )
        if what.nobody:
            console.print(
                f"{language}: {what.nobody} tasks wait, for nobody in review.people judges them; add somebody"
            )
        if what.left:
            console.print(f"{language}: {what.left} {LEFT[what.why_left]}")
    if not pushed and not quiet:
        console.print("Nothing is flagged: there is nothing to review.")


def unasked(
    pushed: Mapping[str, Pushed], campaigns: Sequence[Campaign], config: ReviewConfig
) -> Iterator[str]:
    """Says which of the campaigns had nothing to ask about, and what has no calibration."""
    from mihakk.pipeline.campaigns import QUALITY_REVIEW, WHY_NOTHING

    there = {name.rpartition(" ")[0] for name in pushed} | {name.partition(" ")[0] for name in pushed}
    for campaign in campaigns:
        if campaign.template not in there:
            yield f"{campaign.template}: nothing to ask about: {WHY_NOTHING[campaign.template]}"
    for template in (QUALITY_REVIEW, *(one.template for one in config.campaigns)):
        if config.calibration is not None and f"calibration {template}" not in there:
            yield f"calibration {template}: too few known questions, so answers count without it"


def show_pulled(found: ReviewPulled, overlap: int, console: Console) -> None:
    """Tells what a pull brought, project by project, and how many items are settled."""
    for name, pulled in found.by_project.items():
        rejected = ", ".join(f"{reason} {count}" for reason, count in sorted(pulled.rejected.items()))
        console.print(
            f"{name}: {len(pulled.reviews) + len(pulled.labels)} new decisions of {pulled.annotations} "
            f"annotations ({pulled.skipped} skipped, {pulled.superseded} superseded"
            + (
                f", {pulled.notes['changed_after_others']} changed after somebody else had answered"
                if pulled.notes["changed_after_others"]
                else ""
            )
            + (f", {pulled.withdrawn} withdrawn because they were deleted there" if pulled.withdrawn else "")
            + (f", unusable: {rejected})" if rejected else ")")
        )
        for person, count in sorted(pulled.outside.items()):
            console.print(
                f"  {person} answered {count} tasks that review.people gives to others: not counted"
            )
        for person, count in sorted((+pulled.unanswered).items()):
            console.print(f"  {person} reviewed {count} items without answering their questions first")
    if found.elsewhere:
        console.print(
            f"{found.elsewhere} decisions that count are of none of these projects: pulled from one that was "
            "deleted since, from another server or from a file"
        )
    if found.calibrated:
        console.print(f"{found.calibrated} calibration answers: `mihakk review calibration` has the results")
    if withheld := sum(one.withheld for one in found.by_project.values()):
        console.print(
            f"{withheld} answers are kept and don't count: their authors had not passed calibration"
        )
    if found.asked_again:
        console.print(f"{found.asked_again} answers given before passing are asked again")
    short = f", {found.short} have fewer than the {overlap} votes they need" if found.short else ""
    console.print(f"{found.settled} items are settled{short}")
    if found.reopened:
        console.print(f"{found.reopened} items were given to further people: disputed, or short of a vote")
    if found.echoed:
        console.print(f"{found.echoed} settled items wait for one more vote, as one may be a copy of another")
    if found.disputed:
        show_disputes(found.disputed, console)


def applied_with(review: OpenReview, config: Path) -> str:
    """Says what applies decisions: a build, or the same audit into the same folder."""
    how = f": mihakk build {config}" if review.build else f" the audit's own command and --out {config}"
    return f"Apply them with{how}"
