"""`mihakk evaluate team ...`: keys with which teams sign their answers to a blind release."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

Store = Annotated[Path, typer.Option(help="Private folder of the boards; the register of keys lies in it.")]


def register_in(evaluate: typer.Typer) -> None:
    """Adds the commands."""
    team = typer.Typer(help="Keys with which teams sign their answers to a blind release.")
    team.command(name="key")(make)
    team.command(name="register")(register)
    team.command(name="list")(registered)
    for command in (revoke, sign, verify):
        team.command()(command)
    evaluate.add_typer(team, name="team")


def make(
    file: Annotated[Path, typer.Argument(help="The private key; the public one gets .pub behind its name.")],
    as_json: AsJson = False,
) -> None:
    """Make a team's key (Ed25519). Keep the file; send FILE.pub to the board's maintainers.

    Example: mihakk evaluate team key alpha.key
    """
    from mihakk.evaluation.blind.keys import make_key

    key = make_key(file)
    open_console(soft_wrap=True, stderr=as_json).print(f"{key}: keep {file}, send {file}.pub", markup=False)
    if as_json:
        print_json({"key": key, "private": file, "public": f"{file}.pub"})


def register(
    team: Annotated[str, typer.Argument(help="As boards and cards name it.")],
    public: Annotated[Path, typer.Argument(help="The team's public key, a PEM file.")],
    store: Store = Path("blind"),
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Last day on which it holds.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Register a key of a team, beside any others: what it signs is taken in the team's name.

    Make sure first that the file comes from the team.

    Example: mihakk evaluate team register alpha alpha.key.pub --store /private/blind --until 2026-12-31
    """
    from mihakk.evaluation.blind.keys import REGISTER, Register, public_key

    key = public_key(public)
    last = until.date() if until else None
    one = Register(store / REGISTER).register(team, key, datetime.now(UTC), last)
    open_console(soft_wrap=True, stderr=as_json).print(f"{one.key} signs for {one.team}", markup=False)
    if as_json:
        print_json(one.model_dump(mode="json"))


def revoke(
    key: Annotated[str, typer.Argument(help="The key, as `team list` names it, or its PEM file.")],
    store: Store = Path("blind"),
    why: Annotated[str, typer.Option(help="Told to whoever uses it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Take nothing any more that a key signs, whenever it did; what was scored stays.

    Example: mihakk evaluate team revoke alpha.key.pub --store /private/blind --why "laptop stolen"
    """
    from mihakk.evaluation.blind.keys import REGISTER, Register, public_key

    named = public_key(Path(key)) if Path(key).is_file() else key
    one = Register(store / REGISTER).revoke(named, datetime.now(UTC), why)
    open_console(soft_wrap=True, stderr=as_json).print(f"{one.key} of {one.team} is revoked", markup=False)
    if as_json:
        print_json(one.model_dump(mode="json"))


def registered(store: Store = Path("blind"), as_json: AsJson = False) -> None:
    """List all keys with their teams.

    Example: mihakk evaluate team list --store /private/blind
    """
    from mihakk.evaluation.blind.keys import REGISTER, Register

    keys = sorted(Register(store / REGISTER).keys().values(), key=lambda one: (one.team, one.registered))
    console = open_console(soft_wrap=True, stderr=as_json)
    for one in keys:
        state = f"revoked on {one.revoked:%Y-%m-%d}" if one.revoked else f"until {one.until or 'revoked'}"
        console.print(f"{one.team}  {one.key}  {state}", markup=False)
    if not keys:
        console.print(f"no keys in {store}")
    if as_json:
        print_json([one.model_dump(mode="json") for one in keys])


def sign(
    file: Annotated[Path, typer.Argument(help="As `evaluate submit` writes it.")],
    key: Annotated[Path, typer.Option(help="The team's private key, as `team key` writes it.")],
    as_json: AsJson = False,
) -> None:
    """Sign a file of answers in place; a signature it has is replaced, as each signed file counts once.

    Example: mihakk evaluate team sign alpha--jais-2-8b--87532b974411.jsonl --key alpha.key
    """
    from mihakk.evaluation.blind.keys import private_key
    from mihakk.evaluation.blind.submission import sign_submission

    signature = sign_submission(file, private_key(key))
    open_console(soft_wrap=True, stderr=as_json).print(f"{file}: signed by {signature.key}", markup=False)
    if as_json:
        print_json({"file": file, **signature.model_dump()})


def verify(
    file: Annotated[Path, typer.Argument(help="A signed file of answers.")],
    public: Annotated[
        Path | None, typer.Option("--key", help="The public key it must be signed by, a PEM file.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Private folder of the boards: the key must hold for the card's team.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that a file is what was signed, and by whom; exit 2 with the reason if not.

    Example: mihakk evaluate team verify alpha--jais-2-8b--87532b974411.jsonl --key alpha.key.pub
    """
    from mihakk.evaluation.blind.keys import REGISTER, Register, is_genuine, public_key
    from mihakk.evaluation.blind.submission import read_submission

    if (public is None) == (store is None):
        raise UsageError("nothing to check it by: name a key (--key FILE.pub) or a register (--store FOLDER)")
    sent = read_submission(file)
    team, signature = sent.card.team, sent.signature
    if store is not None:
        Register(store / REGISTER).check(signature, sent.digest, team, datetime.now(UTC))
    elif public is not None:
        if signature is None:
            raise UsageError(f"{file} is not signed: `mihakk evaluate team sign {file} --key KEY`")
        if signature.key != public_key(public):
            raise UsageError(f"{file} is signed by {signature.key}, which is not the key in {public}")
        if not is_genuine(signature, sent.digest):
            raise UsageError(f"{file} is not what was signed: it was changed afterwards. Sign it again")
    assert signature is not None
    open_console(soft_wrap=True, stderr=as_json).print(
        f"{file}: {team}, signed {signature.signed}", markup=False
    )
    if as_json:
        print_json({"file": file, "team": team, **signature.model_dump()})
