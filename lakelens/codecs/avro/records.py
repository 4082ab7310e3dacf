"""Avro files to records: exactly what is stored, one dict per record.

The container (header, blocks, codecs) is `avro_container`'s; inside a block the records lie end to end, see "Binary
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
from typing import Any, NamedTuple

from lakelens.codecs.avro.container import (
    AvroBlock,
    AvroHeader,
    decode_header,
    decompress_block,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.avro.schema import field_ids, find_record, measure_schema, strip_logical_types
from lakelens.errors import Corrupt, LakeError, Unsupported

__all__ = ["AvroHeader", "decode_header", "decode_records", "field_ids", "iter_records"]

MAX_EMPTY_RECORDS = 1_000_000


def decode_records(data: bytes, path: str | None = None) -> list[dict[str, Any]]:
    """Decode all records of an Avro file, without logical types.

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
    """Yield the records of an Avro file, one block in memory at a time; see `decode_records`. `header`: where it is known.

    >>> next(iter_records(b"PAR1"))
    Traceback (most recent call last):
    lakelens.errors.Corrupt: not an Avro file (at byte 0; expected magic Obj\\x01; seen b'PAR1')
    """
    header = header or decode_header(data, path)
    if find_record(header.schema) is None:
        raise Unsupported("the Avro file does not hold records", path=path)
    form = _find_form(header, path)
    smallest, read_items = form.smallest, _make_reader(form, path)
    empty = MAX_EMPTY_RECORDS  # of the whole file: a block of them takes next to no bytes, so there may be many blocks
    for block in iter_blocks(data, header, path):
        content = decompress_block(data, block, header.codec, path)
        check_count(block, smallest, len(content), path, empty)
        empty -= 0 if smallest else block.count
        for record in read_items(block, content):
            if record is None:
                raise Corrupt("null where a record must be", path=path, offset=block.offset)
            yield record


def check_count(
    block: AvroBlock, smallest: int, size: int, path: str | None, empty: int = MAX_EMPTY_RECORDS
) -> None:
    """Raise `Corrupt` if a block claims more records than its `size` bytes can hold, `smallest` bytes each.

    Of records that take no bytes there may be `empty`.

    >>> check_count(AvroBlock(offset=0, count=3, start=2, size=3), 1, 3, None)
    """
    limit = size // smallest if smallest else empty
    if block.count > limit:
        expected = f"at most {limit} records in {size} bytes"
        raise Corrupt(
            "absurd count of records", path=path, offset=block.offset, expected=expected, seen=block.count
        )


class _Form(NamedTuple):
    """What decoding needs of a schema: the type of an item, the fewest bytes of one, a schema of an array of them."""

    items: Any
    smallest: int
    parsed: Any


# by the text of the schema: all manifest lists of a table have the same one, its manifests share a few
_forms: dict[bytes, _Form] = {}
_MOST_FORMS = 32
_LONGEST_FORM = 65_536


def _find_form(header: AvroHeader, path: str | None) -> _Form:
    text = header.metadata["avro.schema"]
    form = _forms.get(text)
    if form is None:
        form = _make_form(header.schema, path)
        if len(text) <= _LONGEST_FORM:
            if len(_forms) >= _MOST_FORMS:
                _forms.clear()
            _forms[text] = form
    return form


def _make_form(schema: Any, path: str | None) -> _Form:
    import fastavro

    items = strip_logical_types(schema)
    try:
        parsed = fastavro.parse_schema({"type": "array", "items": items})
    except (fastavro.schema.SchemaParseException, ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"bad Avro schema: {error}"
        raise Corrupt(message, path=path, json_path="avro.schema") from error
    return _Form(items, measure_schema(schema).smallest, parsed)


def _make_reader(form: _Form, path: str | None) -> Callable[[AvroBlock, bytes], list[Any]]:
    """Give a function that decodes all records of a block in one call: a block is an array without its count."""
    import fastavro

    items, smallest, parsed = form

    def read(block: AvroBlock, content: bytes) -> list[Any]:
        if smallest == 0 and not content:
            return [_empty(items) for _ in range(block.count)]
        prefix = encode_long(block.count) if block.count else b""
        stream = io.BytesIO(prefix + content + b"\x00")
        try:
            records = fastavro.schemaless_reader(stream, parsed, None)
        except LakeError:
            raise
        except (
            Exception
        ) as error:  # struct.error, EOFError, IndexError, UnicodeDecodeError, MemoryError and others
            seen = f"{type(error).__name__}: {error}"
            raise Corrupt("Avro records do not decode", path=path, offset=block.start, seen=seen) from error
        if stream.tell() != len(prefix) + len(content) + 1:
            left = len(prefix) + len(content) + 1 - stream.tell()
            raise Corrupt(
                "bytes left after the records of a block", path=path, offset=block.start, seen=f"{left} bytes"
            )
        if len(records) != block.count:  # bytes that are left over may look like more items of the array
            seen = f"{len(records)}"
            raise Corrupt(
                "more records than the block counts",
                path=path,
                offset=block.start,
                expected=block.count,
                seen=seen,
            )
        return list(records)

    return read


def _empty(schema: Any) -> Any:
    """The only value of a schema that takes no bytes."""
    if isinstance(schema, dict) and schema["type"] == "record":
        return {entry["name"]: _empty(entry["type"]) for entry in schema["fields"]}
    if isinstance(schema, dict) and schema["type"] == "fixed":
        return b""
    return _empty(schema["type"]) if isinstance(schema, dict) else None
