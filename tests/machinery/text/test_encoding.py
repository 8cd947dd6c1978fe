"""Bytes with every kind of declaration, true and false, and mojibake of every kind met."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.text import decode, repair_mojibake

VERSE = "قفا نبك من ذكرى حبيب ومنزل"
PERSIAN = "الا یا ایها الساقی ادر کأسا و ناولها"


@pytest.mark.parametrize(
    ("raw", "header", "encoding", "reason"),
    [
        (VERSE.encode(), None, "utf-8", "strict"),
        (VERSE.encode(), "UTF-8", "utf-8", "header"),
        (VERSE.encode("cp1256"), None, "cp1256", "fallback"),
        (VERSE.encode("cp1256"), "windows-1256", "cp1256", "header"),
        (VERSE.encode("iso-8859-6"), "ISO-8859-6", "iso8859-6", "header"),
        (b"\xef\xbb\xbf" + VERSE.encode(), "windows-1256", "utf-8", "bom"),
        (b"\xff\xfe" + VERSE.encode("utf-16-le"), None, "utf-16-le", "bom"),
        (b'<meta charset="windows-1256">' + VERSE.encode("cp1256"), None, "cp1256", "meta"),
        (
            b"<meta http-equiv='Content-Type' content='text/html; charset=utf-8'>" + VERSE.encode(),
            None,
            "utf-8",
            "meta",
        ),
        (b'<?xml version="1.0" encoding="UTF-8"?>' + VERSE.encode(), None, "utf-8", "meta"),
        # the header wins over the page
        (b"<meta charset=utf-8>" + VERSE.encode("cp1256"), "cp1256", "cp1256", "header"),
        # declarations that are not true
        (VERSE.encode(), "windows-1256", "utf-8", "strict"),
        (VERSE.encode(), "iso-8859-1", "utf-8", "strict"),
        (VERSE.encode("cp1256"), "utf-8", "cp1256", "fallback"),
        (VERSE.encode("cp1256"), "iso-8859-1", "cp1256", "fallback"),
        (VERSE.encode("cp1256"), "no-such-charset", "cp1256", "fallback"),
        (VERSE.encode(), "base64", "utf-8", "strict"),
        # a Western page stays Western
        ("déjà vu à Paris".encode("cp1252"), "iso-8859-1", "cp1252", "header"),
    ],
)
def test_decode(raw, header, encoding, reason):
    found = decode(raw, header_charset=header)
    assert (found.encoding, found.reason) == (encoding, reason)
    assert found.text.endswith(VERSE) or found.text == "déjà vu à Paris"
    assert not found.text.startswith("\ufeff")


@given(st.binary(max_size=80), st.none() | st.text(max_size=12))
def test_decode_never_raises(raw, header):
    assert isinstance(decode(raw, header_charset=header).text, str)


MISREAD = {
    "utf-8 as cp1256": lambda text: text.encode().decode("cp1256"),
    "utf-8 as latin-1": lambda text: text.encode().decode("latin-1"),
    "utf-8 as cp1256, twice": lambda text: text.encode().decode("cp1256").encode().decode("cp1256"),
}


@pytest.mark.parametrize("mistake", MISREAD)
@pytest.mark.parametrize("text", [VERSE, PERSIAN, "«قِفا»، نَبكِ ١٢٣"])
def test_repair(mistake, text):
    repair = repair_mojibake(MISREAD[mistake](text))
    assert repair is not None
    assert repair.text == text
    assert len(repair.steps) == (2 if "twice" in mistake else 1)


def test_repair_of_cp1256_read_as_latin1():
    repair = repair_mojibake(VERSE.encode("cp1256").decode("latin-1"))
    assert repair is not None
    assert (repair.text, repair.steps) == (VERSE, ("written as cp1256, read as latin-1",))


@pytest.mark.parametrize(
    "text",
    [
        VERSE,
        PERSIAN,
        "",
        "plain ASCII",
        "déjà vu",
        "ظط ظظ طظ",
        "١٢٣",
        VERSE.encode().decode("cp1256") + " …ی",
    ],
)
def test_nothing_is_repaired_that_cannot_be_shown(text):
    assert repair_mojibake(text) is None


def test_no_clean_couplet_is_repaired_and_every_misread_one_is(shared_data):
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        verses = [line.split(" ", 1)[1].rstrip("\n") for line in file][::50]
    assert [verse for verse in verses if repair_mojibake(verse)] == []
    for misread in MISREAD.values():
        repairs = [repair_mojibake(misread(verse)) for verse in verses]
        assert [repair and repair.text for repair in repairs] == verses
