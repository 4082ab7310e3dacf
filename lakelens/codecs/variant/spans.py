"""A variant with a name for every byte: its metadata (the names of all keys) and its value.

    as Paimon keeps it    int32 length of the value | value | metadata
    as Iceberg bounds     metadata | value

    metadata   header | count | count + 1 offsets | names
    value      header | then by its lowest 2 bits:  primitive: content      short string: text
                                                    object: count | field ids | offsets | values
                                                    array: count | offsets | values

Follows "Variant Binary Encoding" of the Parquet format repository; everything is little-endian. `variant` is the fast
decoder. Refused besides what that refuses: values that share bytes or lie outside of their object or array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from lakelens.codecs.paimon.row_slot_spans import count_bytes
from lakelens.codecs.span.reader import group_items, make_line, shift_errors
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.codecs.span.window import Window
from lakelens.codecs.variant.metadata_spans import (
    decode_names,
    explain_numbers,
    explain_variant_metadata,
    measure_metadata,
    note_offset,
    read_uints,
)
from lakelens.codecs.variant.value import MAX_DEPTH, Variant
from lakelens.errors import Corrupt, LakeError

_NO_NAMES = bytes.fromhex("010000")  # metadata without a key: enough for values that are not nested
_LONG = {15: "binary", 16: "string"}
# type id: name and bytes after the header
_PRIMITIVES = {
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


class _Names(NamedTuple):
    """The keys of a variant; `names` is None where the metadata could not be read."""

    metadata: bytes
    names: tuple[str, ...] | None


def explain_variant(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """The spans of a variant as Paimon keeps it in a row; the value is a `Variant`.

    >>> root = explain_variant(bytes.fromhex("0700000002010000020c010101000161"))
    >>> root.value.to_python(), [section.label for section in root.children]
    ({'a': 1}, ['Length', 'Value', 'Metadata'])
    """
    window = Window(data, start, len(data) if end is None else end)
    size = f"{window.end - start:,} bytes"
    return Span(
        start,
        window.end,
        "Variant",
        Deferred(partial(_split_variant, window)),
        size,
        partial(_explain_halves, window),
    )


def explain_variant_pair(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """The spans of metadata and then value, as the bounds of Iceberg have them; the value is a `Variant`.

    >>> explain_variant_pair(bytes.fromhex("010100016102010000020c01")).value.to_python()
    {'a': 1}
    """
    window = Window(data, start, len(data) if end is None else end)

    def split() -> Variant:
        middle = measure_metadata(window, start, window.end)
        return Variant(window.take(middle, window.end), window.take(start, middle))

    def explain() -> Iterator[Span]:
        middle = measure_metadata(window, start, window.end)
        yield explain_variant_metadata(data, start, middle)
        metadata = window.take(start, middle)
        yield explain_variant_value(data, middle, window.end, metadata=metadata)

    return Span(start, window.end, "Variant", Deferred(split), f"{window.end - start:,} bytes", explain)


def _split_variant(window: Window) -> Variant:
    middle = _find_metadata(window)
    return Variant(window.take(window.start + 4, middle), window.take(middle, window.end))


def _find_metadata(window: Window) -> int:
    start, end = window.start, window.end
    size = window.read_count(start, end, "length of the variant's value")
    if size > end - start - 4:
        expected = f"at most {end - start - 4} bytes"
        raise Corrupt("variant value too long", offset=start, expected=expected, seen=f"{size} bytes")
    return start + 4 + size


def _explain_halves(window: Window) -> Iterator[Span]:
    start, end = window.start, window.end
    middle = _find_metadata(window)
    size = middle - start - 4
    length = Span(start, start + 4, "value length", None, f"int32, little-endian: {size:,} bytes")
    yield Span(start, start + 4, "Length", None, "4 bytes before the value", (make_line(length),))
    yield explain_variant_value(window.data, start + 4, middle, metadata=window.take(middle, end))
    yield explain_variant_metadata(window.data, middle, end)


# -- values


def explain_variant_value(
    data: Octets, start: int = 0, end: int | None = None, *, metadata: bytes = _NO_NAMES
) -> Span:
    """The spans of the value half of a variant, its keys told by the metadata half; the value is as of `to_python`.

    >>> root = explain_variant_value(bytes.fromhex("02010000020c01"), metadata=bytes.fromhex("0101000161"))
    >>> root.value, root.note
    ({'a': 1}, 'object: 7 bytes')
    """
    window = Window(data, start, len(data) if end is None else end)
    try:
        names = _Names(metadata, decode_names(Window(metadata, 0, len(metadata)), 0, len(metadata)))
    except Corrupt:
        names = _Names(metadata, None)
    value = Deferred(lambda: _decode_value(window, start, window.end, metadata))
    note = f"{window.end - start:,} bytes"
    try:
        whole = _explain_value(window, names, "Value", start, window.end, 0)
    except Corrupt as error:
        damage = damaged_leaf(start, window.end, error)
        return Span(start, window.end, "Value", value, note, (damage,))
    if whole.end == window.end:
        return whole
    return Span(start, window.end, "Value", value, note, lambda: iter((whole,)))


def _decode_value(window: Window, start: int, end: int, metadata: bytes = _NO_NAMES) -> Any:
    with shift_errors(start):
        return Variant(window.take(start, end), metadata).to_python()


def _explain_value(
    window: Window, names: _Names, label: str, start: int, limit: int, depth: int, number: int | None = None
) -> Span:
    """One value that begins at `start` and must end before `limit`. Raises `Corrupt` when it does not."""
    if depth > MAX_DEPTH:
        raise Corrupt("variant nested too deeply", offset=start, expected=f"at most {MAX_DEPTH} levels")
    _require(window, start, 1, limit)
    basic, header = window[start] & 3, window[start] >> 2
    if basic >= 2:
        return _explain_container(window, names, label, start, limit, depth, number)
    parts = list(_split_primitive(window, basic, header, start, limit))
    end = parts[-1].end
    value = _decode_value(window, start, end)
    if len(parts) == 1:
        return Span(start, end, label, value, parts[0].note, number=number)
    parts[-1] = Span(parts[-1].start, end, parts[-1].label, value, parts[-1].note, number=number)
    return Span(start, end, label, value, parts[0].note, tuple(parts), number=number)


def _split_primitive(window: Window, basic: int, header: int, start: int, limit: int) -> Iterator[Span]:
    """The leaves of a value that is not nested; the last one holds its content."""
    at = start + 1
    if basic == 1:
        _require(window, at, header, limit)
        yield Span(start, at, "header", None, f"short string: {count_bytes(header)}, UTF-8")
        if header:
            yield Span(at, at + header, "content")
    elif header in _LONG:
        _require(window, at, 4, limit)
        size = int.from_bytes(window.take(at, at + 4), "little")
        _require(window, at + 4, size, limit)
        yield Span(start, at, "header", None, f"{_LONG[header]}: {count_bytes(size)}")
        yield Span(at, at + 4, "length", size)
        if size:
            yield Span(at + 4, at + 4 + size, "content")
    elif header in _PRIMITIVES:
        name, size = _PRIMITIVES[header]
        _require(window, at, size, limit)
        yield Span(
            start, at, "header", None, name if size == 0 else f"{name}: {count_bytes(size)} after the header"
        )
        if name.startswith("decimal"):
            yield Span(at, at + 1, "scale", window[at])
            at, size = at + 1, size - 1
        if size:
            yield Span(at, at + size, "content")
    else:
        raise Corrupt("unknown type of variant value", offset=start, expected="0 to 20", seen=header)


@dataclass(frozen=True, slots=True)
class _Container:
    """Where the parts of an object or array lie; an array has no field ids."""

    start: int
    count_at: int
    count: int
    ids: int
    id_size: int
    offsets: int
    offset_size: int
    values: int
    end: int


def _read_container(window: Window, start: int, limit: int) -> _Container:
    is_object, header = window[start] & 3 == 2, window[start] >> 2
    offset_size = (header & 3) + 1
    id_size = (header >> 2 & 3) + 1 if is_object else 0
    count_size = 4 if header >> (4 if is_object else 2) & 1 else 1
    _require(window, start + 1, count_size, limit)
    ids = start + 1 + count_size
    count = int.from_bytes(window.take(start + 1, ids), "little")
    offsets = ids + count * id_size
    values = offsets + (count + 1) * offset_size
    _require(window, ids, values - ids, limit)
    end = values + int.from_bytes(window.take(values - offset_size, values), "little")
    _require(window, values, end - values, limit)
    return _Container(start, start + 1, count, ids, id_size, offsets, offset_size, values, end)


def _explain_container(
    window: Window, names: _Names, label: str, start: int, limit: int, depth: int, number: int | None
) -> Span:
    found = _read_container(window, start, limit)
    kind = "object" if found.id_size else "array"
    value = Deferred(lambda: _decode_value(window, start, found.end, names.metadata))
    parts = partial(_explain_container_parts, window, names, found, depth)
    note = f"{kind}: {count_bytes(found.end - start)}"
    return Span(start, found.end, label, value, note, parts, number=number)


def _explain_container_parts(window: Window, names: _Names, found: _Container, depth: int) -> Iterator[Span]:
    start, count = found.start, found.count
    kind = "object" if found.id_size else "array"
    sizes = f"offsets of {count_bytes(found.offset_size)}"
    sizes += f", field ids of {count_bytes(found.id_size)}" if found.id_size else ""
    yield Span(start, start + 1, "header", None, f"{kind}, {sizes}")
    noun = "field" if found.id_size else "element"
    count_note = f"{count:,} {noun}{'' if count == 1 else 's'}"
    yield Span(found.count_at, found.ids, "num_elements", count, count_note)
    if found.id_size:
        yield from explain_numbers(
            window, "field id", found.ids, found.id_size, count, partial(_check_key, names.names)
        )
    yield from explain_numbers(window, "offset", found.offsets, found.offset_size, count + 1, note_offset)
    yield from _explain_members(window, names, found, depth)


def _explain_members(window: Window, names: _Names, found: _Container, depth: int) -> Iterator[Span]:
    """The values of an object or array, in order of bytes."""
    starts = read_uints(window, found.offsets, found.offset_size, found.count)
    order = sorted(range(found.count), key=starts.__getitem__)

    def bound(k: int) -> int:
        return found.end if k == found.count else min(found.values + starts[order[k]], found.end)

    def make(low: int, high: int) -> Iterator[Span]:
        for k in range(low, high):
            i, position, limit = order[k], found.values + starts[order[k]], bound(k + 1)
            label = _name_member(window, names, found, i)
            try:
                if position >= limit:
                    raise Corrupt("variant values overlap", offset=found.offsets + i * found.offset_size)
                yield _explain_value(window, names, label, position, limit, depth + 1, i)
            except LakeError as error:
                yield damaged_leaf(bound(k), limit, error)

    yield from group_items(found.count, bound, "values", make)


def _name_member(window: Window, names: _Names, found: _Container, i: int) -> str:
    if not found.id_size:
        return f"[{i}]"
    at = found.ids + i * found.id_size
    key = int.from_bytes(window.take(at, at + found.id_size), "little")
    return names.names[key] if names.names is not None and key < len(names.names) else f"key {key}"


def _check_key(names: tuple[str, ...] | None, number: int, offset: int) -> str:
    if names is None:
        return f"key {number}"
    if number >= len(names):
        raise Corrupt("variant key not in the metadata", offset=offset, seen=f"{number} of {len(names)}")
    return f"key {number}: {names[number]}"


def _require(window: Window, offset: int, size: int, limit: int) -> None:
    if offset + size > limit:
        seen = f"{max(limit - offset, 0)} bytes"
        raise Corrupt("variant value cut short", offset=offset, expected=f"{size} bytes", seen=seen)
