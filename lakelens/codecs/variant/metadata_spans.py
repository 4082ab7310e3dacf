"""The metadata of a variant, the names of its keys, with a name for every byte; `value` draws the layout.

Follows "Variant Binary Encoding" of the Parquet format repository; everything is little-endian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from lakelens.codecs.span.reader import SpanReader, explain_items, format_count, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.codecs.variant.value import decode_names, decode_text, place_names, read_head, read_uints
from lakelens.errors import Corrupt


def explain_variant_metadata(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """The spans of the metadata of a variant; the value is the tuple of its keys.

    >>> root = explain_variant_metadata(bytes.fromhex("0101000161"))
    >>> root.value, root.children[0].note
    (('a',), 'version 1, not sorted, offsets of 1 byte')
    """
    end = len(data) if end is None else end
    names = Deferred(partial(decode_names, data, start, end))
    note = f"{end - start:,} bytes, the names of keys"
    return Span(start, end, "Metadata", names, note, partial(_explain_metadata, data, start, end))


def _explain_metadata(data: Octets, start: int, end: int) -> Iterator[Span]:
    head = read_head(data, start, end)
    header = data[start]
    is_sorted = "sorted" if header & 0x10 else "not sorted"
    note = f"version {header & 0x0F}, {is_sorted}, offsets of {format_count(head.size, 'byte')}"
    yield Span(start, start + 1, "header", None, note)
    yield Span(start + 1, head.offsets, "dictionary size", head.count, format_count(head.count, "key"))
    yield from explain_uints(data, "offset", head.offsets, head.size, head.count + 1, note_offset)
    places = place_names(data, head)
    if head.text < places[0] <= end:
        yield Span(head.text, places[0], "unexplained", None, "before the first name", role="unexplained")

    def make(reader: SpanReader, i: int) -> Span:
        name = decode_text(data, reader.at, reader.end)
        return Span(reader.at, reader.end, "name", name, f"key {i:,}, UTF-8", number=i)

    yield from explain_items(SpanReader(data, start, end, "the names"), places, "names", make)


def measure_metadata(data: Octets, start: int, end: int) -> int:
    """Where the metadata that begins at `start` ends: after its last name. Raises `Corrupt`."""
    head = read_head(data, start, end)
    (size,) = read_uints(data, head.text - head.size, head.size, 1)
    if head.text + size > end:
        expected, at = f"{head.text + size - start} bytes", head.text - head.size
        raise Corrupt("variant metadata cut short", offset=at, expected=expected, seen=end - start)
    return head.text + size


def explain_uints(
    data: Octets, label: str, start: int, size: int, count: int, note: Callable[[int, int], str]
) -> Iterator[Span]:
    """A line for each unsigned number of a list; `note(number, offset)` says what it means, or raises `Corrupt`.

    The last offset of a list belongs to none of its members: it is where the last one ends.
    """
    members = count - 1 if label == "offset" else count

    def make(low: int, high: int) -> Iterator[Span]:
        for i, number in enumerate(read_uints(data, start + low * size, size, high - low), low):
            at = start + i * size
            try:
                yield Span(at, at + size, label, number, note(number, at), number=i if i < members else None)
            except Corrupt as error:
                yield damaged_leaf(at, at + size, error)

    yield from group_items(count, lambda i: start + i * size, f"{label}s", make)


def note_offset(number: int, offset: int) -> str:
    """An offset in words.

    >>> note_offset(1234, 0)
    '+1,234'
    """
    return f"+{number:,}"
