"""What indexes know: those that the encoders of the span tests make, of random values."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.hashes import hash_number, hash_xx64
from lakelens.codecs.paimon.index.probes import (
    BloomFilter,
    SlicedValues,
    Values,
    read_probe,
)
from lakelens.codecs.paimon.types import parse_type
from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.index_proofs import proves_none
from lakelens.formats.paimon.metadata.logical_types import describe_type
from lakelens.model.stats import Term
from tests.codecs.paimon.index.test_file_index_spans import (
    Rows,
    bitmap_index,
    bsi_index,
    range_bitmap_index,
    typed,
)
from tests.formats.paimon.test_index_proofs import TESTS

BIG = st.integers(-(2**62), 2**62)


def read(data: bytes, kind: str, type_: str) -> Any:
    """The index with bytes before and behind it."""
    return read_probe(b"\xff" * 7 + data + b"\xff", 7, 7 + len(data), kind, type_)


@given(typed, st.integers(1, 5))
def test_values_are_listed_each_once(case: tuple[str, Rows], size: int) -> None:
    type_, rows = case
    distinct = {value for value in rows if value is not None}
    indexes = {
        "bitmap": [bitmap_index(rows, type_, version, size) for version in (1, 2)],
        "range-bitmap": [range_bitmap_index(rows, type_, size)],
    }
    for kind, encoded in indexes.items():
        for data in encoded:
            found = read(data, kind, type_)
            assert isinstance(found, Values)
            assert len(found.values) == len(distinct) and set(found.values) == distinct
            assert (found.has_null, found.rows) == (None in rows, len(rows))


@given(st.lists(st.none() | st.integers(-9, 9) | BIG, max_size=20), st.integers(-9, 9) | BIG)
def test_slices_count_rows_and_know_their_ends(rows: list[int | None], absent: int) -> None:
    found = read(bsi_index(rows), "bsi", "BIGINT")
    assert isinstance(found, SlicedValues)
    assert (found.has_null, found.rows) == (None in rows, len(rows))
    counted = Counter(value for value in rows if value is not None)
    assert len(found) == counted.total()
    for value in (*counted, absent):
        parts = [part for part in found.parts if (part.sign < 0) == (value < 0)]
        assert sum(part.count(value) for part in parts) == counted[value]
    for part in found.parts:
        held = [value for value in counted if (value < 0) == (part.sign < 0)]
        assert part.bounds == (min(held), max(held))


@given(typed, st.data())
def test_what_is_proved_is_true_and_what_is_true_is_proved(
    case: tuple[str, Rows], data: st.DataObject
) -> None:
    """Indexes that hold the values decide every comparison."""
    type_, rows = case
    present = [value for value in rows if value is not None]
    others = {"STRING": st.text("ab√", max_size=9), "DOUBLE": st.floats(-9, 9), "BOOLEAN": st.booleans()}
    other = data.draw(others.get(type_, st.integers(-5, 12)))
    literal = data.draw(st.sampled_from([*present, other]))
    written = parse_type(type_)
    probes = [read(bitmap_index(rows, type_, 2), "bitmap", type_)]
    probes.append(read(range_bitmap_index(rows, type_), "range-bitmap", type_))
    if type_ in ("INT", "BIGINT"):
        probes.append(read(bsi_index(rows), "bsi", type_))
    for test, fits in TESTS.items():
        term = Term("", "x", describe_type(written), test, (literal,))
        wanted = not any(fits(value, literal) for value in present)
        assert [proves_none(probe, term, written) for probe in probes] == [wanted] * len(probes)
    for test, wanted in (("is null", None not in rows), ("is not null", not present)):
        term = Term("", "x", describe_type(written), test)  # type: ignore[arg-type]
        assert {proves_none(probe, term, written) for probe in probes} == {wanted}


def add(bits: bytearray, hashed: int, hashes: int) -> None:
    """Paimon's `BloomFilter64.addHash`, with Java's integers made by `struct`."""
    low, high = struct.unpack("<ii", struct.pack("<Q", hashed))
    for i in range(1, hashes + 1):
        (combined,) = struct.unpack("<i", struct.pack("<q", low + i * high)[:4])
        place = (~combined if combined < 0 else combined) % (8 * len(bits))
        bits[place >> 3] |= 1 << (place & 7)


@given(st.lists(st.text(max_size=8)), st.integers(1, 40), st.integers(1, 9))
def test_bloom_filters_hold_what_was_added(texts: list[str], size: int, hashes: int) -> None:
    bits = bytearray(size)
    for text in texts:
        add(bits, hash_xx64(text.encode()), hashes)
    found = read(struct.pack(">i", hashes) + bytes(bits), "bloom-filter", "STRING")
    assert isinstance(found, BloomFilter)
    assert all(found.may_contain(hash_xx64(text.encode())) for text in texts)


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_hashed_as_java_does(number: int) -> None:
    def long(value: int) -> int:
        wrapped: int = struct.unpack("<q", struct.pack("<Q", value % 2**64))[0]
        return wrapped

    key = long(long(~number) + long(number << 21))
    key = long(key ^ (key >> 24))
    key = long(long(key + long(key << 3)) + long(key << 8))
    key = long(key ^ (key >> 14))
    key = long(long(key + long(key << 2)) + long(key << 4))
    key = long(key ^ (key >> 28))
    assert hash_number(number) == long(key + long(key << 31)) % 2**64


def test_unknown_kinds_know_nothing() -> None:
    assert read(b"abc", "ngram", "STRING") is None


@pytest.mark.parametrize("kind", ["bitmap", "bsi", "range-bitmap", "bloom-filter"])
@given(data=st.data())
def test_any_damage_is_an_answer_or_an_error_of_ours(kind: str, data: st.DataObject) -> None:
    rows = [1, None, 3, 1, -7, 9]
    make = {"bitmap": bitmap_index(rows, "INT", 2), "bsi": bsi_index(rows)}
    whole = make.get(kind, range_bitmap_index(rows, "INT") if kind == "range-bitmap" else bytes(20))
    cut = data.draw(st.integers(0, len(whole)))
    changed = bytearray(whole[:cut])
    for _ in range(data.draw(st.integers(0, 3)) if changed else 0):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    written = parse_type("INT")
    term = Term("", "x", describe_type(written), "=", (5,))
    try:
        probe = read(bytes(changed), kind, "INT")
        assert proves_none(probe, term, written) in (True, False)
    except LakeError:
        pass
