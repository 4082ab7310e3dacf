"""Puffin files with a name for every byte; `lakelens.codecs.iceberg.puffin` draws the layout.

    puffin file
    ├─ magic
    ├─ blobs      in order of bytes, each explained by its type; bytes that the footer does not name say so
    └─ footer     magic, payload (JSON), payload size, flags, magic

Compressed blobs and payloads are one leaf as stored, whose `unpack` gives their content explained.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial

from lakelens.codecs.bitmaps.deletion_vector import explain_deletion_vector
from lakelens.codecs.iceberg.puffin import (
    COMPRESSED_PAYLOAD,
    FOOTER_FRAME,
    FOOTER_TAIL,
    MAGIC,
    Blob,
    PuffinFooter,
    ThetaSketch,
    decode_footer,
    decode_theta,
    decompress_blob,
    limit_payload,
)
from lakelens.codecs.kinds import explain
from lakelens.codecs.span.reader import (
    FixedField,
    SpanReader,
    damage_span,
    damage_span_if,
    explain_apart,
    explain_numbers,
    format_count,
    rename,
    shift_errors,
)
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt, LakeError, Unsupported

# Compact theta sketches of Apache DataSketches with a name for every byte, as Puffin statistics hold them.
#
#     preamble longs (6 bits) | serial version u8 | family u8 | lgK u8 | lgArr u8 | flags u8 | seed hash u16
#     from 2 preamble longs on:   entry count i32 | p f32
#     from 3 preamble longs on:   theta i64, a share of 2^63
#     hashes                      i64 each
#
# Everything is little-endian. `lakelens.codecs.iceberg.puffin.decode_theta` gives the facts alone.

SERIAL_VERSION = 3
COMPACT_FAMILY = 3
_EMPTY = 4
_FLAGS = ("big-endian", "read-only", "empty", "compact", "ordered", "single item")


def _name_sketch_flags(flags: int) -> str:
    return ", ".join(name for i, name in enumerate(_FLAGS) if flags >> i & 1)


# the eight bytes that every sketch begins with
_PREAMBLE = (
    FixedField("<B", "preamble longs", describe=lambda byte: f"{byte & 0x3F}, in the low 6 bits"),
    FixedField("<B", "serial version"),
    FixedField("<B", "family", describe=lambda family: "compact" if family == COMPACT_FAMILY else ""),
    FixedField("<B", "lgK", describe=lambda k: f"at most 2^{k} hashes" if k else "not given when compact"),
    FixedField("<B", "lgArr", "size of the hash table, unused when compact"),
    FixedField("<B", "flags", describe=_name_sketch_flags),
    FixedField("<H", "seed hash", describe=lambda value: value.to_bytes(2, "little").hex()),
)


def explain_theta_sketch(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a compact theta sketch that fills `data[start:end]`; its value is what `decode_theta` gives.

    Follows the compact theta layout of Apache DataSketches, serial version 3.

    >>> span = explain_theta_sketch(bytes.fromhex("01030300003acc93 0102030405060708"))
    >>> span.value.estimate, span.find(8).label
    (1.0, 'hash 0')
    """
    end = len(data) if end is None else end

    def decode() -> ThetaSketch:
        with shift_errors(start):
            return decode_theta(bytes(data[start:end]))

    note = "hashes of distinct values, of which those below theta are kept"
    children = partial(_explain_sketch, data, start, end)
    return Span(start, end, "theta sketch", Deferred(decode), note, children, origin=start)


def _explain_sketch(data: Octets, start: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, "a theta sketch")
    if end - start < 8:
        reader.fail("too short for a theta sketch", start, expected="8 bytes", seen=end - start)
    head = list(reader.struct(_PREAMBLE))
    longs, version, family, flags = (head[place].value for place in (0, 1, 2, 5))
    longs &= 0x3F
    if version != SERIAL_VERSION or family != COMPACT_FAMILY:
        message = f"theta sketch of serial version {version}, family {family}"
        head[1] = damage_span(head[1], Unsupported(message))
    elif not 1 <= longs <= 3:
        error = Corrupt("a theta sketch's preamble", offset=start, expected="1 to 3 longs", seen=longs)
        head[0] = damage_span(head[0], error)
    yield Span(start, reader.at, "preamble", None, "the first of the preamble longs", head)
    if any(leaf.error for leaf in head):
        yield reader.rest("preamble and hashes", "of an unknown layout")
        return
    if longs == 1:
        count = 0 if flags & _EMPTY else 1
        if reader.left < 8 * count:
            reader.fail(
                "a theta sketch ends before its hash", reader.at, expected="8 bytes", seen=reader.left
            )
    else:
        second, held = _read_second(reader, longs)
        yield Span(second[0].start, reader.at, "entries", None, "the second preamble long", second)
        if longs == 3:
            at = reader.at
            stored: int = struct.unpack("<q", reader.octets(8, "theta"))[0]
            leaf = Span(at, reader.at, "theta", stored / 2**63, f"int64, little-endian: {stored} of 2^63")
            yield damage_span_if(not 0 < stored / 2**63 <= 1, leaf, "a theta outside 0 to 1")
        if held is None:
            yield reader.rest("hashes", "more or fewer than the entry count says")
            return
        count = held
    place = reader.take(8 * count, "its hashes")
    if count:
        describe = "{:016x}".format
        children = partial(
            explain_numbers, data, place, "<Q", count, "hash", describe=describe, group="hashes"
        )
        yield Span(place, reader.at, "hashes", None, format_count(count, "value"), children)
    if reader.left:
        yield reader.rest("unused", "bytes after the last hash")


