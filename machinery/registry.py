"""Plugins found by the folder they lie in."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

from mihakk.machinery.errors import UsageError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plugins of one kind (`noun` in messages); modules of `package` register when first imported."""

    def __init__(self, noun: str, package: str) -> None:
        self._noun = noun
        self._package = package
        self._plugins: dict[str, T] = {}
        self._discovered = False

    def add(self, name: str, plugin: T) -> T:
        """Registers a plugin; a name can be taken only once."""
        if name in self._plugins:
            raise ValueError(f"two plugins are named {self._noun} {name!r}")
        self._plugins[name] = plugin
        return plugin

    def discover(self) -> None:
        """Imports every module of the package once; private modules (`_name`) are left alone."""
        if self._discovered:
            return
        package = importlib.import_module(self._package)
        for found in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            if not found.name.rpartition(".")[2].startswith("_"):
                importlib.import_module(found.name)
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

    def __iter__(self) -> Iterator[tuple[str, T]]:
        self.discover()
        return iter(sorted(self._plugins.items()))
