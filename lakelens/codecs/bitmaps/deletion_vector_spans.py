"""Deletion vectors and Paimon's index files with a name for every byte; see also `lakelens.codecs.bitmaps.deletion_vector`.

deletion vector                                  deletion-vector index file (Paimon)
├─ length     of magic and bitmap                ├─ version
├─ magic      which of the two bitmaps           └─ a deletion vector for each data file
├─ bitmap     `lakelens.codecs.bitmaps.roaring_spans`
└─ CRC-32     of magic and bitmap                hash index (Paimon): one hash for each key
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.codecs.bitmaps.deletion_vector import (
    MAGIC_32,
    MAGIC_64,
    PAIMON_VERSION,
    decode_hash_index,
    decode_iceberg_dv,
    decode_paimon_dv,
    decode_paimon_dv_file,
)
from lakelens.codecs.bitmaps.roaring_spans import explain_roaring32, explain_roaring64
from lakelens.codecs.span.reader import (
    GROUP,
    SpanReader,
    collect,
    damage_span,
    damage_span_if,
    format_count,
    group_items,
    rename,
    shift_errors,
)
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

if TYPE_CHECKING:
    from pyroaring import BitMap64

    #: A vector as the index manifest names it: (data file, offset, length), or a mapping with these keys.
    Range = tuple[str, int, int] | Mapping[str, Any]

_FRAME = 8  # the length word and the CRC word
_SMALLEST = 12  # the magic, and a bitmap without containers
_PIECE = 1 << 20
_KINDS = {
    MAGIC_32: "Paimon version 1, a 32-bit bitmap",
    MAGIC_64: "Iceberg v3 and Paimon version 2, a 64-bit bitmap",
}


def explain_deletion_vector(
    data: Octets, start: int = 0, end: int | None = None, *, iceberg: bool = False
) -> Span:
    """One deletion vector that fills `data[start:end]`, of Iceberg or of either version of Paimon, told by its magic.

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


def explain_paimon_dv_index(
    data: Octets,
    start: int = 0,
    end: int | None = None,
    *,
    ranges: Iterable[Range] | None = None,
) -> Span:
    """A deletion-vector index file of Paimon: its version, then a vector for each data file.

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

    def decode() -> dict[str, BitMap64] | dict[int, BitMap64]:
        if known is not None:
            with shift_errors(start):
                return decode_paimon_dv_file(bytes(data[start:end]), known)
        return {vector.start: vector.value for vector in _explain_vectors(data, start + 1, end)}

    note = "the deleted rows of data files"
    children = partial(_explain_index, data, start, end, known)
    return Span(start, end, "deletion-vector index file", Deferred(decode), note, children, origin=start)


def explain_hash_index(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A `HASH` index file of Paimon (dynamic buckets): one hash for each key, as `decode_hash_index` gives them.

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
    wrong = length.value != end - start - _FRAME
    message = "the length word of a deletion vector is wrong"
    yield damage_span_if(wrong, length, message, expected=end - start - _FRAME)
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
        yield Span(body, end - 4, "bitmap", None, "of a kind that is not known", role="unexplained")
    yield _explain_crc(reader, magic_at, check=magic in accepted)


def _explain_crc(reader: SpanReader, start: int, *, check: bool) -> Span:
    """The CRC word, compared with the CRC of the bytes from `start` to it."""
    computed, end = 0, reader.at
    for at in range(start, end, _PIECE):
        computed = zlib.crc32(bytes(reader.data[at : min(at + _PIECE, end)]), computed)
    verdict = "matches" if reader.data[end : end + 4] == computed.to_bytes(4, "big") else "does not match"
    words = f"of magic and bitmap: stored {{:08x}}, computed {computed:08x}, {verdict}"
    leaf = reader.number(">I", "CRC-32", describe=lambda stored: words.format(stored))
    return damage_span_if(
        check and leaf.value != computed,
        leaf,
        "the CRC of a deletion vector does not match",
        expected=f"{computed:08x}",
        seen=f"{leaf.value:08x}",
    )


def _read_range(item: Range) -> tuple[str, int, int]:
    if isinstance(item, Mapping):
        return (str(item.get("data_file")), int(item.get("offset") or 0), int(item.get("length") or 0))
    return item


def _explain_index(
    data: Octets, start: int, end: int, ranges: list[tuple[str, int, int]] | None
) -> Iterator[Span]:
    reader = SpanReader(data, start, end, "a deletion-vector file")
    version = reader.number(">B", "version")
    if version.value != PAIMON_VERSION:
        error = Unsupported(f"version {version.value} of Paimon's deletion-vector files")
        yield damage_span(version, error)
        yield reader.rest("vectors", "of a version that is not known")
        return
    yield version
    yield from (
        _walk_vectors(data, reader.at, end) if ranges is None else _name_vectors(data, start, end, ranges)
    )


def _walk_vectors(data: Octets, start: int, end: int) -> Iterator[Span]:
    """The vectors from `start` on, found by their length words; in groups when there are many."""
    found = _find_vectors(data, start, end)
    first, failure = 0, None
    while failure is None:
        bounds, failure = collect(islice(found, GROUP))
        if not bounds:
            break
        make = partial(_explain_vectors, data, bounds[0][0], bounds[-1][1])
        if first == 0 and len(bounds) < GROUP:
            yield from make()
        else:
            label = f"vectors {first} to {first + len(bounds) - 1}"
            yield Span(bounds[0][0], bounds[-1][1], label, None, "", make)
        first += len(bounds)
    if failure is not None:
        raise failure


def _find_vectors(data: Octets, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where vectors lie that follow each other. Raises `Corrupt` where a length does not fit."""
    reader = SpanReader(data, start, end, "a deletion-vector file")
    while reader.left:
        begin = reader.at
        size: int = struct.unpack(">i", reader.octets(4, "a vector's length"))[0]
        if not _SMALLEST <= size <= reader.left - 4:
            expected = f"{_SMALLEST} to {reader.left - 4}"
            reader.fail("an impossible length of a deletion vector", begin, expected=expected, seen=size)
        reader.take(size + 4, "a deletion vector")
        yield begin, reader.at


