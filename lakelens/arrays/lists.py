"""What is used of Arrow's arrays where the core works without pyarrow: columns of one type, whose items may be null.

    type                        an item is kept as
    date, time, timestamp       the count that Arrow stores
    decimal                     a `Decimal` of its scale
    uuid, binary                bytes
    struct                      a dict, and a column for each field

Names, arguments, results and errors are pyarrow's, so that what is written for its arrays works on these; no more of it is
here than the core needs, and what is not here is an `AttributeError`, never another answer.
"""

from __future__ import annotations

import struct as packing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from lakelens.arrays import kinds
from lakelens.arrays.kinds import Kind
from lakelens.arrays.vectors import Vector
from lakelens.codecs.moments import FarTime
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)

_EXACT = Context(prec=200)
_EPOCH = datetime(1970, 1, 1)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class ArrowInvalid(ValueError):
    """See `pyarrow.ArrowInvalid`."""


class ArrowTypeError(TypeError):
    """See `pyarrow.ArrowTypeError`."""


class ArrowNotImplementedError(NotImplementedError):
    """See `pyarrow.ArrowNotImplementedError`."""


class Scalar:
    """One item of a column."""

    __slots__ = ("item", "type")

    def __init__(self, item: Any, kind: Kind) -> None:
        self.item, self.type = item, kind

    @property
    def is_valid(self) -> bool:
        """Whether it is not null."""
        return self.item is not None

    def as_py(self) -> Any:
        """It as a value of Python."""
        return read_item(self.item, self.type)

    def cast(self, kind: Kind) -> Scalar:
        """It as another type. Raises as `ListColumn.cast` does."""
        return Scalar(cast_item(self.item, self.type, kind), kind)


class ListColumn:
    """Items of one type, None for null."""

    def __init__(self, items: Iterable[Any], kind: Kind, children: Sequence[ListColumn] = ()) -> None:
        self.items, self.type, self._children = list(items), kind, children

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Scalar]:
        return (Scalar(item, self.type) for item in self.items)

    def __getitem__(self, place: int) -> Scalar:
        return Scalar(self.items[place], self.type)

    def __getattr__(self, name: str) -> Any:
        if name == "storage" and isinstance(self.type, kinds.UuidType):
            return ListColumn(self.items, self.type.storage_type)
        raise AttributeError(name)

    @property
    def null_count(self) -> int:
        """How many are null."""
        return sum(item is None for item in self.items)

    def is_valid(self) -> ListColumn:
        """Which are not null."""
        return ListColumn((item is not None for item in self.items), kinds.bool_())

    def is_null(self) -> ListColumn:
        """Which are null."""
        return ListColumn((item is None for item in self.items), kinds.bool_())

    def to_pylist(self) -> list[Any]:
        """The items as values of Python."""
        return [read_item(item, self.type) for item in self.items]

    def to_numpy(self, zero_copy_only: bool = True) -> Vector:
        """The items as a vector."""
        return Vector(self.items)

    def take(self, places: Iterable[Any]) -> ListColumn:
        """The items at some places; null at none."""
        chosen = _list_items(places)
        items = [None if place is None else self.items[place] for place in chosen]
        return ListColumn(items, self.type, [child.take(chosen) for child in self._children])

    def filter(self, mask: Iterable[Any]) -> ListColumn:
        """The items that a mask chooses."""
        return self.take([place for place, chosen in enumerate(_list_items(mask)) if chosen])

    def drop_null(self) -> ListColumn:
        """The items that are not null."""
        return self.filter([item is not None for item in self.items])

    def fill_null(self, value: Any) -> ListColumn:
        """The items with a value for those that are null."""
        return ListColumn((value if item is None else item for item in self.items), self.type)

    def view(self, kind: Kind) -> ListColumn:
        """The same stored items, as another type of the width."""
        return ListColumn(self.items, kind)

    def cast(self, kind: Kind) -> ListColumn:
        """The items as another type. Raises `ArrowInvalid` for one that is none, `ArrowNotImplementedError`."""
        cast = _find_cast(self.type, kind)
        return ListColumn([None if item is None else cast(item) for item in self.items], kind)

    def dictionary_encode(self) -> Coded:
        """The distinct items, and which each is."""
        known: dict[Any, int] = {}
        codes = list[int | None]()
        for item in self.items:
            key = item
            if isinstance(item, float):
                key = packing.pack("<d", item)  # apart by their bits
            elif isinstance(item, list | dict):
                key = repr(item)
            codes.append(None if item is None else known.setdefault(key, len(known)))
        first = {code: place for place, code in reversed(list(enumerate(codes))) if code is not None}
        return Coded(self.take([first[code] for code in range(len(known))]), ListColumn(codes, kinds.int32()))

    def field(self, place: int) -> ListColumn:
        """A column of a struct; as Arrow keeps it, what is null in the struct may not be in it."""
        return self._children[place]

    def flatten(self) -> ListColumn:
        """The elements of all lists."""
        found = (element for item in self.items if item is not None for element in item)
        return ListColumn(found, self.type.value_type)


