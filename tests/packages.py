"""The packages of the project, as its wheel holds them."""

from __future__ import annotations

import tomllib
from typing import Final

from mihakk.settings import ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: Final[tuple[str, ...]] = tuple(_PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
