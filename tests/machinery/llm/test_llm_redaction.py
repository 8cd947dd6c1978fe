"""A key is taken out of what servers send in any form that reads back to it; other texts stay as they are."""

from __future__ import annotations

import base64
import html
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.llm.redaction import STARS, WITHHELD, Redaction

KEYS = ("sk-ab/cdEF+0123456789==", "sk-proj-Zq81xNotToBe_Seen77-Aa09ZZkL3mN8pQ")
FORMS: dict[str, Callable[[str], str]] = {
    "slashes escaped": lambda key: json.dumps("/" + key).replace("/", "\\/"),
    "JSON escapes": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "JSON escapes in capitals": lambda key: "".join(f"\\u{ord(one):04X}" for one in key),
    "JSON escapes twice": lambda key: json.dumps("".join(f"\\u{ord(one):04x}" for one in key)),
    "some letters escaped": lambda key: "".join(
        f"\\u{ord(one):04x}" if place % 3 else one for place, one in enumerate(key)
    ),
    "decimal entities": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "hexadecimal entities": lambda key: "".join(f"&#x{ord(one):x};" for one in key),
    "named entities": lambda key: html.escape(key.replace("-", "&")).replace("&amp;", "&#45;"),
    "percent": lambda key: quote(key, safe=""),
    "percent throughout": lambda key: "".join(f"%{ord(one):02x}" for one in key),
    "percent twice": lambda key: quote("".join(f"%{ord(one):02x}" for one in key)),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 after one byte": lambda key: base64.b64encode(b":" + key.encode() + b" and").decode(),
    "base64 after two bytes": lambda key: base64.urlsafe_b64encode(b": " + key.encode() + b"x").decode(),
    "base64 in lines": lambda key: base64.encodebytes(b"Authorization: Bearer " + key.encode()).decode(),
    "base64 of JSON escapes": lambda key: base64.b64encode(
        "".join(f"\\u{ord(one):04x}" for one in key).encode()
    ).decode(),
    "base64 twice": lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal with colons": lambda key: key.encode().hex(":").upper(),
    "character codes": lambda key: str([ord(one) for one in key]),
    "backwards": lambda key: key[::-1],
    "capitals": str.upper,
    "two lines": lambda key: f"{key[:8]}\n{key[8:]}",
    "spaced": " ".join,
    "zero-width spaces": "\u200b".join,
    "halves in a sentence": lambda key: f"it began {key[:11]} and ended {key[11:]}",
    "half of it": lambda key: key[:18],
    "two fields": lambda key: json.dumps({"head": key[:13], "tail": key[13:]}),
    "full width": lambda key: "".join(chr(ord(one) + 0xFEE0) for one in key),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", FORMS)
def test_a_key_in_another_form_is_withheld(form: str, key: str) -> None:
    sent = FORMS[form](key)
    left = f"you sent: {sent.replace(key, STARS)}, as I said" if key in sent else WITHHELD
    assert Redaction(key).clean(f"you sent: {sent}, as I said") == left


@pytest.mark.parametrize("key", KEYS)
def test_a_key_in_fields_of_an_object_is_withheld(key: str) -> None:
    parts = {f"part {place}": one for place, one in enumerate(key)}
    assert Redaction(key).clean(json.dumps(parts)) == WITHHELD


@pytest.mark.parametrize("key", KEYS)
def test_a_key_in_pieces_over_the_texts_of_one_reply_is_withheld(key: str) -> None:
    assert Redaction(key).clean_all(key[:9], "", key[9:]) == (WITHHELD, "", WITHHELD)


def test_the_key_itself_gives_way_to_stars_and_the_rest_stays() -> None:
    assert Redaction(KEYS[0]).clean(f"bad key {KEYS[0]}!") == f"bad key {STARS}!"


@given(st.text() | st.text(string.ascii_letters + string.digits + '\\%&#;="{}[]:, \n'))
def test_a_text_without_the_key_stays_as_it_is(text: str) -> None:
    assert all(redaction.clean(text) == text for redaction in MADE)


MADE = tuple(map(Redaction, KEYS))


@pytest.mark.parametrize("key", ["sk-no-key-required", "EMPTY", "not-needed", "ollama", "token-abc123", ""])
def test_words_of_a_key_that_is_none_stay_in_ordinary_sentences(key: str) -> None:
    said = "The token after that is required, no doubt: a list may be empty where it is needed. 1, 2, 3"
    assert Redaction(key).clean(said) == said


def test_random_base64_and_numbers_stay_as_they_are() -> None:
    draw = random.Random(7)
    texts = [base64.b64encode(draw.randbytes(900)).decode() for _ in range(20)]
    texts += [draw.randbytes(500).hex() for _ in range(20)]
    texts += [str([draw.randrange(256) for _ in range(300)]) for _ in range(20)]
    assert [text for text in texts if MADE[0].clean(text) != text] == []
