"""`mihakk evaluate submit | score`: answers to a blind release, on both its sides."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json


def submit(
    file: Annotated[Path, typer.Argument(help='JSON lines of replies, {"item": ID, "reply": TEXT} each.')],
    card: Annotated[
        Path, typer.Option(help="YAML: board, team, model, revision, release, version, kind, open, ...")
    ],
    release: Annotated[str, typer.Option(help="The blind release: its folder, or NAME@VERSION.")],
    to: Annotated[
        Path | None, typer.Option(help="Folder for the file to be sent; only checked when left out.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The team's private key; `team sign` signs later when left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a file of answers to a blind release, and write and sign the file to be sent.

    Needs the public files alone. Answers to items that a blind board does not rank (recall, explanations) are
    left out; every ranked item has to be answered, once, in at most 4,096 bytes.

    Example: mihakk evaluate submit replies.jsonl --card card.yaml --release demo@1.0.0 --to . --key a.key
    """
    from mihakk.evaluation.blind.keys import private_key
    from mihakk.evaluation.blind.submission import (
        check_card,
        check_replies,
        ranked_questions,
        read_replies,
        sign_submission,
        write_submission,
    )
    from mihakk.evaluation.questions import questions_of_release
    from mihakk.evaluation.reading import read
    from mihakk.machinery.configs import load_config
    from mihakk.releases.hub.load import named_folder
    from mihakk.schemas.blind import SubmissionCard

    told = load_config(card, SubmissionCard)
    check_card(told, str(card))
    signing = private_key(key) if key is not None else None
    folder, name = named_folder(release)
    questions = questions_of_release(folder, name, sealed=True)
    one = next(iter(questions.values()))
    if (told.release, told.version) != (one.release, one.version):
        raise UsageError(
            f"{card} says {told.release} {told.version}; {release} is {one.release} {one.version}: correct "
            "`release` and `version`"
        )
    ranked = ranked_questions(questions, release)
    replies = read_replies(file)
    kept = {item: reply for item, reply in replies.items() if item in ranked or item not in questions}
    check_replies(kept, ranked, str(file))
    console = open_console(soft_wrap=True, stderr=as_json)
    if len(kept) < len(replies):
        console.print(f"{len(replies) - len(kept):,} answers to items that are not ranked are left out")
    unread = [item for item, reply in kept.items() if not read(ranked[item], "written", reply).found]
    console.print(f"{len(kept):,} answers, as many as there are ranked items")
    if unread:
        console.print(
            f"[yellow]{len(unread):,} of them can't be read[/] and will count as wrong, e.g. {unread[0]}: "
            "the page on evaluation says how replies are read"
        )
    written = write_submission(told, kept, to) if to is not None else None
    if written is not None and signing is not None:
        sign_submission(written, signing)
        console.print(f"send this file: {written}")
    elif written is not None:
        console.print(f"sign this file before you send it: mihakk evaluate team sign {written} --key KEY")
    if as_json:
        print_json(
            {"answers": len(kept), "left_out": len(replies) - len(kept), "unread": unread, "file": written}
        )


def score(
    board: Annotated[Path, typer.Option(help="YAML file of the board: release, teams, season, quotas.")],
    public: Annotated[
        Path,
        typer.Option(help="Folder of this season for what may be published: board.json, log.jsonl."),
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files as `evaluate submit` writes them.")
    ] = None,
    store: Annotated[Path, typer.Option(help="Private folder of keys, logs and what was read.")] = Path(
        "blind"
    ),
    close: Annotated[bool, typer.Option("--close", help="The season is over: tell final figures.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score signed answers to a blind release where its golds lie; writes nothing but noisy figures.

    Teams, quotas and `gain`, from which the noise follows, are those of the board's file; the log of all
    submissions is only ever added to. Needs the release's secret (MIHAKK_BLIND_KEY) and, where the answers
    are encrypted, MIHAKK_ANSWERS_IDENTITY_FILE. Uses no network where release and answers are local.

    Example: mihakk evaluate score alpha--jais.jsonl --board board.yaml --public spring
    """
    from mihakk.pipeline.blind_scoring import close_season, open_board, score_files

    if not files and not close:
        raise UsageError("name the files to score, or --close for a season that is over")
    opened = open_board(board, store)
    console = open_console(soft_wrap=True, stderr=as_json)
    refused = []
    scored = score_files(opened, files or [], public)
    for received in scored:
        reply = received.reply
        if reply is None:
            refused.append(received)
            console.print(f"{escape(str(received.shown))}: [red]refused[/]: ", end="")
            console.print(received.refused, markup=False)
            continue
        figure = (
            "its team's share of the season is used up" if reply.figure is None else f"{reply.figure:.3f}"
        )
        console.print(f"{received.shown}: {reply.told}, {figure}", markup=False)
    closed = close_season(opened, public) if close else []
    state = opened.standing()
    console.print(
        f"figures have a noise of {state['noise']:.3f}; all that were told add at most "
        f"{state['gain']['so_far']:.1%} to what anybody knows of the public half → {public}"
    )
    for one in closed:
        console.print(
            f"{one.team}, {one.model}: {one.figure:.3f} ({one.low:.3f} to {one.high:.3f}); public half "
            f"{one.public:.3f}, other half {one.other:.3f}, gap {one.gap:+.3f} ({one.gap_low:+.3f} to "
            f"{one.gap_high:+.3f})"
        )
    if as_json:
        print_json(
            {
                "files": [one._asdict() | {"path": one.shown} for one in scored],
                "standing": state,
                "closed": closed,
            }
        )
    if refused:
        raise UsageError(f"{len(refused)} of {len(files or [])} files refused: {refused[0].refused}")
