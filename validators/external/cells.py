"""The content of one table cell, whatever library read it."""

import ast
import json
import math
from typing import Any

from mihakk.machinery.errors import RecordRejected


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


def options_in(value: Any) -> list[Any] | None:
    """The options in one cell: a list as `listed` has it, or a text of two lines and more; else None."""
    found = listed(value)
    if found is None and isinstance(value, str):
        lines = [line.strip() for line in value.splitlines() if line.strip()]
        return lines if len(lines) > 1 else None
    return found


def is_dict(cell: Any) -> bool:
    """Whether a cell is a dictionary that is no `{"text": [...]}`, or one in writing."""
    if isinstance(cell, str):
        return cell.lstrip().startswith("{") and '"text"' not in cell and "'text'" not in cell
    return isinstance(cell, dict) and "text" not in cell


def answers_in(value: Any) -> list[str]:
    """The answers in one cell, the first one standing for them: a text, a list, `{"text": [...]}`.

    A text that only begins like a list, and a list of anything but texts, is one answer.
    """
    found = None if is_dict(value) else listed(value)
    if not found or not all(isinstance(one, str) for one in found):
        return [shown(value)]
    return found


def with_answer(value: Any, answer: str) -> Any:
    """The cell with another first answer, written as it was.

    Raises:
        RecordRejected: It is a list written in another way than JSON.
    """
    first, *others = answers_in(value)
    if first == shown(value) and not others:
        return answer
    changed: Any = [answer, *others]
    try:
        whole = json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise RecordRejected("not_one_cell", f"the answers {value[:60]!r} are no JSON") from error
    if isinstance(whole, dict):
        changed = {**whole, "text": changed}
    return json.dumps(changed, ensure_ascii=value.isascii()) if isinstance(value, str) else changed
