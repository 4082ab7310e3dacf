"""What wraps other bytes: gzip files, Hadoop's checksum files, and files that Iceberg encrypted as a whole."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache, partial

from lakelens.codecs.compression import MAX_CONTENT, inflate
from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.span.reader import FixedField, SpanReader, damage_span_if, format_count, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt

# A file that Iceberg encrypted as a whole: what is in the clear of it.
#
#     AGS1 | plain block length, int32 LE | cipher block …        cipher block: nonce 12 | ciphertext | tag 16
#
# Follows "AES GCM Stream file format extension" of Iceberg. All blocks but the last hold as many bytes as the length says
# (1 MiB, as Iceberg writes); the last is empty only where the whole content is. There is at least one. The key is not in
# the file: the snapshot (of a manifest list) or `key_metadata` (of a manifest or a data file) says which it is. Damage: a
# length that is not positive, no block, a last block that is cut inside its nonce and tag.

_AES_GCM_MAGIC = FixedField("4s", "magic", known=(b"AGS1",), wrong="not an AES GCM stream")
_HEAD, _NONCE, _TAG = 8, 12, 16
_FRAME = _NONCE + _TAG


def explain_aes_gcm_stream(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over an AES GCM stream; its value is how many bytes are encrypted.

    >>> span = explain_aes_gcm_stream(b"AGS1" + (1 << 20).to_bytes(4, "little") + bytes(12 + 5 + 16))
    >>> span.value, [part.label for part in span.children[2].children]
    (5, ['nonce', 'ciphertext', 'tag'])
    """
    stop = len(data) if end is None else end

    def decode() -> int:
        for part in _explain_stream(data, start, stop):
            part.check()
        blocks = _count_blocks(data, start, stop)
        return stop - start - _HEAD - blocks * _FRAME

    make = partial(_explain_stream, data, start, stop)
    return Span(start, stop, "AES GCM stream", Deferred(decode), "encrypted", make)


