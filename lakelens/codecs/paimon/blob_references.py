"""Which packs of managed blobs one data file of Apache Paimon refers to: its `.blobref` file.

    magic 50 42 4C 52 ("PBLR") | version 1, 1 byte | count, int32 BE | count * (UTF root, UTF name) | CRC-32, uint32 BE
    UTF    length, uint16 BE | modified UTF-8, as Java's writeUTF has it
    the checksum covers all from the version to the last name

Follows `ManagedBlobReferenceFile` of Paimon's sources (since 2.0). A pack is in the directory of its data file. Refused with
`Corrupt`: another magic or version, counts and lengths that do not add up, a wrong checksum, a name with a directory in it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from lakelens.codecs.span.reader import SpanReader, damage_span_if
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

MAGIC = b"PBLR"
_HEAD = struct.Struct(">4sBi")
_LEAST = _HEAD.size + 4
_MOST = 1 << 24


def decode_blob_references(data: bytes, path: str | None = None) -> tuple[str, ...]:
    """The names of the packs. Raises `Corrupt` with the offset.

    >>> body = bytes.fromhex("01 00000001 0002") + b"/b" + b"\\0\\x0e" + b"a.managed.blob"
    >>> decode_blob_references(MAGIC + body + zlib.crc32(body).to_bytes(4, "big"))
    ('a.managed.blob',)
    """
    if len(data) < _LEAST:
        raise Corrupt(
            "a blob reference file that is cut", path=path, offset=len(data), expected=f"{_LEAST} bytes"
        )
    magic, version, count = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise Corrupt("not a blob reference file", path=path, offset=0, expected=MAGIC, seen=magic)
    if version != 1:
        raise Corrupt("a version that is not known", path=path, offset=4, expected=1, seen=version)
    end = len(data) - 4
    checksum, counted = int.from_bytes(data[end:], "big"), zlib.crc32(data[4:end])
    if checksum != counted:
        raise Corrupt(
            "a wrong checksum", path=path, offset=end, expected=f"{counted:08x}", seen=f"{checksum:08x}"
        )
    texts = list(_iterate_texts(data, _HEAD.size, end, path))
    if count < 0 or len(texts) != 2 * count:
        raise Corrupt("another number of packs", path=path, offset=5, expected=len(texts) // 2, seen=count)
    names = tuple(texts[1::2])
    for name in names:
        if "/" in name or "\\" in name or name in ("", ".", ".."):
            raise Corrupt("a pack that is not named alone", path=path, expected="a file's name", seen=name)
    return names


def _iterate_texts(data: bytes, at: int, end: int, path: str | None) -> Iterator[str]:
    while at < end:
        start = at + 2
        stop = start + int.from_bytes(data[at:start], "big")
        if start > end or stop > end:
            raise Corrupt("a text that ends behind the file", path=path, offset=at, expected=end, seen=stop)
        try:
            yield data[start:stop].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Corrupt("a text that is no UTF-8", path=path, offset=start + error.start) from error
        at = stop


def explain_blob_references(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A tree over a `.blobref` file; its value is the names of the packs.

    >>> body = bytes.fromhex("01 00000001 0002") + b"/b" + b"\\0\\x0e" + b"a.managed.blob"
    >>> span = explain_blob_references(MAGIC + body + zlib.crc32(body).to_bytes(4, "big"))
    >>> span.value, [part.label for part in span.children][3:]
    (('a.managed.blob',), ['root 0', 'name 0', 'CRC-32'])
    """
    stop = len(data) if end is None else end

    def decode() -> tuple[str, ...]:
        if stop - start > _MOST:
            raise Corrupt(
                "a blob reference file that is too long", expected=f"{_MOST} bytes", seen=stop - start
            )
        return decode_blob_references(bytes(data[start:stop]))

    def make() -> Iterator[Span]:
        reader = SpanReader(data, start, stop, "a blob reference file")
        magic = reader.magic(4)
        yield damage_span_if(magic.value != MAGIC, magic, "not a blob reference file", expected=MAGIC)
        version = reader.number(">B", "version")
        yield damage_span_if(version.value != 1, version, "a version that is not known", expected=1)
        packs = reader.count(">i", "packs", "packs", 4)
        yield packs
        for number in range(max(packs.value, 0)):
            for label in ("root", "name"):
                begin = reader.at
                size = int.from_bytes(reader.octets(2, f"the length of a {label}"), "big")
                text = reader.octets(size, f"a {label}").decode("utf-8", "replace")
                yield Span(begin, reader.at, f"{label} {number}", text, "uint16 length, then modified UTF-8")
        yield _check_sum(data, start, reader)

    return Span(start, stop, "blob references", Deferred(decode), "packs of managed blobs", make)


def _check_sum(data: Octets, start: int, reader: SpanReader) -> Span:
    at = reader.at
    stored = reader.number(">I", "CRC-32", "of all from the version on")
    if at - start > _MOST:
        return stored
    found = zlib.crc32(bytes(data[start + 4 : at]))
    return damage_span_if(found != stored.value, stored, "a wrong checksum", expected=found)
