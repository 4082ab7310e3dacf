"""Avro files written again: records under a schema whose JSON is kept to the letter, field ids and all.

The layout is that of `lakelens.codecs.avro.container`. Values are taken as `records.decode_records` gives them, without
logical types, so that what is not changed is encoded as it was.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lakelens.codecs.avro.container import SYNC_SIZE, encode_header, encode_long
from lakelens.codecs.avro.schema import compile_schema, write_plain
from lakelens.errors import Unsupported

_BLOCK = 64_000


def encode_records(
    schema: Any, records: Iterable[Any], metadata: Mapping[str, bytes], codec: str = "null"
) -> bytes:
    """An Avro file of these records. `metadata` is the header's, without `avro.schema` and `avro.codec`.

    A codec that is not written (bzip2, xz) becomes `null`. The sync marker is made of the schema, so that the same records
    are the same bytes.

    >>> from lakelens.codecs.avro.records import decode_records
    >>> schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "long"], "field-id": 7}]}
    >>> data = encode_records(schema, [{"a": 1}, {"a": None}], {"k": b"v"}, "deflate")
    >>> decode_records(data)
    [{'a': 1}, {'a': None}]
    """
    import fastavro

    codec = codec if codec in _COMPRESS else "null"
    text = encode_document(schema)
    plain = fastavro.parse_schema(write_plain(compile_schema(schema).kind))
    marker = zlib.crc32(text).to_bytes(4, "big") * (SYNC_SIZE // 4)
    blocks = [encode_header({"avro.schema": text, "avro.codec": codec.encode(), **metadata}, marker)]
    sink, count = io.BytesIO(), 0

    def close() -> None:
        content = _COMPRESS[codec](sink.getvalue())
        blocks.append(encode_long(count) + encode_long(len(content)) + content + marker)

    for record in records:
        fastavro.schemaless_writer(sink, plain, record)
        count += 1
        if sink.getbuffer().nbytes >= _BLOCK:
            close()
            sink, count = io.BytesIO(), 0
    if count:
        close()
    return b"".join(blocks)


def encode_document(document: Any) -> bytes:
    r"""A JSON document of a header. Raises `Unsupported` for one nested too deeply to be written again.

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
