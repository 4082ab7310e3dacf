"""Blob files byte by byte: over generated files, and damage that names the place."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.paimon.blob_spans import explain_blob
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error


def varint(value: int) -> bytes:
    value = value << 1 ^ value >> 63
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def written(contents: list[bytes | int]) -> bytes:
    """A blob file; an integer stands for a length that has no record."""
    records, index, before = b"", b"", 0
    for content in contents:
        length = content
        if isinstance(content, bytes):
            length = len(content) + 16
            framed = (1481511375).to_bytes(4, "little") + content + length.to_bytes(8, "little")
            records += framed + zlib.crc32(framed).to_bytes(4, "little")
        assert isinstance(length, int)
        index += varint(length - before)
        before = length
    return records + index + len(index).to_bytes(4, "little") + b"\x01"


@given(st.lists(st.binary(max_size=20) | st.sampled_from([-1, -2]), max_size=6))
def test_blob_files(contents: list[bytes | int]) -> None:
    data = written(contents)
    root = explain_blob(data)
    assert_tiles(root, 0, len(data))
    root.check()
    assert root.value == tuple(len(c) if isinstance(c, bytes) else None if c == -1 else c for c in contents)
    found = [leaf for leaf in root.leaves() if leaf.label == "content"]
    assert [data[leaf.start : leaf.end] for leaf in found] == [
        c for c in contents if isinstance(c, bytes) and c
    ]


def test_an_engines_record() -> None:
    data = bytes.fromhex("cf114e58 010203 1300000000000000 bf22448f 26 01000000 01")
    root = explain_blob(data)
    root.check()
    assert [leaf.value for leaf in root.children[0].children][2] == 19


def test_cut_and_flipped() -> None:
    data = written([b"abc", -1, b"defg" * 5, -2])
    assert_survives(explain_blob, data, flips=len(data) * 8)
    for place in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        if place // 8 < data.index(b"defg"):  # the first record and the magic behind it are checked whole
            assert isinstance(find_error(explain_blob(bytes(damaged))), Corrupt)


@pytest.mark.parametrize(
    "data", [b"", b"\x01", bytes(5), b"\xff\x01\0\0\0\x01", b"\xff" * 12 + b"\x0c\0\0\0\x01"]
)
def test_what_is_no_blob_file(data: bytes) -> None:
    error = find_error(explain_blob(data))
    assert isinstance(error, Corrupt) and error.offset is not None


def test_many_records_come_in_groups() -> None:
    data = written([b"a"] * 3000)
    root = explain_blob(data)
    root.check()
    assert max(len(node.children) for node in root.walk()) < 1100
    assert root.find(17 * 2999).label == "magic"
