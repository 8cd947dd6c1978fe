"""Writes the reference pages that are taken from the code: command line, and configs with settings."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import typing
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from mihakk.flows.cli import app
from mihakk.machinery.settings import ROOT, Settings
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.model import AuditorsConfig
from mihakk.schemas.suite import Suite, System

FOLDER = ROOT / "docs" / "reference"


def commands() -> str:
    """Every command with its arguments and options, as the command line itself tells them."""
    lines = [
        "# Command line",
        "",
        "Taken from the commands themselves; `mihakk COMMAND --help` says the same.",
        "",
    ]
    group: Any = typer.main.get_command(app)
    for path, command in sorted(_leaves(group, ("mihakk",))):
        lines += [f"## {' '.join(path)}", "", _paragraphs(command.help or ""), ""]
        rows = [_parameter(one) for one in command.params if not getattr(one, "hidden", False)]
        if rows:
            lines += ["| name | default | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _leaves(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [leaf for name, one in command.commands.items() for leaf in _leaves(one, (*path, name))]


def _parameter(one: Any) -> str:
    if one.param_type_name == "argument":
        names = f"`{(one.metavar or one.name.upper()).strip('[]')}`"
    else:
        names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
    default = one.default if not callable(one.default) else None
    shown = "" if default in (None, "", False, ()) or one.required else f"`{default}`"
    needed = "required" if one.required else shown
    return f"| {names} | {needed} | {_cell(getattr(one, 'help', '') or '')} |"


def configs() -> str:
    """Every field of the configs and settings, as the models declare them."""
    lines = [
        "# Configs and settings",
        "",
        "An unknown key is an error, and the message names the nearest one.",
        "",
        "## Benchmark: `configs/benchmarks/*.yaml`",
        "",
    ]
    seen: set[type[BaseModel]] = set()
    for root, title in (
        (BenchmarkConfig, ""),
        (AuditorsConfig, "## Auditors: `configs/auditors/*.yaml`"),
        (Suite, "## Suite of an evaluation: `configs/suites/*.yaml`"),
        (System, "## System under evaluation: `configs/models/*.yaml`"),
    ):
        lines += [title, ""] if title else []
        lines += _models(root, seen)
    lines += ["## Settings: the environment", "", "| variable | default | meaning |", "|---|---|---|"]
    meanings = _meanings(Settings)
    for name, field in Settings.model_fields.items():
        value = field.get_default(call_default_factory=True)
        shown = str(value).replace(str(ROOT) + "/", "") if value not in (None, "") else ""
        about = _cell(meanings.get(name, ""))
        lines.append(f"| `MIHAKK_{name.upper()}` | {f'`{shown}`' if shown else ''} | {about} |")
    return "\n".join([*lines, ""])


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Fields to the strings that stand below them in the source.

    Pydantic can read them too (`use_attribute_docstrings`), at each start, for a fifth of all imports' time.
    """
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each.__module__.startswith("mihakk."):
            (made,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
            for field, after in pairwise(made.body if isinstance(made, ast.ClassDef) else ()):
                match field, after:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(said))):
                        found[name] = inspect.cleandoc(said)
    return found


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> list[str]:
    if model in seen:
        return []
    seen.add(model)
    said = (model.__doc__ or "").strip().splitlines()
    lines = [
        f"### {model.__name__}",
        "",
        said[0] if said else "",
        "",
        "| key | type | default | meaning |",
        "|---|---|---|---|",
    ]
    inner: list[type[BaseModel]] = []
    meanings = _meanings(model)
    for name, field in model.model_fields.items():
        inner += [one for one in _inside(field.annotation) if one not in inner]
        default = field.get_default(call_default_factory=True)
        if field.is_required() or default is PydanticUndefined:
            shown = "required"
        else:
            shown = "its own defaults" if isinstance(default, BaseModel) else f"`{_plain(default)}`"
        lines.append(f"| `{name}` | {_type(field.annotation)} | {shown} | {_cell(meanings.get(name, ''))} |")
    lines.append("")
    for one in inner:
        lines += _models(one, seen)
    return lines


def _inside(annotation: Any) -> list[type[BaseModel]]:
    """Models that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [one for part in typing.get_args(annotation) for one in _inside(part)]


def _type(annotation: Any) -> str:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{arg}`" for arg in args)
    if origin is typing.Annotated:
        return _type(args[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(arg) for arg in args)
    if origin is tuple:
        return "list of " + _type(args[0])
    if origin is dict:
        return f"map of {_type(args[0])} to {_type(args[1])}"
    if annotation is type(None):
        return "nothing"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return str(getattr(annotation, "__name__", annotation))


def _plain(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(str, value)) + "]"
    if isinstance(value, dict):
        return "{}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value) or '""'


def _paragraphs(text: str) -> str:
    return text.replace("\x0c", "").replace("[bold]", "**").replace("[/]", "**").strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write(folder: Path) -> list[Path]:
    """Writes the pages and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, page in (("cli", commands()), ("config", configs())):
        path = folder / f"{name}.md"
        path.write_text(page.rstrip() + "\n", encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    for made in write(FOLDER):
        print(made.relative_to(ROOT))
