"""Bloom filters of ORC: those that the C++ writer of pyarrow makes, and how they are damaged."""

from __future__ import annotations

import io
import struct
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pytest

from lakelens.codecs.orc.footer import OrcTail
from lakelens.codecs.orc.statistics import (
    hash_value,
    hashes_negatives_otherwise,
    list_leaves,
    read_bloom_filters,
)
from lakelens.errors import LakeError
from lakelens.formats.row_groups.opening import open_stripes
from lakelens.formats.row_groups.values import TableColumn
from lakelens.io.memory import MemoryStore
from lakelens.model.schema import DataType
from lakelens.model.stats import Term

ROWS = 25_000
COLUMNS: dict[str, tuple[DataType, Any, Any]] = {
    "l": (DataType("long", "int64"), pa.int64(), lambda n: (n - ROWS // 2) * 7),
    "i": (DataType("int", "int32"), pa.int32(), lambda n: -n * 3),
    "f": (DataType("float", "float32"), pa.float32(), lambda n: n * 2.0 - 9),
    "d": (DataType("double", "float64"), pa.float64(), lambda n: n * 0.5 - 99),
    "s": (DataType("string", "string"), pa.string(), lambda n: f"name-{n * 3}" * (n % 4)),
    "b": (DataType("binary", "binary"), pa.binary(), lambda n: b"\xff" * (n % 9) + struct.pack(">i", n)),
    "da": (DataType("date", "date"), pa.date32(), lambda n: date.fromordinal(719163 - n * 2)),
}


def write(**options: Any) -> bytes:
    """Three row groups of the index, the second without any of the others' values."""
    columns = {
        name: pa.array([make(n) if n % 5 else None for n in range(ROWS)], stored)
        for name, (_, stored, make) in COLUMNS.items()
    }
    sink = io.BytesIO()
    pyarrow.orc.write_table(
        pa.table(columns),
        sink,
        bloom_filter_columns=list(range(1, len(columns) + 1)),
        bloom_filter_fpp=0.01,
        **options,
    )
    return sink.getvalue()


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_what_is_there_is_never_excluded_and_most_else_is(compression: str) -> None:
    data = write(compression=compression)
    errors: list[LakeError] = []
    columns = {name: TableColumn(kind, place) for place, (name, (kind, _, _)) in enumerate(COLUMNS.items())}
    stripes = open_stripes(MemoryStore({"/t/a": data}), "/t/a", lambda leaves: columns.get, errors.append)
    for name, (kind, _, make) in COLUMNS.items():
        masks = [
            dict(stripes.exclude(Term("", name, kind, "=", (make(n),))))["bloom"]
            for n in range(1, ROWS, 501)
            if n % 5
        ]
        assert len(masks) > 30 and not any(any(mask) for mask in masks), name
        absent = [
            dict(stripes.exclude(Term("", name, kind, "=", (make(ROWS + n),)))) for n in range(1, 60) if n % 4
        ]
        assert sum(all(mask["bloom"]) for mask in absent) > 0.8 * len(absent), name
    many = Term("", "l", COLUMNS["l"][0], "in", tuple(7 * n + 1 for n in range(20)))
    assert dict(stripes.exclude(many))["bloom"] == [True] * stripes.count
    assert dict(stripes.exclude(many, [False] * stripes.count))["bloom"] == [False] * stripes.count
    assert not errors


def test_one_filter_for_each_row_group() -> None:
    data = write()
    tail = OrcTail(data, 0, len(data))
    leaf = list_leaves(tail)[4]
    filters = read_bloom_filters(tail, 0, leaf)
    assert leaf.names == ("s",) and len(filters) == 3
    hashed = hash_value(b"name-3", "STRING")
    assert hashed is not None
    assert [one.may_contain(hashed) for one in filters] == [True, False, False]
    assert hash_value(5, "DECIMAL") is None


@pytest.mark.parametrize(
    ("writer", "version", "is_bad"),
    [
        (0, "1.6.3", False),
        (1, "1.6.11", True),
        (1, "ORC C++ 1.7.0", True),
        (1, "1.6.12", False),
        (1, "", True),
    ],
)
def test_versions_that_hash_negative_numbers_otherwise(writer: int, version: str, is_bad: bool) -> None:
    class Tail:
        footer = {"writer": writer, "softwareVersion": version}  # noqa: RUF012

    assert hashes_negatives_otherwise(Tail()) is is_bad  # type: ignore[arg-type]


def test_damage_is_an_error_or_an_answer() -> None:
    data = write()
    tail = OrcTail(data, 0, len(data))
    leaf = list_leaves(tail)[0]
    for at in range(3, len(data), len(data) // 150):
        changed = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        try:
            tail = OrcTail(changed, 0, len(changed))
            for one in read_bloom_filters(tail, 0, leaf):
                one.may_contain(7)
        except LakeError:
            pass
