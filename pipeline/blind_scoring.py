"""Scores a blind release on the private side: opens the golds, scores files, writes the public board."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import orjson
from filelock import FileLock, Timeout

from mihakk.evaluation.blind.board import Board
from mihakk.evaluation.blind.submission import Submission, read_submission
from mihakk.evaluation.questions import MANIFEST, question_of_row, release_name
from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.settings import settings
from mihakk.machinery.whole import write_whole
from mihakk.releases.content.blind import (
    SPLIT,
    answers_folder,
    find_answers,
    opened_rows,
    read_answers,
    require_own_secret,
)
from mihakk.releases.content.secret import blind_key, keyed
from mihakk.releases.content.split import set_of
from mihakk.releases.hub.load import named_folder
from mihakk.schemas.blind import BlindBoard, BlindReply, FinalFigure

BOARD_FILE = "board.json"
FINAL_FILE = "final.json"
INBOXES = "inboxes.json"
"""In the season's private folder: where its runs found files, for its end."""
SCORED, REFUSED = "scored", "refused"
_WAIT = 3600
"""Seconds that a run waits for another: a file of 2,000 long replies takes minutes."""
_REASON = 2000
"""Characters of a reason for refusal: a card with thousands of unknown fields gets one each."""
_NAME_BYTES = 160
"""Longest name that a file keeps when it is filed away, without its ending; `submit` makes none longer."""


class Received(NamedTuple):
    """What became of one file."""

    path: Path
    reply: BlindReply | None
    refused: str
    """Why it was not scored; empty where it was."""

    @property
    def shown(self) -> Path:
        """The path as any terminal and page can show it: teams choose the file's name."""
        return Path(printable(str(self.path)))


def printable(text: str) -> str:
    """A text without what a terminal obeys or nobody can encode."""
    text = text.encode(errors="backslashreplace").decode()
    return "".join(letter if letter.isprintable() else " " for letter in text)


def open_board(config: Path, store: Path) -> Board:
    """The board of a YAML file, with the golds of its release.

    Args:
        config: A `BlindBoard`.
        store: The private folder of keys and logs; each board has its own in it.

    Raises:
        UsageError: The config does not fit, or the golds can't be opened here.
        ExternalFailure: The answers do not fit the questions.
    """
    board = load_config(config, BlindBoard)
    folder, name = named_folder(board.release)
    name = name or release_name(folder)
    answers = read_answers(find_answers(_answers_folder(board, folder)), answers_identity())
    require_own_secret(folder, answers, blind_key())
    digest = sha256((folder / MANIFEST).read_bytes())
    opened = [(part, row) for part, split, row in opened_rows(folder, answers) if split == SPLIT]
    questions = {
        row["id"]: question_of_row(row, release=name, digest=digest, config=part) for part, row in opened
    }
    sets = {
        row["id"]: of for _, row in opened if (of := set_of(row["option_kinds"], row["origin"]["records"]))
    }
    return Board(board, questions, store, partial(keyed, blind_key()), sets)


def score_files(
    board: Board,
    files: Sequence[Path],
    public: Path,
    scored: Callable[[Received], None] = lambda _: None,
    *,
    resume: bool = False,
) -> list[Received]:
    """Scores files one after the other and writes the public board; a file that is refused stops no other.

    All count as of the time at which the run begins: one that takes long to read makes none come too late.

    Args:
        board: The board.
        files: As `mihakk evaluate submit` writes them.
        public: Folder for `board.json` and `log.jsonl`: aggregates that were told, and nothing else.
        scored: Called after each file.
        resume: A file that the log has already gets its reply again, as a run may have been killed after it
            scored the file; elsewhere it is refused.

    Raises:
        ExternalFailure: Another run has been scoring this board's files for an hour.
    """
    with _alone(board):
        return _score_files(board, dict.fromkeys(files), public, scored, resume=resume)


