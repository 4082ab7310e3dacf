"""Paimon's file index: the container of a `.index` file or of `_EMBEDDED_FILE_INDEX`, with a name for every byte.

    head   magic i64 | version i32 (1) | head length i32 | column count i32
           per column: name | index count i32 | per index: type name | start i32 | length i32
           redundant length i32 | that many bytes
    body   the indexes, see `lakelens.codecs.paimon.index.file_index_bodies`

Everything is big-endian; names are Java `writeUTF` (u16 length, modified UTF-8); `start` counts from byte 0 of the
container, -1 is an empty index. Follows Paimon's "File Index" specification. Damage: another magic, counts and lengths that
do not fit, an index outside the container, another version.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from lakelens.codecs.paimon.index.file_index_bodies import explain_index_body
from lakelens.codecs.paimon.index.keys import explain_name
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import (
    FixedField,
    SpanReader,
    collect,
    damage_span_if,
    explain_apart,
    explain_items,
    find_places,
)
from lakelens.codecs.span.span import Deferred, Octets, Span

MAGIC = 1493475289347502
EMPTY = -1
_VERSION = FixedField(">i", "version", known=(1,), unread="version {} of Paimon's file index")
_SMALLEST_COLUMN = 6
_SMALLEST_INDEX = 10
# the facts in the first leaves of an index, by their labels
_FACTS = {
    "version": "version",
    "row count": "rows",
    "distinct values": "distinct_values",
    "has null": "has_null",
    "has positive": "has_positive",
    "number of hash functions": "hash_functions",
}


@dataclass(frozen=True, slots=True)
class Index:
    """One index of one column. `start` is its byte in the container (None when `empty`), `length` its size in bytes.

    `facts` are those in the head of the index, by name; empty for unknown types.
    """

    type: str
    start: int | None
    length: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True when the writer had nothing to index."""
        return self.start is None


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """One column and its indexes in file order."""

    name: str
    indexes: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class FileIndex:
    """A file index: `head_length` bytes of head, then the indexes."""

    version: int
    head_length: int
    columns: tuple[IndexedColumn, ...]


class _Entry(NamedTuple):
    """An index as the head describes it: its column and the leaves of its type, its start and its length."""

    column: str
    kind: Span
    start: Span
    length: Span


def explain_file_index(
    data: Octets, start: int = 0, end: int | None = None, *, types: Mapping[str, TypeLike] | None = None
) -> Span:
    """A file-index container: a `.index` file or `_EMBEDDED_FILE_INDEX`. Its value is a `FileIndex`, its damage raised.

    `types` gives the Paimon type of each column: without it the values in bitmap indexes cannot be separated. Follows
    "File Index" of Paimon's specification.

    >>> head = (1493475289347502).to_bytes(8, "big") + bytes.fromhex("00000001 00000018 00000000 00000000")
    >>> span = explain_file_index(head)
    >>> [leaf.label for leaf in span.leaves()]
    ['magic', 'version', 'head length', 'column count', 'redundant length']
    >>> span.value
    FileIndex(version=1, head_length=24, columns=())
    """
    return _Container(data, start, len(data) if end is None else end, types or {}).explain()


