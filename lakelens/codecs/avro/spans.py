"""Avro object container files explained: header, blocks, and the records in them.

    magic "Obj" 01
    header         { count, { size, key, size, value } … } 0       a map of string to bytes
    sync marker    16 bytes
    block 0 …      count of records | size in bytes | records | sync marker

Follows "Object Container Files" of the Avro 1.12 specification. With codec `null` the records are parts of their block; with
another one they are parts of its decompressed content (`Span.unpack`, at most 256 MiB). Every part is made when it is asked
for: a file of many blocks, or a block of many records, is walked no further than it is looked at. What is refused, and how
values are told, is said in `avro_types`, `avro_compiler` and `avro_record_spans`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lakelens.codecs.avro.compiler import compile_text
from lakelens.codecs.avro.container import CODECS, MAGIC, SYNC_SIZE, AvroBlock, decompress_block
from lakelens.codecs.avro.notes import word_varint
from lakelens.codecs.avro.record_spans import (
    Explainer,
    Nested,
    Path,
    RecordSpans,
    explain_avro_record,
)
from lakelens.codecs.avro.types import AvroType, UnionType, decode_text, read_long
from lakelens.codecs.span.reader import damage_span, format_count
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, LakeError, Unsupported

__all__ = ["Explainer", "Nested", "Path", "explain_avro", "explain_avro_record"]

MAX_EMPTY_RECORDS = 1_000_000  # as the decoder has it; here of a whole file
_KEYS = {
    "avro.schema": "schema of the records, JSON",
    "avro.codec": "how the blocks are compressed",
    "schema": "Iceberg: schema of the table when the manifest was written, JSON",
    "schema-id": "Iceberg: id of that schema",
    "partition-spec": "Iceberg: fields of the partition spec, JSON",
    "partition-spec-id": "Iceberg: id of the partition spec",
    "format-version": "Iceberg: version of the table format",
    "content": "Iceberg: what the manifest lists, data or deletes",
    "iceberg.schema": "Iceberg: schema of the records as an Iceberg type, JSON",
    "snapshot-id": "Iceberg: the snapshot of this manifest list",
    "parent-snapshot-id": "Iceberg: the snapshot before it",
    "sequence-number": "Iceberg: sequence number of the snapshot",
    "first-row-id": "Iceberg: first row id that the snapshot assigns",
}


def explain_avro(
    data: Octets, start: int = 0, end: int | None = None, *, nested: Nested | None = None
) -> Span:
    """A whole Avro file; its value is the list of records as `codecs.avro.decode_records` gives them.

    `nested` explains what `bytes` and `fixed` values of the records hold, see `explain_avro_record`. The value of a damaged
    file is what could be read before the damage. Follows "Object Container Files" of the Avro 1.12 specification.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> data = encode_header({"avro.schema": schema}, b"s" * 16) + bytes([4, 4, 2, 1]) + b"s" * 16
    >>> span = explain_avro(data)
    >>> span.value, [child.label for child in span.children]
    ([{'a': 1}, {'a': -1}], ['magic', 'header', 'sync marker', 'block 0'])
    >>> block = span.children[-1]
    >>> [child.label for child in block.children], block.children[2].children[1].children
    (['count', 'size', 'records', 'sync marker'], (<Span ... a = -1>,))
    """
    file = _AvroFile(data, start, len(data) if end is None else end, nested)
    note = "Avro object container file"
    return Span(start, file.end, "Avro file", Deferred(file.decode), note, file.parts, origin=start)


@dataclass(slots=True)
class _Header:
    """What the header says: where it ends, its entries, and what is wrong with the schema."""

    end: int = 0
    entries: dict[str, bytes] = field(default_factory=dict)
    kind: AvroType | None = None
    error: LakeError | None = None
    sync: bytes = b""

    @property
    def codec(self) -> str:
        return self.entries.get("avro.codec", b"null").decode("utf-8", "replace") or "null"


class _AvroFile:
    """One file: `data[start:end]`."""

    def __init__(self, data: Octets, start: int, end: int, nested: Nested | None) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.nested = nested

    def parts(self) -> Iterator[Span]:
        """Magic, header, sync marker, blocks. Raises `Corrupt` where it cannot go on."""
        at = self.check_magic()
        yield Span(self.start, at, "magic", MAGIC, "Obj, version 1")
        header = _Header()
        try:
            self.read_header(header)
        except Corrupt:
            yield Span(at, self.end, "header", None, "a map of string to bytes", self.explain_header)
            return
        entries = dict(header.entries)
        note = f"a map of string to bytes: {format_count(len(entries), 'key')}"
        yield Span(at, header.end, "header", entries, note, self.explain_header)
        at = header.end
        self.check_sync_room(at)
        yield Span(at, at + SYNC_SIZE, "sync marker", header.sync, "random, the same after every block")
        if header.kind is None and header.error is None:
            raise Corrupt("Avro header without a schema", offset=self.start + 4, expected="key avro.schema")
        first, number, at = 0, 0, at + SYNC_SIZE
        while at < self.end:
            block = self.try_block(at)
            stop = self.end if block is None else block.end
            records = Deferred(partial(self.decode_block, block, header)) if block is not None else None
            parts = partial(self.explain_block, at, header, first)
            note = "" if block is None else f"{format_count(block.count, 'record')}, {header.codec}"
            yield Span(at, stop, f"block {number}", records, note, parts)
            first, number, at = first + (block.count if block else 0), number + 1, stop

    def check_magic(self) -> int:
        """The byte after the magic. Raises `Corrupt`."""
        seen = bytes(self.data[self.start : min(self.start + 4, self.end)])
        if seen != MAGIC:
            what = "not an Avro file" if seen else "empty file, not an Avro file"
            raise Corrupt(what, offset=self.start, expected="magic Obj\\x01", seen=repr(seen))
        return self.start + 4

    def check_sync_room(self, at: int) -> None:
        """Raises `Corrupt` when the header's sync marker is cut short."""
        if at + SYNC_SIZE > self.end:
            raise Corrupt("Avro header cut short", offset=at, expected="a sync marker of 16 bytes")

    def read_header(self, header: _Header) -> None:
        """Fill `header`. Raises `Corrupt` when its map is damaged, not when its schema is."""
        for span, key, value in self.walk_header():
            header.end = span.end
            if key is not None:
                header.entries[key] = value
        header.sync = bytes(self.data[header.end : min(header.end + SYNC_SIZE, self.end)])
        if "avro.schema" in header.entries:
            try:
                header.kind = compile_text(header.entries["avro.schema"])
            except LakeError as error:
                header.error = error

    def explain_header(self) -> Iterator[Span]:
        """The map's parts."""
        return (span for span, _, _ in self.walk_header())

    def walk_header(self) -> Iterator[tuple[Span, str | None, bytes]]:
        """Each part of the header's map, with key and value where it is an entry. Raises `Corrupt`."""
        at = self.start + 4
        while True:
            count, stop = read_long(self.data, at, self.end, "count of keys")
            if count == 0:
                yield Span(at, stop, "end of the map", 0, "count 0: no more keys"), None, b""
                return
            yield Span(at, stop, "count", count, word_varint(at, stop)), None, b""
            if count < 0:
                at = stop
                size, stop = read_long(self.data, at, self.end, "size of the keys")
                yield Span(at, stop, "size of the keys", size, word_varint(at, stop)), None, b""
            if abs(count) > self.end - stop:
                raise Corrupt("Avro header cut short", offset=at, seen=f"{abs(count)} keys")
            at = stop
            for _ in range(abs(count)):
                span, key, value = self.explain_entry(at)
                yield span, key, value
                at = span.end

    def explain_entry(self, at: int) -> tuple[Span, str, bytes]:
        """One key and its value. Raises `Corrupt`."""
        key_size, raw_key, middle = self.explain_sized(at, "key size", "key")
        value_size, raw_value, stop = self.explain_sized(middle, "value size", "value")
        content = raw_key.value.encode() if isinstance(raw_key.value, str) else raw_key.value
        key = decode_text(content, raw_key.start)
        value = bytes(self.data[raw_value.start : raw_value.end])
        note = _KEYS.get(key, "a key of the writer's own")
        if key == "avro.schema":
            raw_value = _tell_schema(raw_value, value)
        parts = tuple(span for span in (key_size, raw_key, value_size, raw_value) if len(span))
        return Span(at, stop, key, raw_value.value, note, parts), key, value

    def explain_sized(self, at: int, size_label: str, label: str) -> tuple[Span, Span, int]:
        """A size and the bytes after it, as text where they are UTF-8. Raises `Corrupt`."""
        size, start = read_long(self.data, at, self.end, "size")
        if not 0 <= size <= self.end - start:
            expected = f"at most {self.end - start} bytes"
            raise Corrupt("Avro header cut short", offset=at, expected=expected, seen=f"{size} bytes")
        content = bytes(self.data[start : start + size])
        try:
            value: str | bytes = content.decode()
            note = f"UTF-8: {format_count(size, 'byte')}"
        except UnicodeDecodeError:
            value, note = content, format_count(size, "byte")
        head = Span(at, start, size_label, size, word_varint(at, start))
        return head, Span(start, start + size, label, value, note), start + size

    def try_block(self, at: int) -> AvroBlock | None:
        """Where a block lies; None when its frame is damaged."""
        try:
            return self.read_block(at)
        except Corrupt:
            return None

    def read_block(self, at: int) -> AvroBlock:
        """Where the block at `at` lies. Raises `Corrupt` when it is cut short; its sync marker is not looked at."""
        count, middle = read_long(self.data, at, self.end, "count of records")
        size, start = read_long(self.data, middle, self.end, "size of the block")
        if count < 0:
            raise Corrupt("negative count of records", offset=at, expected="0 or more", seen=count)
        left = self.end - start - SYNC_SIZE
        if not 0 <= size <= left:
            expected = f"at most {left} bytes"
            raise Corrupt("Avro block cut short", offset=middle, expected=expected, seen=f"{size} bytes")
        return AvroBlock(at, count, start, size)

    def explain_block(self, at: int, header: _Header, first: int) -> Iterator[Span]:
        """Count, size, records and sync marker. Raises `Corrupt` where the frame is damaged."""
        count, middle = read_long(self.data, at, self.end, "count of records")
        yield Span(at, middle, "count", count, f"{word_varint(at, middle)}; records")
        size, start = read_long(self.data, middle, self.end, "size of the block")
        yield Span(middle, start, "size", size, f"{word_varint(middle, start)}; bytes as stored")
        block = self.read_block(at)
        stop = start + size
        yield self.explain_payload(block, header, first)
        marker = bytes(self.data[stop : stop + SYNC_SIZE])
        span = Span(stop, stop + SYNC_SIZE, "sync marker", marker, "the same as in the header")
        if marker != header.sync:
            expected, seen = header.sync.hex(), marker.hex()
            wrong = Span(stop, stop + SYNC_SIZE, "sync marker", marker)
            span = damage_span(wrong, Corrupt("wrong sync marker", offset=stop, expected=expected, seen=seen))
        yield span

    def explain_payload(self, block: AvroBlock, header: _Header, first: int) -> Span:
        """The records: in place, or as compressed bytes that can be unpacked."""
        stop, size = block.start + block.size, format_count(block.size, "byte")
        if header.kind is None:
            note = f"{size}, not explained: the schema cannot be read"
            return Span(block.start, stop, "records", None, note, role="unexplained", error=header.error)
        if header.codec not in CODECS:
            error = Unsupported(
                f"Avro codec {header.codec!r} is not read", hint=f"one of {', '.join(CODECS)}"
            )
            note = f"{size}, {error.reason}"
            return Span(block.start, stop, "records", None, note, role="unexplained", error=error)
        if header.codec == "null":
            records = _Records(self.data, block.start, stop, header.kind, block.count, first, self.nested)
            return records.explain()
        note = f"{format_count(block.count, 'record')}, {size} of {header.codec}"
        unpack = partial(self.unpack, block, header, first)
        return Span(block.start, stop, "records", None, note, unpacked=unpack)

    def unpack(self, block: AvroBlock, header: _Header, first: int) -> tuple[bytes, Span]:
        """The decompressed content and its tree. Raises `Corrupt`."""
        assert header.kind is not None
        content = decompress_block(self.data, block, header.codec)  # type: ignore[arg-type]
        records = _Records(content, 0, len(content), header.kind, block.count, first, self.nested)
        return content, records.explain()

    def decode(self) -> list[Any]:
        """All records before any damage. Raises `LakeError` when the header is damaged."""
        self.check_magic()
        header, records = _Header(), list[Any]()
        self.read_header(header)
        self.check_sync_room(header.end)
        at = header.end + SYNC_SIZE
        while at < self.end and (block := self.try_block(at)) is not None:
            try:
                records.extend(self.iter_block(block, header, MAX_EMPTY_RECORDS - len(records)))
            except LakeError:
                break
            at = block.end
        return records

    def decode_block(self, block: AvroBlock, header: _Header) -> list[Any]:
        """The records of one block. Raises `LakeError`."""
        return list(self.iter_block(block, header, MAX_EMPTY_RECORDS))

    def iter_block(self, block: AvroBlock, header: _Header, empty: int) -> Iterator[Any]:
        """The records of one block, no more than `empty` when they take no bytes. Raises `LakeError`."""
        if header.kind is None:
            raise header.error or Corrupt("Avro header without a schema", offset=self.start + 4)
        content, start = self.data, block.start
        if header.codec != "null":
            content, start = decompress_block(self.data, block, header.codec), 0  # type: ignore[arg-type]
        end = start + block.size if content is self.data else len(content)
        records = _Records(content, start, end, header.kind, block.count, 0, None)
        records.check_count(empty)
        return records.decode()


