"""The rows of an annotated hex dump as JSON for the browser, and what each of them stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from lakelens.codecs.span.span import Span
from lakelens.views.card.wording import clean, visible
from lakelens.views.hexdump.lines import Line, list_tokens
from lakelens.views.hexdump.model import open_rest, open_structure
from lakelens.views.hexdump.parts import ByteFold, DumpPart, LineGroup, More

Row: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, int, int]  # the call that leads to the bytes, first byte, byte after the last

_ROWS = 64  # that opening a fold adds
_MOST_KEPT = 20_000  # rows that one widget has given out


class Rows:
    """Gives rows their ids, remembers the folds behind them, and answers when one is opened.

    A row is plain JSON: `id`, `kind` (line, title, fold, more), `depth`, and the facts of its kind. Lines carry `pieces` of
    [hex, muted, start, end, tip, label] and a `meaning` of [text, is code]. The answer to an id is made once, so that two
    views of a widget agree.
    """

    def __init__(self) -> None:
        self._count = 0
        self._sources: dict[str, tuple[Any, ...]] = {}
        self._depths: dict[str, int] = {}
        self._answers: dict[str, list[Row]] = {}
        self._spans: dict[Place, dict[str, Span]] = {}

    def find(self, place: Place, label: str) -> Span | None:
        """The span of bytes that were shown under a name."""
        named = self._spans.get(place, {})
        return named.get(label) or next(iter(named.values()), None)

    def open(self, identifier: str) -> list[Row] | None:
        """The rows behind a fold, or those that were left out; None for a row that has none."""
        if identifier in self._answers:
            return self._answers[identifier]
        if identifier not in self._sources or self._count > _MOST_KEPT:
            return None
        source, depth = self._sources[identifier], self._depths[identifier]
        span, frame, *start = source
        parts = open_rest(span, frame, start[0], _ROWS) if start else open_structure(span, frame, _ROWS)
        rows = self.write(parts, depth)
        self._answers[identifier] = rows
        return rows

    def write(self, parts: Sequence[DumpPart], depth: int = 0) -> list[Row]:
        """The rows of some parts, those in opened folds behind their fold."""
        rows: list[Row] = []
        for part in parts:
            if isinstance(part, LineGroup):
                if part.title:
                    rows.append(self._begin("title", depth, text=part.title))
                rows += [self._write_line(line, depth) for line in part.lines]
            elif isinstance(part, More):
                rows.append(self._begin("more", depth, text=part.text, code=part.code))
                self._keep(rows[-1], part.source, depth)
            else:
                rows += self._write_fold(part, depth)
        return rows

    def _write_fold(self, fold: ByteFold, depth: int) -> list[Row]:
        assert fold.source is not None
        span, frame = fold.source
        inside = self.write(fold.parts, depth + 1) if fold.opened else []
        row = self._begin(
            "fold",
            depth,
            label=fold.label,
            answer=fold.answer,
            place=fold.place,
            opened=fold.opened,
            loaded=fold.opened,
            code=frame.code,
            start=span.start,
            end=span.end,
            name=name_span(span),
        )
        self._remember(frame.code, span)
        self._keep(row, fold.source, depth + 1)
        return [row, *inside]

    def _write_line(self, line: Line, depth: int) -> Row:
        span = line.span
        pieces = []
        position = line.start
        for piece in line.pieces:
            leaf = piece.span
            start, end = (
                (leaf.start, leaf.end) if leaf is not None else (position, position + len(piece.octets))
            )
            pieces.append(
                [piece.octets.hex(" "), piece.is_muted, start, end, visible(piece.tip), name_span(leaf)]
            )
            position += len(piece.octets)
            if leaf is not None:
                self._remember(line.code, leaf)
        if span is not None:
            self._remember(line.code, span)
        return self._begin(
            "line",
            depth,
            code=line.code,
            group=line.group,
            start=line.start if span is None else span.start,
            end=line.end if span is None else span.end,
            name=name_span(span),
            at=line.at,
            tip=line.tip,
            number=line.number,
            field=line.field,
            lead=line.lead,
            pieces=pieces,
            ascii=line.ascii,
            meaning=[[visible(text), is_code] for text, is_code in list_tokens(line.meaning)],
            aside=line.aside,
            value=line.value,
            role=line.role,
        )

    def _begin(self, kind: str, depth: int, **facts: Any) -> Row:
        self._count += 1
        shown = {name: visible(held) if type(held) is str else held for name, held in facts.items()}
        return {"id": f"r{self._count}", "kind": kind, "depth": depth, **shown}

    def _keep(self, row: Row, source: tuple[Any, ...] | None, depth: int) -> None:
        if source is not None:
            self._sources[row["id"]] = source
            self._depths[row["id"]] = depth

    def _remember(self, code: str, span: Span) -> None:
        self._spans.setdefault((code, span.start, span.end), {}).setdefault(name_span(span), span)


def name_span(span: Span | None) -> str:
    """What the browser calls a span."""
    return "" if span is None else clean(span.label, 200)
