"""What is used of Arrow's types where the core works without pyarrow; names and meaning are pyarrow's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class KindField:
    """A field of a struct, of a list or of a schema."""

    name: str
    type: Kind
    nullable: bool = True

    def with_nullable(self, nullable: bool) -> KindField:
        """The same field, nullable or not."""
        return replace(self, nullable=nullable)


@dataclass(frozen=True)
class Kind:
    """A type: its name, and what types of the name differ in.

    >>> decimal128(9, 2).scale, timestamp("us").unit, int32().bit_width
    (2, 'us', 32)
    """

    name: str
    bit_width: int = 0
    unit: str = ""
    tz: str | None = None
    precision: int = 0
    scale: int = 0
    byte_width: int = 0
    fields: tuple[KindField, ...] = ()

    @property
    def num_fields(self) -> int:
        """How many fields a struct has."""
        return len(self.fields)

    @property
    def value_type(self) -> Kind:
        """The type of the elements of a list."""
        return self.fields[0].type

    def field(self, place: int) -> KindField:
        """A field of a struct."""
        return self.fields[place]

    def get_field_index(self, name: str) -> int:
        """The place of a field; -1 where there is none, or several have the name."""
        places = [place for place, field in enumerate(self.fields) if field.name == name]
        return places[0] if len(places) == 1 else -1

    def __iter__(self) -> Iterator[KindField]:
        return iter(self.fields)


class UuidType(Kind):
    """Uuids, kept as 16 bytes."""

    @property
    def storage_type(self) -> Kind:
        """What they are kept as."""
        return binary(16)


def _make(name: str, bits: int = 0) -> Any:
    kind = Kind(name, bits)
    return lambda: kind


null, bool_, string = _make("null"), _make("bool", 1), _make("string")
int8, int16, int32, int64 = (_make(f"int{bits}", bits) for bits in (8, 16, 32, 64))
float32, float64, date32 = _make("float", 32), _make("double", 64), _make("date32", 32)


def binary(width: int = -1) -> Kind:
    """See `pyarrow.binary`."""
    return Kind("binary") if width < 0 else Kind("fixed_size_binary", byte_width=width)


def uuid() -> Kind:
    """See `pyarrow.uuid`."""
    return UuidType("uuid")


def decimal128(precision: int, scale: int = 0) -> Kind:
    """See `pyarrow.decimal128`."""
    return Kind("decimal128", 128, precision=precision, scale=scale)


def decimal256(precision: int, scale: int = 0) -> Kind:
    """See `pyarrow.decimal256`."""
    return Kind("decimal256", 256, precision=precision, scale=scale)


def time32(unit: str) -> Kind:
    """See `pyarrow.time32`."""
    return Kind("time32", 32, unit)


def time64(unit: str) -> Kind:
    """See `pyarrow.time64`."""
    return Kind("time64", 64, unit)


def timestamp(unit: str, tz: str | None = None) -> Kind:
    """See `pyarrow.timestamp`."""
    return Kind("timestamp", 64, unit, tz)


def field(name: str, type: Kind, nullable: bool = True, metadata: object = None) -> KindField:
    """See `pyarrow.field`; nothing asks for the metadata."""
    return KindField(name, type, nullable)


def struct(fields: Iterable[KindField]) -> Kind:
    """See `pyarrow.struct`."""
    return Kind("struct", fields=tuple(fields))


def list_(item: KindField | Kind, size: int = -1) -> Kind:
    """See `pyarrow.list_`."""
    found = item if isinstance(item, KindField) else KindField("item", item)
    return Kind("list", byte_width=size, fields=(found,))


def map_(key: KindField | Kind, value: KindField | Kind) -> Kind:
    """See `pyarrow.map_`."""
    found = (
        side if isinstance(side, KindField) else KindField(name, side)
        for name, side in (("key", key), ("value", value))
    )
    return Kind("map", fields=tuple(found))


class types:  # noqa: N801 - it is called so there
    """See `pyarrow.types`."""

    is_null = staticmethod(lambda kind: kind.name == "null")
    is_boolean = staticmethod(lambda kind: kind.name == "bool")
    is_integer = staticmethod(lambda kind: kind.name in ("int8", "int16", "int32", "int64"))
    is_floating = staticmethod(lambda kind: kind.name in ("float", "double"))
    is_float32 = staticmethod(lambda kind: kind.name == "float")
    is_decimal = staticmethod(lambda kind: kind.name in ("decimal128", "decimal256"))
    is_date = staticmethod(lambda kind: kind.name == "date32")
    is_date32 = is_date
    is_time = staticmethod(lambda kind: kind.name in ("time32", "time64"))
    is_time32 = staticmethod(lambda kind: kind.name == "time32")
    is_time64 = staticmethod(lambda kind: kind.name == "time64")
    is_timestamp = staticmethod(lambda kind: kind.name == "timestamp")
    is_string = staticmethod(lambda kind: kind.name == "string")
    is_large_string = staticmethod(lambda kind: False)
    is_binary = staticmethod(lambda kind: kind.name == "binary")
    is_fixed_size_binary = staticmethod(lambda kind: kind.name == "fixed_size_binary")
    is_list = staticmethod(lambda kind: kind.name == "list" and kind.byte_width < 0)
    is_struct = staticmethod(lambda kind: kind.name == "struct")
    is_map = staticmethod(lambda kind: kind.name == "map")
    is_nested = staticmethod(lambda kind: kind.name in ("list", "struct", "map"))