class Coded:
    """Distinct items, and which of them each is."""

    def __init__(self, dictionary: ListColumn, indices: ListColumn) -> None:
        self.dictionary, self.indices = dictionary, indices


def _list_items(given: Any) -> Sequence[Any]:
    found: Sequence[Any] = given.items if isinstance(given, ListColumn | Vector) else list(given)
    return found


class StructArray:
    """See `pyarrow.StructArray`."""

    @staticmethod
    def from_arrays(children: Sequence[ListColumn], fields: Sequence[kinds.KindField]) -> ListColumn:
        """A column of structs, none of them null."""
        names = [field.name for field in fields]
        rows = zip(*(child.items for child in children), strict=True)
        kind = kinds.struct(fields)
        return ListColumn([dict(zip(names, row, strict=True)) for row in rows], kind, list(children))


class ExtensionArray:
    """See `pyarrow.ExtensionArray`."""

    @staticmethod
    def from_storage(kind: Kind, storage: ListColumn) -> ListColumn:
        """A column of what its items stand for."""
        return ListColumn(storage.items, kind)


def array(values: Iterable[Any], kind: Kind | None = None, mask: Iterable[bool] | None = None) -> ListColumn:
    """See `pyarrow.array`. Raises `ArrowInvalid` and others for a value that the type cannot hold.

    >>> array([1, None], kinds.int64()).is_valid().to_pylist()
    [True, False]
    """
    items = _list_items(values)
    if mask is not None:
        items = [None if is_null else item for item, is_null in zip(items, mask, strict=True)]
    if kind is None:
        first = next((item for item in items if item is not None), None)
        kind = (
            kinds.bool_()
            if isinstance(first, bool)
            else kinds.float64()
            if isinstance(first, float)
            else kinds.int64()
            if isinstance(first, int)
            else kinds.string()
            if isinstance(first, str)
            else kinds.binary()
            if isinstance(first, bytes)
            else kinds.null()
        )
    made = [None if item is None else store_item(item, kind) for item in items]
    if kind.name != "struct":
        return ListColumn(made, kind)
    children = [
        ListColumn([None if item is None else item.get(field.name) for item in made], field.type)
        for field in kind
    ]
    return ListColumn(made, kind, children)


def scalar(value: Any, kind: Kind) -> Scalar:
    """See `pyarrow.scalar`. Raises as `array` does."""
    return Scalar(None if value is None else store_item(value, kind), kind)


def nulls(count: int, kind: Kind | None = None) -> ListColumn:
    """See `pyarrow.nulls`."""
    kind = kind or kinds.null()
    return ListColumn([None] * count, kind, [nulls(count, field.type) for field in kind.fields])


def concat_arrays(columns: Iterable[ListColumn]) -> ListColumn:
    """See `pyarrow.concat_arrays`."""
    parts = list(columns)
    children = [concat_arrays(child) for child in zip(*(part._children for part in parts), strict=True)]
    return ListColumn((item for part in parts for item in part.items), parts[0].type, children)


def store_item(value: Any, kind: Kind) -> Any:
    """Make a stored item of a value of Python. Raises `ArrowInvalid`, `ArrowTypeError`, `OverflowError`."""
    store = _STORES.get(kind.name)
    if store is None:
        raise ArrowTypeError(f"{value!r} is no {kind.name}")
    return store(value, kind)


def _store_bool(value: Any, kind: Kind) -> bool:
    if not isinstance(value, bool):
        raise ArrowInvalid(f"{value!r} is no boolean")
    return value


def _store_integer(value: Any, kind: Kind, *, is_exact: bool = False) -> int:
    if isinstance(value, float) and abs(value) < 2.0**63 and (not is_exact or value == int(value)):
        value = int(value)  # as Arrow takes it: a cast loses nothing, an array cuts a fraction off
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArrowInvalid(f"{value!r} is no whole number")
    if not -(1 << kind.bit_width - 1) <= value < 1 << kind.bit_width - 1:
        raise ArrowInvalid(f"{value!r} has more than {kind.bit_width} bits")
    return value


def _store_float(value: Any, kind: Kind) -> float:
    if not isinstance(value, int | float):
        raise ArrowInvalid(f"{value!r} is no number")
    if isinstance(value, int) and abs(value) > 1 << (24 if kind.name == "float" else 53):
        raise ArrowInvalid(f"{value!r} has more digits than a float")
    return round_float(float(value)) if kind.name == "float" else float(value)


