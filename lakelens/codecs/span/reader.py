"""Reads values one after the other into leaves; and what the explaining paths of all codecs share."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn, TypeVar

from lakelens.codecs.span.span import Deferred, Octets, Role, Span, damaged_leaf
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.lazy import dataclass

_Item = TypeVar("_Item")

#: More siblings than this are grouped, so that no list of spans grows with a hostile count.
GROUP = 1024
_NAMES = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32"}
_NAMES |= {"?": "boolean", "q": "int64", "Q": "uint64", "f": "float32", "d": "float64"}


@dataclass(frozen=True, slots=True)
class Enum:
    """An enumeration of a schema: its name and the name of each number.

    >>> Enum("Order", dict(enumerate(("UNORDERED", "ASCENDING")))).find(1)
    'ASCENDING'
    """

    name: str
    names: Mapping[int, str]

    def find(self, number: Any) -> str:
        """Find the name of a number; `unknown N` for others."""
        name = self.names.get(number) if isinstance(number, int) else None
        return f"unknown {number}" if name is None else name


@dataclass(frozen=True, slots=True)
class FixedField:
    """A field of a fixed struct: its `struct` layout, what it is called and what it means.

    The layout is of one number, `3x` of bytes that say nothing, `4s` of a magic. `describe` adds words made from the value.
    A value that is none of `known` is damage: `wrong` says so, or `unread`, with the value in it, of what may come later.
    """

    layout: str
    label: str
    note: str = ""
    describe: Callable[[Any], str] | None = None
    known: Sequence[Any] = ()
    wrong: str = ""
    unread: str = ""

    def read(self, reader: SpanReader) -> Span:
        """Read the field as a leaf. Raises `Corrupt` where its bytes are not there."""
        size = struct.calcsize(self.layout)
        if self.layout.endswith("x"):
            return reader.leaf(size, self.label, self.note, role="padding")
        if self.layout.endswith("s"):
            leaf = reader.magic(size, self.note or "ASCII")
        else:
            leaf = reader.number(self.layout, self.label, self.note, describe=self.describe)
        if not self.known or leaf.value in self.known:
            return leaf
        if self.unread:
            return damage_span(leaf, Unsupported(self.unread.format(leaf.value)))
        return damage_span_if(True, leaf, self.wrong, expected=self.known[0])


#: A fixed struct of bytes: its fields one after the other.
Layout = tuple[FixedField, ...]


def fields(text: str) -> Layout:
    """Fields that are numbers alone: of each its `struct` layout, its label, and what it means after a colon.

    >>> [(field.label, field.note) for field in fields(">h row count; B flags: none is used")]
    [('row count', ''), ('flags', 'none is used')]
    """
    layout = []
    for part in text.split("; "):
        named, _, note = part.partition(": ")
        number, label = named.split(" ", 1)
        layout.append(FixedField(number, label, note))
    return tuple(layout)


def measure(layout: Layout) -> int:
    """Measure the bytes of a fixed struct.

    >>> measure(fields("<q offset; <i size"))
    12
    """
    return sum(struct.calcsize(field.layout) for field in layout)


class SpanReader:
    """Takes values from `data[at:end]` as leaves; `what` names the structure in errors, whose offsets are absolute.

    >>> reader = SpanReader(bytes.fromhex("00000005"), 0, 4, "a count")
    >>> reader.number(">i", "count")
    <Span 0..4 count = 5>
    """

    def __init__(self, data: Octets, start: int, end: int, what: str) -> None:
        self.data, self.at, self.end, self.what = data, start, end, what

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return self.end - self.at

    def fail(self, message: str, at: int, *, expected: object = None, seen: object = None) -> NoReturn:
        """Raises `Corrupt` at a byte."""
        raise Corrupt(message, offset=at, expected=expected, seen=seen)

    def take(self, size: int, part: str) -> int:
        """Moves past `size` bytes and returns where they start. Raises `Corrupt` when there are fewer."""
        start = self.at
        if not 0 <= size <= self.end - start:
            self.fail(
                f"{self.what} ends inside {part}", start, expected=f"{size} bytes", seen=f"{self.left} bytes"
            )
        self.at = start + size
        return start

    def octets(self, size: int, part: str) -> bytes:
        """The next `size` bytes."""
        content = self.data[self.take(size, part) : self.at]
        return content if type(content) is bytes else bytes(content)

    def number(
        self,
        layout: str,
        label: str,
        note: str = "",
        *,
        describe: Callable[[Any], str] | None = None,
        number: int | None = None,
    ) -> Span:
        """A leaf of one number, its note beginning with how it is encoded; `describe` adds words made from the value."""
        start = self.at
        value = struct.unpack(layout, self.octets(struct.calcsize(layout), label))[0]
        words = "; ".join(part for part in (note, describe(value) if describe else "") if part)
        encoding = name_layout(layout)
        return Span(
            start, self.at, label, value, f"{encoding}: {words}" if words else encoding, number=number
        )

    def struct(self, layout: Layout) -> Generator[Span, None, dict[str, Any]]:
        """Read a fixed struct: its fields as leaves, and when all are read its values by their labels.

        >>> list(SpanReader(bytes.fromhex("000507"), 0, 3, "a head").struct(fields(">h row count; B flags")))
        [<Span 0..2 row count = 5>, <Span 2..3 flags = 7>]
        """
        values = {}
        for field in layout:
            leaf = field.read(self)
            values[field.label] = leaf.value
            yield leaf
        return values

    def count(self, layout: str, label: str, what: str, smallest: int, note: str = "", **words: Any) -> Span:
        """A leaf of a count of things that take at least `smallest` bytes each: damage when there is no room for them."""
        count = self.number(layout, label, note, **words)
        limit = self.left // smallest
        message = f"an impossible count of {what}"
        return damage_span_if(not 0 <= count.value <= limit, count, message, expected=f"0 to {limit}")

    def leaf(self, size: int, label: str, note: str = "", *, part: str = "", role: Role = "") -> Span:
        """The next `size` bytes as a leaf without a value; `part` is its name in errors, if that is not its label."""
        start = self.take(size, part or label)
        return Span(start, self.at, label, None, note, role=role)

    def magic(self, size: int, note: str = "ASCII") -> Span:
        """The next bytes as a magic, which is its own value."""
        start = self.at
        return Span(start, start + size, "magic", self.octets(size, "its magic"), note)

    def rest(self, label: str, note: str = "") -> Span:
        """All bytes that are left, unexplained."""
        start = self.take(self.left, label)
        return Span(start, self.at, label, None, note, role="unexplained")


def name_layout(layout: str) -> str:
    """Give the name of a `struct` layout of one number.

    >>> name_layout("<H"), name_layout(">b")
    ('uint16, little-endian', 'int8')
    """
    name = _NAMES[layout[-1]]
    if struct.calcsize(layout) == 1:
        return name
    return f"{name}, {'big' if layout[0] == '>' else 'little'}-endian"


def damage_span(span: Span, error: LakeError) -> Span:
    """A leaf whose bytes can be read but are wrong: it keeps its label and value and gets the error.

    >>> damage_span(Span(0, 4, "CRC", 7), LakeError("does not match")).role
    'damage'
    """
    note = f"{span.note}: {error.reason}" if span.note else error.reason
    return Span(
        span.start, span.end, span.label, span.value, note, role="damage", number=span.number, error=error
    )


def damage_span_if(
    wrong: bool, span: Span, message: str, *, expected: object = None, seen: object = None
) -> Span:
    """The leaf itself, or its `damage_span` with a `Corrupt` at its first byte when it is wrong."""
    if not wrong:
        return span
    seen = span.value if seen is None else seen
    return damage_span(span, Corrupt(message, offset=span.start, expected=expected, seen=seen))


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun.

    >>> format_count(1, "run"), format_count(1000, "run")
    ('1 run', '1,000 runs')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_number(number: int) -> str:
    """Format an integer for people: thousands apart, a true minus sign.

    >>> format_number(-123452)
    '−123,452'
    """
    return f"{number:,}".replace("-", "−")


@contextmanager
def shift_errors(start: int) -> Iterator[None]:
    """Makes the offset of a `Corrupt` absolute: what is decoded inside is a slice that begins at `start`.

    >>> with shift_errors(10):
    ...     raise Corrupt("cut short", offset=3)
    Traceback (most recent call last):
    lakelens.errors.Corrupt: cut short (at byte 13)
    """
    try:
        yield
    except Corrupt as error:
        error.offset = start + (error.offset or 0)
        raise


@contextmanager
def in_file(path: str | None) -> Iterator[None]:
    """Names the file in every `LakeError` that names none."""
    try:
        yield
    except LakeError as error:
        error.path = error.path or path
        raise


def rename(span: Span, label: str, note: str) -> Span:
    """Rename the same span under another label: what a table of contents calls the structure.

    >>> rename(Span(0, 4, "deletion vector"), "a.parquet", "deletion vector").label
    'a.parquet'
    """
    children = () if span.is_leaf else lambda: span.children
    value = Deferred(lambda: span.value)
    return Span(span.start, span.end, label, value, note, children, role=span.role, origin=span.origin)


def collect(items: Iterable[_Item]) -> tuple[list[_Item], Corrupt | None]:
    """Collect the items of an iterator until it ends or fails, and the failure.

    >>> collect(iter([1, 2]))
    ([1, 2], None)
    """
    items_read: list[_Item] = []
    try:
        for item in items:
            items_read.append(item)
    except Corrupt as error:
        return items_read, error.without_frames()
    return items_read, None


def make_line(leaf: Span) -> Span:
    """Make a span around one leaf, so that a structure of that leaf alone still has its own title in a view.

    >>> line = make_line(Span(0, 4, "arity", None, "int32"))
    >>> line.note, line.is_leaf, line.children[0].note
    ('int32', False, 'int32')
    """
    return Span(
        leaf.start, leaf.end, leaf.label, leaf.value, leaf.note, (leaf,), role=leaf.role, number=leaf.number
    )


def group_items(
    count: int, place: Callable[[int], int], label: str, make: Callable[[int, int], Iterable[Span]]
) -> Iterator[Span]:
    """Give the spans of `count` items, in groups when there are many. `make(a, b)` gives items a to b - 1.

    `place(i)` is the byte where item i starts, `place(count)` the byte after the last.

    >>> make = lambda a, b: (Span(i, i + 1, "item") for i in range(a, b))
    >>> [group.label for group in group_items(3000, lambda i: i, "items", make)]
    ['items 0 to 1023', 'items 1024 to 2047', 'items 2048 to 2999']
    """
    if count <= GROUP:
        yield from make(0, count)
        return
    for first in range(0, count, GROUP):
        stop = min(first + GROUP, count)
        yield Span(
            place(first),
            place(stop),
            f"{label} {first} to {stop - 1}",
            None,
            f"{stop - first} of {count}",
            partial(make, first, stop),
        )


def explain_part(
    reader: SpanReader,
    start: int,
    end: int,
    label: str,
    explain: Callable[[SpanReader], Iterable[Span]],
    note: str = "",
    *,
    number: int | None = None,
) -> Span:
    """Explain a structure inside the reader's bytes, whose damage stays in it; its offsets count from its start.

    >>> whole = SpanReader(bytes(4), 0, 4, "a pair")
    >>> explain_part(whole, 2, 4, "second", lambda part: [part.number(">h", "value")]).children
    (<Span 2..4 value = 0>,)
    """

    def make() -> Iterable[Span]:
        return explain(SpanReader(reader.data, start, end, reader.what))

    return Span(start, end, label, None, note, make, number=number, origin=start)


def find_places(reader: SpanReader, count: int, skip: Callable[[SpanReader], object]) -> Iterator[int]:
    """Find where each of `count` items begins that have lengths of their own, and where the last one ends.

    `skip` moves the reader past one item. Raises `Corrupt` when one does not fit.
    """
    yield reader.at
    for _ in range(count):
        skip(reader)
        yield reader.at


def explain_items(
    reader: SpanReader, places: Sequence[int], label: str, make: Callable[[SpanReader, int], Span]
) -> Iterator[Span]:
    """Explain the items from place to place, in groups when there are many. `make` gets a reader of the item's bytes.

    >>> whole = SpanReader(bytes.fromhex("0161026262"), 0, 5, "texts")
    >>> places = list(find_places(whole, 2, lambda reader: reader.octets(reader.octets(1, "size")[0], "text")))
    >>> places, list(explain_items(whole, places, "texts", lambda item, i: item.rest(f"text {i}")))
    ([0, 2, 5], [<Span 0..2 text 0>, <Span 2..5 text 1>])
    """

    def make_some(first: int, stop: int) -> Iterator[Span]:
        for i in range(first, stop):
            yield make(SpanReader(reader.data, places[i], places[i + 1], reader.what), i)

    return group_items(len(places) - 1, places.__getitem__, label, make_some)


def explain_numbers(
    data: Octets,
    start: int,
    layout: str,
    count: int,
    label: str,
    make: Callable[[int, Span], Span] | None = None,
    *,
    describe: Callable[[Any], str] | None = None,
    group: str = "",
) -> Iterator[Span]:
    """Numbers of one `struct` layout side by side, in groups when there are many; `make` finishes the leaf of number i.

    >>> list(explain_numbers(bytes.fromhex("00050007"), 0, ">h", 2, "count"))
    [<Span 0..2 count 0 = 5>, <Span 2..4 count 1 = 7>]
    """
    width = struct.calcsize(layout)

    def make_some(first: int, stop: int) -> Iterator[Span]:
        reader = SpanReader(data, start + width * first, start + width * stop, f"the {label}s")
        for i in range(first, stop):
            leaf = reader.number(layout, f"{label} {i}", describe=describe)
            yield make(i, leaf) if make else leaf

    return group_items(count, lambda i: start + width * i, group or f"{label}s", make_some)


def explain_apart(
    items: Iterable[_Item],
    place: Callable[[_Item], tuple[int, int]],
    explain: Callable[[_Item], Span],
    start: int,
    end: int,
    label: str,
    gap: str,
    name: Callable[[_Item], str],
) -> Iterator[Span]:
    """Items that have places of their own, in order of bytes, in groups when there are many.

    Bytes of no item are `unreferenced`, with `gap` as their note; from the first item that overlaps the one before all is
    damage, where `name` says which item it is.
    """
    pieces: list[tuple[int, int, _Item | None]] = []
    at, overlap = start, None
    for item in sorted(items, key=place):
        begin, stop = place(item)
        if begin < at:
            message, seen = f"{name(item)} overlaps another", f"{begin} to {stop}"
            overlap = Corrupt(message, offset=at, expected=f"from {at}", seen=seen)
            break
        if at < begin:
            pieces.append((at, begin, None))
        pieces.append((begin, stop, item))
        at = stop
    if overlap is None and at < end:
        pieces.append((at, end, None))

    def make(first: int, last: int) -> Iterator[Span]:
        for begin, stop, item in pieces[first:last]:
            if item is None:
                yield Span(begin, stop, "unreferenced", None, gap, role="unexplained")
            else:
                yield explain(item)

    places = [begin for begin, _, _ in pieces] + [at if overlap else end]
    yield from group_items(len(pieces), places.__getitem__, label, make)
    if overlap is not None:
        yield damaged_leaf(at, end, overlap)
