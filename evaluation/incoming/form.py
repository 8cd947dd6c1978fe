"""What a format of results is: one module that tells it from others and gives its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mihakk.evaluation.incoming.given import AskedThere, Given, Refused
from mihakk.evaluation.incoming.head import Head
from mihakk.evaluation.incoming.plain import json_object
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.registry import Registry

Records = Iterator[Given | Refused]


@dataclass(frozen=True)
class Form:
    """One format."""

    title: str
    """As messages name it."""
    fits: Callable[[Head], bool]
    """Whether a file that begins like this is one."""
    read: Callable[[Head], Records]
    """Every record, as an answer or as one that is none."""
    rank: int = 0
    """Of several that fit, or of several files of one run, the lowest counts."""


FORMS: Final[Registry[Form]] = Registry("form", "mihakk.evaluation.incoming.forms")


class UnknownForm(UsageError):
    """A file that is no file of results."""


def recognised(path: Path, form: str = "") -> tuple[str, Form, Head]:
    """The format of a file, from the file itself unless `form` names it.

    Raises:
        UnknownForm: It is none that is known.
        UsageError: It can't be read, or there is no format of that name.
    """
    head = Head(path)
    if form:
        return form, FORMS.get(form), head
    fitting = sorted((one.rank, name) for name, one in FORMS if one.fits(head))
    if not fitting:
        told = ", ".join(f"{name} ({one.title})" for name, one in FORMS)
        raise UnknownForm(f"{path} is no file of results that is known: {told}; name its form if it is one")
    name = fitting[0][1]
    return name, FORMS.get(name), head


def of_lines(head: Head, read: Callable[[dict[str, Any], AskedThere], Iterator[Given]]) -> Records:
    """Every line through `read`, which may raise `RecordRejected`."""
    for number, line in head.lines():
        asked = AskedThere(f"line {number}", line)
        try:
            value = json_object(line)
            name = value.get("doc", value)
            asked.item = str(name.get("item") or name.get("id") or "") if isinstance(name, dict) else ""
            yield from read(value, asked)
        except RecordRejected as error:
            yield Refused(asked, "", error)
