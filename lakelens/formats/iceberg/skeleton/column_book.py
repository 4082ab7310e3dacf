"""The columns of an Iceberg table under their new names, and what replaces their values.

A column is its field id: bounds, partition values and defaults of one id are replaced by one order-preserving map, which
keeps what each transform of a partition spec makes of them (`identity`, `truncate`, the times; a hash bucket where the
column has no other grouping).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

from lakelens.codecs.hashes import hash_murmur3
from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergField, IcebergType
from lakelens.codecs.iceberg.value import DAY_MICROS, DAY_UNITS, list_widths
from lakelens.codecs.moments import FarTime, Unit
from lakelens.formats.iceberg.metadata.schemas import describe_type, walk_fields
from lakelens.model.skeleton.ordinals import FLOATS, rank_float
from lakelens.model.skeleton.redaction import RedactedColumn, Redaction
from lakelens.model.skeleton.scales import (
    NANO_YEARS,
    YEARS,
    Grid,
    NumberScale,
    TextScale,
    count_days,
    cut_by,
    group_times,
)

# Single values of Iceberg as what is put in order, and back in the same width.
#
# Follows appendix D of the Iceberg table specification; see `lakelens.codecs.iceberg.value` for the layouts. A bound whose
# bytes are no value of its type is replaced by zeros of the same length: it stays damaged.

Ordinal = int | str
COUNTS = frozenset(("int", "long", "date", "time", *DAY_UNITS))
TEXTS = frozenset(("string", "binary", "fixed", "uuid"))
_EPOCH = datetime(1970, 1, 1)
_WIDE = Context(prec=80)


def decode_ordinal(data: bytes, type_: IcebergType) -> Ordinal | None:
    """Decode what the bytes of a bound are ordered by; None where they are not replaced in order.

    >>> decode_ordinal(bytes.fromhex("0b4d0000"), IcebergType("date"))
    19723
    """
    name, widths = type_.name, list_widths(type_)
    if widths is not None and len(data) not in widths:
        return None
    if name in COUNTS:
        return int.from_bytes(data, "little", signed=True)
    if name in ("float", "double"):
        value = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
        return rank_float(value) if math.isfinite(value) else None
    if name == "decimal":
        return int.from_bytes(data, "big", signed=True)
    if name == "string":
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None
    return data.decode("latin-1") if name in TEXTS else None


def encode_ordinal(ordinal: Ordinal, type_: IcebergType, width: int) -> bytes:
    """Encode the bytes of a bound in place of one that had `width` of them.

    >>> encode_ordinal(19723, IcebergType("date"), 4).hex()
    '0b4d0000'
    """
    if isinstance(ordinal, str):
        return ordinal.encode("utf-8" if type_.name == "string" else "latin-1")
    if type_.name in ("float", "double"):
        return struct.pack("<f" if width == 4 else "<d", float(ordinal))
    if type_.name == "decimal":
        return encode_decimal(ordinal)
    return ordinal.to_bytes(width, "little", signed=True)


def encode_decimal(ordinal: int) -> bytes:
    """Encode the fewest bytes of a decimal's digits.

    >>> encode_decimal(-12345).hex(), encode_decimal(128).hex()
    ('cfc7', '0080')
    """
    return ordinal.to_bytes((ordinal + (ordinal < 0)).bit_length() // 8 + 1, "big", signed=True)


def blank_bound(data: bytes, type_: IcebergType | None) -> bytes:
    """Say what stands for bytes that have no order: an infinity, NaN and a truth value stay, all else is zeros."""
    if type_ is not None:
        widths = list_widths(type_)
        if type_.name in ("float", "double", "boolean") and widths and len(data) in widths:
            return data
    return bytes(len(data))


def read_stored(stored: Any, type_: IcebergType) -> Ordinal | None:
    """Read what a value of a partition tuple is ordered by, as Avro stores it without logical types."""
    if isinstance(stored, bool) or stored is None:
        return None
    if isinstance(stored, float):
        return rank_float(stored) if math.isfinite(stored) else None
    if isinstance(stored, int):
        return stored
    if isinstance(stored, bytes):
        if type_.name == "decimal":
            return int.from_bytes(stored, "big", signed=True)
        return stored.decode("latin-1")
    if type_.name == "uuid" and isinstance(stored, str):
        try:
            return UUID(stored).bytes.decode("latin-1")
        except ValueError:
            return stored
    return stored if isinstance(stored, str) else None


def write_stored(ordinal: Ordinal, type_: IcebergType, old: Any) -> Any:
    """Write a value of a partition tuple in place of an old one, stored as that was."""
    if isinstance(old, float):
        return float(ordinal)
    if isinstance(old, bytes):
        if isinstance(ordinal, int):
            try:
                return ordinal.to_bytes(len(old), "big", signed=True)
            except OverflowError:
                return encode_decimal(ordinal)
        return ordinal.encode("latin-1")
    if type_.name == "uuid" and isinstance(ordinal, str) and len(ordinal) == 16:
        return str(UUID(bytes=ordinal.encode("latin-1")))
    return ordinal


def make_fits(type_: IcebergType, widths: Sequence[int]) -> Callable[[Any, Any], bool]:
    """Check whether two values are in the same buckets of each width ("Appendix B: 32-bit Hash Requirements").

    >>> make_fits(IcebergType("int"), [16])(34, 34 + 16)
    False
    """
    is_nanos = type_.name.endswith("_ns")

    def hash_ordinal(ordinal: Ordinal) -> int:
        if isinstance(ordinal, str):
            stored = ordinal.encode("utf-8" if type_.name == "string" else "latin-1")
        elif type_.name == "decimal":
            stored = encode_decimal(ordinal)
        else:
            stored = (ordinal // 1_000 if is_nanos else ordinal).to_bytes(8, "little", signed=True)
        return int(hash_murmur3(stored)) & 0x7FFF_FFFF

    def fits(old: Ordinal, new: Ordinal) -> bool:
        first, second = hash_ordinal(old), hash_ordinal(new)
        return all(first % width == second % width for width in widths)

    return fits


def write_json(ordinal: Ordinal, type_: IcebergType) -> Any:
    """Write a default value as JSON ("JSON single-value serialization").

    >>> write_json(19723, IcebergType("date")), write_json(-12345, IcebergType("decimal", precision=9, scale=2))
    ('2024-01-01', '-123.45')
    """
    name = type_.name
    if isinstance(ordinal, str):
        if name == "uuid":
            return str(UUID(bytes=ordinal.encode("latin-1")))
        return ordinal if name == "string" else ordinal.encode("latin-1").hex()
    if name in ("float", "double"):
        return float(ordinal)
    if name == "decimal":
        return f"{_WIDE.scaleb(Decimal(ordinal), -(type_.scale or 0)):f}"
    if name == "date":
        return str(date(1970, 1, 1) + timedelta(ordinal))
    if name == "time":
        return str((_EPOCH + timedelta(microseconds=ordinal)).time().isoformat())
    if name in DAY_UNITS:
        unit = 1_000_000_000 if name.endswith("_ns") else 1_000_000
        seconds, ticks = divmod(ordinal, unit)
        moment = (_EPOCH + timedelta(seconds=seconds)).isoformat()
        zone = "+00:00" if name.startswith("timestamptz") else ""
        return f"{moment}.{ticks:0{len(str(unit)) - 1}d}{zone}"
    return ordinal


def count_json(value: Any, type_: IcebergType) -> Ordinal | None:
    """Count what a parsed default is ordered by; None for one that is not replaced in order."""
    if value is None or isinstance(value, bool | dict | list):
        return None
    if isinstance(value, UUID):
        return value.bytes.decode("latin-1")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float):
        return rank_float(value) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(_WIDE.scaleb(value, type_.scale or 0))
    if isinstance(value, datetime):
        micros = (value - _EPOCH.replace(tzinfo=value.tzinfo)) // timedelta(microseconds=1)
        return micros * 1_000 if type_.name.endswith("_ns") else micros
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    if isinstance(value, int | str):
        return value
    unit: Unit = "ns" if type_.name.endswith("_ns") else "D" if type_.name == "date" else "us"
    return value.count_in(unit) if isinstance(value, FarTime) and not value.is_clock else None


_UNITS = ("year", "month", "day", "hour")
_UNKNOWN = IcebergType("unknown")
RESERVED = (
    2147483447  # ids above are metadata columns: positions and row ids, which are no values of the table's
)


class ColumnBook:
    """Every column by id: its types, its names, its transforms, and its scale once all are known."""

    def __init__(self, redaction: Redaction) -> None:
        self.redaction = redaction
        self.types: dict[int, list[IcebergType]] = {}
        self.names: dict[int, list[tuple[str, ...]]] = {}
        self.transforms: dict[int, list[Transform]] = {}
        self._scales: dict[int | tuple[str, int], NumberScale | TextScale | None] = {}

    def learn(self, struct: IcebergType) -> None:
        """Learn the columns of a schema; the newest comes first."""
        for path, field in walk_fields(struct):
            types = self.types.setdefault(field.id, [])
            if field.type not in types and not field.type.is_nested:
                types.append(field.type)
            names = self.names.setdefault(field.id, [])
            if path not in names:
                names.append(path)
                self.redaction.names.reserve(path)

    def learn_transform(self, source: int | None, text: str) -> None:
        """Learn a field of a partition spec."""
        if source is not None:
            known = self.transforms.setdefault(source, [])
            found = Transform.parse(text)
            if found not in known:
                known.append(found)

    def name(self, field: str, field_id: int, path: tuple[str, ...] = ()) -> str:
        """Give the name in place of a column's or a nested field's."""
        return self.redaction.names.column(field, field_id, ".".join(path))

    def publish(self, structs: Iterable[IcebergType]) -> None:
        """Say which column is called what, so that a predicate can be translated."""
        for shape in structs:
            for path, field in walk_fields(shape):
                full = ".".join(path)
                if full not in self.redaction.columns and not _is_inside_list(shape, path):
                    name = ".".join(self._rename_path(shape, path))
                    scale = None if field.type.is_nested else self.scale(field.id)
                    self.redaction.columns[full] = RedactedColumn(name, describe_type(field.type), scale)

    def _rename_path(self, struct: IcebergType, path: tuple[str, ...]) -> list[str]:
        names, here = [], struct
        for depth, name in enumerate(path):
            field = next(one for one in here.fields if one.name == name)
            is_fixed = here.name in ("list", "map")
            names.append(name if is_fixed else self.name(name, field.id, path[: depth + 1]))
            here = field.type
        return names

    # --- scales --------------------------------------------------------------------------------------------------------

    def scale(self, column: int) -> NumberScale | TextScale | None:
        """Say what replaces the values of a column; None when they stay, or have no order."""
        if column not in self._scales:
            self._scales[column] = self._make_scale(column)
        return self._scales[column]

    def settle(self) -> None:
        """All values are known."""
        for key, scale in self._scales.items():
            if scale is None:
                continue
            scale.settle(self.redaction.random)
            number = key if isinstance(key, int) else key[1]
            if scale.is_kept:
                self.redaction.note(f"the values of c{number} stay: its type has no room for others in order")
            elif scale.keeps_rest:
                message = f"of some values of c{number} it stays where they are in their group: there is no room for others"
                self.redaction.note(message)

    def type_of(self, column: int) -> IcebergType:
        """The newest type of a column."""
        types = self.types.get(column)
        return types[0] if types else _UNKNOWN

    def _make_scale(self, column: int) -> NumberScale | TextScale | None:
        types = self.types.get(column, [])
        names = {part for path in self.names.get(column, ()) for part in (path[-1], ".".join(path))}
        if not types or column > RESERVED or self.redaction.keeps_values(names):
            return None
        transforms, type_ = self.transforms.get(column, []), types[0]
        widths = [transform.width or 1 for transform in transforms if transform.name == "bucket"]
        fits = make_fits(type_, widths) if widths else None
        if type_.name in TEXTS:
            cuts = [transform.width or 1 for transform in transforms if transform.name == "truncate"]
            length = type_.length or (16 if type_.name == "uuid" else 0)
            return TextScale(cuts, length, fits)
        limits = _find_limits(types)
        if limits is None:
            return None
        grid = _find_grid(type_, types, transforms, limits)
        return NumberScale(*limits, grid, fits if grid is None else None)

    def field_scale(self, field_id: int, is_text: bool) -> NumberScale | TextScale:
        """Say what replaces partition values whose source or transform is not known."""
        key = ("field", field_id)
        if key not in self._scales:
            self._scales[key] = TextScale() if is_text else NumberScale(-(2**31), 2**31 - 1)
        found = self._scales[key]
        assert found is not None
        return found

    # --- bounds --------------------------------------------------------------------------------------------------------

    def keeps(self, column: int) -> bool:
        """Check whether the values of a column stay by choice."""
        names = {part for path in self.names.get(column, ()) for part in (path[-1], ".".join(path))}
        return self.redaction.keeps_values(names)

    def add_bound(self, column: int, data: bytes) -> None:
        """Add a bound of a data file."""
        scale = self.scale(column)
        ordinal = None if scale is None else decode_ordinal(data, self.type_of(column))
        if scale is not None and ordinal is not None:
            if isinstance(scale, NumberScale) and len(data) == 4 and self.type_of(column).name == "long":
                scale.narrow(-(2**31), 2**31 - 1)
            scale.add(self._widen(column, ordinal, len(data)))  # type: ignore[arg-type]

    def map_bound(self, column: int, data: bytes) -> bytes:
        """The bytes in place of a bound."""
        if self.keeps(column) or column > RESERVED:
            return data
        type_, scale = self.type_of(column), self.scale(column)
        ordinal = decode_ordinal(data, type_)
        if scale is None or ordinal is None:
            if type_.name not in ("boolean", "float", "double"):
                name = type_.name if type_.is_known else "unknown"
                self.redaction.note(f"bounds of {name} columns that have no order are zeros")
            return blank_bound(data, type_)
        new = scale.map(self._widen(column, ordinal, len(data)))  # type: ignore[arg-type]
        if self._was_date(column, len(data)) and isinstance(new, int):
            new //= DAY_UNITS[type_.name]
        return encode_ordinal(new, type_, len(data))

    def _was_date(self, column: int, width: int) -> bool:
        return self.type_of(column).name in DAY_UNITS and width == 4

    def _widen(self, column: int, ordinal: Ordinal, width: int) -> Ordinal:
        """Widen a date in a column that became one of times (version 3), as the beginning of the day."""
        if self._was_date(column, width) and isinstance(ordinal, int):
            return ordinal * DAY_UNITS[self.type_of(column).name]
        return ordinal


class PartitionMap:
    """The values of one field of a partition spec, and what replaces them."""

    def __init__(self, book: ColumnBook, field_id: int, source: int | None, transform: str) -> None:
        self._book = book
        self._field_id = field_id
        self._source = source
        self._transform = Transform.parse(transform)
        self._type = _UNKNOWN if source is None else book.type_of(source)

    @property
    def _is_known(self) -> bool:
        return self._transform.is_known and self._type is not _UNKNOWN

    @property
    def _result(self) -> IcebergType:
        return self._transform.result_type(self._type) if self._is_known else _UNKNOWN

    def add(self, stored: Any) -> None:
        """Add a value of a partition tuple, as it is stored."""
        self._add(read_stored(stored, self._type))

    def add_bound(self, data: bytes) -> None:
        """Add a bound of a manifest's line."""
        if self._is_known:
            self._add(decode_ordinal(data, self._result))

    def map(self, stored: Any) -> Any:
        """Say what stands for a value of a partition tuple."""
        ordinal = read_stored(stored, self._type)
        return stored if ordinal is None else write_stored(self._map(ordinal), self._type, stored)

    def map_bound(self, data: bytes) -> bytes:
        """Say what stands for a bound of a manifest's line."""
        if not self._is_known:
            self._book.redaction.note("partition ranges of unknown transforms are zeros")
            return bytes(len(data))
        ordinal = decode_ordinal(data, self._result)
        if ordinal is None:
            return blank_bound(data, self._result)
        return encode_ordinal(self._map(ordinal), self._result, len(data))

    @property
    def _scale(self) -> NumberScale | TextScale | None:
        return None if self._source is None else self._book.scale(self._source)

    def _add(self, ordinal: Ordinal | None) -> None:
        if ordinal is None or self._transform.name in ("bucket", "void"):
            return
        if not self._is_known:
            self._book.field_scale(self._field_id, isinstance(ordinal, str)).add(ordinal)  # type: ignore[arg-type]
            return
        scale = self._scale
        if scale is None:
            return
        if self._transform.name == "identity":
            scale.add(ordinal)  # type: ignore[arg-type]
        else:
            scale.add_start(self._find_start(ordinal))  # type: ignore[arg-type]

    def _map(self, ordinal: Ordinal) -> Ordinal:
        if self._transform.name in ("bucket", "void"):
            return ordinal
        if not self._is_known:
            return self._book.field_scale(self._field_id, isinstance(ordinal, str)).map(ordinal)  # type: ignore[arg-type]
        scale = self._scale
        if scale is None:
            return ordinal
        if self._transform.name == "identity":
            return scale.map(ordinal)  # type: ignore[arg-type]
        new = scale.map_start(self._find_start(ordinal))  # type: ignore[arg-type]
        return self._transform.apply(new, self._type) if self._transform.name in _UNITS else new

    def _find_start(self, ordinal: Ordinal) -> Ordinal:
        """Find the first value of the source column that is in a partition."""
        name = self._transform.name
        if name not in _UNITS or not isinstance(ordinal, int):
            return ordinal
        day = DAY_UNITS.get(self._type.name, 1)
        if name == "year":
            return count_days(1970 + ordinal) * day
        if name == "month":
            return count_days(1970 + ordinal // 12, ordinal % 12 + 1) * day
        return ordinal * day if name == "day" else ordinal * (day // 24)


def _find_limits(types: list[IcebergType]) -> tuple[int, int] | None:
    """Find what new numbers may be."""
    name = types[0].name
    if name in ("int", "long"):
        bits = 31 if any(one.name == "int" for one in types) else 63
        return -(2**bits), 2**bits - 1
    if name in ("float", "double"):
        return FLOATS
    if name == "decimal":
        digits = min(one.precision or 1 for one in types if one.precision)
        return -(10**digits) + 1, 10**digits - 1
    if name == "time":
        return 0, DAY_MICROS - 1
    if name not in COUNTS:
        return None
    first, last = NANO_YEARS if name.endswith("_ns") else YEARS
    day = DAY_UNITS.get(name, 1)
    return count_days(first) * day, count_days(last) * day


def _find_grid(
    type_: IcebergType, types: list[IcebergType], transforms: list[Transform], limits: tuple[int, int]
) -> Grid | None:
    """Find how the transforms of a column group its values."""
    day = DAY_UNITS.get(type_.name, 1)
    units = {transform.name for transform in transforms if transform.name in _UNITS}
    if day > 1 and any(one.name == "date" for one in types):
        units.add("day")  # it was a column of dates, whose bounds are days
    if day == 1:
        units.discard("day")
    if units:
        coarsest, *finer = (unit for unit in _UNITS if unit in units)
        return group_times(coarsest, day, finer)
    widths = {transform.width or 1 for transform in transforms if transform.name == "truncate"}
    if not widths:
        return None
    return cut_by(math.lcm(*widths), *limits, keeps_rest=len(widths) > 1)


def _is_inside_list(struct: IcebergType, path: tuple[str, ...]) -> bool:
    here: IcebergType = struct
    for name in path[:-1]:
        field: IcebergField = next(one for one in here.fields if one.name == name)
        here = field.type
        if here.name in ("list", "map"):
            return True
    return False
