"""Puffin files and theta sketches with names: round trips over blobs of every type, gaps, and damage."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa
import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.bitmaps.deletion_vector import MAGIC_64
from lakelens.codecs.iceberg.puffin import MAGIC, decode_footer, decode_theta
from lakelens.codecs.iceberg.puffin_spans import explain_puffin, explain_theta_sketch
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.explaining import explain_bytes
from tests.codecs.bitmaps.test_deletion_vector import frame
from tests.codecs.iceberg.test_puffin import DV, DV_BLOB, lz4_frame, puffin, sketch
from tests.support.span_checks import assert_survives, assert_tiles, find_error

THETA_BLOB = {
    "type": "apache-datasketches-theta-v1",
    "fields": [1],
    "snapshot-id": 7,
    "sequence-number": 3,
    "properties": {"ndv": "2"},
}
OTHER_BLOB = {"type": "a-later-type", "fields": [], "snapshot-id": 7, "sequence-number": 3}


def pack(content: bytes, codec: str) -> bytes:
    return lz4_frame(content) if codec == "lz4" else pa.compress(content, codec, asbytes=True)


def blob_of(kind: dict[str, Any], content: bytes, codec: str | None = None) -> tuple[dict[str, Any], bytes]:
    """A blob as `puffin` takes it."""
    return (kind, content) if codec is None else (kind | {"compression-codec": codec}, pack(content, codec))


vectors = st.lists(st.integers(0, 2**40), max_size=30).map(
    lambda rows: frame(MAGIC_64 + bytes(pyroaring.BitMap64(rows).serialize()))
)
sketches = st.one_of(
    st.just(sketch(1, flags=0x1E)),
    st.just(sketch(1, hashes=1, flags=0x3A)),
    st.integers(0, 40).map(lambda count: sketch(2, count)),
    st.builds(lambda count, theta: sketch(3, count, theta), st.integers(0, 40), st.integers(1, 2**63 - 1)),
)
codecs = st.sampled_from([None, "lz4", "zstd"])
blobs = st.lists(
    st.one_of(
        st.builds(lambda content: blob_of(DV_BLOB, content), vectors),
        st.builds(lambda content, codec: blob_of(THETA_BLOB, content, codec), sketches, codecs),
        st.builds(lambda content, codec: blob_of(OTHER_BLOB, content, codec), st.binary(max_size=30), codecs),
    ),
    max_size=4,
)


@settings(max_examples=60)
@given(blobs, st.booleans(), st.integers(0, 5))
def test_files_survive(described: list[tuple[dict[str, Any], bytes]], compress: bool, before: int) -> None:
    data = puffin(described, compress=compress)
    span = explain_puffin(b"x" * before + data + b"yy", before, before + len(data))
    span.check()
    assert_tiles(span, before, before + len(data))
    footer = decode_footer(data)
    assert span.value == footer
    told = [node for child in span.children if child.label == "blobs" for node in child.children]
    assert [node.label for node in told] == [blob.type for blob in footer.blobs]
    for node, (kind, content) in zip(told, described, strict=True):
        assert data[node.start - before : node.end - before] == content
        assert node.is_packed == ("compression-codec" in kind)
        inner = node.unpack()[1] if node.is_packed else node
        if kind["type"] == THETA_BLOB["type"]:
            stored = node.unpack()[0] if node.is_packed else content
            assert inner.value == decode_theta(stored)
        elif kind["type"] == OTHER_BLOB["type"]:
            assert inner.role == "unexplained"
        else:
            assert len(inner.value) == len(set(inner.value))


def test_the_parts_of_a_file() -> None:
    data = puffin([(DV_BLOB, DV)])
    span = explain_bytes(data, "puffin")
    assert [child.label for child in span.children] == ["magic", "blobs", "footer"]
    (vector,) = span.children[1].children
    assert vector.label == "deletion-vector-v1" and list(vector.value) == [2, 3]
    assert "referenced-data-file data/a.parquet; cardinality 2" in vector.note
    footer = span.children[2]
    assert [child.label for child in footer.children] == [
        "magic",
        "payload",
        "payload size",
        "flags",
        "magic",
    ]
    payload = footer.children[1]
    assert payload.value["properties"] == {"created-by": "a test"}
    assert footer.children[2].value == len(payload)


def test_compressed_parts_are_explained_twice() -> None:
    data = puffin([blob_of(THETA_BLOB, sketch(2, 3), "zstd")], compress=True)
    span = explain_bytes(data, "puffin")
    blob = span.children[1].children[0]
    assert blob.is_leaf and len(blob) == len(pack(sketch(2, 3), "zstd"))
    content, inner = blob.unpack()
    assert content == sketch(2, 3)
    assert_tiles(inner, 0, len(content))
    assert [leaf.label for leaf in inner.leaves()][8:] == ["entry count", "p", "hash 0", "hash 1", "hash 2"][
        1:
    ]
    payload = span.children[2].children[1]
    assert json.loads(payload.unpack()[0]) == payload.unpack()[1].value


def test_bytes_that_no_blob_covers_are_told() -> None:
    placed = [DV_BLOB | {"offset": 4 + 6, "length": len(DV)}, OTHER_BLOB | {"offset": 60, "length": 0}]
    payload = json.dumps({"blobs": placed}).encode()
    data = (
        MAGIC
        + b"gap gap"[:6]
        + DV
        + b"another gap"
        + MAGIC
        + payload
        + struct.pack("<ii", len(payload), 0)
        + MAGIC
    )
    span = explain_bytes(data, "puffin")
    assert [(child.label, child.start, child.end) for child in span.children[1].children] == [
        ("unreferenced", 4, 10),
        ("deletion-vector-v1", 10, 10 + len(DV)),
        ("unreferenced", 10 + len(DV), 60),
        ("a-later-type", 60, 60),
        ("unreferenced", 60, 21 + len(DV)),
    ]


def test_blobs_that_overlap_are_told() -> None:
    placed = [DV_BLOB | {"offset": 4, "length": len(DV)}, OTHER_BLOB | {"offset": 10, "length": 4}]
    payload = json.dumps({"blobs": placed}).encode()
    data = MAGIC + DV + MAGIC + payload + struct.pack("<ii", len(payload), 0) + MAGIC
    span = explain_puffin(data)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    assert isinstance(error, Corrupt) and "overlaps" in error.message
    assert [child.label for child in span.children] == ["magic", "blobs", "footer"]


def test_an_unknown_compression_is_told_not_refused() -> None:
    data = puffin([(DV_BLOB | {"compression-codec": "brotli"}, b"packed")])
    span = explain_bytes(data, "puffin")
    leaf = span.find(4)
    assert (leaf.label, leaf.role) == ("deletion-vector-v1", "unexplained") and "brotli" in leaf.note


SAMPLE = puffin([(DV_BLOB, DV), blob_of(THETA_BLOB, sketch(2, 3), "zstd"), (OTHER_BLOB, b"later")])


@pytest.mark.parametrize(
    ("at", "replacement"),
    [(0, b"PFA2"), (-4, b"XXXX"), (-12, struct.pack("<i", 2**31 - 1)), (-12, struct.pack("<i", -1))],
)
def test_damage_is_told_at_its_byte(at: int, replacement: bytes) -> None:
    data = bytearray(SAMPLE)
    at %= len(data)
    data[at : at + 4] = replacement
    span = explain_puffin(bytes(data))
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    assert isinstance(error, Corrupt) and error.offset == at
    assert span.find(at).role == "damage"


def test_unknown_flags_are_unsupported() -> None:
    error = find_error(explain_puffin(puffin([(DV_BLOB, DV)], flags=2)))
    assert isinstance(error, Unsupported)


def test_a_wrong_payload_is_told_with_its_place() -> None:
    span = explain_puffin(puffin([(DV_BLOB | {"fields": "x"}, DV)]))
    error = find_error(span)
    assert isinstance(error, Corrupt) and error.json_path == "$.blobs[0].fields" and error.offset is not None
    assert span.children[1].role == "unexplained"


@pytest.mark.exhaustive
@pytest.mark.parametrize("compress", [False, True])
def test_cuts_and_flips(compress: bool) -> None:
    assert_survives(explain_puffin, puffin([(DV_BLOB, DV)], compress=compress))
    assert_survives(explain_puffin, SAMPLE, flips=300)


@settings(max_examples=150)
@given(st.data(), st.booleans())
def test_damage_that_the_fast_decoder_sees_is_told(draw: st.DataObject, compress: bool) -> None:
    damaged = bytearray(puffin([(DV_BLOB, DV), (OTHER_BLOB, b"later")], compress=compress))
    for _ in range(draw.draw(st.integers(0, 3))):
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    data = (
        bytes(damaged[: draw.draw(st.integers(0, len(damaged)))])
        if draw.draw(st.booleans())
        else bytes(damaged)
    )
    span = explain_puffin(data)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    try:
        footer = decode_footer(data)
    except LakeError:
        assert error is not None
    else:
        assert span.value == footer


@settings(max_examples=60)
@given(sketches, st.integers(0, 5))
def test_sketches_survive(data: bytes, before: int) -> None:
    span = explain_theta_sketch(b"x" * before + data, before)
    span.check()
    assert_tiles(span, before, before + len(data))
    assert span.value == decode_theta(data)
    leaves = {leaf.label: leaf.value for leaf in span.leaves()}
    assert leaves["preamble longs"] == span.value.preamble_longs and leaves["flags"] == span.value.flags
    if span.value.preamble_longs >= 2:
        assert leaves["entry count"] == span.value.count
    if span.value.preamble_longs == 3:
        assert leaves["theta"] == span.value.theta
    assert sum(label.startswith("hash ") for label in leaves) == span.value.count


@settings(max_examples=200)
@given(st.binary(max_size=48), st.booleans())
def test_any_sketch_bytes(data: bytes, plausible: bool) -> None:
    data = (bytes([data[0] & 3, 3, 3]) + data[3:]) if plausible and len(data) > 3 else data
    span = explain_theta_sketch(data)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    try:
        decode_theta(data)
    except Unsupported:
        assert isinstance(error, Unsupported)
    except Corrupt:
        assert isinstance(error, Corrupt) and error.offset is not None
    else:
        assert error is None or "ends before its hash" in str(error)


def test_sketches_cut_and_flipped() -> None:
    assert_survives(explain_theta_sketch, sketch(3, 5, 2**62), flips=200)
