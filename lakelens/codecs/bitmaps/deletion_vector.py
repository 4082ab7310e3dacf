"""Deletion vectors: the positions of the rows of one data file that are deleted.

    Iceberg (Puffin blob deletion-vector-v1) and Paimon version 2      Paimon version 1
    length L      i32 BE   of magic + bitmap                           length L      i32 BE   of magic + bitmap
    magic         D1 D3 39 64                                          magic         5E 43 F2 D0
    bitmap        64-bit Roaring                                       bitmap        32-bit Roaring
    CRC-32        u32 BE   of magic + bitmap                           CRC-32        u32 BE   of magic + bitmap

    Paimon's index file: version (one byte, 1), then vectors; the index manifest gives each one's name, offset and length
    Paimon's hash index: i32 BE, one per key

Follows "Blob types: deletion-vector-v1" of Iceberg's Puffin specification and Paimon's "Table Index" specification
("Deletion Vectors", "Dynamic Bucket Index"). Length, magic and CRC are checked apart from each other, then every container
of the bitmap; each failure is a `Corrupt` with the offset.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from lakelens.codecs.bitmaps.roaring import decode_roaring32, decode_roaring64
from lakelens.codecs.bitmaps.roaring_spans import explain_roaring32, explain_roaring64
from lakelens.codecs.span.reader import (
    FixedField,
    SpanReader,
    collect,
    damage_span_if,
    explain_apart,
    explain_numbers,
    format_count,
    rename,
    shift_errors,
)
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.bitmaps import BitMap64

    #: A vector as the index manifest names it: (data file, offset, length), or a mapping with these keys.
    Range = tuple[str, int, int] | Mapping[str, Any]


MAGIC_64 = bytes.fromhex("d1d33964")
MAGIC_32 = bytes.fromhex("5e43f2d0")
_MAGIC_NATIVE = 1681511376  # before the portable form
PAIMON_VERSION = 1
FRAME = 8  # the length word and the CRC word


def decode_iceberg_dv(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """Decode the deleted positions (0-based) in an Iceberg deletion vector: the bytes of one Puffin blob.

    `base` is the blob's offset in its file: offsets in errors count from the file's start. Gives a
    `pyroaring.BitMap64`: `len()`, iteration in order, `in`, `to_array()`. Follows Puffin's "deletion-vector-v1". Raises
    `Corrupt`.

    >>> blob = "00000024d1d339640100000000000000000000003a300000010000000000010010000000020003007a813847"
    >>> list(decode_iceberg_dv(bytes.fromhex(blob)))
    [2, 3]
    """
    return _decode_vector(data, "Iceberg", (MAGIC_64,), base, path)


def decode_native_dv(data: bytes, *, path: str | None = None) -> BitMap64 | None:
    """Decode the native form of old writers, length and CRC words included; None where it is another one.

    How many bitmaps, and each 32-bit bitmap with its size. One protocol's own example has its numbers in the other order
    than writers do. Raises `Corrupt`.

    >>> print(decode_native_dv(bytes.fromhex("00000024d1d33964")))
    None
    """
    order = _find_order(data[4:8])
    return None if order is None else _decode_native(data[4:-4], order, 4, path)


def _find_order(magic: bytes) -> str | None:
    """Find the order of the numbers of a native vector; None for the magic of another one."""
    return next((sign for sign in "<>" if magic == struct.pack(f"{sign}I", _MAGIC_NATIVE)), None)


def _decode_native(data: bytes, order: str, base: int, path: str | None = None) -> BitMap64:
    """Decode what a native vector has from its magic on, which stands at `base`."""
    from lakelens.bitmaps import BitMap64

    found, at = BitMap64(), 8
    try:
        (count,) = struct.unpack_from(f"{order}I", data, 4)
        for high in range(min(count, len(data))):
            (size,) = struct.unpack_from(f"{order}I", data, at)
            low = decode_roaring32(data[at + 4 : at + 4 + size], base=base + at + 4, path=path)
            found |= low if not high else BitMap64((high << 32) + position for position in low)
            at += 4 + size
    except struct.error:
        message = "a deletion vector in the native form is cut off"
        raise Corrupt(message, path=path, offset=at, seen=f"{len(data)} bytes") from None
    return found


def decode_paimon_dv(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The deleted positions (0-based) in one Paimon deletion vector of either version, length and CRC words included.

    See `decode_iceberg_dv`. Follows Paimon's "Table Index" specification. Raises `Corrupt`.

    >>> vector = "000000225e43f2d03a300000020000000000010001000000180000001c00000000000500701127825e10"
    >>> list(decode_paimon_dv(bytes.fromhex(vector)))
    [0, 5, 70000]
    """
    return _decode_vector(data, "Paimon", (MAGIC_32, MAGIC_64), base, path)


