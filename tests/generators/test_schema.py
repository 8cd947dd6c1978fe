"""Reply schemas as they are sent."""

from __future__ import annotations

from mihakk.generators.parts.prose import Prose
from mihakk.generators.parts.roles import Relabelled
from mihakk.generators.poems.fragment_cued import Salient
from mihakk.generators.writing.writer import WriteRequest, json_schema
from mihakk.schemas.record import Language


def request(language: Language, *choices: str) -> WriteRequest:
    return WriteRequest("r", "n", "1", language, "s", "u", choices)


def test_prose_is_held_to_the_script_where_there_is_one() -> None:
    assert json_schema(Prose, request("fa")) == {
        "type": "object",
        "properties": {
            "prose": {
                "type": "string",
                "description": "The couplet in plain prose, in its own language.",
                "pattern": "^[\\u0600-\\u06ff\\u200c .,:;!()«»-]+$",
            }
        },
        "required": ["prose"],
        "additionalProperties": False,
        "description": "The reply asked for.",
    }
    assert "pattern" not in json_schema(Prose, request("en"))["properties"]["prose"]


def test_chosen_words_are_an_enumeration() -> None:
    schema = json_schema(Salient, request("fa", "یار", "دوست"))
    assert [field["enum"] for field in schema["properties"].values()] == [["یار", "دوست"]] * 2


def test_every_object_is_closed_and_every_key_required() -> None:
    schema = json_schema(Relabelled, request("ar"))
    objects = [schema, *schema["$defs"].values()]
    assert len(objects) == 3
    for one in objects:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert schema["properties"]["changed"]["maxItems"] == 1
    assert "x-prose" not in str(schema)
