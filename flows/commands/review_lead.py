"""`mihakk review`: what the lead of a review needs to stay in control of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mihakk.flows.commands.options import Address, AsJson, Csv, Lake, Reviewed
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json, print_result
from mihakk.schemas.record import Record

if TYPE_CHECKING:
    from mihakk.annotation.campaigns.disputes import Dispute
    from mihakk.schemas.record import Language


def register(review: typer.Typer) -> None:
    """Adds the commands."""
    for command in (void, disputes, calibration, questions, answer, progress, times, forget):
        review.command()(command)


def void(
    config: Reviewed,
    which: Annotated[
        str, typer.Argument(help="annotator-NN, an e-mail address, or a decision_id of `review export`.")
    ],
    why: Annotated[str, typer.Option(help="The reason; it is kept with each decision.")],
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Take back one decision, or all that a person has made so far; nothing is deleted.

    No figure and no build counts them any more, and the next `review pull` opens the items for others.
    What the person decides afterwards counts.

    Example: mihakk review void demo annotator-03 --why "Answered without reading."
    """
    from mihakk.annotation.decisions.voiding import void as take_back
    from mihakk.pipeline.opened_review import open_review

    opened = open_review(config, lake)
    with opened.locked():
        rows = take_back(opened.stores, which, why)
    told = f"{len(rows)} decisions count no longer. Open their items for others: mihakk review pull {config}"
    print_result(rows, told, as_json=as_json)


