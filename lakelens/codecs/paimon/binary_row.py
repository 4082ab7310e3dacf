"""Paimon's BinaryRow: partitions, keys, and minimum and maximum values as manifests keep them.

The serialized form, see "BinaryRow" in the Paimon table specification::

    0        4              4 + head                 4 + head + 8 * arity
    | arity  | kind | nulls | slot 0 | slot 1 | ...  | variable part ...
    | int32  | byte | bits, |        8 bytes each    | items padded to 8 bytes
    | big-endian      head = (arity + 71) // 64 * 8 bytes      (all after the arity is little-endian)

No types are stored: the reader must bring those of the schema the row was written with. Slots are decoded by
`row_slots`, which says what is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lakelens.codecs.moments import FarTime
from lakelens.codecs.paimon.types import PaimonField, PaimonType, TypeLike, parse_type
from lakelens.codecs.span.reader import shift_errors
from lakelens.codecs.span.span import Octets
from lakelens.codecs.temporal import date_from_days, time_from_millis, timestamp_from_millis_nanos
from lakelens.errors import Corrupt, Unsupported, visible_line

if TYPE_CHECKING:
    from lakelens.codecs.variant import Variant

# Values inside a Paimon BinaryRow: the slots of rows and arrays, and what they point to.
#
# Everything is little-endian; offsets count from the start of the row (or array) that holds the slot; see "BinaryRow" in
# the Paimon table specification::
#
#     row     kind byte | null bits from bit 8 | 8-byte slots | variable part, items padded to 8
#     array   int32 n | null bits, ceil(n/32)*4 | elements of fixed width, padded to 8 | variable part
#     map     int32 byte length of the key array | key array | value array        multiset<T> = map<T, INT>
#     slot    value in the low bytes
#             or short bytes   0..7 bytes, last byte 0x80 + length
#             or far item      int32 length, int32 offset      (timestamps: int32 nanoseconds, int32 offset of int64
#             millis)
#
# Refused, always as `Corrupt` with the byte: items outside their row, counts that need more bytes than there are, items
# that overlap so that they would decode to more than the bytes hold, text that is not UTF-8, numbers out of their type.

MAX_DEPTH = 64
MILLIS_PER_DAY = 86_400_000

_INT16 = struct.Struct("<h")
_INT32 = struct.Struct("<i")
_INT64 = struct.Struct("<q")
_FLOAT = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")
_LENGTH_OFFSET = struct.Struct("<ii")
#: Bytes of a value in its slot or array; what is not here takes 8.
WIDTHS = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "FLOAT": 4}


def count_null_bytes(arity: int) -> int:
    """Count the bytes of a row's head: the kind byte and one null bit for each field, in words of 8 bytes.

    >>> count_null_bytes(56), count_null_bytes(57)
    (8, 16)
    """
    return (arity + 63 + 8) // 64 * 8


def locate_field(data: bytes, number: int, width: int | None) -> slice:
    """Locate the bytes of a field in a serialized row: `width` bytes of its slot, or those of a text. Raises `Corrupt`.

    >>> row = bytes.fromhex("00000002" "0000000000000000" "0500000000000000" "6869000000000082")
    >>> locate_field(row, 0, 4), locate_field(row, 1, None)
    (slice(12, 16, None), slice(20, 22, None))
    """
    arity = int.from_bytes(data[:4], "big")
    slot = 4 + count_null_bytes(arity) + 8 * number
    if number >= arity or slot + 8 > len(data):
        raise Corrupt("no such field in the row", offset=slot, expected=f"{number + 1} fields", seen=arity)
    if data[4 + (number + 8) // 8] >> ((number + 8) % 8) & 1:
        raise Corrupt("the field is null", offset=slot)
    start, length = (slot, width) if width is not None else SlotDecoder(data).take_bytes(slot, 4, len(data))
    return slice(start, start + length)


class SlotDecoder:
    """Decodes slots of one piece of bytes, never giving more than these bytes can hold.

    `data` may start with a prefix: positions are absolute in `data`, so that errors name its bytes.
    """

    __slots__ = ("data", "left")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = len(data)

    def decode_row(self, types: tuple[PaimonType, ...], base: int, end: int, depth: int = 0) -> list[Any]:
        """Give the values of the row in `data[base:end]`, None for null."""
        self._check_depth(base, depth)
        null_bytes = count_null_bytes(len(types))
        fixed = null_bytes + 8 * len(types)
        if end - base < fixed:
            expected = f"{fixed} bytes for {len(types)} fields"
            raise Corrupt("row cut short", offset=base, expected=expected, seen=f"{end - base} bytes")
        self._spend(fixed, base)
        values: list[Any] = []
        for i, type_ in enumerate(types):
            bit = i + 8
            if self.data[base + bit // 8] >> (bit % 8) & 1:
                values.append(None)
            else:
                values.append(self.decode_slot(type_, base + null_bytes + 8 * i, base, end, depth))
        return values

    def decode_slot(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Any:
        """Give the value of one slot that is not null, at `slot` in the row or array `data[base:end]`."""
        decode = _DECODERS.get(type_.name)
        if decode is None:
            raise Unsupported(f"values of type {type_} are not decoded")
        return decode(self, type_, slot, base, end, depth)

    # -- bounds

    def _check_depth(self, offset: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Corrupt("values nested too deeply", offset=offset, expected=f"at most {MAX_DEPTH} levels")

    def _spend(self, size: int, offset: int) -> None:
        self.left -= size
        if self.left < 0:
            raise Corrupt("items overlap: they hold more than all the bytes", offset=offset)

    def _locate(self, slot: int, base: int, end: int) -> tuple[int, int]:
        """Locate the start and the length of the far item that a slot points to."""
        length, offset = _LENGTH_OFFSET.unpack_from(self.data, slot)
        if length < 0 or offset < 0 or offset + length > end - base:
            seen = f"length {length} at {offset} of {end - base} bytes"
            raise Corrupt(
                "item outside its row", offset=slot, expected="length and offset in the row", seen=seen
            )
        return base + offset, length

    def take_bytes(self, slot: int, base: int, end: int) -> tuple[int, int]:
        """Take the start and the length of bytes, in the slot or far."""
        mark = self.data[slot + 7]
        if not mark & 0x80:
            start, length = self._locate(slot, base, end)
            self._spend(length, start)
            return start, length
        if mark & 0x7F > 7:
            seen = hex(mark)
            raise Corrupt("bad length of short bytes", offset=slot + 7, expected="0x80 to 0x87", seen=seen)
        return slot, mark & 0x7F  # already spent with the slot

    # -- atomic values

    def _boolean(self, type_: PaimonType, slot: int, *_: int) -> bool:
        return self.data[slot] != 0

    def _tinyint(self, type_: PaimonType, slot: int, *_: int) -> int:
        value = self.data[slot]
        return value - 256 if value > 127 else value

    def _smallint(self, type_: PaimonType, slot: int, *_: int) -> Any:
        return _INT16.unpack_from(self.data, slot)[0]

    def _int(self, type_: PaimonType, slot: int, *_: int) -> Any:
        return _INT32.unpack_from(self.data, slot)[0]

    def _bigint(self, type_: PaimonType, slot: int, *_: int) -> Any:
        return _INT64.unpack_from(self.data, slot)[0]

    def _float(self, type_: PaimonType, slot: int, *_: int) -> Any:
        return _FLOAT.unpack_from(self.data, slot)[0]

    def _double(self, type_: PaimonType, slot: int, *_: int) -> Any:
        return _DOUBLE.unpack_from(self.data, slot)[0]

    def _date(self, type_: PaimonType, slot: int, *_: int) -> Any:
        return date_from_days(_INT32.unpack_from(self.data, slot)[0])

    def _time(self, type_: PaimonType, slot: int, *_: int) -> Any:
        millis = _INT32.unpack_from(self.data, slot)[0]
        if not 0 <= millis < MILLIS_PER_DAY:
            raise Corrupt(
                "time outside the day", offset=slot, expected=f"0 to {MILLIS_PER_DAY - 1} ms", seen=millis
            )
        return time_from_millis(millis)

    def _timestamp(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Any:
        utc = type_.name == "TIMESTAMP_LTZ"
        if (type_.precision or 0) <= 3:
            return _timestamp_value(_INT64.unpack_from(self.data, slot)[0], 0, utc)
        nanos, offset = _LENGTH_OFFSET.unpack_from(self.data, slot)
        if not 0 <= offset <= end - base - 8:
            seen = f"{offset} of {end - base} bytes"
            raise Corrupt(
                "timestamp outside its row", offset=slot + 4, expected="an offset in the row", seen=seen
            )
        if not 0 <= nanos < 1_000_000:
            raise Corrupt("bad nanoseconds of a millisecond", offset=slot, expected="0 to 999999", seen=nanos)
        self._spend(8, base + offset)
        return _timestamp_value(_INT64.unpack_from(self.data, base + offset)[0], nanos, utc)

    def _decimal(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Decimal:
        precision = type_.precision or 10
        if precision <= 18:
            unscaled: int = _INT64.unpack_from(self.data, slot)[0]
        else:
            start, length = self._locate(slot, base, end)
            if not 1 <= length <= 16:
                raise Corrupt("bad length of a decimal", offset=slot, expected="1 to 16 bytes", seen=length)
            self._spend(length, start)
            unscaled = int.from_bytes(self.data[start : start + length], "big", signed=True)
        if abs(unscaled) >= 10**precision:
            raise Corrupt(
                f"number too long for {type_}", offset=slot, expected=f"{precision} digits", seen=unscaled
            )
        return Decimal(f"{unscaled}E{-(type_.scale or 0)}")

    def _string(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> str:
        start, length = self.take_bytes(slot, base, end)
        try:
            return self.data[start : start + length].decode("utf-8")
        except UnicodeDecodeError as error:
            seen = self.data[start : start + length].hex()
            raise Corrupt(
                "text is not UTF-8", offset=start + error.start, expected="UTF-8", seen=seen
            ) from None

    def _binary(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> bytes:
        start, length = self.take_bytes(slot, base, end)
        return self.data[start : start + length]

    # -- nested values

    def _row(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> dict[str, Any]:
        start, length = self._locate(slot, base, end)
        types = tuple(field.type for field in type_.fields)
        values = self.decode_row(types, start, start + length, depth + 1)
        return {field.name: value for field, value in zip(type_.fields, values, strict=True)}

    def _array(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> list[Any]:
        assert type_.element is not None
        start, length = self._locate(slot, base, end)
        return self._decode_elements(type_.element, start, start + length, depth + 1)

    def _map(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Any:
        key, value = (type_.element, _INT_TYPE) if type_.name == "MULTISET" else (type_.key, type_.value)
        assert key is not None and value is not None
        start, length = self._locate(slot, base, end)
        size = self.read_count(start, start + length, "length of the map's keys")
        middle = start + 4 + size
        if middle > start + length:
            expected = f"at most {length - 4} bytes"
            raise Corrupt("keys longer than their map", offset=start, expected=expected, seen=f"{size} bytes")
        keys = self._decode_elements(key, start + 4, middle, depth + 1)
        values = self._decode_elements(value, middle, start + length, depth + 1)
        if len(keys) != len(values):
            seen = f"{len(keys)} keys, {len(values)} values"
            raise Corrupt(
                "map with unequal keys and values", offset=start, expected="as many of both", seen=seen
            )
        try:  # as a list of pairs when keys repeat or cannot be hashed: nothing is lost
            pairs = dict(zip(keys, values, strict=True))
        except TypeError:
            return list(zip(keys, values, strict=True))
        return pairs if len(pairs) == len(keys) else list(zip(keys, values, strict=True))

    def _variant(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Variant:
        from lakelens.codecs.variant import Variant

        start, length = self._locate(slot, base, end)
        size = self.read_count(start, start + length, "length of the variant's value")
        if size > length - 4:
            expected = f"at most {length - 4} bytes"
            raise Corrupt("variant value too long", offset=start, expected=expected, seen=f"{size} bytes")
        self._spend(length, start)
        middle = start + 4 + size
        return Variant(self.data[start + 4 : middle], self.data[middle : start + length])

    def _vector(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> list[Any]:
        assert type_.element is not None
        start, length = self._locate(slot, base, end)
        count = self.read_count(start, start + length, "count of the vector's elements")
        width = WIDTHS.get(type_.element.name, 8)
        if type_.length is not None and count != type_.length:
            raise Corrupt("vector of another length", offset=start, expected=type_.length, seen=count)
        if count * width > length - 4:
            expected = f"{count * width} bytes for {count} elements"
            raise Corrupt("vector cut short", offset=start, expected=expected, seen=f"{length - 4} bytes")
        self._spend(4 + count * width, start)
        first, stop = start + 4, start + length
        return [
            self.decode_slot(type_.element, first + i * width, start, stop, depth + 1) for i in range(count)
        ]

    def _decode_elements(self, element: PaimonType, base: int, end: int, depth: int) -> list[Any]:
        self._check_depth(base, depth)
        count = self.read_count(base, end, "count of the array's elements")
        null_bytes = (count + 31) // 32 * 4
        width = WIDTHS.get(element.name, 8)
        first = base + 4 + null_bytes
        needed = 4 + null_bytes + count * width
        if needed > end - base:
            expected = f"{needed} bytes for {count} elements"
            raise Corrupt("array cut short", offset=base, expected=expected, seen=f"{end - base} bytes")
        self._spend(needed, base)
        values: list[Any] = []
        for i in range(count):
            if self.data[base + 4 + i // 8] >> (i % 8) & 1:
                values.append(None)
            else:
                values.append(self.decode_slot(element, first + i * width, base, end, depth))
        return values

    def read_count(self, base: int, end: int, meaning: str) -> int:
        if end - base < 4:
            raise Corrupt(f"no {meaning}", offset=base, expected="4 bytes", seen=f"{end - base} bytes")
        count: int = _INT32.unpack_from(self.data, base)[0]
        if count < 0:
            raise Corrupt(f"negative {meaning}", offset=base, expected="0 or more", seen=count)
        return count


def _timestamp_value(millis: int, nanos: int, utc: bool) -> Any:
    if abs(millis) < 2**63 // 1000:
        return timestamp_from_millis_nanos(millis, nanos, utc)
    return FarTime(millis, "ms")  # the year is beyond 290,000: milliseconds are all that fits


_INT_TYPE = PaimonType("INT")
_DECODERS: dict[str, Callable[..., Any]] = {
    "BOOLEAN": SlotDecoder._boolean,
    "TINYINT": SlotDecoder._tinyint,
    "SMALLINT": SlotDecoder._smallint,
    "INT": SlotDecoder._int,
    "BIGINT": SlotDecoder._bigint,
    "FLOAT": SlotDecoder._float,
    "DOUBLE": SlotDecoder._double,
    "DATE": SlotDecoder._date,
    "TIME": SlotDecoder._time,
    "TIMESTAMP": SlotDecoder._timestamp,
    "TIMESTAMP_LTZ": SlotDecoder._timestamp,
    "DECIMAL": SlotDecoder._decimal,
    "CHAR": SlotDecoder._string,
    "VARCHAR": SlotDecoder._string,
    "BINARY": SlotDecoder._binary,
    "VARBINARY": SlotDecoder._binary,
    "BLOB": SlotDecoder._binary,
    "GEOMETRY": SlotDecoder._binary,
    "GEOGRAPHY": SlotDecoder._binary,
    "ROW": SlotDecoder._row,
    "ARRAY": SlotDecoder._array,
    "MAP": SlotDecoder._map,
    "MULTISET": SlotDecoder._map,
    "VARIANT": SlotDecoder._variant,
    "VECTOR": SlotDecoder._vector,
}


class RowWindow:
    """The bytes of one row, array or map while it is explained, copied once, with the fast decoder for the values in it.

    Every position, in and out and in errors, counts in `data`.

    >>> window = RowWindow(b"....\\x02\\0\\0\\0\\x07\\0\\0\\0", 4, 12)
    >>> window.read_pair(4), window[8]
    ((2, 7), 7)
    """

    __slots__ = ("_decoder", "content", "data", "end", "start")

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end
        self.content = bytes(data[start:end])
        self._decoder = SlotDecoder(self.content)

    def __getitem__(self, position: int) -> int:
        return self.content[position - self.start]

    def take(self, start: int, end: int) -> bytes:
        """Take the bytes from one position to another."""
        return self.content[start - self.start : end - self.start]

    def read_pair(self, position: int) -> tuple[int, int]:
        """Read the two numbers of a slot: mostly a length and an offset."""
        first, second = _LENGTH_OFFSET.unpack_from(self.content, position - self.start)
        return first, second

    def read_count(self, base: int, end: int, meaning: str) -> int:
        """Read the count at the start of an array, a map or a vector. Raises `Corrupt`."""
        with shift_errors(self.start):
            return self._decoder.read_count(base - self.start, end - self.start, meaning)

    def decode_slot(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Any:
        """Decode the value of one slot of the row or array from `base` to `end`."""
        self._decoder.left = len(self.content)
        shift = self.start
        with shift_errors(shift):
            return self._decoder.decode_slot(type_, slot - shift, base - shift, end - shift, depth)

    def decode_item(self, type_: PaimonType) -> Any:
        """Decode the value of all the bytes as one variable-length item: an array, a map, a variant."""
        slot = len(self.content)
        decoder = SlotDecoder(self.content + _LENGTH_OFFSET.pack(slot, 0))
        with shift_errors(self.start):
            return decoder.decode_slot(type_, slot, 0, slot, -1)


FieldLike = PaimonField | tuple[str, TypeLike]
KINDS = ("+I", "-U", "+U", "-D")


class BinaryRow:
    """A decoded row: a sequence of values that also answers to the names of its fields.

    `kind` is `+I`, `-U`, `+U` or `-D`; `data` are the bytes it was decoded from, arity included. Two rows are equal
    when names, values and kind are.
    """

    __slots__ = ("data", "kind", "names", "values")

    def __init__(
        self, names: tuple[str, ...], values: tuple[Any, ...], kind: str = "+I", data: bytes = b""
    ) -> None:
        self.names = names
        self.values = values
        self.kind = kind
        self.data = data

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            return self.values[key]
        try:
            return self.values[self.names.index(key)]
        except ValueError:
            raise KeyError(f"{key!r}: the row has {', '.join(self.names) or 'no fields'}") from None

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinaryRow):
            return NotImplemented
        return (self.names, self.values, self.kind) == (other.names, other.values, other.kind)

    def __hash__(self) -> int:
        return hash((self.names, self.data))

    def __repr__(self) -> str:
        pairs = zip(self.names, self.values, strict=True)
        body = visible_line(", ".join(f"{name}: {value!r}" for name, value in pairs))
        return f"{{{body}}}" if self.kind == "+I" else f"{self.kind}{{{body}}}"

    def to_dict(self) -> dict[str, Any]:
        """Give name to value, in field order.

        >>> BinaryRow(("id", "name"), (1, "a")).to_dict()
        {'id': 1, 'name': 'a'}
        """
        return dict(zip(self.names, self.values, strict=True))

    def list_slots(self) -> list[bytes]:
        """List the 8 bytes of each field in the fixed part; none where there are no bytes.

        >>> data = bytes.fromhex("0000000100000000000000000700000000000000")
        >>> [slot.hex(" ") for slot in decode_binary_row(data, [("id", "INT")]).list_slots()]
        ['07 00 00 00 00 00 00 00']
        """
        first = 4 + count_null_bytes(len(self.names))
        ends = range(first + 8, len(self.data) + 1, 8)
        return [self.data[end - 8 : end] for end in ends[: len(self.names)]]


def decode_binary_row(data: bytes, fields: Sequence[FieldLike]) -> BinaryRow:
    """Decode one serialized row, its 4-byte arity first, as Paimon keeps it in manifests.

    Follows "BinaryRow" of the Paimon specification.

    Parameters
    ----------
    data
        The bytes of the row.
    fields
        (name, type) pairs, types as Paimon spells them, or `PaimonField`s.

    Returns
    -------
    BinaryRow
        Timestamps without zone are naive `datetime`s, with local zone UTC-aware; digits below the microsecond give a
        `NanoTimestamp` and years outside 1 to 9999 a `FarTime` (`lakelens.codecs.moments`). A MAP is a dict (a list of
        pairs when keys repeat or are not hashable), a ROW a dict, a VARIANT a `Variant`.

    Raises
    ------
    Corrupt
        The bytes are no such row; the error names the byte.

    Examples
    --------
    >>> data = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    >>> row = decode_binary_row(data, [("id", "INT NOT NULL"), ("name", "STRING")])
    >>> row, row["name"], row.kind
    ({id: 1, name: 'a'}, 'a', '+I')
    """
    names, types = split_fields(fields)
    data = bytes(data)
    check_arity(data, len(types))
    values = SlotDecoder(data).decode_row(types, 4, len(data))
    if data[4] >= len(KINDS):
        raise Corrupt("unknown row kind", offset=4, expected="0 to 3 (+I, -U, +U, -D)", seen=data[4])
    return BinaryRow(names, tuple(values), KINDS[data[4]], data)


def check_arity(data: bytes, arity: int) -> None:
    """Raise `Corrupt` unless the row says it has this many fields.

    >>> check_arity(bytes.fromhex("00000001"), 1)
    """
    if len(data) < 4:
        raise Corrupt("row without arity", offset=0, expected="4 bytes", seen=f"{len(data)} bytes")
    seen = int.from_bytes(data[:4], "big", signed=True)
    if seen != arity:
        hint = "the fields of the schema that the row was written with"
        raise Corrupt(
            "row of another arity", offset=0, expected=f"{arity} fields", seen=f"{seen} fields", hint=hint
        )


def split_fields(fields: Sequence[FieldLike]) -> tuple[tuple[str, ...], tuple[PaimonType, ...]]:
    """Give the names and the parsed types of fields.

    >>> split_fields([("id", "INT")])
    (('id',), (PaimonType(name='INT', nullable=True, ...),))
    """
    try:
        return _split_cached(tuple(fields))
    except TypeError:  # types given as JSON objects cannot be hashed
        return _split(fields)


def _split(fields: Sequence[FieldLike]) -> tuple[tuple[str, ...], tuple[PaimonType, ...]]:
    pairs = [(f.name, f.type) if isinstance(f, PaimonField) else (f[0], parse_type(f[1])) for f in fields]
    return tuple(name for name, _ in pairs), tuple(type_ for _, type_ in pairs)


_split_cached = lru_cache(maxsize=512)(_split)
