"""Avro files to records: exactly what is stored, one dict per record.

The container (header, blocks, codecs) is in `avro.container`; inside a block the records are end to end, see "Binary
Encoding" of the Avro 1.12 specification::

    record  its fields in order              union   long branch, value          string, bytes  long size, bytes
    array   { long count, items } 0          fixed   its bytes                   int, long      zigzag

Logical types are not applied: a timestamp is the count that is stored, a uuid its text or bytes, a decimal its bytes.
An Iceberg map with integer keys stays a list of `{"key": ..., "value": ...}`. Refused, besides damage: roots that are no
records, types that contain themselves.

The first 64 KiB that a process decodes are decoded by `avro.types`, in plain Python: to load the library, `fastavro`, takes
as long. Where it is not installed everything is.
"""

from __future__ import annotations

import io
import json
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import Any, overload

from lakelens.codecs.avro.container import (
    SYNC_SIZE,
    AvroBlock,
    AvroHeader,
    check_total,
    decode_header,
    decompress_block,
    encode_header,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.avro.schema import compile_schema, find_record, write_plain
from lakelens.codecs.avro.types import AvroType
from lakelens.errors import Corrupt, LakeError, Unsupported

__all__ = ["AvroHeader", "AvroRecords", "decode_header", "decode_records", "iter_records"]

MAX_EMPTY_RECORDS = 1_000_000
_FIRST = 32  # records of a block that are decoded one by one
_KEPT = 2  # blocks whose records are kept


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
    data: bytes, path: str | None = None, header: AvroHeader | None = None, *, is_whole: bool = True
) -> Iterator[dict[str, Any]]:
    """The records of an Avro file, one block in memory at a time; see `decode_records`. `header`: if it is known.

    Who wants no more than the first ones says that they are not the whole file: what its blocks count does not matter then.

    >>> next(iter_records(b"PAR1"))
    Traceback (most recent call last):
    lakelens.errors.Corrupt: not an Avro file (at byte 0; expected magic Obj\\x01; seen b'PAR1')
    """
    header = header or decode_header(data, path)
    if find_record(header.schema) is None:
        raise Unsupported("the Avro file does not hold records", path=path)
    smallest, read = header.parsed.smallest, _make_reader(header, path)
    empty = MAX_EMPTY_RECORDS  # of the whole file: a block of them takes next to no bytes, so there may be many blocks
    if is_whole:
        # what the blocks count together, up to the first that is damaged
        count = 0
        with suppress(LakeError):
            for block in iter_blocks(data, header):
                count += block.count
        check_total(data, count, header.codec, path)
    spent = 0
    for block in iter_blocks(data, header, path):
        content = decompress_block(data, block, header.codec, path, spent=spent)
        spent += len(content)
        check_count(block, smallest, len(content), path, empty)
        empty -= 0 if smallest else block.count
        for record in read(block, content):
            if record is None:
                raise Corrupt("null where a record must be", path=path, offset=block.offset)
            yield record


def decode_block(header: AvroHeader, content: bytes, count: int) -> list[dict[str, Any]]:
    """Decode the records of one decompressed block. Raises `Corrupt` if there are not `count` of them, end to end.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> decode_block(decode_header(encode_header({"avro.schema": schema}, b"s" * 16)), bytes([2, 1]), 2)
    [{'a': 1}, {'a': -1}]
    """
    block = AvroBlock(offset=0, count=count, start=0, size=len(content))
    check_count(block, header.parsed.smallest, len(content))
    records = _make_reader(header, None)(block, content)
    if None in records:
        raise Corrupt("null where a record must be")
    return records


