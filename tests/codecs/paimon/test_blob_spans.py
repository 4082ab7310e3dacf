"""Blob files byte by byte: over generated files, and damage that names the place."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.kinds import choose_kind
from lakelens.codecs.paimon.blob import explain_blob, explain_blob_references
from lakelens.errors import Corrupt
from tests.support import LAKES
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


def deltas(numbers: list[int]) -> bytes:
    return b"".join(varint(a - b) for a, b in zip(numbers, [0, *numbers], strict=False))


def array_of(blobs: list[bytes | None]) -> bytes:
    index = deltas([-1 if blob is None else len(blob) for blob in blobs])
    head = b"BCBA\x01" + len(blobs).to_bytes(4, "little")
    return head + b"".join(filter(None, blobs)) + index + len(index).to_bytes(4, "little")


def map_of(entries: dict[bytes, bytes | None]) -> bytes:
    keys = deltas([len(key) for key in entries])
    blobs = deltas([-1 if blob is None else len(blob) for blob in entries.values()])
    head = b"BCBM\x01" + len(entries).to_bytes(4, "little")
    content = b"".join(entries) + b"".join(filter(None, entries.values()))
    return head + content + keys + blobs + len(keys).to_bytes(4, "little") + len(blobs).to_bytes(4, "little")


@given(
    st.lists(st.binary(max_size=9) | st.none(), max_size=5),
    st.dictionaries(st.binary(max_size=3), st.binary(max_size=9) | st.none(), max_size=4),
)
def test_arrays_and_maps_of_blobs(blobs: list[bytes | None], entries: dict[bytes, bytes | None]) -> None:
    data = written([array_of(blobs), map_of(entries)])
    root = explain_blob(data)
    assert_tiles(root, 0, len(data))
    root.check()
    array, mapping = (record.children[1] for record in root.children[:2])
    assert (array.label, mapping.label) == ("array of blobs", "map of blobs")
    for found, expected in ((array, blobs), (mapping, list(entries.values()))):
        assert found.value == tuple(None if blob is None else len(blob) for blob in expected)
        shown = [data[part.start : part.end] for part in found.leaves() if part.label.startswith("blob ")]
        assert shown == [blob for blob in expected if blob]
    assert [part.value for part in mapping.leaves() if part.label.startswith("key ")] == [
        key for key in entries if key
    ]


def test_a_blob_that_happens_to_begin_like_an_array() -> None:
    for content in (b"BCBA", b"BCBA\x01" + bytes(8) + b"no", b"BCBM\x02" + bytes(30), array_of([b"a"])[:-1]):
        root = explain_blob(written([content]))
        root.check()
        assert root.children[0].children[1].label == "content"


def test_what_an_engine_wrote() -> None:
    found = [
        explain_blob(path.read_bytes())
        for path in sorted((LAKES / "pypaimon/nested").glob("table/bucket-0/*.blob"))
    ]
    contents = sorted(
        (root.children[0].children[1].label, root.children[0].children[1].value) for root in found
    )
    assert contents == [("array of blobs", (3, None, 0)), ("map of blobs", (2, None))]


def test_blob_references_byte_by_byte() -> None:
    body = bytes.fromhex("01 00000001 0002") + b"/b" + b"\0\x0e" + b"a.managed.blob"
    data = b"PBLR" + body + zlib.crc32(body).to_bytes(4, "big")
    assert choose_kind(data) == "blob_references"
    root = explain_blob_references(data)
    assert_tiles(root, 0, len(data))
    root.check()
    assert root.value == ("a.managed.blob",)
    assert_survives(explain_blob_references, data)
    assert "wrong checksum" in str(find_error(explain_blob_references(data[:-1] + b"\0")))