def decode_hash_index(data: bytes, *, path: str | None = None) -> NDArray[np.int32]:
    """Decode the key hashes in a Paimon `HASH` index file (dynamic buckets), in file order. Raises `Corrupt`.

    >>> decode_hash_index(bytes.fromhex("5759f99e")).tolist()
    [1465514398]
    """
    if len(data) % 4:
        raise Corrupt(
            "a hash index cut inside a hash",
            path=path,
            offset=len(data) - len(data) % 4,
            expected="a multiple of 4 bytes",
            seen=f"{len(data)} bytes",
        )
    try:
        import numpy as np
    except ModuleNotFoundError:  # numbers in order, as far as a card needs them
        return cast("NDArray[np.int32]", array("i", struct.unpack(f">{len(data) // 4}i", data)))
    return np.frombuffer(data, ">i4").astype(np.int32)


def _decode_vector(
    data: bytes, writer: str, magics: tuple[bytes, ...], base: int, path: str | None
) -> BitMap64:
    """Decode the positions of a vector whose length, magic and CRC words are right."""

    def fail(message: str, at: int, expected: object, seen: object) -> NoReturn:
        raise Corrupt(message, path=path, offset=base + at, expected=expected, seen=seen)

    if len(data) < FRAME + 4:
        fail("too short for a deletion vector", 0, f"at least {FRAME + 4} bytes", f"{len(data)} bytes")
    length = int.from_bytes(data[:4], "big", signed=True)
    if length != len(data) - FRAME:
        fail("the length word of a deletion vector is wrong", 0, len(data) - FRAME, length)
    payload, magic = data[4:-4], data[4:8]
    if magic not in magics:
        expected = "magic " + " or ".join(known.hex() for known in magics)
        fail(f"not {'an' if writer == 'Iceberg' else 'a'} {writer} deletion vector", 4, expected, magic.hex())
    stored, computed = data[-4:].hex(), f"{zlib.crc32(payload):08x}"
    if stored != computed:
        fail("the CRC of a deletion vector does not match", len(data) - 4, computed, stored)
    decode = decode_roaring32 if magic == MAGIC_32 else decode_roaring64
    return decode(payload[4:], base=base + 8, path=path)


# Deletion vectors and Paimon's index files with a name for every byte; see also `lakelens.codecs.bitmaps.deletion_vector`.
#
# deletion vector                                  deletion-vector index file (Paimon)
# ├─ length     of magic and bitmap                ├─ version
# ├─ magic      which of the two bitmaps           └─ a deletion vector for each data file
# ├─ bitmap     `lakelens.codecs.bitmaps.roaring_spans`
# └─ CRC-32     of magic and bitmap                hash index (Paimon): one hash for each key

_SMALLEST = 12  # the magic, and a bitmap without containers
_PIECE = 1 << 20
_FILE = "a deletion-vector file"
_VERSION = FixedField(
    ">B", "version", known=(PAIMON_VERSION,), unread="version {} of Paimon's deletion-vector files"
)
_KINDS = {
    MAGIC_32: "Paimon version 1, a 32-bit bitmap",
    MAGIC_64: "Iceberg v3 and Paimon version 2, a 64-bit bitmap",
}


