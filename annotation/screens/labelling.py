"""Labelling templates: the screen an annotator works on and the instructions beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import pack, stand_in
from mihakk.schemas.record import Language

TEMPLATES = Path(__file__).parent / "templates"
MAX_OPTIONS = 10
"""Options with a field of their own; further ones are shown, but can't be corrected one by one."""

MAX_ROWS = 24
"""Verses with a row of their own in the form; a longer poem's share a box, one a line."""

DIRECTION: dict[Language, str] = {
    language: pack(language).direction for language in load_yaml(TEMPLATES / "common.yaml", own=True)
}
"""Languages that screens speak; texts of others stand on English ones."""


@dataclass(frozen=True)
class Labelling:
    """One kind of question to people, in one language of the screen."""

    name: str
    """Folder in `annotation/screens/templates/`; also the `project` of the decisions that come back."""
    title: str
    config: str
    """Label Studio labelling config, XML."""
    instructions: str
    """HTML in the screen's language."""


def template_names() -> list[str]:
    """Names of all templates, sorted."""
    return sorted(path.parent.name for path in TEMPLATES.glob("*/config.xml.j2"))


@cache
def labelling(name: str, screen: Language = "ar", *, skips: bool = True) -> Labelling:
    """The template of that name in the language of the screen; `UsageError` where there is none.

    Without `skips` the reasons to skip are hidden; the control stays, for the server refuses a config without
    a control that answers were given in.
    """
    folder = TEMPLATES / name
    if not (folder / "config.xml.j2").is_file():
        raise UsageError(f"there is no review template {name!r}; choose one of {', '.join(template_names())}")
    screen = stand_in(screen, DIRECTION)
    labels = words(name, screen)
    config = _compiled(name).render(
        t=labels,
        direction=DIRECTION[screen],
        max_options=MAX_OPTIONS,
        max_rows=MAX_ROWS,
        skips=skips,
    )
    return Labelling(name, labels["title"], config, _instructions(labels, screen))


@cache
def words(name: str, screen: Language) -> dict[str, Any]:
    """What the annotator reads on that template's screen, by key of `words.yaml` and `common.yaml`."""
    common, own = (
        load_yaml(path, own=True)[stand_in(screen, DIRECTION)]
        for path in (TEMPLATES / "common.yaml", TEMPLATES / name / "words.yaml")
    )
    return {**common, **own}


def value_words(
    labels: Mapping[str, Any], control: str, value: str, typed: Callable[[str], str] = str
) -> str:
    """What a screen calls a stored answer, after the name of its control where the screen has one.

    The answer is one or several aliases, joined by commas, or what was typed, which `typed` writes.
    """
    aliases = value.split(",")
    groups = [one for one in labels.values() if isinstance(one, dict) and one.keys() >= set(aliases)]
    shown = ", ".join(str(groups[0][alias]) for alias in aliases) if groups else typed(value)
    names = labels.get("names", {})
    if (of := control.removeprefix("right_")) in names:
        name = names[of] if of == control else f"{names[of]} ({labels['instead']})"
        return f"{name}: {shown}"
    return shown


def _compiled(name: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader([TEMPLATES / name, TEMPLATES]), undefined=StrictUndefined, autoescape=True
    )
    return environment.get_template("config.xml.j2")


def _instructions(labels: dict[str, Any], screen: Language) -> str:
    return (
        f'<section dir="{DIRECTION[screen]}" lang="{screen}">\n{labels["instructions"].strip()}\n</section>'
    )
