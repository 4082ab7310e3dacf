"""Decompression of the blocks inside data files, whose files tell how large their content is.

    SNAPPY  raw snappy       GZIP  RFC 1952      DEFLATE  RFC 1951, no frame
    ZSTD    one zstd frame   BROTLI              LZ4_RAW  an LZ4 block

Follows "Compression" of the Apache Parquet format and of the ORC specification. The content is never larger than the size
that is asked for: what would be is refused with `Corrupt`, as is damage.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

from lakelens.errors import Corrupt

MAX_CONTENT = 1 << 28


def decompress_block(codec: str, data: bytes, size: int, offset: int = 0) -> bytes:
    """At most `size` bytes of content. `offset` is where `data` begins, for errors. Raises `Corrupt`, `ValueError`.

    >>> import zlib
    >>> decompress_block("DEFLATE", zlib.compress(b"abc" * 9, wbits=-15), 100)[:5]
    b'abcab'
    """
    decompress = _DECOMPRESSORS.get(codec)
    if decompress is None:
        raise ValueError(f"{codec!r} is not decompressed: one of {', '.join(CODECS)}")
    if not 0 <= size <= MAX_CONTENT:
        raise Corrupt(
            "content of an impossible size", offset=offset, expected=f"at most {MAX_CONTENT} bytes", seen=size
        )
    try:
        return decompress(data, size)
    except Corrupt:
        raise
    except Exception as error:
        raise Corrupt(f"a damaged {codec} block", offset=offset, seen=error) from error


def _inflate(data: bytes, size: int, bits: int) -> bytes:
    parts, pending, left = [], data, size
    while pending:  # gzip has members behind each other
        stream = zlib.decompressobj(bits)
        parts.append(stream.decompress(pending, left + 1))
        left -= len(parts[-1])
        if left < 0:
            raise ValueError(f"more than {size} bytes of content")
        if not stream.eof:
            raise ValueError("the stream does not end")
        pending = stream.unused_data if bits > 0 else b""
    return b"".join(parts)


def _into(name: str, function: str) -> Callable[[bytes, int], bytes]:
    """A decompressor of cramjam that writes into room of the size that is expected and no further."""

    def decompress(data: bytes, size: int) -> bytes:
        import cramjam

        room = bytearray(size)
        count = getattr(getattr(cramjam, name), function)(data, room) if data else 0
        return bytes(memoryview(room)[:count])

    return decompress


_DECOMPRESSORS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "SNAPPY": _into("snappy", "decompress_raw_into"),
    "GZIP": lambda data, size: _inflate(data, size, 31),
    "DEFLATE": lambda data, size: _inflate(data, size, -15),
    "ZSTD": _into("zstd", "decompress_into"),
    "BROTLI": _into("brotli", "decompress_into"),
    "LZ4_RAW": _into("lz4", "decompress_block_into"),
}
CODECS = tuple(_DECOMPRESSORS)
