"""What the map of a row shows: its parts in order, each with boxes of bytes, as plain data from the spans of the row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.display import Named, draw_row
from lakelens.model.map.boxes import count_noun
from lakelens.model.map.drawing import Drawing

if TYPE_CHECKING:
    from lakelens.codecs.span.span import Role, Span
    from lakelens.model.stats import KeyRow

#: Boxes of a part, and bytes of a box, that are shown.
MOST_BOXES, MOST_BYTES = 24, 96


class Piece(NamedTuple):
    """Some bytes of a box: what they are called, and their role as a span has it."""

    data: bytes
    name: str
    role: Role


@dataclass(frozen=True, slots=True, repr=False)
class RowBox(Named):
    """Some bytes that belong together: a slot, an item of the variable part, the row kind, the null bits.

    `start` counts from the header; `number` is the place of the field. `far` is where the item of a slot starts, and `left`
    how many bytes are not among the `pieces`.
    """

    name: str
    start: int
    pieces: tuple[Piece, ...]
    note: str
    value: Any = None
    number: int | None = None
    far: int | None = None
    is_null: bool = False
    is_field: bool = False
    left: int = 0

    @property
    def data(self) -> bytes:
        """The bytes, as far as they are shown."""
        return b"".join(piece.data for piece in self.pieces)

    def __repr__(self) -> str:
        return f"<RowBox {self.name} at {self.start:+}: {self.data.hex(' ')}>"


@dataclass(frozen=True, slots=True, repr=False)
class RowPart(Named):
    """One part of a row: the arity, the header, the slots or the variable part. `left` says what is not shown of it."""

    noun: str
    boxes: tuple[RowBox, ...]
    left: str = ""

    def __repr__(self) -> str:
        return f"<RowPart {self.noun} of {len(self.boxes)}>"


class RowMap(Drawing):
    """The bytes of a row as a strip: arity, header, a box for each slot, and the items that slots refer to.

    >>> import lakelens as ll
    >>> row = ll.decode_binary_row(bytes.fromhex("0000000100000000000000000700000000000000"), [("id", "INT")])
    >>> row.map().parts
    (<RowPart arity of 1>, <RowPart header of 2>, <RowPart slots of 1>)
    """

    def __init__(self, row: KeyRow, span: Span, data: bytes) -> None:
        self.row = row
        self.size = len(data)
        self.parts = tuple(_link(_list_parts(span, data)))

    def to_svg(self) -> str:
        """The drawing as SVG: a document of its own, light and dark, in which nothing can run.

        >>> import lakelens as ll
        >>> ll.sample("paimon").files[0].min_key.map().to_svg()[:5]
        '<svg '
        """
        return draw_row(self)

    def __repr__(self) -> str:
        return f"<RowMap: {count_noun(len(self.row.names), 'field')}, {count_noun(self.size, 'byte')}>"


def _list_parts(span: Span, data: bytes) -> Iterator[RowPart]:
    origin = span.start if span.origin is None else span.origin
    for section in span.iter_children():
        noun = section.label.lower()
        if noun == "header":
            yield RowPart(noun, tuple(_list_header(section, data, origin)))
            continue
        spans = list(islice(_flatten(section), MOST_BOXES + 1))
        shown = [_make_box(one, data, origin) for one in spans[:MOST_BOXES]]
        rest = section.end - spans[MOST_BOXES].start if len(spans) > MOST_BOXES else 0
        left = f"{rest // 8:,} more slots" if noun == "slots" else f"{rest:,} more bytes"
        yield RowPart(noun, tuple(shown), left if rest else "")


def _flatten(section: Span) -> Iterator[Span]:
    """The lines of a section: those of a field, and what belongs to none; groups of many are opened."""
    if section.is_leaf:
        yield section
    for one in section.iter_children():
        if one.number is not None or one.is_leaf or all(leaf.is_leaf for leaf in one.iter_children()):
            yield one
        else:
            yield from _flatten(one)


def _list_header(section: Span, data: bytes, origin: int) -> Iterator[RowBox]:
    """The row kind, and all null bits as one box."""
    kind, *bits = section.iter_children()
    yield _make_box(kind, data, origin)
    if bits:
        lines = [one for bit in bits for one in ((bit,) if bit.label == "null bits" else bit.iter_children())]
        made = _make_box(bits[0], data, origin)
        notes = [one.note for one in lines if one.role != "unused"]
        pieces, left = _cut(Piece(data[one.start : one.end], one.label, one.role) for one in lines)
        note = notes[0] if len(notes) == 1 else f"a bit for each field, {_count_nulls(lines, data)}"
        yield replace(made, pieces=pieces, left=left, note=note if notes else lines[0].note)


def _count_nulls(lines: Sequence[Span], data: bytes) -> str:
    count = sum(data[one.start].bit_count() for one in lines if one.role != "unused")
    return f"{count:,} {'is' if count == 1 else 'are'} null" if count else "none is null"


def _make_box(span: Span, data: bytes, origin: int) -> RowBox:
    leaves = list(islice(span.leaves(), MOST_BYTES))
    pieces, left = _cut(Piece(data[one.start : one.end], one.label, one.role) for one in leaves)
    left += span.end - leaves[-1].end
    padding = [
        one.note for one in leaves if one.role == "padding" and one is not span and one.end == span.end
    ]
    note = ", ".join([*([span.note] if span.note else []), *padding])
    is_null = span.role == "null" or all(one.role == "null" for one in leaves)
    return RowBox(span.label, span.start - origin, pieces, note, span.value, span.number,
                  is_null=is_null, is_field=span.number is not None, left=left)  # fmt: skip


def _cut(pieces: Iterable[Piece]) -> tuple[tuple[Piece, ...], int]:
    """The first pieces, as far as a box shows bytes, and how many bytes more there are."""
    shown: list[Piece] = []
    room, left = MOST_BYTES, 0
    for piece in pieces:
        if room:
            shown.append(piece._replace(data=piece.data[:room]))
        left += max(len(piece.data) - room, 0)
        room = max(room - len(piece.data), 0)
    return tuple(shown), left


def _link(parts: Iterable[RowPart]) -> Iterator[RowPart]:
    """Slots with the place of their items, where those are shown."""
    made = list(parts)
    items: dict[int | None, int] = {
        box.number: box.start
        for part in made
        if part.noun == "variable part"
        for box in part.boxes
        if box.number is not None
    }
    for part in made:
        if part.noun == "slots":
            yield replace(part, boxes=tuple(replace(box, far=items.get(box.number)) for box in part.boxes))
        else:
            yield part
