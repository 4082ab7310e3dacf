"""Decompression for every codec of the house: one limit, one error.

    deflate  RFC 1951, no frame     gzip  RFC 1952, members     zstd  frames     bzip2, xz  streams
    snappy   raw, no frame          lz4   LZ4 frames            lz4_block        brotli

Used for Avro blocks, Parquet pages, ORC chunks, Puffin blobs and metadata documents. Content is never larger than the
limit that is asked for, at most 256 MiB by default: beyond it, and for damage, `Corrupt` is raised; for other codecs
`Unsupported`. Limits that come from the user's budgets name them in the error.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from lakelens.codecs.fast import find_inflater
from lakelens.codecs.span.span import Octets
from lakelens.errors import Corrupt, Unsupported
from lakelens.options import budgets

MAX_CONTENT = 1 << 28
_MOST_GROWN = 1 << 31  # of a large file: what is stored pays for what it becomes
_MAX_XZ_MEMORY = 1 << 29  # a stream names the size of its dictionary itself
_MOST_STARTED = 1 << 24
_PIECE = 1 << 16
_NEXT = 1 << 12  # of the streams after the first, which may be many, no more is looked at than they need
_ZEROS = re.compile(rb"\0*")


def decompress(
    codec: str, data: bytes, limit: int | None = None, *, offset: int = 0, path: str | None = None
) -> bytes:
    """At most `limit` bytes of content. `offset` is where `data` begins, `path` names its file, both for errors.

    >>> import zlib
    >>> decompress("deflate", zlib.compress(b"abc" * 9, wbits=-15))[:5]
    b'abcab'
    """
    decode = _DECODERS.get(codec)
    if decode is None:
        raise Unsupported(f"{codec!r} is not decompressed", path=path, hint=f"one of {', '.join(CODECS)}")
    limit = MAX_CONTENT if limit is None else limit
    try:
        return decode(data, limit)
    except MemoryError:
        raise
    except _TooLarge:
        raise refuse_growth(len(data), limit, offset, path) from None
    except Exception as error:  # each library has errors of its own
        seen = f"{type(error).__name__}: {error}"
        raise Corrupt(f"does not decompress as {codec}", path=path, offset=offset, seen=seen) from error


class Limit(int):
    """A number of bytes, or of other things, that comes from one of the user's budgets.

    >>> limit = Limit(5, "max_file")
    >>> limit + 1, limit.advice
    (6, 'lakelens.options.budgets.max_file raises the limit')
    """

    budget: str

    def __new__(cls, value: int, budget: str) -> Limit:
        made = super().__new__(cls, value)
        made.budget = budget
        return made

    @property
    def advice(self) -> str:
        """Which option raises it."""
        return f"lakelens.options.budgets.{self.budget} raises the limit"

    def less(self, spent: int) -> Limit:
        """Say what is left of it."""
        return Limit(max(0, self - spent), self.budget)


def take_budget(name: str) -> Limit:
    """Take a budget as the user has set it."""
    return Limit(getattr(budgets, name), name)


def allow_growth(stored: int, ratio: int, budget: str = "max_file", most: int = _MOST_GROWN) -> Limit:
    """Allow what stored bytes may become: a few kilobytes that claim to be gigabytes are a bomb, not a document.

    >>> allow_growth(10_000, 64, "max_file"), allow_growth(10_000_000, 64, "max_file")
    (67108864, 640000000)
    """
    return Limit(max(getattr(budgets, budget), min(ratio * stored, most)), budget)


def decompress_start(codec: str, data: bytes, path: str | None = None) -> bytes:
    """What the first bytes of a gzip or bzip2 stream decompress to, at most 16 MiB: the stream may be cut. Raises `Corrupt`.

    >>> import gzip
    >>> decompress_start("gzip", gzip.compress(b"abc")[:-9])
    b'abc'
    """
    try:
        content: bytes = _STREAMS[codec]().decompress(data, _MOST_STARTED)
        return content
    except Exception as error:  # each library has errors of its own
        raise Corrupt(f"does not decompress as {codec}", path=path, offset=0, seen=error) from error


def inflate(
    data: Octets, start: int, end: int, limit: int, content: list[bytes] | None = None
) -> tuple[int, int, int]:
    """Where the deflate stream at `start` ends, and size and CRC-32 of its content, which is added to `content` if given.

    Reads no further than the stream. Raises `Corrupt`.
    """
    stream, size, crc = zlib.decompressobj(-15), 0, 0
    at, pending = start, b""
    while not stream.eof:
        if not pending:
            pending = bytes(data[at : min(at + _PIECE, end)])
            at += len(pending)
            if not pending:
                raise Corrupt("a compressed stream without an end", offset=end)
        try:
            part = stream.decompress(pending, 1 << 20)
        except zlib.error as error:
            raise Corrupt("does not decompress as deflate", offset=start, seen=error) from error
        pending = stream.unconsumed_tail
        size, crc = size + len(part), zlib.crc32(part, crc)
        if size > limit:
            raise refuse_growth(at - start, limit, start)
        if content is not None:
            content.append(part)
    return at - len(stream.unused_data), size, crc


def check_decoded(size: int, path: str | None = None, offset: int | None = None, *, stored: int = 0) -> None:
    """Raises `Corrupt` when values would take more than the user's budget for decoded ones.

    Those of a large file, of `stored` bytes, may take more, as blocks may.

    >>> check_decoded(1 << 20)
    """
    limit = allow_growth(stored, 64, "max_decoded")
    if size > limit:
        raise Corrupt(
            "values that take too much memory once decoded",
            path=path,
            offset=offset,
            expected=f"at most {limit:,} bytes",
            seen=f"{size:,} bytes or more",
            hint=limit.advice,
        )


def refuse_growth(stored: int, limit: int, offset: int, path: str | None = None) -> Corrupt:
    """The error that says that stored bytes become more than they may."""
    return Corrupt(
        "compressed content is too large",
        path=path,
        offset=offset,
        expected=f"at most {int(limit):,} bytes",
        seen=f"more, in {stored:,} compressed bytes",
        hint=limit.advice if isinstance(limit, Limit) else None,
    )


class _TooLarge(Exception):
    pass


def _make_zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor
    else:
        from backports.zstd import ZstdDecompressor
    return ZstdDecompressor()


def _make_bzip2() -> Any:
    import bz2

    return bz2.BZ2Decompressor()


def _make_xz() -> Any:
    import lzma

    return lzma.LZMADecompressor(memlimit=_MAX_XZ_MEMORY)


# makers of decompressors with the interface of the standard library
_STREAMS: Mapping[str, Callable[[], Any]] = {
    "deflate": lambda: find_inflater().decompressobj(-15),
    "gzip": lambda: find_inflater().decompressobj(31),
    "zstd": _make_zstd,
    "bzip2": _make_bzip2,
    "xz": _make_xz,
}


def _decode_stream(codec: str) -> Callable[[bytes, int], bytes]:
    """Give a decoder of one or more streams, whose contents follow each other; of deflate, which has no frame, of one."""

    def decode(data: bytes, limit: int) -> bytes:
        parts: list[bytes] = []
        at, left, window = 0, limit, max(len(data), 1)
        while True:
            stream, piece = _STREAMS[codec](), data[at : at + window]
            content = stream.decompress(piece, left + 1)
            if len(content) > left:
                raise _TooLarge
            if not stream.eof:
                if at + window >= len(data):
                    raise EOFError("the compressed bytes end too early")
                window *= 4
                continue
            parts.append(content)
            left -= len(content)
            at += len(piece) - len(stream.unused_data)
            if codec == "gzip" and (padding := _ZEROS.match(data, at)):  # writers pad with zeros
                at = padding.end()
            if at >= len(data) or codec == "deflate":
                return parts[0] if len(parts) == 1 else b"".join(parts)
            window = _NEXT

    return decode


def _decode_snappy(data: bytes, limit: int) -> bytes:
    import cramjam

    if data and cramjam.snappy.decompress_raw_len(data) > limit:
        raise _TooLarge
    return bytes(cramjam.snappy.decompress_raw(data)) if data else b""


def _decode_into(name: str, function: str) -> Callable[[bytes, int], bytes]:
    """Give a decoder of cramjam that writes into room of the expected size and no further."""

    def decode(data: bytes, limit: int) -> bytes:
        import cramjam

        if limit > MAX_CONTENT:
            raise _TooLarge
        room = bytearray(limit)
        count = getattr(getattr(cramjam, name), function)(data, room) if data else 0
        return bytes(memoryview(room)[:count])

    return decode


def _decode_lz4(data: bytes, limit: int) -> bytes:
    import pyarrow as pa

    # into a buffer of ours: read() takes all of its limit beforehand, and keeps it when the frame is damaged
    content, piece = bytearray(), bytearray(_PIECE)
    with pa.CompressedInputStream(pa.BufferReader(data), "lz4") as stream:
        while length := stream.readinto(piece):
            content += memoryview(piece)[:length]
            if len(content) > limit:
                raise _TooLarge
    return bytes(content)


_DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = {
    **{codec: _decode_stream(codec) for codec in _STREAMS},
    "snappy": _decode_snappy,
    "lz4": _decode_lz4,
    "lz4_block": _decode_into("lz4", "decompress_block_into"),
    "brotli": _decode_into("brotli", "decompress_into"),
}
CODECS = tuple(_DECODERS)
