"""Compact theta sketches of Apache DataSketches with a name for every byte, as Puffin statistics hold them.

    preamble longs (6 bits) | serial version u8 | family u8 | lgK u8 | lgArr u8 | flags u8 | seed hash u16
    from 2 preamble longs on:   entry count i32 | p f32
    from 3 preamble longs on:   theta i64, a share of 2^63
    hashes                      i64 each

Everything is little-endian. `lakelens.codecs.iceberg.puffin.decode_theta` gives the facts alone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

from lakelens.codecs.iceberg.puffin import ThetaSketch, decode_theta
from lakelens.codecs.span.reader import (
    SpanReader,
    damage_span,
    damage_span_if,
    explain_numbers,
    format_count,
    shift_errors,
)
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

SERIAL_VERSION = 3
COMPACT_FAMILY = 3
_EMPTY = 4
_FLAGS = ("big-endian", "read-only", "empty", "compact", "ordered", "single item")


def explain_theta_sketch(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A compact theta sketch that fills `data[start:end]`; its value is what `decode_theta` gives.

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
    head = list(_read_head(reader))
    yield Span(start, reader.at, "preamble", None, "the first of the preamble longs", head)
    if any(leaf.error for leaf in head):
        yield reader.rest("preamble and hashes", "of an unknown layout")
        return
    longs, flags = bytes(data[start : start + 1])[0] & 0x3F, bytes(data[start + 5 : start + 6])[0]
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
            yield _read_theta(reader)
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


def _read_head(reader: SpanReader) -> Iterator[Span]:
    """The eight bytes that every sketch begins with."""
    longs = reader.number("<B", "preamble longs", describe=lambda byte: f"{byte & 0x3F}, in the low 6 bits")
    wrong = not 1 <= longs.value & 0x3F <= 3
    error = "a theta sketch's preamble"
    version = reader.number("<B", "serial version")
    family = reader.number("<B", "family", describe=lambda family: "compact" if family == 3 else "")
    known = version.value == SERIAL_VERSION and family.value == COMPACT_FAMILY
    yield damage_span_if(known and wrong, longs, error, expected="1 to 3 longs", seen=longs.value & 0x3F)
    message = f"theta sketch of serial version {version.value}, family {family.value}"
    yield version if known else damage_span(version, Unsupported(message))
    yield family
    yield reader.number(
        "<B", "lgK", describe=lambda k: f"at most 2^{k} hashes" if k else "not given when compact"
    )
    yield reader.number("<B", "lgArr", "size of the hash table, unused when compact")
    yield reader.number("<B", "flags", describe=_name_flags)
    yield reader.number("<H", "seed hash", describe=lambda value: value.to_bytes(2, "little").hex())


def _name_flags(flags: int) -> str:
    return ", ".join(name for i, name in enumerate(_FLAGS) if flags >> i & 1)


def _read_second(reader: SpanReader, longs: int) -> tuple[list[Span], int | None]:
    """The long of the entry count, and the count when the hashes are there."""
    if reader.left < 8 * (longs - 1):
        raise Corrupt("a theta sketch ends in its preamble", offset=reader.end, expected=8 * longs)
    limit = (reader.left - 8 * (longs - 1)) // 8
    count = reader.number("<i", "entry count")
    fits = 0 <= count.value <= limit
    message = "a theta sketch's entry count does not fit its bytes"
    count = damage_span_if(not fits, count, message, expected=f"0 to {limit}")
    share = reader.number("<f", "p", "the share of values that were sampled before")
    return [count, share], count.value if fits else None


def _read_theta(reader: SpanReader) -> Span:
    at = reader.at
    stored: int = struct.unpack("<q", reader.octets(8, "theta"))[0]
    leaf = Span(at, reader.at, "theta", stored / 2**63, f"int64, little-endian: {stored} of 2^63")
    return damage_span_if(not 0 < stored / 2**63 <= 1, leaf, "a theta outside 0 to 1")