def forget(
    config: Reviewed,
    address: Address,
    also: Annotated[
        list[str] | None,
        typer.Option(help="Their name, or words to look for beside their notes; repeatable."),
    ] = None,
    inside: Annotated[
        list[Path] | None, typer.Option("--in", help="Search this file or folder of exports too; repeatable.")
    ] = None,
    lake: Lake = None,
    runs: Annotated[
        Path | None, typer.Option(help="Where runs' reports are, instead of MIHAKK_RUNS.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Delete what ties answers to a person and their own words, then search for what is left.

    Searched are lake, runs, Hub with its history, defect reports, the local labelling server and every --in.
    No figure and no item changes. Exit code 1: something is left, and each place is named with what to do.
    Give them their data first: `review export --person ADDRESS`. Do it for every benchmark they reviewed.

    Example: mihakk review forget demo layla@example.org --also "Layla Haddad" --in exports
    """
    from mihakk.annotation.label_studio.exchange import connect
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.forgetting import forget_person
    from mihakk.pipeline.opened_review import open_review

    opened = open_review(config, lake)
    with connect(settings()) as connection, opened.locked():
        members = connection.users()
        done = forget_person(opened, address, members, names=also or (), runs=runs, folders=inside or ())
        accounts = {known.casefold(): number for number, known in members.items()}
        if (member := accounts.get(address.strip().casefold())) is not None:
            connection.remove_user(member)
    account = "their account is deleted" if member is not None else "they had no account on the server"
    short = f"; {done.unsearched} lines of theirs are too short to search for" if done.unsearched else ""
    lines = [
        f"{done.rows} rows of {done.person} hold no personal data now, and the pseudonym belongs to nobody; "
        f"{account}. Words were taken out of {done.rewritten} rows and files{short}",
        *(f"left in {one.place}: {one.todo}" for one in done.left),
        f"{len(done.left)} places still hold their words or name",
    ]
    told = done.model_dump(mode="json") | {"account_deleted": member is not None}
    print_result(told, escape("\n".join(lines)), as_json=as_json)
    if done.left:
        raise typer.Exit(1)


def disputes(
    config: Reviewed = Path("demo"),
    screen: Annotated[
        str,
        typer.Option(
            help="Language of what people, checks and auditors say: ar, fa, en; else each item's own."
        ),
    ] = "",
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """List all on which people disagree, items and campaign questions: who said what, and who has to decide.

    With it stands what checks and auditors hold against each item, in sentences of the item's language.

    Example: mihakk review disputes demo --screen en
    """
    from mihakk.annotation.decisions.store import stored
    from mihakk.annotation.decisions.words import words
    from mihakk.annotation.label_studio.exchange import open_disputes
    from mihakk.annotation.screens.labelling import DIRECTION
    from mihakk.pipeline.opened_review import open_review
    from mihakk.schemas.campaign import Drawn

    language = next((one for one in DIRECTION if one == screen), None)
    if screen and language is None:
        raise UsageError(f"--screen {screen!r} is not a language of the screens; use {', '.join(DIRECTION)}")
    opened = open_review(config, lake)

    @cache
    def own() -> dict[str, Language]:
        asked = stored(opened.stores.campaigns, Drawn)
        of_questions = {row.subject: row.strata["language"] for row in asked}
        return of_questions | opened.screens(None)

    def screen_of(subject: str) -> Language | None:
        return None if as_json else language or own().get(subject)

    found = open_disputes(opened.stores, opened.config, screen_of)
    evidence = opened.evidence({one.item for one in found}, language)
    for note in words(opened.stores):
        if note.kind == "note":
            evidence.setdefault(note.subject, []).append(f"{note.annotator} noted: {note.text}")
    if as_json:
        print_json([one.model_dump(mode="json") | {"evidence": evidence.get(one.item, ())} for one in found])
        return
    show_disputes(found, open_console(soft_wrap=True), evidence)


def show_disputes(
    found: Sequence[Dispute], console: Console, evidence: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Prints every dispute in full, with what checks and auditors said where that is given."""
    for one in found:
        task = f" (task {', '.join(map(str, one.tasks))})" if one.tasks else ""
        kind = "" if one.template == "quality_review" else f"{one.template} "
        console.print(f"{kind}{one.item}{task}")
        for vote in one.votes:
            console.print(f"  {escape(vote)}")
        for line in (evidence or {}).get(one.item, ()):
            console.print(f"  {escape(line)}")
        console.print(f"  who decides: {one.decides}")
    stuck = sum(one.stuck for one in found)
    console.print(f"{len(found)} items are disputed, {stuck} of them wait for an adjudicator")


def calibration(
    config: Reviewed = Path("demo"),
    lake: Lake = None,
    pages: Annotated[
        Path | None, typer.Option("--pages", help="Write each person's answers, explained, into this folder.")
    ] = None,
    url: Annotated[
        str, typer.Option(help="Where people reach the relay: prints each person's link to their page.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Who has passed the calibration, who has failed, and how far everybody is.

    With MIHAKK_RELAY_SECRET set and --url it prints the personal links at which the relay explains answers.

    Example: mihakk review calibration demo --pages explained
    """
    from mihakk.annotation.decisions.pseudonyms import Person
    from mihakk.annotation.decisions.store import stored
    from mihakk.annotation.label_studio.relay import page_token
    from mihakk.annotation.teaching.state import calibration_state, explained
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.opened_review import open_review
    from mihakk.schemas.calibration import Standing

    opened, console = open_review(config, lake), open_console(soft_wrap=True, stderr=as_json)
    rows = calibration_state(opened.stores)
    _print(rows, Standing, as_json=as_json)
    people = sorted({row.pseudonym for row in stored(opened.stores.people, Person)})
    if pages is not None:
        pages.mkdir(parents=True, exist_ok=True)
        for person in people:
            (pages / f"{person}.html").write_text(explained(opened.stores, person), "utf-8")
        console.print(f"{len(people)} pages in {pages}")
    if url:
        secret = settings().relay_secret
        if secret is None:
            raise UsageError("--url needs MIHAKK_RELAY_SECRET, the same that the relay runs with")
        for person in people:
            token = page_token(secret.get_secret_value(), opened.name, person)
            console.print(f"{person}: {url.rstrip('/')}/calibration/{opened.name}/{person}/{token}")


def questions(
    config: Reviewed = Path("demo"),
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Everything annotators asked and noted, open questions first, with the answers.

    Example: mihakk review questions demo
    """
    from mihakk.annotation.teaching.questions import asked_questions
    from mihakk.pipeline.opened_review import open_review

    opened, console = open_review(config, lake), open_console(soft_wrap=True, stderr=as_json)
    rows = asked_questions(opened.stores)
    if as_json:
        print_json(rows)
    for row in rows:
        who = row.annotator or "skipped"
        console.print(f"{row.id} {row.template} {row.subject} ({who}): {escape(row.text)}")
        for said in row.answers:
            console.print(f"  answered: {escape(said)}")
    console.print(f"{sum(not row.answers for row in rows)} of {len(rows)} are open")


def answer(
    config: Reviewed,
    question: Annotated[
        str, typer.Argument(help="Id as `review questions` lists it, or `rule` for a new rule.")
    ],
    text: Annotated[str, typer.Argument(help="What people read, beside the question, in the instructions.")],
    template: Annotated[str, typer.Option(help="Of a rule: whose guideline it belongs to.")] = "",
    languages: Annotated[
        str, typer.Option(help="Screens it is shown on, e.g. ar,fa; empty: the question's.")
    ] = "",
    substantial: Annotated[
        bool, typer.Option("--substantial", help="It changes how to judge: calibration is asked again.")
    ] = False,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Answer an annotator's question; the next push shows it to everybody, as the guideline's next version.

    Example: mihakk review answer demo q-1f0c2a9be4 "Dialect is not an error."
    """
    from datetime import UTC, datetime

    from mihakk.annotation.teaching.questions import answer_question
    from mihakk.machinery.languages import languages as fit_for
    from mihakk.pipeline.opened_review import open_review

    opened = open_review(config, lake)
    screens = [name for name in languages.split(",") if name]
    if unknown := sorted(set(screens) - set(fit_for("items"))):
        raise UsageError(f"--languages {unknown[0]!r} is not one of {', '.join(fit_for('items'))}")
    with opened.locked():
        row = answer_question(
            opened.stores,
            question,
            text,
            now=datetime.now(UTC),
            template=template,
            languages=screens,
            substantial=substantial,
        )
    again = "; calibration is asked again then" if substantial else ""
    told = f"kept; `mihakk review push {config}` shows it in the guideline of {row.template}{again}"
    print_result(row, told, as_json=as_json)


def progress(
    config: Reviewed = Path("demo"),
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """How far each project on the server is, and when it will be done at the pace of the last 14 days.

    Example: mihakk review progress demo
    """
    from datetime import UTC, datetime

    from mihakk.annotation.label_studio.exchange import connect, review_progress
    from mihakk.annotation.statistics.working_time import ProjectProgress
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.opened_review import open_review

    opened = open_review(config, lake)
    with connect(settings()) as connection:
        rows = review_progress(connection, opened.name, opened.stores, opened.config, datetime.now(UTC))
    _print(rows, ProjectProgress, as_json=as_json)


def times(
    config: Reviewed = Path("demo"),
    lake: Lake = None,
    csv: Csv = None,
    as_json: AsJson = False,
) -> None:
    """Hours and items of each person by project, as pay goes by them.

    Example: mihakk review times demo
    """
    from mihakk.annotation.decisions.export import write_csv
    from mihakk.annotation.decisions.store import counting, given
    from mihakk.annotation.statistics.working_time import PersonTime, working_times
    from mihakk.pipeline.opened_review import open_review

    stores = open_review(config, lake).stores
    rows = working_times(given(stores), counting(stores))
    _print(rows, PersonTime, as_json=as_json)
    if csv is not None:
        write_csv(csv, rows, PersonTime)
        open_console(soft_wrap=True, stderr=as_json).print(f"{len(rows)} rows in {csv}")


def _print(rows: Sequence[Record], kind: type[Record], *, as_json: bool) -> None:
    table = Table(*kind.model_fields, box=None, header_style="bold")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row.model_dump().values()))
    if as_json:
        print_json(rows)
    else:
        open_console().print(table if rows else "Nobody has decided anything yet.")
