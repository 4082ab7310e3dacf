"""Avro object container files explained: header, blocks, and the records in them.

    magic "Obj" 01
    header         { count, { size, key, size, value } … } 0       a map of string to bytes
    sync marker    16 bytes
    block 0 …      count of records | size in bytes | records | sync marker

Follows "Object Container Files" of the Avro 1.12 specification. With codec `null` the records are parts of their block; with
another one they are parts of its decompressed content (`Span.unpack`, at most 256 MiB). Every part is made when it is asked
for: a file of many blocks, or a block of many records, is walked no further than it is looked at. What is refused is in
`avro.types` and `avro.schema`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lakelens.codecs.avro.container import (
    CODECS,
    MAGIC,
    SYNC_SIZE,
    AvroBlock,
    HeaderPart,
    check_magic,
    decompress_block,
    read_block,
    read_codec,
    read_sync_marker,
    walk_header,
)
from lakelens.codecs.avro.record_spans import (
    Explainer,
    Nested,
    Path,
    RecordSpans,
    describe_varint,
    explain_avro_record,
)
from lakelens.codecs.avro.records import MAX_EMPTY_RECORDS, check_count
from lakelens.codecs.avro.schema import AvroSchema, parse_schema
from lakelens.codecs.avro.types import UnionType, decode_text, read_long
from lakelens.codecs.span.reader import damage_span, format_count
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, LakeError, Unsupported

__all__ = ["Explainer", "Nested", "Path", "explain_avro", "explain_avro_record"]

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
    """Explain a whole Avro file; its value is the list of records as `avro.records.decode_records` gives them.

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
    """What the header says: where it ends, its entries, the schema, and what is wrong with it."""

    end: int = 0
    entries: dict[str, bytes] = field(default_factory=dict)
    schema: AvroSchema | None = None
    error: LakeError | None = None

    @property
    def codec(self) -> str:
        return read_codec(self.entries)


