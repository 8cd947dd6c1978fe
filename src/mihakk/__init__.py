"""Benchmarks of Arabic and Persian poems, idioms and proverbs: built, audited, released, measured by.

What stands in `__all__` is the library's face, under semantic versioning; docs/library.md has examples.
Nothing of it prints; only `build` writes. Everything is imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import mihakk.machinery.telemetry  # noqa: F401 # before any library that would send some

if TYPE_CHECKING:
    from mihakk.library import Audit, audit, build, compare, propose, read_choice, suspects
    from mihakk.machinery import errors
    from mihakk.machinery.prosody import scan as metre
    from mihakk.machinery.text import canonical as normalize
    from mihakk.machinery.text import key, rhyme
    from mihakk.releases.hub.load import load

__all__ = [
    "Audit",
    "audit",
    "build",
    "compare",
    "errors",
    "key",
    "load",
    "metre",
    "normalize",
    "propose",
    "read_choice",
    "rhyme",
    "suspects",
]

_FROM = {
    "errors": ("mihakk.machinery.errors", ""),
    "key": ("mihakk.machinery.text", "key"),
    "load": ("mihakk.releases.hub.load", "load"),
    "metre": ("mihakk.machinery.prosody", "scan"),
    "normalize": ("mihakk.machinery.text", "canonical"),
    "rhyme": ("mihakk.machinery.text", "rhyme"),
}
"""Module and name there; all others are of `mihakk.library`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _FROM.get(name, ("mihakk.library", name))
    found = import_module(module)
    globals()[name] = found = getattr(found, own) if own else found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
