"""Paimon's global index files with names: files written from their layout, the engine's own, and damage."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from typing import Any

import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.paimon.index.global_index_spans import explain_global_index
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, Unsupported
from lakelens.explaining import explain_bytes
from tests.support import LAKES
from tests.support.span_checks import assert_survives, assert_tiles, find_error


def varint(value: int) -> bytes:
    data = b""
    while value > 0x7F:
        data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
    return data + bytes([value])


def block(entries: list[tuple[bytes, bytes]]) -> bytes:
    """A block without its trailer."""
    encoded = [varint(len(key)) + key + varint(len(value)) + value for key, value in entries]
    sizes = {len(entry) for entry in encoded}
    if len(sizes) == 1:
        return b"".join(encoded) + struct.pack("<iB", sizes.pop(), 0)
    places = [sum(map(len, encoded[:i])) for i in range(len(encoded))]
    return b"".join(encoded) + struct.pack(f"<{len(places)}iiB", *places, len(places), 1)


def close(data: bytes, compression: int = 0) -> bytes:
    data += bytes([compression])
    return data + struct.pack("<I", zlib.crc32(data))


def index(
    keys: dict[bytes, list[int]], nulls: list[int], per_block: int = 2, version: int = 1, packed: bool = False
) -> bytes:
    """A B-tree index file whose data blocks hold `per_block` keys."""
    entries = [(key, varint(len(rows)) + b"".join(map(varint, rows))) for key, rows in sorted(keys.items())]
    data, found = b"", []
    for i in range(0, len(entries), per_block):
        part = b"packed" if packed else block(entries[i : i + per_block])
        found.append((entries[i : i + per_block][-1][0], varint(len(data)) + varint(len(part))))
        data += close(part, int(packed))
    null_place = (0, 0)
    if nulls:
        bitmap = bytes(pyroaring.BitMap64(nulls).serialize())
        null_place = (len(data), len(bitmap))
        data += bitmap + struct.pack("<I", zlib.crc32(bitmap))
    root = block(found)
    footer = struct.pack("<qiqqiqii", 0, 0, 0, len(data), len(root), *null_place, version)
    return data + close(root) + footer + b"ITBP"


def bitmap_index(keys: dict[bytes, list[int]], nulls: list[int], per_block: int = 2) -> bytes:
    """A global bitmap index file whose dictionary blocks hold `per_block` keys."""
    data, found = b"", []
    items = sorted(keys.items())
    for i in range(0, len(items), per_block):
        entries = b""
        for key, rows in items[i : i + per_block]:
            bitmap = bytes(pyroaring.BitMap64(rows).serialize())
            entries += varint(len(key)) + key + varint(len(data)) + varint(len(bitmap))
            data += bitmap
        content = varint(len(items[i : i + per_block])) + entries
        found.append((items[i][0], len(data), len(content)))
        data += close(content)
    footer = b""
    for rows in (nulls, sorted(set().union(*keys.values()))):
        bitmap = bytes(pyroaring.BitMap64(rows).serialize())
        footer += struct.pack(">qi", len(data), len(bitmap))
        data += bitmap
    root = varint(len(found)) + b"".join(varint(len(k)) + k + varint(o) + varint(n) for k, o, n in found)
    footer += struct.pack(">qiii", len(data), len(root), len(keys), 1)
    return data + close(root) + footer + b"BGIX"


def told(span: Span) -> dict[Any, list[int]]:
    """The row ids of each key, from the leaves of the data blocks."""
    return {
        entry.value: [leaf.value for leaf in entry.leaves() if leaf.label == "row id"]
        for node in span.walk()
        if node.label == "data block"
        for entry in node.walk()
        if entry.label == "entry"
    }


trees = st.dictionaries(
    st.binary(max_size=6), st.lists(st.integers(0, 2**40), min_size=1, max_size=6), max_size=9
)


@pytest.mark.exhaustive
@settings(max_examples=60)
@given(trees, st.lists(st.integers(0, 2**40), max_size=5), st.integers(1, 4), st.integers(0, 5))
def test_trees_survive(keys: dict[bytes, list[int]], nulls: list[int], per_block: int, before: int) -> None:
    data = index(keys, nulls, per_block)
    span = explain_global_index(b"x" * before + data, before)
    span.check()
    assert_tiles(span, before, before + len(data))
    assert told(span) == keys
    assert not [leaf for leaf in span.leaves() if leaf.role]
    bitmaps = [node.value for node in span.walk() if node.note == "row ids whose key is null"]
    assert [set(bitmap) for bitmap in bitmaps] == ([set(nulls)] if nulls else [])


@pytest.mark.parametrize("version", ["1.4.2", "2.0.0"])
def test_the_files_of_the_engine(version: str) -> None:
    (path,) = (LAKES / "paimon-java" / f"{version}-global-index" / "table" / "index").glob("btree-*")
    data = path.read_bytes()
    assert choose_kind(data) == "global_index"
    span = explain_bytes(data, "global_index", type="STRING")
    assert told(span) == {"one": [0], "three": [2], "two": [1]}
    assert not [leaf for leaf in span.leaves() if leaf.role]
    assert_tiles(span, 0, len(data))
    assert_survives(explain_global_index, data, flips=8 * len(data))


@settings(max_examples=60)
@given(trees, st.lists(st.integers(0, 2**40), max_size=5), st.integers(1, 4), st.integers(0, 5))
def test_bitmap_indexes_survive(
    keys: dict[bytes, list[int]], nulls: list[int], per_block: int, before: int
) -> None:
    data = bitmap_index(keys, nulls, per_block)
    span = explain_global_index(b"x" * before + data, before)
    span.check()
    assert_tiles(span, before, before + len(data))
    assert not [leaf for leaf in span.leaves() if leaf.role]
    parts = [(node.label, node) for node in span.children]
    assert [set(node.value) for label, node in parts if label == "bitmap"] == [
        set(keys[key]) for key in sorted(keys)
    ]
    assert [set(node.value) for label, node in parts if label == "null rows"] == [set(nulls)]
    entries = [
        entry.value
        for label, node in parts
        if label == "dictionary block"
        for entry in node.walk()
        if entry.label == "entry"
    ]
    assert entries == sorted(keys)


def test_the_bitmap_index_of_the_engine() -> None:
    folder = LAKES / "paimon-java" / "2.0.0-pk-bitmap-index" / "table" / "index"
    (data,) = (data for path in folder.iterdir() if (data := path.read_bytes()).endswith(b"BGIX"))
    assert choose_kind(data) == "global_index"
    span = explain_bytes(data, "global_index", type="STRING")
    assert [node.value for node in span.walk() if node.label == "entry"] == ["uno", "uno"]
    assert not [leaf for leaf in span.leaves() if leaf.role]
    assert_survives(explain_global_index, data, flips=8 * len(data))


def test_a_block_that_is_named_again_and_again_is_listed_once() -> None:
    block_ = close(varint(1) + b"\x01k\x00\x00")
    root = varint(3) + (b"\x01k" + varint(0) + varint(len(block_) - 5)) * 3
    footer = struct.pack(">qiqi", 0, 0, 0, 0) + struct.pack(">qiii", len(block_), len(root), 1, 1)
    span = explain_global_index(block_ + close(root) + footer + b"BGIX")
    errors = [leaf.error.message for leaf in span.leaves() if leaf.error is not None]
    assert any("follow each other" in message for message in errors)
    assert [child.label for child in span.children].count("dictionary block") == 1


def test_keys_of_known_types() -> None:
    for kind, layout, values in (
        ("INT", "<i", [-1, 70000]),
        ("BIGINT", "<q", [2**40, 5]),
        ("DOUBLE", "<d", [1.5]),
    ):
        data = index({struct.pack(layout, value): [i] for i, value in enumerate(values)}, [])
        assert set(told(explain_global_index(data, type=kind))) == set(values)


def test_many_rows_and_keys_come_in_groups() -> None:
    data = index({b"k": list(range(3000))}, [])
    span = explain_global_index(data)
    labels = [node.label for node in span.walk() if node.label.startswith("rows ")]
    assert labels == ["rows 0 to 1023", "rows 1024 to 2047", "rows 2048 to 2999"]
    assert told(span) == {b"k": list(range(3000))}
    assert_tiles(span, 0, len(data))
    wide = explain_global_index(index({struct.pack(">i", i): [i] for i in range(2500)}, [], 10_000))
    assert wide.children[0].children[0].label == "entries 0 to 1023"


def test_what_is_not_known_is_told() -> None:
    packed = explain_global_index(index({b"k": [1]}, [], packed=True))
    packed.check()
    assert packed.find(0).role == "unexplained" and "zstd" in packed.find(0).note
    assert isinstance(find_error(explain_global_index(index({b"k": [1]}, [], version=2))), Unsupported)
    other = explain_bytes(b"of another kind", "global_index")
    assert other.role == "unexplained"


@pytest.mark.exhaustive
def test_damage_names_the_byte() -> None:
    data = bytearray(index({b"a": [1], b"bb": [2], b"c": [3]}, [9]))
    data[1] ^= 4
    span = explain_global_index(bytes(data))
    error = find_error(span)
    assert isinstance(error, Corrupt) and "CRC" in error.message
    assert len(told(span)) == 3
    assert_survives(explain_global_index, bitmap_index({b"a": [1], b"b": [2], b"c": [3]}, [9]), flips=600)
    sample = index({b"a": [1, 300], b"bb": [2], b"c": [3]}, [9, 10])
    assert_survives(explain_global_index, sample, flips=8 * len(sample))


@settings(max_examples=150)
@given(st.binary(max_size=90), st.binary(min_size=48, max_size=48), st.booleans())
def test_any_bytes(head: bytes, footer: bytes, near: bool) -> None:
    if near:
        footer = struct.pack("<qiqqiqii", 0, 0, 0, 0, max(0, len(head) - 5), 0, 0, 1)
    for data in (head + footer + b"ITBP", head + footer + b"BGIX"):
        span = explain_global_index(data)
        assert_tiles(span, 0, len(data))
        error = find_error(span)
        assert error is None or not isinstance(error, Corrupt) or error.offset is not None


INDEX_META = struct.pack("<i3si3s?BB", 3, b"one", 3, b"two", False, 1, 0)
NULL_META = struct.pack("<ii?BB", 0, 0, True, 1, 3)
NAME = "data-ü.parquet".encode()
SOURCE_META = struct.pack(">iiiH", 1, 4, 1, len(NAME)) + NAME + struct.pack(">q", 3)


def test_what_the_manifest_says_of_an_index() -> None:
    meta = explain_bytes(INDEX_META, "index_meta", type="STRING")
    assert [leaf.value for leaf in meta.leaves()] == [3, "one", 3, "two", False, 1, 0]
    assert [leaf.value for leaf in explain_bytes(INDEX_META[:-2], "index_meta").leaves()] == [
        3,
        b"one",
        3,
        b"two",
        False,
    ]
    assert [leaf.label for leaf in explain_bytes(NULL_META, "index_meta").leaves()] == [
        *("first key length", "last key length", "has nulls", "version", "null key flags"),
    ]
    source = explain_bytes(SOURCE_META, "source_meta")
    assert [leaf.value for leaf in source.leaves()] == [1, 4, 1, len(NAME), "data-ü.parquet", 3]
    for kind, data in (("index_meta", INDEX_META), ("index_meta", NULL_META), ("source_meta", SOURCE_META)):
        assert_survives(partial(explain_as, kind), data, flips=8 * len(data))


def explain_as(kind: str, data: bytes) -> Span:
    return explain(data, kind)
