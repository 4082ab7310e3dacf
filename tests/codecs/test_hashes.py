"""Hashes in plain Python are those of the library that is asked where it is installed."""

from __future__ import annotations

import mmh3
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.hashes import hash_murmur3, hash_murmur3_plain


@given(st.binary(max_size=70), st.integers(0, (1 << 32) - 1))
def test_murmur3_is_as_in_the_library(data: bytes, seed: int) -> None:
    """Any bytes and any seed have the same hash both ways."""
    assert hash_murmur3_plain(data, seed) == hash_murmur3(data, seed) == mmh3.hash(data, seed)
