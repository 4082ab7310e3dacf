"""A file that Iceberg encrypted as a whole: what is in the clear of it.

    AGS1 | plain block length, int32 LE | cipher block …        cipher block: nonce 12 | ciphertext | tag 16

Follows "AES GCM Stream file format extension" of Iceberg. All blocks but the last hold as many bytes as the length says
(1 MiB, as Iceberg writes); the last is empty only where the whole content is. There is at least one. The key is not in the
file: the snapshot (of a manifest list) or `key_metadata` (of a manifest or a data file) says which it is. Damage: a length
that is not positive, no block, a last block that is cut inside its nonce and tag.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lakelens.codecs.span.reader import SpanReader, damage_span_if, format_count, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

MAGIC = b"AGS1"
_HEAD, _NONCE, _TAG = 8, 12, 16
_FRAME = _NONCE + _TAG


def explain_aes_gcm_stream(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A tree over an AES GCM stream; its value is how many bytes are encrypted.

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
    magic = reader.magic(4)
    yield damage_span_if(magic.value != MAGIC, magic, "not an AES GCM stream", expected=MAGIC)
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
