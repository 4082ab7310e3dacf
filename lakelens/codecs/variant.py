"""Variant: the binary JSON that Paimon, Spark, Parquet and Iceberg share."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from lakelens.codecs.span.reader import (
    SpanReader,
    explain_items,
    format_count,
    group_items,
    make_line,
    shift_errors,
)
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt, LakeError
from lakelens.lazy import dataclass

# Variant: a JSON-like value in two binary parts, as Paimon, Spark, Parquet and Iceberg share it.
#
# Layout, see "Variant Binary Encoding" in the Parquet format repository (everything little-endian)::
#
#     metadata   header: version 1 in bits 0-3, sorted bit 4, offset size - 1 in bits 6-7
#                | count | count + 1 offsets | the names of all keys, UTF-8
#     value      1 byte: basic type in bits 0-1, then 6 bits of header
#                0 primitive (header = type id) | 1 short string (header = length)
#                2 object: | count | field ids | count + 1 offsets | values      3 array: | count | offsets | values
#
# Refused as `Corrupt`: other versions, offsets outside, nesting deeper than 64, values that overlap.

MAX_DEPTH = 64
#: Values that have a length of 4 bytes after their header.
LONG = {15: "binary", 16: "string"}
#: Type id: name, and bytes after the header.
PRIMITIVES = {
    0: ("null", 0),
    1: ("true", 0),
    2: ("false", 0),
    3: ("int8", 1),
    4: ("int16", 2),
    5: ("int32", 4),
    6: ("int64", 8),
    7: ("double", 8),
    8: ("decimal4", 5),
    9: ("decimal8", 9),
    10: ("decimal16", 17),
    11: ("date", 4),
    12: ("timestamp", 8),
    13: ("timestamp without zone", 8),
    14: ("float", 4),
    17: ("time", 8),
    18: ("timestamp of nanoseconds", 8),
    19: ("timestamp of nanoseconds without zone", 8),
    20: ("uuid", 16),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """The two parts of a variant, as they were written."""

    value: bytes
    metadata: bytes

    def to_python(self) -> Any:
        """The value as dict, list, str, numbers, dates: what JSON and SQL would show.

        Raises `Corrupt` with the byte of the value, or of the metadata, that is wrong.

        >>> Variant(bytes.fromhex("02010000020c01"), bytes.fromhex("0101000161")).to_python()
        {'a': 1}
        """
        names = decode_names(self.metadata, 0, len(self.metadata))
        return _Decoder(self.value, names).decode(0, 0)


# -- the layouts, at absolute positions


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the keys in metadata: `count + 1` offsets of `size` bytes at `offsets`, then `text` up to `end`."""

    size: int
    count: int
    offsets: int
    text: int
    end: int


def read_uints(data: Octets, start: int, size: int, count: int) -> list[int]:
    """Unsigned numbers of `size` bytes side by side."""
    content = data[start : start + count * size]
    return [int.from_bytes(content[i : i + size], "little") for i in range(0, count * size, size)]


def read_head(data: Octets, start: int, end: int) -> Names:
    """Read the head of the metadata from `start` to `end`, whose offsets are all there. Raises `Corrupt`."""
    if end - start < 1:
        raise Corrupt("variant metadata cut short", offset=start, expected="1 byte", seen="0 bytes")
    header = data[start]
    if header & 0x0F != 1:
        raise Corrupt("unknown version of variant metadata", offset=start, expected="1", seen=header & 0x0F)
    size = (header >> 6) + 1
    offsets = start + 1 + size
    count = int.from_bytes(data[start + 1 : min(offsets, end)], "little")
    text = offsets + (count + 1) * size
    if text > end:
        expected, seen = f"{text - start} bytes", f"{end - start} bytes"
        raise Corrupt("variant metadata cut short", offset=start, expected=expected, seen=seen)
    return Names(size, count, offsets, text, end)


def place_names(data: Octets, head: Names) -> list[int]:
    """Place where each name starts, and where the last one ends. Raises `Corrupt` at the first that is not inside."""
    places = [head.text + end for end in read_uints(data, head.offsets, head.size, head.count + 1)]
    for i in range(head.count):
        if not places[i] <= places[i + 1] <= head.end:
            seen = f"bytes {places[i]} to {places[i + 1]}"
            raise Corrupt("variant key outside the metadata", offset=head.offsets + i * head.size, seen=seen)
    return places


