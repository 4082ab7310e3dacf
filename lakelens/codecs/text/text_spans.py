"""Text files, line by line and field by field, and bytes that nobody explains.

    text         line 0A | line 0D 0A | …         a line of delimited text: field 01 field 01 … (or another separator)
    JSON lines   document 0A document 0A …

Hive writes fields behind each other with byte 01 between them and `\\N` for null ("LanguageManual DDL", row formats).
Lines are found when they are asked for, in groups of 1,000; a byte that is not UTF-8 is no damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.codecs.text.json_spans import MAX_SIZE, explain_json
from lakelens.errors import Corrupt

#: More lines (or pieces of unexplained bytes) are grouped.
GROUP = 1000
_READ = 1 << 16
_NULL = b"\\N"

LineMaker = Callable[[int, int, int], Span]


def explain_text(
    data: Octets, start: int = 0, end: int | None = None, *, separator: bytes | str | None = None
) -> Span:
    """A tree over text: one span for each line, with its fields when a `separator` is given (Hive's default is byte 01).

    A field of `\\\\N` is null, as Hive writes it. The value of a line is its text, or the list of its fields.

    >>> line = explain_text(b"1\\x01a\\n2\\x01\\\\N\\n", separator="\\x01").children[1]
    >>> line.value, [part.label for part in line.children]
    (['2', None], ['field 0', 'separator', 'field 1', 'line end'])
    """
    stop = len(data) if end is None else end
    between = separator.encode() if isinstance(separator, str) else separator or b""
    note = f"UTF-8, fields separated by {between.hex(' ')}" if between else "UTF-8"
    make = partial(_explain_line, data, between)
    return Span(start, stop, "text", None, note, partial(_explain_lines, data, start, stop, make))


def explain_json_lines(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over rows as JSON: one document in each line.

    >>> [line.value for line in explain_json_lines(b'{"a": 1}\\n{"a": 2}\\n').children]
    [{'a': 1}, {'a': 2}]
    """
    stop = len(data) if end is None else end
    make = partial(_explain_json_line, data)
    return Span(start, stop, "JSON lines", None, "UTF-8", partial(_explain_lines, data, start, stop, make))


def explain_unknown(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Bytes that no codec explains: one leaf, or, when there are many, pieces of 64 KiB.

    >>> explain_unknown(b"\\xff\\x00").role
    'unexplained'
    """
    stop = len(data) if end is None else end
    if stop - start <= _READ:
        return Span(start, stop, "bytes", None, "no codec explains them", role="unexplained")
    return Span(start, stop, "bytes", None, "no codec explains them", partial(_cut_unknown, start, stop))


def _cut_unknown(start: int, end: int) -> Iterator[Span]:
    size = _READ
    while (end - start) // size > GROUP:
        size *= GROUP
    for at in range(start, end, size):
        stop = min(at + size, end)
        if stop - at > _READ:
            yield Span(at, stop, "bytes", None, "no codec explains them", partial(_cut_unknown, at, stop))
        else:
            yield Span(at, stop, "bytes", None, "no codec explains them", role="unexplained")


def _explain_lines(data: Octets, start: int, end: int, make: LineMaker) -> Iterator[Span]:
    """Explain the lines, in groups when there are many; of a group only its place is kept."""
    groups = list(_group(data, start, end, b"\n"))
    for i, (left, right) in enumerate(groups):
        lines = partial(_make_lines, data, left, right, i * GROUP, make)
        if len(groups) == 1:
            yield from lines()
        else:
            yield Span(left, right, f"lines from {i * GROUP} on", children=lines)


def _make_lines(data: Octets, start: int, end: int, first: int, make: LineMaker) -> Iterator[Span]:
    for i, (left, right) in enumerate(_find_pieces(data, start, end, b"\n")):
        yield make(left, right, first + i)


def _group(data: Octets, start: int, end: int, mark: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of every group of pieces."""
    left = start
    for count, (_, right) in enumerate(_find_pieces(data, start, end, mark), 1):
        if count % GROUP == 0:
            yield left, right
            left = right
    if left < end:
        yield left, end


def _find_pieces(data: Octets, start: int, end: int, mark: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each line or field, the mark behind it included; reads the data once, 64 KiB at a time."""
    left = start
    for at in range(start, end, _READ):
        read = bytes(data[at : min(at + _READ + len(mark) - 1, end)])
        place = read.find(mark, max(0, left - at))
        while place >= 0:
            yield left, at + place + len(mark)
            left = at + place + len(mark)
            place = read.find(mark, left - at)
    if left < end:
        yield left, end


def _split_end(data: Octets, start: int, end: int) -> int:
    """Split where the line's own bytes end, before 0A or 0D 0A."""
    tail = bytes(data[max(start, end - 2) : end])
    return end - (2 if tail == b"\r\n" else 1 if tail.endswith(b"\n") else 0)


def _explain_line(data: Octets, separator: bytes, start: int, end: int, number: int) -> Span:
    stop = _split_end(data, start, end)
    ending = () if stop == end else (Span(stop, end, "line end", role="padding"),)
    if not separator:
        value = Deferred(lambda: _take(data, start, stop).decode(errors="replace"))
        text = () if start == stop else (Span(start, stop, "text", value, "UTF-8"),)
        return Span(start, end, f"line {number}", value, "UTF-8", (*text, *ending))
    return Span(
        start,
        end,
        f"line {number}",
        Deferred(lambda: [_field(field) for field in _take(data, start, stop).split(separator)]),
        f"fields separated by {separator.hex(' ')}",
        lambda: (*_explain_fields(data, start, stop, separator), *ending),
    )


def _explain_fields(data: Octets, start: int, end: int, separator: bytes) -> Iterator[Span]:
    groups = list(_group(data, start, end, separator)) or [(start, end)]
    for i, (left, right) in enumerate(groups):
        fields = partial(_make_fields, data, left, right, separator, i * GROUP, right == end)
        if len(groups) == 1:
            yield from fields()
        else:
            yield Span(left, right, f"fields from {i * GROUP} on", children=fields)


def _make_fields(
    data: Octets, start: int, end: int, separator: bytes, number: int, is_last: bool
) -> Iterator[Span]:
    """Fields with the separators behind them; behind the line's last separator there is one more field, if empty."""
    stop = start
    for left, right in _find_pieces(data, start, end, separator):
        is_separated = bytes(data[max(left, right - len(separator)) : right]) == separator
        stop = right - len(separator) if is_separated else right
        yield _make_field(data, left, stop, number)
        number += 1
        if is_separated:
            yield Span(stop, right, "separator", role="padding")
    if is_last and (start == end or stop < end):  # nothing at all, or nothing behind the last separator
        yield _make_field(data, end, end, number)


def _make_field(data: Octets, start: int, end: int, number: int) -> Span:
    value = _field(_take(data, start, end))
    if value is None:
        return Span(start, end, f"field {number}", None, "null", number=number, role="null")
    return Span(start, end, f"field {number}", value, "UTF-8", number=number)


def _take(data: Octets, start: int, end: int) -> bytes:
    if end - start > MAX_SIZE:
        raise Corrupt(
            "a line that is too long", offset=start, expected=f"at most {MAX_SIZE} bytes", seen=end - start
        )
    return bytes(data[start:end])


def _field(stored: bytes) -> str | None:
    return None if stored == _NULL else stored.decode(errors="replace")


def _explain_json_line(data: Octets, start: int, end: int, number: int) -> Span:
    stop = _split_end(data, start, end)
    ending = () if stop == end else (Span(stop, end, "line end", role="padding"),)
    if not bytes(data[start : min(stop, start + 64)]).strip():
        return Span(start, end, "blanks", role="padding")
    document = explain_json(data, start, stop)
    return Span(start, end, f"line {number}", Deferred(lambda: document.value), "JSON", (document, *ending))
