"""What an annotated hex dump is made of, as plain data: groups of lines, folds, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lakelens.codecs.span.span import Span
from lakelens.views.hexdump.lines import Frame, Line


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
        """Every line, those behind folds too."""
        yield from list_lines(self.parts)


def list_lines(parts: Sequence[DumpPart]) -> Iterator[Line]:
    """Every line of some parts, in order."""
    for part in parts:
        if isinstance(part, LineGroup):
            yield from part.lines
        elif isinstance(part, ByteFold):
            yield from list_lines(part.parts)


def count_shown(parts: Sequence[DumpPart]) -> int:
    """How many rows some parts take in the open."""
    rows = 0
    for part in parts:
        if isinstance(part, LineGroup):
            rows += len(part.lines)
        elif isinstance(part, ByteFold):
            rows += 1 + (count_shown(part.parts) if part.opened else 0)
        else:
            rows += 1
    return rows
