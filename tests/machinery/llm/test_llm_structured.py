"""Only one closed JSON object is a reply."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.llm.structured import compact, parse_object


@pytest.mark.parametrize(
    ("text", "finish", "problem"),
    [
        ('{"n":1', "stop", "not one JSON object"),
        ('{"n":1}', "length", "cut off"),
        ('```json\n{"n":1}\n```', "stop", "code fence"),
        ('{"n":1} I hope this helps', "stop", "not one JSON object"),
        ('Here it is: {"n":1}', "stop", "not one JSON object"),
        ('{"n":1}{"n":1}', "stop", "not one JSON object"),
        ('{"n":1,"n":2}', "stop", "'n' is given twice"),
        ('{"a":{"n":1,"n":1}}', "stop", "'n' is given twice"),
        ("[1]", "stop", "not a JSON object"),
        ("1", "stop", "not a JSON object"),
        ("null", "stop", "not a JSON object"),
        ('{"n":NaN}', "stop", "not one JSON object"),
        ("{'n':1}", "stop", "not one JSON object"),
        ('{"n":1,}', "stop", "not one JSON object"),
        ("", "stop", "empty"),
        ("  \n ", "stop", "empty"),
    ],
)
def test_what_is_no_reply(text: str, finish: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_object(text, finish)


@pytest.mark.parametrize("text", ['{"n":1}', ' {"n": 1}\n', '{\n  "n": 1\n}', '{"n":1,"m":{"n":2}}'])
def test_what_is_a_reply(text: str) -> None:
    assert parse_object(text, "stop")["n"] == 1


@given(st.text(max_size=200))
def test_any_text_parses_or_is_refused(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(parse_object(text, "stop"), dict)


def test_the_embedded_server_gets_the_schema_as_a_grammar_without_padding() -> None:
    body = {
        "model": "m",
        "temperature": 0.0,
        "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}},
    }
    sent = compact(body)
    assert "response_format" not in sent
    assert sent["grammar"].startswith("%llguidance {}\nstart: %json {")
    assert '"whitespace_flexible":false' in sent["grammar"]
    assert sent["temperature"] == 0.0