class _Container:
    """The place of a file index, and what explains its parts."""

    def __init__(self, data: Octets, start: int, end: int, types: Mapping[str, TypeLike]) -> None:
        self.data, self.start, self.end, self.types = data, start, end, types

    def explain(self) -> Span:
        note = "indexes of the columns of one data file"
        value = Deferred(self.decode)
        return Span(self.start, self.end, "file index", value, note, self.explain_parts, origin=self.start)

    def explain_parts(self) -> Iterator[Span]:
        reader = self.read(self.start, self.end)
        fixed = list(_read_fixed_head(reader))
        if any(leaf.error for leaf in fixed):
            yield Span(self.start, reader.at, "head", None, "", fixed)
            yield reader.rest("columns and indexes", "of an unknown layout")
            return
        stop = self.start + fixed[2].value
        head = partial(self.explain_head, stop)
        yield Span(self.start, stop, "head", None, "the columns, and where their indexes are", head)
        if stop < self.end:
            yield Span(stop, self.end, "body", None, "the indexes", partial(self.explain_body, stop))

    def read(self, start: int, end: int) -> SpanReader:
        return SpanReader(self.data, start, end, "a file index")

    def explain_head(self, stop: int) -> Iterator[Span]:
        reader = self.read(self.start, stop)
        yield from _read_fixed_head(reader)
        count = reader.count(">i", "column count", "columns", _SMALLEST_COLUMN)
        yield count
        if count.error is not None:
            yield reader.rest("columns", "more than their bytes can be")
            return
        column = partial(self.explain_column, stop)
        if (yield from _explain_list(reader, count.value, "columns", _skip_column, column)):
            return
        redundant = reader.count(">i", "redundant length", "redundant bytes", 1)
        yield redundant
        if redundant.error is None and redundant.value:
            yield reader.leaf(redundant.value, "redundant bytes", role="unexplained")
        if reader.left:
            yield reader.rest("unused", "head bytes after the redundant ones")

    def explain_column(self, stop: int, reader: SpanReader, number: int) -> Span:
        begin, after = reader.at, reader.end
        name = [leaf.value for leaf in collect(explain_name(reader, "column name"))[0]][1:]

        def make() -> Iterator[Span]:
            inner = self.read(begin, after)
            yield from explain_name(inner, "column name")
            count = inner.count(">i", "index count", "indexes", _SMALLEST_INDEX)
            yield count
            if count.error is None:
                index = partial(self.explain_index, stop, number)
                yield from _explain_list(inner, count.value, "indexes", _skip_index, index)

        return Span(begin, after, "column", name[0] if name else None, "", make, number=number)

    def explain_index(self, stop: int, number: int, reader: SpanReader, _: int) -> Span:
        begin, after = reader.at, reader.end

        def make() -> Iterator[Span]:
            inner = self.read(begin, after)
            kind = ""
            for leaf in explain_name(inner, "index type"):
                kind = leaf.value
                yield leaf
            place = inner.number(">i", "start", describe=_describe_start, number=number)
            length = inner.number(">i", "length", "bytes", number=number)
            head, size = stop - self.start, self.end - self.start
            outside = place.value < head or length.value < 0 or place.value + length.value > size
            message, expected = f"a {kind} index outside the container", f"bytes {head} to {size}"
            seen = f"{place.value} + {length.value}"
            yield damage_span_if(
                outside and place.value != EMPTY, place, message, expected=expected, seen=seen
            )
            yield length

        note = "its type, and where it is in the body"
        return Span(begin, after, "index", None, note, make, number=number)

    def explain_body(self, stop: int) -> Iterator[Span]:
        head = Span(self.start, stop, "head", children=partial(self.explain_head, stop))
        entries = [entry for _, indexes in _list_columns(head) for entry in indexes]

        def place(entry: _Entry) -> tuple[int, int]:
            begin = self.start + entry.start.value
            return begin, begin + entry.length.value

        return explain_apart(
            (entry for entry in entries if entry.start.error is None and entry.start.value != EMPTY),
            place,
            lambda entry: self.explain_body_of(entry, *place(entry)),
            stop,
            self.end,
            "indexes",
            "no index of the head is here",
            lambda entry: f"the {entry.kind.value} index of {entry.column}",
        )

    def explain_body_of(self, entry: _Entry, start: int, end: int) -> Span:
        type_ = self.types.get(entry.column)
        number = entry.start.number or 0
        return explain_index_body(self.data, start, end, entry.kind.value, entry.column, type_, number)

    def decode(self) -> FileIndex:
        """Decode the columns and indexes of the head. Raises the first damage in it."""
        head = next(iter(self.explain().children))
        head.check()
        leaves = {leaf.label: leaf.value for leaf in islice(head.leaves(), 3)}
        columns = [
            IndexedColumn(name, tuple(map(self.decode_index, indexes)))
            for name, indexes in _list_columns(head)
        ]
        return FileIndex(leaves["version"], leaves["head length"], tuple(columns))

    def decode_index(self, entry: _Entry) -> Index:
        start, length = entry.start.value, entry.length.value
        if start == EMPTY:
            return Index(entry.kind.value, None, max(0, length))
        body = self.explain_body_of(entry, self.start + start, self.start + start + length)
        facts: dict[str, Any] = {}
        for leaf in islice(body.leaves(), 4):
            if leaf.label in _FACTS and leaf.error is None:
                facts.setdefault(_FACTS[leaf.label], leaf.value)
        if "hash_functions" in facts:
            facts["bits"] = (length - 4) * 8
        return Index(entry.kind.value, start, length, facts)


def _read_fixed_head(reader: SpanReader) -> Iterator[Span]:
    """Read the leaves before the columns; what does not fit holds an error."""
    start = reader.at
    magic = reader.number(">q", "magic")
    yield damage_span_if(magic.value != MAGIC, magic, "not a Paimon file index", expected=f"magic {MAGIC}")
    yield _VERSION.read(reader)
    length = reader.number(">i", "head length", "bytes up to the body")
    fits = reader.at - start < length.value <= reader.end - start
    message = "a head length that does not fit"
    yield damage_span_if(not fits, length, message, expected=f"up to {reader.end - start}")


def _describe_start(start: int) -> str:
    return "an empty index" if start == EMPTY else ""


def _explain_list(
    reader: SpanReader,
    count: int,
    label: str,
    skip: Callable[[SpanReader], None],
    make: Callable[[SpanReader, int], Span],
) -> Generator[Span, None, bool]:
    """The items of a list; the first that does not fit reaches to the end, and shows its damage. Says whether one did."""
    places, failure = collect(find_places(reader, count, skip))
    if failure is not None:
        places.append(reader.end)
    yield from explain_items(reader, places, label, make)
    return failure is not None


def _skip_column(reader: SpanReader) -> None:
    _skip_name(reader, "a column's name")
    count = reader.count(">i", "index count", "indexes", _SMALLEST_INDEX)
    if count.error is not None:
        raise count.error
    for _ in range(count.value):
        _skip_index(reader)


def _skip_index(reader: SpanReader) -> None:
    _skip_name(reader, "an index's type")
    reader.take(8, "an index's start and length")


def _skip_name(reader: SpanReader, part: str) -> None:
    reader.take(int.from_bytes(reader.octets(2, part), "big"), part)


def _list_columns(head: Span) -> list[tuple[str, list[_Entry]]]:
    """List the columns and their indexes, as far as the head is not damaged."""
    columns: list[tuple[str, list[_Entry]]] = []
    kind = start = head
    for leaf in head.leaves():
        match leaf.label:
            case "column name":
                columns.append((leaf.value, []))
            case "index type":
                kind = leaf
            case "start":
                start = leaf
            case "length":
                name, indexes = columns[-1]
                indexes.append(_Entry(name, kind, start, leaf))
    return columns
