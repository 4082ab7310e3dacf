"""The metadata half of a variant, the names of its keys, with a name for every byte; and numbers side by side.

    header (version in bits 0-3, sorted bit 4, offset size - 1 in bits 6-7) | count | count + 1 offsets | names, UTF-8

Follows "Variant Binary Encoding" of the Parquet format repository; everything is little-endian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lakelens.codecs.paimon.row_slot_spans import count_bytes
from lakelens.codecs.span.reader import group_items
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.codecs.span.window import Window
from lakelens.errors import Corrupt


def explain_variant_metadata(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """The spans of the metadata of a variant; the value is the tuple of its keys.

    >>> root = explain_variant_metadata(bytes.fromhex("0101000161"))
    >>> root.value, root.children[0].note
    (('a',), 'version 1, not sorted, offsets of 1 byte')
    """
    window = Window(data, start, len(data) if end is None else end)
    names = Deferred(lambda: decode_names(window, start, window.end))
    note = f"{window.end - start:,} bytes, the names of keys"
    return Span(start, window.end, "Metadata", names, note, partial(_explain_metadata, window))


def _explain_metadata(window: Window) -> Iterator[Span]:
    start, end = window.start, window.end
    size, count = _read_metadata_head(window, start, end)
    header = window[start]
    is_sorted = "sorted" if header & 0x10 else "not sorted"
    note = f"version {header & 0x0F}, {is_sorted}, offsets of {count_bytes(size)}"
    yield Span(start, start + 1, "header", None, note)
    first = start + 1 + size
    yield Span(start + 1, first, "dictionary size", count, f"{count:,} key{'' if count == 1 else 's'}")
    yield from explain_numbers(window, "offset", first, size, count + 1, note_offset)
    text = first + (count + 1) * size
    ends = read_uints(window, first, size, count + 1)
    if ends[0] and text + ends[0] <= end:
        yield Span(text, text + ends[0], "unexplained", None, "before the first name", role="unexplained")

    def make(low: int, high: int) -> Iterator[Span]:
        for i in range(low, high):
            name = _decode_name(window, (text + ends[i], text + ends[i + 1], end), first + i * size)
            note = f"key {i:,}, UTF-8"
            yield Span(text + ends[i], text + ends[i + 1], "name", name, note, number=i)

    _check_ascending(ends, text, end, first, size)
    yield from group_items(count, lambda i: text + ends[i], "names", make)


def decode_names(window: Window, start: int, end: int) -> tuple[str, ...]:
    """The keys that the metadata from `start` to `end` holds. Raises `Corrupt`."""
    size, count = _read_metadata_head(window, start, end)
    first = start + 1 + size
    text = first + (count + 1) * size
    ends = read_uints(window, first, size, count + 1)
    return tuple(
        _decode_name(window, (text + ends[i], text + ends[i + 1], end), first + i * size)
        for i in range(count)
    )


def measure_metadata(window: Window, start: int, end: int) -> int:
    """Where the metadata that begins at `start` ends: its last offset tells. Raises `Corrupt`."""
    size, count = _read_metadata_head(window, start, end)
    first = start + 1 + size
    last = first + count * size
    stop = last + size + int.from_bytes(window.take(last, last + size), "little")
    if stop > end:
        raise Corrupt(
            "variant metadata cut short", offset=last, expected=f"{stop - start} bytes", seen=end - start
        )
    return stop


def _read_metadata_head(window: Window, start: int, end: int) -> tuple[int, int]:
    """The bytes of an offset and the number of keys, once all offsets are known to be there."""
    if end - start < 1:
        raise Corrupt("variant metadata cut short", offset=start, expected="1 byte", seen="0 bytes")
    header = window[start]
    if header & 0x0F != 1:
        raise Corrupt("unknown version of variant metadata", offset=start, expected="1", seen=header & 0x0F)
    size = (header >> 6) + 1
    count = int.from_bytes(window.take(start + 1, min(start + 1 + size, end)), "little")
    needed = 1 + size + (count + 1) * size
    if needed > end - start:
        expected, seen = f"{needed} bytes", f"{end - start} bytes"
        raise Corrupt("variant metadata cut short", offset=start, expected=expected, seen=seen)
    return size, count


def _decode_name(window: Window, place: tuple[int, int, int], offset: int) -> str:
    low, high, end = place
    if not low <= high <= end:
        raise Corrupt("variant key outside the metadata", offset=offset, seen=f"bytes {low} to {high}")
    return _decode_text(window, low, high)


def _check_ascending(ends: Sequence[int], text: int, end: int, first: int, size: int) -> None:
    """Raise `Corrupt` at the first name that ends before it begins, or outside."""
    for i in range(len(ends) - 1):
        low, high = text + ends[i], text + ends[i + 1]
        if not low <= high <= end:
            seen = f"bytes {low} to {high}"
            raise Corrupt("variant key outside the metadata", offset=first + i * size, seen=seen)


def _decode_text(window: Window, start: int, end: int) -> str:
    content = window.take(start, end)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt("text is not UTF-8", offset=start + error.start, seen=content.hex()) from None


# -- numbers side by side


def explain_numbers(
    window: Window, label: str, start: int, size: int, count: int, note: Callable[[int, int], str]
) -> Iterator[Span]:
    """A line for each unsigned number of a list; `note(number, offset)` says what it means, or raises `Corrupt`.

    The last offset of a list belongs to none of its members: it is where the last one ends.
    """
    members = count - 1 if label == "offset" else count

    def make(low: int, high: int) -> Iterator[Span]:
        for i in range(low, high):
            at = start + i * size
            number = int.from_bytes(window.take(at, at + size), "little")
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


def read_uints(window: Window, start: int, size: int, count: int) -> list[int]:
    """The unsigned numbers of `size` bytes that lie side by side from `start`."""
    content = window.take(start, start + count * size)
    return [int.from_bytes(content[i : i + size], "little") for i in range(0, count * size, size)]
