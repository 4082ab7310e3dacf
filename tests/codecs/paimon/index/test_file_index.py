"""Paimon file-index containers: round trips written from the specification, heads of each index type, damage."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.paimon.index.file_index_spans import MAGIC, FileIndex, explain_file_index
from lakelens.errors import Corrupt, LakeError, Unsupported


def decode_file_index(data: bytes) -> FileIndex:
    """The value of the explanation."""
    index: FileIndex = explain_file_index(data).value
    return index


def utf(text: str) -> bytes:
    """Java's DataOutput.writeUTF."""
    data = b""
    for unit in struct.unpack(f">{len(text.encode('utf-16-be')) // 2}H", text.encode("utf-16-be")):
        if 1 <= unit < 0x80:
            data += bytes([unit])
        elif unit < 0x800:
            data += bytes([0xC0 | unit >> 6, 0x80 | unit & 0x3F])
        else:
            data += bytes([0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F])
    return struct.pack(">H", len(data)) + data


def container(columns: list[tuple[str, list[tuple[str, bytes | None]]]], redundant: bytes = b"") -> bytes:
    """A container, written from the specification; None is an empty index."""
    head_length = 20 + 4 + len(redundant)
    for name, indexes in columns:
        head_length += len(utf(name)) + 4 + sum(len(utf(kind)) + 8 for kind, _ in indexes)
    head = struct.pack(">qiii", MAGIC, 1, head_length, len(columns))
    body = b""
    for name, indexes in columns:
        head += utf(name) + struct.pack(">i", len(indexes))
        for kind, data in indexes:
            start = -1 if data is None else head_length + len(body)
            head += utf(kind) + struct.pack(">ii", start, len(data or b""))
            body += data or b""
    return head + struct.pack(">i", len(redundant)) + redundant + body


BLOOM = struct.pack(">i", 3) + bytes(4_792_536 // 8)
SAMPLE = container(
    [
        ("id", [("bloom-filter", BLOOM), ("bitmap", struct.pack(">biib", 2, 10, 4, 1) + bytes(8))]),
        (
            "ü😀",
            [
                ("bsi", None),
                ("range-bitmap", struct.pack(">ibiiqi", 21, 1, 10, 4, 0, 0)),
                ("new-kind", b"xyz"),
            ],
        ),
    ]
)
SMALL = container([("id", [("bloom-filter", BLOOM[:64]), ("bitmap", None)]), ("b", [("bsi", bytes(6))])])


def test_columns_indexes_and_heads() -> None:
    index = decode_file_index(SAMPLE)
    first, second = index.columns
    bloom, bitmap = first.indexes
    assert (first.name, bloom.type, bloom.start, bloom.length) == (
        "id",
        "bloom-filter",
        index.head_length,
        len(BLOOM),
    )
    assert bloom.facts == {"hash_functions": 3, "bits": 4_792_536}
    assert bitmap.facts == {"version": 2, "rows": 10, "distinct_values": 4, "has_null": True}
    bsi, range_bitmap, new = second.indexes
    assert second.name == "ü😀"
    assert (bsi.empty, bsi.start, bloom.empty) == (True, None, False)
    assert range_bitmap.facts == {"version": 1, "rows": 10, "distinct_values": 4}
    assert (new.type, new.length, new.facts) == ("new-kind", 3, {})


names = st.text(max_size=5)
indexes = st.tuples(names, st.none() | st.binary(max_size=9))


@given(st.lists(st.tuples(names, st.lists(indexes, max_size=3)), max_size=3), st.binary(max_size=4))
def test_containers_survive(
    columns: list[tuple[str, list[tuple[str, bytes | None]]]], redundant: bytes
) -> None:
    data = container(columns, redundant)
    decoded = decode_file_index(data)
    assert [
        (
            c.name,
            [(i.type, None if i.start is None else data[i.start : i.start + i.length]) for i in c.indexes],
        )
        for c in decoded.columns
    ] == columns


@pytest.mark.parametrize(
    ("at", "value", "offset"), [(0, 5, 0), (12, 10, 12), (12, 2**31 - 1, 12), (16, -1, 16), (16, 2**30, 16)]
)
def test_damage_names_the_byte(at: int, value: int, offset: int) -> None:
    data = bytearray(SMALL)
    struct.pack_into(">i", data, at, value)
    with pytest.raises(Corrupt) as caught:
        decode_file_index(bytes(data))
    assert caught.value.offset == offset


def test_another_version_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="version 2"):
        decode_file_index(SMALL[:8] + struct.pack(">i", 2) + SMALL[12:])


def test_every_cut_of_the_head_is_noticed() -> None:
    for size in range(len(SMALL)):
        with pytest.raises(Corrupt) as caught:
            decode_file_index(SMALL[:size])
        assert caught.value.offset is not None


@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 7)), min_size=1, max_size=3))
def test_any_damage_gives_an_index_or_an_error_of_ours(flips: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for at, bit in flips:
        data[at] ^= 1 << bit
    try:
        decode_file_index(bytes(data))
    except Corrupt as error:
        assert error.offset is not None
    except LakeError as error:
        assert isinstance(error, Unsupported)