def explain_deletion_vector(
    data: Octets, start: int = 0, end: int | None = None, *, iceberg: bool = False
) -> Span:
    """Explain one deletion vector that fills `data[start:end]`, of Iceberg or of either version of Paimon, by its magic.

    The value is the set of deleted positions (0-based), as `decode_paimon_dv` gives it. With `iceberg` the magic must be
    Iceberg's. Follows "deletion-vector-v1" of the Puffin specification and "Deletion Vectors" of Paimon's.

    >>> blob = "00000024d1d339640100000000000000000000003a300000010000000000010010000000020003007a813847"
    >>> span = explain_deletion_vector(bytes.fromhex(blob))
    >>> list(span.value), [child.label for child in span.children]
    ([2, 3], ['length', 'magic', '64-bit bitmap', 'CRC-32'])
    """
    end = len(data) if end is None else end

    def decode() -> BitMap64:
        return (decode_iceberg_dv if iceberg else decode_paimon_dv)(bytes(data[start:end]), base=start)

    note = "the deleted rows of one data file, 0-based"
    children = partial(_explain_vector, data, start, end, iceberg)
    return Span(start, end, "deletion vector", Deferred(decode), note, children, origin=start)


def explain_bare_vector(
    data: Octets, start: int = 0, end: int | None = None, *, size: int | None = None
) -> Span:
    """Explain a vector without length and checksum, as a document has it in a text: `size` bytes, and what fills them up.

    >>> bare = bytes.fromhex("d1d339640100000000000000000000003a30000001000000000001001000000002000300")
    >>> span = explain_bare_vector(bare + b"..", size=len(bare))
    >>> list(span.value), [child.label for child in span.children]
    ([2, 3], ['magic', '64-bit bitmap', 'filling'])
    """
    end = len(data) if end is None else end
    stop = end if size is None else min(start + size, end)
    order = _find_order(bytes(data[start : start + 4]))

    def decode() -> BitMap64:
        if order is not None:
            return _decode_native(bytes(data[start:stop]), order, start)
        return decode_roaring64(bytes(data[start + 4 : stop]), base=start + 4)

    def explain() -> Iterator[Span]:
        reader = SpanReader(data, start, stop, "a deletion vector")
        magic = reader.octets(4, "its magic")
        form = "a 64-bit bitmap" if magic == MAGIC_64 else "32-bit bitmaps, the native form" if order else ""
        leaf = Span(start, reader.at, "magic", magic, form)
        message = "not a deletion vector"
        yield damage_span_if(not form, leaf, message, expected=MAGIC_64.hex(), seen=magic.hex())
        if order is not None:
            yield reader.number(f"{order}I", "bitmaps", "how many there are")
            while reader.left:
                length = reader.number(f"{order}I", "size", "bytes of the bitmap")
                yield length
                at = reader.at
                reader.take(length.value, "a bitmap")
                yield explain_roaring32(data, at, reader.at)
        elif magic == MAGIC_64:
            yield explain_roaring64(data, reader.at, stop)
        elif reader.at < stop:
            yield Span(reader.at, stop, "bitmap", None, "of an unknown kind", role="unexplained")
        if stop < end:
            yield Span(stop, end, "filling", bytes(data[stop:end]), "up to a multiple of four bytes")

    note = "the deleted rows of one data file, 0-based"
    return Span(start, end, "deletion vector", Deferred(decode), note, explain, origin=start)


