"""The rows of data files as they are stored, under the names of a schema: read by pyarrow and fastavro, not by lakelens.

Columns of Iceberg are found by field id, those of Paimon by the names of the file's schema and their ids, those of Hive by
name, those of Delta by their physical names where it maps them. A column that a file does not have is null, its initial
default (Iceberg v3), or the value of its identity partition.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyarrow.parquet as pq

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.datafile import DataFile
from lakelens.model.schema import DataType, Field, Schema
from lakelens.model.table import Table

_READ = ("parquet", "orc", "avro")


@dataclass(frozen=True)
class Column:
    """A column that a predicate can name: its parts, its full name, its field, the parts of its ids."""

    parts: tuple[str, ...]
    field: Field
    ids: tuple[int, ...]
    top: Field

    @property
    def name(self) -> str:
        return ".".join(self.parts)

    @property
    def sql(self) -> str:
        """The column in a predicate."""
        return ".".join('"' + part.replace('"', '""') + '"' for part in self.parts)

    @property
    def kind(self) -> DataType:
        return self.field.type


def list_columns(schema: Schema) -> list[Column]:
    """The columns of rows: those inside lists and maps are none."""

    def walk(
        fields: Sequence[Field], parts: tuple[str, ...], ids: tuple[int, ...], top: Field | None
    ) -> Iterator[Column]:
        for field in fields:
            here, path = (*parts, field.name), (*ids, field.id)
            yield Column(here, field, path, top or field)
            if field.type.logical == "struct":
                yield from walk(field.type.children, here, path, top or field)

    return list(walk(schema.fields, (), (), None))


class Unreadable(Exception):
    """A column that pyarrow does not give as the engine means it."""


def read_rows(table: Table, file: DataFile, columns: Sequence[Column]) -> dict[str, pa.Array | None] | None:
    """Every column of a file, None for one that cannot be read; None for a format without a reader."""
    if file.file_format not in _READ:
        return None
    stored = _Avro(file) if file.file_format == "avro" else _Arrow(file)
    found: dict[str, pa.Array | None] = {}
    for column in columns:
        try:
            found[column.name] = _read_column(table, file, stored, column)
        except Unreadable:
            found[column.name] = None
    return found


def _read_column(table: Table, file: DataFile, stored: _Arrow | _Avro, column: Column) -> pa.Array:
    kind = pa.int8() if column.kind.is_nested else arrow_type(column.kind)
    names = _find_names(table, file, column)
    today = {field.id: field.name for field in table.schema.fields} if table.format == "delta" else {}
    field = today.get(column.field.id, column.name)
    if table.format in ("hive", "delta") and len(column.parts) == 1 and field in file.partition:
        return to_array([_take_partition(file.partition[field], column.kind)] * stored.count, kind)
    array = stored.find(names, column.ids if table.format == "iceberg" else None, column.kind)
    if array is not None:
        return array
    if len(column.ids) == 1 and (value := _find_identity(table, file, column)) is not None:
        return to_array([value] * stored.count, kind)
    default = column.field.initial_default
    if column.top is not column.field and column.top.initial_default is not None:
        raise Unreadable(column.name)
    return to_array([default] * stored.count, kind)


def _take_partition(value: Any, kind: DataType) -> Any:
    return str(value) if value is not None and kind.logical == "string" else value


def _find_identity(table: Any, file: DataFile, column: Column) -> Any:
    """The value of an identity partition, which stands for a column that an imported file does not have."""
    specs = {spec.id: spec for spec in table.specs} if table.format == "iceberg" else {}
    for field in specs[file.spec_id].fields if specs else ():
        if field.source_id == column.field.id and field.transform == "identity":
            return file.partition.get(field.name)
    return None


def _find_names(table: Table, file: DataFile, column: Column) -> tuple[str, ...] | None:
    """What the file calls a column; None where it has no such one."""
    if table.format == "delta":
        named = {number: name for one in table.schemas for number, name in _list_physical(one.raw)}
        return tuple(named.get(number, part) for number, part in zip(column.ids, column.parts, strict=True))
    if table.format != "paimon":
        return column.parts
    schemas = {one.id: one for one in table.schema.versions}
    fields: Sequence[Field] = schemas[file.schema_id].fields
    names = []
    for number in column.ids:
        found = next((field for field in fields if field.id == number), None)
        if found is None:
            return None
        names.append(found.name)
        fields = found.type.children
    return tuple(names)


def _list_physical(described: Any) -> Iterator[tuple[int, str]]:
    """The physical names in a schema of Delta, by column id."""
    for field in described["fields"] if isinstance(described, dict) and "fields" in described else ():
        metadata = field["metadata"]
        if "delta.columnMapping.id" in metadata:
            yield metadata["delta.columnMapping.id"], metadata["delta.columnMapping.physicalName"]
        yield from _list_physical(field["type"])


class _Arrow:
    """A Parquet or ORC file, column by column."""

    def __init__(self, file: DataFile) -> None:
        self._file: Any
        self._finest: Any  # times of 96 bits as they are: between 1678 and 2262
        if file.file_format == "orc":
            self._file = self._finest = pyarrow.orc.ORCFile(file.path)
            self._schema, self.count = self._file.schema, self._file.nrows
        else:
            self._file = pq.ParquetFile(file.path, coerce_int96_timestamp_unit="us")
            self._finest = pq.ParquetFile(file.path)
            self._schema, self.count = self._file.schema_arrow, self._file.metadata.num_rows
        self._known: dict[str, pa.Array] = {}

    def _read(self, name: str, kind: DataType) -> pa.Array:
        if name not in self._known:
            is_fine = kind.logical.startswith("timestamp") and kind.precision > 6
            try:
                found = (self._finest if is_fine else self._file).read(columns=[name]).column(name)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
                raise Unreadable(str(error)) from error
            self._known[name] = found.combine_chunks() if found.num_chunks != 1 else found.chunk(0)
        return self._known[name]

    def find(self, names: Sequence[str] | None, ids: Sequence[int] | None, kind: DataType) -> pa.Array | None:
        has_ids = any(_find_id(field) is not None for field in self._schema)
        place = self._choose(self._schema, names, ids if has_ids else None, 0)
        if place is None:
            return None
        array = self._read(self._schema[place].name, kind)
        for depth in range(1, len(names or ids or ())):
            if not pa.types.is_struct(array.type):
                raise Unreadable("no struct")
            place = self._choose(list(array.type), names, ids if has_ids else None, depth)
            if place is None:
                return None
            array = pc.struct_field(array, [place])
        return _cast(array, kind)

    @staticmethod
    def _choose(
        fields: Any, names: Sequence[str] | None, ids: Sequence[int] | None, depth: int
    ) -> int | None:
        for number, field in enumerate(fields):
            if ids is not None:
                if _find_id(field) == ids[depth]:
                    return number
            elif names is not None and field.name.lower() == names[depth].lower():
                return number
        return None


def _find_id(field: pa.Field) -> int | None:
    metadata = field.metadata or {}
    text = metadata.get(b"PARQUET:field_id", metadata.get(b"iceberg.id"))
    return None if text is None else int(text)


def _cast(array: Any, kind: DataType) -> pa.Array:
    """Values of today's type; of a nested one whether it is there."""
    if kind.is_nested:
        return pc.if_else(array.is_valid(), pa.scalar(1, pa.int8()), pa.scalar(None, pa.int8()))
    wanted = arrow_type(kind)
    array = getattr(array, "storage", array)
    if array.type == wanted:
        return array
    storage = getattr(wanted, "storage_type", wanted)
    is_time = pa.types.is_timestamp(storage) and pa.types.is_timestamp(array.type)
    widens = (
        is_time
        or (pa.types.is_integer(array.type) and pa.types.is_integer(storage))
        or (pa.types.is_floating(array.type) and pa.types.is_floating(storage))
        or (pa.types.is_decimal(array.type) and pa.types.is_decimal(storage))
        or (pa.types.is_time(array.type) and pa.types.is_time(storage))
        or {str(array.type), str(storage)} <= {"binary", "string", "large_string", "large_binary"}
        or pa.types.is_fixed_size_binary(array.type)
        or pa.types.is_fixed_size_binary(storage)
        or (pa.types.is_integer(array.type) and not pa.types.is_temporal(storage))
    )
    if not widens:
        raise Unreadable(f"{array.type} as {wanted}")
    try:
        return array.cast(storage, safe=not is_time)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Unreadable(str(error)) from error


