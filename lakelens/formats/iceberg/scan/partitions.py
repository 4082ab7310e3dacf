"""Partitions of many files by column: each different value of a field is typed and worded once, as `SpecBook.build` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.manifests.records import EntryReader
from lakelens.formats.iceberg.metadata.partitions import PartitionColumn, SpecBook, escape
from lakelens.formats.iceberg.scan.entries import Declined
from lakelens.model.arrow import arrow_type, to_array

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import Columns


class PartitionColumns:
    """The partition tuples of some files of one spec: `stored` is the struct that manifests have (None: no fields)."""

    def __init__(
        self, specs: SpecBook, spec_id: int | None, reader: EntryReader, stored: pa.Array | None, rows: int
    ) -> None:
        columns = specs.columns(spec_id)
        if columns is None:
            raise Declined("a partition spec that nobody knows")
        if len({column.shown for column in columns}) < len(columns):
            raise Declined("a partition spec with the same field twice")
        self.rows = rows
        self.columns = columns
        self._kinds = dict(specs.model_columns())
        self._names = _find_names(reader.partition_record)
        if stored is not None and not hasattr(stored.type, "num_fields"):
            raise Declined("a partition that is no record")
        self._stored = stored
        self._decoded: dict[str, tuple[pa.Array, list[Any]]] = {}

    def word(self) -> pa.Array:
        """The partitions in their directory form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [escape(column.name) for column in self.columns]
        if len(set(names)) < len(names):
            raise Declined("a partition spec with the same name twice")
        if all(column.transform.name == "void" for column in self.columns):
            return pa.repeat(pa.scalar("", pa.string()), self.rows)
        pieces: list[Any] = []
        for number, (name, column) in enumerate(zip(names, self.columns, strict=True)):
            indices, values = self._decode(column)
            texts = pa.array([escape(column.render(value)) for value in values], pa.string())
            pieces += [f"{'/' if number else ''}{name}=", texts.take(indices)]
        return pc.binary_join_element_wise(*pieces, "")

    def build(self, fields: Columns) -> pa.Array:
        """The partitions as a struct of the unified fields; what this spec does not have is null."""
        import pyarrow as pa

        by_name = {column.shown: column for column in self.columns}
        children, described = [], []
        for name, kind in fields:
            target = arrow_type(kind)
            column = by_name.get(name)
            if column is None:
                children.append(pa.nulls(self.rows, target))
            else:
                indices, values = self._decode(column)
                children.append(to_array(values, target).take(indices))
            described.append(pa.field(name, target))
        if not described:
            return pa.array([{}] * self.rows, pa.struct([]))
        return pa.StructArray.from_arrays(children, fields=described)

    def _decode(self, column: PartitionColumn) -> tuple[pa.Array, list[Any]]:
        """Which value each file has, and the values; the last one stands for null."""
        known = self._decoded.get(column.shown)
        if known is None:
            indices, stored = _encode(self._find(column), self.rows)
            known = indices, [column.to_value(value) for value in [*stored, None]]
            self._decoded[column.shown] = known
        return known

    def _find(self, column: PartitionColumn) -> pa.Array | None:
        name = self._names.get(column.field_id, self._names.get(column.name))
        if name is None or self._stored is None or self._stored.type.get_field_index(name) < 0:
            return None
        if not self._stored.null_count:
            return self._stored.field(name)
        return self._stored.flatten()[self._stored.type.get_field_index(name)]


def _find_names(record: Mapping[str, Any]) -> dict[int | str, str]:
    """What the Avro record calls each field, by field id, or by name where the ids were left out."""
    names: dict[int | str, str] = {}
    for field in record.get("fields", ()):
        number = field.get("field-id")
        names[number if isinstance(number, int) else field["name"]] = field["name"]
    return names


def _encode(stored: pa.Array | None, rows: int) -> tuple[pa.Array, list[Any]]:
    """Indices into the different values (null: one past them), and those values; told apart bit by bit."""
    import numpy as np
    import pyarrow as pa

    if stored is None or pa.types.is_null(stored.type):
        return pa.array(np.zeros(rows, np.int32)), []
    kind = stored.type
    if pa.types.is_floating(kind):  # -0.0 is not 0.0, and has another text
        stored = stored.view(pa.int32() if pa.types.is_float32(kind) else pa.int64())
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        raise Declined(f"a partition value of type {kind}")
    encoded = stored.dictionary_encode()
    values = encoded.dictionary.view(kind) if pa.types.is_floating(kind) else encoded.dictionary
    return encoded.indices.fill_null(len(values)), values.to_pylist()
