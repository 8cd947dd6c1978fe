"""A person's calibration explained: what they answered, what was known, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from mihakk.annotation.screens.labelling import DIRECTION, value_words, words
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.languages import stand_in
from mihakk.schemas.calibration import CalibrationAnswer, Known, Standing
from mihakk.schemas.record import Language

_HERE = Path(__file__).parent


@cache
def calibration_words(language: Language) -> dict[str, Any]:
    """What people read about calibration in that language."""
    return dict(load_yaml(_HERE / "words.yaml", own=True)[stand_in(language, DIRECTION)])


def explanation(known: Known) -> str:
    """Why the known answer is right, in the language of the screen."""
    if known.says:
        return known.says
    return str(calibration_words(known.language)["explain"][known.kind]).format(right=known.right)


def person_page(
    answers: Iterable[CalibrationAnswer],
    known: Iterable[Known],
    standings: Sequence[Standing],
    *,
    refresh: int = 0,
) -> str:
    """The page of one person, HTML; only what is answered is explained.

    A browser loads it again after `refresh` seconds; 0: never.
    """
    asked = {(row.template, row.language, row.round, row.subject): row for row in known}
    given: dict[tuple[str, Language, int], list[dict[str, Any]]] = {}
    for answer in sorted(answers, key=lambda row: row.decided_at, reverse=True):
        row = asked.get((answer.template, answer.language, answer.round, answer.subject))
        if row is not None:
            given.setdefault((answer.template, answer.language, answer.round), []).append(_entry(row, answer))
    blocks = [
        {
            "standing": one,
            "t": calibration_words(one.language),
            "title": words(one.template, one.language)["title"],
            "direction": DIRECTION[one.language],
            "entries": given.get((one.template, one.language, one.round), []),
        }
        for one in sorted(standings, key=lambda one: (one.template, one.language, -one.round))
    ]
    languages: list[Language] = [one.language for one in standings] or ["ar", "fa", "en"]
    empty = [calibration_words(language)["nothing"] for language in languages]
    first = languages[0]
    return _template().render(
        blocks=blocks,
        empty=empty,
        refresh=refresh,
        language=first,
        direction=DIRECTION[first],
        title=calibration_words(first)["page"],
    )


def _entry(known: Known, answer: CalibrationAnswer) -> dict[str, Any]:
    labels = words(known.template, known.language)
    t = calibration_words(known.language)
    return {
        "right": answer.right,
        # Our own markup, in which everything of the item is escaped already.
        "shown": Markup(known.sent["data"]["item_html"]),  # nosec B704
        "you": " · ".join(value_words(labels, name, answer.values.get(name, "–")) for name in known.accepts),
        "wanted": " · ".join(
            f" {t['or']} ".join(dict.fromkeys(value_words(labels, name, value) for value in values))
            for name, values in known.accepts.items()
        ),
        "why": explanation(known),
    }


@cache
def _template() -> Template:
    """The page; what is filled in is escaped."""
    environment = Environment(loader=FileSystemLoader(_HERE), undefined=StrictUndefined, autoescape=True)
    return environment.get_template("page.html.jinja")