class _AvroFile:
    """One file: `data[start:end]`."""

    def __init__(self, data: Octets, start: int, end: int, nested: Nested | None) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.nested = nested
        self.sizes: dict[int, int] = {}  # of the blocks that were decompressed, by where they begin

    def parts(self) -> Iterator[Span]:
        """Magic, header, sync marker, blocks. Raises `Corrupt` where it cannot go on."""
        check_magic(self.data, self.start, self.end)
        at = self.start + len(MAGIC)
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
        sync_marker = read_sync_marker(self.data, at, self.end)
        yield Span(at, at + SYNC_SIZE, "sync marker", sync_marker, "random, the same after every block")
        if header.schema is None and header.error is None:
            raise Corrupt("Avro header without a schema", offset=self.start + 4, expected="key avro.schema")
        first, number, at = 0, 0, at + SYNC_SIZE
        while at < self.end:
            block = self.try_block(at)
            stop = self.end if block is None else block.end
            records = Deferred(partial(self.decode_block, block, header)) if block is not None else None
            parts = partial(self.explain_block, at, header, sync_marker, first)
            note = "" if block is None else f"{format_count(block.count, 'record')}, {header.codec}"
            yield Span(at, stop, f"block {number}", records, note, parts)
            first, number, at = first + (block.count if block else 0), number + 1, stop

    def read_header(self, header: _Header) -> None:
        """Fills `header`. Raises `Corrupt` when its map is damaged, not when its schema is."""
        for part in walk_header(self.data, self.start + len(MAGIC), self.end):
            header.end = part.end
            if part.label == "entry":
                key = decode_text(bytes(self.data[part.key : part.value_size]), part.key)
                header.entries[key] = bytes(self.data[part.value : part.end])
        if "avro.schema" in header.entries:
            try:
                header.schema = parse_schema(header.entries["avro.schema"])
            except LakeError as error:
                header.error = error

    def explain_header(self) -> Iterator[Span]:
        """Explain the parts of the header's map. Raises `Corrupt`."""
        for part in walk_header(self.data, self.start + len(MAGIC), self.end):
            if part.label == "entry":
                yield self.explain_entry(part)
            elif part.label == "end":
                yield Span(part.start, part.end, "end of the map", 0, "count 0: no more keys")
            else:
                label = "count" if part.label == "count" else "size of the keys"
                yield Span(part.start, part.end, label, part.number, describe_varint(part.start, part.end))

    def explain_entry(self, part: HeaderPart) -> Span:
        """Explain one key and its value. Raises `Corrupt` for a key that is not UTF-8."""
        key = decode_text(bytes(self.data[part.key : part.value_size]), part.key)
        value = self.explain_text(part.value, part.end, "value")
        if key == "avro.schema":
            value = _check_schema(value, bytes(self.data[part.value : part.end]))
        spans = (
            self.explain_size(part.start, part.key, "key size"),
            self.explain_text(part.key, part.value_size, "key"),
            self.explain_size(part.value_size, part.value, "value size"),
            value,
        )
        note = _KEYS.get(key, "a key of the writer's own")
        return Span(part.start, part.end, key, value.value, note, tuple(span for span in spans if len(span)))

    def explain_size(self, start: int, end: int, label: str) -> Span:
        return Span(start, end, label, read_long(self.data, start, end)[0], describe_varint(start, end))

    def explain_text(self, start: int, end: int, label: str) -> Span:
        """Bytes, as text where they are UTF-8."""
        content, size = bytes(self.data[start:end]), format_count(end - start, "byte")
        try:
            return Span(start, end, label, content.decode(), f"UTF-8: {size}")
        except UnicodeDecodeError:
            return Span(start, end, label, content, size)

    def try_block(self, at: int) -> AvroBlock | None:
        """The block at a byte; None when its frame is damaged."""
        try:
            return read_block(self.data, at, self.end)
        except Corrupt:
            return None

    def explain_block(self, at: int, header: _Header, sync_marker: bytes, first: int) -> Iterator[Span]:
        """Count, size, records and sync marker. Raises `Corrupt` where the frame is damaged."""
        count, middle = read_long(self.data, at, self.end, "count of records")
        yield Span(at, middle, "count", count, f"{describe_varint(at, middle)}; records")
        size, start = read_long(self.data, middle, self.end, "size of the block")
        yield Span(middle, start, "size", size, f"{describe_varint(middle, start)}; bytes as stored")
        block = read_block(self.data, at, self.end)
        stop = start + size
        yield self.explain_payload(block, header, first)
        marker = bytes(self.data[stop : block.end])
        span = Span(stop, block.end, "sync marker", marker, "the same as in the header")
        if marker != sync_marker:
            expected, seen = sync_marker.hex(), marker.hex()
            span.note = ""
            span = damage_span(span, Corrupt("wrong sync marker", offset=stop, expected=expected, seen=seen))
        yield span

    def explain_payload(self, block: AvroBlock, header: _Header, first: int) -> Span:
        """Explain the records: in place, or as compressed bytes that can be unpacked."""
        stop, size = block.start + block.size, format_count(block.size, "byte")
        if header.schema is None:
            note = f"{size}, not explained: the schema cannot be read"
            return Span(block.start, stop, "records", None, note, role="unexplained", error=header.error)
        if header.codec not in CODECS:
            error = Unsupported(
                f"Avro codec {header.codec!r} is not read", hint=f"one of {', '.join(CODECS)}"
            )
            note = f"{size}, {error.reason}"
            return Span(block.start, stop, "records", None, note, role="unexplained", error=error)
        if header.codec == "null":
            return _Records(self.data, block.start, stop, header.schema, block, first, self.nested).explain()
        note = f"{format_count(block.count, 'record')}, {size} of {header.codec}"
        unpack = partial(self.unpack, block, header, first)
        return Span(block.start, stop, "records", None, note, unpacked=unpack)

    def unpack(self, block: AvroBlock, header: _Header, first: int) -> tuple[bytes, Span]:
        """Unpack the decompressed content and its tree. Raises `Corrupt`."""
        assert header.schema is not None
        content = self.decompress(block, header)
        return content, _Records(content, 0, len(content), header.schema, block, first, self.nested).explain()

    def decompress(self, block: AvroBlock, header: _Header) -> bytes:
        """Decompress the content of a block, within what all blocks of the file may become. Raises `LakeError`."""
        spent = sum(self.sizes.values()) - self.sizes.get(block.start, 0)
        content = decompress_block(self.data, block, header.codec, spent=spent)
        self.sizes[block.start] = len(content)
        return content

    def decode(self) -> list[Any]:
        """Decode all records before any damage. Raises `LakeError` when the header is damaged."""
        check_magic(self.data, self.start, self.end)
        header, records = _Header(), list[Any]()
        self.read_header(header)
        read_sync_marker(self.data, header.end, self.end)
        at = header.end + SYNC_SIZE
        while at < self.end and (block := self.try_block(at)) is not None:
            try:
                records.extend(self.iter_block(block, header, MAX_EMPTY_RECORDS - len(records)))
            except LakeError:
                break
            at = block.end
        return records

    def decode_block(self, block: AvroBlock, header: _Header) -> list[Any]:
        """Decode the records of one block. Raises `LakeError`."""
        return list(self.iter_block(block, header, MAX_EMPTY_RECORDS))

    def iter_block(self, block: AvroBlock, header: _Header, empty: int) -> Iterator[Any]:
        """The records of one block, no more than `empty` when they take no bytes. Raises `LakeError`."""
        if header.schema is None:
            raise header.error or Corrupt("Avro header without a schema", offset=self.start + 4)
        records = _Records(self.data, block.start, block.start + block.size, header.schema, block, 0, None)
        if header.codec != "null":
            content = self.decompress(block, header)
            records = _Records(content, 0, len(content), header.schema, block, 0, None)
        records.check_count(empty)
        return records.decode()


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of a block end to end in `data[start:end]`, the first of them number `first` of the file."""

    data: Octets
    start: int
    end: int
    schema: AvroSchema
    block: AvroBlock
    first: int
    nested: Nested | None

    def explain(self) -> Span:
        """Explain one span over all, without a value of its own: the block has it."""
        note = f"{format_count(self.block.count, 'record')}, {format_count(self.end - self.start, 'byte')}"
        return Span(self.start, self.end, "records", None, note, self.parts)

    def check_count(self, empty: int = MAX_EMPTY_RECORDS) -> None:
        """Raises `Corrupt` for more records than the bytes can hold."""
        check_count(
            replace(self.block, offset=self.start), self.schema.smallest, self.end - self.start, empty=empty
        )

    def check_rest(self, at: int) -> None:
        """Raises `Corrupt` when bytes are left."""
        if at < self.end:
            seen = f"{self.end - at} bytes"
            raise Corrupt("bytes left after the records of a block", offset=at, seen=seen)

    def decode(self) -> Iterator[Any]:
        """Decode the records. Raises `Corrupt` at the first that is damaged."""
        at = self.start
        for _ in range(self.block.count):
            self.check_not_null(at)
            record, at = self.schema.kind.decode(self.data, at, self.end)
            yield record
        self.check_rest(at)

    def check_not_null(self, at: int) -> None:
        """Raises `Corrupt` for a null where a record must be: Paimon up to 0.8 wrote a union of null and record."""
        kind = self.schema.kind
        if isinstance(kind, UnionType):
            index, _ = kind.choose(self.data, at, self.end)
            if kind.branches[index].name == "null":
                raise Corrupt("null where a record must be", offset=at)

    def parts(self) -> Iterator[Span]:
        """One span for each record; one for all when they take no byte. Raises `Corrupt`."""
        self.check_count()
        at, kind, count = self.start, self.schema.kind, self.block.count
        if kind.size == 0 and count:
            note = f"{format_count(count, 'record')} without a byte"
            yield Span(at, at, "records", Deferred(lambda: list(self.decode())), note)
            self.check_rest(at)
            return
        for number in range(self.first, self.first + count):
            self.check_not_null(at)
            try:
                stop, whole = kind.skip(self.data, at, self.end), True
            except Corrupt:
                stop, whole = self.end, False
            yield self.explain_record(number, at, stop)
            if not whole:
                return
            at = stop
        self.check_rest(at)

    def explain_record(self, number: int, at: int, stop: int) -> Span:
        """Explain one record."""
        kind = self.schema.kind
        value = Deferred(lambda: kind.decode(self.data, at, stop)[0])
        spans = RecordSpans(self.data, at, stop, kind, self.nested)
        return Span(at, stop, f"record {number}", value, format_count(stop - at, "byte"), spans.parts)


def _check_schema(span: Span, text: bytes) -> Span:
    """Check the leaf of the schema, with what is wrong with it."""
    try:
        parse_schema(text)
    except Corrupt as error:
        error.offset = span.start
        return damage_span(span, error)
    except LakeError as error:
        note = f"{span.note}; {error.reason}"
        return Span(span.start, span.end, span.label, span.value, note, error=error)
    return span
