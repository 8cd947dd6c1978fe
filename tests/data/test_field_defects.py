"""The set of stated defects: each is cited by number and date, pinned, and fetched with its digest compared."""

from __future__ import annotations

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError

import pytest
import yaml

from performance import field_defects
from performance.field_defects import PINS, SET, fetch, lines, named

DEFECTS: list[dict[str, Any]] = yaml.safe_load(SET.read_text("utf-8"))


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one["name"])
def test_a_defect_is_cited_by_date_and_its_file_is_pinned(defect: dict[str, Any]) -> None:
    assert re.search(r"\(20\d\d-\d\d-\d\d\)", defect["says"])
    assert defect["rows"]
    if "panel" not in defect:
        assert re.fullmatch(r"[0-9a-f]{40}", defect["file"]["commit"])
        assert re.search(rf"^[0-9a-f]{{64}}  {defect['name']}/", PINS.read_text("utf-8"), re.MULTILINE)


def test_rows_are_named_by_line_value_pattern_and_what_they_lack() -> None:
    rows = [{"q": "a", "o": ["x", "y"], "g": "x"}, {"q": "b spoof", "o": ["x"], "g": "z"}]
    assert named(rows, {"lines": [2]}) == {1}
    assert named(rows, {"lines": "all"}) == {0, 1}
    assert named(rows, {"column": "q", "values": ["a"]}) == {0}
    assert named(rows, {"matches": "spo+f"}) == {1}
    assert named(rows, {"column": "g", "not_in": "o"}) == {1}


def test_a_file_is_fetched_at_its_commit_and_one_with_other_bytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789" * 4
    place = tmp_path / "served" / "owner" / "set" / commit
    place.mkdir(parents=True)
    rows = [
        {"q": f"What is {n} and {n}?", "o": [str(n), str(2 * n), "0"], "g": "7" if n == 3 else str(2 * n)}
        for n in range(2, 9)
    ]
    (place / "set.jsonl").write_text("".join(f"{row}\n".replace("'", '"') for row in rows), "utf-8")
    told = {"repository": "owner/set", "commit": commit, "path": "set.jsonl"}
    defect = {
        "name": "sums",
        "says": "issue owner/set#1 (2026-01-01): row 2",
        "kind": "wrong gold",
        "file": told,
    }
    defect |= {"language": "en", "map": "question=q,choices=o,gold=g,gold_as=text", "rows": {"lines": [2]}}
    monkeypatch.setattr(field_defects, "PINS", tmp_path / "pins")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "served")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(field_defects, "FILES", f"http://127.0.0.1:{server.server_port}")
        fetch([defect], tmp_path / "files")
        (tmp_path / "pins").write_text(f"{'0' * 64}  sums/set.jsonl\n", "utf-8")
        with pytest.raises(SystemExit, match=r"sums/set\.jsonl is not what it was"):
            fetch([defect], tmp_path / "files")
        with pytest.raises(HTTPError, match="404"):
            fetch([{**defect, "file": {**told, "commit": "f" * 40}}], tmp_path / "files")
        server.shutdown()
    *_, line = lines([defect, {**defect, "name": "absent"}], tmp_path / "files", "", 5)
    assert "not here" in line
    (_, _, line) = lines([defect], tmp_path / "files", "", 5)
    assert (
        line
        == "| sums | issue owner/set#1 (2026-01-01) | wrong gold | 1 | 1 | 0 | 0 | 1 of 1 | 0.0% of 6 | no answers | not asked |"
    )
