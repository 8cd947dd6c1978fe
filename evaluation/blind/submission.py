"""A file of answers to a blind release: a card on the first line, a line per item, and a signature.

Read the same way by those who send it and by those who score it: strict JSON, every ranked item answered
once, nothing else in it. The signature is of all bytes before its line.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mihakk.evaluation.blind.keys import regular, sign
from mihakk.evaluation.incoming.plain import json_object
from mihakk.machinery.configs import validate
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.whole import write_whole
from mihakk.schemas.blind import LEAST_GROUPS, RANKED, Signature, SubmissionCard
from mihakk.schemas.evaluation import Question
from mihakk.schemas.record import Record

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

REPLY_BYTES: Final = 4096
"""Longest reply, in UTF-8."""
_LINE_BYTES: Final = 8 * REPLY_BYTES
"""Longest line: a reply all of whose letters are escaped, and the item's id."""
_SPARE = 100
"""Lines that a file may have beside one for each item: card, signature, blank ones."""


class Submission(NamedTuple):
    """One team's answers."""

    card: SubmissionCard
    replies: dict[str, str]
    """Item to reply."""
    digest: str
    """SHA-256 of the file without its last line."""
    signature: Signature | None = None
    """None where nobody signed it."""


class _Signed(Record):
    """The last line."""

    signature: Signature


class _Reply(Record):
    """A line of a team's own file."""

    item: str
    reply: str


def is_ranked(question: Question) -> bool:
    """Whether a question counts on a blind board: what can be looked up elsewhere is no secret."""
    return question.ability == "skill" and question.kind in RANKED


def ranked_questions(questions: Mapping[str, Question], release: str) -> dict[str, Question]:
    """The questions of a release (named in messages) that a blind board ranks, by item.

    Each asks for one option, as its prompt does: were a reply read by how many golds there are, what is read
    alike and what is not would tell that.

    Raises:
        UsageError: It has none, or too few for a board.
    """
    ranked = [questions[item] for item in sorted(questions) if is_ranked(questions[item])]
    found = {one.item: one.model_copy(update={"multiple": False}) for one in ranked}
    if not found:
        raise UsageError(
            f"{release} has no ranked question: a blind board ranks choices and short answers of tasks that "
            "are no recall"
        )
    require_groups(len({one.group for one in found.values()}), release)
    return found


def require_groups(groups: int, release: str) -> None:
    """Refuses a release whose ranked questions are too few groups for two halves.

    Raises:
        UsageError: It has so few.
    """
    if groups < LEAST_GROUPS:
        raise UsageError(
            f"{release}: {groups} groups of ranked questions can't be parted into two halves, so that no "
            f"blind board scores it: that takes {LEAST_GROUPS}"
        )


def check_card(card: SubmissionCard, where: str) -> None:
    """Refuses what nobody sees in a card's texts, as terminals and pages obey some of it.

    Raises:
        UsageError: The message names field and character. Notes may have lines and joiners; a revision has
            printable ASCII alone, so that two that differ look different.
    """
    for name, text in card.model_dump(include={"revision", "release", "version", "contact", "notes"}).items():
        for one in text if name != "notes" else text.translate(dict.fromkeys(map(ord, "\n\u200c\u200d"))):
            if unicodedata.category(one)[0] == "C" or one in "\u2028\u2029":
                raise UsageError(f"{where}: `{name}` holds the invisible character {one!a}: take it out")
            if name == "revision" and not one.isascii():
                raise UsageError(
                    f"{where}: `revision` holds {one!a}: write a commit, a digest or a date in ASCII"
                )


def same_revision(one: SubmissionCard, other: SubmissionCard) -> bool:
    """Whether two cards name what answered alike, as people read it."""
    first, second = ((card.model, " ".join(card.revision.casefold().split())) for card in (one, other))
    return first == second


def read_submission(
    path: Path, items: int | None = None, vouched: Callable[[Submission], None] = lambda _: None
) -> Submission:
    """A file as `write_submission` writes it; whose items, card and key fit is for others to say.

    Args:
        path: Of the file.
        items: How many it should answer: far more lines are not even read. As many as there are if None.
        vouched: Called with the card, the digest and the signature before any answer is read; what it raises
            refuses the file.

    Raises:
        UsageError: It can't be read, or is no such file; the message names the line.
    """
    data = _data(path, opener=regular) if items is None else _bounded(path, items + _SPARE)
    body, last = _parted(data)
    found = _lines(body, path)
    number, first = next(found, (0, None))
    if first is None:
        raise UsageError(f"{path} is empty: write it by `mihakk evaluate submit`")
    if "card" not in first or len(first) != 1:
        raise UsageError(
            f'{path}, line {number}: no card ({{"card": {{...}}}}): '
            "write the file by `mihakk evaluate submit`"
        )
    card = validate(first["card"], SubmissionCard, f"{path}, line {number}")
    check_card(card, f"{path}, line {number}")
    signature = None
    if last:
        breaks = body.count(b"\n")
        where = f"{path}, line {breaks + 1}"
        signature = validate(_object(last, where), _Signed, where).signature
    sent = Submission(card, {}, sha256(body), signature)
    vouched(sent)
    return sent._replace(replies=_replies(path, found))


