"""A variant with a name for every byte: its metadata (the names of all keys) and its value.

    in a row of Paimon       int32 length of the value | value | metadata
    in a bound of Iceberg    metadata | value

    metadata   header | count | count + 1 offsets | names
    value      header | then by its lowest 2 bits:  primitive: content      short string: text
                                                    object: count | field ids | offsets | values
                                                    array: count | offsets | values

Follows "Variant Binary Encoding" of the Parquet format repository; everything is little-endian. `value` has the fast
decoder. Refused besides what that refuses: values that share bytes or are outside of their object or array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from lakelens.codecs.variant.value import (
    LONG,
    MAX_DEPTH,
    PRIMITIVES,
    Container,
    Variant,
    decode_names,
    decode_text,
    find_name,
    place_names,
    read_container,
    read_head,
    read_uints,
    require,
)
from lakelens.errors import Corrupt, LakeError


def explain_variant_metadata(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """The spans of the metadata of a variant; the value is the tuple of its keys.

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
    """Where the metadata that begins at `start` ends: after its last name. Raises `Corrupt`."""
    head = read_head(data, start, end)
    (size,) = read_uints(data, head.text - head.size, head.size, 1)
    if head.text + size > end:
        expected, at = f"{head.text + size - start} bytes", head.text - head.size
        raise Corrupt("variant metadata cut short", offset=at, expected=expected, seen=end - start)
    return head.text + size


def explain_uints(
    data: Octets, label: str, start: int, size: int, count: int, note: Callable[[int, int], str]
) -> Iterator[Span]:
    """A line for each unsigned number of a list; `note(number, offset)` says what it means, or raises `Corrupt`.

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
    """An offset in words.

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
    """The spans of a variant in a row of Paimon; the value is a `Variant`.

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
    """The spans of metadata and then value, as the bounds of Iceberg have them; the value is a `Variant`.

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
    """Where the value ends that has its length before it. Raises `Corrupt`."""
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
    """One value that begins at `start` and must end before `limit`. Raises `Corrupt` when it does not."""
    if depth > MAX_DEPTH:
        raise Corrupt("variant nested too deeply", offset=start, expected=f"at most {MAX_DEPTH} levels")
    require(start, 1, limit)
    if data[start] & 3 >= 2:
        return _explain_container(data, keys, label, start, limit, depth, number)
    parts = list(_split_primitive(data, start, limit))
    end = parts[-1].end
    value = _decode_value(data, start, end)
    if len(parts) == 1:
        return Span(start, end, label, value, parts[0].note, number=number)
    parts[-1] = Span(parts[-1].start, end, parts[-1].label, value, parts[-1].note, number=number)
    return Span(start, end, label, value, parts[0].note, tuple(parts), number=number)


def _split_primitive(data: Octets, start: int, limit: int) -> Iterator[Span]:
    """The leaves of a value that is not nested; the last one holds its content."""
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


def _explain_container(
    data: Octets, keys: _Keys, label: str, start: int, limit: int, depth: int, number: int | None
) -> Span:
    found = read_container(data, start, limit)
    (size,) = read_uints(data, found.values - found.offset_size, found.offset_size, 1)
    require(found.values, size, limit)
    end = found.values + size
    value = Deferred(lambda: _decode_value(data, start, end, keys.metadata))
    parts = partial(_explain_container_parts, data, keys, found, end, depth)
    note = f"{'object' if found.id_size else 'array'}: {format_count(end - start, 'byte')}"
    return Span(start, end, label, value, note, parts, number=number)


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
    """The values of an object or array, in order of bytes."""
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
