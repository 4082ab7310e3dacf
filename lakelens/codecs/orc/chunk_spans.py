"""Compressed sections of an ORC file: chunks with a header of 3 bytes, and the protobuf message that their content is.

    chunk    header, 3 bytes LE: length << 1 | is original | length bytes, as they are when original
    section  chunk …, whose contents one behind the other are a message or a stream

Follows "Compression" of the ORC specification. Refused with `Corrupt`: chunks that leave their section, damaged content and
content larger than the block size of the postscript; with `Unsupported` messages of more than 32 MiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lakelens.codecs.compression import decompress
from lakelens.codecs.orc.protobuf import Message, explain_message
from lakelens.codecs.span.reader import GROUP, format_count
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

MAX_MESSAGE = 1 << 25
#: Lengths of chunks have 23 bits, so no block is larger.
MAX_BLOCK = 1 << 23
_CODECS = {"ZLIB": "deflate", "SNAPPY": "snappy", "LZ4": "lz4_block", "ZSTD": "zstd", "BROTLI": "brotli"}


@dataclass(frozen=True, slots=True)
class Compression:
    """How the sections of a file are compressed: the postscript's name of it, and the size of a block in bytes."""

    kind: str = "NONE"
    block_size: int = 0


@dataclass(frozen=True, slots=True)
class _Chunk:
    start: int
    end: int
    is_original: bool

    @property
    def body(self) -> int:
        return self.start + 3


def explain_message_section(
    data: Octets, start: int, end: int, message: Message, label: str, compression: Compression
) -> Span:
    """Explain a section that is one message, compressed or not; its value is the message as a dict."""
    value = Deferred(partial(decode_section, data, start, end, message, compression))
    if compression.kind == "NONE":
        span = Span(start, end, label, value, f"{message.name}, protobuf")
        if start == end:
            return span
        make = partial(_explain_plain, data, start, end, message)
    else:
        make = partial(_explain_message_chunks, data, start, end, message, compression)
    return Span(start, end, label, value, f"{message.name}, protobuf", make)


def explain_stream(data: Octets, start: int, end: int, compression: Compression) -> Iterator[Span]:
    """Explain the chunks of a stream whose content stays as it is."""
    if compression.kind == "NONE":
        if start < end:
            yield Span(start, end, "stream", None, "not compressed")
        return
    yield from _explain_chunks(data, start, end, compression, 0)


def decode_section(
    data: Octets, start: int, end: int, message: Message, compression: Compression
) -> dict[str, object]:
    """Decode the message that a section is, as a dict by name. Raises `Corrupt`, `Unsupported`."""
    content = read_section(data, start, end, compression)
    base = start if compression.kind == "NONE" else 0
    decoded: dict[str, object] = explain_message(content, message, base=base).value
    return decoded


def read_section(data: Octets, start: int, end: int, compression: Compression) -> bytes:
    """Read the content of a section: its chunks decompressed and joined. Raises `Corrupt`, `Unsupported`."""
    parts: list[bytes] = []
    room = MAX_MESSAGE
    if compression.kind == "NONE":
        if end - start > room:
            raise Unsupported(f"a message of {end - start} bytes is not explained, only up to {room}")
        return bytes(data[start:end])
    for chunk in _find_chunks(data, start, end):
        parts.append(_unpack(data, chunk, compression))
        room -= len(parts[-1])
        if room < 0:
            raise Unsupported(f"a message of more than {MAX_MESSAGE} bytes is not explained")
    return b"".join(parts)


def measure_chunks(data: Octets, start: int, end: int, compression: Compression) -> int:
    """What a stream becomes: exact for a few chunks, else as if every chunk were a whole block. Raises `Corrupt`."""
    if compression.kind == "NONE":
        return end - start
    chunks = list(_find_chunks(data, start, end))
    if len(chunks) > 4:
        return len(chunks) * compression.block_size
    return sum(len(_unpack(data, chunk, compression)) for chunk in chunks)


