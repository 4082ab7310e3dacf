"""The rows of an annotated hex dump as JSON for the browser, and what each of them stands for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any, TypeAlias

from lakelens.codecs.span.span import Span
from lakelens.views.card.wording import clean, visible
from lakelens.views.hexdump.lines import Line, list_tokens
from lakelens.views.hexdump.model import open_rest, open_structure
from lakelens.views.hexdump.parts import ByteFold, DumpPart, LineGroup, More
from lakelens.widgets.search import Place, Trail

Row: TypeAlias = dict[str, Any]

_ROWS = 64  # that opening a fold adds
_SKIPPED = 192  # fields between what is shown and what is gone to: more of them are left out
_MOST_OPENED = 100  # folds that lead to one field
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
        self._rows: dict[str, Row] = {}
        self._above: dict[str, str] = {}  # row -> the fold whose answer it came in

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
        span, frame, *start = self._sources[identifier]
        parts = open_rest(span, frame, start[0], _ROWS) if start else open_structure(span, frame, _ROWS)
        return self._keep_answer(identifier, parts)

    def _keep_answer(self, identifier: str, parts: Sequence[DumpPart]) -> list[Row]:
        rows = self.write(parts, self._depths[identifier])
        self._above |= dict.fromkeys((row["id"] for row in rows), identifier)
        self._answers[identifier] = rows
        return rows

    def reveal(self, trail: Trail) -> tuple[list[tuple[str, list[Row]]], str] | None:
        """What must be opened, outermost first, until the last span of a trail is shown, and its row; None for no way."""
        for _ in range(_MOST_OPENED):
            shown = next((row for row in self._rows.values() if _shows(row, trail[-1])), None)
            if shown is not None:
                return self._list_openings(shown["id"]), shown["id"]
            ways = [way for row in self._rows.values() if (way := self._measure_way(row, trail)) is not None]
            if not ways or self._open_towards(min(ways)[1], trail) is None:
                return None
        return None

    def _list_openings(self, identifier: str) -> list[tuple[str, list[Row]]]:
        openings = []
        while identifier in self._above:
            identifier = self._above[identifier]
            openings.append((identifier, self._answers[identifier]))
        return openings[::-1]

    def _measure_way(self, row: Row, trail: Trail) -> tuple[int, str] | None:
        """How far the end of a trail is behind a row that can still be opened; None where it is not behind it."""
        identifier = row["id"]
        if identifier in self._answers or identifier not in self._sources or row.get("loaded"):
            return None
        span, frame, *start = self._sources[identifier]
        behind = [place for place in trail if place[0] == frame.code and place[1] < span.end]
        if start:
            is_way = any(start[0] <= place[1] and place[2] <= span.end for place in behind)
            return (len(trail) + span.end - start[0], identifier) if is_way else None
        if (frame.code, span.start, span.end) not in trail:
            return None
        return len(trail) - trail.index((frame.code, span.start, span.end)), identifier

    def _open_towards(self, identifier: str, trail: Trail) -> list[Row] | None:
        """Open a fold, or what was left out: from the trail on where that is far, with the rest still to open before it."""
        span, frame, *start = self._sources[identifier]
        if not start or self._count > _MOST_KEPT:
            return self.open(identifier)
        target = min(place[1] for place in trail if place[0] == frame.code and start[0] <= place[1])
        between = (child for child in span.iter_children() if child.start >= start[0])
        if any(child.end > target for child in islice(between, _SKIPPED)):
            return self.open(identifier)
        before = Span(
            span.start,
            target,
            span.label,
            children=lambda: takewhile(lambda child: child.start < target, span.iter_children()),
            origin=span.origin,
        )
        text = f"… {frame.format_at(start[0])} to {frame.format_at(target - 1)} left out here"
        skipped = More(text, f"{frame.code}.at({start[0]})", (before, frame, start[0]))
        return self._keep_answer(identifier, [skipped, *open_rest(span, frame, target, _ROWS)])

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
            origin=frame.origin or 0,
            base=frame.base or 0,
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
            origin=line.origin,
            base=line.base,
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
        row = {"id": f"r{self._count}", "kind": kind, "depth": depth, **shown}
        self._rows[f"r{self._count}"] = row
        return row

    def _keep(self, row: Row, source: tuple[Any, ...] | None, depth: int) -> None:
        if source is not None:
            self._sources[row["id"]] = source
            self._depths[row["id"]] = depth

    def _remember(self, code: str, span: Span) -> None:
        self._spans.setdefault((code, span.start, span.end), {}).setdefault(name_span(span), span)


def _shows(row: Row, place: Place) -> bool:
    """Whether a row is that of a span: its line, the line of the field that it is a part of, or the fold that it is."""
    code, start, end = place
    if row["kind"] not in ("line", "fold") or row["code"] != code:
        return False
    if (row["start"], row["end"]) == (start, end):
        return True
    return bool(row["kind"] == "line" and row["start"] <= start and end <= row["end"] and start < row["end"])


def name_span(span: Span | None) -> str:
    """What the browser calls a span."""
    return "" if span is None else clean(span.label, 200)
