"""Numbers in three digit systems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.text import parse_int
from mihakk.text.digits import convert


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("١٠٧", 107),
        ("۴۹۵", 495),
        (" 5,569 ", 5569),
        ("١٬٢٠٠٬٠٠٠", 1200000),
        ("−۳", -3),
        ("1 254 630", 1254630),
    ],
)
def test_parse(text, number):
    assert parse_int(text) == number


@pytest.mark.parametrize("text", ["", "مئة", "١٢٫٥", "1,23", "12 قصيدة", "--1"])
def test_not_a_number(text):
    with pytest.raises(ValueError, match="not a whole number"):
        parse_int(text)


@given(st.integers(-(10**12), 10**12), st.sampled_from(["western", "arabic", "persian"]))
def test_every_system_reads_back(number, system):
    written = convert(str(number), system)
    assert parse_int(written) == number
