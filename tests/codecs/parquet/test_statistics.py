"""Which statistics are trusted: by the rules of parquet-mr, on footers that are changed to what old writers left."""

from __future__ import annotations

import copy
import io
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakelens.codecs.parquet.footer import ParquetFooter, decode_footer
from lakelens.codecs.parquet.pages import is_dictionary_encoded
from lakelens.codecs.parquet.statistics import has_wrong_binary_bounds, iter_chunks, read_statistics

# field ids of parquet.thrift
GROUPS, COLUMNS, METADATA, STATISTICS, ORDERS, ENCODINGS, ENCODING_STATS = 4, 1, 3, 12, 7, 2, 13
MAX, MIN, MAX_VALUE, MIN_VALUE = 1, 2, 5, 6
OLD = "parquet-mr version 1.7.0 (build abc)"
NEW = "parquet-mr version 1.13.1 (build abc)"


def write(values: Any, **options: Any) -> ParquetFooter:
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": values}), sink, **options)
    return decode_footer(sink)


def change(footer: ParquetFooter, created_by: str | None = NEW, **members: Any) -> ParquetFooter:
    """The same footer with other statistics, as its writer's version would have written them."""
    structure: dict[int, Any] = copy.deepcopy(dict(footer.structure))
    metadata = structure[GROUPS][0][COLUMNS][0][METADATA]
    if "statistics" in members:
        metadata[STATISTICS] = members["statistics"]
    if members.get("orders", True) is None:
        structure.pop(ORDERS, None)
    for name, number in (("encodings", ENCODINGS), ("encoding_stats", ENCODING_STATS)):
        if name in members:
            metadata[number] = members[name]
            if members[name] is None:
                del metadata[number]
    return replace(footer, structure=structure, created_by=created_by)


def bounds(footer: ParquetFooter) -> tuple[Any, Any]:
    (found,) = read_statistics(footer, 0)
    return found.lower, found.upper


NUMBERS = pa.array([3, 9], pa.int32())
TEXTS = pa.array(["a", "b"])
LOW, HIGH = (3).to_bytes(4, "little"), (9).to_bytes(4, "little")


def test_bounds_and_counts_are_those_of_pyarrow() -> None:
    footer = write(pa.array([3, None, 9]))
    (found,) = read_statistics(footer, 0)
    assert (found.lower, found.upper, found.nulls, found.values) == (3, 9, 1, 3)


def test_deprecated_bounds_of_signed_types_are_trusted_of_any_writer() -> None:
    for writer in (None, OLD, NEW, "impala version 1.0"):
        assert bounds(change(write(NUMBERS), writer, statistics={MIN: LOW, MAX: HIGH})) == (3, 9)


def test_deprecated_bounds_of_texts_only_where_both_are_equal() -> None:
    footer = write(TEXTS)
    assert bounds(change(footer, statistics={MIN: b"a", MAX: b"b"})) == (None, None)
    assert bounds(change(footer, statistics={MIN: b"a", MAX: b"a"})) == ("a", "a")


@pytest.mark.parametrize(
    ("writer", "is_wrong"),
    [
        (None, True),
        ("", True),
        ("parquet-mr", True),
        ("parquet-mr version 1.6.0rc3 (build abc)", True),
        ("parquet-mr version 1.8.0 (build abc)", False),
        ("parquet-mr version 1.5.0-cdh5.5.0 (build abc)", False),
        ("parquet-mr version 1.5.0-cdh5.4.9 (build abc)", True),
        ("parquet-mr version 1.10.1", False),
        ("Impala version 1.0", False),
    ],
)
def test_writers_with_parquet_251(writer: str | None, is_wrong: bool) -> None:
    assert has_wrong_binary_bounds(writer) is is_wrong
    stored = {MIN: b"a", MAX: b"a"}
    assert bounds(change(write(TEXTS), writer, statistics=stored)) == (
        (None,) * 2 if is_wrong else ("a",) * 2
    )


def test_unsigned_numbers_and_decimals_have_another_order_than_the_deprecated_bounds() -> None:
    unsigned = write(pa.array([3, 9], pa.uint32()))
    assert bounds(change(unsigned, statistics={MIN: LOW, MAX: HIGH})) == (None, None)
    decimals = write(pa.array([3, 9], pa.decimal128(5, 0)), store_decimal_as_integer=True)
    assert bounds(change(decimals, statistics={MIN: LOW, MAX: HIGH})) == (None, None)
    assert bounds(decimals) == (3, 9)


def test_bounds_without_a_column_order_are_not_trusted() -> None:
    assert bounds(change(write(NUMBERS), orders=None)) == (None, None)


def test_int96_has_no_order() -> None:
    footer = write(pa.array([1, 2], pa.timestamp("ns")), use_deprecated_int96_timestamps=True)
    assert footer.leaves[0].physical_type == "INT96"
    assert bounds(change(footer, statistics={MIN_VALUE: bytes(12), MAX_VALUE: bytes(12)})) == (None, None)


def test_nan_and_bounds_the_wrong_way_round_say_nothing() -> None:
    footer = write(pa.array([1.0, 2.0]))
    nan, one = bytes.fromhex("000000000000f87f"), bytes.fromhex("000000000000f03f")
    two = bytes.fromhex("0000000000000040")
    assert bounds(change(footer, statistics={MIN_VALUE: one, MAX_VALUE: nan})) == (None, None)
    assert bounds(change(footer, statistics={MIN_VALUE: two, MAX_VALUE: one})) == (None, None)
    assert bounds(change(footer, statistics={MIN_VALUE: one, MAX_VALUE: two})) == (1.0, 2.0)
    assert bounds(change(footer, statistics={MIN_VALUE: one})) == (None, None)


def test_counts_beyond_the_values_are_not_known() -> None:
    (found,) = read_statistics(change(write(NUMBERS), statistics={3: 7}), 0)
    assert (found.nulls, found.values) == (None, 2)


def test_repeated_columns_have_no_value_a_row() -> None:
    (found,) = read_statistics(write(pa.array([[1, 2], [3]])), 0)
    assert found.values is None and found.lower is None


@pytest.mark.parametrize(
    ("encodings", "stats", "holds_all"),
    [
        ([2, 3, 4], None, True),  # version 1.0: PLAIN_DICTIONARY, levels
        ([2, 0, 3], None, False),  # fell back to PLAIN
        ([8, 0, 3], None, False),  # version 2.0 does not say
        ([8, 0, 3], [{1: 2, 2: 0, 3: 1}, {1: 0, 2: 8, 3: 4}], True),  # PLAIN is the dictionary page's
        ([8, 0, 3], [{1: 2, 2: 0, 3: 1}, {1: 0, 2: 8, 3: 4}, {1: 0, 2: 0, 3: 1}], False),
        ([8, 0, 3], [{1: 2, 2: 0, 3: 1}, {1: 3, 2: 8, 3: 4}], True),  # pages of version 2
        ([8, 0, 3], [], False),
    ],
)
def test_when_the_dictionary_holds_every_value(encodings: Any, stats: Any, holds_all: bool) -> None:
    footer = change(write(NUMBERS), encodings=encodings, encoding_stats=stats)
    ((metadata, rows),) = iter_chunks(footer, 0)
    assert (rows, is_dictionary_encoded(metadata)) == (2, holds_all)
