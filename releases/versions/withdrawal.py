"""Versions that were withdrawn: bytes and tag stay, and everything a reader meets says so and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.markdown import plain
from mihakk.releases.content.checksum import MANIFEST, file_digest, manifest_text, read_manifest
from mihakk.releases.versions.version import Version
from mihakk.schemas.withdrawal import Withdrawal

FILE = "withdrawn.json"
"""Beside the card: on the Hub's main branch, and in every release made since."""
CARD = "README.md"
CHANGELOG = "CHANGELOG.md"
MARKED = (CARD, CHANGELOG, FILE)
"""What a withdrawal changes on the main branch, beside the manifest."""
_BLOCK = re.compile(
    r"<!-- generated:begin withdrawn -->(?:[^<]|<(?!!-- generated:))*+<!-- generated:end withdrawn -->\n*"
)
_FIRST_BLOCK = re.compile(r"^<!-- generated:begin ", re.MULTILINE)


_LIST = TypeAdapter(tuple[Withdrawal, ...])


def withdrawal(version: str, why: str, day: date) -> Withdrawal:
    """The record of a withdrawal, its reason in one line; `UsageError` without a reason."""
    reason = " ".join(why.split())
    if not reason:
        raise UsageError(f"say why {version} is withdrawn: --why TEXT; card, changelog and loaders repeat it")
    return Withdrawal(version=version, why=reason, withdrawn_on=day)


def add(known: Iterable[Withdrawal], one: Withdrawal) -> tuple[Withdrawal, ...]:
    """The withdrawals with one more, by version; a version keeps its first reason."""
    by_version = {each.version: each for each in (one, *known)}
    return tuple(by_version[version] for version in sorted(by_version, key=Version.parse))


def parse(data: bytes, place: str) -> tuple[Withdrawal, ...]:
    """The withdrawals in the bytes of a file; `ExternalFailure` where they can't be read."""
    try:
        return _LIST.validate_json(data)
    except ValidationError as error:
        raise ExternalFailure(
            f"{place}: {FILE} can't be read ({error.error_count()} faults), so nobody can tell which "
            "versions are withdrawn; restore the file from the repository's history"
        ) from error


def read(folder: Path) -> tuple[Withdrawal, ...]:
    """The withdrawals that a release folder tells of."""
    path = folder / FILE
    return parse(path.read_bytes(), str(folder)) if path.is_file() else ()


def write(withdrawals: Iterable[Withdrawal], folder: Path) -> None:
    """Write the file into a folder; none where nothing is withdrawn."""
    rows = [one.model_dump(mode="json") for one in withdrawals]
    if rows:
        (folder / FILE).write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2) + b"\n")


def of_version(withdrawals: Iterable[Withdrawal], version: str) -> Withdrawal | None:
    """The withdrawal of one version."""
    return next((one for one in withdrawals if one.version == version), None)


def warning(name: str, one: Withdrawal) -> str:
    """What every reader of a withdrawn version is told."""
    return (
        f"{name} {one.version} was withdrawn on {one.withdrawn_on}: {one.why}. "
        "It is kept so that results can be repeated; use another version for new ones"
    )


def mark_card(card: str, version: str, withdrawals: Iterable[Withdrawal]) -> str:
    """The card with a notice above its first generated section: its own version in bold, then others."""
    known = tuple(withdrawals)
    if not known:
        return card
    lines = ["<!-- generated:begin withdrawn -->"]
    for one in sorted(known, key=lambda each: each.version != version):
        mine = one.version == version
        said = f"**This version, {version}, is withdrawn**" if mine else f"Version {one.version} is withdrawn"
        lines += [">"] * (len(lines) > 1) + [f"> {said} ({one.withdrawn_on}): {plain(one.why)}"]
    lines.append("<!-- generated:end withdrawn -->")
    block = "\n".join(lines) + "\n\n"
    bare = _BLOCK.sub("", card)
    first = _FIRST_BLOCK.search(bare)
    place = first.start() if first else len(bare)
    return bare[:place] + block + bare[place:]


def mark_changelog(changelog: str, withdrawals: Iterable[Withdrawal]) -> str:
    """The changelog with the headings of withdrawn versions marked and the reason below each."""
    for one in withdrawals:
        heading = re.compile(rf"^## {re.escape(one.version)}$", re.MULTILINE)
        said = f"## {one.version} (withdrawn)\n\nWithdrawn on {one.withdrawn_on}: {plain(one.why)}"
        changelog = heading.sub(lambda _, said=said: said, changelog)  # type: ignore[misc]
    return changelog


def mark(folder: Path, version: str, withdrawals: tuple[Withdrawal, ...]) -> None:
    """Write withdrawals into card, changelog, list and manifest of the newest release in a folder."""
    for name, text in (
        (CARD, mark_card((folder / CARD).read_text(encoding="utf-8"), version, withdrawals)),
        (CHANGELOG, mark_changelog((folder / CHANGELOG).read_text(encoding="utf-8"), withdrawals)),
    ):
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write(withdrawals, folder)
    digests: Mapping[str, str] = read_manifest(folder) | {name: file_digest(folder / name) for name in MARKED}
    (folder / MANIFEST).write_text(manifest_text(digests), encoding="utf-8", newline="\n")


def require_carried(name: str, hub: Iterable[Withdrawal], folder: Path) -> None:
    """Raise `UsageError` where a release would hide that a version is withdrawn on the Hub it goes to."""
    carried = {one.version for one in read(folder)}
    hidden = [one for one in hub if one.version not in carried]
    if hidden:
        raise UsageError(
            f"{name}: this release does not say that {hidden[0].version} is withdrawn there: run "
            f"`mihakk withdraw {name.rpartition('/')[2]} {hidden[0].version} --why ...` here too, "
            "and build again"
        )
