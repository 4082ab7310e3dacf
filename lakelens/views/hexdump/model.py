"""The view-model of an explanation: which lines of an annotated hex dump are shown, and what is folded.

A tree of spans may be far larger than a view, and is made while it is walked; so a view has a number of rows to spend:

    root ── its fields are lines, its structures each a part:
            small enough          all of it in the open: a group of lines under a title
            too large, but there  opened, with as many rows as are its share
            are rows for it
            else                  a fold whose summary is an answer, with a few rows behind it
    more children than rows       "… n more", and the call that shows them

Nothing is asked of a tree beyond the rows that are shown, plus one child to know that there is more.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import chain, dropwhile, islice
from typing import TypeAlias

from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import BytesView, is_field
from lakelens.views.card import wording
from lakelens.views.hexdump.lines import Frame, Line, format_value

# What an annotated hex dump is made of, as plain data: groups of lines, folds, and what was left out.


@dataclass(frozen=True, slots=True)
class LineGroup:
    """Lines in the open, under a title ("" for none)."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class More:
    """What was left out, and the call on the shown explanation that shows it.

    `source` is the structure, the frame of its lines, and the byte from which it goes on: for a view that can ask for more.
    """

    text: str
    code: str
    source: tuple[Span, Frame, int] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ByteFold:
    """A structure that can be folded; `answer` says what is in it. Without parts, `call` is what shows them.

    `source` is the structure and the frame of its lines: for a view that can ask for its parts.
    """

    label: str
    answer: str
    place: str
    parts: tuple[DumpPart, ...] = ()
    opened: bool = False
    call: str = ""
    source: tuple[Span, Frame] | None = field(default=None, repr=False, compare=False)


DumpPart: TypeAlias = LineGroup | More | ByteFold


@dataclass(frozen=True, slots=True)
class HexDump:
    """What a view says of an explanation."""

    noun: str
    sentence: str
    place: str
    details: str
    alert: str
    parts: tuple[DumpPart, ...]

    def list_lines(self) -> Iterator[Line]:
        """List every line, those behind folds too."""
        yield from list_lines(self.parts)


def list_lines(parts: Sequence[DumpPart]) -> Iterator[Line]:
    """List every line of some parts, in order."""
    for part in parts:
        if isinstance(part, LineGroup):
            yield from part.lines
        elif isinstance(part, ByteFold):
            yield from list_lines(part.parts)


def count_shown(parts: Sequence[DumpPart]) -> int:
    """Count how many rows some parts take in the open."""
    rows = 0
    for part in parts:
        if isinstance(part, LineGroup):
            rows += len(part.lines)
        elif isinstance(part, ByteFold):
            rows += 1 + (count_shown(part.parts) if part.opened else 0)
        else:
            rows += 1
    return rows


#: rows in the open, and rows behind folds, for each detail
ROWS = {0: (64, 64), 1: (64, 64), 2: (256, 128), 3: (4096, 1024)}
_MOST_COUNTED = 1000  # children counted to say how many more there are
_MOST_UNPACKED = 1 << 20  # compressed bytes that a view decompresses unasked
_MOST_UNPACKINGS = 8
_DEEPEST = 24
_WORD = 8
_DIGITS = re.compile(r"\d+")


def choose_scale(detail: int, most: int, row: int) -> float:
    """Choose the scale from which a view of at most `most` bytes is tried, where a row takes at least `row` bytes."""
    return min(1.0, most / row / sum(ROWS[max(0, min(3, detail))]))


@dataclass(slots=True)
class _Node:
    """A child on its way into the view: a field with its lines, or a structure with the frame of its own lines."""

    span: Span
    frame: Frame
    lines: list[Line] | None = None
    place: str = ""


