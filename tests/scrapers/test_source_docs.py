"""The example of the documentation is a source that works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import SourceChanged
from mihakk.machinery.settings import ROOT
from mihakk.schemas.idiom import Idiom
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import SOURCES, OpenSource


def test_the_example_in_how_to_add_a_source_runs(tmp_path: Path, raw: RawStore) -> None:
    text = (ROOT / "docs" / "how-to-add-a-source.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    SOURCES.discover()
    scope: dict[str, Any] = {}
    try:
        exec(compile(code, "how-to-add-a-source.md", "exec"), scope)
        source = scope["SOURCE"]
        path = tmp_path / "proverbs.json"
        path.write_text(json.dumps([{"id": 1, "text": "مثل", "meaning": "معناه", "views": 3}]))
        options = scope["TangierOptions"](path=str(path), least_yield=1)
        (idiom,) = OpenSource(source=source, options=options, name=source.name).entries(raw)
        assert isinstance(idiom, Idiom)
        assert idiom.id == "proverbs_of_tangier-1"
        path.write_text(json.dumps([{"id": 1, "text": "مثل", "meaning": "معناه", "mood": "sad"}]))
        with pytest.raises(SourceChanged, match="does not know mood"):
            list(OpenSource(source=source, options=options, name=source.name).entries(raw))
    finally:
        SOURCES._plugins.pop("proverbs_of_tangier", None)