def _count_blocks(data: Octets, start: int, end: int) -> int:
    stored = int.from_bytes(bytes(data[start + 4 : start + _HEAD]), "little", signed=True) + _FRAME
    return -(-(end - start - _HEAD) // stored)


def _explain_stream(data: Octets, start: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, "an AES GCM stream")
    yield _AES_GCM_MAGIC.read(reader)
    length = reader.number("<i", "plain block length", "of each block before it was encrypted")
    yield damage_span_if(length.value <= 0, length, "not a length of blocks", expected="more than 0")
    if length.value <= 0:
        yield reader.rest("bytes", "blocks of an unknown length")
        return
    size = length.value + _FRAME
    count = _count_blocks(data, start, end)
    last = end - start - _HEAD - (count - 1) * size
    if count == 0 or last < _FRAME:
        message = "no cipher block" if count == 0 else "a last block that is cut"
        raise Corrupt(message, offset=end, expected=f"{_FRAME} bytes or more", seen=0 if count == 0 else last)

    def make(first: int, stop: int) -> Iterator[Span]:
        for number in range(first, stop):
            begin = start + _HEAD + number * size
            yield _explain_block(data, begin, min(begin + size, end), number)

    yield from group_items(count, lambda i: min(start + _HEAD + i * size, end), "blocks", make)


def _explain_block(data: Octets, start: int, end: int, number: int) -> Span:
    def make() -> Iterator[Span]:
        nonce, tag = start + _NONCE, end - _TAG
        yield Span(start, nonce, "nonce", bytes(data[start:nonce]), "12 bytes")
        if nonce < tag:
            yield Span(nonce, tag, "ciphertext", None, "AES in Galois counter mode", role="unexplained")
        yield Span(tag, end, "tag", bytes(data[tag:end]), "16 bytes")

    note = f"{format_count(end - start - _FRAME, 'byte')} encrypted"
    return Span(start, end, f"block {number}", None, note, make)


# Hadoop's checksum files, `.NAME.crc` beside NAME: a checksum for every few bytes of the file.
#
#     "crc" 00 | bytes per checksum, int32 BE | checksum, uint32 BE | checksum | …
#
# Follows what `ChecksumFileSystem` of Apache Hadoop writes: CRC-32C today, CRC-32 (of zlib) in old files; the file does
# not say which. Refused with `Corrupt`: another magic, a chunk size that is not positive, a rest that is no whole checksum
# and, when the neighbour is at hand, checksums that are not its own.

_CRC_MAGIC = b"crc\x00"
#: Checksums of longer pieces are not computed; Hadoop writes one for every 512 bytes.
MAX_CHUNK = 1 << 20


def explain_crc(
    data: Octets, start: int = 0, end: int | None = None, *, neighbour: Octets | None = None
) -> Span:
    """Explain a tree over a `.crc` file; its value is the checksums. They are compared with those of `neighbour`, if given.

    >>> explain_crc(bytes.fromhex("63726300 00000200 e3069283"), neighbour=b"123456789").find(8).note
    'CRC-32C of bytes 0 to 8: matches'
    """
    stop = len(data) if end is None else end
    count = max(0, stop - start - 8) // 4
    value = Deferred(lambda: tuple(leaf.value for leaf in _explain_sums(data, start + 8, 1, None, 0, count)))
    return Span(
        start, stop, "CRC file", value, "big-endian", partial(_explain_file, data, start, stop, neighbour)
    )


def compute_crc32c(data: bytes) -> int:
    """Compute the CRC-32C (Castagnoli) of some bytes.

    >>> hex(compute_crc32c(b"123456789"))
    '0xe3069283'
    """
    table, crc = _crc32c_table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _explain_file(data: Octets, start: int, end: int, neighbour: Octets | None) -> Iterator[Span]:
    head = bytes(data[start : min(start + 8, end)])
    if head[:4] != _CRC_MAGIC:
        raise Corrupt("not a CRC file", offset=start, expected="magic crc", seen=head[:4])
    yield Span(start, start + 4, "magic", "crc", "ASCII and a zero byte")
    if len(head) < 8:
        raise Corrupt("a CRC file that is cut", offset=start + 4, expected="8 bytes", seen=len(head))
    size = int.from_bytes(head[4:], "big", signed=True)
    if size <= 0:
        raise Corrupt(
            "a chunk size that is not positive", offset=start + 4, expected="1 or more bytes", seen=size
        )
    yield Span(start + 4, start + 8, "bytes per checksum", size, "int32, big-endian")
    whole = end - (end - start) % 4
    count = (whole - start - 8) // 4
    make = partial(_explain_sums, data, start + 8, size, neighbour)
    yield from group_items(count, lambda i: start + 8 + i * 4, "checksums", make)
    if whole < end:
        expected = "4 bytes for a checksum"
        raise Corrupt("a CRC file that is cut", offset=whole, expected=expected, seen=end - whole)
    if neighbour is not None and count != (needed := -(-len(neighbour) // size)):
        raise Corrupt(
            "another number of checksums than the file needs", offset=end, expected=needed, seen=count
        )


def _explain_sums(
    data: Octets, start: int, size: int, neighbour: Octets | None, low: int, high: int
) -> Iterator[Span]:
    """Checksums `low` to `high - 1`; the first of all is at `start`."""
    for number in range(low, high):
        at = start + number * 4
        value, offset = int.from_bytes(bytes(data[at : at + 4]), "big"), number * size
        chunk = b"" if neighbour is None or size > MAX_CHUNK else bytes(neighbour[offset : offset + size])
        if chunk:
            yield _compare(at, number, value, chunk, offset)
        else:
            note = "CRC-32C or CRC-32, big-endian"
            yield Span(at, at + 4, f"checksum {number}", value, note, number=number)


def _compare(at: int, number: int, value: int, chunk: bytes, offset: int) -> Span:
    where = f"bytes {offset} to {offset + len(chunk) - 1}"
    kinds = (("CRC-32C", compute_crc32c), ("CRC-32", zlib.crc32))
    for kind, compute in kinds:
        if compute(chunk) == value:
            return Span(at, at + 4, f"checksum {number}", value, f"{kind} of {where}: matches", number=number)
    message = f"the checksum of {where} is not that of the file"
    expected = " or ".join(f"{compute(chunk):08x} ({kind})" for kind, compute in kinds)
    return damaged_leaf(at, at + 4, Corrupt(message, offset=at, expected=expected, seen=f"{value:08x}"))


@cache
def _crc32c_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


_GZIP_MAGIC = b"\x1f\x8b"
#: Gzip inside of gzip is explained to this depth, then its bytes stay unexplained.
MAX_NESTING = 3
_MEMBERS = 1000
_READ = 1 << 16
_SYSTEMS = {0: "FAT", 3: "Unix", 7: "Macintosh", 11: "NTFS", 255: "unknown"}
_FLAGS = ("FTEXT", "FHCRC", "FEXTRA", "FNAME", "FCOMMENT")


def explain_gzip(data: Octets, start: int = 0, end: int | None = None, *, nesting: int = 0) -> Span:
    """Explain a tree over a gzip file; its value is the decompressed content (at most 256 MiB, else `Corrupt`).

    >>> import gzip
    >>> root = explain_gzip(gzip.compress(b'{"a": 1}'))
    >>> root.value, [part.label for part in root.children]
    (b'{"a": 1}', ['header', 'compressed data', 'CRC-32', 'size'])
    """
    stop = len(data) if end is None else end
    make = partial(_explain_members, data, start, stop, MAX_CONTENT, nesting)
    return Span(start, stop, "gzip", Deferred(lambda: _decode(data, start, stop)), "RFC 1952", make)


def _explain_members(data: Octets, start: int, end: int, room: int, nesting: int) -> Iterator[Span]:
    at, number, is_alone = start, 0, True
    while at < end or at == start:
        if number and not any(bytes(data[at : min(at + _READ, end)])):
            yield from _explain_padding(data, at, end)
            return
        if number == _MEMBERS:
            rest = partial(_explain_members, data, at, end, room, nesting)
            yield Span(at, end, "further members", children=rest)
            return
        header = _explain_header(data, at, end)
        stop, size, crc = inflate(data, header.end, end, room)
        is_alone = is_alone and not any(bytes(data[stop + 8 : min(stop + 8 + _READ, end)]))
        parts = (header, _explain_deflated(data, header.end, stop, room, nesting, is_alone))
        if is_alone:
            yield from parts
            yield from _explain_trailer(data, stop, end, size, crc)
        else:
            behind = min(stop + 8, end)
            trailer = partial(_explain_trailer, data, stop, behind, size, crc)
            yield Span(at, behind, f"member {number}", children=partial(_join, parts, trailer))
        if end - stop < 8:
            return
        at, number, room = stop + 8, number + 1, room - size


def _join(parts: tuple[Span, ...], trailer: partial[Iterator[Span]]) -> Iterator[Span]:
    yield from parts
    yield from trailer()


def _explain_padding(data: Octets, start: int, end: int) -> Iterator[Span]:
    for at in range(start, end, _READ):
        if any(bytes(data[at : min(at + _READ, end)])):
            raise Corrupt("bytes behind the last member", offset=at, expected="zero bytes or a member")
    yield Span(start, end, "zero bytes", role="padding")


def _explain_header(data: Octets, start: int, end: int) -> Span:
    reader = SpanReader(data, start, end, "a gzip header")
    magic = reader.octets(2, "magic")
    if magic != _GZIP_MAGIC:
        raise Corrupt("not a gzip member", offset=start, expected="1f 8b", seen=magic.hex(" "))
    spans = [Span(start, reader.at, "magic", None, "1f 8b"), reader.number("<B", "method", "deflate")]
    if spans[-1].value != 8:
        reader.fail("a compression that gzip does not have", start + 2, expected=8, seen=spans[-1].value)
    spans.append(reader.number("<B", "flags", describe=_name_flags))
    flags = spans[-1].value
    if flags & 0xE0:
        reader.fail("flags that gzip does not have", start + 3, seen=f"{flags:08b}")
    spans.append(reader.number("<I", "mtime", describe=_format_time))
    spans.append(reader.number("<B", "extra flags"))
    spans.append(reader.number("<B", "system", describe=lambda system: _SYSTEMS.get(system, "another one")))
    if flags & 4:
        spans.append(reader.number("<H", "extra size"))
        at, extra = reader.at, reader.octets(spans[-1].value, "extra field")
        spans.append(Span(at, reader.at, "extra", extra, "bytes"))
    if flags & 8:
        spans.append(_explain_text(reader, "name"))
    if flags & 16:
        spans.append(_explain_text(reader, "comment"))
    if flags & 2:
        crc = zlib.crc32(bytes(data[start : reader.at])) & 0xFFFF
        spans.append(reader.number("<H", "header CRC", "matches"))
        if spans[-1].value != crc:
            at, seen = spans[-1].start, spans[-1].value
            reader.fail("a header CRC that is not the header's", at, expected=crc, seen=seen)
    return Span(start, reader.at, "header", children=tuple(spans))


def _name_flags(flags: int) -> str:
    return ", ".join(name for bit, name in enumerate(_FLAGS) if flags >> bit & 1) or "none"


def _format_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else "not recorded"


def _explain_text(reader: SpanReader, label: str) -> Span:
    """Latin-1 text up to a zero byte; no more than 64 KiB of it."""
    start = reader.at
    size = bytes(reader.data[start : min(start + _READ, reader.end)]).find(0) + 1
    if not size:
        reader.fail(f"a {label} without an end in a gzip header", start)
    text = reader.octets(size, label)[:-1].decode("latin-1")
    return Span(start, reader.at, label, text, "Latin-1, ends with a zero byte")


def _explain_deflated(data: Octets, start: int, end: int, room: int, nesting: int, is_alone: bool) -> Span:
    def unpack() -> tuple[bytes, Span]:
        parts: list[bytes] = []
        inflate(data, start, end, room, parts)
        content = b"".join(parts)
        return content, _explain_content(content, nesting, is_alone)

    return Span(start, end, "compressed data", None, "deflate", unpacked=unpack)


def _explain_content(content: bytes, nesting: int, is_whole: bool) -> Span:
    """What was compressed; of several members each has only a part of it, which is recognised only if it is text."""
    kind = choose_kind(content)
    if not is_whole:
        kind = "text" if kind in ("text", "json", "json_lines") else "unknown"
    elif kind == "gzip":
        if nesting + 1 < MAX_NESTING:
            return explain_gzip(content, nesting=nesting + 1)
        kind = "unknown"
    return explain(content, kind)


def _explain_trailer(data: Octets, start: int, end: int, size: int, crc: int) -> Iterator[Span]:
    for at, label, expected in ((start, "CRC-32", crc), (start + 4, "size", size & 0xFFFFFFFF)):
        stored = bytes(data[at : min(at + 4, end)])
        if len(stored) < 4:
            raise Corrupt(f"a gzip member that ends before its {label}", offset=at, expected="4 bytes")
        value = int.from_bytes(stored, "little")
        if value != expected:
            raise Corrupt(f"a {label} that is not the content's", offset=at, expected=expected, seen=value)
        yield Span(at, at + 4, label, value, "uint32, little-endian: matches")


def _decode(data: Octets, start: int, end: int) -> bytes:
    content: list[bytes] = []
    at, room = start, MAX_CONTENT
    while at < end or at == start:
        if at > start and not any(bytes(data[at : min(at + _READ, end)])):
            tuple(_explain_padding(data, at, end))
            break
        header = _explain_header(data, at, end)
        stop, size, crc = inflate(data, header.end, end, room, content)
        tuple(_explain_trailer(data, stop, end, size, crc))
        at, room = stop + 8, room - size
    return b"".join(content)