def round_float(value: float) -> float:
    """Round a number to the nearest float of 32 bits."""
    try:
        found: float = packing.unpack("<f", packing.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return found


def _store_decimal(value: Any, kind: Kind) -> Decimal:
    if not isinstance(value, Decimal | int) or isinstance(value, bool):
        raise ArrowTypeError(f"{value!r} is no decimal")
    try:
        found = Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), context=_EXACT)
    except InvalidOperation:
        raise ArrowInvalid(f"{value!r} is no decimal") from None
    if found != value or len(found.as_tuple().digits) > max(kind.precision, 1):
        raise ArrowInvalid(f"{value!r} has more digits than {kind.precision}, {kind.scale}")
    return found


def _store_text(value: Any, kind: Kind) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise ArrowTypeError(f"{value!r} is no text")
    value.encode()
    return value


def _store_bytes(value: Any, kind: Kind) -> bytes:
    found = value.encode() if isinstance(value, str) else value
    if not isinstance(found, bytes | bytearray | memoryview):
        raise ArrowTypeError(f"{value!r} is no bytes")
    if kind.name != "binary" and len(found) != (kind.byte_width or 16):
        raise ArrowInvalid(f"{len(found)} bytes where {kind.byte_width} are")
    return bytes(found)


def _store_clock(value: Any, kind: Kind) -> int:
    if isinstance(value, time):
        day = timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
        return day // timedelta(microseconds=1) * _PER_SECOND[kind.unit] // 10**6
    return _store_integer(value, kind)


def _store_moment(value: Any, kind: Kind) -> int:
    if isinstance(value, datetime):
        known = datetime.combine(value.date(), value.time()) - (value.utcoffset() or timedelta())
        nanos = (known - _EPOCH) // timedelta(microseconds=1) * 1000 + getattr(value, "nanosecond", 0)
        return _change_unit(nanos, kinds.timestamp("ns"), kind)
    if isinstance(value, FarTime):
        value = value.count_in(kind.unit)  # type: ignore[arg-type]
    return _store_integer(value, kind)


def _store_date(value: Any, kind: Kind) -> int:
    if isinstance(value, date):
        return value.toordinal() - _EPOCH.toordinal()
    if isinstance(value, FarTime):
        value = value.count_in("D")
    return _store_integer(value, kind)


def _store_list(value: Any, kind: Kind) -> list[Any]:
    if kind.name == "map" and isinstance(value, Mapping):
        value = value.items()
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        raise ArrowTypeError(f"{value!r} is no list")
    if kind.name == "map":
        sides = [field.type for field in kind.fields]
        return [
            tuple(_store_or_null(side, of) for side, of in zip(pair, sides, strict=True)) for pair in value
        ]
    found = [_store_or_null(item, kind.value_type) for item in value]
    if kind.byte_width >= 0 and len(found) != kind.byte_width:
        raise ArrowInvalid(f"{len(found)} elements where {kind.byte_width} are")
    return found


def _store_struct(value: Any, kind: Kind) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ArrowTypeError(f"{value!r} is no struct")
    return {field.name: _store_or_null(value.get(field.name), field.type) for field in kind}


def _store_or_null(value: Any, kind: Kind) -> Any:
    return None if value is None else store_item(value, kind)


_STORES: dict[str, Callable[[Any, Kind], Any]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), _store_integer),
    **dict.fromkeys(("float", "double"), _store_float),
    **dict.fromkeys(("decimal128", "decimal256"), _store_decimal),
    **dict.fromkeys(("binary", "fixed_size_binary", "uuid"), _store_bytes),
    **dict.fromkeys(("time32", "time64"), _store_clock),
    **dict.fromkeys(("list", "map"), _store_list),
    "bool": _store_bool,
    "string": _store_text,
    "date32": _store_date,
    "timestamp": _store_moment,
    "struct": _store_struct,
}


