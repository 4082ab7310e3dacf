"""A BinaryRow, BinaryArray or BinaryMap of Paimon with a name for every byte.

    row     Arity (int32, big-endian; not in nested rows) | Header (kind, null bits) | Slots | Variable part
    array   Header (int32 count, null bits) | Elements, padded to 8 | Variable part
    map     Key length (int32) | Keys: array | Values: array
    vector  Header (int32 count) | Elements

Follows "BinaryRow" of the Paimon table specification; `binary_row` and `binary_slot` are the fast decoders, and what they
refuse is damage here. Refused besides: slots that refer to the same bytes, which the fast decoder lets pass as long as they
do not multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from lakelens.codecs.paimon.binary_row import (
    KINDS,
    MAX_DEPTH,
    WIDTHS,
    FieldLike,
    RowWindow,
    check_arity,
    count_null_bytes,
    decode_binary_row,
    split_fields,
)
from lakelens.codecs.paimon.row_slot_spans import (
    Frame,
    ItemPlace,
    Slot,
    SlotList,
    explain_null_bits,
    explain_slots,
    explain_variable_part,
    has_far_items,
    lay_out,
    spell_type,
)
from lakelens.codecs.paimon.types import PaimonField, PaimonType, TypeLike, parse_type
from lakelens.codecs.span.reader import format_count, make_line, shift_errors
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

KIND_NAMES = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
_INT = PaimonType("INT")


class _Schema(NamedTuple):
    """The fields of a row; without types only their number is known."""

    arity: int
    names: tuple[str, ...] | None = None
    types: tuple[PaimonType, ...] | None = None


def explain_binary_row(
    data: Octets, start: int = 0, end: int | None = None, *, fields: Sequence[FieldLike] | None = None
) -> Span:
    """Explain the spans of one serialized row, its 4-byte arity first; the value is what `decode_binary_row` gives.

    `fields` are those that the row was written with; without them slots are raw bytes, and the value is None. A row
    of another arity is damage at its arity, the rest explained without types. Offsets of the row count from `origin`.

    >>> data = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    >>> root = explain_binary_row(data, fields=[("id", "INT NOT NULL"), ("name", "STRING")])
    >>> root.value["name"], [section.label for section in root.children]
    ('a', ['Arity', 'Header', 'Slots'])
    >>> [(line.label, line.note) for line in root.children[2].children]
    [('id', 'INT, 4 bytes'), ('name', 'STRING, inline: tag 81 = 1 byte')]
    """
    end = len(data) if end is None else end
    window = RowWindow(data, start, end)
    names, types = (None, None) if fields is None else split_fields(fields)
    value = None if fields is None else Deferred(lambda: _decode_row(window, fields))
    make = partial(_explain_serialized, window, names, types)
    return Span(start, end, "BinaryRow", value, _summarize_row(window), make, origin=min(start + 4, end))


def explain_nested_row(
    data: Octets, start: int = 0, end: int | None = None, *, fields: Sequence[FieldLike]
) -> Span:
    """Explain the spans of a row without arity, as nested rows are kept; the value is a dict.

    >>> root = explain_nested_row(bytes.fromhex("00000000000000000500000000000000"), fields=[("a", "INT")])
    >>> root.value, len(list(root.leaves()))
    ({'a': 5}, 5)
    """
    names, types = split_fields(fields)
    parts = tuple(
        PaimonField(i, name, type_) for i, (name, type_) in enumerate(zip(names, types, strict=True))
    )
    return _explain_whole(data, start, end, PaimonType("ROW", fields=parts))


def explain_binary_array(data: Octets, start: int = 0, end: int | None = None, *, element: TypeLike) -> Span:
    """Explain the spans of an array; the value is a list.

    >>> root = explain_binary_array(bytes.fromhex("0200000002000000 0500000000000000"), element="INT")
    >>> root.value, root.note
    ([5, None], '2 elements, 16 bytes')
    """
    return _explain_whole(data, start, end, PaimonType("ARRAY", element=parse_type(element)))


def explain_binary_map(
    data: Octets, start: int = 0, end: int | None = None, *, key: TypeLike, value: TypeLike
) -> Span:
    """Explain the spans of a map: an array of keys, then one of values; the value is a dict, or pairs when keys repeat.

    >>> one = bytes.fromhex("01000000000000000700000000000000")
    >>> explain_binary_map(b"\\x10\\0\\0\\0" + one + one, key="INT", value="INT").value
    {7: 7}
    """
    return _explain_whole(data, start, end, PaimonType("MAP", key=parse_type(key), value=parse_type(value)))


def _explain_whole(data: Octets, start: int, end: int | None, type_: PaimonType) -> Span:
    end = len(data) if end is None else end
    window = RowWindow(data, start, end)
    return explain_structure(window, type_, start, end, 0, value=Deferred(lambda: window.decode_item(type_)))


# -- rows


def _decode_row(window: RowWindow, fields: Sequence[FieldLike]) -> Any:
    with shift_errors(window.start):
        return decode_binary_row(window.content, fields)


def _summarize_row(window: RowWindow) -> str:
    """The fields, bytes, kind and nulls of a row, as far as its first bytes say."""
    size = window.end - window.start
    arity = int.from_bytes(window.content[:4], "big", signed=True)
    if size < 12 or arity < 0 or size < 4 + count_null_bytes(arity):
        return format_count(size, "byte")
    kind = window.content[4]
    bits = int.from_bytes(window.content[4 : 4 + count_null_bytes(arity)], "little") >> 8
    nulls = (bits & (1 << arity) - 1).bit_count()
    parts = [
        format_count(arity, "field"),
        format_count(size, "byte"),
        f"kind {KINDS[kind] if kind < len(KINDS) else kind}",
    ]
    return ", ".join([*parts, *([format_count(nulls, "null")] if nulls else [])])


def _explain_serialized(
    window: RowWindow, names: tuple[str, ...] | None, types: tuple[PaimonType, ...] | None
) -> Iterator[Span]:
    start, end = window.start, window.end
    if end - start < 4:
        raise Corrupt("row without arity", offset=start, expected="4 bytes", seen=f"{end - start} bytes")
    arity = int.from_bytes(window.content[:4], "big", signed=True)
    schema = _Schema(arity, names, types)
    try:
        with shift_errors(start):
            check_arity(window.content, arity if types is None else len(types))
        note = f"int32, big-endian: {format_count(arity, 'field')}"
        leaf = Span(start, start + 4, "arity", None, note)
    except Corrupt as error:
        leaf = Span(start, start + 4, "arity", None, error.reason, role="damage", error=error)
        schema = _Schema(arity)
    yield Span(start, start + 4, "Arity", None, "4 bytes before the row", (make_line(leaf),))
    if arity < 0:
        raise Corrupt("negative arity", offset=start, expected="0 or more", seen=arity)
    yield from _explain_row_parts(window, schema, start + 4, end, 0, is_nested=False)


def _explain_row_parts(
    window: RowWindow, schema: _Schema, base: int, end: int, depth: int, is_nested: bool = True
) -> Iterator[Span]:
    """Header, slots (both are the fixed part) and variable part of the row from `base` to `end`."""
    _check_depth(base, depth)
    arity = schema.arity
    head = base + count_null_bytes(arity)
    start = head + 8 * arity
    if head <= end:
        header = partial(_explain_header, window, base, head, arity, is_nested)
        yield Span(base, head, "Header", None, format_count(head - base, "byte"), header)
    if start > end:
        expected, seen = f"{start - base} bytes for {format_count(arity, 'field')}", f"{end - base} bytes"
        raise Corrupt("row cut short", offset=base, expected=expected, seen=seen)
    slots = _take_row_slots(window, schema, Frame(window, base, start, end, depth), head)
    layout = lay_out(slots)
    if arity:
        note = f"{arity:,} of 8 bytes, little-endian"
        yield Span(head, start, "Slots", None, note, partial(explain_slots, slots, layout, head, start))
    if start < end and schema.types is None:
        note = "which slots refer to it is unknown without types"
        leaf = Span(start, end, "unexplained", None, note, role="unexplained")
        yield Span(start, end, "Variable part", None, format_count(end - start, "byte"), (make_line(leaf),))
    elif start < end:
        variable = partial(explain_variable_part, slots, layout, explain_nested)
        yield Span(start, end, "Variable part", None, format_count(end - start, "byte"), variable)


def _explain_header(window: RowWindow, base: int, end: int, arity: int, is_nested: bool) -> Iterator[Span]:
    kind = window[base]
    if kind < len(KINDS):
        note = f"RowKind {kind}: {KINDS[kind]}, {KIND_NAMES[kind]}"
        leaf = Span(base, base + 1, "RowKind", None, note)
    elif is_nested:  # nobody looks at the kind of a nested row
        leaf = Span(base, base + 1, "RowKind", None, f"RowKind {kind}: not a kind")
    else:
        expected = "0 to 3 (+I, -U, +U, -D)"
        error = Corrupt("unknown row kind", offset=base, expected=expected, seen=kind)
        leaf = Span(base, base + 1, "RowKind", None, error.reason, role="damage", error=error)
    yield leaf if arity else make_line(leaf)
    yield from explain_null_bits(window, base + 1, end, arity)


def _take_row_slots(window: RowWindow, schema: _Schema, frame: Frame, head: int) -> SlotList:
    names, types = schema.names, schema.types

    def make(i: int) -> Slot:
        is_null = bool(window[frame.base + 1 + i // 8] >> i % 8 & 1)
        label = f"field {i}" if names is None else names[i]
        return Slot(i, label, None if types is None else types[i], head + 8 * i, 8, is_null)

    return SlotList(frame, schema.arity, make, types is not None and any(map(has_far_items, types)))


# -- nested values


def explain_nested(frame: Frame, slot: Slot, place: ItemPlace) -> Span:
    """Explain the content of a far item of a nested type; its value is that of its slot."""
    type_ = slot.type
    assert type_ is not None
    value = Deferred(partial(frame.window.decode_slot, type_, slot.start, frame.base, frame.end, frame.depth))
    return explain_structure(
        frame.window, type_, place.start, place.start + place.length, frame.depth + 1, value=value
    )


def explain_structure(
    window: RowWindow, type_: PaimonType, base: int, end: int, depth: int, *, value: Deferred | None
) -> Span:
    """Explain the spans of a nested row, array, map, vector or variant that fills the bytes from `base` to `end`."""
    size = format_count(end - base, "byte")
    match type_.name:
        case "ROW":
            names = tuple(field.name for field in type_.fields)
            schema = _Schema(len(names), names, tuple(field.type for field in type_.fields))
            parts = partial(_explain_row_parts, window, schema, base, end, depth)
            note = f"{format_count(len(names), 'field')}, {size}"
            return Span(base, end, "BinaryRow", value, note, parts, origin=base)
        case "ARRAY":
            assert type_.element is not None
            return explain_array(window, type_.element, base, end, depth, value=value)
        case "MAP" | "MULTISET":
            return Span(
                base, end, "BinaryMap", value, size, partial(_explain_map, window, type_, base, end, depth)
            )
        case "VECTOR":
            vector = partial(_explain_vector, window, type_, base, end, depth)
            return Span(base, end, "BinaryVector", value, f"{spell_type(type_)}, {size}", vector, origin=base)
        case _:
            from lakelens.codecs.variant import explain_variant

            return explain_variant(window.data, base, end)


def explain_array(
    window: RowWindow,
    element: PaimonType,
    base: int,
    end: int,
    depth: int,
    *,
    label: str = "BinaryArray",
    value: Deferred | None = None,
) -> Span:
    """Explain the spans of the array that fills the bytes from `base` to `end`."""
    note = format_count(end - base, "byte")
    if end - base >= 4:
        count = int.from_bytes(window.take(base, base + 4), "little", signed=True)
        note = f"{format_count(max(count, 0), 'element')}, {note}"
    parts = partial(_explain_array_parts, window, element, base, end, depth)
    return Span(base, end, label, value, note, parts, origin=base)


def _explain_array_parts(
    window: RowWindow, element: PaimonType, base: int, end: int, depth: int
) -> Iterator[Span]:
    _check_depth(base, depth)
    count = window.read_count(base, end, "count of the array's elements")
    head = base + 4 + (count + 31) // 32 * 4
    width = WIDTHS.get(element.name, 8)
    needed = head + count * width - base
    if needed > end - base:
        expected, seen = f"{needed} bytes for {format_count(count, 'element')}", f"{end - base} bytes"
        raise Corrupt("array cut short", offset=base, expected=expected, seen=seen)
    header = partial(_explain_array_header, window, base, head, count, has_nulls=True)
    yield Span(base, head, "Header", None, format_count(head - base, "byte"), header)

    def make(i: int) -> Slot:
        is_null = bool(window[base + 4 + i // 8] >> i % 8 & 1)
        return Slot(i, f"[{i}]", element, head + i * width, width, is_null)

    stop = min(base + -(-needed // 8) * 8, end)
    slots = SlotList(Frame(window, base, stop, end, depth), count, make, has_far_items(element))
    yield from _explain_elements(slots, element, head, stop, width)


def _explain_elements(
    slots: SlotList, element: PaimonType, start: int, stop: int, width: int
) -> Iterator[Span]:
    """Explain the elements and the variable part of an array or a vector."""
    layout, end = lay_out(slots), slots.frame.end
    if start < stop:
        note = f"{slots.count:,} of {format_count(width, 'byte')}, {spell_type(element)}, little-endian"
        elements = partial(explain_slots, slots, layout, start, stop)
        yield Span(start, stop, "Elements", None, note, elements)
    if stop < end:
        variable = partial(explain_variable_part, slots, layout, explain_nested)
        yield Span(stop, end, "Variable part", None, format_count(end - stop, "byte"), variable)


def _explain_array_header(
    window: RowWindow, base: int, end: int, count: int, *, has_nulls: bool
) -> Iterator[Span]:
    note = f"int32, little-endian: {format_count(count, 'element')}"
    leaf = Span(base, base + 4, "count", None, note)
    yield leaf if base + 4 < end else make_line(leaf)
    if has_nulls:
        yield from explain_null_bits(window, base + 4, end, count)


def _explain_map(window: RowWindow, type_: PaimonType, base: int, end: int, depth: int) -> Iterator[Span]:
    key, value = (type_.element, _INT) if type_.name == "MULTISET" else (type_.key, type_.value)
    assert key is not None and value is not None
    size = window.read_count(base, end, "length of the map's keys")
    note = f"int32, little-endian: {format_count(size, 'byte')} of keys"
    leaf = Span(base, base + 4, "key array length", None, note)
    yield Span(base, base + 4, "Key length", None, "4 bytes before the keys", (make_line(leaf),))
    middle = base + 4 + size
    if middle > end:
        expected = f"at most {end - base - 4} bytes"
        raise Corrupt("keys longer than their map", offset=base, expected=expected, seen=f"{size} bytes")
    yield explain_array(window, key, base + 4, middle, depth, label="Keys")
    counts = [_peek_count(window, base + 4, middle), _peek_count(window, middle, end)]
    if None not in counts and counts[0] != counts[1]:
        expected, seen = "as many of both", f"{counts[0]} keys, {counts[1]} values"
        raise Corrupt("map with unequal keys and values", offset=base, expected=expected, seen=seen)
    yield explain_array(window, value, middle, end, depth, label="Values")


def _peek_count(window: RowWindow, base: int, end: int) -> int | None:
    return int.from_bytes(window.take(base, base + 4), "little", signed=True) if end - base >= 4 else None


def _explain_vector(window: RowWindow, type_: PaimonType, base: int, end: int, depth: int) -> Iterator[Span]:
    element = type_.element
    assert element is not None
    count = window.read_count(base, end, "count of the vector's elements")
    width = WIDTHS.get(element.name, 8)
    if type_.length is not None and count != type_.length:
        raise Corrupt("vector of another length", offset=base, expected=type_.length, seen=count)
    if count * width > end - base - 4:
        expected, seen = f"{count * width} bytes for {count} elements", f"{end - base - 4} bytes"
        raise Corrupt("vector cut short", offset=base, expected=expected, seen=seen)
    head = base + 4
    header = partial(_explain_array_header, window, base, head, count, has_nulls=False)
    yield Span(base, head, "Header", None, "4 bytes", header)
    stop = min(head + -(-count * width // 8) * 8, end)
    frame = Frame(window, base, stop, end, depth)
    slots = SlotList(
        frame,
        count,
        lambda i: Slot(i, f"[{i}]", element, head + i * width, width, False),
        has_far_items(element),
    )
    yield from _explain_elements(slots, element, head, stop, width)


def _check_depth(offset: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Corrupt("values nested too deeply", offset=offset, expected=f"at most {MAX_DEPTH} levels")
