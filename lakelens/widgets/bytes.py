"""The annotated hex dump as a widget: bytes and fields point at each other, folds open as far as one likes.

    search     by the name of a field, by its value as text, or by bytes written in hex
    rows       JSON for the browser, and what each row stands for

A tree of spans may be endless and is made while it is walked: a search goes on from hit to hit and pauses in between, so
that who asked can stop it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from time import monotonic
from typing import Any, TypeAlias

import traitlets

from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError, visible_line
from lakelens.model.bytes_view import BytesView, is_field
from lakelens.views.card.wording import clean, visible
from lakelens.views.hexdump.html import bytes_style, choose_columns, render_bytes
from lakelens.views.hexdump.lines import Line, format_value, list_tokens
from lakelens.views.hexdump.model import (
    ByteFold,
    DumpPart,
    LineGroup,
    More,
    open_rest,
    open_structure,
    present_bytes,
)
from lakelens.widgets.base import StillWidget, answer_open, read_module, read_style

Place: TypeAlias = tuple[str, int, int]  # the call that leads to the bytes, first byte, byte after the last
Trail: TypeAlias = tuple[Place, ...]  # from the whole down to one span

_HEX = re.compile(r"0x(?:[0-9a-f]{2})+|[0-9a-f]{2}(?: [0-9a-f]{2})+", re.IGNORECASE)
_MOST_UNPACKED = 1 << 20  # compressed bytes that a search decompresses
_MOST_BYTES = 1 << 24  # of one field that a search looks through
_DEEPEST = 100


def parse_hex(words: str) -> bytes | None:
    """Parse the bytes that are meant by `0x5041` or `50 41`; None for words.

    >>> parse_hex("0x5041"), parse_hex("50 41"), parse_hex("cafe")
    (b'PA', b'PA', None)
    """
    return bytes.fromhex(words.removeprefix("0x").removeprefix("0X")) if _HEX.fullmatch(words) else None


def parse_offset(text: str, origin: int = 0) -> int:
    """Parse the byte that a reader names: from the first byte, or with a sign from `origin`, as the "at" column counts.

    >>> parse_offset("28"), parse_offset("0x1c"), parse_offset("+24", 4), parse_offset("−4", 4)
    (28, 28, 28, 0)

    Raises `ValueError` for what is no number.
    """
    cleaned = text.strip().replace("−", "-").replace(",", "").replace("_", "")
    if len(cleaned) > 20:
        raise ValueError(f"{text[:20]}… is no offset")
    return int(cleaned, 0) + (origin if cleaned[:1] in ("+", "-") else 0)


def search(root: Span, data: Octets, words: str) -> Iterator[Trail | None]:
    """Trails of fields and structures in the order of bytes; None as often as one was looked at that is no hit.

    Decompressed content is searched too, at its place.
    """
    octets = parse_hex(words)
    start: Trail = (("", root.start, root.end),)
    if is_field(root):
        yield start if _matches(root, data, words.lower(), octets) else None
        if root.is_packed:
            yield from _search_packed(root, start, words.lower(), octets)
    else:
        yield from _walk(root, data, start, words.lower(), octets)


def _walk(span: Span, data: Octets, trail: Trail, words: str, octets: bytes | None) -> Iterator[Trail | None]:
    for child in span.iter_children():
        below = (*trail, (trail[-1][0], child.start, child.end))
        is_last = is_field(child)
        if is_last or octets is None:
            yield below if _matches(child, data, words, octets) else None
        if child.is_packed:
            yield from _search_packed(child, below, words, octets)
        elif not is_last and len(trail) < _DEEPEST:
            yield from _walk(child, data, below, words, octets)


def _search_packed(packed: Span, trail: Trail, words: str, octets: bytes | None) -> Iterator[Trail | None]:
    if len(packed) > _MOST_UNPACKED or len(trail) >= _DEEPEST:
        return
    try:
        data, inner = packed.unpack()
    except LakeError:  # the dump says so at its place
        return
    place = (f"{trail[-1][0]}.unpacked({packed.start})", inner.start, inner.end)
    if inner.is_leaf:
        yield (*trail, place) if _matches(inner, data, words, octets) else None
    else:
        yield from _walk(inner, data, (*trail, place), words, octets)


def _matches(span: Span, data: Octets, words: str, octets: bytes | None) -> bool:
    if octets is not None:  # they may go on in the next field
        end = min(len(data), span.end + len(octets) - 1, span.start + _MOST_BYTES)
        return octets in bytes(data[span.start : end])
    if words in span.label.lower():
        return True
    if not is_field(span):
        return False
    parts = () if span.is_leaf else span.iter_children()
    return any(words in _write_value(part).lower() for part in (span, *parts))


def _write_value(span: Span) -> str:
    """Write the value as it is shown; a text whole, although the dump cuts it."""
    try:
        value = None if span.role == "null" else span.value
    except LakeError:
        value = None
    return value[:_MOST_BYTES] if isinstance(value, str) else format_value(span)


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
        """Find the span of bytes that were shown under a name."""
        named = self._spans.get(place, {})
        return named.get(label) or next(iter(named.values()), None)

    def open(self, identifier: str) -> list[Row] | None:
        """Open the rows behind a fold, or those that were left out; None for a row that has none."""
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
                identifier = shown["id"]
                openings = []
                while identifier in self._above:
                    identifier = self._above[identifier]
                    openings.append((identifier, self._answers[identifier]))
                return openings[::-1], shown["id"]
            ways = [way for row in self._rows.values() if (way := self._measure_way(row, trail)) is not None]
            if not ways or self._open_towards(min(ways)[1], trail) is None:
                return None
        return None

    def _measure_way(self, row: Row, trail: Trail) -> tuple[int, str] | None:
        """Measure how far the end of a trail is behind a row that can still be opened; None where it is not behind it."""
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
        """Write the rows of some parts, those in opened folds behind their fold."""
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
    """Name what the browser calls a span."""
    return "" if span is None else clean(span.label, 200)


_STATIC_BYTES = 65_536
_MOST = 1 << 20  # characters that are copied
_LONGEST = 200  # characters of what is searched for
_SECONDS = 2  # that a search goes on without a hit


class BytesWidget(StillWidget):
    """A `BytesView` to look around in: a field shows its bytes, and bytes show their field.

    Folds are opened by asking Python for what is in them.

    Attributes
    ----------
    selected : dict or None
        What the reader selected: `{"start", "end", "label", "code"}` or None. Positions count from the first byte of the
        view; `code` is the call that leads to decompressed bytes, whose positions are their own. Synced with the browser.
    span : Span or None
        That span.

    Raises
    ------
    traitlets.TraitError
        What is set as `selected` is no place in these bytes.

    Notes
    -----
    Keys: arrows move between rows and, to the right, between the leaves of a line; Home and End. Enter selects a field or
    opens a fold, Escape takes it back. / searches names, values and bytes in hex (`0x5041` or `50 41`), N goes on to the
    next hit, G goes to an offset (`28`, `0x1c`, or `+24` as the "at" column counts), C copies the value, ? lists the keys.
    A click selects, a click on a fold opens it.

    Examples
    --------
    >>> from lakelens.codecs.span.span import Span
    >>> widget = BytesWidget(BytesView(b"\\x05", Span(0, 1, "id", 5)))
    >>> widget.select(0)
    >>> widget.selected["label"], widget.span.value
    ('id', 5)
    """

    _esm = read_module("prompt.js", "bytes.js")
    _keys = (
        ("↓ ↑", "row by row"),
        ("Home End", "the first row, the last"),
        ("→ ←", "byte group by byte group; opens and closes a fold"),
        ("Enter", "selects a field, opens a fold"),
        ("Escape", "selects nothing; back to the fold"),
        ("/", "searches names, values, bytes (0x5041 or 50 41)"),
        ("N", "on to the next hit"),
        ("G", "to an offset: 28, 0x1c, or +24 as “at” counts"),
        ("C", "copies the value"),
        ("?", "these keys, or no more"),
    )

    selected: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)

    def __init__(self, explanation: BytesView) -> None:
        self._explanation = explanation
        self._rows = Rows()
        self._words = ""
        self._hits: Iterator[Trail | None] = iter(())
        style = read_style(str(bytes_style()), "bytes.css")
        super().__init__(explanation, style, view=self._write_view())

    @property
    def span(self) -> Span | None:
        """The selected span, None when nothing is selected."""
        return None if self.selected is None else self._find(self.selected)

    def _find(self, chosen: dict[str, Any]) -> Span | None:
        shown = self._rows.find((chosen["code"], chosen["start"], chosen["end"]), chosen["label"])
        if shown is not None or chosen["code"] or chosen["start"] >= chosen["end"]:
            return shown
        path = self._explanation.trace(chosen["start"])
        return next(
            (span for span in path if (span.start, span.end) == (chosen["start"], chosen["end"])), path[-1]
        )

    def select(self, offset: int | None) -> None:
        """Select the leaf that holds a byte; None selects nothing. Raises `ValueError` outside of the explanation."""
        if offset is None:
            self.selected = None
            return
        leaf = self._explanation.find(offset)
        self.selected = {"start": leaf.start, "end": leaf.end, "label": name_span(leaf), "code": ""}

    def _write_view(self) -> dict[str, Any]:
        view = present_bytes(self._explanation, 1, hidden=0)
        columns = choose_columns(present_bytes(self._explanation, 1))
        return {
            "noun": visible(view.noun),
            "sentence": visible(view.sentence),
            "place": visible(view.place),
            "details": visible(view.details),
            "alert": visible(view.alert),
            "width": columns.width,
            "widths": [columns.at, columns.number or 34, columns.field or 50, columns.octets, columns.ascii],
            "value": columns.value,
            "rows": self._rows.write(view.parts),
        }

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> dict[str, Any] | None:
        return None if proposal["value"] is None else self._check(proposal["value"])

    def _check(self, chosen: dict[str, Any]) -> dict[str, Any]:
        start, end = chosen.get("start"), chosen.get("end")
        label, code = chosen.get("label", ""), chosen.get("code", "")
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise traitlets.TraitError("selected needs a start and an end, bytes in order")
        if not isinstance(label, str) or not isinstance(code, str):
            raise traitlets.TraitError("the label and the code of what is selected are texts")
        if not code and not self._explanation.start <= start <= end <= self._explanation.end:
            raise traitlets.TraitError(f"bytes {start} to {end} are not in {self._explanation!r}")
        return {"start": start, "end": end, "label": label, "code": code}

    def _answer(self, content: dict[str, Any]) -> None:
        """A browser asks for the rows behind a fold, the next hit, an offset or a value."""
        acts = {"find": self._find_next, "go": self._go_to, "value": self._write_value}
        act = acts.get(str(content.get("type")))
        if act is None:
            answer = answer_open(self._rows, content, "nothing more is kept: ask with .at(offset)")
        else:
            try:
                answer = act(content)
            except Exception as error:  # the browser waits for an answer, whatever went wrong
                answer = {"type": "said", "message": f"{type(error).__name__}: {clean(error, 300)}"}
        if answer is not None:
            self.send(answer)

    def _find_next(self, content: dict[str, Any]) -> dict[str, Any]:
        """Find the next hit; after the last one it begins again. What takes long goes on when it is asked again."""
        words = str(content.get("words", ""))[:_LONGEST].strip()
        if not words:
            return {"type": "said", "message": "search for a name, a value, or bytes: 0x5041 or 50 41"}
        if words != self._words:
            self._words, self._hits = words, iter(())
        is_new = False
        until = monotonic() + _SECONDS
        while monotonic() < until:
            try:
                trail = next(self._hits)
            except StopIteration:
                if is_new:
                    self._words = ""
                    return {"type": "said", "message": f"{clean(words, 60)!r} is nowhere in these bytes"}
                self._hits, is_new = search(self._explanation, self._explanation.data, words), True
                continue
            if trail is not None:
                said = "found; from the beginning again" if is_new and content.get("again") else "found"
                return self._reveal(trail, f"{said}; N goes on")
        return {"type": "said", "message": f"not found in {_SECONDS} s; Enter or N goes on searching"}

    def _go_to(self, content: dict[str, Any]) -> dict[str, Any]:
        """The row of an offset that a reader typed."""
        origin = content.get("origin")
        try:
            offset = parse_offset(str(content.get("text", "")), origin if type(origin) is int else 0)
        except ValueError:
            return {"type": "said", "message": "an offset is 28, 0x1c, or +24 as the column “at” counts"}
        first, end = self._explanation.start, self._explanation.end
        if not first <= offset < end:
            return {"type": "said", "message": f"byte {offset:,} is not among bytes {first:,} to {end - 1:,}"}
        path = self._explanation.trace(offset)
        fields = [span for span in path if is_field(span)]
        path = path[: path.index(fields[0]) + 1] if fields else path
        return self._reveal(tuple(("", span.start, span.end) for span in path), "")

    def _reveal(self, trail: Trail, message: str) -> dict[str, Any]:
        found = self._rows.reveal(trail)
        if found is None:
            code, start, _ = trail[-1]
            where = f"at {start:,}, too far from what is shown: {code}.at({start})"
            return {"type": "said", "message": where}
        opened, row = found
        return {"type": "reveal", "opened": opened, "row": row, "message": message}

    def _write_value(self, content: dict[str, Any]) -> dict[str, Any]:
        """Write what is copied: a text as it is, bytes in hex, anything else as it is shown."""
        chosen = self._check(content)
        span = self._find(chosen)
        value = None if span is None or span.role == "null" else span.value
        if value is None and not chosen["code"]:
            value = bytes(
                self._explanation.data[chosen["start"] : min(chosen["end"], chosen["start"] + _MOST)]
            )
        if value is None:
            return {"type": "said", "message": "these bytes have no value; .unpacked() has them"}
        text = value.hex(" ") if isinstance(value, bytes) else value if isinstance(value, str) else str(value)
        return {"type": "copy", "text": text[:_MOST]}

    def _render_still(self) -> str:
        return render_bytes(self._explanation, 1, _STATIC_BYTES)

    def __repr__(self) -> str:
        return f"<BytesWidget of {visible_line(self._explanation.what)}: {len(self._explanation)} bytes>"
