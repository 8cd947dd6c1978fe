"""Numbers in three digit systems."""

from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.text.digits import convert


@given(st.integers(-(10**12), 10**12), st.sampled_from(["western", "arabic", "persian"]))
def test_every_system_reads_back(number, system):
    written = convert(str(number), system)
    assert int(written) == number
    assert convert(written, "western") == str(number)
    assert written.lstrip("-").isascii() == (system == "western")
