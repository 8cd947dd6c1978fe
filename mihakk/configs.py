"""Typed YAML files: an unknown key is an error that names the nearest known one."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from mihakk.errors import UsageError

M = TypeVar("M", bound=BaseModel)


def load_yaml(path: Path) -> Any:
    """The file's content.

    Raises:
        UsageError: The file is missing or is not YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        beside = sorted(str(other) for other in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
        hint = f" There are: {', '.join(beside)}." if beside else ""
        raise UsageError(f"there is no file {path}.{hint}") from error
    except (UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} can't be read: {error}") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is not YAML: {error}") from error


def load_config(path: Path, model: type[M]) -> M:
    """The file as a validated model.

    Raises:
        UsageError: The file is missing, is not YAML, or does not fit the model; every misfit is listed.
    """
    return validate(load_yaml(path), model, str(path))


def validate(value: Any, model: type[M], where: str) -> M:
    """`value` as a model; misfits become one UsageError that lists them all.

    Args:
        value: Plain data.
        model: What it should be.
        where: Name of the file or option, for the message.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        misfits = [_explain(dict(misfit), model) for misfit in error.errors(include_url=False)]
        raise UsageError(f"{where}: " + "; ".join(misfits)) from error


def _explain(misfit: dict[str, Any], model: type[BaseModel]) -> str:
    place = ".".join(str(step) for step in misfit["loc"])
    if misfit["type"] != "extra_forbidden":
        return f"{place}: {misfit['msg']}" if place else str(misfit["msg"])
    known = sorted(_fields_at(model, misfit["loc"][:-1]))
    near = get_close_matches(str(misfit["loc"][-1]), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
    return f"unknown key {place!r}; {hint}"


def _fields_at(model: type[BaseModel], steps: tuple[Any, ...]) -> set[str]:
    """Names of the fields at a place inside the model; those of every nested model met on the way."""
    current: list[type[BaseModel]] = [model]
    for step in steps:
        if isinstance(step, str):
            inner = [m.model_fields[step].annotation for m in current if step in m.model_fields]
            current = [found for annotation in inner for found in _models_in(annotation)] or current
    return {name for m in current for name in m.model_fields}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for arg in getattr(annotation, "__args__", ()) for found in _models_in(arg)]