def decode_names(data: Octets, start: int, end: int) -> tuple[str, ...]:
    """Decode the keys that the metadata from `start` to `end` holds. Raises `Corrupt`."""
    places = place_names(data, head := read_head(data, start, end))
    return tuple(decode_text(data, places[i], places[i + 1]) for i in range(head.count))


def decode_text(data: Octets, start: int, end: int) -> str:
    """Decode the UTF-8 text from one position to another. Raises `Corrupt`."""
    content = bytes(data[start:end])
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt("text is not UTF-8", offset=start + error.start, seen=content.hex()) from None


@dataclass(frozen=True, slots=True)
class Container:
    """Where the parts of an object or array are; an array has no field ids."""

    start: int
    count: int
    ids: int
    id_size: int
    offsets: int
    offset_size: int
    values: int


def read_container(data: Octets, start: int, limit: int) -> Container:
    """Read the parts of the object or array at `start`, as far as its values. Raises `Corrupt`."""
    is_object, header = data[start] & 3 == 2, data[start] >> 2
    offset_size = (header & 3) + 1
    id_size = (header >> 2 & 3) + 1 if is_object else 0
    count_size = 4 if header >> (4 if is_object else 2) & 1 else 1
    require(start + 1, count_size, limit)
    ids = start + 1 + count_size
    count = int.from_bytes(data[start + 1 : ids], "little")
    offsets = ids + count * id_size
    values = offsets + (count + 1) * offset_size
    require(ids, values - ids, limit)
    return Container(start, count, ids, id_size, offsets, offset_size, values)


def find_name(names: tuple[str, ...], key: int, offset: int) -> str:
    """Find the name of a key whose id is at `offset`. Raises `Corrupt`."""
    if key >= len(names):
        raise Corrupt("variant key not in the metadata", offset=offset, seen=f"{key} of {len(names)}")
    return names[key]


def require(offset: int, size: int, limit: int) -> None:
    """Raises `Corrupt` unless `size` bytes from `offset` end before the limit."""
    if offset + size > limit:
        seen = f"{max(limit - offset, 0)} bytes"
        raise Corrupt("variant value cut short", offset=offset, expected=f"{size} bytes", seen=seen)


# -- values


