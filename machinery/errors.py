"""What can go wrong, and what each kind means to the person at the terminal.

    MihakkError
    ├── UsageError        the caller can fix it; the message says how         exit 2
    ├── SourceChanged     a source no longer has the shape its parser knows    exit 1
    ├── Held              a release changes more than may pass unseen          exit 1
    ├── RecordRejected    one record can't go on; it is written beside         (never leaves a stage)
    └── ExternalFailure   a server, disk or network failed; run again later    exit 75

Anything else is a bug and crashes with a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path


class MihakkError(Exception):
    """Base of all errors that are not bugs."""

    exit_code = 1


class MihakkWarning(UserWarning):
    """Something a person has to know although the work goes on; commands print it as one line."""


class UsageError(MihakkError):
    """A mistake in a command, config or input file; the message says how to fix it."""

    exit_code = 2


class SourceChanged(MihakkError):
    """A page no longer matches its parser's shape, or a source yields too little; that source stops."""

    exit_code = 1


class Held(MihakkError):
    """A release waits until a person has seen what it changes and released it."""

    exit_code = 1


class RecordRejected(MihakkError):
    """One record can't go on.

    `reason` is a stable snake_case name for counting, `detail` the evidence.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class ExternalFailure(MihakkError):
    """Something outside failed after retries; nothing done so far is lost and the run can resume."""

    exit_code = 75


NEIGHBOURS = 8


def no_file(path: Path) -> UsageError:
    """The error of a file that was named and is not there, with those of its kind that lie beside it."""
    if not path.parent.is_dir():
        fix = f"nor a folder {path.parent}; relative paths begin at {Path.cwd()}"
    elif beside := sorted(str(other) for other in path.parent.glob(f"*{path.suffix}") if other.is_file()):
        more = f" and {len(beside) - NEIGHBOURS} more" if len(beside) > NEIGHBOURS else ""
        fix = f"there are: {', '.join(beside[:NEIGHBOURS])}{more}"
    else:
        fix = f"nothing of its kind lies in {path.parent.resolve()}; name another path"
    return UsageError(f"there is no file {path}: {fix}")


def nearest(name: str, known: Sequence[str], label: str) -> str:
    """The end of a message about an unknown name: the one meant, else all known ones after a label."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"{label} {', '.join(known)}"
