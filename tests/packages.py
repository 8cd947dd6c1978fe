"""The packages of the project, as its wheel holds them."""

from __future__ import annotations

from typing import Final

from mihakk.machinery.settings import PACKAGE, ROOT

PACKAGES: Final = tuple(
    sorted(one.name for one in PACKAGE.iterdir() if (ROOT / one.name / "__init__.py").is_file())
)
"""Folders of the checkout that are packages below `mihakk`."""
