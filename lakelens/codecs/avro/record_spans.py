"""Avro records explained: each field, union branch, count, size and content with its bytes.

    record 0 [0, 9)
    ├─ a        long                  one leaf: varint, zigzag
    ├─ b        union of null, string union branch | size | text
    ├─ c        array of record       count | [0] its fields … | end of the array
    └─ d        bytes                 size | what a hook explains inside, at absolute positions

Follows "Binary Encoding" and "Logical Types" of the Avro 1.12 specification. Values are those stored, as `avro.records`
decodes them: logical types are applied in the notes alone. Timestamps are written without a zone: which clock they show,
the format says that wrote them. Parts are made when they are asked for; a damaged value has its damage inside, as deep as
possible, and ends the explanation of what surrounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from lakelens.caching import cached_property
from lakelens.codecs.avro.schema import compile_schema
from lakelens.codecs.avro.types import (
    AvroType,
    EnumType,
    FixedType,
    ItemsType,
    NullType,
    NumberType,
    PlainType,
    RecordType,
    SizedType,
    UnionType,
    decode_text,
    read_long,
)
from lakelens.codecs.span.reader import damage_span, format_count
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt, LakeError

_MAX_DECIMAL = 40  # bytes, and digits of scale: more is no decimal of any format


def join_notes(*notes: str) -> str:
    """Notes in one line.

    >>> join_notes("long", "", "field id 1")
    'long; field id 1'
    """
    return "; ".join(note for note in notes if note)


def describe_varint(at: int, stop: int) -> str:
    """Describe how a count, a size or a branch is encoded.

    >>> describe_varint(4, 6)
    'varint, zigzag: 2 bytes'
    """
    return f"varint, zigzag: {format_count(stop - at, 'byte')}"


def describe_value(kind: AvroType, data: Octets, at: int, stop: int) -> str:
    """Describe how a value that has parts is encoded; of a damaged one only the type.

    >>> describe_value(SizedType("string"), bytes([4]) + b"hi", 0, 3)
    'string: 2 bytes'
    """
    try:
        return _describe_value(kind, data, at, stop)
    except Corrupt:
        return kind.words


def _describe_value(kind: AvroType, data: Octets, at: int, stop: int) -> str:
    if isinstance(kind, UnionType):
        index, start = kind.choose(data, at, stop)
        return f"union branch {index}: {_describe_value(kind.branches[index], data, start, stop)}"
    if isinstance(kind, SizedType):
        size, start = read_long(data, at, stop)
        words = f"{kind.words}: {format_count(size, 'byte')}"
        is_known = kind.logical and not kind.is_text and size <= _MAX_DECIMAL
        return join_notes(words, format_logical(kind, bytes(data[start:stop]))) if is_known else words
    if isinstance(kind, ItemsType):
        return kind.words if kind.count(data, at, stop)[0] else f"{kind.words}: no items"
    if isinstance(kind, RecordType):
        return kind.words
    value, end = kind.decode(data, at, stop)
    return describe_leaf(kind, data, at, end, value)


def describe_leaf(kind: AvroType, data: Octets, at: int, stop: int, value: Any) -> str:
    """Describe how a value of one leaf is encoded, and what its logical type makes of it.

    >>> describe_leaf(NumberType("long"), bytes([2]), 0, 1, 1)
    'long, varint, zigzag: 1 byte'
    """
    size, meaning = format_count(stop - at, "byte"), format_logical(kind, value)
    if isinstance(kind, NumberType):
        beyond = "" if -(2 ** (kind.bits - 1)) <= value < 2 ** (kind.bits - 1) else "more than 32 bits"
        return join_notes(f"{kind.words}, {describe_varint(at, stop)}", meaning, beyond)
    if isinstance(kind, EnumType):
        return f"{kind.words}, {describe_varint(at, stop)}; symbol {read_long(data, at, stop)[0]}"
    if isinstance(kind, PlainType):
        if stop - at == 1:
            return join_notes(f"{kind.words}: {size}", "" if data[at] < 2 else "neither 0 nor 1")
        return f"{kind.words}, little-endian: {size}"
    return join_notes(f"{kind.words}: {size}" if stop > at else f"{kind.words}: takes no byte", meaning)


def format_logical(kind: AvroType, value: Any) -> str:
    """Say what a logical type makes of a stored value; empty without one, or where it makes nothing of it.

    >>> date = NumberType("int", "int (date)")
    >>> date.logical = "date"
    >>> format_logical(date, 19723)
    '2024-01-01'
    """
    if not kind.logical:
        return ""
    try:
        if isinstance(kind, NumberType):
            return _format_number(kind.logical, value)
        if isinstance(value, bytes) and isinstance(kind, FixedType | SizedType):
            return _format_bytes(kind, value)
    except (ArithmeticError, ValueError):
        pass
    return ""


def _format_number(logical: str, value: int) -> str:
    if logical == "date":
        return str(date_from_days(value))
    if logical in ("time-millis", "time-micros"):
        return str(time_from_micros(value * 1000 if logical == "time-millis" else value))
    match logical.removeprefix("local-"):
        case "timestamp-millis":
            return str(timestamp_from_micros(value * 1000, False))
        case "timestamp-micros":
            return str(timestamp_from_micros(value, False))
        case "timestamp-nanos":
            return str(timestamp_from_nanos(value, False))
    return ""


def _format_bytes(kind: AvroType, value: bytes) -> str:
    if kind.logical == "uuid" and len(value) == 16:
        return str(UUID(bytes=value))
    if kind.logical == "decimal" and 0 < len(value) <= _MAX_DECIMAL and 0 <= kind.scale <= _MAX_DECIMAL:
        digits = tuple(map(int, str(abs(unscaled := int.from_bytes(value, "big", signed=True)))))
        return f"{Decimal((int(unscaled < 0), digits, -kind.scale)):f}"
    return ""


def describe_key(kind: ItemsType, data: Octets, at: int, end: int) -> str:
    """Describe the key of an item of a map that is stored as an array of pairs; empty for other items.

    >>> describe_key(ItemsType("array"), b"", 0, 0)
    ''
    """
    pair = kind.items
    if kind.logical != "map" or not isinstance(pair, RecordType) or not pair.fields:
        return ""
    name, key, _ = pair.fields[0]
    if name != "key" or not isinstance(key, NumberType | SizedType):
        return ""
    try:
        return f"key {str(key.decode(data, at, end)[0])[:40]}"
    except Corrupt:
        return ""


Path = tuple[str | int, ...]
Explainer = Callable[[Octets, int, int], Span]
#: Asked for each bytes or fixed value, by its path in the record and the record: who explains what is inside, if anybody.
Nested = Callable[[Path, Mapping[str, Any]], Explainer | None]


def explain_avro_record(
    data: Octets, start: int = 0, end: int | None = None, *, schema: Any, nested: Nested | None = None
) -> Span:
    """Explain one record (or any other value) of an Avro schema, given as parsed JSON, which fills `data[start:end]`.

    `nested` is asked for each `bytes` and `fixed` value with its path from the record (names of fields, positions in
    arrays, keys of maps) and the record, wholly decoded; the explainer it returns explains the content in its place.
    Follows "Binary Encoding" of the Avro 1.12 specification.

    >>> schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "string"]}]}
    >>> span = explain_avro_record(bytes([2, 4]) + b"hi", schema=schema)
    >>> span.value, [(leaf.label, leaf.value) for leaf in span.leaves()]
    ({'a': 'hi'}, [('union branch', 1), ('size', 2), ('text', 'hi')])
    """
    end = len(data) if end is None else end
    try:
        kind = compile_schema(schema).kind
    except LakeError as error:
        return Span(start, end, "record", None, "", partial(_give_up, error))
    return Span(
        start,
        end,
        "record",
        Deferred(lambda: kind.decode(data, start, end)[0]),
        "Avro record",
        lambda: _explain_whole(data, start, end, kind, nested),
    )


def _give_up(error: LakeError) -> Iterator[Span]:
    raise error
    yield


def _explain_whole(
    data: Octets, start: int, end: int, kind: AvroType, nested: Nested | None
) -> Iterator[Span]:
    at = start
    for span in RecordSpans(data, start, end, kind, nested).parts():
        yield span
        at = span.end
    if at < end:
        raise Corrupt("bytes left after the record", offset=at, seen=f"{end - at} bytes")


class _Position(NamedTuple):
    """Where in the record a value is: its path, the number of its field, how many levels are above."""

    path: Path = ()
    number: int | None = None
    level: int = 0

    def inside(self, step: str | int) -> _Position:
        """The place of an item."""
        return self._replace(path=(*self.path, step))

    def deeper(self, level: int) -> _Position:
        """The same place, at a level."""
        return self._replace(level=level)


class RecordSpans:
    """The parts of one record at `start`, which ends at `end` or, if it is damaged, before."""

    def __init__(
        self, data: Octets, start: int, end: int, kind: AvroType, nested: Nested | None = None
    ) -> None:
        self._data = data
        self._start = start
        self._end = end
        self._kind = kind
        self._nested = nested

    @cached_property
    def value(self) -> Any:
        """The record. Raises `Corrupt`."""
        return self._kind.decode(self._data, self._start, self._end)[0]

    def parts(self) -> Iterator[Span]:
        """The parts side by side. Raises `Corrupt` where it cannot go on."""
        return self._parts(self._kind, self._start, self._end, _Position())

    def _parts(self, kind: AvroType, at: int, end: int, place: _Position) -> Iterator[Span]:
        """The parts of a value, its branch first if it is in a union."""
        if isinstance(kind, UnionType):
            index, start = kind.choose(self._data, at, end)
            branch = kind.branches[index]
            note = join_notes(describe_varint(at, start), branch.words)
            yield Span(at, start, "union branch", index, note, number=place.number)
            place = place.deeper(kind.descend(at, place.level))
            kind, at = branch, start
        if isinstance(kind, RecordType):
            yield from self._explain_fields(kind, at, end, place)
        elif isinstance(kind, ItemsType):
            yield from self._explain_items(kind, at, end, place)
        elif isinstance(kind, SizedType):
            yield from self._explain_sized(kind, at, end, place)
        elif isinstance(kind, UnionType):
            yield from self._parts(kind, at, end, place)
        else:
            yield self._explain_leaf(kind, at, end, "value", place)

    def _explain(
        self, kind: AvroType, at: int, end: int, label: str, place: _Position, note: str = ""
    ) -> tuple[Span, bool]:
        """Explain one value as a span of its own, and whether it is whole; one that is not reaches up to `end`."""
        data = self._data
        try:
            if isinstance(kind, UnionType):
                index, stop = kind.choose(data, at, end)
                if isinstance(kind.branches[index], NullType):
                    words = join_notes(f"union branch {index}: null", note)
                    return Span(at, stop, label, None, words, role="null", number=place.number), True
            elif not isinstance(kind, RecordType | ItemsType | SizedType):
                return self._explain_leaf(kind, at, end, label, place, note), True
        except Corrupt as error:
            return damage_span(Span(at, end, label, None, note, number=place.number), error), False
        stop, whole = self._skip(kind, at, end, place)
        value = Deferred(lambda: kind.decode(data, at, stop, place.level)[0])
        parts = partial(self._parts, kind, at, stop, place)
        words = join_notes(describe_value(kind, data, at, stop), note)
        return Span(at, stop, label, value, words, parts, number=place.number), whole

    def _skip(self, kind: AvroType, at: int, end: int, place: _Position) -> tuple[int, bool]:
        """Skip where a value ends, and whether it is whole; one that is not reaches up to `end`."""
        try:
            return kind.skip(self._data, at, end, place.level), True
        except Corrupt:
            return end, False

    def _explain_fields(self, kind: RecordType, at: int, end: int, place: _Position) -> Iterator[Span]:
        level = kind.descend(at, place.level)
        for number, (name, part, field_id) in enumerate(kind.fields):
            note = "" if field_id is None else f"field id {field_id}"
            inner = _Position((*place.path, name), number, level)
            span, whole = self._explain(part, at, end, name, inner, note)
            yield span
            if not whole:
                return
            at = span.end

    def _explain_items(self, kind: ItemsType, at: int, end: int, place: _Position) -> Iterator[Span]:
        place, index = place.deeper(kind.descend(at, place.level)), 0
        while True:
            count, size, middle, start = kind.count(self._data, at, end)
            if count == 0:
                label = "end of the map" if kind.is_map else "end of the array"
                yield Span(at, start, label, 0, "count 0: no more items", number=place.number)
                return
            note = describe_varint(at, middle)
            if size is None:
                yield Span(at, middle, "count", count, note, number=place.number)
            else:
                note += "; negative: their size follows"
                yield Span(at, middle, "count", -count, note, number=place.number)
                yield self._explain_block_size(kind, middle, start, end, count, size, place)
            at = start
            for _ in range(count):
                span, whole = self._explain_item(kind, at, end, place, index)
                yield span
                if not whole:
                    return
                at, index = span.end, index + 1

    def _explain_block_size(
        self, kind: ItemsType, at: int, start: int, end: int, count: int, size: int, place: _Position
    ) -> Span:
        """Explain the size that a negative count announces; readers use it to skip the items, so it must be right."""
        note = describe_varint(at, start)
        span = Span(at, start, "size of the items", size, note, number=place.number)
        stop = start
        try:
            for _ in range(count):
                middle = kind.skip_key(self._data, stop, end)
                stop = kind.items.skip(self._data, middle, end, place.level)
        except Corrupt:
            return span  # the damage is a leaf of the item
        if stop - start == size:
            return span
        seen = f"{size} bytes"
        return damage_span(span, Corrupt("wrong size of items", offset=at, expected=stop - start, seen=seen))

    def _explain_item(
        self, kind: ItemsType, at: int, end: int, place: _Position, index: int
    ) -> tuple[Span, bool]:
        if not kind.is_map:
            note = describe_key(kind, self._data, at, end)
            return self._explain(kind.items, at, end, f"[{index}]", place.inside(index), note)
        key: Any = f"[{index}]"
        stop, whole = end, False
        try:
            key, middle = kind.key.decode(self._data, at, end)
            stop, whole = self._skip(kind.items, middle, end, place)
        except Corrupt:
            pass  # the damage is a leaf of the item
        data, items = self._data, kind.items
        value = Deferred(lambda: items.decode(data, kind.skip_key(data, at, stop), stop, place.level)[0])
        parts = partial(self._explain_entry, kind, at, stop, place)
        return Span(at, stop, str(key), value, items.words, parts, number=place.number), whole

    def _explain_entry(self, kind: ItemsType, at: int, end: int, place: _Position) -> Iterator[Span]:
        size, start = read_long(self._data, at, end, "size")
        key, middle = kind.key.decode(self._data, at, end)
        yield Span(at, start, "key size", size, describe_varint(at, start), number=place.number)
        if start < middle:
            yield Span(start, middle, "key", key, "UTF-8", number=place.number)
        yield from self._parts(kind.items, middle, end, place.inside(str(key)))

    def _explain_sized(self, kind: SizedType, at: int, end: int, place: _Position) -> Iterator[Span]:
        size, start = read_long(self._data, at, end, "size")
        yield Span(at, start, "size", size, describe_varint(at, start), number=place.number)
        stop = kind.skip(self._data, at, end)
        if kind.is_text:
            if start < stop:
                yield self._explain_text(start, stop, place)
            return
        inner = self._explain_inside(start, stop, place)
        if inner is not None:
            yield inner
        elif start < stop:
            yield Span(start, stop, "bytes", bytes(self._data[start:stop]), "", number=place.number)

    def _explain_text(self, start: int, stop: int, place: _Position) -> Span:
        content = bytes(self._data[start:stop])
        try:
            return Span(start, stop, "text", decode_text(content, start), "UTF-8", number=place.number)
        except Corrupt as error:
            return damage_span(Span(start, stop, "text", content, number=place.number), error)

    def _explain_leaf(
        self, kind: AvroType, at: int, end: int, label: str, place: _Position, note: str = ""
    ) -> Span:
        """Explain a value that is one leaf, or a fixed whose content a hook explains. Raises `Corrupt`."""
        value, stop = kind.decode(self._data, at, end)
        if isinstance(kind, FixedType):
            inner = self._explain_inside(at, stop, place)
            if inner is not None:
                return Span(
                    at, stop, label, value, join_notes(kind.words, note), (inner,), number=place.number
                )
        words = join_notes(describe_leaf(kind, self._data, at, stop, value), note)
        return Span(at, stop, label, value, words, number=place.number)

    def _explain_inside(self, start: int, stop: int, place: _Position) -> Span | None:
        """Explain what the hook makes of the content of a bytes or fixed value; a leaf that says why where it fails."""
        if self._nested is None:
            return None
        try:
            explainer = self._nested(place.path, self.value)
            if explainer is None:
                return None
            span = explainer(self._data, start, stop)
            if (span.start, span.end) == (start, stop):
                return span
            reason = f"the explanation covers {span.start} to {span.end}"
        except LakeError as error:
            reason = error.reason
        except Exception as error:  # a hook of another room: its mistakes must not hide the bytes
            reason = f"{type(error).__name__}: {error}"
        content = bytes(self._data[start:stop])
        return Span(start, stop, "bytes", content, f"not explained: {reason}", number=place.number)
