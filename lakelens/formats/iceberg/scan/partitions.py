"""Partitions of many files by column: each different value of a field is decoded and formatted once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.manifests.records import EntryReader
from lakelens.formats.iceberg.metadata.partitions import PartitionColumn, SpecBook, escape
from lakelens.model.arrow import arrow_type, make_struct, to_array
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.stats import Partition

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
            raise NotColumnar("an unknown partition spec")
        if len({column.shown for column in columns}) < len(columns):
            raise NotColumnar("a partition spec with the same field twice")
        self.rows = rows
        self.columns = columns
        self._specs, self._spec_id = specs, spec_id
        self._kinds = dict(specs.model_columns())
        self._names = _find_names(reader.partition_record)
        if stored is not None and not hasattr(stored.type, "num_fields"):
            raise NotColumnar("a partition that is no record")
        self._stored = stored
        self._encoded: dict[str, tuple[pa.Array, list[Any]]] = {}
        self._decoded: dict[str, tuple[pa.Array, list[Any]]] = {}

    def format(self) -> pa.Array:
        """The partitions in their directory form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [escape(column.name) for column in self.columns]
        if len(set(names)) < len(names):
            raise NotColumnar("a partition spec with the same name twice")
        if self._is_undivided:
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
        kinds = [pa.field(name, arrow_type(kind)) for name, kind in fields]
        children = []
        for kind in kinds:
            column = by_name.get(kind.name)
            if column is None:
                children.append(pa.nulls(self.rows, kind.type))
            else:
                indices, values = self._decode(column)
                children.append(to_array(values, kind.type).take(indices))
        return make_struct(children, kinds, self.rows)

    def list_distinct(self) -> tuple[list[Partition], pa.Array]:
        """The different partitions, as the record path builds them, and which of them each file has.

        Each different value of a field is formatted once.
        """
        import numpy as np
        import pyarrow as pa

        codes = np.zeros(self.rows, np.int64)
        for indices, values in map(
            self._encode, self.columns
        ):  # a null is one of the values, but has no number of its own
            numbers = indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
            _, codes = np.unique(codes * (len(values) + 1) + numbers, return_inverse=True)
        _, firsts = np.unique(codes, return_index=True)
        fields = [self._list_values(column, pa.array(firsts)) for column in self.columns]
        shown = [column.shown for column in self.columns]
        names = [escape(column.name) for column in self.columns if not self._is_undivided]
        nothing: list[tuple[Any, ...]] = [()] * len(firsts)
        found = [
            Partition(dict(zip(shown, values, strict=True)), dict(zip(names, texts, strict=False)))
            for values, texts in zip(
                list(zip(*(values for values, _ in fields), strict=True)) or nothing,
                list(zip(*(texts for _, texts in fields), strict=True)) or nothing,
                strict=True,
            )
        ]
        return found, pa.array(codes, pa.int64())

    def _list_values(self, column: PartitionColumn, places: pa.Array) -> tuple[list[Any], list[str]]:
        """The values of a field that some files have, and how a directory words them."""
        indices, values = self._decode(column)
        chosen = indices.take(places).to_pylist()
        texts = [escape(column.render(value)) for value in values]
        null = escape(column.render(None))
        return (
            [None if place is None else values[place] for place in chosen],
            [null if place is None else texts[place] for place in chosen],
        )

    @property
    def _is_undivided(self) -> bool:
        """Whether files of the spec are in no directory of a partition."""
        return all(column.transform.name == "void" for column in self.columns)

    def _decode(self, column: PartitionColumn) -> tuple[pa.Array, list[Any]]:
        """Which value each file has, and the values; null is one of them."""
        if column.shown not in self._decoded:
            indices, stored = self._encode(column)
            self._decoded[column.shown] = indices, [column.to_value(value) for value in stored]
        return self._decoded[column.shown]

    def _encode(self, column: PartitionColumn) -> tuple[pa.Array, list[Any]]:
        """Which value each file has, and the values as they are stored."""
        if column.shown not in self._encoded:
            self._encoded[column.shown] = _encode(self._find(column), self.rows)
        return self._encoded[column.shown]

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
    """Which of the different values each row has, and those values; compared bit by bit."""
    import pyarrow as pa

    if stored is None or pa.types.is_null(stored.type):
        return pa.repeat(pa.scalar(0, pa.int32()), rows), [None]
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
        raise NotColumnar(f"a partition value of type {kind}")
    encoded = stored.dictionary_encode("encode")
    values = encoded.dictionary.view(kind) if pa.types.is_floating(kind) else encoded.dictionary
    return encoded.indices, values.to_pylist()
