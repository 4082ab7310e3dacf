"""Paimon's file indexes with names: containers and indexes written from the specification, and damage."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.paimon.index.file_index_spans import MAGIC, explain_file_index
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.explaining import explain_bytes
from tests.codecs.paimon.index.test_file_index import SAMPLE, SMALL, container, decode_file_index
from tests.support.span_checks import assert_survives, assert_tiles, find_error

Rows = list[Any]


def roaring(rows: list[int]) -> bytes:
    return bytes(pyroaring.BitMap(rows).serialize())


def key(value: Any, type_: str) -> bytes:
    """A value as it lies in an index."""
    if type_ == "STRING":
        text: bytes = value.encode()
        return struct.pack(">i", len(text)) + text
    layout = {"INT": ">i", "BIGINT": ">q", "BOOLEAN": ">?", "DOUBLE": ">d"}[type_]
    return struct.pack(layout, value)


def bitmap_index(values: Rows, type_: str, version: int, block: int = 3) -> bytes:
    """A bitmap index of version 1 or 2, whose blocks hold `block` values."""
    rows: dict[Any, list[int]] = {}
    for row, value in enumerate(values):
        rows.setdefault(value, []).append(row)
    nulls = rows.pop(None, [])
    body = roaring(nulls) if len(nulls) > 1 else b""
    null_length = len(roaring(nulls))
    entries = []
    for value, held in sorted(rows.items()):
        bitmap = roaring(held) if len(held) > 1 else b""
        entries.append((value, len(body) if bitmap else -1 - held[0], len(bitmap) or -1))
        body += bitmap
    data = struct.pack(">bii?", version, len(values), len(rows), bool(nulls))
    if nulls:
        data += struct.pack(">i", 0 if len(nulls) > 1 else -1 - nulls[0])
        data += struct.pack(">i", null_length) if version == 2 else b""
    if version == 1:
        return data + b"".join(key(v, type_) + struct.pack(">i", o) for v, o, _ in entries) + body
    blocks = [entries[i : i + block] for i in range(0, len(entries), block)]
    firsts, inside = b"", b""
    for part in blocks:
        firsts += key(part[0][0], type_) + struct.pack(">i", len(inside))
        inside += struct.pack(">i", len(part))
        inside += b"".join(key(v, type_) + struct.pack(">ii", o, n) for v, o, n in part)
    return data + struct.pack(">i", len(blocks)) + firsts + struct.pack(">i", len(inside)) + inside + body


def slices(values: Mapping[int, int]) -> list[bytes]:
    """One bitmap for each bit of the values, by row."""
    bits = max(max(values.values(), default=0).bit_length(), 1)
    return [roaring([row for row, value in values.items() if value >> i & 1]) for i in range(bits)]


def bsi_index(values: list[int | None]) -> bytes:
    data = struct.pack(">bi", 1, len(values))
    for sign in (1, -1):
        held = {i: abs(v) for i, v in enumerate(values) if v is not None and (v < 0) == (sign < 0)}
        data += struct.pack(">?", bool(held))
        if held:
            parts = slices(held)
            data += struct.pack(">bqq", 1, 0, max(held.values())) + roaring(list(held))
            data += struct.pack(">i", len(parts)) + b"".join(parts)
    return data


def range_bitmap_index(values: Rows, type_: str, chunk: int = 3) -> bytes:
    """A range-bitmap index whose chunks hold `chunk` values."""
    distinct = sorted({value for value in values if value is not None})
    offsets, chunks, others = b"", b"", b""
    for code in range(0, len(distinct), chunk):
        first, rest = distinct[code], [key(value, type_) for value in distinct[code + 1 : code + chunk]]
        offsets += struct.pack(">i", len(chunks))
        starts = struct.pack(f">{len(rest)}i", *(sum(map(len, rest[:i])) for i in range(len(rest))))
        lengths = (
            (len(starts), sum(map(len, rest)))
            if type_ == "STRING"
            else (sum(map(len, rest)), len(key(first, type_)))
        )
        chunks += b"\x01" + key(first, type_) + struct.pack(">iiiii", code, len(others), len(rest), *lengths)
        others += (starts if type_ == "STRING" else b"") + b"".join(rest)
    dictionary = (
        struct.pack(">ibiii", 13, 1, len(offsets) // 4, len(offsets), len(chunks)) + offsets + chunks + others
    )
    codes = {row: distinct.index(value) for row, value in enumerate(values) if value is not None}
    parts, existence = slices(codes), roaring(list(codes))
    places = b"".join(struct.pack(">ii", sum(map(len, parts[:i])), len(parts[i])) for i in range(len(parts)))
    bsi = struct.pack(">ibBii", 10 + len(places), 1, len(parts), len(existence), len(places)) + places
    bounds = b"".join(key(value, type_) for value in (distinct[:1] + distinct[-1:] if distinct else []))
    header = struct.pack(">bii", 1, len(values), len(distinct)) + bounds + struct.pack(">i", len(dictionary))
    return struct.pack(">i", len(header)) + header + dictionary + bsi + existence + b"".join(parts)


def bloom_index(bits: bytes) -> bytes:
    return struct.pack(">i", 3) + bits


typed = st.one_of(
    st.tuples(
        st.just("STRING"), st.lists(st.none() | st.text(st.sampled_from("ab√"), max_size=9), max_size=20)
    ),
    st.tuples(st.just("INT"), st.lists(st.none() | st.integers(-3, 9), max_size=20)),
    st.tuples(st.just("BIGINT"), st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=20)),
    st.tuples(st.just("BOOLEAN"), st.lists(st.none() | st.booleans(), max_size=20)),
    st.tuples(st.just("DOUBLE"), st.lists(st.none() | st.floats(-9, 9), max_size=20)),
)


def find_label(span: Span, label: str) -> list[Span]:
    return [node for node in span.walk() if node.label == label]


def assert_explained(span: Span, data: bytes, before: int = 0) -> None:
    span.check()
    assert_tiles(span, before, before + len(data))
    assert not [leaf for leaf in span.leaves() if leaf.role in ("unexplained", "damage")]


@settings(max_examples=60)
@given(typed, st.sampled_from([1, 2]), st.integers(0, 5))
def test_bitmap_indexes_tell_the_rows_of_each_value(
    case: tuple[str, Rows], version: int, before: int
) -> None:
    type_, values = case
    data = container([("c", [("bitmap", bitmap_index(values, type_, version))])])
    span = explain_file_index(b"x" * before + data, before, types={"c": type_})
    assert_explained(span, data, before)
    told = [
        set(node.value)
        for node in find_label(span, "bitmap")
        if node.label == "bitmap" and node.note.startswith("rows")
    ]
    groups = [
        {i for i, v in enumerate(values) if v == held}
        for held in sorted({v for v in values if v is not None})
    ]
    nulls = {i for i, v in enumerate(values) if v is None}
    assert told == [rows for rows in [nulls, *groups] if len(rows) > 1]
    entries = [
        node.value
        for node in span.walk()
        if node.label.startswith("value ") and not isinstance(node.value, tuple)
    ]
    assert entries == sorted({v for v in values if v is not None})


@settings(max_examples=60)
@given(st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=20))
def test_bit_sliced_indexes(values: list[int | None]) -> None:
    data = container([("c", [("bsi", bsi_index(values))])])
    span = explain_file_index(data)
    assert_explained(span, data)
    rows = {i for i, v in enumerate(values) if v is not None}
    assert set().union(*(node.value for node in find_label(span, "existence bitmap"))) == rows
    for sign in ("positive", "negative"):
        for node in find_label(span, f"{sign} values"):
            bits = [
                child.value
                for child in node.children
                if child.label.startswith("slice ") and child.label != "slice count"
            ]
            read = {
                row: sum(1 << i for i, held in enumerate(bits) if row in held)
                for row in node.children[3].value
            }
            assert read == {
                i: abs(v) for i, v in enumerate(values) if v is not None and (v < 0) == (sign == "negative")
            }


@settings(max_examples=60)
@given(typed)
def test_range_bitmap_indexes(case: tuple[str, Rows]) -> None:
    type_, values = case
    data = container([("c", [("range-bitmap", range_bitmap_index(values, type_))])])
    span = explain_file_index(data, types={"c": type_})
    span.check()
    assert_tiles(span, 0, len(data))
    distinct = sorted({value for value in values if value is not None})
    assert [node.value for node in find_label(span, "min")] == distinct[:1]
    assert [node.value for node in find_label(span, "max")] == distinct[-1:]
    assert [node.value for node in find_label(span, "first value")] == distinct[::3]
    if type_ != "STRING":
        others = [value for i, value in enumerate(distinct) if i % 3]
        assert [node.value for section in find_label(span, "values") for node in section.children] == others
    existing = find_label(span, "existence bitmap")[0].value
    assert set(existing) == {i for i, v in enumerate(values) if v is not None}


def test_the_head_names_what_lies_in_the_body() -> None:
    data = container(
        [("id", [("bloom-filter", bloom_index(b"\x07\x01")), ("bitmap", None)]), ("new", [("later", b"xyz")])]
    )
    span = explain_bytes(data, "file_index")
    head, body = span.children
    assert [child.label for child in head.children] == [
        *("magic", "version", "head length", "column count", "column", "column", "redundant length"),
    ]
    assert [node.value for node in find_label(head, "column name")] == ["id", "new"]
    assert [node.value for node in find_label(head, "index type")] == ["bloom-filter", "bitmap", "later"]
    starts = find_label(head, "start")
    assert starts[1].value == -1 and "empty" in starts[1].note
    bloom, later = body.children
    assert (bloom.label, bloom.start, bloom.number) == ("bloom-filter", starts[0].value, 0)
    assert bloom.children[1].note == "16 bits, 4 of them set"
    assert (later.label, later.role) == ("later", "unexplained")


def test_values_are_not_guessed_without_the_type_of_the_column() -> None:
    data = container([("c", [("bitmap", bitmap_index(["a", "b", "a"], "STRING", 2))])])
    span = explain_bytes(data, "file_index")
    leaf = span.find(len(data) - 1)
    assert leaf.role == "unexplained" and "type of the column" in leaf.note


def test_redundant_and_unreferenced_bytes_are_told() -> None:
    data = container([("c", [("bloom-filter", bloom_index(b"1234"))])], redundant=b"later") + b"rest"
    span = explain_bytes(data, "file_index")
    assert span.find(len(data) - 1).label == "unreferenced"
    assert [leaf.label for leaf in span.leaves() if leaf.role] == ["redundant bytes", "unreferenced"]


def test_damage_keeps_the_rest() -> None:
    good = container(
        [("a", [("bloom-filter", bloom_index(b"1234"))]), ("b", [("bsi", bsi_index([1, -2, None]))])]
    )
    error = find_error(explain_file_index(good[:8] + struct.pack(">i", 9) + good[12:]))
    assert isinstance(error, Unsupported)
    cut = explain_file_index(good[:-1])
    error = find_error(cut)
    assert isinstance(error, Corrupt) and error.offset is not None
    assert [node.value for node in find_label(cut, "column name")] == ["a", "b"]
    assert find_label(cut, "bit set")
    head, second = decode_file_index(good).head_length, decode_file_index(good).columns[1].indexes[0]
    entry = struct.pack(">ii", second.start, second.length)
    twice = good.replace(entry, struct.pack(">ii", head + 2, second.length))
    error = find_error(explain_file_index(twice))
    assert isinstance(error, Corrupt) and "overlaps" in error.message


RICH = container(
    [
        ("s", [("bitmap", bitmap_index(["x", None, "y", "x", None, "zz", "w", "v"], "STRING", 2))]),
        ("i", [("bitmap", bitmap_index([1, 1, 2, None], "INT", 1)), ("bsi", bsi_index([5, -9, None, 0]))]),
        ("b", [("range-bitmap", range_bitmap_index([10, 20, 30, 40, 50, None, 10], "BIGINT"))]),
        ("t", [("range-bitmap", range_bitmap_index(["a", "bb", "ccc", "dddd"], "STRING")), ("bitmap", None)]),
        ("ü😀", [("bloom-filter", bloom_index(bytes(range(40))))]),
    ]
)
TYPES = {"s": "STRING", "i": "INT", "b": "BIGINT", "t": "VARCHAR(9)", "ü😀": "INT"}


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("types", [None, TYPES])
def test_cuts_and_flips(types: Mapping[str, str] | None) -> None:
    assert find_error(explain_file_index(RICH, types=types)) is None
    assert_survives(lambda data: explain_file_index(data, types=types), RICH, flips=400)
    assert_survives(lambda data: explain_file_index(data, types=types), SMALL, flips=400)


def assert_verdict(data: bytes) -> None:
    """There is a value when the head is whole, else its first damage is raised."""
    span = explain_file_index(data, types=TYPES)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    try:
        decoded = span.value
    except LakeError as raised:
        assert error is not None and str(raised) == str(error)
    else:
        assert decoded.head_length <= len(data)


@settings(max_examples=200)
@given(st.data())
def test_damage_of_the_head_is_raised_by_the_value(draw: st.DataObject) -> None:
    damaged = bytearray(draw.draw(st.sampled_from([RICH, SMALL, SAMPLE[:200]])))
    for _ in range(draw.draw(st.integers(0, 3))):
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    cut = draw.draw(st.integers(0, len(damaged))) if draw.draw(st.booleans()) else len(damaged)
    assert_verdict(bytes(damaged[:cut]))


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes(tail: bytes) -> None:
    assert_verdict(tail)
    head = struct.pack(">qi", MAGIC, 1)
    assert_verdict(head + struct.pack(">i", 16 + len(tail)) + tail)
