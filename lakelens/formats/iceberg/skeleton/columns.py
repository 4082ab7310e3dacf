"""The columns of an Iceberg table under their new names, and what replaces their values.

A column is its field id: bounds, partition values and defaults of one id are replaced by one order-preserving map, which
keeps what each transform of a partition spec makes of them (`identity`, `truncate`, the times; a hash bucket where the
column has no other grouping).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergField, IcebergType
from lakelens.codecs.iceberg.value import DAY_MICROS, DAY_UNITS
from lakelens.formats.iceberg.metadata.schemas import describe_type, walk_fields
from lakelens.formats.iceberg.skeleton.values import (
    COUNTS,
    TEXTS,
    Ordinal,
    blank_bound,
    decode_ordinal,
    encode_ordinal,
    make_fits,
    read_stored,
    write_stored,
)
from lakelens.model.skeleton.calendar import NANO_YEARS, YEARS, count_days, group_times
from lakelens.model.skeleton.numbers import Grid, NumberScale, cut_by
from lakelens.model.skeleton.ordinals import FLOATS
from lakelens.model.skeleton.redaction import RedactedColumn, Redaction
from lakelens.model.skeleton.texts import TextScale

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
        """The columns of a schema; the newest comes first."""
        for path, field in walk_fields(struct):
            types = self.types.setdefault(field.id, [])
            if field.type not in types and not field.type.is_nested:
                types.append(field.type)
            names = self.names.setdefault(field.id, [])
            if path not in names:
                names.append(path)
                self.redaction.names.reserve(path)

    def learn_transform(self, source: int | None, text: str) -> None:
        """A field of a partition spec."""
        if source is not None:
            known = self.transforms.setdefault(source, [])
            found = Transform.parse(text)
            if found not in known:
                known.append(found)

    def name(self, field: str, field_id: int, path: tuple[str, ...] = ()) -> str:
        """The name in place of a column's or a nested field's."""
        return self.redaction.names.column(field, field_id, ".".join(path))

    def publish(self, structs: Iterable[IcebergType]) -> None:
        """Say which column is called what, so that a predicate can be translated."""
        for struct in structs:
            for path, field in walk_fields(struct):
                full = ".".join(path)
                if full not in self.redaction.columns and not _is_inside_list(struct, path):
                    name = ".".join(self._rename_path(struct, path))
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
        """What replaces the values of a column; None when they stay, or have no order."""
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
        widths = [one.width or 1 for one in transforms if one.name == "bucket"]
        fits = make_fits(type_, widths) if widths else None
        if type_.name in TEXTS:
            cuts = [one.width or 1 for one in transforms if one.name == "truncate"]
            length = type_.length or (16 if type_.name == "uuid" else 0)
            return TextScale(cuts, length, fits)
        limits = _find_limits(types)
        if limits is None:
            return None
        grid = _find_grid(type_, types, transforms, limits)
        return NumberScale(*limits, grid, fits if grid is None else None)

    def field_scale(self, field_id: int, is_text: bool) -> NumberScale | TextScale:
        """What replaces partition values whose source or transform is not known."""
        key = ("field", field_id)
        if key not in self._scales:
            self._scales[key] = TextScale() if is_text else NumberScale(-(2**31), 2**31 - 1)
        found = self._scales[key]
        assert found is not None
        return found

    # --- bounds --------------------------------------------------------------------------------------------------------

    def keeps(self, column: int) -> bool:
        """Whether the values of a column stay by choice."""
        names = {part for path in self.names.get(column, ()) for part in (path[-1], ".".join(path))}
        return self.redaction.keeps_values(names)

    def add_bound(self, column: int, data: bytes) -> None:
        """A bound of a data file."""
        scale = self.scale(column)
        ordinal = None if scale is None else decode_ordinal(data, self.type_of(column))
        if scale is not None and ordinal is not None:
            if isinstance(scale, NumberScale) and len(data) == 4:
                self._narrow(column, scale)
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
        """A date in a column that became one of times (version 3), as the beginning of the day."""
        if self._was_date(column, width) and isinstance(ordinal, int):
            return ordinal * DAY_UNITS[self.type_of(column).name]
        return ordinal

    def _narrow(self, column: int, scale: NumberScale) -> None:
        if self.type_of(column).name == "long":
            scale.narrow(-(2**31), 2**31 - 1)


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
        """A value of a partition tuple, as it is stored."""
        self._add(read_stored(stored, self._type))

    def add_bound(self, data: bytes) -> None:
        """A bound of a manifest's line."""
        if self._is_known:
            self._add(decode_ordinal(data, self._result))

    def map(self, stored: Any) -> Any:
        """What stands for a value of a partition tuple."""
        ordinal = read_stored(stored, self._type)
        return stored if ordinal is None else write_stored(self._map(ordinal), self._type, stored)

    def map_bound(self, data: bytes) -> bytes:
        """What stands for a bound of a manifest's line."""
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
        """The first value of the source column that is in a partition."""
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
    """What new numbers may be."""
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
    """How the transforms of a column group its values."""
    day = DAY_UNITS.get(type_.name, 1)
    units = {one.name for one in transforms if one.name in _UNITS}
    if day > 1 and any(one.name == "date" for one in types):
        units.add("day")  # it was a column of dates, whose bounds are days
    if day == 1:
        units.discard("day")
    if units:
        coarsest, *finer = (unit for unit in _UNITS if unit in units)
        return group_times(coarsest, day, finer)
    widths = {one.width or 1 for one in transforms if one.name == "truncate"}
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
