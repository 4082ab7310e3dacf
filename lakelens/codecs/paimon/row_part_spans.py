"""The parts that rows and arrays share: null bits, slots side by side, and the variable part they point into.

    null bits   bit i (from the lowest of the first byte) is set when value i is null
    slots       of one width; see `binary_slot_spans`
    variable    | item | padding | item | padding | ...     in the order of writing; an item belongs to one slot

No byte of the variable part is explained twice: of items that overlap the first one in order of bytes keeps its bytes and
the others are damage. Room kept for nulls comes after items; what no slot refers to says so. Long runs come in groups, so
that millions of slots are made a thousand at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakelens.codecs.paimon.row_slot_spans import (
    NESTED,
    Frame,
    ItemPlace,
    Slot,
    explain_content,
    explain_slot,
    locate_item,
    locate_room,
)
from lakelens.codecs.paimon.row_slots import RowWindow
from lakelens.codecs.span.reader import format_count, group_items, make_line
from lakelens.codecs.span.span import Deferred, Span
from lakelens.errors import LakeError

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
    """A line for each byte of null bits, and one for the bytes that no value needs."""
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
    kept = _fit_rooms(rooms, order)
    return VariablePart(items, {room.number: room for room in kept}, sorted([*order, *kept]))


def _fit_rooms(rooms: Sequence[ItemPlace], order: Sequence[ItemPlace]) -> list[ItemPlace]:
    """The rooms of nulls in bytes of no item."""
    kept: list[ItemPlace] = []
    for room in sorted(rooms):
        after = bisect_right(order, room)
        is_free = after == 0 or order[after - 1].start + order[after - 1].length <= room.start
        is_free = is_free and (after == len(order) or room.start + room.room <= order[after].start)
        if is_free and (not kept or kept[-1].start + kept[-1].room <= room.start):
            kept.append(room)
    return kept


def explain_slots(slots: SlotList, layout: VariablePart, start: int, end: int) -> Iterator[Span]:
    """A line for each slot from `start`, and what fills up to `end`."""

    def make(low: int, high: int) -> Iterator[Span]:
        for i in range(low, high):
            yield explain_slot(slots.frame, slots.make(i), layout.items.get(i), layout.rooms.get(i))

    width = slots.make(0).width if slots.count else 0
    yield from group_items(slots.count, lambda i: start + i * width, "slots", make)
    stop = start + slots.count * width
    if stop < end:
        yield make_line(_explain_padding(slots.frame.window, stop, end))


def explain_variable_part(slots: SlotList, layout: VariablePart, nest: ContentExplainer) -> Iterator[Span]:
    """The items with their padding, the room of nulls, and what no slot refers to."""
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
    """One item and its padding; its content is a leaf, or the tree of a nested value."""
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
