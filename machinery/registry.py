"""Plugins found by the folder they lie in, and those that other installed packages bring."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from mihakk.machinery.errors import UsageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plugins of one kind (`noun` in messages); modules of `package` register when first imported.

    So do the modules that installed packages name in the entry-point group `mihakk.<noun>s`.
    """

    def __init__(self, noun: str, package: str) -> None:
        self._noun = noun
        self._package = package
        self._plugins: dict[str, T] = {}
        self._brought: dict[str, str] = {}
        self._discovered = False
        self._loads_others = False

    def add(self, name: str, plugin: T) -> T:
        """Registers a plugin; a name can be taken only once.

        Raises:
            ValueError: The name is taken, or another package's plugin has an attribute of the wrong kind.
        """
        if name in self._plugins:
            raise ValueError(f"two plugins are named {self._noun} {name!r}")
        if self._loads_others and (wrong := misfits(plugin)):
            raise ValueError(f"{name}: {'; '.join(wrong)}")
        self._plugins[name] = plugin
        return plugin

    def discover(self) -> None:
        """Imports every module of the package but private ones (`_name`), then those of other packages, once.

        Raises:
            UsageError: A plugin of another package can't be used; the message names both.
        """
        if self._discovered:
            return
        package = importlib.import_module(self._package)
        for found in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            if not found.name.rpartition(".")[2].startswith("_"):
                importlib.import_module(found.name)
        self._loads_others = True
        for point in installed(self._noun):
            before = set(self._plugins)
            try:
                point.load()
            except Exception as error:
                raise UsageError(
                    f"the {self._noun} {point.name!r} of the package {brought_by(point)} can't be used "
                    f"({type(error).__name__}: {error}): correct, update or uninstall that package"
                ) from error
            self._brought |= dict.fromkeys(set(self._plugins) - before, brought_by(point))
        self._discovered = True

    def get(self, name: str) -> T:
        """The plugin of that name.

        Raises:
            UsageError: No such plugin; the message names the nearest ones.
        """
        self.discover()
        if name not in self._plugins:
            near = get_close_matches(name, self._plugins, n=3, cutoff=0.4) or sorted(self._plugins)
            raise UsageError(f"there is no {self._noun} {name!r}; did you mean {', '.join(near)}?")
        return self._plugins[name]

    def names(self) -> list[str]:
        """All names, sorted."""
        self.discover()
        return sorted(self._plugins)

    def origin(self, name: str) -> str:
        """Package and version that brought a plugin; empty for our own."""
        self.discover()
        return self._brought.get(name, "")

    def __iter__(self) -> Iterator[tuple[str, T]]:
        self.discover()
        return iter(sorted(self._plugins.items()))


def misfits(plugin: Any) -> list[str]:
    """Attributes of a dataclass that are not of the type it declares, each with what it should be."""
    from pydantic import ValidationError

    found = []
    for name, adapter in _declared(type(plugin)).items():  # type: ignore[arg-type]  # types do have a hash
        try:
            adapter.validate_python(getattr(plugin, name))
        except ValidationError as error:
            what = error.errors(include_url=False)[0]
            found.append(f"{name} is {what['input']!r}: {what['msg']}")
    return found


@cache
def _declared(kind: type) -> dict[str, TypeAdapter[Any]]:
    """What validates each attribute of a dataclass."""
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(arbitrary_types_allowed=True, strict=True)
    return {name: TypeAdapter(hint, config=config) for name, hint in get_type_hints(kind).items()}


@cache
def _entry_points() -> Any:
    # Reads a file of every installed package. What it gives differs by Python, but for `select`.
    return entry_points()


def installed(noun: str) -> EntryPoints:
    """What installed packages offer as plugins of a kind."""
    found: EntryPoints = _entry_points().select(group=f"mihakk.{noun}s")
    return found


def brought_by(point: EntryPoint) -> str:
    """Package and version behind an entry point: `mihakk-extra 0.2.0`."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "(unknown)"


def plugin_packages(*nouns: str) -> list[str]:
    """Packages that bring plugins of these kinds: `mihakk-extra 0.2.0 (check, task)`."""
    kinds: dict[str, list[str]] = {}
    for noun in nouns:
        for point in installed(noun):
            kinds.setdefault(brought_by(point), []).append(noun)
    return [f"{package} ({', '.join(dict.fromkeys(of))})" for package, of in sorted(kinds.items())]


def plugin_files(noun: str) -> list[str]:
    """What identifies the installed plugins of a kind: package, version and the digests of its files."""
    return sorted(
        f"{brought_by(point)} {point.value} {point.dist.read_text('RECORD') if point.dist else ''}"
        for point in installed(noun)
    )