@contextmanager
def _alone(board: Board) -> Iterator[None]:
    """One run at a time, so that times in the log follow each other though a run has but one."""
    try:
        held = FileLock(board.folder / "inbox.lock", timeout=_WAIT).acquire()
    except Timeout as error:
        raise ExternalFailure(
            f"{board.config.name}: another run scores its files: run again when it is done"
        ) from error
    with held:
        yield


def _score_files(
    board: Board,
    files: Mapping[Path, datetime | None],
    public: Path,
    scored: Callable[[Received], None],
    *,
    resume: bool,
) -> list[Received]:
    """As `score_files`, of files and when each came in; None of one that counts as of now."""
    began = datetime.now(UTC)
    check_public(board, public)
    public.mkdir(parents=True, exist_ok=True)
    found = []

    def vouched(sent: Submission, arrived: datetime | None) -> None:
        if not (resume and board.again(sent)):
            board.check_key(sent, began, arrived)

    for path, arrived in files.items():
        try:
            sent = read_submission(path, len(board.questions), partial(vouched, arrived=arrived))
            before = board.again(sent) if resume else None
            if before is not None and before.reply is None:
                raise UsageError(before.refused)
            reply = before.reply if before else board.receive(sent, now=began, arrived=arrived)
            received = Received(path, reply, "")
        except UsageError as error:
            # It is sent back to the team, whom the owner's folders do not concern.
            said = printable(str(error).replace(str(path), path.name))
            received = Received(path, None, said if len(said) <= _REASON else f"{said[:_REASON]} …")
        found.append(received)
        scored(received)
    write_board(board, public)
    return found


def score_inbox(board: Board, inbox: Path, public: Path) -> list[Received]:
    """Scores every file dropped into a folder, the oldest first, and files it away with what is told of it.

    A file counts as of when it came in, as the file system says, however long others took to read.

    A scored file goes to `scored/` with its reply as `.json` beside, a refused one to `refused/` with the
    reason as `.txt`; names that are long or hold what nobody sees are replaced by a digest. A run that was
    killed leaves its file in the inbox; the file gets the same reply again, as does one that can't be moved.

    Args:
        board: The board.
        inbox: Files end in `.jsonl`; those whose name begins with a dot are still being written.
        public: As for `score_files`.

    Raises:
        UsageError: What stands where files are filed away is no folder of the inbox.
        ExternalFailure: Another run has been scoring this board's files for an hour.
    """
    with _alone(board):
        _note_inbox(board, inbox)
        return _score_inbox(board, inbox, public)


def _inboxes(board: Board) -> list[Path]:
    """The inboxes that the season's runs were given."""
    noted = board.folder / INBOXES
    return [Path(one) for one in orjson.loads(noted.read_bytes())] if noted.is_file() else []


def _note_inbox(board: Board, inbox: Path) -> None:
    known = _inboxes(board)
    if inbox.resolve() not in known:
        _write(board.folder / INBOXES, [*map(str, known), str(inbox.resolve())])


def _score_inbox(board: Board, inbox: Path, public: Path) -> list[Received]:
    if not inbox.is_dir():
        raise UsageError(
            f"the inbox {inbox} is not there: put it back, so that no file in it is missed; an empty folder "
            "will do if there was none"
        )
    for name in (SCORED, REFUSED):
        place = inbox / name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise UsageError(
                f"{place} is no folder of the inbox, and teams' files are filed away there: take it away"
            )
        # Nobody else decides where files go. Where nothing can be made here, each is said to stay.
        with suppress(OSError):
            place.mkdir(exist_ok=True)
    files = []
    for path in inbox.glob("*.jsonl"):
        with suppress(FileNotFoundError):  # a team took it back
            if not path.name.startswith("."):
                # Teams can choose a file's time of writing, not that of its last change here.
                files.append((path.lstat().st_ctime, path.name, path))

    def file_away(received: Received) -> None:
        try:
            moved(received)
        except OSError as error:
            warnings.warn(f"{received.path!r} stays in the inbox: {error}", MihakkWarning, stacklevel=2)

    def moved(received: Received) -> None:
        place = inbox / (REFUSED if received.reply is None else SCORED)
        given, number = received.path.stem, 1
        if len(os.fsencode(given)) > _NAME_BYTES or not given.isprintable():
            given = sha256(os.fsencode(given))[:16]
        stem = given
        while (place / f"{stem}.jsonl").exists():  # a file of another team may have the same name
            number += 1
            stem = f"{given}-{number}"
        if received.reply is None:
            write_whole(place / f"{stem}.txt", f"{received.refused}\n".encode())
        else:
            _write(place / f"{stem}.json", received.reply.model_dump(mode="json"))
        received.path.rename(place / f"{stem}.jsonl")

    oldest_first = {path: datetime.fromtimestamp(at, UTC) for at, _, path in sorted(files)}
    return _score_files(board, oldest_first, public, file_away, resume=True)