def present_bytes(
    explanation: BytesView, detail: int = 1, scale: float = 1.0, *, hidden: int | None = None
) -> HexDump:
    """Present the view-model of an explanation; `scale` makes it smaller, for a view that must fit a size.

    `hidden` are the rows behind folds, where the view can ask for them later.
    """
    open_rows, hidden_rows = (max(4, int(rows * scale)) for rows in ROWS[max(0, min(3, detail))])
    hidden_rows = hidden_rows if hidden is None else hidden
    origin = explanation.origin
    frame = Frame(
        explanation.data,
        origin,
        explanation.base,
        choose_width(explanation.data, explanation),
        4 if detail <= 1 else 16,
    )
    builder = _Builder(hidden_rows, all_open=detail >= 2)
    if is_field(explanation) and not explanation.is_packed:
        parts: list[DumpPart] = [LineGroup("", tuple(frame.write(explanation)))]
    else:
        parts = builder.build(explanation, frame, open_rows, looked_at=explanation.looked_at)
    damage = next((line for line in list_lines(parts) if line.role == "damage"), None)
    counts = (
        "" if not origin and not explanation.base else f"“at” counts from {frame.format_byte(origin or 0)}"
    )
    details = [wording.clean(explanation.details), "" if origin is None else counts]
    return HexDump(
        wording.clean(explanation.what, 200),
        describe_structure(explanation, explanation.summary),
        wording.clean(explanation.place),
        "; ".join(filter(None, details)),
        "" if damage is None else f"ERROR at {damage.tip}",
        tuple(parts),
    )


def describe_structure(span: Span, note: str = "") -> str:
    """Describe what a structure is, in a line: its note, else its first values; and how many bytes it has."""
    words = note or span.note
    if not words:
        words = ", ".join(_format_first_values(span))
    counted = wording.plural(len(span), "byte")
    if not words:
        return counted
    words = wording.clean(words, 300)
    return words if counted in words else f"{words}, {counted}"


def _format_first_values(span: Span, most: int = 3) -> Iterator[str]:
    shown = 0
    for child in islice(span.iter_children(), 2 * most):
        if shown < most and is_field(child) and child.role in ("", "null") and len(child) <= 4096:
            value = format_value(child)
            if value:
                shown += 1
                yield f"{wording.clean(child.label, 40)} {value[:40]}"


def open_structure(span: Span, frame: Frame, rows: int) -> list[DumpPart]:
    """Open the parts of a structure that a reader opened, in about `rows` rows; what is too large in it stays folded."""
    return _Builder(0, all_open=False).build(span, frame, rows)


def open_rest(span: Span, frame: Frame, start: int, rows: int) -> list[DumpPart]:
    """Open the parts of a structure from a byte on, as `More` left them out."""
    rest = Span(
        start,
        span.end,
        span.label,
        children=lambda: dropwhile(lambda child: child.start < start, span.iter_children()),
        origin=span.origin,
    )
    return open_structure(rest, frame, rows)


