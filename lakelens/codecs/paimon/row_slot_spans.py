"""One slot of a BinaryRow, and the item it points to, with a name for every byte.

    |   value   |     unused     |     a value of fixed width, low bytes first
    | content 0..7 | unused | tag |   short bytes: the tag is 0x80 + length
    |   length   |    offset     |     a far item in the variable part; offsets count from the start of the row
    | nanoseconds |   offset     |     a timestamp of more than 3 digits: its milliseconds are far

What a slot must hold is checked by the fast decoder (`binary_slot`); where the item is is checked here by the same rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lakelens.codecs.paimon.binary_row import WIDTHS, RowWindow
from lakelens.codecs.paimon.types import PaimonType, make_nullable
from lakelens.codecs.span.reader import format_count, format_number, group_items, make_line
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
    """Check whether slots of a type may point into the variable part.

    >>> has_far_items(PaimonType("TIMESTAMP", precision=3)), has_far_items(PaimonType("TIMESTAMP", precision=6))
    (False, True)
    """
    return type_ is not None and (
        type_.name in BYTES_LIKE or type_.name in NESTED or is_long_decimal(type_) or is_long_timestamp(type_)
    )


def is_long_decimal(type_: PaimonType) -> bool:
    """Check whether the unscaled value does not fit 8 bytes for certain, so that it is far.

    >>> is_long_decimal(PaimonType("DECIMAL", precision=19, scale=0))
    True
    """
    return type_.name == "DECIMAL" and (type_.precision or 10) > 18


def is_long_timestamp(type_: PaimonType) -> bool:
    """Check whether milliseconds are not enough, so that they are far and the slot keeps the nanoseconds.

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
    """Locate where a row keeps room for a value that is null, None where no room is kept or the slot does not say where."""
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
    """Explain the line of one slot: its leaves are the value, or length and offset, the tag, and what is not used.

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
        # a slot may not point to an item that it cannot have
        if place is None and (wanted := locate_item(frame, slot)) is not None:
            low = wanted.start - frame.base
            seen = f"bytes {low} to {low + wanted.length}"
            expected = f"bytes from {frame.start - frame.base} that no other slot refers to"
            raise Corrupt("items overlap", offset=slot.start, expected=expected, seen=seen)
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


def _decode(frame: Frame, slot: Slot, place: ItemPlace | None) -> Any:
    """Decode the value, made late where it is nested; None when only the item is damaged, which its own leaf shows."""
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
    """Split the leaves of a slot that is not null."""
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
    """Spell a type in few words, without its nullability.

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
    """Explain the leaf over the content of a far item: text, bytes, a decimal's digits, a timestamp's milliseconds.

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
    """Note how the content of a far item is encoded.

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


# The parts that rows and arrays share: null bits, slots side by side, and the variable part they point into.
#
#     null bits   bit i (from the lowest of the first byte) is set when value i is null
#     slots       of one width; see `binary_slot_spans`
#     variable    | item | padding | item | padding | ...     in the order of writing; an item belongs to one slot
#
# No byte of the variable part is explained twice: of items that overlap the first one in order of bytes keeps its bytes
# and the others are damage. Room kept for nulls comes after items; what no slot refers to says so. Long runs come in
# groups, so that millions of slots are made a thousand at a time.

# explains the content of a nested item: the frame of its slot, the slot, the place of the item
ContentExplainer = Callable[[Frame, Slot, ItemPlace], Span]


@dataclass(frozen=True, slots=True)
class SlotList:
    """The slots of a row or an array: how many, and how to make each."""

    frame: Frame
    count: int
    make: Callable[[int], Slot]
    has_far: bool


class VariablePart(NamedTuple):
    """Who owns the variable part: items by slot, room by null slot, and all of them in order of bytes."""

    items: Mapping[int, ItemPlace]
    rooms: Mapping[int, ItemPlace]
    order: Sequence[ItemPlace]


# -- null bits


def explain_null_bits(window: RowWindow, start: int, end: int, count: int) -> Iterator[Span]:
    """Explain a line for each byte of null bits, and one for the bytes that no value needs."""
    used = (count + 7) // 8
    yield from group_items(
        used,
        lambda k: start + k,
        "null bytes",
        lambda low, high: (_explain_null_byte(window, start + k, 8 * k, count) for k in range(low, high)),
    )
    if start + used < end:
        note = "null bits not used" + (", not zero" if any(window.take(start + used, end)) else "")
        yield Span(start + used, end, "null bits", None, note, role="unused")


def _explain_null_byte(window: RowWindow, position: int, first: int, count: int) -> Span:
    last = min(first + 8, count) - 1
    bits = [window[position] >> k & 1 for k in range(last - first + 1)]
    range_ = f"bits {first} to {last}" if last > first else f"bit {first}"
    note = f"null {range_}: {' '.join(map(str, bits))}{_format_nulls(first, bits)}"
    return Span(position, position + 1, "null bits", None, note)