class _Avro:
    """An Avro file, all of it."""

    def __init__(self, file: DataFile) -> None:
        with io.BytesIO(Path(file.path).read_bytes()) as opened:
            reader = fastavro.reader(opened)
            self._rows: list[Any] = list(reader)
            self._schema: Any = reader.writer_schema
        self.count = len(self._rows)

    def find(self, names: Sequence[str] | None, ids: Sequence[int] | None, kind: DataType) -> pa.Array | None:
        path, schema = [], self._schema
        for depth in range(len(names or ())):
            record = _find_record(schema)
            if record is None or names is None:
                raise Unreadable("no record")
            found = [
                field
                for field in record["fields"]
                if (field.get("field-id") == ids[depth] if ids is not None else field["name"] == names[depth])
            ]
            if not found:
                return None
            path.append(found[0]["name"])
            schema = found[0]["type"]
        if names is None:
            return None
        values = [_dig(row, path) for row in self._rows]
        if kind.is_nested:
            return pa.array([None if value is None else 1 for value in values], pa.int8())
        made = to_array(values, arrow_type(kind))
        if made.null_count != sum(value is None for value in values):
            raise Unreadable("values that pyarrow does not hold")
        return getattr(made, "storage", made)


def _find_record(schema: Any) -> Mapping[str, Any] | None:
    options = schema if isinstance(schema, list) else [schema]
    return next((one for one in options if isinstance(one, dict) and one.get("type") == "record"), None)


def _dig(row: Any, path: Sequence[str]) -> Any:
    for name in path:
        row = None if row is None else row[name]
    return row
