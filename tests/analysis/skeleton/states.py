"""Predicates made from what a table records, and what an explanation counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from lakelens.analysis.explain.explanation import Explanation
from lakelens.analysis.skeleton import Skeleton
from lakelens.errors import Unsupported
from lakelens.model.arrow import arrow_type
from lakelens.model.table import Table
from tests.support.predicates import Maker
from tests.support.stored_rows import Column, list_columns


def list_recorded(table: Table) -> dict[str, pa.Array]:
    """Of each column the bounds that are recorded of it, and its partition values."""
    arrow = table.files.to_arrow()
    found: dict[str, pa.Array] = {}
    for column in list_columns(table.schema):
        kind = arrow_type(column.kind)
        parts = [
            getattr(part, "storage", part)
            for name in ("lower_bounds", "upper_bounds", "partition_values")
            if name in arrow.column_names
            for part in _find_field(arrow[name], column.name, kind)
        ]
        if parts and not pa.types.is_nested(kind):
            found[column.name] = pa.concat_arrays(parts).unique()
    return found


def _find_field(column: pa.ChunkedArray, name: str, kind: pa.DataType) -> Iterator[pa.Array]:
    for chunk in column.chunks:
        index = chunk.type.get_field_index(name)
        if index >= 0 and chunk.field(index).type == kind:
            yield chunk.field(index)


def values_of(table: Table) -> Iterator[str]:
    """The recorded values of a table as text."""
    if table.current is None:
        return
    for array in list_recorded(table).values():
        yield from (str(value) for value in array.to_pylist() if value is not None)


def make_predicates(table: Table, seed: str, count: int) -> Iterator[str]:
    """Predicates over the columns that have bounds or partition values."""
    values = list_recorded(table)
    columns: list[Column] = [one for one in list_columns(table.schema) if len(values.get(one.name, ()))]
    if columns:
        maker = Maker(columns, values, seed)
        yield from (maker.make().text for _ in range(count))


def count(explanation: Explanation) -> tuple[Any, ...]:
    """How many files are kept and skipped, and of how many rows and bytes."""
    kept, skipped = explanation.kept, explanation.skipped
    return len(kept), len(skipped), kept.record_count, kept.size_bytes


def count_parts(table: Table) -> tuple[Any, ...]:
    """How many snapshots, refs, schemas, manifests, files, rows and deletes there are; ids and sizes as they are."""
    snapshots = [(one.id, one.operation, len(one.manifests), one.record_count) for one in table.snapshots]
    refs = sorted(repr((one.type, one.snapshot_id)) for one in table.refs)
    files = list(table.files)
    data = [file for file in files if file.content == "data"]
    facts = sorted(repr((one.content, one.file_format, one.size_bytes, one.record_count)) for one in files)
    deletes = sorted(repr((one.record_count, len(one.deletes))) for one in data)
    return snapshots, refs, len(table.schemas), len(table.specs), facts, deletes


def compare_answers(
    table: Table, copy: Table, path: Skeleton, seed: str, counted: dict[str, int], most: int = 9
) -> None:
    """What `explain` says of predicates is what it says of them in the skeleton."""
    if table.current is None:
        return
    for where in make_predicates(table, seed, most):
        try:
            asked = path.translate_predicate(where)
        except Unsupported:
            counted["refused"] += 1
            continue
        before, after = table.explain(where), copy.explain(asked)
        assert count(after) == count(before), (where, asked)
        counted["compared"] += 1
        counted["files"] += len(before.kept) + len(before.skipped)
        counted["skipped"] += len(before.skipped)