def check_public(board: Board, public: Path) -> None:
    """Refuses a folder in which nothing of this season can be published, before anything is scored.

    Raises:
        UsageError: It lies in the private one or holds it, what is no file stands where one would be written,
            or the log in it is not how this season's begins.
    """
    inner, outer = public.resolve(), board.store.resolve()
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        raise UsageError(f"{public} and the private {board.store}: one lies in the other; publish elsewhere")
    for name in (BOARD_FILE, board.log.path.name, FINAL_FILE):
        if (public / name).exists() and not (public / name).is_file():
            raise UsageError(f"{public / name} is no file, and one is published there: move it away")
    there, own = public / board.log.path.name, board.log.path
    told = there.read_bytes() if there.is_file() else b""
    if not (own.read_bytes() if own.is_file() else b"").startswith(told):
        raise UsageError(
            f"{there} is not how {own} begins: it is another season's, which needs its own folder, or the "
            "private log was cut or written anew, and has to be put back from the published one"
        )


def write_board(board: Board, public: Path) -> Path:
    """Writes the public board and the log it rests on; final figures of a closed season lie beside them."""
    path = _write(public / BOARD_FILE, board.standing())
    if board.log.path.is_file():
        write_whole(public / board.log.path.name, board.log.path.read_bytes())
    return path


def close_season(board: Board, public: Path) -> list[FinalFigure]:
    """Tells the final figures and publishes them, with the gap between the halves.

    What still waits in an inbox that the season's runs were given is scored before.

    Raises:
        UsageError: The season is not over, or one of its inboxes is not there.
        ExternalFailure: Another run has been scoring this board's files for an hour.
    """
    check_public(board, public)
    with _alone(board):
        for inbox in _inboxes(board):
            _score_inbox(board, inbox, public)
        finals = board.close()
    write_board(board, public)
    _write(public / FINAL_FILE, [one.model_dump(mode="json") for one in finals])
    return finals


def _answers_folder(board: BlindBoard, folder: Path) -> Path:
    if board.answers:
        return named_folder(board.answers)[0]
    if (folder / "answers").is_dir():
        return folder
    if answers_folder(folder).is_dir():
        return answers_folder(folder)
    name, mark, version = board.release.rpartition("@")
    if not mark:
        raise UsageError(f"{board.name}: name the folder or release with the golds in `answers`")
    return named_folder(f"{name}-answers@{version}")[0]


def answers_identity() -> str:
    """The age secret key that encrypted golds are opened with; empty where none is set."""
    path = settings().answers_identity_file
    if path is None:
        return ""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"MIHAKK_ANSWERS_IDENTITY_FILE can't be read: {error}") from error
    keys = [line.strip() for line in lines if line.startswith("AGE-SECRET-KEY-")]
    if len(keys) != 1:
        raise UsageError(f"MIHAKK_ANSWERS_IDENTITY_FILE holds {len(keys)} age secret keys; it must hold one")
    return keys[0]


def _write(path: Path, value: object) -> Path:
    return write_whole(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