def read_replies(path: Path) -> dict[str, str]:
    """A team's own file: a line per item, {"item": ID, "reply": TEXT}, and no card.

    Raises:
        UsageError: As `read_submission`.
    """
    return _replies(path, _lines(_data(path), path))


def check_replies(replies: Mapping[str, str], questions: Mapping[str, Question], where: str) -> None:
    """Refuses a file (`where` names it) that does not answer every ranked question, or answers another.

    Raises:
        UsageError: The message says what is missing or too much, with an example.
    """
    if extra := [item for item in replies if item not in questions]:
        raise UsageError(
            f"{where}: {len(extra):,} answers to items that are not among the {len(questions):,} ranked "
            f"ones, e.g. {extra[0][:80]!r}: take the ids from the files of the version on the card"
        )
    if missing := [item for item in questions if item not in replies]:
        raise UsageError(
            f"{where}: {len(missing):,} of {len(questions):,} items are not answered, e.g. {missing[0]}: "
            'answer each; {"item": ID, "reply": ""} where the system said nothing'
        )


def write_submission(card: SubmissionCard, replies: Mapping[str, str], folder: Path) -> Path:
    """Writes the file to be signed; equal answers give equal bytes, in whatever order they came."""
    lines = [json.dumps({"card": card.model_dump(mode="json")}, ensure_ascii=False, sort_keys=True)]
    lines += [
        json.dumps({"item": item, "reply": replies[item]}, ensure_ascii=False) for item in sorted(replies)
    ]
    data = ("\n".join(lines) + "\n").encode()
    return write_whole(folder / f"{card.team}--{card.model}--{sha256(data)[:12]}.jsonl", data)


def sign_submission(path: Path, key: Ed25519PrivateKey, now: datetime | None = None) -> Signature:
    """Signs a file as `write_submission` writes it, in place of any signature it has.

    Raises:
        UsageError: As `read_submission`.
    """
    read_submission(path)
    body, _ = _parted(_data(path))
    signature = sign(key, sha256(body), now or datetime.now(UTC))
    write_whole(path, body + json.dumps({"signature": signature.model_dump()}).encode() + b"\n")
    return signature


def _parted(data: bytes) -> tuple[bytes, bytes]:
    """A file without its signature, ending in a line break, and the line of that; empty where it has none."""
    whole = data.rstrip()
    body, _, last = whole.rpartition(b"\n")
    return (body + b"\n", last) if last.lstrip().startswith(b'{"signature"') else (whole + b"\n", b"")


def _replies(path: Path, lines: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, str]:
    replies: dict[str, str] = {}
    for number, line in lines:
        where = f"{path}, line {number}"
        item, reply = (one := validate(line, _Reply, where)).item, one.reply
        if item in replies:
            raise UsageError(f"{where}: {item[:80]!r} is answered twice: leave one answer")
        size = len(reply.encode("utf-8", "surrogatepass"))
        if size > REPLY_BYTES:
            raise UsageError(
                f"{where}: the reply to {item[:80]!r} has {size:,} bytes; at most {REPLY_BYTES:,} are taken"
            )
        replies[item] = reply
    return replies


def _data(path: Path, most: int = -1, opener: Callable[[str, int], int] | None = None) -> bytes:
    """Its bytes, up to so many if not negative."""
    try:
        with open(path, "rb", opener=opener) as file:
            return file.read(most)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error
    except MemoryError as error:
        raise UsageError(f"{path} is too large for this machine's memory") from error


def _bounded(path: Path, lines: int) -> bytes:
    """A file of at most so many lines; those that others drop may be endless."""
    data = _data(path, lines * _LINE_BYTES + 1, regular)
    if len(data) > lines * _LINE_BYTES or data.count(b"\n") > lines:
        raise UsageError(f"{path} is too large: one line an item and two more are taken")
    return data


def _lines(data: bytes, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(BytesIO(data), 1):
        if line.strip():
            yield number, _object(line, f"{path}, line {number}")


def _object(line: bytes, where: str) -> dict[str, Any]:
    if len(line) > _LINE_BYTES:
        raise UsageError(f"{where}: longer than {_LINE_BYTES:,} bytes")
    try:
        return json_object(line, _no_constant)
    except RecordRejected as error:
        raise UsageError(f"{where}: {error.detail}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
