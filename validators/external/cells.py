"""What stands in one cell of a table, whatever library read it."""

from __future__ import annotations

import ast
import json
import math
from typing import Any


def blank(value: Any) -> bool:
    """Nothing there: null, not a number, white space, an empty list."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, (list, tuple, dict)) and not value


def shown(value: Any) -> str:
    """The cell as text; whole numbers without a decimal point, nothing as an empty text."""
    if blank(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def listed(value: Any) -> list[Any] | None:
    """The list in a cell: a list, `{"text": [...]}`, or either written as JSON or Python; else None."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except RecursionError:
            return None
        except ValueError:
            try:
                value = ast.literal_eval(value.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                return None
    if isinstance(value, dict):
        value = value.get("text", list(value.values()))
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else None


def plain(value: Any) -> Any:
    """The cell in plain Python: arrays as lists, library scalars as their own value."""
    return value.tolist() if hasattr(value, "tolist") else value
