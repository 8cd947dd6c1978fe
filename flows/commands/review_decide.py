"""`mihakk review decide`: people's decisions without a server, on a sheet or by keyboard."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.console import Console
from rich.markup import escape

from mihakk.flows.commands.options import AsJson, Lake, Reviewed
from mihakk.flows.commands.review_output import applied_with
from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import pack
from mihakk.reports.console import open_console, print_json
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.review import DiscardReason

if TYPE_CHECKING:
    from mihakk.annotation.label_studio.offline import Offline, Taken
    from mihakk.pipeline.opened_review import OpenReview

_ISOLATE, _END = "\N{RIGHT-TO-LEFT ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_KEYS = {"k": "keep", "f": "fix", "d": "discard", "s": "skip"}


def decide(
    config: Reviewed = Path("demo"),
    person: Annotated[
        str, typer.Option(help="E-mail address of who decides; only a pseudonym of it is kept.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Write what waits for this person to a sheet: .xlsx or .csv.")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(help="Take the decisions of a sheet that was filled in.")
    ] = None,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Decide on flagged items without a server: on a sheet, or here, one key an item.

    Overlap, votes, calibration and versions are those of Label Studio's answers, in the same store.

    Example: mihakk review decide demo --person sara@example.org --out sara.xlsx
    Example: mihakk review decide demo --person sara@example.org --sheet sara.xlsx
    Example: mihakk review decide demo --person sara@example.org
    """
    from mihakk.annotation.label_studio.offline import read_sheet, write_sheet
    from mihakk.pipeline.opened_review import open_review

    if out is not None and sheet is not None:
        raise UsageError("--out writes a sheet and --sheet reads one: give one of them")
    console = open_console(stderr=as_json, soft_wrap=True)
    opened = open_review(config, lake)
    with opened.locked():
        offline = opened.offline(person)
        if out is not None:
            wrote = write_sheet(out, [offline.row(data) for data in offline.open()])
            console.print(f"{wrote} items for {offline.person}: {escape(str(out))}")
            console.print(
                "Write keep, fix, discard or skip under `decision`. To fix, correct the text where it "
                "stands, or the numbers under `right`.\nTo discard, write one `reason`: "
                f"{', '.join(get_args(DiscardReason))}; under `failed` any of {', '.join(CRITERIA)}"
            )
            return
        if sheet is not None:
            taken = offline.take(read_sheet(sheet))
            _show(taken, console, as_json=as_json)
            if taken.decided:
                console.print(applied_with(opened, config))
            return
    _by_keyboard(opened, offline, console)
    console.print(applied_with(opened, config))


def _show(taken: Taken, console: Console, *, as_json: bool) -> None:
    if as_json:
        print_json(taken)
    console.print(
        f"{taken.decided} decisions taken, {taken.unchanged} said before, {taken.skipped} skipped, "
        f"{taken.unsaid} rows without one"
    )
    for sample, why in taken.refused:
        console.print(f"  refused: {escape(sample)}: {escape(why)}", style="red")
    if taken.withheld:
        console.print(f"{taken.withheld} don't count yet: their author has not passed the calibration")


def _by_keyboard(opened: OpenReview, offline: Offline, console: Console) -> None:
    waiting = offline.open()
    if not waiting:
        console.print(f"Nothing waits for {offline.person}.")
    for number, data in enumerate(waiting, start=1):
        begun = time.monotonic()
        row, looked = offline.row(data), ""
        _item(row, number, len(waiting), console)
        while True:
            given = _read("[k]eep [f]ix [d]iscard [s]kip [e]vidence [q]uit", console)
            if given in ("q", ""):
                return
            if given == "e":
                looked = "source"
                told = opened.evidence([str(data["sample_id"])], None).get(str(data["sample_id"]), [])
                console.print("\n".join(map(escape, told)) or "Nobody says anything of it.")
                continue
            if given not in _KEYS:
                continue
            said = row | {"decision": _KEYS[given], "opened": looked}
            said |= {"seconds": f"{time.monotonic() - begun:.1f}"}
            said |= _asked(_KEYS[given], row, console)
            with opened.locked():
                taken = offline.take([said])
            if not taken.refused:
                break
            console.print("; ".join(why for _, why in taken.refused), style="red", markup=False)


def _item(row: Mapping[str, str], number: int, total: int, console: Console) -> None:
    console.rule(f"{number} of {total} · {escape(row['task'])}")
    right = row["right"].split(",")
    for name, text in row.items():
        if not name.startswith("fix_"):
            continue
        option = name.removeprefix("fix_option_")
        label = (
            f"{int(option) + 1}{' ✓' if str(int(option) + 1) in right else ''}"
            if option.isdecimal()
            else name[4:]
        )
        for line in text.split("\n"):
            shown = f"{_ISOLATE}{line}{_END}" if pack(row["language"]).direction == "rtl" else line
            console.print(f"{label:>9}  {shown}", markup=False)


def _asked(decision: str, row: Mapping[str, str], console: Console) -> dict[str, str]:
    """What a decision needs besides: a reason, or corrections, field by field."""
    found: dict[str, str] = {}
    if decision == "discard":
        reasons = get_args(DiscardReason)
        told = " ".join(f"{at}:{name}" for at, name in enumerate(reasons, start=1))
        given = _read(f"why? {told}", console)
        known = given.isdecimal() and 0 < int(given) <= len(reasons)
        found["reason"] = reasons[int(given) - 1] if known else given
    if decision == "fix":
        fields = [name for name in row if name.startswith("fix_") or (name == "right" and row["right"])]
        console.print("Enter keeps a field as it is.", style="dim")
        for name in fields:
            if text := _read(name.removeprefix("fix_"), console):
                found[name] = text
    if decision in ("fix", "discard"):
        told = " ".join(f"{at}:{name}" for at, name in enumerate(CRITERIA, start=1))
        numbers = _read(f"what is wrong? numbers of {told}", console).replace(",", " ").split()
        held = [int(one) for one in numbers if one.isdecimal() and 0 < int(one) <= len(CRITERIA)]
        found["failed"] = " ".join(CRITERIA[one - 1] for one in held)
    return found


def _read(asked: str, console: Console) -> str:
    console.print(asked, markup=False)
    try:
        return input("> ").strip()
    except EOFError:
        return ""
