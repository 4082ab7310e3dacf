"""Rows of a data or delete file without any package: its columns found by field id, values as Avro stores them.

What `stored_columns` reads by column is read here row by row, of Parquet and Avro files: records of both have one shape
(`codecs.parquet.rows`, `codecs.avro.records`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.avro.records import decode_header, iter_records
from lakelens.codecs.avro.schema import find_record
from lakelens.errors import Corrupt
from lakelens.formats.contents import load_codec, open_file
from lakelens.formats.iceberg.deletes.stored_columns import StoredColumn, map_ids, walk_avro

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext


class StoredRows:
    """The rows of one file of a known format. Raises `LakeError`; `NotInstalled` for a format that takes a package."""

    def __init__(self, context: TableContext, path: str, kind: str) -> None:
        from lakelens.codecs.parquet.footer import decode_footer
        from lakelens.codecs.parquet.schema_tree import decode_tree, describe_tree

        if kind == "orc":
            load_codec(kind).read_schema(
                open_file(context.access.store, path), path
            )  # which says what it takes
        self.path = path
        self._data = context.access.store.read(path)
        if kind == "avro":
            self._header = decode_header(self._data, path)
            schema = find_record(self._header.schema) or {}
            self._footer = None
        else:
            self._footer = decode_footer(io.BytesIO(self._data), path)
            schema = describe_tree(decode_tree(self._footer))
        columns = list(walk_avro(schema, (), 0))
        self._by_id = map_ids(columns, context)
        self._by_name: Mapping[tuple[str, ...], StoredColumn] = {column.path: column for column, _ in columns}

    def find(self, field_id: int) -> StoredColumn | None:
        """Find the column of a field id; None when the file does not have it."""
        return self._by_id.get(field_id)

    def named(self, name: str) -> StoredColumn | None:
        """The top-level column of a name."""
        return self._by_name.get((name,))

    def iterate(self, columns: Sequence[StoredColumn]) -> Iterator[list[Any]]:
        """Iterate the values of some columns, row by row."""
        for record in self._iterate_records({column.path[0] for column in columns}):
            yield [_pick(record, column.path, self.path) for column in columns]

    def _iterate_records(self, names: set[str]) -> Iterable[Mapping[str, Any]]:
        from lakelens.codecs.parquet.rows import iterate_rows

        if self._footer is None:
            return iter_records(self._data, self.path, self._header)
        batches = iterate_rows(self._data, self._footer, names, "stored")
        return (row for batch in batches for row in batch)


def _pick(record: Mapping[str, Any], path: Sequence[str], place: str) -> Any:
    value: Any = record
    for name in path:
        if value is None:
            return None
        if not isinstance(value, Mapping) or name not in value:
            raise Corrupt("a nested column that is not where the schema says", path=place, seen=name)
        value = value[name]
    return value