def explain_paimon_dv_index(
    data: Octets,
    start: int = 0,
    end: int | None = None,
    *,
    ranges: Iterable[Range] | None = None,
) -> Span:
    """Explain a deletion-vector index file of Paimon: its version, then a vector for each data file.

    `ranges` are those of the index manifest: (data file, offset, length), or mappings as `IndexFile.ranges` has them.
    Without them the vectors are found by their lengths, one after the other. The value maps the data file's name (without
    ranges: the byte of the vector) to its deleted positions. Follows "Deletion Vectors" of Paimon's specification.

    >>> vector = bytes.fromhex("000000225e43f2d03a300000020000000000010001000000180000001c00000000000500701127825e10")
    >>> span = explain_paimon_dv_index(b"\\x01" + vector, ranges=[("a.orc", 1, 34)])
    >>> {name: list(rows) for name, rows in span.value.items()}
    {'a.orc': [0, 5, 70000]}
    """
    end = len(data) if end is None else end
    known = None if ranges is None else [_read_range(item) for item in ranges]

    def decode() -> dict[str | int, BitMap64]:
        version, *_ = _explain_version(SpanReader(data, start, end, _FILE))
        version.check()
        vectors: dict[str | int, BitMap64] = {}
        for vector in _find_vectors(data, start, end, known):
            positions = decode_paimon_dv(bytes(data[vector.start : vector.end]), base=vector.start)
            vectors |= dict.fromkeys(vector.names or (vector.start,), positions)
        return vectors

    note = "the deleted rows of data files"
    children = partial(_explain_index, data, start, end, known)
    return Span(start, end, "deletion-vector index file", Deferred(decode), note, children, origin=start)


