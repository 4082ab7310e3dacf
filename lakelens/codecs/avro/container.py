"""Avro object container files: the header and the blocks, with the byte ranges of both, and their plain facts."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import field
from typing import Any, NamedTuple

from lakelens.codecs.avro.schema import AvroSchema, find_record, parse_schema
from lakelens.codecs.avro.types import decode_text, read_long
from lakelens.codecs.compression import MAX_CONTENT, Limit, allow_growth, decompress, take_budget
from lakelens.codecs.span.reader import in_file
from lakelens.codecs.span.span import Octets
from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

MAGIC = b"Obj\x01"
# manifests compress three to twenty times; a block of many equal records more, but it is small
_RATIO = 64
_SMALLEST = 4  # bytes of a record, compressed: a name that no other has takes more
_FEW = 4096  # bytes of the budget for a file that allow a record, however few are stored
SYNC_SIZE = 16
MAX_KEYS = 10_000  # of a header: writers have about ten
#: Avro's names of codecs and ours; snappy is followed by a CRC-32 of the content.
CODECS = {
    "null": "",
    "deflate": "deflate",
    "snappy": "snappy",
    "zstandard": "zstd",
    "bzip2": "bzip2",
    "xz": "xz",
}


@dataclass(frozen=True, slots=True)
class AvroHeader:
    """What the head of an Avro file says: the schema, all `metadata` as stored, sizes in bytes."""

    parsed: AvroSchema = field(repr=False)
    metadata: dict[str, bytes] = field(repr=False)
    codec: str
    sync_marker: bytes
    header_size: int

    @property
    def schema(self) -> Any:
        """The schema as parsed JSON, ids kept."""
        return self.parsed.json

    @property
    def record(self) -> dict[str, Any]:
        """The schema of the records, without the union around it that Paimon up to 0.8 wrote. Raises `Unsupported`."""
        record = find_record(self.schema)
        if record is None:
            raise Unsupported("the Avro file does not hold records")
        return record


@dataclass(frozen=True, slots=True)
class AvroBlock:
    """One block: `offset` of its count, `start` and `size` of its compressed bytes; `count` of records."""

    offset: int
    count: int
    start: int
    size: int

    @property
    def end(self) -> int:
        """The byte after the sync marker."""
        return self.start + self.size + SYNC_SIZE


def decode_header(data: bytes, path: str | None = None) -> AvroHeader:
    """Decode the head of an Avro file. `path` names the file in errors: `Corrupt` with the byte, `Unsupported`.

    >>> schema = b'{"type":"record","name":"r","fields":[]}'
    >>> data = MAGIC + bytes([2, 22]) + b"avro.schema" + bytes([len(schema) * 2]) + schema + bytes([0]) + b"s" * 16
    >>> header = decode_header(data)
    >>> header.codec, header.header_size == len(data)
    ('null', True)
    """
    with in_file(path):
        check_magic(data, 0, len(data))
        metadata: dict[str, bytes] = {}
        end = len(MAGIC)
        for entry in walk_header(data, end, len(data)):
            end = entry.end
            if entry.label == "entry":
                key = decode_text(bytes(data[entry.key : entry.value_size]), entry.key)
                metadata[key] = bytes(data[entry.value : entry.end])
        sync_marker = read_sync_marker(data, end, len(data))
        if "avro.schema" not in metadata:
            seen = ", ".join(sorted(metadata)) or "no keys"
            raise Corrupt("Avro header without a schema", offset=4, expected="key avro.schema", seen=seen)
        schema = parse_schema(metadata["avro.schema"])
        if schema.is_recursive:
            raise Unsupported("an Avro type that contains itself")
    return AvroHeader(schema, metadata, read_codec(metadata), sync_marker, end + SYNC_SIZE)


def check_magic(data: Octets, start: int, end: int) -> None:
    """Raises `Corrupt` when a file does not begin as Avro does."""
    seen = bytes(data[start : min(start + 4, end)])
    if seen != MAGIC:
        message = "not an Avro file" if seen else "empty file, not an Avro file"
        raise Corrupt(message, offset=start, expected="magic Obj\\x01", seen=repr(seen) if seen else None)


def read_sync_marker(data: Octets, at: int, end: int) -> bytes:
    """Read the sync marker behind a header. Raises `Corrupt` when it is cut short."""
    if at + SYNC_SIZE > end:
        raise Corrupt("Avro header cut short", offset=at, expected="a sync marker of 16 bytes")
    return bytes(data[at : at + SYNC_SIZE])


def read_codec(metadata: dict[str, bytes]) -> str:
    """Read the codec that a header names; without one the blocks are not compressed."""
    return metadata.get("avro.codec", b"").decode("utf-8", "replace") or "null"


class HeaderPart(NamedTuple):
    """One part of a header's map: a `count` or `size` of entries with its `number`, an `entry`, or the `end`.

    Of an entry `key`, `value_size` and `value` are where the key, the size of the value and the value begin.
    """

    label: str
    start: int
    end: int
    number: int = 0
    key: int = 0
    value_size: int = 0
    value: int = 0


def walk_header(data: Octets, at: int, end: int) -> Iterator[HeaderPart]:
    """Walk the parts of the map in a header, which begins at `at`. Raises `Corrupt`."""
    keys = 0
    while True:
        start = at
        count, at = read_long(data, start, end, "count of keys")
        yield HeaderPart("count" if count else "end", start, at, count)
        if count == 0:
            return
        if count < 0:  # a negative count is followed by the size of the entries in bytes
            start = at
            size, at = read_long(data, start, end, "size of the keys")
            yield HeaderPart("size", start, at, size)
        if abs(count) > end - at:
            raise Corrupt("Avro header cut short", offset=start, seen=f"{abs(count)} keys")
        keys += abs(count)
        if keys > MAX_KEYS:
            expected = f"at most {MAX_KEYS}"
            raise Corrupt("Avro header with too many keys", offset=start, expected=expected, seen=keys)
        for _ in range(abs(count)):
            key, value_size = _read_sized(data, at, end)
            value, stop = _read_sized(data, value_size, end)
            yield HeaderPart("entry", at, stop, 0, key, value_size, value)
            at = stop


def _read_sized(data: Octets, at: int, end: int) -> tuple[int, int]:
    """Read where the content of a string or bytes begins and ends."""
    size, start = read_long(data, at, end, "size")
    if not 0 <= size <= end - start:
        expected, seen = f"at most {end - start} bytes", f"{size} bytes"
        raise Corrupt("Avro header cut short", offset=at, expected=expected, seen=seen)
    return start, start + size


def iter_blocks(data: bytes, header: AvroHeader, path: str | None = None) -> Iterator[AvroBlock]:
    """The blocks, each with its sync marker checked.

    >>> header = AvroHeader(parse_schema(b'"long"'), {}, "null", b"s" * 16, 4)
    >>> list(iter_blocks(b"head" + bytes([2, 6]) + b"abc" + b"s" * 16, header))
    [AvroBlock(offset=4, count=1, start=6, size=3)]
    """
    position = header.header_size
    with in_file(path):
        while position < len(data):
            block = read_block(data, position, len(data))
            position = block.end
            marker = bytes(data[position - SYNC_SIZE : position])
            if marker != header.sync_marker:
                expected, seen = header.sync_marker.hex(), marker.hex()
                raise Corrupt("wrong sync marker", offset=position - SYNC_SIZE, expected=expected, seen=seen)
            yield block


def read_block(data: Octets, at: int, end: int) -> AvroBlock:
    """Read the block at `at`. Raises `Corrupt` when it is cut short; its sync marker is not read."""
    count, middle = read_long(data, at, end, "count of records")
    size, start = read_long(data, middle, end, "size of the block")
    if count < 0:
        raise Corrupt("negative count of records", offset=at, expected="0 or more", seen=count)
    left = end - start - SYNC_SIZE
    if not 0 <= size <= left:
        expected, seen = f"at most {left} bytes", f"{size} bytes"
        raise Corrupt("Avro block cut short", offset=middle, expected=expected, seen=seen)
    return AvroBlock(at, count, start, size)


def decompress_block(
    data: Octets, block: AvroBlock, codec: str, path: str | None = None, *, spent: int = 0
) -> bytes:
    """Decompress the bytes of a block's records; `Corrupt` when they do not decompress, `Unsupported` for other codecs.

    `spent` is what other blocks of the file have become: all of them together have one budget.

    >>> decompress_block(b"abc", AvroBlock(0, 1, 0, 3), "null")
    b'abc'
    """
    content = bytes(data[block.start : block.start + block.size])
    if codec == "null":
        return content
    if codec not in CODECS:
        raise Unsupported(f"Avro codec {codec!r} is not read", path=path, hint=f"one of {', '.join(CODECS)}")
    allowed = allow_growth(len(data), _RATIO, "max_file")
    limit = Limit(min(allowed.less(spent), max(MAX_CONTENT, take_budget("max_file"))), "max_file")
    if codec != "snappy":
        return decompress(CODECS[codec], content, limit, offset=block.start, path=path)
    expanded = decompress("snappy", content[:-4], limit, offset=block.start, path=path)
    computed, stored = zlib.crc32(expanded), int.from_bytes(content[-4:], "big")
    if computed != stored or len(content) < 4:
        expected, seen = f"CRC-32 {computed:08x}", f"{stored:08x}"
        raise Corrupt(
            "does not decompress as snappy", path=path, offset=block.start, expected=expected, seen=seen
        )
    return expanded


def check_total(data: Octets, count: int, codec: str, path: str | None = None) -> None:
    """Raises `Corrupt` for more records in all blocks than compressed ones can be: each has a name of its own, or a number.

    >>> check_total(bytes(100), 10_000, "deflate")
    """
    most = take_budget("max_file")
    limit = max(len(data) // _SMALLEST, most // _FEW)
    if count > limit and codec != "null":
        message, expected = "more records than compressed bytes can be", f"at most {limit:,}"
        seen = f"{count:,} or more, in {len(data):,} bytes"
        raise Corrupt(message, path=path, expected=expected, seen=seen, hint=most.advice)


def encode_long(value: int) -> bytes:
    """Encode the zigzag bytes of a number.

    >>> encode_long(-72).hex()
    '8f01'
    """
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def encode_header(metadata: dict[str, bytes], sync_marker: bytes) -> bytes:
    """Encode the head of an Avro file with this metadata.

    >>> encode_header({"avro.codec": b"null"}, b"s" * 16)[:4]
    b'Obj\\x01'
    """
    pairs = [
        encode_long(len(key)) + key + encode_long(len(value)) + value
        for key, value in ((name.encode(), value) for name, value in metadata.items())
    ]
    return MAGIC + encode_long(len(pairs)) + b"".join(pairs) + (b"\x00" if pairs else b"") + sync_marker


# Avro files as plain facts: what the header says, and what the blocks count.
#
# An Avro file has no footer: its schema is at the front and every block counts its own records ("Object Container
# Files" of the Avro 1.12 specification), so the number of rows is known only after a walk from block to block.

_OWN_KEYS = ("avro.schema", "avro.codec")


@dataclass(frozen=True, slots=True)
class AvroColumn:
    """One field of the records: its name, its type as in the schema (`?` after one that may be null), its field id."""

    path: str
    type: str
    field_id: int | None


@dataclass(frozen=True, slots=True)
class AvroFacts:
    """The facts about an Avro file. `blocks_size` is the bytes of the records as stored, without counts and markers.

    `schema` is the schema as parsed JSON, `key_values` the header's other entries: text where it is UTF-8, bytes
    elsewhere. `columns` is empty when the file holds no records.
    """

    num_rows: int
    num_blocks: int
    columns: tuple[AvroColumn, ...]
    codec: str
    blocks_size: int
    key_values: dict[str, str | bytes]
    header: AvroHeader = field(repr=False)
    format: str = "avro"

    @property
    def num_columns(self) -> int:
        """How many fields a record has."""
        return len(self.columns)

    @property
    def schema(self) -> Any:
        """The schema as the header has it."""
        return self.header.schema

    @property
    def metadata(self) -> dict[str, bytes]:
        """Every entry of the header as stored."""
        return self.header.metadata

    @property
    def record(self) -> dict[str, Any]:
        """The schema of the records. Raises `Unsupported` when the file holds something else."""
        return self.header.record

    @property
    def header_size(self) -> int:
        """Bytes before the first block."""
        return self.header.header_size

    @property
    def sync_marker(self) -> bytes:
        """The 16 bytes after the header and after every block."""
        return self.header.sync_marker


def decode_facts(data: bytes, path: str | None = None) -> AvroFacts:
    """Decode the facts of a whole Avro file; raises `Corrupt` with the byte, and `path` only names the file in it.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":["null","long"]}]}'
    >>> facts = decode_facts(encode_header({"avro.schema": schema}, b"s" * 16) + bytes([2, 4, 2, 6]) + b"s" * 16)
    >>> facts.num_rows, facts.num_blocks, facts.columns
    (1, 1, (AvroColumn(path='a', type='long?', field_id=None),))
    """
    header = decode_header(data, path)
    blocks = list(iter_blocks(data, header, path))
    key_values = {key: _text(held) for key, held in header.metadata.items() if key not in _OWN_KEYS}
    record = find_record(header.schema)
    fields = record["fields"] if record is not None else ()
    return AvroFacts(
        num_rows=sum(block.count for block in blocks),
        num_blocks=len(blocks),
        columns=tuple(
            AvroColumn(entry["name"], _format_type(entry["type"]), entry.get("field-id")) for entry in fields
        ),
        codec=header.codec,
        blocks_size=sum(block.size for block in blocks),
        key_values=key_values,
        header=header,
    )


def _format_type(schema: Any) -> str:
    if isinstance(schema, list):
        others = [branch for branch in schema if branch != "null"]
        if len(others) == 1:
            return f"{_format_type(others[0])}?"
        return " | ".join(_format_type(branch) for branch in schema)
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, dict):
        return json.dumps(schema, default=str)
    kind, logical = schema.get("type"), schema.get("logicalType")
    if kind == "array":
        return f"array<{_format_type(schema.get('items'))}>"
    if kind == "map":
        return f"map<{_format_type(schema.get('values'))}>"
    if kind == "record":
        parts = (f"{entry['name']}: {_format_type(entry['type'])}" for entry in schema["fields"])
        return f"record<{', '.join(parts)}>"
    word = f"fixed[{schema.get('size')}]" if kind == "fixed" else _format_type(kind)
    return f"{word} ({logical})" if isinstance(logical, str) else word


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
