"""One slot of a BinaryRow, and the item it points to, with a name for every byte.

    |   value   |     unused     |     a value of fixed width, low bytes first
    | content 0..7 | unused | tag |   short bytes: the tag is 0x80 + length
    |   length   |    offset     |     a far item in the variable part; offsets count from the start of the row
    | nanoseconds |   offset     |     a timestamp of more than 3 digits: its milliseconds are far

What a slot must hold is checked by the fast decoder (`binary_slot`); where the item is is checked here by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lakelens.codecs.paimon.row_slots import WIDTHS, RowWindow
from lakelens.codecs.paimon.types import PaimonType, make_nullable
from lakelens.codecs.span.reader import format_count, format_number, make_line
from lakelens.codecs.span.span import Deferred, Span
from lakelens.errors import Corrupt, LakeError

TEXTS = frozenset({"CHAR", "VARCHAR"})
BYTES_LIKE = TEXTS | {"BINARY", "VARBINARY", "BLOB", "GEOMETRY", "GEOGRAPHY"}
TIMESTAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
NESTED = frozenset({"ROW", "ARRAY", "MAP", "MULTISET", "VARIANT", "VECTOR"})


class Frame(NamedTuple):
    """The row or array of some slots: offsets count from `base`; `start` to `end` is its variable part."""

    window: RowWindow
    base: int
    start: int
    end: int
    depth: int


class Slot(NamedTuple):
    """One slot: its field and its place; the type is None where it is unknown."""

    number: int
    label: str
    type: PaimonType | None
    start: int
    width: int
    is_null: bool


class ItemPlace(NamedTuple):
    """Where a far item is, and the bytes that are kept for it."""

    start: int
    length: int
    room: int
    number: int


def has_far_items(type_: PaimonType | None) -> bool:
    """Whether slots of a type may point into the variable part.

    >>> has_far_items(PaimonType("TIMESTAMP", precision=3)), has_far_items(PaimonType("TIMESTAMP", precision=6))
    (False, True)
    """
    return type_ is not None and (
        type_.name in BYTES_LIKE or type_.name in NESTED or is_long_decimal(type_) or is_long_timestamp(type_)
    )


def is_long_decimal(type_: PaimonType) -> bool:
    """Whether the unscaled value does not fit 8 bytes for certain, so that it is far.

    >>> is_long_decimal(PaimonType("DECIMAL", precision=19, scale=0))
    True
    """
    return type_.name == "DECIMAL" and (type_.precision or 10) > 18


def is_long_timestamp(type_: PaimonType) -> bool:
    """Whether milliseconds are not enough, so that they are far and the slot keeps the nanoseconds.

    >>> is_long_timestamp(PaimonType("TIMESTAMP_LTZ", precision=6))
    True
    """
    return type_.name in TIMESTAMPS and (type_.precision or 0) > 3


def locate_item(frame: Frame, slot: Slot) -> ItemPlace | None:
    """Where the item of a slot is, None when the slot holds its value. Raises `Corrupt` for an item outside its row."""
    type_, window = slot.type, frame.window
    if type_ is None or not has_far_items(type_):
        return None
    if type_.name in BYTES_LIKE and window[slot.start + 7] & 0x80:
        return None
    size = frame.end - frame.base
    length, offset = window.read_pair(slot.start)
    if is_long_timestamp(type_):
        if not 0 <= offset <= size - 8:
            expected, seen = "an offset in the row", f"{offset} of {size} bytes"
            raise Corrupt("timestamp outside its row", offset=slot.start + 4, expected=expected, seen=seen)
        return ItemPlace(frame.base + offset, 8, 8, slot.number)
    if length < 0 or offset < 0 or offset + length > size:
        expected, seen = "length and offset in the row", f"length {length} at {offset} of {size} bytes"
        raise Corrupt("item outside its row", offset=slot.start, expected=expected, seen=seen)
    room = 16 if is_long_decimal(type_) else -(-length // 8) * 8
    return ItemPlace(frame.base + offset, length, max(room, length), slot.number)


def locate_room(frame: Frame, slot: Slot) -> ItemPlace | None:
    """Where a row keeps room for a value that is null, None where no room is kept or the slot does not say where."""
    if slot.type is None or not (is_long_decimal(slot.type) or is_long_timestamp(slot.type)):
        return None
    size = 16 if is_long_decimal(slot.type) else 8
    length, offset = frame.window.read_pair(slot.start)
    start = frame.base + offset
    if length != 0 or not frame.start <= start <= frame.end - size:
        return None
    return ItemPlace(start, 0, size, slot.number)


# -- the line of a slot


def explain_slot(frame: Frame, slot: Slot, place: ItemPlace | None, room: ItemPlace | None) -> Span:
    """The line of one slot: its leaves are the value, or length and offset, the tag, and what is not used.

    `place` is the item in the variable part that belongs to this slot alone, `room` what is kept for its null.
    """
    end = slot.start + slot.width
    if slot.is_null:
        note, leaves = _note_null(frame, slot, room), _split_null(frame, slot, room)
        return Span(slot.start, end, slot.label, None, note, leaves, role="null", number=slot.number)
    if slot.type is None:
        raw = frame.window.take(slot.start, end)
        note = f"{slot.width} bytes; their type is unknown"
        return Span(slot.start, end, slot.label, raw, note, number=slot.number)
    try:
        _check_place(frame, slot, place)
        value = _decode(frame, slot, place)
        leaves = tuple(_split(frame, slot, slot.type, place, value))
    except LakeError as error:
        return _explain_damage(slot, slot.start, end, error)
    note = _note(frame, slot, slot.type, place)
    return Span(slot.start, end, slot.label, value, note, leaves, number=slot.number)


def _explain_damage(slot: Slot, start: int, end: int, error: LakeError) -> Span:
    note, number = error.reason, slot.number
    leaf = Span(start, end, slot.label, None, note, role="damage", error=error, number=number)
    return make_line(leaf)


def _check_place(frame: Frame, slot: Slot, place: ItemPlace | None) -> None:
    """Raise `Corrupt` when the slot points to an item that it cannot have."""
    if place is None and (wanted := locate_item(frame, slot)) is not None:
        low = wanted.start - frame.base
        seen = f"bytes {low} to {low + wanted.length}"
        expected = f"bytes from {frame.start - frame.base} that no other slot refers to"
        raise Corrupt("items overlap", offset=slot.start, expected=expected, seen=seen)


def _decode(frame: Frame, slot: Slot, place: ItemPlace | None) -> Any:
    """The value, made late where it is nested; None when only the item is damaged, which its own leaf shows."""
    window, base, _, end, depth = frame
    type_ = slot.type
    assert type_ is not None
    if type_.name in NESTED and place is not None and place.length:
        return Deferred(lambda: window.decode_slot(type_, slot.start, base, end, depth))
    try:
        return window.decode_slot(type_, slot.start, base, end, depth)
    except Corrupt as error:
        if place is not None and _is_in(place, error.offset):
            return None
        raise


def _is_in(place: ItemPlace, offset: int | None) -> bool:
    return offset is not None and place.start <= offset < place.start + place.length


def _split(
    frame: Frame, slot: Slot, type_: PaimonType, place: ItemPlace | None, value: Any
) -> Iterator[Span]:
    """The leaves of a slot that is not null."""
    window, start, end, number = frame.window, slot.start, slot.start + slot.width, slot.number
    if place is not None:
        first, second = window.read_pair(start)
        yield Span(
            start, start + 4, "nanoseconds" if is_long_timestamp(type_) else "length", first, number=number
        )
        yield Span(start + 4, end, "offset", second, number=number)
    elif type_.name in BYTES_LIKE:
        length = window[start + 7] & 0x7F
        if length:
            yield Span(start, start + length, "value", value, number=number)
        if length < 7:
            yield Span(start + length, start + 7, "unused", role="unused")
        yield Span(start + 7, end, "tag", length, f"0x80 + {length}", number=number)
    else:
        stop = start + min(WIDTHS.get(type_.name, 8), slot.width)
        yield Span(start, stop, "value", value, number=number)
        if stop < end:
            yield Span(stop, end, "unused", role="unused")


def _split_null(frame: Frame, slot: Slot, room: ItemPlace | None) -> tuple[Span, ...]:
    start, end, number = slot.start, slot.start + slot.width, slot.number
    if room is None or slot.type is None:
        return (Span(start, end, "null", role="null", number=number),)
    name = "nanoseconds" if is_long_timestamp(slot.type) else "length"
    return (
        Span(start, start + 4, name, 0, role="null", number=number),
        Span(start + 4, end, "offset", room.start - frame.base, role="null", number=number),
    )


# -- words


def _note_null(frame: Frame, slot: Slot, room: ItemPlace | None) -> str:
    name = "" if slot.type is None else f"{spell_type(slot.type)}: "
    if room is not None:
        return f"{name}null, room at +{room.start - frame.base}"
    is_zero = not any(frame.window.take(slot.start, slot.start + slot.width))
    return f"{name}null" if is_zero else f"{name}null, its slot is not zero"


def _note(frame: Frame, slot: Slot, type_: PaimonType, place: ItemPlace | None) -> str:
    window, start = frame.window, slot.start
    name = spell_type(type_)
    if place is not None:
        at = f"+{place.start - frame.base}"
        if is_long_timestamp(type_):
            return f"{name}: {window.read_pair(start)[0]:,} ns, ms at {at}"
        return f"{name}: {format_count(place.length, 'byte')} at {at}"
    if type_.name in BYTES_LIKE:
        tag = window[start + 7]
        return f"{name}, inline: tag {tag:02x} = {format_count(tag & 0x7F, 'byte')}"
    size = min(WIDTHS.get(type_.name, 8), slot.width)
    stored = int.from_bytes(window.take(start, start + size), "little", signed=True)
    match type_.name:
        case "DECIMAL":
            return f"{name}: unscaled {format_number(stored)}"
        case "DATE":
            return f"{name}, {format_count(size, 'byte')}: day {format_number(stored)}"
        case "TIME":
            return f"{name}, {format_count(size, 'byte')}: {format_number(stored)} ms of day"
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return f"{name}: ms since 1970"
    return f"{name}, {format_count(size, 'byte')}"


def spell_type(type_: PaimonType) -> str:
    """A type in few words, without its nullability.

    >>> spell_type(PaimonType("DECIMAL", precision=9, scale=2)), spell_type(PaimonType("TIMESTAMP_LTZ", precision=6))
    ('DECIMAL(9,2)', 'TIMESTAMP_LTZ(6)')
    """
    if type_.name == "TIMESTAMP_LTZ":
        return f"TIMESTAMP_LTZ({type_.precision})"
    if type_.name == "DECIMAL":
        return f"DECIMAL({type_.precision},{type_.scale})"
    text = str(make_nullable(type_, True))
    return text if len(text) <= 40 else type_.name


# -- the item of a slot that is not nested


def explain_content(frame: Frame, slot: Slot, place: ItemPlace) -> Span:
    """The leaf over the content of a far item: text, bytes, a decimal's digits, a timestamp's milliseconds.

    It has no value: that of the field is shown once, by its slot, which has the same number.
    """
    window, base, _, end, depth = frame
    type_ = slot.type
    assert type_ is not None
    start, stop = place.start, place.start + place.length
    try:
        window.decode_slot(type_, slot.start, base, end, depth)
    except LakeError as error:
        if isinstance(error, Corrupt) and _is_in(place, error.offset):
            return _explain_damage(slot, start, stop, error)
        # else the slot itself is damaged, and says so
    if is_long_timestamp(type_):
        millis = int.from_bytes(window.take(start, stop), "little", signed=True)
        return Span(start, stop, "milliseconds", None, note_content(type_, millis), number=slot.number)
    return Span(start, stop, "value", None, note_content(type_), number=slot.number)


def note_content(type_: PaimonType, millis: int = 0) -> str:
    """How the content of a far item is encoded.

    >>> note_content(PaimonType("TIMESTAMP", precision=6), 1_700_000_000_123)
    'ms since 1970: 1,700,000,000,123'
    """
    if is_long_timestamp(type_):
        return f"ms since 1970: {format_number(millis)}"
    if type_.name == "DECIMAL":
        return "unscaled, big-endian"
    if type_.name in TEXTS:
        return "UTF-8"
    return "WKB" if type_.name in ("GEOMETRY", "GEOGRAPHY") else "bytes"
