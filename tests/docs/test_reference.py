"""The reference pages say what the code says."""

from __future__ import annotations

from mihakk.machinery.settings import Settings
from mihakk.schemas.benchmark import BenchmarkConfig, ReviewConfig
from tools.docs_map import PAGE, page
from tools.docs_reference import commands, configs


def test_every_command_and_option_is_in_the_reference() -> None:
    page = commands()
    for told in ("## mihakk build", "## mihakk review pull", "`--dry-run`", "`--audit-limit`"):
        assert told in page


def test_every_key_and_variable_is_in_the_reference() -> None:
    page = configs()
    for name in (*BenchmarkConfig.model_fields, *ReviewConfig.model_fields):
        assert f"| `{name}` |" in page
    for name in Settings.model_fields:
        assert f"| `MIHAKK_{name.upper()}` |" in page
    assert "Take only the first so many records." in page, "descriptions are the attribute docstrings"
    assert str(__file__).split("/tests/", maxsplit=1)[0] not in page, "no path of this machine"


def test_the_map_of_the_code_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.docs_map`"
