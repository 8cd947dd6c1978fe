"""Runs the notebooks of the documentation and writes what their cells show: `python -m tools.notebooks`.

A cell's last expression is shown as Jupyter shows it, by `_repr_html_` where it has one. Only the standard
library is needed beside Mihakk, so that a bare installation can run them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from code import InteractiveInterpreter
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "docs" / "notebooks"


class _Cells(InteractiveInterpreter):
    """Runs cells one after the other; a failure ends the run."""

    def showtraceback(self) -> None:
        """Nothing is shown: who runs notebooks sees the failure itself."""
        raise  # noqa: PLE0704 - the failure that `runcode` has just caught

    def shown(self, code: str, number: int) -> list[dict[str, Any]]:
        """What a cell prints and shows, as a notebook keeps it."""
        tree = ast.parse(code)
        values: list[Any] = []
        said, before = io.StringIO(), sys.displayhook
        sys.displayhook = values.append
        try:
            with contextlib.redirect_stdout(said):
                self.runcode(compile(ast.Interactive(tree.body), f"cell {number}", "single"))
        finally:
            sys.displayhook = before
        found: list[dict[str, Any]] = []
        if said.getvalue():
            text = said.getvalue().splitlines(keepends=True)
            found.append({"name": "stdout", "output_type": "stream", "text": text})
        value = values[-1] if values and isinstance(tree.body[-1], ast.Expr) else None
        if value is not None:
            data = {"text/plain": repr(value).splitlines(keepends=True)}
            if hasattr(value, "_repr_html_"):
                data["text/html"] = value._repr_html_().splitlines(keepends=True)
            more = {"execution_count": number, "metadata": {}, "output_type": "execute_result"}
            found.append({"data": data} | more)
        return found


def executed(path: Path) -> dict[str, Any]:
    """The notebook with what its cells show now; it runs in the working folder."""
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    cells = _Cells({"__name__": "__main__"})
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell["execution_count"] = number
            cell["outputs"] = cells.shown("".join(cell["source"]), number)
    return notebook


def written(notebook: dict[str, Any]) -> str:
    """The notebook's file."""
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def main() -> None:
    """Runs the notebooks that are named, or all, each in a folder of its own, and writes them in place."""
    for path in [Path(one).resolve() for one in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        before = Path.cwd()
        with tempfile.TemporaryDirectory(prefix="mihakk-notebook") as folder:
            (Path(folder) / "mihakk.toml").touch()  # lake and hub of the notebook lie beside it
            os.chdir(folder)
            try:
                text = written(executed(path))
            finally:
                os.chdir(before)
        path.write_text(text, encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main()