def _format_nulls(first: int, bits: Sequence[int]) -> str:
    nulls = [str(first + k) for k, bit in enumerate(bits) if bit]
    if not nulls:
        return ""
    if len(nulls) == 1:
        return f", {nulls[0]} is null"
    return f", {', '.join(nulls[:-1])} and {nulls[-1]} are null"


# -- slots and items


def lay_out(slots: SlotList) -> VariablePart:
    """Find the owner of each byte of the variable part.

    Items come in order of bytes, so that each takes its bytes only when no other has them; an item outside of its
    row or in a place already taken gets none, and its slot is explained as damage.
    """
    if not slots.has_far:
        return VariablePart({}, {}, ())
    wanted: list[ItemPlace] = []
    rooms: list[ItemPlace] = []
    for i in range(slots.count):
        slot = slots.make(i)
        try:
            place = (locate_room if slot.is_null else locate_item)(slots.frame, slot)
        except LakeError:
            continue  # `explain_slot` finds it again and shows it
        if place is not None:
            (rooms if slot.is_null else wanted).append(place)
    position, items = slots.frame.start, {}
    for place in sorted(wanted):
        if place.length == 0:
            items[place.number] = place
        elif place.start >= position:
            items[place.number] = place
            position = place.start + place.length
    order = [place for place in sorted(items.values()) if place.length]
    # the rooms of nulls in bytes of no item
    kept: list[ItemPlace] = []
    for room in sorted(rooms):
        after = bisect_right(order, room)
        is_free = after == 0 or order[after - 1].start + order[after - 1].length <= room.start
        is_free = is_free and (after == len(order) or room.start + room.room <= order[after].start)
        if is_free and (not kept or kept[-1].start + kept[-1].room <= room.start):
            kept.append(room)
    return VariablePart(items, {room.number: room for room in kept}, sorted([*order, *kept]))


def explain_slots(slots: SlotList, layout: VariablePart, start: int, end: int) -> Iterator[Span]:
    """Explain a line for each slot from `start`, and what fills up to `end`."""

    def make(low: int, high: int) -> Iterator[Span]:
        for i in range(low, high):
            yield explain_slot(slots.frame, slots.make(i), layout.items.get(i), layout.rooms.get(i))

    width = slots.make(0).width if slots.count else 0
    yield from group_items(slots.count, lambda i: start + i * width, "slots", make)
    stop = start + slots.count * width
    if stop < end:
        yield make_line(_explain_padding(slots.frame.window, stop, end))


def explain_variable_part(slots: SlotList, layout: VariablePart, nest: ContentExplainer) -> Iterator[Span]:
    """Explain the items with their padding, the room of nulls, and what no slot refers to."""
    frame, order = slots.frame, layout.order

    def bound(i: int) -> int:
        return frame.start if i == 0 else frame.end if i == len(order) else order[i].start

    def make(low: int, high: int) -> Iterator[Span]:
        position = bound(low)
        for i in range(low, high):
            place, limit = order[i], bound(i + 1)
            if position < place.start:
                yield _explain_unowned(position, place.start)
            position = min(place.start + place.room, limit)
            yield from _explain_item(frame, slots.make(place.number), place, position, nest)
        if position < bound(high):
            yield _explain_unowned(position, bound(high))

    yield from group_items(len(order), bound, "items", make)
    if not order:
        yield _explain_unowned(frame.start, frame.end)


def _explain_item(
    frame: Frame, slot: Slot, place: ItemPlace, end: int, nest: ContentExplainer
) -> Iterator[Span]:
    """Explain one item and its padding; its content is a leaf, or the tree of a nested value."""
    if slot.is_null:
        is_zero = not any(frame.window.take(place.start, end))
        note = "room kept for the null, " + ("all zero" if is_zero else "not zero")
        yield make_line(Span(place.start, end, slot.label, None, note, role="null", number=slot.number))
        return
    assert slot.type is not None
    stop = place.start + place.length
    padding = (_explain_padding(frame.window, stop, end),) if stop < end else ()
    if slot.type.name not in NESTED:
        content = explain_content(frame, slot, place)
        if content.role == "damage":
            yield from (content, *padding)
        else:
            parts = (content, *padding)
            yield Span(place.start, end, slot.label, None, content.note, parts, number=slot.number)
        return
    nested = nest(frame, slot, place)
    yield Span(
        place.start,
        end,
        slot.label,
        Deferred(lambda: nested.value),
        nested.note,
        lambda: (*nested.children, *padding),
        number=slot.number,
        origin=nested.origin,
    )


def _explain_padding(window: RowWindow, start: int, end: int) -> Span:
    is_zero = not any(window.take(start, end))
    note = f"{format_count(end - start, 'byte')} of padding" + ("" if is_zero else ", not zero")
    return Span(start, end, "padding", None, note, role="padding")


def _explain_unowned(start: int, end: int) -> Span:
    note = "no slot refers to these bytes"
    return make_line(Span(start, end, "unexplained", None, note, role="unexplained"))
