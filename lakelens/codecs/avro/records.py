"""Avro files to records: exactly what is stored, one dict per record.

The container (header, blocks, codecs) is in `avro.container`; inside a block the records are end to end, see "Binary
Encoding" of the Avro 1.12 specification::

    record  its fields in order              union   long branch, value          string, bytes  long size, bytes
    array   { long count, items } 0          fixed   its bytes                   int, long      zigzag

Logical types are not applied: a timestamp is the count that is stored, a uuid its text or bytes, a decimal its bytes.
An Iceberg map with integer keys stays a list of `{"key": ..., "value": ...}`. Refused, besides damage: roots that are no
records, types that contain themselves.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from lakelens.codecs.avro.container import (
    AvroBlock,
    AvroHeader,
    decode_header,
    decompress_block,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.avro.schema import find_record, write_plain
from lakelens.errors import Corrupt, Unsupported

__all__ = ["AvroHeader", "decode_header", "decode_records", "iter_records"]

MAX_EMPTY_RECORDS = 1_000_000


def decode_records(data: bytes, path: str | None = None) -> list[dict[str, Any]]:
    """All records of an Avro file, without logical types.

    Raises `Corrupt` with the byte of the file (of the block, for damage inside one); `path` only names the file.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> block = bytes([4, 4, 2, 1]) + b"s" * 16
    >>> decode_records(encode_header({"avro.schema": schema}, b"s" * 16) + block)
    [{'a': 1}, {'a': -1}]
    """
    return list(iter_records(data, path))


def iter_records(
    data: bytes, path: str | None = None, header: AvroHeader | None = None
) -> Iterator[dict[str, Any]]:
    """The records of an Avro file, one block in memory at a time; see `decode_records`. `header`: if it is known.

    >>> next(iter_records(b"PAR1"))
    Traceback (most recent call last):
    lakelens.errors.Corrupt: not an Avro file (at byte 0; expected magic Obj\\x01; seen b'PAR1')
    """
    header = header or decode_header(data, path)
    if find_record(header.schema) is None:
        raise Unsupported("the Avro file does not hold records", path=path)
    smallest, read = header.parsed.smallest, _make_reader(header, path)
    empty = MAX_EMPTY_RECORDS  # of the whole file: a block of them takes next to no bytes, so there may be many blocks
    for block in iter_blocks(data, header, path):
        content = decompress_block(data, block, header.codec, path)
        check_count(block, smallest, len(content), path, empty)
        empty -= 0 if smallest else block.count
        for record in read(block, content):
            if record is None:
                raise Corrupt("null where a record must be", path=path, offset=block.offset)
            yield record


def check_count(
    block: AvroBlock, smallest: int, size: int, path: str | None = None, empty: int = MAX_EMPTY_RECORDS
) -> None:
    """Raises `Corrupt` if a block claims more records than its `size` bytes can hold, `smallest` bytes each.

    Of records that take no bytes there may be `empty`.

    >>> check_count(AvroBlock(offset=0, count=3, start=2, size=3), 1, 3)
    """
    limit = size // smallest if smallest else empty
    if block.count > limit:
        expected = f"at most {limit} records in {size} bytes"
        raise Corrupt(
            "absurd count of records", path=path, offset=block.offset, expected=expected, seen=block.count
        )


# by the text of the schema: all manifest lists of a table have the same one, its manifests share a few
_parsed: dict[bytes, Any] = {}
_MOST_PARSED = 32
_LONGEST_PARSED = 65_536


def _parse_array(header: AvroHeader, path: str | None) -> Any:
    """The schema of an array of records as fastavro wants it."""
    import fastavro

    text = header.metadata["avro.schema"]
    if text in _parsed:
        return _parsed[text]
    try:
        parsed = fastavro.parse_schema({"type": "array", "items": write_plain(header.parsed.kind)})
    except (fastavro.schema.SchemaParseException, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Corrupt(f"bad Avro schema: {error}", path=path, json_path="avro.schema") from error
    if len(text) <= _LONGEST_PARSED:
        if len(_parsed) >= _MOST_PARSED:
            _parsed.clear()
        _parsed[text] = parsed
    return parsed


def _make_reader(header: AvroHeader, path: str | None) -> Callable[[AvroBlock, bytes], list[Any]]:
    """A function that decodes all records of a block in one call: a block is an array without its count."""
    import fastavro

    parsed, smallest, kind = _parse_array(header, path), header.parsed.smallest, header.parsed.kind

    def read(block: AvroBlock, content: bytes) -> list[Any]:
        if smallest == 0 and not content:
            return [kind.decode(b"", 0, 0)[0] for _ in range(block.count)]
        prefix = encode_long(block.count) if block.count else b""
        stream = io.BytesIO(prefix + content + b"\x00")
        try:
            records = fastavro.schemaless_reader(stream, parsed, None)
        except (
            Exception
        ) as error:  # struct.error, EOFError, IndexError, UnicodeDecodeError, MemoryError and others
            seen = f"{type(error).__name__}: {error}"
            raise Corrupt("Avro records do not decode", path=path, offset=block.start, seen=seen) from error
        if left := len(stream.read()):
            message = "bytes left after the records of a block"
            raise Corrupt(message, path=path, offset=block.start, seen=f"{left} bytes")
        if len(records) != block.count:  # bytes that are left over may look like more items of the array
            message, seen = "more records than the block counts", str(len(records))
            raise Corrupt(message, path=path, offset=block.start, expected=block.count, seen=seen)
        return list(records)

    return read