def _find_chunks(data: Octets, start: int, end: int) -> Iterator[_Chunk]:
    while start < end:
        header = bytes(data[start : min(start + 3, end)])
        length = int.from_bytes(header, "little") >> 1
        if len(header) < 3 or length > end - start - 3:
            expected = f"at most {max(0, end - start - 3)} bytes"
            raise Corrupt("a chunk that leaves its section", offset=start, expected=expected, seen=length)
        yield _Chunk(start, start + 3 + length, bool(header[0] & 1))
        start += 3 + length


def _unpack(data: Octets, chunk: _Chunk, compression: Compression) -> bytes:
    stored = bytes(data[chunk.body : chunk.end])
    if chunk.is_original or not stored:
        return stored
    if compression.kind not in _CODECS:
        raise Unsupported(f"{compression.kind} is not decompressed here")
    if compression.block_size > MAX_BLOCK:
        message, expected = "a block size beyond what chunks can have", f"at most {MAX_BLOCK}"
        raise Corrupt(message, offset=chunk.start, expected=expected, seen=compression.block_size)
    return decompress(_CODECS[compression.kind], stored, compression.block_size, offset=chunk.body)


def _explain_plain(data: Octets, start: int, end: int, message: Message) -> Iterator[Span]:
    if end - start > MAX_MESSAGE:
        raise Unsupported(f"a message of {end - start} bytes is not explained, only up to {MAX_MESSAGE}")
    yield from explain_message(bytes(data[start:end]), message, base=start).iter_children()


def _explain_message_chunks(
    data: Octets, start: int, end: int, message: Message, compression: Compression
) -> Iterator[Span]:
    """The chunks of a message. Unpacking the first of several gives the whole message, since it goes through them all."""
    chunks = _find_chunks(data, start, end)
    first = next(chunks, None)
    if first is None:
        return
    if first.end == end and first.is_original:
        yield _head(first)
        if first.end > first.body:
            inner = explain_message(bytes(data[first.body : first.end]), message, base=first.body)
            yield inner
        return
    is_alone = first.end == end

    def unpack() -> tuple[bytes, Span]:
        content = read_section(data, start, end, compression)
        return content, explain_message(content, message)

    note = f"{compression.kind}: {message.name}" if is_alone else f"{message.name}, with the chunks behind"
    if first.end > first.body:
        stored = Span(first.body, first.end, "compressed data", None, note, unpacked=unpack)
        yield Span(first.start, first.end, "chunk 0", None, note, (_head(first), stored))
    else:
        yield Span(first.start, first.end, "chunk 0", None, note, (_head(first),))
    if not is_alone:
        yield from _explain_chunks(data, first.end, end, compression, 1)


def _head(chunk: _Chunk) -> Span:
    kind = "as they are" if chunk.is_original else "compressed"
    note = f"{format_count(chunk.end - chunk.body, 'byte')}, {kind}: 3 bytes, little-endian"
    return Span(chunk.start, chunk.body, "chunk header", chunk.end - chunk.body, note)


def _explain_chunks(
    data: Octets, start: int, end: int, compression: Compression, number: int
) -> Iterator[Span]:
    """Chunks of which each is unpacked alone; after many of them the rest is a span of its own."""
    for count, chunk in enumerate(_find_chunks(data, start, end)):
        if count == GROUP:
            rest = partial(_explain_chunks, data, chunk.start, end, compression, number)
            yield Span(chunk.start, end, "further chunks", children=rest)
            return
        parts = [_head(chunk)]
        if chunk.end > chunk.body:
            parts.append(_explain_body(data, chunk, compression))
        yield Span(chunk.start, chunk.end, f"chunk {number}", None, compression.kind, tuple(parts))
        number += 1


def _explain_body(data: Octets, chunk: _Chunk, compression: Compression) -> Span:
    if chunk.is_original:
        return Span(chunk.body, chunk.end, "data", None, "as they are")
    if compression.kind not in _CODECS:
        return Span(
            chunk.body, chunk.end, "compressed data", None, f"{compression.kind}, not decompressed here"
        )

    def unpack() -> tuple[bytes, Span]:
        content = _unpack(data, chunk, compression)
        return content, Span(0, len(content), "data", None, "content of a chunk")

    return Span(chunk.body, chunk.end, "compressed data", None, compression.kind, unpacked=unpack)
