"""Bounds and counts of one file, decoded by column id and shown under today's names and types.

Follows "Manifests" (fields 108 to 137) and appendix D of the Iceberg table specification. Bounds of a column that was
promoted since are stored in the width of the old type and shown in today's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lakelens.codecs.iceberg.value import decode_value
from lakelens.errors import LakeError
from lakelens.formats.iceberg.metadata.columns import Column, ColumnIndex
from lakelens.model.bytes_view import Source
from lakelens.model.stats import Bounds, ColumnBounds

DEFAULT_MODE = "truncate(16)"
_TRUNCATE = re.compile(r"truncate\((\d+)\)", re.IGNORECASE)
_SHORTENED_TYPES = ("string", "binary", "fixed")
_MAPS = (
    *("column_sizes", "value_counts", "null_value_counts", "nan_value_counts"),
    *("lower_bounds", "upper_bounds"),
)


def build_bounds(
    fields: Mapping[str, Any],
    columns: ColumnIndex,
    properties: Mapping[str, Any],
    report: Callable[[LakeError], None],
    source: Source | None = None,
) -> Bounds:
    """The bounds of a data file's fields; what cannot be decoded is reported and left out. `source` finds their bytes."""
    maps = {name: fields.get(name) or {} for name in _MAPS}
    ids = sorted({column_id for values in maps.values() for column_id in values}, key=columns.rank)
    found = {}
    for column_id in ids:
        column = columns.find(column_id)
        lower_raw, upper_raw = maps["lower_bounds"].get(column_id), maps["upper_bounds"].get(column_id)
        lower, upper = _decode(lower_raw, column, report), _decode(upper_raw, column, report)
        found[column.name] = ColumnBounds(
            column.name,
            column.type,
            column_id,
            lower,
            upper,
            maps["null_value_counts"].get(column_id),
            maps["value_counts"].get(column_id),
            maps["nan_value_counts"].get(column_id),
            maps["column_sizes"].get(column_id),
            _is_truncated(column, lower, upper, properties),
            lower_raw,
            upper_raw,
            _source=source,
        )
    return Bounds(found)


def _decode(data: bytes | None, column: Column, report: Callable[[LakeError], None]) -> Any:
    if data is None:
        return None
    if column.iceberg_type.name == "fixed" and len(data) != column.iceberg_type.length:
        return bytes(data)  # shortened by the writer, as strings are
    try:
        return decode_value(data, column.iceberg_type)
    except LakeError as error:
        error.message = f"bound of column {column.name}: {error.message}"
        report(error)
        return None


def _is_truncated(column: Column, lower: Any, upper: Any, properties: Mapping[str, Any]) -> bool | None:
    """Whether bounds may be shortened, by the metrics mode in force today: True when one has exactly its length."""
    if lower is None and upper is None:
        return None
    if column.iceberg_type.name not in _SHORTENED_TYPES:
        return False
    mode = properties.get(f"write.metadata.metrics.column.{column.name}") or properties.get(
        "write.metadata.metrics.default", DEFAULT_MODE
    )
    matched = _TRUNCATE.fullmatch(str(mode).strip())
    lengths = [len(bound) for bound in (lower, upper) if bound is not None]
    if matched:
        return int(matched[1]) in lengths
    return None if 16 in lengths else False
