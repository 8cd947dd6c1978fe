"""Version numbers and what may move them.

From 1.0.0 on: MAJOR when scores stop being comparable, MINOR for what leaves every scored split as it was,
PATCH for the card and other papers. Below 1.0.0 everything moves one place to the right: a change of scores
moves the middle number, anything else the last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mihakk.machinery.errors import UsageError

Level = Literal["none", "patch", "minor", "major"]

_FORM = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, order=True)
class Version:
    """MAJOR.MINOR.PATCH."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `1.2.3`; anything else is a `UsageError`."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(f"{text!r} is not a version: write MAJOR.MINOR.PATCH, e.g. 0.1.0, or auto")
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def bump(self, level: Level) -> Version:
        """The least version that a change of this level may have."""
        if self.major == 0 and level in ("major", "minor"):
            level = "minor" if level == "major" else "patch"
        match level:
            case "major":
                return Version(self.major + 1, 0, 0)
            case "minor":
                return Version(self.major, self.minor + 1, 0)
            case "patch":
                return Version(self.major, self.minor, self.patch + 1)
            case "none":
                return self


FIRST = Version(0, 1, 0)


def is_version(text: str) -> bool:
    """Whether a text, e.g. a tag, is a version number."""
    return _FORM.fullmatch(text) is not None


def choose(asked: str, previous: Version | None, level: Level) -> Version:
    """The version of a release: the least allowed for `auto`, else the asked one if it is high enough."""
    least = FIRST if previous is None else previous.bump(level)
    if asked == "auto":
        return least
    chosen = Version.parse(asked)
    if previous is not None and chosen < least:
        raise UsageError(
            f"version {chosen} is too low: the changes since {previous} are {level}, which asks for at least "
            f"{least}. Give --version {least} or higher, or --version auto"
        )
    return chosen
