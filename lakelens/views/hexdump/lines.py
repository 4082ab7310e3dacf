"""The lines of an annotated hex dump: what stands beside the bytes of one field.

A field is a leaf, or a value with its few leaves (`lakelens.model.bytes_view.is_field`); it begins a line of its own, and
what does not fit follows on lines that say which of its bytes they hold.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import find_main
from lakelens.views.card import wording

LineRole = Literal["", "mute", "null", "damage", "more"]
_MUTED = ("padding", "unused", "unexplained")
_MOST_VALUE = 72
_MOST_OCTETS = 12  # of a value, whose bytes stand beside it anyway
# "+160", "−4" and a run of bits: what a reader compares by eye
_CODE = re.compile(r"((?<!\S)[+−]\d+(?![\w,.])|(?<!\S)[01](?: [01]){2,}(?!\w))")


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one leaf in a line; muted ones hold no value. `tip` names the leaf where a line has several."""

    octets: bytes
    is_muted: bool = False
    tip: str = ""
    span: Span | None = dataclasses.field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: where, whose, which bytes, what they mean. `lead` blank cells stand before the bytes.

    `start` and `end` are absolute; `at` is what the reader counts with, from `origin`; `tip` is the byte that it is, `base`
    the place of the first one in its file. `aside` says which bytes of the line are padding.
    """

    start: int
    end: int
    at: str = ""
    tip: str = ""
    number: int | None = None
    field: str = ""
    lead: int = 0
    pieces: tuple[Piece, ...] = ()
    meaning: str = ""
    aside: str = ""
    value: str = ""
    role: LineRole = ""
    code: str = ""
    group: str = ""
    origin: int = 0
    base: int = 0
    span: Span | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def ascii(self) -> str:
        """The bytes as characters, a dot for what is none."""
        octets = b"".join(piece.octets for piece in self.pieces)
        return "".join(chr(octet) if 32 <= octet < 127 else "·" for octet in octets)

    @property
    def hex(self) -> str:
        """The bytes as pairs of digits, behind the blank cells."""
        return "   " * self.lead + " ".join(piece.octets.hex(" ") for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Frame:
    """What the lines of one structure have in common.

    `origin` is the byte that "at" counts from, `base` the place of `data[0]` in its file; `width` bytes fit a line and
    `rows` lines a field; `code` is what leads from the shown explanation to these bytes.
    """

    data: Octets
    origin: int | None = None
    base: int | None = None
    width: int = 8
    rows: int = 4
    staggers: bool = False
    code: str = ""

    def format_at(self, position: int) -> str:
        """Format a position as the "at" column shows it.

        >>> Frame(b"", origin=4).format_at(12), Frame(b"", origin=4).format_at(0), Frame(b"").format_at(12)
        ('+8', '−4', '12')
        """
        if not self.origin:
            return str(position)
        moved = position - self.origin
        return f"+{moved}" if moved >= 0 else f"{wording.MINUS}{-moved}"

    def format_byte(self, position: int) -> str:
        """Format the byte that a position is, in its file where that is known."""
        return f"byte {position}" if not self.base else f"byte {self.base + position} of the file"

    def count_rows(self, span: Span) -> int:
        """Count how many lines a field takes."""
        first = self._lead(span.start)
        rows = max(1, -(-(first + len(span)) // self.width))
        return rows if rows <= self.rows else self.rows

    def write(self, span: Span) -> list[Line]:
        """Write the lines of a field. A long one has its head and its tail."""
        parts = list(span.iter_children()) or [span]
        lead = self._lead(span.start)
        rows = max(1, -(-(lead + len(span)) // self.width))
        if rows <= self.rows:
            lines = [self._write_row(span, parts, row, lead) for row in range(rows)]
        else:
            head = [self._write_row(span, parts, row, lead) for row in range(self.rows - 2)]
            tail = self._write_row(span, parts, rows - 1, lead)
            left = tail.start - head[-1].end
            skipped = f"… {wording.plural(left, 'more byte')}"
            lines = [
                *head,
                replace(
                    tail,
                    start=head[-1].end,
                    end=tail.start,
                    at="",
                    pieces=(),
                    meaning=skipped,
                    aside="",
                    role="more",
                    number=None,
                ),
                tail,
            ]
        lines[0] = self._begin(span, parts, lines[0])
        return lines

    def absorb(self, line: Line, span: Span) -> Line | None:
        """The line with a separator behind its bytes (a comma, a bracket), None where it does not belong there."""
        octets = bytes(self.data[span.start : span.end]) if 0 < len(span) <= 2 and span.is_leaf else b""
        if not octets or span.label != octets.decode("latin-1"):
            return None
        room = self.width - line.lead - (line.end - line.start)
        if line.role not in ("", "null") or line.end != span.start or room < len(span):
            return None
        piece = Piece(octets, True, describe_part(span), span)
        return replace(line, end=span.end, pieces=(*line.pieces, piece))

    def _is_plain(self, span: Span) -> bool:
        """Check whether the value is nothing but the bytes beside it."""
        value = None if span.is_deferred or not span.is_leaf else span.value
        return (
            isinstance(value, bytes)
            and len(value) == len(span)
            and value == bytes(self.data[span.start : span.end])
        )

    def _lead(self, position: int) -> int:
        if not self.staggers or self.origin is None or position < self.origin:
            return 0
        return (position - self.origin) % self.width

    def _write_row(self, span: Span, parts: list[Span], row: int, lead: int) -> Line:
        start = max(span.start, span.start - lead + row * self.width)
        end = min(span.end, span.start - lead + (row + 1) * self.width)
        held = [part for part in parts if part.start < end and part.end > start]
        meant = [part for part in held if part.role not in _MUTED]
        pieces = tuple(
            Piece(
                bytes(self.data[max(part.start, start) : min(part.end, end)]),
                part.role in (*_MUTED, "null"),
                describe_part(part) if len(parts) > 1 else "",
                part,
            )
            for part in held
        )
        meaning = ""
        if row and meant:
            main = meant[-1]
            first = max(start, main.start) - main.start
            last = min(end, main.end) - main.start - 1
            meaning = f"byte {first}" if first == last else f"bytes {first} to {last}"
            if find_main(parts) is None and main.label not in ("", "bytes", span.label):
                meaning = f"{wording.clean(main.label, 40)}: {meaning}"
        return Line(
            start,
            end,
            self.format_at(start),
            self.format_byte(start),
            span.number,
            "" if row else wording.clean(span.label, 80),
            lead if row == 0 else 0,
            pieces,
            meaning,
            _format_padding(held, start, end) if len(parts) > 1 else "",
            role="mute" if span.role in _MUTED else "",
            code=self.code,
            group=""
            if self.origin is None or span.number is None
            else f"{self.code} {self.origin} {span.number} {wording.clean(span.label, 80)}",
            origin=self.origin or 0,
            base=self.base or 0,
            span=span,
        )

    def _begin(self, span: Span, parts: list[Span], line: Line) -> Line:
        """The first line of a field says what it means; where the field does not, its only part with a value does."""
        main = find_main(parts) or span
        alone = parts[0] if len(parts) == 1 else span
        value = "" if self._is_plain(span) else format_value(span) or format_value(main)
        if alone.role == "damage":
            reason = f"ERROR: {wording.clean(alone.note or 'damaged', 300)}"
            return replace(line, meaning=reason, value=value, role="damage")
        note = span.note or main.note
        if not note and main is span and len(parts) > 1:
            note = "; ".join(describe_part(part) for part in parts)
        role: LineRole = "null" if "null" in (span.role, alone.role) else line.role
        if alone.role in _MUTED:
            role = "mute"
        return replace(line, meaning=wording.clean(note, 300), value=value, role=role)


def describe_part(part: Span) -> str:
    """Describe a leaf in a few words.

    >>> describe_part(Span(0, 1, "length", 5, "varint"))
    'length: varint'
    """
    return wording.clean(f"{part.label}: {part.note}" if part.note else part.label, 120)


def format_value(span: Span) -> str:
    """Say what a field decodes to; nothing for one that has no value of its own."""
    if span.role == "null":
        return "null"
    try:
        value: Any = span.value
    except LakeError as error:
        return f"ERROR: {wording.clean(error.reason, _MOST_VALUE)}"
    if value is None:
        return ""
    if isinstance(value, bytes):
        return wording.octets(value, _MOST_OCTETS)
    text = wording.value(value[: _MOST_VALUE + 1] if isinstance(value, str) else value)
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}…"


def _format_padding(held: list[Span], start: int, end: int) -> str:
    """Say how much of a line is padding; a separator or a line feed is no padding, although it holds no value either."""
    fills = [part for part in held if part.role == "padding" and "padding" in part.label]
    padding = sum(min(part.end, end) - max(part.start, start) for part in fills)
    return f"{wording.plural(padding, 'byte')} of padding" if padding else ""


def list_tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Words cut at what is written in the type of code: places and bits.

    >>> list(list_tokens("10 bytes at +160"))
    [('10 bytes at ', False), ('+160', True)]
    """
    for index, part in enumerate(_CODE.split(text)):
        if part:
            yield part, index % 2 == 1
