"""Bounds and counts of a Parquet file's columns, from its footer: row groups taken together (Parquet `Statistics`).

A column has bounds only if every row group that holds a value of it has them. INT96 timestamps never do.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.model.schema import Field
from lakelens.model.stats import Bounds, ColumnBounds

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_PHYSICAL = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}


def collect_bounds(metadata: pq.FileMetaData, leaves: Sequence[tuple[str, Field]]) -> Bounds:
    """The bounds of every leaf column, `leaves` being the file's own in Parquet's order."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    columns: dict[str, ColumnBounds] = {}
    for index, (name, column) in enumerate(leaves[: metadata.num_columns]):
        chunks = [group.column(index) for group in groups]
        columns[name] = _combine(name, column, chunks)
    return Bounds(columns)


def _combine(name: str, column: Field, chunks: Sequence[Any]) -> ColumnBounds:
    stats = [chunk.statistics for chunk in chunks]
    lower, lower_raw = _extreme(chunks, stats, smallest=True)
    upper, upper_raw = _extreme(chunks, stats, smallest=False)
    nulls = [None if s is None or not s.has_null_count else s.null_count for s in stats]
    return ColumnBounds(
        name,
        column.type,
        None,
        lower,
        upper,
        None if None in nulls else sum(count or 0 for count in nulls),
        sum(chunk.num_values for chunk in chunks),
        None,
        sum(chunk.total_compressed_size for chunk in chunks),
        None,
        lower_raw,
        upper_raw,
    )


def _extreme(chunks: Sequence[Any], stats: Sequence[Any], *, smallest: bool) -> tuple[Any, bytes | None]:
    """The least or greatest value over the chunks, with its bytes; None where a chunk with values does not tell."""
    found: list[tuple[Any, bytes | None]] = []
    for chunk, known in zip(chunks, stats, strict=True):
        if known is not None and known.has_null_count and known.null_count == chunk.num_values:
            continue
        if known is None or not known.has_min_max:
            return None, None
        pair = _read_extreme(chunk.physical_type, known, smallest)
        if pair is None:
            return None, None
        found.append(pair)
    if not found:
        return None, None
    try:
        choose = min if smallest else max
        return choose(found, key=lambda pair: pair[0])
    except TypeError:  # values that do not compare
        return None, None


def _read_extreme(physical: str, known: Any, smallest: bool) -> tuple[Any, bytes | None] | None:
    raw = known.min_raw if smallest else known.max_raw
    try:
        value = known.min if smallest else known.max
    except (ValueError, OverflowError, ArithmeticError, NotImplementedError, TypeError):
        value = raw  # a date outside of Python's years: its day number
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None:
        return None
    return value, _pack(physical, raw)


def _pack(physical: str, raw: Any) -> bytes | None:
    if isinstance(raw, bytes):
        return raw
    if isinstance(raw, str):
        return raw.encode()
    try:
        return struct.pack(_PHYSICAL[physical], raw)
    except (KeyError, struct.error):
        return None


def name_leaves(fields: Iterable[Field], names: Mapping[str, str]) -> list[tuple[str, Field]]:
    """The leaves of a file's columns, top-level names worded as the table words them.

    >>> from lakelens.model.schema import DataType
    >>> name_leaves([Field(1, "ID", DataType("int", "int32"))], {"id": "id"})[0][0]
    'id'
    """
    found = []
    for column in fields:
        name = names.get(column.name.casefold(), column.name)
        for path, leaf in column.leaves():
            found.append((name + path[len(column.name) :], leaf))
    return found
