"""Typed YAML files: an unknown key is an error that names the nearest known one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import orjson
import yaml
from pydantic import BaseModel, ValidationError

from mihakk.machinery.errors import UsageError, nearest, no_file

M = TypeVar("M", bound=BaseModel)


OPEN_QUESTION = "?"
"""Value of a key that `mihakk new` could not tell and nobody has answered."""
_VALUES = 100_000
"""More than any config has."""
_HALF = re.compile("[\ud800-\udfff]")


class _Loader(yaml.SafeLoader):
    """YAML whose only truth values are `true` and `false`: `off: [TX21]` names a key, not `False`.

    Not parsed in C: brackets nested a hundred thousand times end that process.
    """


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


class _OwnLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same in C, for files of this project."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def load_yaml(path: Path, *, own: bool = False) -> Any:
    """The file's content.

    Args:
        path: The file.
        own: It is one of this project's, whose nesting is known.

    Raises:
        UsageError: The file is missing or is not YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise no_file(path) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8, or name another file"
        ) from error
    except OSError as error:
        raise UsageError(f"{path} can't be read ({error.strerror}); name a YAML file") from error
    try:
        # A safe loader all the same: only what counts as a truth value differs.
        found = yaml.load(text, Loader=_OwnLoader if own else _Loader)  # nosec B506
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        # A date, number or truth value that is none: PyYAML checks its tags (`!!int`) and not their texts.
        raise UsageError(f"{path} is not YAML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deeply; no config needs more than ten levels") from error
    if strange := not_plain(found):
        raise UsageError(f"{path} holds {strange}")
    return found


def not_plain(value: Any) -> str:
    """What YAML or JSON can hold and our files never do: loops, bytes, half characters; empty if nothing."""
    left = [value]
    for _ in range(_VALUES):
        if not left:
            return ""
        one = left.pop()
        if isinstance(one, str) and _HALF.search(one):
            return "half a character (a surrogate); write it as UTF-8"
        if isinstance(one, bytes | set):
            return f"a value of the kind !!{type(one).__name__}; write plain values"
        if isinstance(one, int) and abs(one) >= 2**63:
            return "a whole number of more than 64 bits"
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            left += one
    return f"more than {_VALUES:,} values, or an alias inside of what it names; write the values themselves"


def load_text(path: Path, name: str) -> str:
    """One text of a JSON file's object.

    Raises:
        UsageError: The file is missing, is not JSON, or its object has no such text.
    """
    try:
        found = orjson.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise no_file(path) from error
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{path} is not JSON: {error}; fetch or make it again") from error
    value = found.get(name) if isinstance(found, dict) else None
    if not isinstance(value, str):
        raise UsageError(f"{path} holds no text {name!r}; fetch or make it again")
    return value


def load_config(path: Path, model: type[M], *, proposed: bool = False) -> M:
    """The file as a validated model.

    Args:
        path: Of the file.
        model: What it must fit.
        proposed: `mihakk new` may have written it, with questions that are open.

    Raises:
        UsageError: The file is missing, is not YAML, asks, or does not fit the model; every misfit is listed.
    """
    found = load_yaml(path)
    if proposed and (asked := list(open_questions(found))):
        raise UsageError(
            f"{path} asks for {', '.join(asked)}: write the answer in place of {OPEN_QUESTION!r}"
        )
    return validate(found, model, str(path), {"file": str(path)})


def open_questions(value: Any, place: str = "") -> Iterator[str]:
    """Where in a config an answer is still to be written."""
    if value == OPEN_QUESTION:
        yield place
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from open_questions(one, f"{place}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from open_questions(one, f"{place}[{number}]")


def validate(value: Any, model: type[M], where: str, context: dict[str, str] | None = None) -> M:
    """Plain data as a model; misfits become one UsageError that lists them all and begins with `where`."""
    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        raise UsageError(f"{where}: {misfits(error, model)}") from error


def misfits(error: ValidationError, model: type[BaseModel]) -> str:
    """Everything that does not fit the model, each with the value given and what it must be."""
    return "; ".join(_explain(dict(misfit), model) for misfit in error.errors(include_url=False))


def _explain(misfit: dict[str, Any], model: type[BaseModel]) -> str:
    place = ".".join(str(step) for step in misfit["loc"])
    if misfit["type"] != "extra_forbidden":
        return _wrong_value(misfit, place, model)
    if misfit["loc"][-1] in GONE:
        return f"{place} is no key any more: leave it out"
    known = sorted(_fields_at(model, misfit["loc"][:-1]))
    return f"unknown key {place!r}; {nearest(str(misfit['loc'][-1]), known, 'known keys:')}"


GONE = ("human_genres", "json_ld_type", "most_overlap", "page_data_root")
"""Keys of older versions that nobody needed to change."""
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "keys with values"),
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
    "too_short": "a list of at least {min_length}",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
}
"""Kinds of pydantic's errors to what the value must be, in words that need no knowledge of pydantic."""


def _wrong_value(misfit: dict[str, Any], place: str, model: type[BaseModel]) -> str:
    if misfit["type"] == "missing":
        return f"{place} is missing"
    wanted = _WANTED.get(misfit["type"])
    if wanted is None:
        return f"{place}: {misfit['msg']}" if place else str(misfit["msg"])
    given = misfit["input"]
    if not place:
        needed = [name for name, field in model.model_fields.items() if field.is_required()]
        found = "it is empty" if given is None else f"it holds {_shown(given)}"
        return f"{found}; it must hold keys with values" + (f", at least {', '.join(needed)}" * bool(needed))
    return f"{place} is {_shown(given)}; it must be {wanted.format(**misfit.get('ctx', {}))}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


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