def explain_hash_index(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a `HASH` index file of Paimon (dynamic buckets): one hash for each key, as `decode_hash_index` gives them.

    Follows "Dynamic Bucket Index" of Paimon's specification.

    >>> [leaf.value for leaf in explain_hash_index(bytes.fromhex("5759f99e00000001")).leaves()]
    [1465514398, 1]
    """
    end = len(data) if end is None else end

    def decode() -> Any:
        with shift_errors(start):
            return decode_hash_index(bytes(data[start:end]))

    count = (end - start) // 4
    note = f"hashes of {format_count(count, 'key')}"
    children = partial(_explain_hashes, data, start, end)
    return Span(start, end, "hash index", Deferred(decode), note, children, origin=start)


def _explain_vector(data: Octets, start: int, end: int, iceberg: bool) -> Iterator[Span]:
    reader = SpanReader(data, start, end, "a deletion vector")
    length = reader.number(">i", "length", "magic and bitmap")
    wrong = length.value != end - start - FRAME
    message = "the length word of a deletion vector is wrong"
    yield damage_span_if(wrong, length, message, expected=end - start - FRAME)
    magic_at = reader.at
    magic = reader.octets(4, "its magic")
    accepted = (MAGIC_64,) if iceberg else (MAGIC_32, MAGIC_64)
    leaf = Span(magic_at, reader.at, "magic", magic, _KINDS.get(magic, ""))
    message = "not an Iceberg deletion vector" if iceberg else "not a deletion vector"
    expected = "magic " + " or ".join(kind.hex() for kind in accepted)
    yield damage_span_if(magic not in accepted, leaf, message, expected=expected, seen=magic.hex())
    body = reader.at
    reader.take(end - 4 - body, "its bitmap")
    if magic in accepted:
        yield (explain_roaring32 if magic == MAGIC_32 else explain_roaring64)(data, body, end - 4)
    elif body < end - 4:
        yield Span(body, end - 4, "bitmap", None, "of an unknown kind", role="unexplained")
    # the CRC word, compared with the CRC of the bytes before it
    computed, end = 0, reader.at
    for at in range(magic_at, end, _PIECE):
        computed = zlib.crc32(bytes(reader.data[at : min(at + _PIECE, end)]), computed)
    verdict = "matches" if reader.data[end : end + 4] == computed.to_bytes(4, "big") else "does not match"
    words = f"of magic and bitmap: stored {{:08x}}, computed {computed:08x}, {verdict}"
    leaf = reader.number(">I", "CRC-32", describe=lambda stored: words.format(stored))
    yield damage_span_if(
        magic in accepted and leaf.value != computed,
        leaf,
        "the CRC of a deletion vector does not match",
        expected=f"{computed:08x}",
        seen=f"{leaf.value:08x}",
    )


def _read_range(item: Range) -> tuple[str, int, int]:
    if isinstance(item, Mapping):
        return (str(item.get("data_file")), int(item.get("offset") or 0), int(item.get("length") or 0))
    return item


class _Vector(NamedTuple):
    """Where a vector is, and the data files that it is for, as far as they are known."""

    start: int
    end: int
    names: tuple[str, ...]


def _explain_version(reader: SpanReader) -> Iterator[Span]:
    version = _VERSION.read(reader)
    yield version
    if version.error is not None:
        yield reader.rest("vectors", "of an unknown version")


def _explain_index(
    data: Octets, start: int, end: int, ranges: list[tuple[str, int, int]] | None
) -> Iterator[Span]:
    reader = SpanReader(data, start, end, _FILE)
    head = list(_explain_version(reader))
    yield from head
    if head[0].error is not None:
        return
    vectors, failure = collect(_find_vectors(data, start, end, ranges))

    def explain(vector: _Vector) -> Span:
        span = explain_deletion_vector(data, vector.start, vector.end)
        return rename(span, ", ".join(vector.names), "deletion vector") if vector.names else span

    stop = end if failure is None else max((vector.end for vector in vectors), default=reader.at)
    gap = "no vector that the index manifest names is here"
    yield from explain_apart(
        vectors,
        lambda vector: (vector.start, vector.end),
        explain,
        reader.at,
        stop,
        "vectors",
        gap,
        lambda vector: f"the deletion vector of {', '.join(vector.names)}",
    )
    if failure is not None:
        raise failure


def _find_vectors(
    data: Octets, start: int, end: int, ranges: list[tuple[str, int, int]] | None
) -> Iterator[_Vector]:
    """Find where the index manifest says that vectors are, or those that follow each other. Raises `Corrupt`."""
    if ranges is not None:
        yield from _name_vectors(data, start, end, ranges)
        return
    reader = SpanReader(data, start + 1, end, _FILE)
    while reader.left:
        begin = reader.at
        size = int.from_bytes(reader.octets(4, "a vector's length"), "big", signed=True)
        if not _SMALLEST <= size <= reader.left - 4:
            expected = f"{_SMALLEST} to {reader.left - 4}"
            reader.fail("an impossible length of a deletion vector", begin, expected=expected, seen=size)
        reader.take(size + 4, "a deletion vector")
        yield _Vector(begin, reader.at, ())


def _name_vectors(
    data: Octets, start: int, end: int, ranges: list[tuple[str, int, int]]
) -> Iterator[_Vector]:
    """Name the vectors of the index manifest by offset; data files that share a vector come together. Raises `Corrupt`."""
    groups: dict[int, list[tuple[str, int]]] = {}
    for name, offset, length in ranges:
        groups.setdefault(offset, []).append((name, length))
    for offset, group in sorted(groups.items()):
        names, begin = tuple(name for name, _ in group), start + offset
        vector = f"the deletion vector of {', '.join(names)}"
        if not start <= begin <= end - 4:
            at, expected = min(max(begin, start), end), f"1 to {end - start - 4}"
            raise Corrupt(f"{vector} starts outside its file", offset=at, expected=expected, seen=offset)
        size = int.from_bytes(data[begin : begin + 4], "big", signed=True)
        wrong = [length for _, length in group if length not in (size, size + FRAME)]
        if wrong:
            message = f"{vector} is not as long as the index manifest says"
            raise Corrupt(message, offset=begin, expected=wrong[0], seen=size)
        stop = begin + size + FRAME
        if size < 0 or stop > end:
            raise Corrupt(f"{vector} leaves its file", offset=begin, expected=f"up to {end}", seen=stop)
        yield _Vector(begin, stop, names)


def _explain_hashes(data: Octets, start: int, end: int) -> Iterator[Span]:
    rest = (end - start) % 4

    def describe(value: int) -> str:
        return f"{value & 0xFFFFFFFF:08x}"

    yield from explain_numbers(
        data, start, ">i", (end - start) // 4, "hash", describe=describe, group="hashes"
    )
    if rest:
        expected, seen = "a multiple of 4 bytes", f"{end - start} bytes"
        raise Corrupt("a hash index cut inside a hash", offset=end - rest, expected=expected, seen=seen)
