"""Partition values: typed by the spec, formatted as the specification formats them.

Follows "Partitioning" of the Iceberg table specification. A partition tuple is stored under field ids; values are shown
under the names that today's specs give those ids, and their path form under the names of the spec they were written with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from lakelens.codecs.iceberg.transforms import Transform, partition_path
from lakelens.codecs.iceberg.types import IcebergType, parse_type_text
from lakelens.codecs.iceberg.value import decode_value
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import LakeError
from lakelens.formats.iceberg.metadata.schemas import describe_type, find_source
from lakelens.lazy import dataclass
from lakelens.model.schema import DataType, PartitionField, PartitionSpec
from lakelens.model.stats import Partition

_BINARY = parse_type_text("binary")


@dataclass(frozen=True, slots=True)
class PartitionColumn:
    """One field of a spec, ready to decode: its id, the spec's name and today's, transform and result type."""

    field_id: int
    name: str
    shown: str
    transform: Transform
    source: IcebergType | None
    result: IcebergType | None

    def to_value(self, stored: Any) -> Any:
        """The typed value of what a manifest stores (counts, bytes, text); shown raw when the type is not known."""
        return stored if self.result is None else convert_stored(stored, self.result)

    def decode_bound(self, data: bytes) -> Any:
        """Decode the typed value of a bound in a manifest list."""
        return decode_value(data, self.result or _BINARY)

    def render(self, value: Any) -> str:
        """Render a value as the specification formats it, before it is escaped for a path."""
        if self.source is None or not self.transform.is_known:
            return "null" if value is None else str(value)
        try:
            return self.transform.render(value, self.result or self.source)
        except (TypeError, ValueError, OverflowError, AttributeError):
            return str(value)


def convert_stored(stored: Any, type_: IcebergType) -> Any:
    """Convert a value of Avro without logical types as the value that its Iceberg type means.

    >>> convert_stored(19723, parse_type_text("date"))
    datetime.date(2024, 1, 1)
    """
    if stored is None:
        return None
    if isinstance(stored, bytes):
        if type_.name in ("binary", "fixed"):
            return stored
        try:  # decimals and uuids are stored as in bounds, perhaps sign-extended
            return decode_value(stored, type_)
        except LakeError:
            return stored
    if isinstance(stored, int) and not isinstance(stored, bool):
        return _convert_count(stored, type_)
    if type_.name == "uuid" and isinstance(stored, str):
        try:
            return UUID(stored)
        except ValueError:
            return stored
    return stored


def _convert_count(stored: int, type_: IcebergType) -> Any:
    name = type_.name
    if name == "date":
        return date_from_days(stored)
    if name == "time":
        return time_from_micros(stored)
    if name in ("timestamp", "timestamptz"):
        return timestamp_from_micros(stored, name == "timestamptz")
    if name in ("timestamp_ns", "timestamptz_ns"):
        return timestamp_from_nanos(stored, name == "timestamptz_ns")
    if name == "decimal":
        return Decimal(f"{stored}E{-(type_.scale or 0)}")  # exact, whatever the context is
    return float(stored) if name in ("float", "double") else stored


class SpecBook:
    """Every partition spec of a table, and the unified partition type over all of them."""

    def __init__(self, specs: Mapping[int, PartitionSpec], structs: Iterable[IcebergType]) -> None:
        self.specs = dict(specs)
        self._structs = list(structs)
        self._shown: dict[int, str] = {}
        self.unified: list[PartitionColumn] = self._unify()
        self._columns = {number: [*map(self._column, spec.fields)] for number, spec in self.specs.items()}

    def columns(self, spec_id: int | None) -> list[PartitionColumn] | None:
        """The columns of a spec; None for a spec that the document does not have."""
        return None if spec_id is None else self._columns.get(spec_id)

    def add(self, spec_id: int, spec: PartitionSpec) -> list[PartitionColumn]:
        """Add a spec that is known from a manifest's header alone."""
        self.specs.setdefault(spec_id, spec)
        return self._columns.setdefault(spec_id, [*map(self._column, spec.fields)])

    def model_columns(self) -> tuple[tuple[str, DataType], ...]:
        """Names and types of the unified partition type, by field id."""
        return tuple(
            (column.shown, describe_type(column.result) if column.result else DataType("binary", "binary"))
            for column in self.unified
        )

    def build(self, stored: Mapping[int | str, Any], spec_id: int | None) -> Partition:
        """Build the partition of a stored tuple."""
        columns = self.columns(spec_id)
        if columns is None:
            values = {str(key): value for key, value in stored.items()}
            return Partition(values, {key: str(value) for key, value in values.items()})
        values, texts = {}, {}
        for column in columns:
            value = column.to_value(stored.get(column.field_id, stored.get(column.name)))
            values[column.shown] = value
            texts[escape(column.name)] = escape(column.render(value))
        if all(column.transform.name == "void" for column in columns):
            texts = {}  # unpartitioned: files of such a spec are in no partition directory
        return Partition(values, texts)

    def _unify(self) -> list[PartitionColumn]:
        """Each field id once, named by the newest spec; a type that is `void` there is taken from an older spec."""
        chosen: dict[int, PartitionField] = {}
        names: dict[int, str] = {}
        for number in sorted(self.specs, reverse=True):
            for field in self.specs[number].fields:
                assert field.field_id is not None
                known = chosen.get(field.field_id)
                names.setdefault(field.field_id, field.name)
                if known is None or (known.transform == "void" and field.transform != "void"):
                    chosen[field.field_id] = field
        taken: set[str] = set()
        for field_id in sorted(names, reverse=True):
            name = names[field_id]
            self._shown[field_id] = name if name not in taken else f"{name}#{field_id}"
            taken.add(name)
        return [self._column(chosen[field_id]) for field_id in sorted(chosen)]

    def _column(self, field: PartitionField) -> PartitionColumn:
        assert field.field_id is not None
        transform = Transform.parse(field.transform)
        source = None if field.source_id is None else find_source(field.source_id, self._structs)[1]
        result = transform.result_type(source) if source is not None and transform.is_known else None
        shown = self._shown.get(field.field_id, field.name)
        return PartitionColumn(field.field_id, field.name, shown, transform, source, result)


def escape(text: str) -> str:
    """Escape the path form of one value.

    >>> escape("a b/c")
    'a+b%2Fc'
    """
    return partition_path([""], [text])[1:]
