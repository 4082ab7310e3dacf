"""Bounds and counts of a Parquet file's columns, from its footer: row groups taken together (Parquet `Statistics`).

A column has bounds only if every row group that holds a value of it has them. INT96 timestamps never do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.model.explainable import Source
from lakelens.model.schema import Field
from lakelens.model.stats import Bounds, ColumnBounds

if TYPE_CHECKING:
    from lakelens.codecs.parquet.footer import ParquetFooter
    from lakelens.codecs.parquet.structure import ColumnChunk
    from lakelens.formats.hive.footers import FileFacts

Extreme = tuple[Any, bytes | None]


def collect_bounds(facts: FileFacts, names: Mapping[str, str], source: Source | None = None) -> Bounds:
    """The bounds of every leaf column of a Parquet file; `source` finds their bytes.

    Top-level columns are spelled as in `names`, by case-folded name. Raises `Corrupt` for statistics that cannot be read.
    """
    footer: ParquetFooter = facts.footer
    leaves = list_leaves(facts.columns, names)
    if len(leaves) != footer.num_columns:  # what Spark recorded is not what is stored
        leaves = list_leaves(facts.own_columns, names)
    columns: dict[str, ColumnBounds] = {}
    for index, (name, column) in enumerate(leaves[: footer.num_columns]):
        chunks = [group.columns[index] for group in footer.row_groups]
        lower, lower_raw = _choose(chunks, smallest=True)
        upper, upper_raw = _choose(chunks, smallest=False)
        nulls = [chunk.null_count for chunk in chunks]
        columns[name] = ColumnBounds(
            name,
            column.type,
            None,
            lower,
            upper,
            None if None in nulls else sum(count or 0 for count in nulls),
            sum(chunk.num_values for chunk in chunks),
            None,
            sum(chunk.compressed_size for chunk in chunks),
            None,
            lower_raw,
            upper_raw,
            _source=source,
        )
    return Bounds(columns)


def _choose(chunks: Sequence[ColumnChunk], *, smallest: bool) -> Extreme:
    """The least or greatest value over the chunks, with its bytes; None where a chunk with values has none."""
    found: list[Extreme] = []
    for chunk in chunks:
        if chunk.null_count is not None and chunk.null_count == chunk.num_values:
            continue
        value = chunk.min if smallest else chunk.max
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None, None
        found.append((value, chunk.min_raw if smallest else chunk.max_raw))
    if not found:
        return None, None
    try:
        return (min if smallest else max)(found, key=lambda pair: pair[0])
    except TypeError:  # values that do not compare
        return None, None


def list_leaves(fields: Iterable[Field], names: Mapping[str, str]) -> list[tuple[str, Field]]:
    """The leaves of a file's columns with their full names, in Parquet's order."""
    return [
        (names.get(column.name.casefold(), column.name) + path[len(column.name) :], leaf)
        for column in fields
        for path, leaf in column.leaves()
    ]