def _read_second(reader: SpanReader, longs: int) -> tuple[list[Span], int | None]:
    """Read the long of the entry count, and the count when the hashes are there."""
    if reader.left < 8 * (longs - 1):
        raise Corrupt("a theta sketch ends in its preamble", offset=reader.end, expected=8 * longs)
    limit = (reader.left - 8 * (longs - 1)) // 8
    count = reader.number("<i", "entry count")
    fits = 0 <= count.value <= limit
    message = "a theta sketch's entry count does not fit its bytes"
    count = damage_span_if(not fits, count, message, expected=f"0 to {limit}")
    share = reader.number("<f", "p", "the share of values that were sampled before")
    return [count, share], count.value if fits else None


MAX_UNPACKED = 256 * 2**20
_WHAT = "a Puffin file"
_BLOBS: dict[str, Callable[[Octets, int, int], Span]] = {
    "deletion-vector-v1": partial(explain_deletion_vector, iceberg=True),
    "apache-datasketches-theta-v1": explain_theta_sketch,
}


def explain_puffin(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a Puffin file that fills `data[start:end]`; its value is the footer as `decode_footer` gives it.

    Follows the Puffin specification (version 1). Blobs of unknown types stay unexplained.

    >>> payload = b'{"blobs": []}'
    >>> frame = b"PFA1" + payload + len(payload).to_bytes(4, "little") + bytes(4) + b"PFA1"
    >>> [child.label for child in explain_puffin(b"PFA1" + frame).children]
    ['magic', 'footer']
    """
    end = len(data) if end is None else end
    note = "Puffin, Iceberg's container for statistics and deletion vectors"
    value, children = Deferred(partial(_decode, data, start, end)), partial(_explain_file, data, start, end)
    return Span(start, end, "puffin file", value, note, children, origin=start)


def _decode(data: Octets, start: int, end: int) -> PuffinFooter:
    """Decode the footer, without reading the blobs."""
    size = int.from_bytes(bytes(data[max(start, end - FOOTER_TAIL) : end])[:4], "little", signed=True)
    tail = end - size - FOOTER_FRAME if 0 <= size <= end - start - FOOTER_FRAME - len(MAGIC) else start
    magic = bytes(data[start : start + 4])
    if magic != MAGIC:
        raise _wrong_magic("not a Puffin file", start, magic)
    with shift_errors(start):
        return decode_footer(bytes(data[tail:end]), end - start)


def _wrong_magic(message: str, at: int, seen: bytes) -> Corrupt:
    return Corrupt(message, offset=at, expected=MAGIC.decode(), seen=seen.hex())


def _explain_file(data: Octets, start: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, _WHAT)
    smallest = len(MAGIC) + FOOTER_FRAME
    if end - start < smallest:
        message = "too short for a Puffin file"
        reader.fail(message, start, expected=f"at least {smallest} bytes", seen=f"{end - start} bytes")
    yield _read_magic(reader, "not a Puffin file")
    size = int.from_bytes(bytes(data[end - FOOTER_TAIL : end - FOOTER_TAIL + 4]), "little", signed=True)
    if not 0 <= size <= end - start - smallest:
        # without a length nobody knows where the footer begins
        where = end - FOOTER_TAIL
        if reader.at < where:
            yield Span(reader.at, where, "blobs and footer", None, "not found", role="unexplained")
        reader.at = where
        yield Span(where, end, "footer", None, "", list(_read_tail(reader, end - start - smallest)))
        return
    body, footer = reader.at, end - FOOTER_FRAME - size
    try:
        # the file's first magic may be wrong: its own leaf shows that
        with shift_errors(start):
            decoded, failure = decode_footer(bytes(data[footer:end]), end - start), None
    except LakeError as error:
        decoded, failure = None, error
    if decoded is not None and (body < footer or decoded.blobs):
        blobs = partial(_explain_blobs, data, start, body, footer, decoded)
        yield Span(body, footer, "blobs", None, format_count(len(decoded.blobs), "blob"), blobs)
    elif body < footer:
        note = "the footer that names them is damaged"
        yield Span(body, footer, "blobs", None, note, role="unexplained")
    children = partial(_explain_footer, data, footer, end, size, failure)
    yield Span(footer, end, "footer", None, "what the blobs are and where they are", children)


def _read_magic(reader: SpanReader, message: str) -> Span:
    at = reader.at
    magic = reader.octets(4, "a magic")
    leaf = Span(at, reader.at, "magic", magic, "PFA1: Puffin, format version 1")
    return leaf if magic == MAGIC else damage_span(leaf, _wrong_magic(message, at, magic))


def _read_tail(reader: SpanReader, limit: int) -> Iterator[Span]:
    """Read the last three parts of the footer, which have one length in every file."""
    size = reader.number("<i", "payload size", "bytes as stored")
    message = "a footer payload size that does not fit the file"
    yield damage_span_if(not 0 <= size.value <= limit, size, message, expected=f"0 to {limit}")
    flags = reader.number("<I", "flags", describe=_name_footer_flags)
    reserved = flags.value & ~COMPRESSED_PAYLOAD
    yield damage_span(flags, Unsupported(f"Puffin footer flags {flags.value:#x}")) if reserved else flags
    yield _read_magic(reader, "the file does not end as a Puffin file")


def _name_footer_flags(flags: int) -> str:
    return (
        "bit 0 set, the payload is compressed" if flags & 1 else "bit 0 clear, the payload is not compressed"
    )


def _explain_footer(
    data: Octets, start: int, end: int, size: int, failure: LakeError | None
) -> Iterator[Span]:
    reader = SpanReader(data, start, end, _WHAT)
    yield _read_magic(reader, "no magic before the footer's payload")
    payload = reader.take(size, "the payload")
    stop, last = reader.at, SpanReader(data, reader.at, end, _WHAT)
    flags = int.from_bytes(bytes(data[end - 8 : end - 4]), "little")
    if flags & COMPRESSED_PAYLOAD:
        unpack = partial(_unpack, data, payload, stop, "lz4", limit_payload(start), _explain_document)
        yield Span(payload, stop, "payload", None, "JSON as one LZ4 frame", unpacked=unpack)
    else:
        yield rename(explain(data, "json", payload, stop), "payload", "JSON")
    # a wrong magic, size or flag is damage of its own leaf; what is wrong in the document comes after it
    if isinstance(failure, Corrupt) and (failure.json_path is not None or failure.offset == payload):
        error = Corrupt(
            failure.message,
            offset=payload,
            json_path=failure.json_path,
            expected=failure.expected,
            seen=failure.seen,
        )
        yield damaged_leaf(stop, stop, error)
    yield from _read_tail(last, size)


def _explain_document(data: Octets, start: int, end: int) -> Span:
    return explain(data, "json", start, end)


def _unpack(
    data: Octets,
    start: int,
    end: int,
    codec: str,
    limit: int,
    explain_content: Callable[[Octets, int, int], Span],
) -> tuple[bytes, Span]:
    """Unpack the content of a compressed blob or payload, and its tree. Raises `Corrupt`."""
    stored = bytes(data[start:end])
    with shift_errors(start):
        content = decompress_blob(stored, codec, limit=limit)
    return content, explain_content(content, 0, len(content))


def _explain_blobs(data: Octets, start: int, body: int, end: int, footer: PuffinFooter) -> Iterator[Span]:
    def place(blob: Blob) -> tuple[int, int]:
        return start + blob.offset, start + blob.offset + blob.length

    return explain_apart(
        footer.blobs,
        place,
        lambda blob: _explain_blob(data, *place(blob), blob),
        body,
        end,
        "blobs",
        "no blob of the footer is here",
        lambda _: "a blob",
    )


def _explain_blob(data: Octets, start: int, end: int, blob: Blob) -> Span:
    note, explain_content = _describe(blob), _BLOBS.get(blob.type, partial(_explain_unknown, blob.type))
    if blob.compression_codec is None:
        return rename(explain_content(data, start, end), blob.type, note)
    packed = f"{note}; one {blob.compression_codec} frame"
    if blob.compression_codec not in ("lz4", "zstd"):
        return Span(start, end, blob.type, None, f"{packed}, which is not read", role="unexplained")
    unpack = partial(_unpack, data, start, end, blob.compression_codec, MAX_UNPACKED, explain_content)
    return Span(start, end, blob.type, None, packed, unpacked=unpack)


def _explain_unknown(kind: str, data: Octets, start: int, end: int) -> Span:
    return Span(start, end, kind, None, "an unknown type of blob", role="unexplained")


def _describe(blob: Blob) -> str:
    """Describe what the footer says of a blob, in words."""
    parts = [f"fields {', '.join(map(str, blob.fields))}"] if blob.fields else []
    if blob.snapshot_id is not None and blob.snapshot_id != -1:
        parts.append(f"snapshot {blob.snapshot_id}")
    if blob.sequence_number is not None and blob.sequence_number != -1:
        parts.append(f"sequence number {blob.sequence_number}")
    parts.extend(f"{key} {value}" for key, value in blob.properties.items())
    return "; ".join(parts)
