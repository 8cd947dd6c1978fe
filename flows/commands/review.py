"""`mihakk review`: flagged items to people in Label Studio, and their decisions back."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mihakk.flows.commands import review_lead
from mihakk.flows.commands.options import Address, AsJson, Lake, Reviewed
from mihakk.flows.commands.review_decide import decide
from mihakk.flows.commands.review_output import applied_with, show_pulled, show_pushed, unasked
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json, print_result

if TYPE_CHECKING:
    from mihakk.annotation.label_studio.push import Pushed
    from mihakk.machinery.settings import Settings

REFRESH = 6
"""Seconds after which a browser loads a page of explained answers again."""


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    review = typer.Typer(help="Flagged items to people in Label Studio, and their decisions back.")
    for command in (serve, push, pull, decide, relay, report, export, person):
        review.command()(command)
    review_lead.register(review)
    app.add_typer(review, name="review")


def serve(
    config: Reviewed = Path("demo"),
    port: Annotated[int, typer.Option(help="TCP port on 127.0.0.1.")] = 8090,
    database: Annotated[
        str, typer.Option(help="postgresql://user:password@host:port/name; SQLite when empty.")
    ] = "",
    lake: Lake = None,
) -> None:
    """Install and start a local Label Studio, bring the review queue onto it and print the addresses.

    The first start takes a minute or two. Stop it with Ctrl+C; everything people did stays.

    Example: mihakk review serve demo --port 8090
    """
    from mihakk.annotation.label_studio.connection import Connection
    from mihakk.annotation.label_studio.server import LocalServer
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.calibration import push_rounds
    from mihakk.pipeline.opened_review import open_review

    console = open_console(soft_wrap=True)
    opened = open_review(config, lake)
    if not opened.screens(None):  # said before a server is started for it
        how = "make demo" if opened.name == "demo" else f"mihakk build {config}"
        raise UsageError(f"{opened.name} has no items to review yet: run `{how}` first")
    server = LocalServer(settings().label_studio_home, port, database=database)
    with console.status("Starting Label Studio…") as status:
        server.start(tell=status.update if console.is_terminal else console.print)
    try:
        with Connection(server.url, server.secrets.token) as connection:
            show_pushed(opened.push_queue(connection) | push_rounds(opened, connection), console)
            invitation = connection.invitation()
        elsewhere = (
            "" if server.url == settings().label_studio_url else f"MIHAKK_LABEL_STUDIO_URL={server.url} "
        )
        console.print(f"Label Studio: {server.url}")
        console.print(f"Your account: {server.secrets.email}, password in {server.home / 'secrets.json'}")
        console.print(f"Invite annotators with: {invitation}")
        console.print(f"When they are done: {elsewhere}mihakk review pull {config} && mihakk build {config}")
        server.wait()
    except KeyboardInterrupt:
        console.print("Stopped.")
    finally:
        server.stop()


def push(
    config: Reviewed = Path("demo"),
    template: Annotated[
        str, typer.Option(help="Only this campaign, or quality_review; empty: the queue and every campaign.")
    ] = "",
    rows: Annotated[
        str | None,
        typer.Option("--from", help="What it asks about: a folder of replies, or `all` (docs/review.md)."),
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="Questions to draw.")] = None,
    strata: Annotated[str | None, typer.Option(help="Balanced by these, e.g. language,strategy.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides which questions are drawn.")] = None,
    overlap: Annotated[int | None, typer.Option(min=1, help="People who answer each question.")] = None,
    languages: Annotated[str | None, typer.Option(help="Only texts in these, e.g. ar,fa.")] = None,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Bring the review queue and the campaigns onto MIHAKK_LABEL_STUDIO_URL.

    The queue: flagged items, the miss-rate sample, attention checks. Campaigns are listed in the config
    (`review.campaigns`); --template brings one of them alone, and the options replace what the config says.

    Example: mihakk review push demo
    """
    from mihakk.annotation.label_studio.exchange import connect
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.calibration import push_rounds
    from mihakk.pipeline.campaigns import QUALITY_REVIEW, WHY_NOTHING, chosen_campaigns, push_campaigns
    from mihakk.pipeline.opened_review import open_reviews

    given = {
        "rows": rows,
        "size": size,
        "strata": None if strata is None else strata.split(","),
        "seed": seed,
        "overlap": overlap,
        "languages": None if languages is None else languages.split(","),
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if changes and template in ("", QUALITY_REVIEW):
        raise UsageError(
            "--from, --size, --strata, --seed, --overlap and --languages need --template CAMPAIGN"
        )
    # Chosen first: what can't be pushed is refused before a server is needed.
    chosen = [(one, chosen_campaigns(one, template, changes)) for one in open_reviews(config, lake)]
    pushed: dict[str, dict[str, Pushed]] = {}
    found = False
    with connect(settings()) as connection:
        for one, campaigns in chosen:
            queue = one.push_queue(connection) if template in ("", QUALITY_REVIEW) else {}
            asked = push_campaigns(one, connection, campaigns)
            found = found or bool(asked)
            pushed[one.label] = queue | asked | push_rounds(one, connection)
    named = [one.template for _, campaigns in chosen for one in campaigns]
    if template and named and not found:
        raise UsageError(f"nothing in {', '.join(pushed)} to ask about: {WHY_NOTHING[named[0]]}")
    if as_json:
        print_json(pushed)
        return
    for (one, campaigns), projects in zip(chosen, pushed.values(), strict=True):
        show_pushed(projects, open_console())
        for line in unasked(projects, campaigns, one.config):
            open_console().print(line)


def pull(config: Reviewed = Path("demo"), lake: Lake = None, as_json: AsJson = False) -> None:
    """Fetch what people decided; the next `mihakk build` applies it.

    Example: mihakk review pull demo
    """
    from mihakk.annotation.label_studio.exchange import connect
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.calibration import push_rounds
    from mihakk.pipeline.opened_review import open_reviews

    console, pulled, reviews = open_console(stderr=as_json), {}, open_reviews(config, lake)
    with connect(settings()) as connection:
        for one in reviews:
            pulled[one.label] = found = one.pull(connection)
            rounds = push_rounds(one, connection, begin=False)
            show_pulled(found, one.config.overlap, console)
            show_pushed({name: what for name, what in rounds.items() if what.created}, console, quiet=True)
    if as_json:
        print_json(pulled)
    console.print(applied_with(reviews[0], config))


def relay(
    config: Reviewed = Path("demo"),
    port: Annotated[int, typer.Option(min=0, help="TCP port to listen on; 0: a free one.")] = 8091,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    register: Annotated[
        bool, typer.Option("--register", help="Make the benchmark's projects send their webhooks here.")
    ] = False,
    url: Annotated[
        str, typer.Option(help="Where Label Studio reaches the relay, if not at host and port.")
    ] = "",
    to: Annotated[
        str, typer.Option(help="pull, or prefect: an event. By default prefect where PREFECT_API_URL is set.")
    ] = "",
    every: Annotated[
        float | None,
        typer.Option(min=0, help="Pull at least every N minutes; 0: only on hints."),
    ] = None,
    lake: Lake = None,
) -> None:
    """Pull soon after people annotate: takes Label Studio's webhooks as hints and gathers them.

    Each person sees their calibration explained, at the link that `mihakk review calibration` prints.

    Without Prefect it runs `mihakk review pull` itself, at the start, when hints pause for five seconds, and
    every 15 minutes. With Prefect it emits the event `mihakk.review.annotated`, and Prefect's schedule does
    the rest. Webhooks have to show MIHAKK_RELAY_SECRET; --register tells Label Studio what to show.

    Example: mihakk review relay demo --port 8095
    """
    import asyncio
    import secrets

    import mihakk.annotation.label_studio.relay as service
    from mihakk.annotation.label_studio.exchange import connect
    from mihakk.annotation.teaching.state import explained
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.opened_review import open_review

    known, console = settings(), open_console(soft_wrap=True)
    target = _target(to, known)
    if known.relay_secret is None and not register:
        raise UsageError("set MIHAKK_RELAY_SECRET, or give --register, which makes one up")
    opened = open_review(config, lake)
    name, stores = opened.name, opened.stores
    secret = known.relay_secret.get_secret_value() if known.relay_secret else secrets.token_urlsafe(24)

    def say(said: str) -> None:
        console.print(f"{datetime.now().astimezone():%H:%M:%S} {said}")

    def act() -> None:
        if target == "prefect":
            service.emit(known, name, str(config))
            say("told Prefect")
        else:
            say("pulling")
            pull(config, lake)

    async def run() -> None:
        minutes = (0 if target == "prefect" else 15) if every is None else every
        hints = service.Hints(act, say, every=minutes * 60 or None)
        app = service.relay_app(
            name, secret, hints, lambda person: explained(stores, person, refresh=REFRESH)
        )
        with service.listen(host, port) as door:
            base = url or f"http://{host}:{door.getsockname()[1]}"
            if register:
                with connect(known) as connection:
                    count = service.register(connection, name, base, secret)
                console.print(
                    f"{count} projects of {name} at {known.label_studio_url} send their webhooks here"
                )
            console.print(f"Listening at {base}/annotated/{name}")
            hints.hint()  # what was annotated while nobody listened
            await service.relay(app, hints, door)

    with suppress(KeyboardInterrupt):  # not raised where SIGINT was ignored from the start, as under nohup
        asyncio.run(run())
    console.print("Stopped.")


def _target(to: str, known: Settings) -> str:
    """What hints set off: pull, or an event of Prefect's."""
    target = to or ("prefect" if known.prefect_api_url else "pull")
    if target not in ("pull", "prefect"):
        raise UsageError(f"--to {to!r} is neither pull nor prefect")
    if target == "prefect" and not known.prefect_api_url:
        raise UsageError("--to prefect needs PREFECT_API_URL")
    return target


def export(
    config: Reviewed = Path("demo"),
    csv: Annotated[Path, typer.Option("--csv", help="File to write.")] = Path("decisions.csv"),
    labels: Annotated[
        bool, typer.Option("--labels", help="The labels of the rating templates, not the decisions.")
    ] = False,
    person: Annotated[
        str, typer.Option(help="Only this person's, voided ones too: annotator-NN or an e-mail address.")
    ] = "",
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Write people's decisions as CSV that a spreadsheet can open without running anything in it.

    Notes are written only with --person: all that this person decided is theirs to have.

    Example: mihakk review export demo --csv decisions.csv
    """
    from mihakk.annotation.decisions.export import write_csv
    from mihakk.annotation.decisions.pseudonyms import known_as
    from mihakk.annotation.decisions.store import decisions, stored
    from mihakk.annotation.decisions.words import split, with_words
    from mihakk.annotation.screens.ratings import Label
    from mihakk.pipeline.campaigns import exported_labels
    from mihakk.pipeline.opened_review import open_review
    from mihakk.schemas.review import Review

    opened = open_review(config, lake)
    kept = opened.stores
    if person:
        name = (known_as(kept.people, person) or "nobody") if "@" in person else person
        given: list[Review | Label] = [
            *(stored(kept.labels, Label) if labels else stored(kept.decisions, Review))
        ]
        mine = with_words([row for row in given if row.annotator == name], kept)
        count = write_csv(csv, mine, Label if labels else Review)
    elif labels:
        rows, first = exported_labels(kept, opened.config.adjudicators)
        count = write_csv(csv, [split(row)[0] for row in rows], Label, first)
    else:
        count = write_csv(csv, [split(row)[0] for row in decisions(kept)], Review)
    print_result({"rows": count, "file": csv}, f"{count} rows in {csv}", as_json=as_json)


def person(
    config: Reviewed,
    address: Address,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """The pseudonym under which a person's decisions are kept, as `review.adjudicators` names them.

    Somebody new is given theirs now, so that an adjudicator can be named before their first decision.

    Example: mihakk review person demo layla@example.org
    """
    from mihakk.annotation.decisions.pseudonyms import pseudonyms
    from mihakk.pipeline.opened_review import open_review

    if "@" not in address:
        raise UsageError(f"{address!r} is not an e-mail address: give that of their Label Studio account")
    opened = open_review(config, lake)
    with opened.locked():
        (found,) = pseudonyms(opened.stores.people, {0: address}).values()
    if as_json:
        print_json({"pseudonym": found})
    else:
        print(found)


def report(config: Reviewed = Path("demo"), lake: Lake = None, as_json: AsJson = False) -> None:
    """Agreement, overturned auditors, miss rate and annotators' speed, as Markdown.

    Example: mihakk review report demo
    """
    from rich.markdown import Markdown

    from mihakk.annotation.statistics.review_markdown import markdown
    from mihakk.pipeline.opened_review import open_review

    found = open_review(config, lake).report()
    print_result(found, Markdown(markdown(found)), as_json=as_json)