class _Builder:
    """Spends the rows. `hidden` are those left behind folds."""

    def __init__(self, hidden: int, *, all_open: bool) -> None:
        self.hidden = hidden
        self.all_open = all_open
        self.unpackings = _MOST_UNPACKINGS

    def build(
        self, span: Span, frame: Frame, budget: int, depth: int = 0, looked_at: int | None = None
    ) -> list[DumpPart]:
        """Build the parts of a structure in at most about `budget` rows."""
        children: Iterator[Span] = span.iter_children() if not span.is_leaf else iter((span,))
        before, children = _seek(children, budget, looked_at)
        shown = list(islice(children, budget))
        following = next(children, None)
        rest = None if following is None else chain((following,), children)
        nodes, left_out = self._take_rows(span, shown, choose_frame(span, shown, frame), budget)
        parts = self._place(nodes, budget - sum(len(node.lines or "1") for node in nodes), depth)
        if before:
            parts.insert(
                0, More(f"… {before:,} more before {frame.format_at(nodes[0].span.start)}", frame.code)
            )
        if left_out or rest is not None:
            parts.append(_describe_rest(span, left_out, rest, frame))
        return parts

    def _take_rows(
        self, span: Span, shown: list[Span], frame: Frame, budget: int
    ) -> tuple[list[_Node], list[Span]]:
        """As many children as there are rows for, a structure in one row; and those that are too many."""
        nodes: list[_Node] = []
        used = 0
        for index, child in enumerate(shown):
            if nodes and nodes[-1].lines and (merged := frame.absorb(nodes[-1].lines[-1], child)):
                nodes[-1].lines[-1] = merged
                continue
            made = list(self._make_nodes(child, frame))
            rows = sum(len(node.lines or "1") for node in made)
            if used and used + rows > budget:
                return nodes, shown[index:]
            nodes += made
            used += rows
        return nodes, []

    def _make_nodes(self, child: Span, frame: Frame) -> Iterator[_Node]:
        if not is_field(child):
            # where a structure is, and from where its own positions count
            place = f"at {frame.format_at(child.start)}"
            yield _Node(
                child,
                frame if child.origin is None else replace(frame, origin=child.origin),
                place=place
                if child.origin is None or child.origin == frame.origin
                else f"{place}; “at” below counts from {frame.format_byte(child.origin)}",
            )
            return
        yield _Node(child, frame, frame.write(child))
        if child.is_packed and self.unpackings and len(child) <= _MOST_UNPACKED:
            self.unpackings -= 1
            yield self._unpack(child, frame)

    def _unpack(self, packed: Span, frame: Frame) -> _Node:
        """Unpack the decompressed content as a structure after the line of its bytes as stored."""
        try:
            data, inner = packed.unpack()
        except LakeError as error:
            line = Line(packed.start, packed.end, meaning=f"ERROR: {wording.clean(error.reason, 300)}")
            line = replace(
                line, at=frame.format_at(packed.start), tip=frame.format_byte(packed.start), role="damage"
            )
            return _Node(packed, frame, [line])
        code = f"{frame.code}.unpacked({packed.start})"
        content = Span(
            inner.start,
            inner.end,
            f"decompressed: {inner.label}",
            None,
            inner.note,
            lambda: [inner] if inner.is_leaf else inner.iter_children(),
            origin=inner.origin,
        )
        place = f"{code} has positions of its own"
        return _Node(
            content,
            Frame(data, inner.origin, None, choose_width(data, inner), rows=frame.rows, code=code),
            place=place,
        )

    def _place(self, nodes: list[_Node], extra: int, depth: int) -> list[DumpPart]:
        """Lines become groups; structures are shown in the open while there are rows left, else folded."""
        parts: list[DumpPart] = []
        structures = sum(node.lines is None for node in nodes)
        closed: set[str] = set()
        for node in nodes:
            if node.lines is not None:
                if parts and isinstance(parts[-1], LineGroup) and parts[-1].title == "":
                    parts[-1] = LineGroup("", (*parts[-1].lines, *node.lines))
                else:
                    parts.append(LineGroup("", tuple(node.lines)))
                continue
            kind = _DIGITS.sub("", node.span.label)
            made, used = self._place_structure(node, extra, structures, depth, kind not in closed)
            if not used:
                closed.add(kind)
            parts += made
            extra -= used
            structures -= 1
        return parts

    def _place_structure(
        self, node: _Node, extra: int, structures: int, depth: int, may_open: bool
    ) -> tuple[list[DumpPart], int]:
        """Place a structure in the open or folded, and how many rows that takes.

        One that does not fit is opened in part only when those before it of its kind were (`may_open`): of many blocks alike
        the last would else be open alone.
        """
        share = extra // structures
        rows = count_rows(node.span, node.frame, extra)
        fits = rows <= extra and (rows <= max(24, share) or self.all_open)
        is_flat = all(is_field(child) for child in islice(node.span.iter_children(), 3))
        if depth < _DEEPEST and (fits or (may_open and share >= (4 if is_flat else 12))):
            parts = self.build(node.span, node.frame, max(rows, share) if fits else share, depth + 1)
            used = count_shown(parts)
            if is_flat and all(isinstance(part, LineGroup | More) for part in parts):
                return _entitle(node, parts), used
            return [_fold(node, parts, opened=True)], used
        share = min(32, max(6, self.hidden // structures), self.hidden)
        if depth >= _DEEPEST or share < 4:
            return [_fold(node, [], opened=False)], 0
        self.hidden -= share
        parts = self.build(node.span, node.frame, share, depth + 1)
        self.hidden += max(0, share - count_shown(parts))
        return [_fold(node, parts, opened=False)], 0


def choose_width(data: Octets, span: Span) -> int:
    """Bytes of a line: sixteen for text and for what has no parts, eight for everything that is made of fields."""
    head = bytes(data[span.start : min(span.end, span.start + 64)])
    if span.is_leaf:
        return 8 if span.is_packed else 16
    return 16 if all(32 <= octet < 127 or octet in b"\n\r\t" for octet in head) else 8


def choose_frame(span: Span, children: Sequence[Span], frame: Frame) -> Frame:
    """How the lines of a structure are laid out: short fields that share a word of eight bytes are at their place in it."""
    if frame.origin is None or (span.start - frame.origin) % _WORD or len(span) % _WORD:
        return replace(frame, staggers=False)
    shares = any(len(child) < _WORD for child in children)
    return replace(
        frame,
        width=_WORD,
        staggers=shares and all(len(child) <= _WORD and is_field(child) for child in children),
    )


def count_rows(span: Span, frame: Frame, most: int, depth: int = 0) -> int:
    """Count how many rows a structure takes when all of it is in the open; stops counting beyond `most`."""
    rows = 0
    for child in span.iter_children():
        if is_field(child):
            rows += frame.count_rows(child) + (1 if child.is_packed else 0)
        else:
            rows += 1 + (most if depth > _DEEPEST else count_rows(child, frame, most - rows, depth + 1))
        if rows > most:
            break
    return rows


def _seek(children: Iterator[Span], budget: int, looked_at: int | None) -> tuple[int, Iterator[Span]]:
    """Say where there are more children than rows, those from the one that is looked at on, and how many come before."""
    if looked_at is None:
        return 0, children
    head = list(islice(children, budget + 1))
    if len(head) <= budget or head[budget - 1].end > looked_at:
        return 0, chain(head, children)
    before: deque[Span] = deque(maxlen=2)
    count = 0
    for child in chain(head, children):
        if child.end > looked_at:
            return count - len(before), chain(before, (child,), children)
        before.append(child)
        count += 1
    return count - len(before), iter(before)


def _describe_rest(span: Span, left_out: list[Span], rest: Iterator[Span] | None, frame: Frame) -> More:
    """What is left out. How many that is, is counted only in bytes at hand: in a stored file it would be read for that."""
    others = chain(left_out, rest or ())
    first = next(others)
    many = ""
    if isinstance(frame.data, bytes | bytearray | memoryview):
        count = 1 + sum(1 for _ in islice(others, _MOST_COUNTED))
        many = f"{count:,} " if count <= _MOST_COUNTED else f"more than {_MOST_COUNTED:,} "
    left = wording.plural(span.end - first.start, "byte")
    text = f"… {many}more from {frame.format_at(first.start)}, {left}"
    return More(text, f"{frame.code}.at({first.start})", (span, frame, first.start))


def _entitle(node: _Node, parts: list[DumpPart]) -> list[DumpPart]:
    """Lines of a structure under its name."""
    title = f"{wording.clean(_label(node.span), 80)}, {describe_structure(node.span)}"
    first = parts[0] if parts else LineGroup("", ())
    if not isinstance(first, LineGroup):
        return [LineGroup(title, ()), *parts]
    return [LineGroup(title, first.lines), *parts[1:]]


def _fold(node: _Node, parts: list[DumpPart], *, opened: bool) -> ByteFold:
    label, answer = wording.clean(_label(node.span), 80), describe_structure(node.span)
    if any(line.role == "damage" for line in list_lines(parts)):
        answer = f"ERROR inside: {answer}"
    call = "" if parts else f"{node.frame.code}.at({node.span.start})"
    return ByteFold(label, answer, node.place, tuple(parts), opened, call, (node.span, node.frame))


def _label(span: Span) -> str:
    return span.label if span.number is None else f"{span.number} {span.label}"
