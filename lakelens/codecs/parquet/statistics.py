"""Which statistics of a column chunk prove something: the bounds and counts that readers may skip rows by.

    Statistics   max 1 · min 2 (signed byte order, deprecated) · null_count 3 · max_value 5 · min_value 6 · nan_count 9
    FileMetaData column_orders 7: the order that min_value and max_value of each leaf follow

Follows `Statistics` and `ColumnOrder` of `parquet.thrift`, and what parquet-mr trusts (`fromParquetStatisticsInternal` of
`ParquetMetadataConverter`, `CorruptStatistics`). Not trusted, so None: bounds without a column order; deprecated bounds of
types whose order is not the signed one, unless both are the same value; deprecated bounds of binary columns by writers with
PARQUET-251; INT96 and intervals, which have no order; NaN; a lower bound above the upper one; counts beyond the number of
values; everything about repeated columns, whose values are not rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
from lakelens.codecs.parquet.thrift_schema import FILE, decode_statistic
from lakelens.codecs.part_statistics import PartStatistics
from lakelens.codecs.span.reader import in_file

_SIGNED = ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE")
_BINARY = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_VERSION = re.compile(r"^parquet-mr\s+version\s+(\d+)\.(\d+)\.(\d+)([^\s(]*)")
_FIXED = (1, 8, 0)  # the first version without PARQUET-251
_CLOUDERA = re.compile(r"-cdh5\.(\d+)")


def read_statistics(footer: ParquetFooter, index: int) -> list[PartStatistics]:
    """What the footer proves of one leaf, row group by row group. Raises `Corrupt`.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, None, 3]}), sink)
    >>> read_statistics(decode_footer(sink), 0)
    [PartStatistics(lower=1, upper=3, nulls=1, values=3, nans=None)]
    """
    leaf = footer.leaves[index]
    has_order = find_order(footer, index) == "TYPE_ORDER"
    return [
        _judge(metadata, leaf, rows, footer.created_by, has_order)
        for metadata, rows in iter_chunks(footer, index)
    ]


def iter_chunks(footer: ParquetFooter, index: int) -> list[tuple[StructReader, int]]:
    """The `ColumnMetaData` of one leaf in each row group, with the group's number of rows. Raises `Corrupt`."""
    with in_file(footer.path):
        found = []
        for group in StructReader(footer.structure, FILE, None).structs("row_groups"):
            columns = group.structs("columns")
            if index >= len(columns):
                group.fail("a row group without every column", expected=len(footer.leaves), seen=len(columns))
            column = columns[index]
            found.append((column.struct("meta_data", column.get("meta_data")), group.integer("num_rows")))
        return found


def find_order(footer: ParquetFooter, index: int) -> str | None:
    """The order that `min_value` and `max_value` of a leaf follow, as `ColumnOrder` names it; None without one."""
    orders = StructReader(footer.structure, FILE, None).get("column_orders")
    order = orders[index] if isinstance(orders, list) and index < len(orders) else None
    if not isinstance(order, dict) or len(order) != 1:
        return None
    names = {1: "TYPE_ORDER", 2: "IEEE_754_TOTAL_ORDER", 3: "INT96_TIMESTAMP_ORDER"}
    return names.get(next(iter(order)))


def has_wrong_binary_bounds(created_by: str | None) -> bool:
    """Whether a writer may have stored wrong bounds of binary columns (PARQUET-251), as parquet-mr judges by `created_by`.

    >>> has_wrong_binary_bounds("parquet-mr version 1.6.0 (build abc)"), has_wrong_binary_bounds("parquet-mr version 1.8.1")
    (True, False)
    >>> has_wrong_binary_bounds(None), has_wrong_binary_bounds("parquet-cpp version 1.0.0")
    (True, False)
    """
    if not created_by:
        return True
    if not created_by.startswith("parquet-mr"):
        return False
    found = _VERSION.match(created_by)
    if found is None:
        return True
    version, suffix = tuple(int(part) for part in found.groups()[:3]), found[4]
    if version >= _FIXED:
        return version == _FIXED and suffix.startswith("-")  # a snapshot or candidate of the release
    cloudera = _CLOUDERA.match(suffix)
    return not (version == (1, 5, 0) and cloudera is not None and int(cloudera[1]) >= 5)


def _judge(
    metadata: StructReader, leaf: SchemaLeaf, rows: int, created_by: str | None, has_order: bool
) -> PartStatistics:
    values = metadata.integer("num_values")
    if leaf.max_repetition_level or values != rows:
        return PartStatistics()
    statistics = metadata.struct("statistics", metadata.get("statistics", {}))
    nulls, nans = statistics.optional("null_count"), statistics.optional("nan_count")
    if not leaf.max_definition_level:
        nulls = 0  # a required column
    elif nulls is not None and nulls > values:
        nulls = None
    if nans is not None and nans > values - (nulls or 0):
        nans = None
    lower, upper = _decode_bounds(statistics, leaf, created_by, has_order)
    return PartStatistics(lower, upper, nulls, values, nans)


def _decode_bounds(
    statistics: StructReader, leaf: SchemaLeaf, created_by: str | None, has_order: bool
) -> tuple[Any, Any]:
    stored = _choose(statistics, leaf, created_by, has_order)
    if stored is None:
        return None, None
    lower, upper = (decode_statistic(data, leaf.physical_type, leaf.logical_type) for data in stored)
    try:
        # no comparison holds of NaN; in a damaged footer the bounds may be the wrong way round
        is_range = lower is not None and upper is not None and bool(lower <= upper)
    except TypeError:  # one of them is a date that Python's dates cannot hold
        is_range = False
    return (lower, upper) if is_range else (None, None)


def _choose(
    statistics: StructReader, leaf: SchemaLeaf, created_by: str | None, has_order: bool
) -> Sequence[bytes] | None:
    """The stored bounds that may be trusted, both or none."""
    if leaf.physical_type == "INT96" or leaf.logical_type == "Interval":
        return None
    low, high = statistics.get("min_value"), statistics.get("max_value")
    if isinstance(low, bytes) and isinstance(high, bytes):
        return (low, high) if has_order or low == high else None
    low, high = statistics.get("min"), statistics.get("max")
    if not isinstance(low, bytes) or not isinstance(high, bytes):
        return None
    if leaf.physical_type in _BINARY and has_wrong_binary_bounds(created_by):
        return None
    logical = leaf.logical_type or ""
    is_other = "isSigned=false" in logical or logical.startswith("Decimal")
    is_signed = leaf.physical_type in _SIGNED and not is_other  # the order that the deprecated bounds follow
    return (low, high) if is_signed or low == high else None


__all__ = ["find_order", "has_wrong_binary_bounds", "iter_chunks", "read_statistics"]
