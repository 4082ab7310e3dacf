"""Puffin footers, blobs and theta heads: round trips and damage."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.bitmaps.deletion_vector import decode_iceberg_dv
from lakelens.codecs.iceberg.puffin import MAGIC, decode_footer, decode_theta, decompress_blob, footer_size
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.options import budgets

DV = bytes.fromhex("00000024d1d339640100000000000000000000003a300000010000000000010010000000020003007a813847")


def lz4_frame(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def puffin(
    blobs: list[tuple[dict[str, Any], bytes]], *, compress: bool = False, flags: int | None = None
) -> bytes:
    """A Puffin file, written from the specification."""
    data, described = MAGIC, []
    for blob, content in blobs:
        described.append(blob | {"offset": len(data), "length": len(content)})
        data += content
    payload = json.dumps({"blobs": described, "properties": {"created-by": "a test"}}).encode()
    payload = lz4_frame(payload) if compress else payload
    flags = int(compress) if flags is None else flags
    return data + MAGIC + payload + struct.pack("<ii", len(payload), flags) + MAGIC


DV_BLOB = {
    "type": "deletion-vector-v1",
    "fields": [2147483645],
    "snapshot-id": -1,
    "sequence-number": -1,
    "properties": {"referenced-data-file": "data/a.parquet", "cardinality": "2"},
}


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_with_a_deletion_vector(compress: bool) -> None:
    data = puffin([(DV_BLOB, DV)], compress=compress)
    footer = decode_footer(data)
    (blob,) = footer.blobs
    assert (blob.type, blob.fields, blob.snapshot_id, blob.sequence_number) == (
        "deletion-vector-v1",
        (2147483645,),
        -1,
        -1,
    )
    assert (blob.offset, blob.length, blob.compression_codec) == (4, len(DV), None)
    assert footer.properties == {"created-by": "a test"}
    assert blob.properties["cardinality"] == "2"
    assert footer.footer_size == len(data) - 4 - len(DV) == footer_size(data[-12:], len(data))
    assert decode_footer(data[-footer.footer_size :], len(data)) == footer
    assert list(decode_iceberg_dv(data[blob.offset : blob.offset + blob.length], base=blob.offset)) == [2, 3]


def test_a_tail_that_is_too_short_is_the_callers_mistake() -> None:
    data = puffin([(DV_BLOB, DV)])
    with pytest.raises(ValueError, match="needs the last"):
        decode_footer(data[-40:], len(data))


@pytest.mark.parametrize(
    ("at", "replacement", "offset"),
    [
        (0, b"PFA2", 0),
        (-4, b"XXXX", -4),
        (-12, struct.pack("<i", 2**31 - 1), -12),
        (-12, struct.pack("<i", -1), -12),
    ],
)
def test_damage_names_the_byte(at: int, replacement: bytes, offset: int) -> None:
    data = bytearray(puffin([(DV_BLOB, DV)]))
    at %= len(data)
    data[at : at + 4] = replacement
    with pytest.raises(Corrupt) as caught:
        decode_footer(bytes(data), path="x.puffin")
    assert (caught.value.offset, caught.value.path) == (offset % len(data), "x.puffin")


def test_unknown_flags_and_codecs_are_unsupported() -> None:
    with pytest.raises(Unsupported, match="flags"):
        decode_footer(puffin([], flags=2))
    with pytest.raises(Unsupported, match="brotli"):
        decompress_blob(b"", "brotli")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"type": 5}, "$.blobs[0].type"),
        ({"fields": "x"}, "$.blobs[0].fields"),
        ({"fields": ["x"]}, "$.blobs[0].fields"),
        ({"snapshot-id": "1"}, "$.blobs[0].snapshot-id"),
        ({"properties": []}, "$.blobs[0].properties"),
    ],
)
def test_a_wrong_payload_names_its_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(Corrupt) as caught:
        decode_footer(puffin([(DV_BLOB | change, DV)]))
    assert caught.value.json_path == place


def test_blobs_must_lie_in_the_body() -> None:
    payload = json.dumps({"blobs": [DV_BLOB | {"offset": 4, "length": 100}]}).encode()
    data = MAGIC + MAGIC + payload + struct.pack("<ii", len(payload), 0) + MAGIC
    with pytest.raises(Corrupt, match="outside the file's body"):
        decode_footer(data)


@given(st.binary(max_size=2000), st.sampled_from(["lz4", "zstd", None]))
def test_blobs_survive_compression(content: bytes, codec: str | None) -> None:
    stored = {"lz4": lz4_frame, "zstd": lambda data: pa.compress(data, "zstd", asbytes=True), None: bytes}[
        codec
    ](content)
    assert decompress_blob(stored, codec) == content
    if codec and content:
        with pytest.raises(Corrupt, match="too large"):
            decompress_blob(stored, codec, limit=len(content) - 1)
        with pytest.raises(Corrupt):
            decompress_blob(stored[: len(stored) // 2], codec)


@given(st.data(), st.booleans())
def test_any_damage_gives_a_footer_or_a_lake_error(data: st.DataObject, compress: bool) -> None:
    damaged = bytearray(puffin([(DV_BLOB, DV)], compress=compress))
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    cut = data.draw(st.integers(0, len(damaged)))
    for candidate in (bytes(damaged), bytes(damaged[cut:]), bytes(damaged[:cut])):
        try:
            decode_footer(candidate)
        except Corrupt as error:
            assert error.offset is not None or error.json_path is not None
        except LakeError as error:
            assert isinstance(error, Unsupported)


def sketch(
    longs: int, count: int = 0, theta: int = 2**63 - 1, flags: int = 0x1A, hashes: int | None = None
) -> bytes:
    data = bytes([longs, 3, 3, 0, 0, flags]) + bytes.fromhex("cc93")
    data += struct.pack("<if", count, 1.0) if longs >= 2 else b""
    data += struct.pack("<q", theta) if longs == 3 else b""
    return data + bytes(8 * (count if hashes is None else hashes))


def test_theta_heads() -> None:
    assert decode_theta(sketch(1, flags=0x1E)).count == 0
    single = decode_theta(sketch(1, hashes=1, flags=0x3A))
    assert (single.count, single.estimate, single.seed_hash) == (1, 1.0, "cc93")
    assert decode_theta(sketch(2, 7)).estimate == 7
    assert decode_theta(sketch(3, 5, 2**62)).estimate == 10.0
    with pytest.raises(Corrupt, match="entry count") as caught:
        decode_theta(sketch(2, 7, hashes=6))
    assert caught.value.offset == 8
    with pytest.raises(Unsupported):
        decode_theta(bytes([1, 4, 3, 0, 0, 0, 0, 0]))


@given(st.binary(max_size=40), st.booleans())
def test_any_theta_bytes(data: bytes, plausible: bool) -> None:
    data = (bytes([data[0] & 3, 3, 3]) + data[3:]) if plausible and len(data) > 3 else data
    try:
        assert decode_theta(data).count >= 0
    except Corrupt as error:
        assert error.offset is not None
    except Unsupported:
        assert not plausible or len(data) <= 3 or data[1:3] != b"\3\3"


def test_a_footer_becomes_no_more_than_its_blobs_need() -> None:
    payload = b'{"blobs":[],"properties":{},"z":[' + b"{}," * (1 << 20) + b"0]}"
    packed = lz4_frame(payload)
    footer = MAGIC + packed + struct.pack("<i", len(packed)) + bytes([1, 0, 0, 0]) + MAGIC
    with pytest.raises(Corrupt, match=r"too large.*at most 1,04.*max_footer"):
        decode_footer(MAGIC + footer)
    plain = MAGIC + payload + struct.pack("<ii", len(payload), 0) + MAGIC
    with pytest.raises(Corrupt, match=r"too large for its blobs.*max_footer"):
        decode_footer(MAGIC + plain)
    with budgets.using(max_footer=4 << 20):
        assert decode_footer(MAGIC + footer).blobs == decode_footer(MAGIC + plain).blobs == ()
    assert decode_footer(MAGIC + bytes(len(payload)) + footer).blobs == ()