class _Decoder:
    """Decodes the values in some bytes, never giving more than these bytes can hold."""

    def __init__(self, data: bytes, names: tuple[str, ...]) -> None:
        self.data, self.names, self.left = data, names, len(data)

    def take(self, offset: int, size: int) -> bytes:
        require(offset, size, len(self.data))
        self.left -= size
        if self.left < 0:
            raise Corrupt("variant values overlap", offset=offset)
        return self.data[offset : offset + size]

    def decode(self, offset: int, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Corrupt("variant nested too deeply", offset=offset, expected=f"at most {MAX_DEPTH} levels")
        head = self.take(offset, 1)[0]
        basic, header = head & 3, head >> 2
        if basic >= 2:
            return self.decode_container(offset, depth)
        if basic == 1:
            self.take(offset + 1, header)
            return decode_text(self.data, offset + 1, offset + 1 + header)
        if header in LONG:
            size = int.from_bytes(self.take(offset + 1, 4), "little")
            content = self.take(offset + 5, size)
            return decode_text(self.data, offset + 5, offset + 5 + size) if header == 16 else content
        if header not in PRIMITIVES:
            raise Corrupt("unknown type of variant value", offset=offset, expected="0 to 20", seen=header)
        return _decode_primitive(header, self.take(offset + 1, PRIMITIVES[header][1]))

    def decode_container(self, offset: int, depth: int) -> dict[str, Any] | list[Any]:
        found = read_container(self.data, offset, len(self.data))
        self.take(offset + 1, found.values - offset - 1)
        starts = read_uints(self.data, found.offsets, found.offset_size, found.count)
        if not found.id_size:
            return [self.decode(found.values + start, depth + 1) for start in starts]
        result = {}
        keys = read_uints(self.data, found.ids, found.id_size, found.count)
        for i, (key, start) in enumerate(zip(keys, starts, strict=True)):
            name = find_name(self.names, key, found.ids + i * found.id_size)
            result[name] = self.decode(found.values + start, depth + 1)
        return result


def _decode_primitive(kind: int, content: bytes) -> Any:
    match kind:
        case 0 | 1 | 2:
            return (None, True, False)[kind]
        case 7 | 14:
            return struct.unpack("<d" if kind == 7 else "<f", content)[0]
        case 8 | 9 | 10:
            return Decimal(f"{int.from_bytes(content[1:], 'little', signed=True)}E-{content[0]}")
        case 20:
            return uuid.UUID(bytes=content)
    count = int.from_bytes(content, "little", signed=True)
    match kind:
        case 11:
            return date_from_days(count)
        case 12 | 13:
            return timestamp_from_micros(count, utc=kind == 12)
        case 17:
            return time_from_micros(count)
        case 18 | 19:
            return timestamp_from_nanos(count, utc=kind == 18)
    return count


# A variant with a name for every byte: its metadata (the names of all keys) and its value.
#
#     in a row of Paimon       int32 length of the value | value | metadata
#     in a bound of Iceberg    metadata | value
#
#     metadata   header | count | count + 1 offsets | names
#     value      header | then by its lowest 2 bits:  primitive: content      short string: text
#                                                     object: count | field ids | offsets | values
#                                                     array: count | offsets | values
#
# Follows "Variant Binary Encoding" of the Parquet format repository; everything is little-endian. `value` has the fast
# decoder. Refused besides what that refuses: values that share bytes or are outside of their object or array.


def explain_variant_metadata(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain the spans of the metadata of a variant; the value is the tuple of its keys.

    >>> root = explain_variant_metadata(bytes.fromhex("0101000161"))
    >>> root.value, root.children[0].note
    (('a',), 'version 1, not sorted, offsets of 1 byte')
    """
    end = len(data) if end is None else end
    names = Deferred(partial(decode_names, data, start, end))
    note = f"{end - start:,} bytes, the names of keys"
    return Span(start, end, "Metadata", names, note, partial(_explain_metadata, data, start, end))


def _explain_metadata(data: Octets, start: int, end: int) -> Iterator[Span]:
    head = read_head(data, start, end)
    header = data[start]
    is_sorted = "sorted" if header & 0x10 else "not sorted"
    note = f"version {header & 0x0F}, {is_sorted}, offsets of {format_count(head.size, 'byte')}"
    yield Span(start, start + 1, "header", None, note)
    yield Span(start + 1, head.offsets, "dictionary size", head.count, format_count(head.count, "key"))
    yield from explain_uints(data, "offset", head.offsets, head.size, head.count + 1, note_offset)
    places = place_names(data, head)
    if head.text < places[0] <= end:
        yield Span(head.text, places[0], "unexplained", None, "before the first name", role="unexplained")

    def make(reader: SpanReader, i: int) -> Span:
        name = decode_text(data, reader.at, reader.end)
        return Span(reader.at, reader.end, "name", name, f"key {i:,}, UTF-8", number=i)

    yield from explain_items(SpanReader(data, start, end, "the names"), places, "names", make)


def measure_metadata(data: Octets, start: int, end: int) -> int:
    """Measure where the metadata that begins at `start` ends: after its last name. Raises `Corrupt`."""
    head = read_head(data, start, end)
    (size,) = read_uints(data, head.text - head.size, head.size, 1)
    if head.text + size > end:
        expected, at = f"{head.text + size - start} bytes", head.text - head.size
        raise Corrupt("variant metadata cut short", offset=at, expected=expected, seen=end - start)
    return head.text + size


def explain_uints(
    data: Octets, label: str, start: int, size: int, count: int, note: Callable[[int, int], str]
) -> Iterator[Span]:
    """Explain a line for each unsigned number of a list; `note(number, offset)` says what it means, or raises `Corrupt`.

    The last offset of a list belongs to none of its members: it is where the last one ends.
    """
    members = count - 1 if label == "offset" else count

    def make(low: int, high: int) -> Iterator[Span]:
        for i, number in enumerate(read_uints(data, start + low * size, size, high - low), low):
            at = start + i * size
            try:
                yield Span(at, at + size, label, number, note(number, at), number=i if i < members else None)
            except Corrupt as error:
                yield damaged_leaf(at, at + size, error)

    yield from group_items(count, lambda i: start + i * size, f"{label}s", make)


def note_offset(number: int, offset: int) -> str:
    """Note an offset in words.

    >>> note_offset(1234, 0)
    '+1,234'
    """
    return f"+{number:,}"


_NO_NAMES = bytes.fromhex("010000")  # metadata without a key: enough for values that are not nested


class _Keys(NamedTuple):
    """The keys of a variant; `names` is None where the metadata could not be read."""

    metadata: bytes
    names: tuple[str, ...] | None


def explain_variant(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain the spans of a variant in a row of Paimon; the value is a `Variant`.

    >>> root = explain_variant(bytes.fromhex("0700000002010000020c010101000161"))
    >>> root.value.to_python(), [section.label for section in root.children]
    ({'a': 1}, ['Length', 'Value', 'Metadata'])
    """
    end = len(data) if end is None else end

    def split() -> Variant:
        middle = _find_metadata(data, start, end)
        return Variant(bytes(data[start + 4 : middle]), bytes(data[middle:end]))

    def explain() -> Iterator[Span]:
        middle = _find_metadata(data, start, end)
        note = f"int32, little-endian: {middle - start - 4:,} bytes"
        length = Span(start, start + 4, "value length", None, note)
        yield Span(start, start + 4, "Length", None, "4 bytes before the value", (make_line(length),))
        yield explain_variant_value(data, start + 4, middle, metadata=bytes(data[middle:end]))
        yield explain_variant_metadata(data, middle, end)

    return Span(start, end, "Variant", Deferred(split), f"{end - start:,} bytes", explain)


def explain_variant_pair(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain the spans of metadata and then value, as the bounds of Iceberg have them; the value is a `Variant`.

    >>> explain_variant_pair(bytes.fromhex("010100016102010000020c01")).value.to_python()
    {'a': 1}
    """
    end = len(data) if end is None else end

    def split() -> Variant:
        middle = measure_metadata(data, start, end)
        return Variant(bytes(data[middle:end]), bytes(data[start:middle]))

    def explain() -> Iterator[Span]:
        middle = measure_metadata(data, start, end)
        yield explain_variant_metadata(data, start, middle)
        yield explain_variant_value(data, middle, end, metadata=bytes(data[start:middle]))

    return Span(start, end, "Variant", Deferred(split), f"{end - start:,} bytes", explain)


def _find_metadata(data: Octets, start: int, end: int) -> int:
    """Find where the value ends that has its length before it. Raises `Corrupt`."""
    what, left = "length of the variant's value", end - start - 4
    if left < 0:
        raise Corrupt(f"no {what}", offset=start, expected="4 bytes", seen=f"{end - start} bytes")
    size = int.from_bytes(data[start : start + 4], "little", signed=True)
    if size < 0:
        raise Corrupt(f"negative {what}", offset=start, expected="0 or more", seen=size)
    if size > left:
        expected = f"at most {left} bytes"
        raise Corrupt("variant value too long", offset=start, expected=expected, seen=f"{size} bytes")
    return start + 4 + size


# -- values


def explain_variant_value(
    data: Octets, start: int = 0, end: int | None = None, *, metadata: bytes = _NO_NAMES
) -> Span:
    """The spans of the value half of a variant, its keys named by the metadata half; the value is that of `to_python`.

    >>> root = explain_variant_value(bytes.fromhex("02010000020c01"), metadata=bytes.fromhex("0101000161"))
    >>> root.value, root.note
    ({'a': 1}, 'object: 7 bytes')
    """
    end = len(data) if end is None else end
    try:
        keys = _Keys(metadata, decode_names(metadata, 0, len(metadata)))
    except Corrupt:
        keys = _Keys(metadata, None)
    value = Deferred(lambda: _decode_value(data, start, end, metadata))
    note = f"{end - start:,} bytes"
    try:
        whole = _explain_value(data, keys, "Value", start, end, 0)
    except Corrupt as error:
        return Span(start, end, "Value", value, note, (damaged_leaf(start, end, error),))
    if whole.end == end:
        return whole
    return Span(start, end, "Value", value, note, lambda: (whole,))


def _decode_value(data: Octets, start: int, end: int, metadata: bytes = _NO_NAMES) -> Any:
    with shift_errors(start):
        return Variant(bytes(data[start:end]), metadata).to_python()


def _explain_value(
    data: Octets, keys: _Keys, label: str, start: int, limit: int, depth: int, number: int | None = None
) -> Span:
    """Explain one value that begins at `start` and must end before `limit`. Raises `Corrupt` when it does not."""
    if depth > MAX_DEPTH:
        raise Corrupt("variant nested too deeply", offset=start, expected=f"at most {MAX_DEPTH} levels")
    require(start, 1, limit)
    if data[start] & 3 >= 2:
        found = read_container(data, start, limit)
        (size,) = read_uints(data, found.values - found.offset_size, found.offset_size, 1)
        require(found.values, size, limit)
        end = found.values + size
        value = Deferred(lambda: _decode_value(data, start, end, keys.metadata))
        children = partial(_explain_container_parts, data, keys, found, end, depth)
        note = f"{'object' if found.id_size else 'array'}: {format_count(end - start, 'byte')}"
        return Span(start, end, label, value, note, children, number=number)
    parts = list(_split_primitive(data, start, limit))
    end = parts[-1].end
    value = _decode_value(data, start, end)
    if len(parts) == 1:
        return Span(start, end, label, value, parts[0].note, number=number)
    parts[-1] = Span(parts[-1].start, end, parts[-1].label, value, parts[-1].note, number=number)
    return Span(start, end, label, value, parts[0].note, tuple(parts), number=number)


def _split_primitive(data: Octets, start: int, limit: int) -> Iterator[Span]:
    """Split the leaves of a value that is not nested; the last one holds its content."""
    basic, header, at = data[start] & 3, data[start] >> 2, start + 1
    if basic == 1:
        require(at, header, limit)
        yield Span(start, at, "header", None, f"short string: {format_count(header, 'byte')}, UTF-8")
        size = header
    elif header in LONG:
        require(at, 4, limit)
        (size,) = read_uints(data, at, 4, 1)
        require(at + 4, size, limit)
        yield Span(start, at, "header", None, f"{LONG[header]}: {format_count(size, 'byte')}")
        yield Span(at, at + 4, "length", size)
        at += 4
    elif header in PRIMITIVES:
        name, size = PRIMITIVES[header]
        require(at, size, limit)
        note = name if size == 0 else f"{name}: {format_count(size, 'byte')} after the header"
        yield Span(start, at, "header", None, note)
        if name.startswith("decimal"):
            yield Span(at, at + 1, "scale", data[at])
            at, size = at + 1, size - 1
    else:
        raise Corrupt("unknown type of variant value", offset=start, expected="0 to 20", seen=header)
    if size:
        yield Span(at, at + size, "content")


def _explain_container_parts(
    data: Octets, keys: _Keys, found: Container, end: int, depth: int
) -> Iterator[Span]:
    start, count = found.start, found.count
    note = f"offsets of {format_count(found.offset_size, 'byte')}"
    note += f", field ids of {format_count(found.id_size, 'byte')}" if found.id_size else ""
    yield Span(start, start + 1, "header", None, f"{'object' if found.id_size else 'array'}, {note}")
    note = format_count(count, "field" if found.id_size else "element")
    yield Span(start + 1, found.ids, "num_elements", count, note)
    if found.id_size:
        note_key = partial(_note_key, keys.names)
        yield from explain_uints(data, "field id", found.ids, found.id_size, count, note_key)
    yield from explain_uints(data, "offset", found.offsets, found.offset_size, count + 1, note_offset)
    yield from _explain_members(data, keys, found, end, depth)


def _explain_members(data: Octets, keys: _Keys, found: Container, end: int, depth: int) -> Iterator[Span]:
    """Explain the values of an object or array, in order of bytes."""
    starts = read_uints(data, found.offsets, found.offset_size, found.count)
    ids = read_uints(data, found.ids, found.id_size, found.count) if found.id_size else []
    order = sorted(range(found.count), key=starts.__getitem__)

    def bound(k: int) -> int:
        return end if k == found.count else min(found.values + starts[order[k]], end)

    def make(low: int, high: int) -> Iterator[Span]:
        for k in range(low, high):
            i, position, limit = order[k], found.values + starts[order[k]], bound(k + 1)
            label = f"[{i}]"
            if ids:
                names = keys.names or ()
                label = names[ids[i]] if ids[i] < len(names) else f"key {ids[i]}"
            try:
                if position >= limit:
                    raise Corrupt("variant values overlap", offset=found.offsets + i * found.offset_size)
                yield _explain_value(data, keys, label, position, limit, depth + 1, i)
            except LakeError as error:
                yield damaged_leaf(bound(k), limit, error)

    yield from group_items(found.count, bound, "values", make)


def _note_key(names: tuple[str, ...] | None, key: int, offset: int) -> str:
    return f"key {key}" if names is None else f"key {key}: {find_name(names, key, offset)}"