class _Records:
    """`count` records end to end in `data[start:end]`, the first of them number `first` of the file."""

    def __init__(
        self,
        data: Octets,
        start: int,
        end: int,
        kind: AvroType,
        count: int,
        first: int,
        nested: Nested | None,
    ) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.kind = kind
        self.count = count
        self.first = first
        self.nested = nested

    def explain(self) -> Span:
        """One span over all, without a value of its own: the block has it."""
        note = f"{format_count(self.count, 'record')}, {format_count(self.end - self.start, 'byte')}"
        return Span(self.start, self.end, "records", None, note, self.parts)

    def check_count(self, empty: int = MAX_EMPTY_RECORDS) -> None:
        """Raises `Corrupt` for more records than the bytes can hold."""
        least = self.kind.size if self.kind.size is not None else 1
        limit = (self.end - self.start) // least if least else empty
        if self.count > limit:
            expected = f"at most {limit} records in {self.end - self.start} bytes"
            raise Corrupt("absurd count of records", offset=self.start, expected=expected, seen=self.count)

    def check_rest(self, at: int) -> None:
        """Raises `Corrupt` when bytes are left."""
        if at < self.end:
            seen = f"{self.end - at} bytes"
            raise Corrupt("bytes left after the records of a block", offset=at, seen=seen)

    def decode(self) -> Iterator[Any]:
        """The records. Raises `Corrupt` at the first that is damaged."""
        at = self.start
        for _ in range(self.count):
            self.check_not_null(at)
            record, at = self.kind.decode(self.data, at, self.end)
            yield record
        self.check_rest(at)

    def check_not_null(self, at: int) -> None:
        """Raises `Corrupt` for a null where a record must be: Paimon up to 0.8 wrote a union of null and record."""
        if isinstance(self.kind, UnionType):
            index, _ = self.kind.choose(self.data, at, self.end)
            if self.kind.branches[index].name == "null":
                raise Corrupt("null where a record must be", offset=at)

    def parts(self) -> Iterator[Span]:
        """One span for each record; one for all when they take no byte. Raises `Corrupt`."""
        self.check_count()
        at = self.start
        if self.kind.size == 0 and self.count:
            note = f"{format_count(self.count, 'record')} without a byte"
            yield Span(at, at, "records", Deferred(lambda: list(self.decode())), note)
            self.check_rest(at)
            return
        for number in range(self.first, self.first + self.count):
            self.check_not_null(at)
            try:
                stop, whole = self.kind.skip(self.data, at, self.end), True
            except Corrupt:
                stop, whole = self.end, False
            yield self.explain_record(number, at, stop)
            if not whole:
                return
            at = stop
        self.check_rest(at)

    def explain_record(self, number: int, at: int, stop: int) -> Span:
        """One record."""
        data, kind, nested = self.data, self.kind, self.nested
        value = Deferred(lambda: kind.decode(data, at, stop)[0])
        size = format_count(stop - at, "byte")
        return Span(
            at,
            stop,
            f"record {number}",
            value,
            size,
            lambda: RecordSpans(data, at, stop, kind, nested).parts(),
        )


def _tell_schema(span: Span, text: bytes) -> Span:
    """The leaf of the schema, with what is wrong about it."""
    try:
        compile_text(text)
    except Corrupt as error:
        error.offset = span.start
        return damage_span(span, error)
    except LakeError as error:
        note = f"{span.note}; {error.reason}"
        return Span(span.start, span.end, span.label, span.value, note, error=error)
    return span