def _explain_vectors(data: Octets, start: int, end: int) -> Iterator[Span]:
    for begin, stop in _find_vectors(data, start, end):
        yield explain_deletion_vector(data, begin, stop)


def _name_vectors(data: Octets, start: int, end: int, ranges: list[tuple[str, int, int]]) -> Iterator[Span]:
    """The vectors where the index manifest says that they are, each with the name of its data file."""
    at = start + 1
    for offset, group in _sort_ranges(ranges):
        name, begin = ", ".join(name for name, _ in group), start + offset
        if not start <= begin <= end - 4:
            raise Corrupt(
                f"the deletion vector of {name} starts outside its file",
                offset=min(max(begin, start), end),
                expected=f"1 to {end - start - 4}",
                seen=offset,
            )
        size: int = struct.unpack(">i", bytes(data[begin : begin + 4]))[0]
        wrong = [length for _, length in group if length not in (size, size + _FRAME)]
        if wrong:
            raise Corrupt(
                f"the deletion vector of {name} is not as long as the index manifest says",
                offset=begin,
                expected=wrong[0],
                seen=size,
            )
        stop = begin + size + _FRAME
        if begin < at or size < 0 or stop > end:
            message = f"the deletion vector of {name} overlaps another one or leaves its file"
            raise Corrupt(message, offset=begin, expected=f"{at} to {end}", seen=f"{begin} to {stop}")
        if at < begin:
            yield _tell_unnamed(at, begin)
        vector = explain_deletion_vector(data, begin, stop)
        yield rename(vector, name, "deletion vector")
        at = stop
    if at < end:
        yield _tell_unnamed(at, end)


def _tell_unnamed(start: int, end: int) -> Span:
    note = "no vector that the index manifest names lies here"
    return Span(start, end, "unreferenced", None, note, role="unexplained")


def _sort_ranges(
    ranges: list[tuple[str, int, int]],
) -> list[tuple[int, list[tuple[str, int]]]]:
    """The ranges by offset; data files that share a vector come together."""
    groups: dict[int, list[tuple[str, int]]] = {}
    for name, offset, length in ranges:
        groups.setdefault(offset, []).append((name, length))
    return sorted(groups.items())


def _explain_hashes(data: Octets, start: int, end: int) -> Iterator[Span]:
    count = (end - start) // 4

    def make(first: int, stop: int) -> Iterator[Span]:
        raw = bytes(data[start + 4 * first : start + 4 * stop])
        for i, value in enumerate(struct.unpack(f">{stop - first}i", raw), first):
            at = start + 4 * i
            yield Span(at, at + 4, f"hash {i}", value, f"int32, big-endian: {value & 0xFFFFFFFF:08x}")

    yield from group_items(count, lambda i: start + 4 * i, "hashes", make)
    if start + 4 * count < end:
        raise Corrupt(
            "a hash index cut inside a hash",
            offset=start + 4 * count,
            expected="a multiple of 4 bytes",
            seen=f"{end - start} bytes",
        )