def read_item(item: Any, kind: Kind) -> Any:
    """Make a value of Python of a stored item."""
    if item is None:
        return None
    match kind.name:
        case "date32":
            return date_from_days(item)
        case "time32" | "time64":
            return time_from_micros(item * 10**6 // _PER_SECOND[kind.unit])
        case "timestamp" if kind.unit == "ns":
            return timestamp_from_nanos(item, kind.tz is not None)
        case "timestamp":
            return timestamp_from_micros(item * 10**6 // _PER_SECOND[kind.unit], kind.tz is not None)
        case "uuid":
            return UUID(bytes=item)
        case "list":
            return [read_item(element, kind.value_type) for element in item]
        case "map":
            sides = [field.type for field in kind.fields]
            return [tuple(map(read_item, pair, sides)) for pair in item]
        case "struct":
            return {field.name: read_item(item[field.name], field.type) for field in kind}
    return item


# Items as another type: as Arrow casts them safely, as far as the core asks for it.

_NUMBERS = ("int8", "int16", "int32", "int64")


def cast_item(item: Any, kind: Kind, wanted: Kind) -> Any:
    """Cast a stored item. Raises `ArrowInvalid` where it does not fit, `ArrowNotImplementedError` between other types."""
    cast = _find_cast(kind, wanted)
    return None if item is None else cast(item)


def _find_cast(kind: Kind, wanted: Kind) -> Callable[[Any], Any]:
    if kind == wanted or kind.name == "null":
        return lambda item: item
    is_number = kind.name in _NUMBERS or kind.name == "bool"
    if wanted.name in _NUMBERS and (is_number or kind.name in ("float", "double")):
        return lambda item: _store_integer(+item, wanted, is_exact=True)
    if wanted.name in ("float", "double") and (is_number or kind.name in ("float", "double")):
        return lambda item: _store_float(item, wanted)
    if wanted.name.startswith("decimal") and (kind.name in _NUMBERS or kind.name.startswith("decimal")):
        return lambda item: _store_decimal(item, wanted)
    if kind.name.startswith("decimal") and wanted.name in ("float", "double"):
        return lambda item: _store_float(float(item), wanted)
    if wanted.name == "bool" and (is_number or kind.name in ("float", "double")):
        return bool
    if wanted.name in ("binary", "string") and kind.name in ("string", "binary", "fixed_size_binary"):
        return lambda item: (
            _store_text(item, wanted) if wanted.name == "string" else _store_bytes(item, wanted)
        )
    if wanted.name == "string":
        return _find_printer(kind)
    if kind.name == "string":
        return lambda item: _parse_item(item, wanted)
    if kind.name == "date32" and wanted.name == "timestamp":
        return lambda item: _store_integer(item * 86_400 * _PER_SECOND[wanted.unit], wanted)
    if kind.name == wanted.name == "timestamp":
        return lambda item: _change_unit(item, kind, wanted)
    if {kind.name, wanted.name} in ({"date32", "int32"}, {"timestamp", "int64"}, {"time64", "int64"}):
        return lambda item: item
    raise ArrowNotImplementedError(f"no cast from {kind.name} to {wanted.name}")


def _change_unit(item: int, kind: Kind, wanted: Kind) -> int:
    whole, rest = divmod(item * _PER_SECOND[wanted.unit], _PER_SECOND[kind.unit])
    if rest:
        raise ArrowInvalid(f"{item} would lose digits")
    return _store_integer(whole, wanted)


def _find_printer(kind: Kind) -> Callable[[Any], str]:
    """Find what prints items as Arrow does: times with all digits of their unit, `Z` behind those in UTC."""
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}.get(kind.unit, 0)

    def print_clock(count: int) -> str:
        seconds, fraction = divmod(count, _PER_SECOND[kind.unit])
        hours, rest = divmod(seconds, 3600)
        text = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
        return f"{text}.{fraction:0{digits}d}" if digits else text

    def print_moment(count: int) -> str:
        days, rest = divmod(count, 86_400 * _PER_SECOND[kind.unit])
        return f"{date_from_days(days)} {print_clock(rest)}{'Z' if kind.tz else ''}"

    match kind.name:
        case "date32":
            return lambda item: str(date_from_days(item))
        case "time32" | "time64":
            return print_clock
        case "timestamp":
            return print_moment
        case "bool":
            return lambda item: str(item).lower()
    if kind.name in _NUMBERS or kind.name.startswith("decimal"):
        return str
    raise ArrowNotImplementedError(f"no cast from {kind.name} to string")


def _parse_item(text: str, wanted: Kind) -> Any:
    """Parse a text. Raises `ArrowInvalid` for one that is none of the type, `ArrowNotImplementedError`."""
    try:
        if wanted.name in _NUMBERS and text.strip() == text and text.isascii() and "_" not in text:
            return _store_integer(int(text), wanted)
        if wanted.name in ("float", "double") and text.strip() == text and "_" not in text:
            return _store_float(float(text), wanted)
        if wanted.name == "bool":
            return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
        if wanted.name.startswith("decimal"):
            return _store_decimal(Decimal(text), wanted)
        if wanted.name == "date32" and len(text) == 10:
            return _store_date(date.fromisoformat(text), wanted)
        if wanted.name == "timestamp" and wanted.tz is None:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                micros = (moment - _EPOCH) // timedelta(microseconds=1)
                return _change_unit(micros, kinds.timestamp("us"), wanted)
    except (ArithmeticError, KeyError, ValueError) as error:
        raise ArrowInvalid(f"{text!r} is no {wanted.name}") from error
    if wanted.name in (*_NUMBERS, "float", "double", "date32", "timestamp"):
        raise ArrowInvalid(f"{text!r} is no {wanted.name}")
    raise ArrowNotImplementedError(f"no cast from string to {wanted.name}")