class AvroRecords(Sequence[dict[str, Any]]):
    """The records of an Avro file by their numbers, each decoded when it is asked for.

    A block is decoded record by record at its beginning, and as a whole once a later one of its records is asked for; the
    last blocks are kept. Asking for a record raises what `iter_records` raises; `len` is what the blocks count.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> block = bytes([4, 4, 2, 1]) + b"s" * 16
    >>> records = AvroRecords(encode_header({"avro.schema": schema}, b"s" * 16) + block)
    >>> len(records), records[1]
    (2, {'a': -1})
    """

    def __init__(self, data: bytes, path: str | None = None, header: AvroHeader | None = None) -> None:
        self.header = header or decode_header(data, path)
        if find_record(self.header.schema) is None:
            raise Unsupported("the Avro file does not hold records", path=path)
        self._data, self._path = data, path
        self._lock = Lock()
        self._blocks: list[AvroBlock] = []
        self._ends: list[int] = []
        self._error: LakeError | None = None
        try:  # up to the first block that is damaged
            for block in iter_blocks(data, self.header, path):
                self._blocks.append(block)
                self._ends.append(len(self) + block.count)
        except LakeError as error:
            self._error = error.without_frames()
        check_total(data, len(self), self.header.codec, path)
        self._contents: dict[int, bytes] = {}
        self._sizes: dict[int, int] = {}  # of the blocks that were decompressed
        self._whole: dict[int, list[Any]] = {}
        self._begun: dict[int, tuple[io.BytesIO, list[Any]]] = {}

    @property
    def size_bytes(self) -> int:
        """The bytes of the file, which are kept."""
        return len(self._data)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, number: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[dict[str, Any]]: ...
    def __getitem__(self, number: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        place = bisect_right(self._ends, number)
        if number < 0 or place == len(self._ends):
            if self._error is not None:
                raise self._error
            raise IndexError(number)
        block = self._blocks[place]
        inside = number - (self._ends[place] - block.count)
        with self._lock:  # what was begun is gone on with: two threads would read from one place
            record = self._read_first(place, inside) if inside < _FIRST else self._read_whole(place)[inside]
        if record is None:
            raise Corrupt("null where a record must be", path=self._path, offset=block.offset)
        found: dict[str, Any] = record
        return found

    def _read_first(self, place: int, inside: int) -> Any:
        if place in self._whole:
            return self._whole[place][inside]
        stream, records = self._begun.get(place) or (io.BytesIO(self._decompress(place)), [])
        self._begun = {place: (stream, records)}
        while len(records) <= inside:
            records.append(_read_one(self.header, stream, self._path, self._blocks[place]))
        return records[inside]

    def _read_whole(self, place: int) -> list[Any]:
        if place not in self._whole:
            read = _make_reader(self.header, self._path)(self._blocks[place], self._decompress(place))
            self._whole = {**dict(list(self._whole.items())[1 - _KEPT :]), place: read}
        return self._whole[place]

    def _decompress(self, place: int) -> bytes:
        if place not in self._contents:
            block = self._blocks[place]
            spent = sum(self._sizes.values()) - self._sizes.get(place, 0)
            content = decompress_block(self._data, block, self.header.codec, self._path, spent=spent)
            self._sizes[place] = len(content)
            check_count(block, self.header.parsed.smallest, len(content), self._path)
            self._contents = {place: content}
        return self._contents[place]


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
    """Parse the schema of an array of records as fastavro wants it."""
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


# bytes decoded without the library, which is not everywhere: to load it takes as long as to decode the most
_decoded = 0
_MOST_DECODED = 65_536


def _needs_library(size: int) -> bool:
    """Check whether the library decodes this number of bytes: it is loaded already, or there is much to decode."""
    global _decoded
    if "fastavro" in sys.modules:
        return True
    if _decoded + size > _MOST_DECODED and find_spec("fastavro") is not None:
        return True
    _decoded += size
    return False


def _decode_own(header: AvroHeader, block: AvroBlock, content: bytes, path: str | None) -> list[Any] | None:
    """Decode the records of a block. None where they do not decode and the library is there to say why."""
    decode, at, end = header.parsed.kind.decode, 0, len(content)
    records = []
    try:
        for _ in range(block.count):
            record, at = decode(content, at, end)
            records.append(record)
    except LakeError as error:
        _refuse(error, path, block)
        return None
    if at < end:
        message = "bytes left after the records of a block"
        raise Corrupt(message, path=path, offset=block.start, seen=f"{end - at} bytes")
    return records


def _refuse(error: LakeError, path: str | None, block: AvroBlock) -> None:
    if find_spec("fastavro") is None:
        raise Corrupt(
            "Avro records do not decode", path=path, offset=block.start, seen=error.message
        ) from error


def _read_one(header: AvroHeader, stream: io.BytesIO, path: str | None, block: AvroBlock) -> Any:
    """Read the next record of a block."""
    at = stream.seek(0, io.SEEK_CUR)
    if not _needs_library(0):
        content = stream.getvalue()
        try:
            record, stop = header.parsed.kind.decode(content, at, len(content))
        except LakeError as error:
            _refuse(error, path, block)
        else:
            stream.seek(stop)
            _needs_library(stop - at)
            return record
    import fastavro

    try:
        return fastavro.schemaless_reader(stream, _parse_array(header, path)["items"], None)
    except Exception as error:  # as of a whole block, below
        raise Corrupt(
            "Avro records do not decode", path=path, offset=block.start, seen=_quote(error)
        ) from error


def _quote(error: Exception) -> str:
    """Quote what the library raises, but where that depends on how much is read at once: where it goes past the end."""
    if isinstance(error, EOFError | IndexError):
        return "bytes that end too early, or name a branch that the schema does not have"
    return f"{type(error).__name__}: {error}"


def _make_reader(header: AvroHeader, path: str | None) -> Callable[[AvroBlock, bytes], list[Any]]:
    """Make a function that decodes all records of a block in one call: a block is an array without its count."""
    smallest, kind = header.parsed.smallest, header.parsed.kind

    def read(block: AvroBlock, content: bytes) -> list[Any]:
        if smallest == 0 and not content:
            return [kind.decode(b"", 0, 0)[0] for _ in range(block.count)]
        if not _needs_library(len(content)):
            own = _decode_own(header, block, content, path)
            if own is not None:
                return own
        import fastavro

        parsed = _parse_array(header, path)
        prefix = encode_long(block.count) if block.count else b""
        stream = io.BytesIO(prefix + content + b"\x00")
        try:
            records = fastavro.schemaless_reader(stream, parsed, None)
        except (
            Exception
        ) as error:  # struct.error, EOFError, IndexError, UnicodeDecodeError, MemoryError and others
            message, seen = "Avro records do not decode", _quote(error)
            raise Corrupt(message, path=path, offset=block.start, seen=seen) from error
        if left := len(stream.read()):
            message = "bytes left after the records of a block"
            raise Corrupt(message, path=path, offset=block.start, seen=f"{left} bytes")
        if len(records) != block.count:  # bytes that are left over may look like more items of the array
            message, seen = "more records than the block counts", str(len(records))
            raise Corrupt(message, path=path, offset=block.start, expected=block.count, seen=seen)
        return list(records)

    return read


# Avro files written again: records under a schema whose JSON is kept to the letter, field ids and all.
#
# The layout is that of `lakelens.codecs.avro.container`. Values are taken as `records.decode_records` gives them, without
# logical types, so that what is not changed is encoded as it was.

_BLOCK = 64_000


def encode_records(
    schema: Any, records: Iterable[Any], metadata: Mapping[str, bytes], codec: str = "null"
) -> bytes:
    """Encode an Avro file of these records. `metadata` is the header's, without `avro.schema` and `avro.codec`.

    A codec that is not written (bzip2, xz) becomes `null`. The sync marker is made of the schema, so that the same records
    are the same bytes. Raises `Unsupported` for a number that does not fit the type that its schema gives it.

    >>> from lakelens.codecs.avro.records import decode_records
    >>> schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "long"], "field-id": 7}]}
    >>> data = encode_records(schema, [{"a": 1}, {"a": None}], {"k": b"v"}, "deflate")
    >>> decode_records(data)
    [{'a': 1}, {'a': None}]
    """
    codec = codec if codec in _COMPRESS else "null"
    text = encode_document(schema)
    encode = _make_encoder(compile_schema(schema).kind)
    marker = zlib.crc32(text).to_bytes(4, "big") * (SYNC_SIZE // 4)
    blocks = [encode_header({"avro.schema": text, "avro.codec": codec.encode(), **metadata}, marker)]
    sink, count = io.BytesIO(), 0

    def close() -> None:
        content = _COMPRESS[codec](sink.getvalue())
        blocks.append(encode_long(count) + encode_long(len(content)) + content + marker)

    for record in records:
        sink.write(encode(record))
        count += 1
        if sink.getbuffer().nbytes >= _BLOCK:
            close()
            sink, count = io.BytesIO(), 0
    if count:
        close()
    return b"".join(blocks)


def _make_encoder(kind: AvroType) -> Callable[[Any], bytes]:
    """Make a function that encodes a record: with the library where it is installed, else in plain Python."""
    if find_spec("fastavro") is None:
        from lakelens.codecs.avro.encoding import encode_value  # a first card writes nothing

        return partial(encode_value, kind)
    import fastavro

    plain = fastavro.parse_schema(write_plain(kind))

    def encode(record: Any) -> bytes:
        sink = io.BytesIO()
        try:
            fastavro.schemaless_writer(sink, plain, record)
        except OverflowError as error:
            raise Unsupported(
                "a record has a number that its type cannot hold",
                expected="an int or a long as its schema says",
            ) from error
        return sink.getvalue()

    return encode


def encode_document(document: Any) -> bytes:
    r"""Encode a JSON document of a header. Raises `Unsupported` for one nested too deeply to be written again.

    Half of a character, which JSON can write and UTF-8 cannot, stays the escape that it was.

    >>> encode_document({"name": "é"}), encode_document(["a\udfff"])
    (b'{"name":"\xc3\xa9"}', b'["a\\udfff"]')
    """
    try:
        try:
            return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            return json.dumps(document, separators=(",", ":")).encode()
    except RecursionError:
        raise Unsupported("a document of the header is nested too deeply to be written again") from None


def _deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def _compress_zstd(content: bytes) -> bytes:
    try:
        from compression.zstd import compress  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports.zstd import compress  # type: ignore[no-redef, unused-ignore]
    packed: bytes = compress(content)
    return packed


def _compress_snappy(content: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.snappy.compress_raw(content)) + zlib.crc32(content).to_bytes(4, "big")


_COMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _deflate,
    "zstandard": _compress_zstd,
    "snappy": _compress_snappy,
}
